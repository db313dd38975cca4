"""Any clusterer that takes answers about pairs, as a belief: it is fitted again when its clusters are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from sidelight._core.params import as_seed
from sidelight._core.simplex import softmax
from sidelight.active.rows_of_belief import RowsOfBelief, squared_distances
from sidelight.data.relations import Pairs

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]


class ClustererBelief(RowsOfBelief):
    """What a clusterer makes of the answers.

    Where it has no ``predict_proba``, rows are as sure of their cluster as they are nearer to its centre.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows.
    n_clusters : int or None
        Set on the clusterer where it is known.
    generator : numpy.random.Generator
        Draws the seed of the clusterer where it has none.
    clusterer : estimator
        With ``fit(X, pairs=...)`` and ``labels_``.
    """

    eps = 0.0  # clusterers take answers as they are

    def __init__(self, X: Any, n_clusters: int | None, generator: np.random.Generator, *, clusterer: Any) -> None:
        self.X, self.n_rows = X, X.shape[0]
        self._features: Floats = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        self.clusterer = clone(clusterer)
        known = self.clusterer.get_params(deep=False)
        if n_clusters is not None and "n_clusters" in known:
            self.clusterer.set_params(n_clusters=n_clusters)
        if known.get("random_state", 0) is None:
            self.clusterer.set_params(random_state=as_seed(generator))
        self.n_clusters: int | None = self.clusterer.get_params(deep=False).get("n_clusters", n_clusters)
        self.pairs, self.rows = Pairs.empty(self.n_rows), []
        self._fitted_on = -1

    def tell(self, a: int, b: int, same: bool, generator: np.random.Generator) -> None:
        """Keep an answer for the next fit."""
        self.pairs = self.pairs + Pairs([a], [b], ["same" if same else "different"], n_rows=self.n_rows)
        self.rows += [row for row in (a, b) if row not in self.rows]

    @property
    def features(self) -> Floats:
        """The rows, dense."""
        return self._features

    @property
    def is_consistent(self) -> bool:
        """Whether all answers can be right."""
        return not self.pairs.contradictions(limit=1)

    @property
    def n_known(self) -> int:
        """How many clusters there are."""
        return int(self._fit().max()) + 1

    def _fit(self) -> Ints:
        if self._fitted_on != self.pairs.n_answers:
            self.clusterer.fit(self.X, pairs=self.pairs)
            _, self._labels = np.unique(self.clusterer.labels_, return_inverse=True)
            self._fitted_on = self.pairs.n_answers
        return self._labels

    def partition(self, generator: np.random.Generator) -> Ints:
        """Return the clusterer's labels."""
        return self._fit().copy()

    def posterior(self, X: Any = None) -> Floats:
        """Return the probability of each cluster for all rows, or for new ones."""
        labels = self._fit()
        if hasattr(self.clusterer, "predict_proba"):
            return np.asarray(self.clusterer.predict_proba(self.X if X is None else X))
        rows = self.features
        sizes = np.bincount(labels)
        centres = np.stack([rows[labels == k].mean(axis=0) for k in range(len(sizes))])
        spread = float(np.mean(squared_distances(rows, centres)[np.arange(self.n_rows), labels]))
        new = rows if X is None else np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        P = softmax(-squared_distances(new, centres) / max(spread, np.finfo(float).tiny))
        if X is None:  # the clusterer's own labels stay the likeliest
            top = P.max(axis=1)
            P[np.arange(self.n_rows), labels] = np.maximum(P[np.arange(self.n_rows), labels], top * (1 + 1e-9))
            P = P / P.sum(axis=1, keepdims=True)
        return np.asarray(P)
