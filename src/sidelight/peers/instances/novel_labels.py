"""Novel labels for any classifier of bags and rows, as [Z17] gives them to its baselines: threshold, then k-means."""

from __future__ import annotations

from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin, clone

from sidelight._core.heaps import cut_between
from sidelight._core.params import as_generator, as_seed, check_number
from sidelight._core.prototypes import kmeans_prototypes, mean_and_scale, squared_distances, standardised
from sidelight._core.simplex import softmax
from sidelight._models.objective import Term
from sidelight._solvers.descent import Solution, alternate
from sidelight._terms.information import CrossEntropy
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidParameter
from sidelight.estimators._base import Estimator, all_or_nothing, reporting, rows_to_fit
from sidelight.estimators._labelled_bags.supervision import Layout, require_lists
from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.estimators.coverage.problem import Problem
from sidelight.estimators.novelty.naming import NamesRows, check_enough_rows

SOFTNESS = 0.25  # how fast novelty falls above the threshold, in standard deviations of the best scores


class NovelLabels(NamesRows, ClusterMixin, Estimator):
    """Give a classifier of bags and rows novel labels: rows that no known label wants, clustered by k-means.

    [Z17] does this for its baselines. The bags take no part in it, so methods that learn both at once do better; it
    is here to compare with, and for classifiers that know nothing of novel labels. Its probabilities of novelty are not
    calibrated.

    Parameters
    ----------
    estimator : estimator
        With ``fit(X, bags=bags)``, ``classes_`` and ``decision_function`` or ``predict_proba`` of rows: ``FastMIML``,
        ``OredLogisticRegression``, ``NovelClassLogisticRegression``.
    n_novel : int, default=1
        How many novel labels.
    threshold : float or "auto", default="auto"
        A row whose best known label scores less is novel. "auto" parts the best scores of the training rows into two
        heaps (Otsu).
    random_state : int, RandomState, Generator or None, default=None
        Seed of k-means.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    threshold_, spread_ : float
        The threshold in use, and the standard deviation of the best scores.
    centres_ : ndarray of shape (n_novel, n_features)
        The centres of the novel labels, of standardised rows.
    mean_, scale_ : ndarray of shape (n_features,)
        What standardises the rows for k-means.
    labels_, classes_, class_of_, cluster_names_, label_names_
        As in :class:`DMNL`.
    n_features_in_, data_fingerprint_
        As everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2], [0.1], [5.1]])
    >>> bags = sl.Bags([0, 0, 1, 1, 2, 2], labels={0: {"wren"}, 1: {"owl"}, 2: {"wren", "owl"}})
    >>> model = sl.peers.NovelLabels(sl.peers.FastMIML(random_state=0), n_novel=1, random_state=0).fit(X, bags=bags)
    >>> model.cluster_names_
    ('owl', 'wren', 'novel-1')
    """

    def __init__(
        self, estimator: Any, n_novel: int = 1, *, threshold: float | str = "auto", random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.n_novel = n_novel
        self.threshold = threshold
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> Self:
        """Fit the classifier, then find the rows that no known label wants and cluster them.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Bags, default=None
            May hold the bags, for scikit-learn's model selection; anything else is ignored.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in and what labels the bags carry. Bags whose list is empty teach the classifier
            nothing.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        require_lists(self, bags)
        check_enough_rows(self, self.n_novel, bags.n_rows)
        generator = as_generator(self.random_state)
        self.estimator_ = clone(self.estimator).fit(X, bags=_without_empty_lists(bags))
        if not hasattr(self.estimator_, "class_of_"):
            raise InvalidParameter(
                f"NovelLabels needs a classifier that says which label a cluster is (class_of_), got "
                f"{self.estimator!r:.80}. Try FastMIML() or OredLogisticRegression()."
            )
        self.classes_ = tuple(self.estimator_.classes_)
        scores = self._known(X)[0]
        self.threshold_ = cut_between(scores) if self.threshold == "auto" else float(self.threshold)
        self.spread_ = float(scores.std()) or 1.0
        self.mean_, self.scale_ = mean_and_scale(X)
        self.centres_ = self._centres(X, scores, as_seed(generator))
        layout = Layout.of(self.classes_, 1, len(self.centres_))
        self.class_of_, self.cluster_names_ = layout.class_of, layout.names
        self.label_names_ = layout.label_names
        self.labels_ = np.argmax(self._probabilities(X, bags), axis=1)
        return self

    def _probabilities(self, X: Any, bags: Any) -> np.ndarray:
        """Take novelty for a logistic function of how far the best known score lies below the threshold."""
        scores, known = self._known(X)
        away = np.clip((scores - self.threshold_) / (SOFTNESS * self.spread_), -500.0, 500.0)
        novelty = 1.0 / (1.0 + np.exp(away)) if np.isfinite(self.threshold_) else np.zeros(len(scores))
        if not self.classes_:
            novelty = np.ones(len(scores))
        squares = squared_distances(self._standard(X), self.centres_)
        shares = softmax(-squares / max(float(squares.min(axis=1).mean()), np.finfo(np.float64).tiny))
        P = np.hstack([known * (1.0 - novelty)[:, None], shares * novelty[:, None]])
        if bags is not None:
            bags = as_bags(bags, n_rows=len(P), classes=self.classes_)
            P[:, : len(self.classes_)] *= bags.row_label_mask()
        total = P.sum(axis=1, keepdims=True)
        return np.where(total > 0, P / np.where(total > 0, total, 1.0), 1.0 / P.shape[1])

    def _known(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the best score of a known label for each row, and the probability of each known label."""
        inner = self.estimator_
        P = np.asarray(inner.predict_proba(X))
        class_of = np.asarray(inner.class_of_)
        known = np.column_stack(
            [P[:, class_of == c].sum(axis=1) for c in range(len(self.classes_))] or [np.empty((len(P), 0))]
        )
        if not self.classes_:
            return np.zeros(len(P)), known
        scores = np.asarray(inner.decision_function(X)) if hasattr(inner, "decision_function") else known
        total = known.sum(axis=1, keepdims=True)
        return scores[:, : len(self.classes_)].max(axis=1), known / np.where(total > 0, total, 1.0)

    def _centres(self, X: Any, scores: np.ndarray, seed: int) -> np.ndarray:
        rows = self._standard(X)
        novel = np.flatnonzero(scores < self.threshold_) if self.classes_ else np.arange(len(rows))
        if len(novel) < self.n_novel:
            novel = np.argsort(scores, kind="stable")[: self.n_novel]
        return kmeans_prototypes(rows[novel], self.n_novel, seed, n_init=10)

    def _standard(self, X: Any) -> np.ndarray:
        return standardised(X, self.mean_, self.scale_)

    def _check_parameters(self) -> None:
        check_number(self, "n_novel", self.n_novel, integer=True, low=1, high=100_000)
        if not (isinstance(self.threshold, str) and self.threshold == "auto"):
            check_number(self, "threshold", self.threshold, advice='It may also be "auto".')
        fit = getattr(self.estimator, "fit", None)
        takes_bags = callable(fit) and "bags" in signature(fit).parameters
        answers = all(hasattr(self.estimator, name) for name in ("predict_proba", "get_params"))
        if not takes_bags or not answers or isinstance(self.estimator, type):
            raise InvalidParameter(
                f"NovelLabels needs a classifier with fit(X, bags=...), predict_proba and get_params, got "
                f"{self.estimator!r:.80}. Try FastMIML() or OredLogisticRegression()."
            )


def _without_empty_lists(bags: Bags) -> Bags:
    """Return the bags with lists that are empty taken for none: the classifier knows no novel labels."""
    labels = {name: listed for name, listed in bags.labels.items() if listed}
    return bags.with_labels(labels, classes=bags.classes)


# The two models of the literature that coverage contains: no novel class, and one.
#
# Both have one cluster a class, no prior beyond a small ridge, and EM as their papers fit them: an E-step by dynamic
# programming, an M-step of some gradient steps (generalised EM).


M_STEPS = 10  # L-BFGS iterations of one M-step: more fit posteriors that the next round will change anyway


def climb_by_em(problem: Problem, start: np.ndarray, max_iter: int, stage: str, tol: float) -> Solution:
    """Climb the likelihood of coverage as the papers do."""
    fit, n_clusters = problem.fit, problem.layout.n_clusters
    objective = fit.objective([(1.0, problem.coverage), *problem.others], n_clusters)

    def expect(theta: np.ndarray) -> tuple[float, np.ndarray]:
        log_P = problem.model.log_posterior(theta, fit.X)
        return float(objective(theta)[0]), problem.coverage.posteriors(np.exp(log_P), log_P)[0]

    def maximise(theta: np.ndarray, Q: np.ndarray) -> np.ndarray:
        terms: list[tuple[float, Term]] = [(1.0, CrossEntropy(Q)), *problem.others]
        return fit.minimise(terms, n_clusters, theta, max_iter=M_STEPS, tol=tol, stage=stage).parameters

    return alternate(expect, maximise, start, max_iter=max_iter, tol=tol, report=reporting(stage))


class OredLogisticRegression(CoverageClustering):
    """ORLR (Pham, Raich and Fern 2014): a bag's label set is the union (OR) of the labels of its rows.

    Parameters
    ----------
    penalty : float or "auto", default=0.01
        Weight of ``|W|^2 / 2``; small, for the paper has none. "auto" asks held-out bags.
    max_iter : int, default=200
        Most EM rounds.
    tol : float, default=1e-5
        Relative change of the likelihood at which EM stops.
    random_state : int, RandomState, Generator or None, default=None
        Unused: EM starts from equal weights. Present for scikit-learn's tools.

    Attributes
    ----------
    labels_, classes_, weights_, intercept_, trace_, log_likelihood_, n_iter_
        As in :class:`CoverageClustering`; cluster k is class k.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> bags = sl.Bags([0, 0, 1, 2], labels={0: {"a", "b"}, 1: {"a"}, 2: {"b"}})
    >>> sl.peers.OredLogisticRegression().fit(X, bags=bags).predict_labels(X).tolist()
    ['a', 'b', 'a', 'b']
    """

    _N_NOVEL = 0
    _climb = staticmethod(climb_by_em)

    def __init__(
        self, *, penalty: float | str = 0.01, max_iter: int = 200, tol: float = 1e-5, random_state: Any = None
    ) -> None:
        super().__init__(
            n_novel=self._N_NOVEL,
            penalty=penalty,
            information=0.0,
            boundary="straight",
            calibrate=False,
            n_init=1,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )


class NovelClassLogisticRegression(OredLogisticRegression):
    """MIML-NC (Pham, Raich, Fern and Arriaga 2015): ORLR with one more class, which no list can name.

    Parameters
    ----------
    penalty, max_iter, tol, random_state : float or "auto", int, float, seed
        As in :class:`OredLogisticRegression`.

    Attributes
    ----------
    labels_, classes_, weights_, intercept_, trace_, log_likelihood_, n_iter_
        As in :class:`CoverageClustering`; the last cluster is "novel-1".

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> bags = sl.Bags([0, 0, 1, 2], labels={0: {"a"}, 1: {"a"}, 2: set()})
    >>> sl.peers.NovelClassLogisticRegression().fit(X, bags=bags).predict_labels(X).tolist()
    ['a', 'novel-1', 'a', 'novel-1']
    """

    _N_NOVEL = 1
