"""A mixture of Gaussians with answers: constrained EM (Shental, Bar-Hillel, Hertz and Weinshall 2003)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.sparse.csgraph import connected_components

from sidelight._core.params import as_seed, check_choice, check_number
from sidelight._core.process import one_blas_thread
from sidelight._core.prototypes import round_by_kmeans
from sidelight._core.simplex import xlogx
from sidelight._solvers.mean_field import infer
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import ConflictingAnswers
from sidelight.estimators._base import reporting
from sidelight.peers._clusterer import AnswerClusterer
from sidelight.peers._links import LEAST_SPREAD, Links

LEAST_SHARE = 1e-10  # of a component, so that its logarithm is finite


class Mixture(NamedTuple):
    """Shares, means and Cholesky factors of the covariances."""

    shares: np.ndarray
    means: np.ndarray
    factors: np.ndarray

    def log_densities(self, X: np.ndarray) -> np.ndarray:
        """Return log N(x; mean_k, covariance_k) of every row."""
        d = X.shape[1]
        out = np.empty((len(X), len(self.means)))
        for k, (mean, L) in enumerate(zip(self.means, self.factors)):
            gaps = solve_triangular(L, (X - mean).T, lower=True)
            out[:, k] = -0.5 * (gaps**2).sum(axis=0) - np.log(np.diag(L)).sum() - 0.5 * d * np.log(2 * np.pi)
        return out


class Start(NamedTuple):
    """Where one start ended."""

    log_likelihood: float
    mixture: Mixture
    posteriors: np.ndarray
    trace: np.ndarray
    converged: bool


class ConstrainedGaussianMixture(AnswerClusterer):
    """Cluster rows by a mixture of Gaussians in which rows that must link come from the same component.

    Rows that must link form a chunklet with one hidden label; chunklets are drawn from the components independently,
    which keeps every step of EM in closed form. Cannot-links forbid joint labels: exactly where few chunklets hang
    together, by mean field elsewhere. The shares of the components ignore how cannot-links change their normalisation,
    as the paper does for its fast variant.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of components.
    covariance : {"full", "tied", "diag"}, default="full"
        A covariance for each component, one for all of them, or variances only.
    ridge : float, default=0.01
        Added to every variance, as a share of the mean variance of a feature.
    n_init : int, default=3
        Number of starts by k-means; the highest likelihood wins.
    max_iter : int, default=100
        Most rounds of EM.
    tol : float, default=1e-4
        Change of the log likelihood of a row at which EM has converged.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Most probable component of each row, given its features and its answers.
    posteriors_ : ndarray of shape (n_rows, n_clusters)
        The probabilities behind ``labels_``.
    shares_, means_, factors_ : ndarray
        Shares, means (n_clusters, n_features) and lower Cholesky factors of the covariances.
    is_exact_ : bool
        Whether all cannot-links were handled exactly.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    log_likelihood_, trace_, n_iter_ : float, ndarray, int
        The log likelihood of rows and answers, its value in each round, and their number.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    N. Shental, A. Bar-Hillel, T. Hertz and D. Weinshall, "Computing Gaussian mixture models with EM using equivalence
    constraints", NIPS 2003.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0], [0.3], [0.1], [5.0], [5.2], [5.4]]
    >>> pairs = sl.Pairs.from_table([(0, 1, "same"), (2, 3, "different")], n_rows=6)
    >>> labels = sl.peers.ConstrainedGaussianMixture(2, random_state=0).fit(X, pairs=pairs).labels_
    >>> bool(labels[0] == labels[2] != labels[3])
    True
    """

    _takes_sparse = False

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        covariance: str = "full",
        ridge: float = 0.01,
        n_init: int = 3,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance = covariance
        self.ridge = ridge
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice(self, "covariance", self.covariance, ("full", "tied", "diag"))
        check_number(self, "ridge", self.ridge, low=0, open_low=True)
        check_number(self, "tol", self.tol, low=0)
        for name in ("n_init", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1)

    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        links = Links.of(pairs, triplets)
        links.check_consistent(type(self).__name__)
        groups = links.facts.groups
        n_groups = int(groups.max()) + 1
        apart = np.column_stack(np.divmod(links.facts.apart, max(links.n_rows, 1))).astype(np.intp)
        if self.n_clusters == 1 and len(apart):
            raise ConflictingAnswers(
                f"{type(self).__name__}: {links.tell([int(np.flatnonzero(~links.same)[0])])} says that rows differ, "
                "but n_clusters=1 leaves one component. Ask for two or more."
            )
        inference = LabelInference(n_groups, apart, self.n_clusters)
        members = sp.csr_array((np.ones(len(X)), (groups, np.arange(len(X)))), shape=(n_groups, len(X)))
        starts, tell = [], reporting("EM with answers")
        with one_blas_thread():
            for turn in range(self.n_init):
                tell(turn, self.n_init, "")
                starts.append(self._start(X, groups, members, inference, as_seed(generator)))
        best = max(starts, key=lambda start: start.log_likelihood)
        self._warn_unless(best.converged, self.max_iter)
        self.shares_, self.means_, self.factors_ = best.mixture
        self.posteriors_ = best.posteriors[groups]
        self.labels_ = np.argmax(self.posteriors_, axis=1)
        self.is_exact_ = inference.is_exact
        self.log_likelihood_, self.trace_, self.n_iter_ = best.log_likelihood, best.trace, len(best.trace)

    def _start(self, X: np.ndarray, groups: np.ndarray, members: Any, inference: LabelInference, seed: int) -> Start:
        """Alternate between the labels of chunklets and the mixture, from a k-means clustering."""
        labels = round_by_kmeans(X, self.n_clusters, seed=seed, n_init=1)
        Q = np.asarray(members @ np.eye(self.n_clusters)[labels])
        Q = Q / Q.sum(axis=1, keepdims=True)
        trace: list[float] = []
        converged = False
        while len(trace) < self.max_iter and not converged:
            mixture = self._maximise(X, Q, groups)
            beliefs = members @ mixture.log_densities(X) + np.log(mixture.shares)
            Q, value = inference(np.asarray(beliefs))
            trace.append(value)
            converged = len(trace) > 1 and abs(trace[-1] - trace[-2]) <= self.tol * len(X)
        return Start(trace[-1], mixture, Q, np.array(trace), converged)

    def _maximise(self, X: np.ndarray, Q: np.ndarray, groups: np.ndarray) -> Mixture:
        """Return the mixture that explains rows best, given the probabilities of the chunklets' labels."""
        R = Q[groups]
        sizes = np.maximum(R.sum(axis=0), LEAST_SHARE)
        means = (R.T @ X) / sizes[:, None]
        covariances = np.stack([(R[:, k, None] * (X - mean)).T @ (X - mean) for k, mean in enumerate(means)])
        if self.covariance == "tied":
            covariances = np.repeat(covariances.sum(axis=0, keepdims=True) / len(X), len(means), axis=0)
        else:
            covariances /= sizes[:, None, None]
        if self.covariance == "diag":
            covariances = covariances * np.eye(X.shape[1])
        variance = float(X.var(axis=0).mean())
        ridge = self.ridge * (variance if variance > LEAST_SPREAD else 1.0)
        factors = np.linalg.cholesky(covariances + ridge * np.eye(X.shape[1]))
        shares = np.maximum(Q.mean(axis=0), LEAST_SHARE)
        return Mixture(shares / shares.sum(), means, factors)

    def _distances(self, X: Any) -> np.ndarray:
        """Minus the log of share times density: the most probable component is the nearest."""
        mixture = Mixture(self.shares_, self.means_, self.factors_)
        return -(mixture.log_densities(X) + np.log(mixture.shares))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each component for each row of X, by its features alone.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The rows.
        """
        log_P = -self._judged(X)
        return np.exp(log_P - np.logaddexp.reduce(log_P, axis=1, keepdims=True))


# Which labels groups of rows may have when some of them must differ: exact where few hang together, else mean field.
#
# Groups joined by "must differ" fall into components. A component of s groups has K^s joint labels; where these are
# few, all are listed and those that break an answer get probability 0.


Floats = npt.NDArray[np.float64]


Ints = npt.NDArray[np.intp]


MOST_LABELS = 4096  # joint labels of a component that are listed


MEAN_FIELD_GAIN = 10.0  # log odds of keeping an answer where labels cannot be listed


BLOCK = 2_000_000  # numbers held at a time


class Component(NamedTuple):
    """Components of the same size: their groups (n_components, s), and which joint labels are allowed."""

    groups: Ints
    joint: Ints  # (K^s, s)
    allowed: npt.NDArray[np.bool_]  # (n_components, K^s)


class LabelInference:
    """Inference over groups, prepared once for many beliefs."""

    def __init__(self, n_groups: int, apart: Ints, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        graph = sp.csr_array((np.ones(len(apart)), (apart[:, 0], apart[:, 1])), shape=(n_groups, n_groups))
        _, component = connected_components(graph, directed=False)
        sizes = np.bincount(component, minlength=1)
        most = int(np.log(MOST_LABELS) / np.log(max(n_clusters, 2)))
        listed = sizes[component[apart[:, 0]]] <= most
        self.components = [
            listed_part
            for s in np.unique(sizes[component[apart[listed, 0]]])
            for listed_part in _list_labels(component, apart[listed], sizes, int(s), n_clusters)
        ]
        rest = apart[~listed]
        self.loose, self.links = np.unique(rest), np.zeros((0, 2), dtype=np.intp)
        if len(rest):
            self.links = np.searchsorted(self.loose, rest).astype(np.intp)

    @property
    def is_exact(self) -> bool:
        """Whether all components are small enough to be listed."""
        return not len(self.loose)

    def __call__(self, log_P: Floats) -> tuple[Floats, float]:
        """Return the probability of each label of each group, and the log likelihood (a lower bound if not exact)."""
        top = log_P.max(axis=1, keepdims=True)
        P = np.exp(log_P - top)
        totals = P.sum(axis=1)
        Q = P / totals[:, None]
        value = np.log(totals) + top[:, 0]
        for part in self.components:
            scores = sum(log_P[part.groups[:, j]][:, part.joint[:, j]] for j in range(part.groups.shape[1]))
            scores = np.where(part.allowed, scores, -np.inf)
            peak = scores.max(axis=1, keepdims=True)
            weights = np.exp(scores - peak)
            total = weights.sum(axis=1, keepdims=True)
            for j in range(part.groups.shape[1]):
                Q[part.groups[:, j]] = (weights / total) @ (part.joint[:, j : j + 1] == np.arange(self.n_clusters))
            value[part.groups] = 0.0
            value[part.groups[:, 0]] = np.log(total[:, 0]) + peak[:, 0]
        if len(self.loose):
            value[self.loose] = 0.0
            Q[self.loose], bound = self._mean_field(log_P[self.loose])
            value[self.loose[0]] = bound
        return Q, float(value.sum())

    def _mean_field(self, log_P: Floats) -> tuple[Floats, float]:
        normalised = log_P - np.logaddexp.reduce(log_P, axis=1, keepdims=True)
        none = np.zeros((0, 3), dtype=np.intp)
        q = infer(
            normalised, self.links, np.zeros(len(self.links), dtype=np.intp), none, none[:, 0],
            gain_pair=MEAN_FIELD_GAIN, gain_triplet=MEAN_FIELD_GAIN,
        )  # fmt: skip
        together = (q[self.links[:, 0]] * q[self.links[:, 1]]).sum()
        return q, float((q * log_P - xlogx(q)).sum() - MEAN_FIELD_GAIN * together)


def _list_labels(component: Ints, apart: Ints, sizes: Ints, s: int, K: int) -> list[Component]:
    """List the joint labels of all components of ``s`` groups that some answer is about, a block at a time."""
    chosen = np.unique(component[apart[:, 0]])
    chosen = chosen[sizes[chosen] == s]
    order = np.argsort(component, kind="stable")
    begin = np.concatenate([[0], np.cumsum(sizes)])
    groups = order[begin[chosen][:, None] + np.arange(s)]
    joint = np.stack(np.meshgrid(*[np.arange(K)] * s, indexing="ij"), axis=-1).reshape(-1, s)
    place = np.zeros(len(component), dtype=np.intp)
    place[groups] = np.arange(s)
    which = np.full(len(sizes), -1, dtype=np.intp)
    which[chosen] = np.arange(len(chosen))
    allowed = np.ones((len(chosen), len(joint)), dtype=bool)
    for a, b in apart[which[component[apart[:, 0]]] >= 0]:
        allowed[which[component[a]]] &= joint[:, place[a]] != joint[:, place[b]]
    step = max(1, BLOCK // len(joint))
    return [Component(groups[at : at + step], joint, allowed[at : at + step]) for at in range(0, len(chosen), step)]
