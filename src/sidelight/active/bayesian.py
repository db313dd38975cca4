"""Bayesian clustering with answers about pairs, and the conversation that it leads, [P17] chapter 4."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.content import content_order
from sidelight._core.forest import spanning_edges
from sidelight._core.params import as_generator, check_choice, check_n_clusters, check_number
from sidelight._core.simplex import softmax
from sidelight.active.belief import as_dense
from sidelight.active.particle_belief import CENTRES, ParticleBelief, Prior
from sidelight.active.session import ActiveSession, Recorder
from sidelight.active.told import SavedSession
from sidelight.data.coerce import as_pairs
from sidelight.errors import InvalidParameter
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns


class BayesianActiveClustering(ProbabilityColumns, ClusterMixin, Estimator):
    r"""Cluster rows by a logistic rule with a posterior, [P17] chapter 4; ``start`` asks the pairs that teach most.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    criterion : {"info", "uncertain"}, default="info"
        Eq. (4.7), the information about the rule, or (4.6), the entropy of the answer.
    eps : float, default=0.05
        The share of wrong answers.
    tau : float, default=1.0
        Weight of the average entropy in the prior (4.3).
    penalty : float, default=10.0
        The thesis' lambda: precision of the Gaussian prior.
    centre : {"either", "zero", "start"}, default="either"
        Where the Gaussian of the prior is centred: on 0, as printed, which needs answers to cluster at all; on a
        k-means start; or on whichever of the two explains the answers better.
    n_particles : int or "thesis", default=64
        Number of particles; "thesis" takes 2 d K.
    n_moves : int, default=3
        Slice-sampling moves after every answer.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything that is drawn.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Most probable labels given rows and answers.
    weights_ : ndarray of shape (n_features + 1, n_clusters)
        The rule of largest posterior, on standardised rows and a constant.
    mean_, scale_ : ndarray of shape (n_features,)
        How rows are standardised.
    n_dropped_ : int
        Answers that were left out because they close a cycle.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    See Also
    --------
    ActiveSession : Our own belief and questions, which need far fewer answers.
    DiscriminativeClustering : The same rule from answers that were given already.

    Notes
    -----
    [P17] chapter 4: particles of W follow the posterior of answers that are wrong with probability eps under a Gaussian
    prior, and the next question is the one whose answer tells most about W, the mutual information

    .. math::

        I(y; W) = H \Big[ \tfrac1S \sum_s p(y \mid W_s) \Big] - \tfrac1S \sum_s H[ p(y \mid W_s) ] .

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [0.1], [4.0], [4.1]])
    >>> session = sl.BayesianActiveClustering(2, random_state=0).start(X)
    >>> session.tell(session.ask(), "same")
    >>> session.n_answers
    1
    """

    __metadata_request__fit = {"pairs": True}
    __metadata_request__score = {"pairs": True}

    def __init__(
        self,
        n_clusters: int = 8,
        criterion: str = "info",
        *,
        eps: float = 0.05,
        tau: float = 1.0,
        penalty: float = 10.0,
        centre: str = "either",
        n_particles: int | str = 64,
        n_moves: int = 3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.criterion = criterion
        self.eps = eps
        self.tau = tau
        self.penalty = penalty
        self.centre = centre
        self.n_particles = n_particles
        self.n_moves = n_moves
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, pairs: Any = None) -> BayesianActiveClustering:
        """Find the rule of largest posterior, eq. (4.13), and the labels that follow.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs or None
            Answers, for tools that know only ``y``.
        pairs : Pairs or list of (row, row, answer), default=None
            Answers about pairs. Those that close a cycle with earlier ones are left out.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        order = content_order(X)
        X, pairs = X[order], as_pairs(pairs, n_rows=X.shape[0], y=y).each_once()[order]
        belief = ParticleBelief(X, self._prior(X.shape[1], n_particles=1, n_moves=0), as_generator(self.random_state))
        kept = spanning_edges(pairs.left, pairs.right, X.shape[0])
        belief.left, belief.right, belief.same = pairs.left[kept], pairs.right[kept], pairs.codes[kept]
        self.n_dropped_ = int((~kept).sum())
        self.labels_ = belief.partition(np.random.default_rng(0))[np.argsort(order)]
        self.weights_ = belief._map().reshape(-1, self.n_clusters).copy()
        self.mean_, self.scale_ = belief.mean, belief.scale
        return self

    def start(self, X: Any, pairs: Any = None, *, recorder: Recorder | None = None) -> ActiveSession:
        """Begin a conversation about the rows of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        pairs : Pairs or list of (row, row, answer), default=None
            Answers that are known already.
        recorder : object with ``record(event)``, default=None
            Remembers every event.
        """
        self._check_parameters()
        session = ActiveSession(
            X,
            self.n_clusters,
            strategy=self.criterion,
            belief=self._new_belief,
            recorder=recorder,
            random_state=self.random_state,
        )
        for answer in as_pairs(pairs, n_rows=session._X.shape[0]).each_once().answers:
            session.tell(answer.rows, answer.answer)
        return session

    def resume(self, path: str | os.PathLike[str], X: Any, *, recorder: Recorder | None = None) -> ActiveSession:
        """Take up a conversation that ``start`` began; it goes on exactly as it would have with these parameters.

        Parameters
        ----------
        path : str or path
            A file that ``ActiveSession.save`` wrote.
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows of the conversation.
        recorder : object with ``record(event)``, default=None
            Remembers every event from here on.
        """
        self._check_parameters()
        saved = SavedSession.read(path)
        if (saved.n_clusters, saved.strategy) != (self.n_clusters, self.criterion):
            raise InvalidParameter(
                f"The session {str(path)!r} has n_clusters={saved.n_clusters} and criterion={saved.strategy!r}; here "
                f"they are {self.n_clusters} and {self.criterion!r}. Give the parameters it was begun with."
            )
        return ActiveSession.resume(path, X, belief=self._new_belief, recorder=recorder)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable cluster of each row of X, by its features."""
        return np.argmax(self.predict_proba(X), axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster for each row of X."""
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        dense = as_dense(X)
        rows = np.column_stack([(dense - self.mean_) / self.scale_, np.ones(len(dense))])
        return np.asarray(softmax(rows @ self.weights_))

    @checks_y
    def score(self, X: Any, y: Any = None, *, pairs: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log likelihood of answers about the rows of X, or minus the mean entropy without any.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs or None
            Answers, for tools that know only ``y``.
        pairs : Pairs or None
            Answers about these rows.
        sample_weight : None
            Answers carry their own weights.
        """
        P = self.predict_proba(X)
        pairs = as_pairs(pairs, n_rows=len(P), y=y)
        if not pairs.n_answers:
            return float((P * np.log(np.maximum(P, 1e-300))).sum(axis=1).mean())
        alike = np.einsum("mk,mk->m", P[pairs.left], P[pairs.right])
        same = self.eps + (1 - 2 * self.eps) * alike
        return float(np.average(np.log(np.where(pairs.same, same, 1 - same)), weights=pairs.weights))

    def _new_belief(self, X: Any, n_clusters: int | None, generator: np.random.Generator) -> ParticleBelief:
        return ParticleBelief(X, self._prior(X.shape[1]), generator)

    def _prior(self, n_features: int, **changes: Any) -> Prior:
        n_particles = 2 * n_features * self.n_clusters if self.n_particles == "thesis" else int(self.n_particles)
        settings = {"n_particles": n_particles, "n_moves": self.n_moves, **changes}
        return Prior(self.n_clusters, self.eps, self.tau, self.penalty, self.centre, **settings)

    def _check_parameters(self) -> None:
        check_number(self, "n_clusters", self.n_clusters, integer=True, low=1)
        check_choice(self, "criterion", self.criterion, ("info", "uncertain"))
        check_number(self, "eps", self.eps, low=0, high=0.5, open_low=True, open_high=True)
        check_number(self, "tau", self.tau, low=0)
        check_number(self, "penalty", self.penalty, low=0, open_low=True)
        check_choice(self, "centre", self.centre, CENTRES)
        if not (isinstance(self.n_particles, str) and self.n_particles == "thesis"):
            check_number(self, "n_particles", self.n_particles, integer=True, low=1, advice='It may also be "thesis".')
        check_number(self, "n_moves", self.n_moves, integer=True, low=0)

    @property
    def _n_features_out(self) -> int:
        return int(self.weights_.shape[1])

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
