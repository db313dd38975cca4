"""Clusterers as transformers: a row becomes its probabilities of clusters, or its distances to them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted


class _ClusterColumns(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """One column a cluster, named like the cluster where clusters have names."""

    @property
    @abstractmethod
    def _n_features_out(self) -> int:
        """How many clusters there are."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`, one for each cluster.

        Parameters
        ----------
        input_features : sequence of str, default=None
            Present for scikit-learn.
        """
        check_is_fitted(self)
        names = getattr(self, "cluster_names_", None)
        if names is None:
            return np.asarray(super().get_feature_names_out(input_features))
        return np.array([str(name) for name in names], dtype=object)


class ProbabilityColumns(_ClusterColumns):
    """``transform`` is ``predict_proba``, by the features alone."""

    @abstractmethod
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster for each row."""

    def transform(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster for each row of X, by its features alone.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        """
        return self.predict_proba(X)


class DistanceColumns(_ClusterColumns):
    """``transform`` is what ``predict`` compares: the distance of each row to each cluster."""

    @abstractmethod
    def _judged(self, X: Any) -> np.ndarray:
        """Return the distances of rows that still have to pass the door."""

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each row of X to each cluster; the smallest is the one that ``predict`` returns.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        """
        return self._judged(X)
