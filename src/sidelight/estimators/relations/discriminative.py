"""Discriminative clustering with answers about pairs and triplets, [P17] chapter 3, and without any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.content import content_order
from sidelight._core.params import as_generator, check_choice, check_n_clusters, check_number
from sidelight._core.process import one_blas_thread, one_thread
from sidelight._core.simplex import log_softmax
from sidelight._models.feature_map import MOST_COLUMNS, FeatureMap
from sidelight._models.objective import SoftmaxLinear
from sidelight._terms.information import Balance, Confidence
from sidelight.data.coerce import as_pairs, as_triplets
from sidelight.data.parts import PartedRows
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import AnswersDisagree, ConflictingAnswers, EmptyClusters, InvalidParameter, warn
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators._linear_rule import warn_unless_converged
from sidelight.estimators.relations import direct, variational
from sidelight.estimators.relations.answered import Answered
from sidelight.estimators.relations.direct import TRUSTED
from sidelight.estimators.relations.noise import ErrorRates
from sidelight.estimators.relations.trust import DOUBTED, Trust, beliefs_about, estimate_error_rate

LANDMARKS = 300  # of the curved features
MOST_ROWS = 20_000  # that the objective looks at, beside those that answers are about
MANY = 2  # times as many: of more rows, a fit looks at those with answers and a sample


class DiscriminativeClustering(ProbabilityColumns, ClusterMixin, Estimator):
    r"""Cluster rows by their features and by answers about pairs and triplets of them.

    By default the likelihood of each answer is maximised directly, on a belief that bends: the softmax of a linear
    rule on [rows, Nystroem map]. ``objective="variational"`` is the method of [P17] chapter 3, on the rows alone.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    objective : {"answers", "variational"}, default="answers"
        Maximise the likelihood of each answer, or the variational bound [P17] eq. (3.7).
    boundary : {"curved", "straight"} or None, default=None
        Whether boundaries between clusters may bend. None: curved for "answers", straight for "variational".
    tau : float or None, default=None
        Weight of the information I(Y, X; W), eq. (3.5). None: 0.3 for "answers", more where answers are wrong and
        held-out answers say that the rows help; 1 for "variational".
    penalty : float or None, default=None
        Weight of ``|W|^2 / 2``. None: 0.04 tau mu / K for "answers", with mu the largest eigenvalue of the covariance
        of the features, so that one default serves rows of any unit; 2^-5 for "variational". The thesis' lambda
        multiplies ``|W|^2``, so penalty = 2 lambda: its grid is 2^-9 to 2^-1 on standardised rows.
    eps : float or "auto", default="auto"
        The share of wrong answers. "auto" finds out by held-out answers how often they, and each annotator, are
        wrong, and whether a fit that doubts them explains others better than one that does not;
        fewer than 25 answers are taken to be wrong in 20 % of the cases, so that rows count too.
        For "variational" it means 0.05. 0 takes every answer as certain ("variational" only, eq. (3.11)).
    errors : {"even", "confusion"}, default="even"
        What ``eps="auto"`` learns: one rate at which all wrong answers are equally likely, or which answers are
        mistaken for which ([P17] 3.5.2.2).
    on_conflict : {"soften", "raise"}, default="soften"
        Answers that cannot all be true are warned about and weighed against each other, or refused.
    n_init : int, default=2
        How often each of the five kinds of start is tried.
    max_iter : int, default=300
        Most L-BFGS iterations, or rounds of variational EM.
    tol : float, default=1e-6
        Relative change of the objective at which a fit has converged.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the landmarks, starts and samples.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row, by its features and by the answers about it; ``predict`` knows the features alone.
    probabilities_ : ndarray of shape (n_rows, n_clusters)
        The probability of each cluster of each row, likewise.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    eps_ : float
        The share of wrong answers in use.
    eps_range_ : ndarray of shape (2,)
        Between which shares answers are wrong: what answers that test each other prove (0 where none do), and what
        held-out answers make it seem, which may be features that cannot say. ``eps_`` twice where it was given.
    calibration_ : dict
        The "temperature" of probabilities by held-out answers (below 1 sharpens), how right held-out pairs are over how
        sure they are called ("reliability": "said", "right", "rows"), and of how many answers ("n_answers").
    annotator_errors_ : dict
        The share of wrong answers of each annotator, when ``eps="auto"`` and annotators are named.
    pair_confusion_, triplet_confusion_ : ndarray of shape (2, 2) and (4, 4)
        Rows are the truth, columns the answer: (different, same) and (a, b, c, none odd).
    weights_, intercept_ : ndarray of shape (n_mapped, n_clusters) and (n_clusters,)
        W and b of the softmax rule on the features of ``feature_map_``.
    feature_map_ : FeatureMap
        From rows to features.
    penalty_ : float
        The penalty in use.
    start_values_ : dict
        The objective that each start had reached when they were compared.
    objective_, trace_, n_iter_ : float, ndarray, int
        The minimised objective, its value after each iteration (it never rises), and their number.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    See Also
    --------
    DiscriminativeClusteringCV : Chooses the number of clusters, tau and the penalty by held-out answers.
    ActiveSession : Asks the questions itself.
    sidelight.peers : COP-, PCK- and MPCK-Means, metrics and propagation on the same answers.

    Notes
    -----
    With P the softmax of a linear rule on curved features, the fit minimises

    .. math::

        - \tfrac1M \sum_m \log p(\text{answer } m)
        + \tau \big( -H[\bar P] + \tfrac1N \textstyle\sum_i H[P_i] \big)
        + \tfrac{\text{penalty}}{2} \lVert W \rVert^2 ,

    where an answer about a pair is "same" with probability :math:`\epsilon + (1 - 2\epsilon) P_a \cdot P_b`. The middle
    term is the information (3.5) of [P17]; ``objective="variational"`` is the thesis' own (3.6) with variational EM.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0], [0.2], [1.0], [1.2], [5.0], [5.2]]
    >>> pairs = sl.Pairs.from_table([(0, 2, "same"), (2, 4, "different")], n_rows=6)
    >>> labels = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=pairs).labels_
    >>> bool(labels[0] == labels[3] != labels[4])
    True
    """

    RETIRED: ClassVar[dict[str, Any]] = {"use_none": True, "max_rows": MOST_ROWS}

    __metadata_request__fit = {"pairs": True, "triplets": True}
    __metadata_request__score = {"pairs": True, "triplets": True}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        objective: str = "answers",
        boundary: str | None = None,
        tau: float | None = None,
        penalty: float | None = None,
        eps: float | str = "auto",
        errors: str = "even",
        on_conflict: str = "soften",
        n_init: int = 2,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.objective = objective
        self.boundary = boundary
        self.tau = tau
        self.penalty = penalty
        self.eps = eps
        self.errors = errors
        self.on_conflict = on_conflict
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    @one_thread()  # the products are thin: threads of BLAS and OpenMP would wait for each other most of the time
    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, triplets: Any = None) -> DiscriminativeClustering:
        """Find clusters of the rows of X that respect the answers.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features), or Parts
            The rows. Of Parts, those with answers and about 20,000 others are collected in one pass; ``labels_``
            and ``probabilities_`` are then made part by part, by features alone.
        y : Pairs, Triplets or None
            Answers, for tools that know only ``y``.
        pairs : Pairs or list of (row, row, answer), default=None
            Answers about pairs of rows, which are numbered as in all parts together.
        triplets : Triplets or list of (row, row, row, answer), default=None
            Answers about triplets of rows.
        """
        self._check_parameters()
        if isinstance(X, PartedRows):
            return self._fit_parts(X, *self._read_answers(X.n_rows, y, pairs, triplets))
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        given = self._read_answers(X.shape[0], y, pairs, triplets)
        self._look_for_conflicts(*given)
        pairs, triplets = given[0].each_once(), given[1].each_once()
        generator = as_generator(self.random_state)
        seen, about_pairs, about_triplets = self._looked_at(X, pairs, triplets, generator)
        if self.objective == "variational":
            feature_map = self._feature_map(seen, generator)
            eps = TRUSTED if self.eps == "auto" else float(self.eps)
            told, trust = (
                Answered.evenly(about_pairs, about_triplets, eps),
                Trust(ErrorRates.evenly(eps), eps, self.tau),
            )
            fit = variational.learn(seen, feature_map(seen), told, eps, self._settings(), generator)
            answered = Answered.evenly(pairs, triplets, eps)
        else:
            feature_map = self._feature_map(seen, generator)
            told = Answered.evenly(about_pairs, about_triplets, TRUSTED)
            terrain = direct.StartSpace.of(seen, feature_map(seen), told, self.n_clusters, generator)
            settings, uneven = self._settings(), self.errors == "confusion"
            trust = (
                estimate_error_rate(terrain, about_pairs, about_triplets, settings, generator, confusion=uneven)
                if self.eps == "auto"
                else Trust(ErrorRates.evenly(float(self.eps)), float(self.eps), settings.tau)
            )
            told, settings = trust.answered(about_pairs, about_triplets), replace(settings, tau=trust.tau)
            fit = direct.learn(terrain, told, settings, trust.eps, generator)
            answered = trust.answered(pairs, triplets)
        self._publish(X, feature_map, fit, answered, trust)
        self.violated_ = dict(zip(("pairs", "triplets"), (answers.broken_by(self.labels_) for answers in given)))
        return self

    def _looked_at(
        self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator
    ) -> tuple[Any, Pairs, Triplets]:
        """Return the rows that a fit looks at, by their content: all, or of many those with answers and a sample.

        The features of a row that bend take some 150 numbers, so those of a million rows would fill a gigabyte.
        """
        n = X.shape[0]
        if n <= MANY * MOST_ROWS or self.objective == "variational":
            rows = content_order(X)
            return X[rows], pairs[rows], triplets[rows]
        drawn = generator.choice(n, MOST_ROWS, replace=False)
        rows = np.unique(np.concatenate([drawn, pairs.rows.ravel(), triplets.rows.ravel()]))
        return X[rows], pairs[rows], triplets[rows]

    def _feature_map(self, X: Any, generator: np.random.Generator) -> FeatureMap:
        ours = self.objective == "answers"
        return FeatureMap.learn(
            X,
            generator=generator,
            n_landmarks=LANDMARKS if self._boundary == "curved" else 0,
            unit_rows=ours,
            most_columns=MOST_COLUMNS if ours else None,
        )

    def _fit_parts(self, parts: PartedRows, pairs: Pairs, triplets: Triplets) -> DiscriminativeClustering:
        """Fit the rows that the objective looks at, and let the others be asked about part by part."""
        answered = np.unique(np.concatenate([pairs.rows.ravel(), triplets.rows.ravel()]))
        each = parts.without_bags()
        drawn = each.drawn(each.draw(MOST_ROWS, also=answered))
        order = np.argsort(drawn.numbers, kind="stable")
        rows, numbers = np.asarray(drawn.rows, dtype=np.float64)[order], drawn.numbers[order]
        self.fit(rows, pairs=pairs[numbers], triplets=triplets[numbers])
        self.labels_, self.probabilities_ = parts.apply(self.predict), parts.apply(self.predict_proba)
        return self

    def _publish(
        self, X: Any, feature_map: FeatureMap, fit: Any, answered: Answered, trust: Trust
    ) -> DiscriminativeClustering:
        solution = fit.solution
        warn_unless_converged(self, solution, "Raise max_iter or tol.", stacklevel=5)
        model = SoftmaxLinear(feature_map.n_features, self.n_clusters)
        W, b = model.unpack(solution.parameters)
        log_P = _log_posterior(model, solution.parameters, feature_map, X)
        self.calibration_: dict[str, Any] = {"temperature": 1.0, "n_answers": 0, "reliability": {}}
        if trust.held_out is not None and len(trust.held_out.said_same):
            wrong = 0.0 if trust.eps_range is None else trust.eps_range[0]
            self.calibration_ = trust.held_out.calibration(wrong)
        P = self._given_answers(log_P, answered, trust) if answered.n_answers else np.exp(log_P)
        labels, rates = np.argmax(P, axis=1), trust.rates
        order = _by_first_row(labels, self.n_clusters)  # which of equally good starts won must not show
        self.feature_map_ = feature_map
        self.weights_, self.intercept_ = W[:, order], b[order]
        self.objective_, self.trace_, self.n_iter_ = solution.value, solution.trace, max(1, solution.n_iter)
        self.penalty_, self.start_values_ = fit.penalty, fit.starts
        self.labels_, self.probabilities_ = np.argsort(order)[labels], P[:, order]
        n_used = len(np.unique(self.labels_))
        if n_used < self.n_clusters:
            what = f"only {n_used} of {self.n_clusters} clusters hold rows."
            doubted = answered.n_answers and rates.eps >= DOUBTED
            advice = (
                f"Held-out answers go against the others or the rows (about {rates.eps:.0%} seem wrong), so that they "
                "tell little apart: look for wrong ones, bring more, or ask for fewer clusters."
            )
            warn(
                EmptyClusters(what, who=type(self).__name__, do=advice if doubted else "Ask for fewer clusters."),
                stacklevel=3,
            )
        self.eps_, self.annotator_errors_ = rates.eps, dict(rates.by_annotator)
        self.eps_range_ = np.array(trust.eps_range or (rates.eps, rates.eps))
        self.pair_confusion_, self.triplet_confusion_ = rates.pair_confusion, rates.triplet_confusion
        return self

    def _given_answers(self, log_P: np.ndarray, answered: Answered, trust: Trust) -> np.ndarray:
        """Return the probability of each cluster of each row; the thesis goes by the features alone."""
        P = self._tempered(log_P)
        if self.objective == "answers":
            rows, believed = answered.rows, trust.rates.believed(answered.pairs, answered.triplets)
            sharp = believed.among(rows).posterior(log_softmax(trust.sharpness * log_P[rows]))
            known: dict[str, Any] = self.calibration_
            blunt = max(1.0, trust.sharpness * known["temperature"]) if known["n_answers"] else 1.0
            P[rows] = np.exp(log_softmax(np.log(np.maximum(sharp, 1e-300)) / blunt))  # the same clusters
        return P

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable cluster of each row of X, by its features alone."""
        return np.argmax(self._log_posterior(X), axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P, the probability of each cluster for each row of X, by its features alone; see `calibration_`."""
        return self._tempered(self._log_posterior(X))

    def _tempered(self, log_P: np.ndarray) -> np.ndarray:
        """Return probabilities as sure as held-out answers allow."""
        temperature = getattr(self, "calibration_", {"temperature": 1.0})["temperature"]  # 0.3 had none
        return np.exp(log_P if temperature == 1.0 else log_softmax(log_P / temperature))

    @checks_y
    def score(
        self, X: Any, y: Any = None, *, pairs: Any = None, triplets: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the mean log likelihood of answers about the rows of X; higher is better.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs, Triplets or None
            Answers, for tools that know only ``y``.
        pairs, triplets : Pairs, Triplets or None
            Answers about these rows, usually held out. Without any, the score is the information I(Y, X; W) of
            [P17] eq. (3.5), in nats.
        sample_weight : None
            Answers carry their own weights.
        """
        log_P = self._log_posterior(X)
        P = np.exp(log_P)
        pairs, triplets = self._read_answers(len(P), y, pairs, triplets)
        if pairs.n_answers + triplets.n_answers:
            return Answered.evenly(pairs, triplets, max(self.eps_, 1e-3)).log_likelihood(P)
        return -float(Balance()(P, log_P)[0] + Confidence()(P, log_P)[0])

    def _log_likelihoods(self, X: Any, pairs: Any = None, triplets: Any = None) -> np.ndarray:
        """Return the log likelihood of each answer about the rows of X, times its weight; their mean is the score."""
        P = np.exp(self._log_posterior(X))
        answered = Answered.evenly(*self._read_answers(len(P), None, pairs, triplets), max(self.eps_, 1e-3))
        return _weighed(answered, P)

    @one_thread()
    def _held_out_likelihoods(
        self, X: Any, pairs: Pairs, triplets: Triplets, eps: float, seed: int, n_folds: int
    ) -> np.ndarray:
        """Return the log likelihood of each answer, times its weight, by a brief fit that did not see it."""
        generator = as_generator(seed)
        X, pairs, triplets = self._looked_at(X, pairs, triplets, generator)
        features = self._feature_map(X, generator)(X)
        terrain = direct.StartSpace.of(X, features, Answered.evenly(pairs, triplets, eps), self.n_clusters, generator)
        held_out, beliefs, _ = beliefs_about(
            terrain, pairs, triplets, self._settings(), eps, seed, n_folds=n_folds, fewest=n_folds, n_kinds=1
        )
        return np.concatenate([_weighed(part, np.exp(log_P)) for part, log_P in zip(held_out, beliefs)])

    @one_blas_thread()  # how a product is cut into threads would show in its last bits
    def _log_posterior(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        model = SoftmaxLinear(*self.weights_.shape)
        parameters = model.pack(self.weights_, self.intercept_)
        return _log_posterior(model, parameters, self.feature_map_, rows_to_judge(self, X))

    def _read_answers(self, n_rows: int, y: Any, pairs: Any, triplets: Any) -> tuple[Pairs, Triplets]:
        return as_pairs(pairs, n_rows=n_rows, y=y), as_triplets(triplets, n_rows=n_rows, y=y)

    def _look_for_conflicts(self, pairs: Pairs, triplets: Triplets) -> None:
        for answers in (pairs, triplets):
            contradictions = answers.contradictions(limit=1) if answers.n_answers else ()
            if not contradictions:
                continue
            if self.on_conflict == "raise" or self.eps == 0:
                raise ConflictingAnswers(
                    f"{type(self).__name__}: not all answers can be true. {contradictions[0]} Drop one with "
                    f"{answers._word}.without({contradictions[0].against[0]}), or fit with on_conflict='soften' and "
                    "eps above 0."
                )
            warn(
                AnswersDisagree(
                    f"not all answers can be true. {contradictions[0]} They are weighed against each other.",
                    who=type(self).__name__,
                    do="Look at these answers again, and leave out the wrong one.",
                ),
                stacklevel=4,
            )

    @property
    def _boundary(self) -> str:
        return self.boundary or ("curved" if self.objective == "answers" else "straight")

    def _settings(self) -> direct.Settings:
        return direct.Settings(self.n_clusters, self.tau, self.penalty, self.n_init, self.max_iter, self.tol, MOST_ROWS)

    def _check_parameters(self) -> None:
        check_number(self, "n_clusters", self.n_clusters, integer=True, low=1)
        check_choice(self, "objective", self.objective, ("answers", "variational"))
        check_choice(self, "boundary", self.boundary, ("curved", "straight", None))
        check_number(self, "tau", self.tau, low=0, open_low=True, none=True)
        check_number(self, "penalty", self.penalty, low=0, none=True)
        if not (isinstance(self.eps, str) and self.eps == "auto"):
            check_number(self, "eps", self.eps, low=0, high=0.5, open_high=True, advice='It may also be "auto".')
        if self.objective == "answers" and self.eps == 0:
            raise InvalidParameter(
                "DiscriminativeClustering takes eps=0 (every answer is certain) only with objective='variational'. "
                "Give eps a small number, such as 0.01."
            )
        check_choice(self, "errors", self.errors, ("even", "confusion"))
        check_choice(self, "on_conflict", self.on_conflict, ("soften", "raise"))
        for name in ("n_init", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)

    @property
    def _n_features_out(self) -> int:
        return len(self.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _log_posterior(model: SoftmaxLinear, parameters: np.ndarray, feature_map: FeatureMap, X: Any) -> np.ndarray:
    """Return log P for all rows."""
    return feature_map.apply(lambda features: model.log_posterior(parameters, features), X, model.n_clusters)


def _by_first_row(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the clusters in the order of their first rows, empty ones last."""
    first = np.full(n_clusters, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return np.argsort(first, kind="stable")


def _weighed(answered: Answered, P: np.ndarray) -> np.ndarray:
    """Return the log likelihood of each answer times its weight; their mean is the mean by weight."""
    share = answered.weights * answered.n_answers / max(answered.total_weight, np.finfo(float).tiny)
    return np.asarray(share * answered.log_likelihoods_of(answered.truths(P)))
