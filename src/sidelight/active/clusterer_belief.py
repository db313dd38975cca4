"""Any clusterer that takes answers about pairs, as a belief: it is fitted again when its clusters are needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from sidelight._core.params import as_seed
from sidelight._core.simplex import softmax
from sidelight.active.rows_of_belief import RowsOfBelief, squared_distances
from sidelight.data.relations import Pairs
from sidelight.errors import InvalidData

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]

FLAT = 1e-12  # of the largest distance: the least spread of a cluster, where every row is its own centre


def as_belief(belief: Any) -> Callable[..., Any] | None:
    """Return what makes a belief from (X, n_clusters, generator): a clusterer is wrapped, a callable is one already."""
    wanted = "belief must be a clusterer with fit(X, pairs=...), a callable that makes a belief, or None"
    if isinstance(belief, type) and hasattr(belief, "fit"):
        raise InvalidData(f"ActiveSession: {wanted}. Got the class {name_of(belief)}: call it, {name_of(belief)}().")
    if hasattr(belief, "fit"):
        takes = signature(belief.fit).parameters.values()
        if not any(one.name == "pairs" or one.kind is Parameter.VAR_KEYWORD for one in takes):
            raise InvalidData(f"ActiveSession: {wanted}. The fit of {name_of(belief)} takes no pairs.")
        return partial(ClustererBelief, clusterer=belief)
    if belief is not None and not callable(belief):
        raise InvalidData(f"ActiveSession: {wanted}. Got {belief!r:.80}.")
    return belief


def name_of(belief: Any) -> str:
    """Return the name of a clusterer's class, or of what makes a belief."""
    owner = getattr(belief, "__self__", belief)  # of a method: whose it is
    return str(getattr(owner, "__name__", type(owner).__name__))


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
        known = self.clusterer.get_params()
        if n_clusters is not None and "n_clusters" in known:
            self.clusterer.set_params(n_clusters=n_clusters)
        if known.get("random_state", 0) is None:
            self.clusterer.set_params(random_state=as_seed(generator))
        self.n_clusters: int | None = self.clusterer.get_params().get("n_clusters", n_clusters)
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
        gaps = squared_distances(rows, centres)
        spread = max(float(np.mean(gaps[np.arange(self.n_rows), labels])), FLAT * float(gaps.max())) or 1.0
        new = rows if X is None else np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        P = softmax(-squared_distances(new, centres) / spread)
        if X is None:  # the clusterer's own labels stay the likeliest
            top = P.max(axis=1)
            P[np.arange(self.n_rows), labels] = np.maximum(P[np.arange(self.n_rows), labels], top * (1 + 1e-9))
            P = P / P.sum(axis=1, keepdims=True)
        return np.asarray(P)
