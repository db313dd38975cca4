"""What learnt metrics share: a linear map L with distances |L (x - y)|, as a scikit-learn transformer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator
from sidelight._core.process import one_blas_thread
from sidelight.data.coerce import as_pairs, as_triplets
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators._base import Estimator, all_or_nothing, rows_to_fit, rows_to_judge
from sidelight.progress import report


class LearntMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, ABC):
    """The base: a metric says how it learns the map (``_learn_map``); without answers the map changes nothing."""

    __metadata_request__fit = {"pairs": True, "triplets": True}

    random_state: Any
    components_: np.ndarray

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, triplets: Any = None) -> Self:
        """Learn a metric in which the answers hold.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs, Triplets or None
            Answers, for tools that know only ``y``.
        pairs : Pairs or list of (row, row, answer), default=None
            Answers about pairs of rows.
        triplets : Triplets or list of (row, row, row, answer), default=None
            Answers about triplets of rows; those answered "none" are not used.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        n, d = X.shape
        pairs, triplets = as_pairs(pairs, n_rows=n, y=y), as_triplets(triplets, n_rows=n, y=y)
        report("learning a metric", 0, 1)
        with one_blas_thread():
            found = self._learn_map(X, pairs.each_once(), triplets.each_once(), as_generator(self.random_state))
        self.components_ = np.eye(d) if found is None else found
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the rows of X where the learnt distances are Euclidean.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        """
        check_is_fitted(self)
        return np.asarray(rows_to_judge(self, X) @ self.components_.T)

    @property
    def matrix_(self) -> np.ndarray:
        """M = L'L: the squared distance of x and y is (x - y)' M (x - y)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise InvalidParameter unless every parameter of the method can be used."""

    @abstractmethod
    def _learn_map(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> np.ndarray | None:
        """Return the learnt map L, or None when the answers say nothing."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def map_of(M: np.ndarray) -> np.ndarray:
    """Return L with L'L = M; directions that M does not see are left out."""
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    kept = values > 1e-12 * max(values[-1], np.finfo(float).tiny)  # rounding noise of eigenvalues that are 0
    kept[-1] = True
    return np.ascontiguousarray((vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))).T)


def map_of_weights(weights: np.ndarray) -> np.ndarray:
    """Return L of a diagonal metric; features of weight 0 are left out."""
    kept = np.flatnonzero(weights > 0)
    if not len(kept):
        return np.eye(len(weights))
    return np.sqrt(weights[kept])[:, None] * np.eye(len(weights))[kept]
