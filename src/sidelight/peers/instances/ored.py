"""The two models of the literature that coverage contains: no novel class, and one.

Both have one cluster a class, no prior beyond a small ridge, and EM as their papers fit them: an E-step by dynamic
programming, an M-step of some gradient steps (generalised EM).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._models.objective import Term
from sidelight._solvers.descent import Solution, alternate
from sidelight._terms.information import CrossEntropy
from sidelight.estimators._base import reporting
from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.estimators.coverage.problem import Problem

M_STEPS = 10  # L-BFGS iterations of one M-step: more fit posteriors that the next round will change anyway


def climb_by_em(problem: Problem, start: np.ndarray, max_iter: int, stage: str, tol: float) -> Solution:
    """Climb the likelihood of coverage as the papers do."""
    fit, n_clusters = problem.fit, problem.layout.n_clusters
    objective = fit.objective([(1.0, problem.coverage), *problem.others], n_clusters)

    def expect(theta: np.ndarray) -> tuple[float, np.ndarray]:
        log_P = problem.model.log_posterior(theta, fit.X)
        return float(objective(theta)[0]), problem.coverage.posteriors(np.exp(log_P), log_P)[0]

    def maximise(theta: np.ndarray, Q: np.ndarray) -> np.ndarray:
        terms: list[tuple[float, Term]] = [(1.0, CrossEntropy(Q)), *problem.others]
        return fit.minimise(terms, n_clusters, theta, max_iter=M_STEPS, tol=tol, stage=stage).parameters

    return alternate(expect, maximise, start, max_iter=max_iter, tol=tol, report=reporting(stage))


class OredLogisticRegression(CoverageClustering):
    """ORLR (Pham, Raich and Fern 2014): a bag's label set is the union (OR) of the labels of its rows.

    Parameters
    ----------
    penalty : float or "auto", default=0.01
        Weight of ``|W|^2 / 2``; small, for the paper has none. "auto" asks held-out bags.
    max_iter : int, default=200
        Most EM rounds.
    tol : float, default=1e-5
        Relative change of the likelihood at which EM stops.
    random_state : int, RandomState, Generator or None, default=None
        Unused: EM starts from equal weights. Present for scikit-learn's tools.

    Attributes
    ----------
    labels_, classes_, weights_, intercept_, trace_, log_likelihood_, n_iter_
        As in :class:`CoverageClustering`; cluster k is class k.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> bags = sl.Bags([0, 0, 1, 2], labels={0: {"a", "b"}, 1: {"a"}, 2: {"b"}})
    >>> sl.peers.OredLogisticRegression().fit(X, bags=bags).predict_labels(X).tolist()
    ['a', 'b', 'a', 'b']
    """

    _N_NOVEL = 0
    _climb = staticmethod(climb_by_em)

    def __init__(
        self, *, penalty: float | str = 0.01, max_iter: int = 200, tol: float = 1e-5, random_state: Any = None
    ) -> None:
        super().__init__(
            n_novel=self._N_NOVEL,
            penalty=penalty,
            information=0.0,
            boundary="straight",
            calibrate=False,
            n_init=1,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )


class NovelClassLogisticRegression(OredLogisticRegression):
    """MIML-NC (Pham, Raich, Fern and Arriaga 2015): ORLR with one more class, which no list can name.

    Parameters
    ----------
    penalty, max_iter, tol, random_state : float or "auto", int, float, seed
        As in :class:`OredLogisticRegression`.

    Attributes
    ----------
    labels_, classes_, weights_, intercept_, trace_, log_likelihood_, n_iter_
        As in :class:`CoverageClustering`; the last cluster is "novel-1".

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> bags = sl.Bags([0, 0, 1, 2], labels={0: {"a"}, 1: {"a"}, 2: set()})
    >>> sl.peers.NovelClassLogisticRegression().fit(X, bags=bags).predict_labels(X).tolist()
    ['a', 'novel-1', 'a', 'novel-1']
    """

    _N_NOVEL = 1
