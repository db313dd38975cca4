"""One mixture for each channel, and one posterior for all of them, [B04] 1.5.1: a baseline for several channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, check_choice, check_n_clusters, check_number
from sidelight._core.prototypes import round_by_kmeans
from sidelight.errors import ConvergenceWarning, warn
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.sources._joined import channel_columns
from sidelight.peers.sources.concatenated import dense
from sidelight.progress import report

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]

ALL = "all"  # the leader under the rule "product"


class SharedPosteriorMixture(ClusterMixin, Estimator):
    """Fit one diagonal Gaussian mixture per channel; in every EM step all of them use one channel's posterior.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of components, the same in every channel.
    channels : dict of str to slice or columns, default=None
        Where each channel is in X. None makes each column a channel.
    rule : {"leader", "entropy", "product"}, default="leader"
        Whose posterior all channels use: the channel whose likelihood gained most in the last step ("follow the
        leader"), the one with the largest entropy, or the product of all: EM of one diagonal mixture on the
        concatenated rows.
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
        Mean log-likelihood after each step: summed over channels, where it may fall, for no bound is followed; of the
        concatenated rows under the rule "product", where it never does.
    channel_columns_ : dict of str to ndarray
        Columns of each channel.
    n_features_in_, data_fingerprint_ : int, str
        Number of columns, a short name of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.vstack([np.zeros((5, 2)), np.ones((5, 2)) * 9]) + np.arange(20).reshape(10, 2) * 0.01
    >>> labels = sl.peers.SharedPosteriorMixture(2, random_state=0).fit(X).labels_
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
        X = dense(rows_to_fit(self, X))
        check_n_clusters(self, self.n_clusters, X.shape[0])
        columns = channel_columns(self, self.channels, X.shape[1], least=1)
        generator = as_generator(self.random_state)
        runs = [self._run(X, columns, as_seed(generator)) for _ in range(self.n_init)]
        best = max(runs, key=lambda run: run.trace[-1])
        if not best.converged:
            warn(
                f"SharedPosteriorMixture stopped after max_iter={self.max_iter} steps before it converged. Raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.channel_columns_, self.leader_, self.trace_ = columns, best.leader, np.array(best.trace)
        self.n_iter_ = len(best.trace)
        mixture = best.mixture
        self.weights_, self.means_, self.variances_ = mixture.weights, mixture.means, mixture.variances
        log_joint = mixture.log_joint(X, columns, self.rule)
        self.labels_ = log_joint[self.leader_].argmax(axis=1)
        alone = mixture.log_joint(X, columns, "leader")
        self.channel_labels_ = {name: alone[name].argmax(axis=1) for name in columns}
        return self

    def predict(self, X: Any) -> Ints:
        """Return the component of each row of X, by the posterior that was shared last."""
        return np.asarray(self._log_joint(X)[self.leader_].argmax(axis=1), dtype=np.intp)

    @checks_y
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows of X: summed over channels, or of the concatenated rows.

        Parameters
        ----------
        X : array or data frame
            Rows as in ``fit``.
        y : ignored
            Present for scikit-learn.
        sample_weight : array of shape (n_rows,), default=None
            What each row counts for.
        """
        values = sum(logsumexp(joint, axis=1) for joint in self._log_joint(X).values())
        return float(np.average(values, weights=weights_of_rows(sample_weight, len(values))))

    def _log_joint(self, X: Any) -> dict[str, Floats]:
        check_is_fitted(self)
        mixture = Mixture(self.weights_, self.means_, self.variances_)
        return mixture.log_joint(dense(rows_to_judge(self, X)), self.channel_columns_, self.rule)

    def _run(self, X: Floats, columns: dict[str, Ints], seed: int) -> Run:
        """Alternate the mixtures given one posterior Q for all channels, and Q given the mixtures."""
        floor = 1e-6 * X.var(axis=0) + 1e-12  # a component that sits on one point keeps a width
        spread = np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
        Q = np.eye(self.n_clusters)[round_by_kmeans(X / spread, self.n_clusters, seed=seed)]
        trace: list[float] = []
        before = dict.fromkeys(columns, -np.inf)
        for step in range(self.max_iter):
            report("mixtures", step, self.max_iter)
            mixture = Mixture.of(X, Q, floor)
            log_joint = mixture.log_joint(X, columns, self.rule)
            now = {name: float(logsumexp(joint, axis=1).mean()) for name, joint in log_joint.items()}
            gains = {name: value - before.get(name, -np.inf) for name, value in now.items()}
            leader = self._leader(log_joint, gains)
            Q = np.exp(log_joint[leader] - logsumexp(log_joint[leader], axis=1, keepdims=True))
            before = now
            trace.append(sum(now.values()))
            if len(trace) > 2 and abs(trace[-1] - trace[-2]) < self.tol:
                return Run(mixture, leader, trace, True)
        return Run(mixture, leader, trace, False)

    def _leader(self, log_joint: dict[str, Floats], gains: dict[str, float]) -> str:
        if self.rule == "product":
            return ALL
        if self.rule == "leader":
            return max(gains, key=lambda name: gains[name])
        entropy = {}
        for name, joint in log_joint.items():
            log_Q = joint - logsumexp(joint, axis=1, keepdims=True)
            entropy[name] = -float((np.exp(log_Q) * log_Q).sum())
        return max(entropy, key=lambda name: entropy[name])

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True, slots=True)
class Mixture:
    """Components with one mean and variance for each column."""

    weights: Floats
    means: Floats
    variances: Floats

    @classmethod
    def of(cls, X: Floats, Q: Floats, floor: Floats) -> Mixture:
        """The M-step: the mixture that fits the posterior Q best."""
        mass = Q.sum(axis=0) + 1e-10  # an empty component keeps a share
        means = (Q.T @ X) / mass[:, None]
        variances = np.maximum((Q.T @ X**2) / mass[:, None] - means**2, floor)
        return cls(mass / mass.sum(), means, variances)

    def log_joint(self, X: Floats, columns: dict[str, Ints], rule: str) -> dict[str, Floats]:
        """Return log(weight * density) of every row and component: channel by channel, or once for all of them.

        The weight is the prior of a component, so the product over channels holds it once.
        """
        prior = np.log(self.weights)
        densities = {name: self._log_density(X, where) for name, where in columns.items()}
        if rule == "product":
            return {ALL: prior + np.sum(list(densities.values()), axis=0)}
        return {name: prior + density for name, density in densities.items()}

    def _log_density(self, X: Floats, where: Ints) -> Floats:
        precision, mu = 1.0 / self.variances[:, where], self.means[:, where]
        squares = X[:, where] ** 2 @ precision.T - 2.0 * X[:, where] @ (mu * precision).T
        squares += (mu**2 * precision).sum(axis=1) + np.log(2.0 * np.pi * self.variances[:, where]).sum(axis=1)
        return np.asarray(-0.5 * squares)


@dataclass(frozen=True, slots=True)
class Run:
    """Where EM ended from one start."""

    mixture: Mixture
    leader: str
    trace: list[float]
    converged: bool
