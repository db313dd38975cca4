"""What the methods that take answers share: doors for rows and answers, labels, broken answers, a score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, check_n_clusters, check_number
from sidelight.data.coerce import as_pairs, as_triplets
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import ConvergenceWarning, warn
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import DistanceColumns


class AnswerClusterer(DistanceColumns, ClusterMixin, Estimator, ABC):
    """The base: a method says how it learns (``_learn``) and how far rows are from its clusters (``_distances``)."""

    __metadata_request__fit = {"pairs": True, "triplets": True}
    __metadata_request__score = {"pairs": True, "triplets": True}
    _takes_sparse = True

    n_clusters: int
    random_state: Any
    labels_: np.ndarray

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, triplets: Any = None) -> Self:
        """Find clusters of the rows of X, by the answers.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs, Triplets or None
            Answers, for tools that know only ``y``.
        pairs : Pairs or list of (row, row, answer), default=None
            Answers about pairs of rows.
        triplets : Triplets or list of (row, row, row, answer), default=None
            Answers about triplets of rows.
        """
        check_number(self, "n_clusters", self.n_clusters, integer=True, low=1)
        self._check_parameters()
        X = rows_to_fit(self, X, **({} if self._takes_sparse else {"accept_sparse": False}))
        check_n_clusters(self, self.n_clusters, X.shape[0])
        pairs, triplets = as_pairs(pairs, n_rows=X.shape[0], y=y), as_triplets(triplets, n_rows=X.shape[0], y=y)
        self._learn(X, pairs.each_once(), triplets.each_once(), as_generator(self.random_state))
        self.violated_ = {"pairs": pairs.broken_by(self.labels_), "triplets": triplets.broken_by(self.labels_)}
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the nearest cluster of each row of X, by its features alone.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        """
        return np.argmin(self._judged(X), axis=1)

    @checks_y
    def score(
        self, X: Any, y: Any = None, *, pairs: Any = None, triplets: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the share of answers that the predicted clusters keep; without answers minus the mean distance.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs, Triplets or None
            Answers, for tools that know only ``y``.
        pairs, triplets : Pairs, Triplets or None
            Answers about these rows, usually held out.
        sample_weight : None
            Answers carry their own weights.
        """
        distances = self._judged(X)
        n = len(distances)
        pairs, triplets = as_pairs(pairs, n_rows=n, y=y), as_triplets(triplets, n_rows=n, y=y)
        if pairs.n_answers + triplets.n_answers:
            return share_kept(distances.argmin(axis=1), pairs, triplets)
        return -float(distances.min(axis=1).mean())

    def _judged(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._distances(rows_to_judge(self, X, **({} if self._takes_sparse else {"accept_sparse": False})))

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise InvalidParameter unless every parameter of the method can be used."""

    @abstractmethod
    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        """Set ``labels_`` and whatever else the method learns."""

    @abstractmethod
    def _distances(self, X: Any) -> np.ndarray:
        """Return the distance of each row to each cluster."""

    def _warn_unless(self, converged: bool, max_iter: int) -> None:
        if not converged:
            warn(
                f"{type(self).__name__} stopped at max_iter={max_iter} before it converged. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=5,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags


def share_kept(labels: np.ndarray, pairs: Pairs, triplets: Triplets) -> float:
    """Return the share of the answers, by weight, that ``labels`` keep."""
    total = pairs.weights.sum() + triplets.weights.sum()
    lost = sum(answers.weights[answers.broken_by(labels)].sum() for answers in (pairs, triplets))
    return float(1.0 - lost / total) if total > 0 else 1.0
