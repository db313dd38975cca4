"""FastTag (Chen, Zheng and Weinberger 2013): labels that complete each other, and a linear rule that agrees with them.

With Y (labels x rows) the labels that were seen and X the features of the rows, minimise in turn over B and W

    |B Y - W X|^2 + gamma * E |Y - B Y~|^2 + penalty |W|^2 / 2

where Y~ drops every entry of Y with probability ``corruption``; the expectation has a closed form, and so has each
step.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import check_number
from sidelight._core.process import one_blas_thread
from sidelight._models.label_logits import one_scale
from sidelight._models.scaled_rows import ScaledRows
from sidelight.estimators._base import all_or_nothing, reporting, rows_to_fit, rows_to_judge
from sidelight.estimators.hierarchy.counts import Entries, Floats
from sidelight.estimators.hierarchy.decoding import labels_to_fit
from sidelight.peers.hierarchy.clique_generation import ScoredByF1

_RIDGE = 1e-3  # on B, so that a label that was never seen has an equation


class FastTag(ScoredByF1):
    """Complete label sets linearly, and predict the completed ones linearly from features.

    Parameters
    ----------
    corruption : float, default=0.5
        The probability of dropping a label that B must put back.
    gamma : float, default=1.0
        Weight of putting back dropped labels.
    penalty : float, default=2.0
        Weight of ``|W|^2 / 2``, on features that were centred and brought to mean square 1.
    threshold : float, optional
        Where scores are rounded; by default where the micro F1 against the labels that were seen is largest.
    max_iter : int, default=20
        Rounds of both steps.

    Attributes
    ----------
    label_names_ : tuple of str
        The columns of everything that is returned.
    weights_, intercept_ : ndarrays of shape (n_features, n_labels) and (n_labels,)
        Score of each label: ``X @ weights_ + intercept_``.
    completion_ : ndarray of shape (n_labels, n_labels)
        B: ``completion_[a, b]`` is what seeing label b says about label a.
    threshold_ : float
        The threshold in use.
    n_iter_ : int
        Rounds made.
    n_features_in_, data_fingerprint_ : int, str
        As everywhere.

    Examples
    --------
    >>> import sidelight as sl
    >>> sample = sl.data.make_label_tree(200, n_labels=4, missing=0.2, random_state=0)
    >>> sl.peers.FastTag().fit(sample.X, sample.Y_incomplete).predict(sample.X).shape
    (200, 4)
    """

    def __init__(
        self,
        *,
        corruption: float = 0.5,
        gamma: float = 1.0,
        penalty: float = 2.0,
        threshold: float | None = None,
        max_iter: int = 20,
    ) -> None:
        self.corruption = corruption
        self.gamma = gamma
        self.penalty = penalty
        self.threshold = threshold
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn B and W.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : LabelMatrix, matrix, data frame, or names of labels
            The labels of each row, as in :meth:`LatentHierarchyClassifier.fit`. FastTag knows only seen and not seen:
            where nobody looked counts as not seen.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        labels = labels_to_fit(self, X, y)
        Y = labels.is_seen.astype(np.float64)
        rows = ScaledRows(X, *one_scale(X), np.ones(X.shape[0]))
        with one_blas_thread():
            B, W, b = self._alternate(rows, Y)
        self.label_names_, self.completion_, self.n_iter_ = labels.names, B, self.max_iter
        scaled = W * rows.inverse_scale
        self.weights_, self.intercept_ = scaled.T.copy(), b - scaled @ rows.mean
        best = self.threshold is None
        self.threshold_ = _best_threshold(self._scores(X), Y) if best else float(self.threshold)  # type: ignore[arg-type] # not None
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each label for each row."""
        check_is_fitted(self, "weights_")
        return self._scores(rows_to_judge(self, X))

    def predict(self, X: Any) -> Entries:
        """Return the label set of each row as 0 and 1."""
        on: Entries = (self.decision_function(X) > self.threshold_).astype(np.int8)
        return on

    def _alternate(self, rows: ScaledRows, Y: Floats) -> tuple[Floats, Floats, Floats]:
        """Return B, W and the bias after ``max_iter`` rounds; both steps are least squares."""
        kept, K = 1 - self.corruption, Y.shape[1]
        together = Y.T @ Y
        dropped = together * kept**2
        np.fill_diagonal(dropped, np.diag(together) * kept)
        left = self.gamma * dropped + together + _RIDGE * np.eye(K)
        # the regression of completed labels on features is linear in B: solve it once for every label
        V, bias = _ridge(rows, Y, self.penalty / 2)
        fitted = (rows.products(V) + bias).T @ Y  # sum over rows of what features say times what was seen
        B: Floats = np.eye(K)
        for done in range(self.max_iter):
            B = np.asarray(np.linalg.solve(left.T, (self.gamma * kept * together + B @ fitted).T).T)
            reporting("FastTag")(done + 1, self.max_iter, "")
        return B, B @ V, B @ bias

    def _scores(self, X: Any) -> Floats:
        return np.asarray(X @ self.weights_) + self.intercept_

    def _check_parameters(self) -> None:
        check_number(self, "corruption", self.corruption, low=0, high=1, open_high=True)
        check_number(self, "gamma", self.gamma, low=0)
        check_number(self, "penalty", self.penalty, low=0, open_low=True)
        check_number(self, "threshold", self.threshold, none=True)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)


def _ridge(rows: ScaledRows, Y: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return the ridge regression of Y on the centred rows, one row of weights a label, and the bias."""
    d = len(rows.mean)
    gram = rows.combine(rows.products(np.eye(d))) + penalty * np.eye(d)
    centred = Y - Y.mean(axis=0)
    return np.asarray(np.linalg.solve(gram, rows.combine(centred).T).T, dtype=np.float64), Y.mean(axis=0)


def _best_threshold(scores: Floats, Y: Floats) -> float:
    """Return the score above which the micro F1 against Y is largest."""
    order = np.argsort(-scores, axis=None, kind="stable")
    hits = np.cumsum(Y.ravel()[order])
    F = 2 * hits / (np.arange(1, Y.size + 1) + Y.sum())
    ordered = scores.ravel()[order]
    last = np.append(ordered[1:] < ordered[:-1], True)  # equal scores are on the same side of any threshold
    best = int(np.where(last, F, -1.0).argmax())
    if best + 1 == Y.size:
        return float(np.nextafter(ordered[best], -np.inf))
    return float(ordered[best] + ordered[best + 1]) / 2  # in the middle, so that rounding moves nothing across
