"""The term of labelled bags: no row carries a label outside its bag's list, and every listed label is carried."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.estimators._labelled_bags.coverage import CAP, BagPlan, coverage_posteriors


@dataclass(frozen=True, slots=True)
class Coverage:
    """Minus the log likelihood of what the bags say, summed over bags.

    value = -sum_b log P(labels of bag b | its rows)
    G     = -Q, the row posteriors given the bags: the derivative of a log-sum is the share of its parts
    """

    plan: BagPlan
    class_of: np.ndarray
    wrong: float = 0.0
    forgotten: float = 0.0
    cap: int = CAP

    def add_rows(self, first: int, last: int, weight: float, P: np.ndarray, log_P: np.ndarray, G: np.ndarray) -> float:
        """Add the part about the rows ``first`` to ``last``: whole bags of consecutive rows; the caller has threads."""
        part = replace(self, plan=self.plan.restrict(first, last))
        Q, log_likelihood = part.posteriors(P, log_P, in_threads=False)
        if weight != 1.0:
            Q *= weight
        G -= Q
        return -weight * float(log_likelihood.sum())

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if P.ndim > 2:
            values, gradients = zip(*(self(p, log_p) for p, log_p in zip(P, log_P)))
            return np.stack(values), np.stack(gradients)
        Q, log_likelihood = self.posteriors(P, log_P)
        Q *= -1.0
        return -log_likelihood.sum(), Q

    def posteriors(self, P: np.ndarray, log_P: np.ndarray, *, in_threads: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return Q (rows x clusters) and the log likelihood of each bag."""
        return coverage_posteriors(
            P, log_P, self.class_of, self.plan, wrong=self.wrong, forgotten=self.forgotten, cap=self.cap,
            in_threads=in_threads,
        )  # fmt: skip
