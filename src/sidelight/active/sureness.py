"""How sure rows may be: each row that answers give a cluster is judged by all others, as if nobody had asked about it.

Questions are about doubtful rows, so that rows are not called surer than the belief has them, only less. Where rows
that were left out are too few for the number of clusters they say nothing: rows that nobody asked about are easier than
they by an amount that nobody knows, and probabilities are then the belief's own, which no page calls sure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight.estimators._labelled_bags.row_temperature import temper

Floats = npt.NDArray[np.floating]

FEWEST, FEWEST_EACH = 20, 10  # rows that answers give a cluster, and for each cluster, below which nothing is said
TEMPERATURES = np.geomspace(1.0, 10.0, 31)
LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Sureness:
    """What rows that were left out say of the probabilities of rows.

    Parameters
    ----------
    temperature : float
        At which the clusters of rows that were left out are likeliest, given all others; at least 1.
    n_rows : int
        How many were left out; 0 where they are too few.
    n_sure, n_right : int
        How many of them all others call more than 90 % sure, tempered, and how many of these lie where they say.
    """

    temperature: float = 1.0
    n_rows: int = 0
    n_sure: int = 0
    n_right: int = 0

    @classmethod
    def of(cls, P: Floats, labels: npt.NDArray[np.intp]) -> Sureness:
        """Find the temperature, with log T ~ N(0, 1)."""
        if len(labels) < max(FEWEST, FEWEST_EACH * P.shape[1]):
            return cls()
        every = np.arange(len(labels))

        def value(temperature: float) -> float:
            own = temper(np.maximum(P, LEAST), temperature)[every, labels]
            return float(np.log(np.maximum(own, LEAST)).sum() - 0.5 * np.log(temperature) ** 2)

        found = max(TEMPERATURES.tolist(), key=value)
        Q = temper(np.maximum(P, LEAST), found)
        is_sure = Q.max(axis=1) > 0.9
        return cls(found, len(labels), int(is_sure.sum()), int((Q.argmax(axis=1) == labels)[is_sure].sum()))

    @property
    def is_measured(self) -> bool:
        """Whether rows that were left out are enough to say how sure a row may be."""
        return self.n_rows > 0

    def tempered(self, P: Floats) -> Floats:
        """Return probabilities as sure as rows that were left out are right; no row changes its cluster."""
        return P if self.temperature == 1.0 else temper(np.maximum(P, LEAST), self.temperature)
