"""Clusters of rows about which nobody was asked: four ways race, and the rows themselves say which won.

Every way sees the same straight features: k-means; a mixture of normal clouds that share a covariance; the graph of
nearest rows; the discriminative fit without answers. What wins is learnt by one rule, the softmax on features that
bend, so that new rows are placed alike whichever way it was.

The judge (:mod:`sidelight.estimators._judge`) asks how much other rows tell about the cluster of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.content import content_order
from sidelight._core.params import as_generator, as_seed, check_choice, check_n_clusters, check_number
from sidelight._core.process import one_blas_thread, one_thread, without_library_warnings
from sidelight._core.prototypes import round_by_kmeans
from sidelight._core.simplex import log_softmax
from sidelight._models.feature_map import FeatureMap
from sidelight._models.objective import SoftmaxLinear
from sidelight._terms.information import CrossEntropy
from sidelight.data.coerce import as_pairs, as_triplets
from sidelight.errors import EmptyClusters, warn
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators._how_many import Spectrum
from sidelight.estimators._judge import NEAREST, Judge, leading_components
from sidelight.estimators._linear_rule import RuleFit
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.relations import direct
from sidelight.estimators.relations.answered import Answered
from sidelight.progress import report

METHODS = ("k-means", "mixture", "graph", "discriminative")
MOST_ROWS = 10_000  # that race; the rule places the others
_STARTS = {"k-means": 5, "mixture": 3}
_RUNS, _FEW_ROWS = 3, 4_000  # of each way, up to so many rows: of more, one run is as good as another
_GRAPH = 5  # neighbours of a row in the graph that is cut; the judge looks at more, not to prefer what it is cut by
_PENALTY = 1e-3  # of mu / K: the rule repeats clusters, in 99 rows of 100 also those of other rows
_ITERATIONS, _TOLERANCE = 200, 1e-5
_EVEN, _MOSTLY = 0.02, 0.9  # of the squared length of a row, and the share of rows that have it: some texts are empty


class RowClustering(ProbabilityColumns, ClusterMixin, Estimator):
    r"""Cluster rows about which nothing else is known, by the best of four ways.

    K-means, a mixture with one covariance, the graph of nearest rows and the discriminative fit are tried; which
    clusters are best told by other rows is decided without labels. One rule then places all rows, and new ones.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    method : {"best", "k-means", "mixture", "graph", "discriminative"}, default="best"
        The way; "best" tries all.
    random_state : int, RandomState, Generator or None, default=None
        Seed of samples and starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    method_ : str
        The way that won.
    scores_ : dict
        How well each way did, higher is better; one entry where the method was given.
    weights_, intercept_ : ndarray of shape (n_mapped, n_clusters) and (n_clusters,)
        W and b of the softmax rule on the features of ``feature_map_``.
    feature_map_ : FeatureMap
        From rows to features.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    See Also
    --------
    DiscriminativeClustering : Takes answers about pairs and triplets of rows.
    Standardized : Prepares columns by their kind first.

    Notes
    -----
    With :math:`I` the mutual information of the clusters of rows and what others say of them, the way wins with the
    largest

    .. math::

        \frac{I(\text{nearest rows}) + 0.4 \, I(\text{linear rule of the other half})}{\sqrt{H \log K}} ,

    where :math:`H` is the entropy of its clusters. The rule that places rows is the softmax of a linear rule on
    [rows, Nystroem map], which is fitted to the clusters that won.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0], [0.2], [0.3], [5.0], [5.2], [5.3]]
    >>> labels = sl.estimators.RowClustering(2, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[2] != labels[3])
    True
    """

    def __init__(self, n_clusters: int = 8, *, method: str = "best", random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.random_state = random_state

    @all_or_nothing
    @one_thread()
    def fit(self, X: Any, y: Any = None) -> RowClustering:
        """Find clusters of the rows of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows. Of more than 10,000 a sample races.
        y : None
            Present for scikit-learn.
        """
        check_number(self, "n_clusters", self.n_clusters, integer=True, low=1)
        check_choice(self, "method", self.method, ("best", *METHODS))
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        generator = as_generator(self.random_state)
        rows = content_order(X)
        if len(rows) > MOST_ROWS:
            rows = rows[np.sort(generator.choice(len(rows), MOST_ROWS, replace=False))]
        self.feature_map_ = FeatureMap.learn(X[rows], generator=generator)
        with one_blas_thread(), without_library_warnings():
            race = _Race(self.feature_map_(X[rows]), self.feature_map_.n_straight, self.n_clusters, generator)
            ways = race.ways(are_directions=_have_one_length(X[rows])) if self.method == "best" else (self.method,)
            found = {}
            for number, name in enumerate(ways):
                report("ways to cluster", number, len(ways), name)
                found[name] = race.run(name)
        self.scores_ = {name: score for name, (_, score) in found.items()}
        self.method_ = max(self.scores_, key=self.scores_.__getitem__)
        return self._publish(X, race, found[self.method_][0])

    def _publish(self, X: Any, race: _Race, labels: np.ndarray) -> RowClustering:
        """Learn the clusters that won by one rule, and place all rows by it."""
        with one_blas_thread():
            self.weights_, self.intercept_ = race.rule_of(labels)
        found = np.argmax(self._scores(X), axis=1)
        first = np.full(self.n_clusters, len(found))
        np.minimum.at(first, found, np.arange(len(found)))
        order = np.argsort(first, kind="stable")
        self.weights_, self.intercept_ = self.weights_[:, order], self.intercept_[order]
        self.labels_ = np.argsort(order)[found]
        n_used = len(np.unique(found))
        if n_used < self.n_clusters:
            what = f"only {n_used} of {self.n_clusters} clusters hold rows."
            warn(EmptyClusters(what, who=type(self).__name__, do="Ask for fewer clusters."), stacklevel=3)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row of X."""
        check_is_fitted(self)
        return np.argmax(self._scores(rows_to_judge(self, X)), axis=1)

    @checks_y
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return the mean log probability of the cluster of each row of X: how clearly rows lie in clusters.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : None
            Present for scikit-learn.
        sample_weight : array of shape (n_rows,), default=None
            What each row counts for.
        """
        check_is_fitted(self)
        clear = self._scores(rows_to_judge(self, X)).max(axis=1)
        return float(np.average(clear, weights=weights_of_rows(sample_weight, len(clear))))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster for each row of X: how clearly it lies in it, by the rule."""
        check_is_fitted(self)
        return np.exp(self._scores(rows_to_judge(self, X)))

    @one_blas_thread()  # how a product is cut into threads would show in its last bits
    def _scores(self, X: Any) -> np.ndarray:
        W, b = self.weights_, self.intercept_
        return self.feature_map_.apply(lambda features: log_softmax(features @ W + b), X, len(b))

    @property
    def _n_features_out(self) -> int:
        return len(self.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Race:
    """The ways to cluster some rows into K clusters, each judged by how much other rows tell about its clusters."""

    def __init__(self, features: np.ndarray, n_straight: int, n_clusters: int, generator: np.random.Generator) -> None:
        self.features, self.K, self.generator = features, n_clusters, generator
        self.rows = features[:, :n_straight]
        self.largest_variance = float(np.linalg.eigvalsh(features.T @ features / len(features))[-1])
        self.is_large = len(features) > max(NEAREST, 3 * n_clusters) and n_clusters > 1 and bool(np.ptp(self.rows))
        self.components = leading_components(self.rows)
        if self.is_large:
            self.judge = Judge(self.components, generator)

    def ways(self, *, are_directions: bool) -> tuple[str, ...]:
        """Return the ways that these rows allow: directions have no covariance, and a few rows no graph."""
        if not self.is_large:
            return ("k-means",)
        return tuple(name for name in METHODS if name != "mixture" or not are_directions)

    def run(self, name: str) -> tuple[np.ndarray, float]:
        """Return the best clusters of some runs, and how well they do."""
        ways: dict[str, Callable[[], np.ndarray]] = {
            "k-means": self._k_means,
            "mixture": self._mixture,
            "graph": self._graph,
            "discriminative": self._discriminative,
        }
        n_runs = _RUNS if self.is_large and len(self.rows) <= _FEW_ROWS else 1
        found = [np.unique(ways[name](), return_inverse=True)[1] for _ in range(n_runs)]
        judged = [
            (self.judge.score(labels, self.K) if self.is_large else 0.0, -number) for number, labels in enumerate(found)
        ]
        best, number = max(judged)
        return found[-number], best

    def rule_of(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Learn W and b of a rule that repeats clusters."""
        n, targets = len(labels), np.eye(self.K)[labels]
        fit = RuleFit(self.features, _PENALTY * self.largest_variance / self.K)
        start = direct.ridge_start(self.features, labels, self.K)
        terms = [(1.0 / n, CrossEntropy(targets))]
        solution = fit.minimise(terms, self.K, start, max_iter=_ITERATIONS, tol=_TOLERANCE, stage="learning the rule")
        W, b = SoftmaxLinear(self.features.shape[1], self.K).unpack(solution.parameters)
        return W.copy(), b.copy()

    def _k_means(self) -> np.ndarray:
        return round_by_kmeans(self.rows, self.K, seed=as_seed(self.generator), n_init=_STARTS["k-means"])

    def _mixture(self) -> np.ndarray:
        from sklearn.mixture import GaussianMixture  # .2 s, which placing rows need not wait for

        rows = self.components / max(float(self.components.std()), np.finfo(float).tiny)
        clouds = GaussianMixture(
            self.K, covariance_type="tied", n_init=_STARTS["mixture"], random_state=as_seed(self.generator)
        )
        return np.asarray(clouds.fit_predict(rows))

    def _graph(self) -> np.ndarray:
        return Spectrum.of(self.components, self.K, self.generator, n_neighbours=_GRAPH).clusters(self.K)

    def _discriminative(self) -> np.ndarray:
        n = len(self.rows)
        nothing = Answered.evenly(as_pairs(None, n_rows=n), as_triplets(None, n_rows=n), direct.TRUSTED)
        terrain = direct.StartSpace.of(self.rows, self.features, nothing, self.K, self.generator)
        settings = direct.Settings(self.K, None, None, 2, 300, 1e-6, MOST_ROWS)
        fit = direct.learn(terrain, nothing, settings, direct.TRUSTED, self.generator)
        W, b = SoftmaxLinear(self.features.shape[1], self.K).unpack(fit.solution.parameters)
        return np.argmax(self.features @ W + b, axis=1)


def _have_one_length(X: Any) -> bool:
    """Say whether rows are directions, as words are once they are prepared."""
    squares = np.asarray(X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)).ravel()
    return bool(np.mean(np.abs(squares - np.median(squares)) <= _EVEN * np.median(squares)) > _MOSTLY)
