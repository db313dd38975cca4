"""Standardised rows in front of any estimator here, kept in the same model file.

A scikit-learn ``Pipeline`` does the same in memory, but cannot be stored without storing code. The command line uses
this one, so that a saved model takes the user's raw rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from sidelight.estimators._base import all_or_nothing, rows_to_fit, rows_to_judge

# Methods whose first argument is rows; they get standardised rows.
_ON_ROWS = frozenset(
    {
        "predict",
        "predict_proba",
        "predict_labels",
        "predict_bags",
        "predict_bags_proba",
        "bag_scores",
        "predict_channel",
        "novelty_score",
        "decision_function",
        "memberships",
        "transform",
        "score",
    }
)


class Standardized(MetaEstimatorMixin, BaseEstimator):
    """Fit ``estimator`` on rows with mean 0 and variance 1 in every feature.

    Everything the inner estimator publishes is available here too: ``labels_``, ``predict`` and so on take and give
    what they would inside, for rows in the user's own units. Sparse rows are scaled but not centred.

    Parameters
    ----------
    estimator : estimator
        Any estimator of Sidelight's.

    Attributes
    ----------
    estimator_ : estimator
        The fitted inner estimator.
    mean_ : ndarray of shape (n_features,)
        What is subtracted; zeros for sparse rows.
    scale_ : ndarray of shape (n_features,)
        What is divided by; 1 for constant features.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0, 100.0], [0.1, 900.0], [5.0, 200.0], [5.1, 800.0]])
    >>> model = sl.Standardized(sl.DiscriminativeClustering(2, random_state=0)).fit(X)
    >>> model.predict(X).tolist() == model.labels_.tolist()
    True
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **side: Any) -> Standardized:
        """Learn means and scales, then fit the inner estimator.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : object, default=None
            Handed on.
        **side : objects
            Side information (``bags=`` and so on), handed on.
        """
        X = rows_to_fit(self, X)
        self.mean_, self.scale_ = _mean_and_scale(X)
        self.estimator_ = clone(self.estimator).fit(self._standardise(X), y, **side)
        return self

    def __getattr__(self, name: str) -> Any:
        inner = vars(self).get("estimator_")
        if inner is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(inner, name)
        if name not in _ON_ROWS:
            return found
        return lambda X, *args, **kwargs: found(self._standardise(rows_to_judge(self, X)), *args, **kwargs)

    def _standardise(self, X: Any) -> Any:
        check_is_fitted(self, "scale_")
        if sp.issparse(X):
            return sp.csr_array(X @ sp.diags_array(1.0 / self.scale_))
        return (X - self.mean_) / self.scale_

    def __sklearn_tags__(self) -> Any:
        """Take what the inner estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator.__sklearn_tags__().input_tags.sparse
        return tags


def _mean_and_scale(X: Any) -> tuple[np.ndarray, np.ndarray]:
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        mean = np.zeros_like(mean)  # centring would make the rows dense
    else:
        mean, variance = X.mean(axis=0), X.var(axis=0)
    scale = np.sqrt(np.maximum(variance, 0.0))
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(mean))  # rounding noise of a constant column is not a scale
    return mean, np.where(constant, 1.0, scale)
