"""One logistic classifier per label, without a tree: what the tree is compared with."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import check_choice, check_number
from sidelight._core.process import one_blas_thread
from sidelight._models.label_logits import LabelLogits, one_scale
from sidelight._models.scaled_rows import ScaledRows
from sidelight._solvers.descent import descend
from sidelight.data.coerce import as_label_matrix
from sidelight.estimators._base import all_or_nothing, reporting, rows_to_fit, rows_to_judge
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.hierarchy.counts import Entries, Floats
from sidelight.estimators.hierarchy.decoding import LearnsLabelSets, f1_threshold, labels_to_fit


class BinaryRelevance(LearnsLabelSets):
    """Predict each label by a logistic regression of its own.

    Unchecked entries are left out. With ``alpha`` the probability of having *seen* a label is divided by
    1 - alpha, which makes it that of having it.

    Parameters
    ----------
    alpha : float, default=0.0
        The share of labels that are on and not seen, if it is known.
    threshold : None, "f1" or float, default=None
        Where probabilities are rounded: None means 0.5, "f1" the threshold that maximises the expected micro F1.
    penalty : float, default=10.0
        Weight of ``|W|^2 / 2``, on features that were centred and brought to mean square 1.
    max_iter, tol : int, float
        Most steps of L-BFGS, and the relative change of the objective at which it stops.

    Attributes
    ----------
    label_names_ : tuple of str
        The columns of everything that is returned.
    weights_, intercept_ : ndarrays of shape (n_features, n_labels) and (n_labels,)
        Score of each label: ``X @ weights_ + intercept_``.
    threshold_ : float
        The threshold in use.
    n_features_in_, data_fingerprint_ : int, str
        As everywhere.

    Examples
    --------
    >>> import sidelight as sl
    >>> sample = sl.data.make_label_tree(200, n_labels=4, missing=0.2, random_state=0)
    >>> sl.peers.BinaryRelevance(alpha=0.2).fit(sample.X, sample.Y_incomplete).predict(sample.X).shape
    (200, 4)
    """

    def __init__(
        self,
        *,
        alpha: float = 0.0,
        threshold: Any = None,
        penalty: float = 10.0,
        max_iter: int = 200,
        tol: float = 1e-7,
    ) -> None:
        self.alpha = alpha
        self.threshold = threshold
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : LabelMatrix, matrix, data frame, or names of labels
            The labels of each row, as in :meth:`LatentHierarchyClassifier.fit`.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        labels = labels_to_fit(self, X, y)
        rows = ScaledRows(X, *one_scale(X), np.ones(X.shape[0]))
        model = LabelLogits(rows, labels.n_rows, labels.n_labels, self.penalty)
        seen, known = labels.is_seen.astype(np.float64), labels.is_known.astype(np.float64)
        with one_blas_thread():
            solution = descend(
                lambda theta: model.loss(theta, seen, known),  # type: ignore[arg-type, return-value] # a float is a value
                model.start(),
                max_iter=self.max_iter,
                tol=self.tol,
                report=reporting("one classifier a label"),
            )
        self.label_names_ = labels.names
        self.weights_, self.intercept_ = model.in_units_of_x(solution.parameters)
        fixed = 0.5 if self.threshold is None else self.threshold
        self.threshold_ = f1_threshold(self._proba(X)) if self.threshold == "f1" else float(fixed)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each label for each row."""
        check_is_fitted(self, "weights_")
        return self._proba(rows_to_judge(self, X))

    def predict(self, X: Any) -> Entries:
        """Return the label set of each row as 0 and 1; it need not be consistent with any tree."""
        on: Entries = (self.predict_proba(X) > self.threshold_).astype(np.int8)
        return on

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of an observed entry of ``y``.

        Parameters
        ----------
        X, y
            Rows and what was seen of their labels; entries that nobody looked at do not count.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        """
        P = self.predict_proba(X)
        labels = as_label_matrix(y, n_rows=len(P), names=self.label_names_)
        weights = weights_of_rows(sample_weight, labels.n_rows)
        P = np.clip(P * (1 - self.alpha), 1e-12, 1 - 1e-12)  # of having seen the label
        logs = np.where(labels.is_seen, np.log(P), np.log1p(-P)) * labels.is_known
        return float(weights @ logs.sum(axis=1) / (float(weights @ labels.is_known.sum(axis=1)) or 1.0))

    def _proba(self, X: Any) -> Floats:
        seen = expit(np.asarray(X @ self.weights_) + self.intercept_)
        return np.minimum(np.asarray(seen) / (1 - self.alpha), 1.0)

    def _check_parameters(self) -> None:
        check_number(self, "alpha", self.alpha, low=0, high=1, open_high=True)
        if isinstance(self.threshold, str):
            check_choice(self, "threshold", self.threshold, ("f1",), advice="Or None, or a float between 0 and 1.")
        elif self.threshold is not None:
            check_number(self, "threshold", self.threshold, low=0, high=1, open_high=True)
        check_number(self, "penalty", self.penalty, low=0)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)
