"""What people try first with several channels: concatenate them, or let mixtures share their posteriors, [B04] 1.5.1.

Both ask the channels to agree on one set of clusters. They are here so that "why not just concatenate?" has an answer
that anybody can run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, check_choice, check_flag, check_n_clusters, check_number
from sidelight._core.threads import one_blas_thread
from sidelight._solvers.rounding import round_by_kmeans
from sidelight.estimators._base import all_or_nothing, rows_to_fit, rows_to_judge
from sidelight.estimators.sources._channels import channel_columns
from sidelight.estimators.sources.codebook import nearest_prototype
from sidelight.progress import report

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class ConcatenatedKMeans(ClusterMixin, BaseEstimator):
    """Cluster all channels as one long row by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    channels : dict of str to slice or columns, default=None
        Where each channel is; only used by ``balance``.
    standardize : bool, default=True
        Scale every column to unit variance first.
    balance : bool, default=False
        Give every channel the same total variance, so that a channel of one column weighs as much as one of 2500.
    n_init : int, default=10
        k-means starts.
    random_state : int, RandomState, Generator or None, default=None
        Seed of k-means.

    Attributes
    ----------
    labels_ : ndarray of intp
        Cluster of each row.
    cluster_centers_ : ndarray
        Centres in the scaled columns.
    offset_, scale_ : ndarray
        Subtracted from and divided into each column.
    n_features_in_, data_fingerprint_ : int, str
        Number of columns, a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> sl.ConcatenatedKMeans(2, random_state=0).fit([[0.0, 9.0], [0.1, 9.1], [5.0, 1.0]]).labels_.shape
    (3,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        channels: Any = None,
        standardize: bool = True,
        balance: bool = False,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.channels = channels
        self.standardize = standardize
        self.balance = balance
        self.n_init = n_init
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> ConcatenatedKMeans:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            The channels side by side.
        y : ignored
            Present for scikit-learn.
        """
        check_flag(self, "standardize", self.standardize)
        check_flag(self, "balance", self.balance)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        X = _dense(rows_to_fit(self, X))
        check_n_clusters(self, self.n_clusters, X.shape[0])
        report("k-means", 0, 1)
        spread = X.std(axis=0)
        scale = np.where(spread > 0.0, spread, 1.0) if self.standardize else np.ones(X.shape[1])
        if self.balance:
            for where in channel_columns(self, self.channels, X.shape[1], least=1).values():
                variance = (X[:, where] / scale[where]).var(axis=0).sum()
                scale[where] *= np.sqrt(variance) if variance > 0.0 else 1.0
        self.offset_, self.scale_ = X.mean(axis=0), scale
        seed = as_seed(as_generator(self.random_state))
        kmeans = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed)
        with one_blas_thread():
            self.cluster_centers_ = kmeans.fit((X - self.offset_) / scale).cluster_centers_
        self.labels_ = nearest_prototype((X - self.offset_) / scale, self.cluster_centers_)[0]
        return self

    def predict(self, X: Any) -> Ints:
        """Return the cluster of each row of X."""
        check_is_fitted(self)
        X = _dense(rows_to_judge(self, X))
        return nearest_prototype((X - self.offset_) / self.scale_, self.cluster_centers_)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the mean squared distance to the centres, in scaled columns; higher is better.

        Parameters
        ----------
        X : array or data frame
            Rows as in ``fit``.
        y : ignored
            Present for scikit-learn.
        """
        check_is_fitted(self)
        X = _dense(rows_to_judge(self, X))
        return -float((nearest_prototype((X - self.offset_) / self.scale_, self.cluster_centers_)[1] ** 2).mean())

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SharedPosteriorMixture(ClusterMixin, BaseEstimator):
    """Fit one diagonal Gaussian mixture per channel; in every EM step all of them use one channel's posterior.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of components, the same in every channel.
    channels : dict of str to slice or columns, default=None
        Where each channel is in X. None makes each column a channel.
    rule : {"leader", "entropy", "product"}, default="leader"
        Whose posterior everybody uses: the channel whose likelihood gained most in the last step ("follow the
        leader"), the one with the largest entropy, or the product of all (which is EM on the concatenated rows).
    max_iter : int, default=100
        Most EM steps.
    tol : float, default=1e-5
        Gain of the mean log-likelihood below which EM stops.
    n_init : int, default=3
        k-means starts; the highest likelihood wins.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of intp
        Most probable component by the posterior shared last.
    channel_labels_ : dict of str to ndarray
        Most probable component by each channel's own posterior.
    means_, variances_ : ndarray of shape (n_clusters, n_columns)
        The components.
    weights_ : ndarray of shape (n_clusters,)
        Their shares.
    leader_ : str
        The channel whose posterior was shared last ("all" for the product).
    n_iter_ : int
        EM steps of the best start.
    trace_ : ndarray
        Mean log-likelihood, summed over channels, after each step. It may fall: no bound is followed.
    channel_columns_ : dict of str to ndarray
        Columns of each channel.
    n_features_in_, data_fingerprint_ : int, str
        Number of columns, a short name of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.vstack([np.zeros((5, 2)), np.ones((5, 2)) * 9]) + np.arange(20).reshape(10, 2) * 0.01
    >>> labels = sl.SharedPosteriorMixture(2, random_state=0).fit(X).labels_
    >>> bool(labels[0] != labels[-1])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        channels: Any = None,
        rule: str = "leader",
        max_iter: int = 100,
        tol: float = 1e-5,
        n_init: int = 3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.channels = channels
        self.rule = rule
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> SharedPosteriorMixture:
        """Fit the mixtures.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            The channels side by side.
        y : ignored
            Present for scikit-learn.
        """
        check_choice(self, "rule", self.rule, ("leader", "entropy", "product"))
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        X = _dense(rows_to_fit(self, X))
        check_n_clusters(self, self.n_clusters, X.shape[0])
        columns = channel_columns(self, self.channels, X.shape[1], least=1)
        rng = as_generator(self.random_state)
        runs = [self._run(X, columns, as_seed(rng)) for _ in range(self.n_init)]
        best = max(runs, key=lambda run: run["trace"][-1])
        self.channel_columns_, self.leader_, self.trace_ = columns, best["leader"], np.array(best["trace"])
        self.n_iter_ = len(best["trace"])
        self.weights_, self.means_, self.variances_ = best["weights"], best["means"], best["variances"]
        log_joint = self._log_joint(X, columns, self.weights_, self.means_, self.variances_)
        self.labels_ = self._shared(log_joint, self.leader_).argmax(axis=1)
        self.channel_labels_ = {name: joint.argmax(axis=1) for name, joint in log_joint.items()}
        return self

    def predict(self, X: Any) -> Ints:
        """Return the component of each row of X, by the posterior that was shared last."""
        check_is_fitted(self)
        X = _dense(rows_to_judge(self, X))
        log_joint = self._log_joint(X, self.channel_columns_, self.weights_, self.means_, self.variances_)
        return np.asarray(self._shared(log_joint, self.leader_).argmax(axis=1), dtype=np.intp)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows of X, summed over channels.

        Parameters
        ----------
        X : array or data frame
            Rows as in ``fit``.
        y : ignored
            Present for scikit-learn.
        """
        check_is_fitted(self)
        X = _dense(rows_to_judge(self, X))
        log_joint = self._log_joint(X, self.channel_columns_, self.weights_, self.means_, self.variances_)
        return float(sum(logsumexp(joint, axis=1).mean() for joint in log_joint.values()))

    def _run(self, X: Floats, columns: dict[str, Ints], seed: int) -> dict[str, Any]:
        floor = 1e-6 * X.var(axis=0) + 1e-12  # a component that sits on one point keeps a width
        spread = np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
        Q = np.eye(self.n_clusters)[round_by_kmeans(X / spread, self.n_clusters, seed=seed)]
        trace: list[float] = []
        likelihood, leader = dict.fromkeys(columns, -np.inf), next(iter(columns))
        for step in range(self.max_iter):
            report("mixtures", step, self.max_iter)
            mass = Q.sum(axis=0) + 1e-10  # an empty component keeps a share
            weights, means = mass / mass.sum(), (Q.T @ X) / mass[:, None]
            variances = np.maximum((Q.T @ X**2) / mass[:, None] - means**2, floor)
            log_joint = self._log_joint(X, columns, weights, means, variances)
            now = {name: float(logsumexp(joint, axis=1).mean()) for name, joint in log_joint.items()}
            leader = self._leader(log_joint, {name: now[name] - likelihood[name] for name in now})
            shared = self._shared(log_joint, leader)
            Q = np.exp(shared - logsumexp(shared, axis=1, keepdims=True))
            likelihood = now
            trace.append(sum(now.values()))
            if len(trace) > 2 and abs(trace[-1] - trace[-2]) < self.tol:
                break
        return {"weights": weights, "means": means, "variances": variances, "leader": leader, "trace": trace}

    def _leader(self, log_joint: dict[str, Floats], gains: dict[str, float]) -> str:
        if self.rule == "product":
            return "all"
        if self.rule == "leader":
            return max(gains, key=lambda name: gains[name])
        entropy = {}
        for name, joint in log_joint.items():
            log_Q = joint - logsumexp(joint, axis=1, keepdims=True)
            entropy[name] = -float((np.exp(log_Q) * log_Q).sum())
        return max(entropy, key=lambda name: entropy[name])

    def _shared(self, log_joint: dict[str, Floats], leader: str) -> Floats:
        if leader != "all":
            return log_joint[leader]
        prior = np.log(getattr(self, "weights_", np.ones(self.n_clusters) / self.n_clusters))
        return np.asarray(sum(log_joint.values()) - (len(log_joint) - 1) * prior)

    @staticmethod
    def _log_joint(
        X: Floats, columns: dict[str, Ints], weights: Floats, means: Floats, variances: Floats
    ) -> dict[str, Floats]:
        """Return log(weight * density) of every row and component, channel by channel."""
        log_joint = {}
        for name, where in columns.items():
            precision, mu = 1.0 / variances[:, where], means[:, where]
            squares = X[:, where] ** 2 @ precision.T - 2.0 * X[:, where] @ (mu * precision).T
            squares += (mu**2 * precision).sum(axis=1) + np.log(2.0 * np.pi * variances[:, where]).sum(axis=1)
            log_joint[name] = np.log(weights) - 0.5 * squares
        return log_joint

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _dense(X: Any) -> Floats:
    return X.toarray() if hasattr(X, "toarray") else X
