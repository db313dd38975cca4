"""Discriminative clustering by regularised information maximisation, [P17] chapter 3.

Without answers the objective (3.6) is tau * I(Y, X; W) - penalty * |W|^2 / 2: clusters that are even in size, that know
their rows, and that a simple linear rule explains. Answers about pairs and triplets will join as further terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.params import check_n_clusters
from sidelight._terms.information import Balance, Confidence
from sidelight.estimators._base import all_or_nothing, checks_y, rows_to_fit
from sidelight.estimators._linear_rule import LinearRule


class DiscriminativeClustering(LinearRule):
    """Cluster rows by a softmax-linear rule that maximises information, [P17] eq. (3.6).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    tau : float, default=1.0
        Weight of the information I(Y, X; W).
    penalty : float, default=0.03125
        Weight of ``|W|^2 / 2``: twice the paper's lambda, which multiplies ``|W|^2``. The paper searches lambda from
        2^-10 to 2^-2 on standardised features; smaller values allow sharper boundaries.
    n_init : int, default=4
        Number of k-means starts; the one with the lowest objective wins.
    max_iter : int, default=300
        Most L-BFGS iterations a start.
    tol : float, default=1e-6
        Relative change of the objective at which a start has converged.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    weights_ : ndarray of shape (n_features, n_clusters)
        W of the softmax rule.
    intercept_ : ndarray of shape (n_clusters,)
        b of the softmax rule.
    objective_ : float
        Value of the minimised objective, ``-tau * I + penalty * |W|^2 / 2``.
    trace_ : ndarray
        The objective after each iteration of the best start; it never rises.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])
    >>> labels = sl.DiscriminativeClustering(2, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tau: float = 1.0,
        penalty: float = 2.0**-5,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.tau = tau
        self.penalty = penalty
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> DiscriminativeClustering:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : ignored
            Present for scikit-learn.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        return self._learn(X, [(self.tau, Balance()), (self.tau, Confidence())])

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable cluster of each row of X."""
        return np.argmax(self._log_posterior(X), axis=1)

    @checks_y
    def score(self, X: Any, y: Any = None) -> float:
        """Return I(Y, X; W) of [P17] eq. (3.5) on the rows of X, in nats; higher is better.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, usually held out.
        y : ignored
            Present for scikit-learn.
        """
        log_P = self._log_posterior(X)
        P = np.exp(log_P)
        return -float(Balance()(P, log_P)[0] + Confidence()(P, log_P)[0])
