"""What a fitted coverage clustering says of rows and bags: names, probabilities, and sets of names.

Names go by the posteriors as they were fitted; what is called a probability of a row is tempered by held-out lists.

Sets of names hold a wanted share of the true labels of a bag, or all of them, by conformal risk control: bags whose
lists were held out say how probable true labels are called. A threshold under which at most a share alpha of them
falls, one bag more counted as a miss, misses at most alpha in a new bag on average, whatever the model is worth.
"""

from __future__ import annotations

from collections.abc import Hashable
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_sequence, check_choice, check_number
from sidelight._core.process import one_blas_thread
from sidelight._core.simplex import log_softmax
from sidelight._models.feature_map import FeatureMap
from sidelight._models.objective import SoftmaxLinear
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.estimators._base import checks_y, count_rows, fingerprint, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators._labelled_bags.coverage import BagPlan
from sidelight.estimators._labelled_bags.row_temperature import names_that_reach, temper
from sidelight.estimators._labelled_bags.supervision import (
    Layout,
    code_rows,
    mean_over_lists,
    read_candidates,
    read_row_labels,
)
from sidelight.estimators.coverage.held_out import BagOdds, HeldOut, log_odds
from sidelight.estimators.coverage.problem import Coverage, Told
from sidelight.estimators.coverage.words import carried, most_specific, said_of, sums_of, threshold_of_kinds

NORMAL = NormalDist()
LEAST = 1e-300  # nearness of what is as far away as can be


class JudgesRows(ProbabilityColumns):
    """Everything that is asked of the fitted rule."""

    classes_: tuple[Any, ...]
    class_of_: np.ndarray
    cluster_names_: tuple[str, ...]
    label_names_: tuple[Any, ...]
    weights_: np.ndarray
    intercept_: np.ndarray
    cluster_shares_: np.ndarray
    reach_: float
    data_fingerprint_: str
    wrong: float
    forgotten: float

    @property
    def layout(self) -> Layout:
        """Which clusters there are, class by class."""
        check_is_fitted(self)
        return Layout(self.classes_, self.class_of_, self.cluster_names_)

    def predict(self, X: Any, *, bags: Any = None, row_labels: Any = None, candidates: Any = None) -> np.ndarray:
        """Return the most probable cluster of each row: by features alone, or with the labels of its bag.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags, default=None
            The bags of these rows, when their labels are known.
        row_labels : sequence or mapping, default=None
            Labels of single rows, as in :meth:`fit`.
        candidates : sequence or mapping, default=None
            Candidates of single rows, as in :meth:`fit`.
        """
        return np.argmax(self._judge(X, bags, row_labels, candidates)[0], axis=1)

    def predict_proba(self, X: Any, *, bags: Any = None, row_labels: Any = None, candidates: Any = None) -> np.ndarray:
        """Return the probability of each cluster for each row, as sure as held-out lists are right; see `calibration_`.

        They are tempered name by name, which changes no name. Rows of the fit, all of them and with their lists, have
        a temperature of their own: the fit knows them better than others.

        Parameters
        ----------
        X, bags, row_labels, candidates : rows and what is known of them
            As in :meth:`predict`.
        """
        return self._tempered(*self._judge(X, bags, row_labels, candidates))

    def _judge(self, X: Any, bags: Any, row_labels: Any, candidates: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the posteriors of rows as the rule has them, and the temperature that each row asks for."""
        P, log_P, trust = self._belief(X)
        known = getattr(self, "calibration_", {"temperature": 1.0, "temperature_in_fit": 1.0})  # 0.3 had none
        temperature = known["temperature"] ** trust  # what is far from all training rows is as likely as its share
        if bags is None and row_labels is None and candidates is None:
            return P, temperature
        told, plan = self._plan(len(P), bags, row_labels, candidates)
        believed = self._against_novelty(P, told)
        if believed is not P:
            log_P, temperature = log_of(believed), np.where(_is_complete(told), 1.0, temperature)
        Q = Coverage(plan, self.class_of_, self.wrong, self.forgotten).posteriors(believed, log_P)[0]
        if fingerprint(rows_to_judge(self, X)) == self.data_fingerprint_:
            temperature = np.where(told.bags.is_labelled[told.bags.codes], known["temperature_in_fit"], temperature)
        return Q, temperature

    def _tempered(self, P: np.ndarray, temperature: np.ndarray) -> np.ndarray:
        """Temper the probabilities of clusters name by name."""
        if (temperature == 1.0).all():
            return P
        if not self.layout.has_subclusters:
            return temper(P, temperature)
        to_labels = self.layout.to_labels()
        named = P @ to_labels
        return P * ((temper(named, temperature) / np.maximum(named, 1e-300)) @ to_labels.T)  # a share of nothing is 0

    def _against_novelty(self, P: np.ndarray, told: Told) -> np.ndarray:
        """Return q(T) / pi (novel clusters: q(T)) of rows with lists, where a novel cluster takes rows of others."""
        known = getattr(self, "calibration_", {})
        if not known.get("novel", {}).get("is_harmful") or told.one_of:
            return P
        rows, believed = _is_complete(told), P.copy()
        weights = np.append(1.0 / known["novel"]["chance"], 1.0)[self.class_of_]  # novel clusters are of class -1
        few = self._tempered(P[rows], np.full(int(rows.sum()), known["temperature"])) * weights
        believed[rows] = few / few.sum(axis=1, keepdims=True)
        return believed

    def predict_labels(self, X: Any, *, bags: Any = None, row_labels: Any = None, candidates: Any = None) -> np.ndarray:
        """Return the most probable name of each row: a known label, or the name of a novel cluster."""
        P = self._judge(X, bags, row_labels, candidates)[0]
        named = P @ self.layout.to_labels()
        names = np.empty(len(self.label_names_), dtype=object)
        names[:] = self.label_names_
        return names[np.argmax(named, axis=1)]

    def predict_bags(self, X: Any, bags: Any, *, threshold: float = 0.5) -> np.ndarray:
        """Return what each bag carries, by the features of its rows alone: one set of label names for each bag.

        The sets come in the order of ``bags.names``, as every ``predict_bags`` answers.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags or sequence of bag ids
            Which bag each row is in; labels that it may hold are not looked at.
        threshold : float, default=0.5
            Labels that are more probable than this are named: lower finds more of them, higher names fewer wrongly.
        """
        check_number(self, "threshold", threshold, low=0, high=1)
        bags = as_bags(bags, n_rows=count_rows(self, X))
        return self._name_sets(self.predict_bags_proba(X, bags) > threshold)

    def predict_bags_proba(self, X: Any, bags: Any, *, labels: Any = None) -> np.ndarray:
        """Return the probability that a bag carries a label, shape (n_bags, n_labels), by features alone.

        The log-odds of P(label c in bag b) = 1 - prod_i (1 - P(row i is c)), corrected by held-out lists where the
        label is a known one (``calibrate``).

        Parameters
        ----------
        X, bags : rows and their bags
            As in :meth:`predict_bags`; the answer has a row for each of ``bags.names``.
        labels : sequence of labels, default=None
            The columns of the answer, in this order: those of a table of yours, say. ``label_names_`` by default.
        """
        P = self._belief(X)[0]
        columns = self._columns(labels)
        bags = as_bags(bags, n_rows=len(P))
        odds = BagOdds(getattr(self, "bag_slope_", 1.0), getattr(self, "bag_offsets_", np.zeros(0)))  # 0.1 had none
        return odds.probability(log_odds(P @ self.layout.to_labels(), bags.order, bags.starts))[:, columns]

    def predict_bag_counts(self, X: Any, bags: Any, *, labels: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return how many rows of each bag carry each label, and the standard error of that number.

        The sums of the rows' probabilities, as sure as held-out lists are right, by features alone; errors as if the
        rows of a bag were independent. Both have the shape (n_bags, n_labels).

        Parameters
        ----------
        X, bags, labels
            As in :meth:`predict_bags_proba`.
        """
        P = (self.predict_proba(X) @ self.layout.to_labels())[:, self._columns(labels)]
        bags = as_bags(bags, n_rows=len(P))
        order, starts = bags.order, bags.starts[:-1]
        counts = np.add.reduceat(P[order], starts, axis=0)
        return counts, np.sqrt(np.add.reduceat((P * (1.0 - P))[order], starts, axis=0))

    def predict_bags_said(self, X: Any, bags: Any, *, coverage: float = 0.9) -> np.ndarray:
        """Return what each bag holds in the words of the fit: ``{label or kind: (least, most)}``, by features alone.

        Where bags of the fit count rows (or publish shares), each label has a range of numbers of rows that holds the
        true one for about a share ``coverage`` of labels of new bags; held-out bags say how wide it must be. Elsewhere
        a bag says what is there: the most specific of labels and kinds (``kinds_``) of at least this probability, or of
        a higher one that held-out bags ask for: "some warbler" where rows cannot tell which. What comes back can be
        given to :class:`~sidelight.Bags`, with ``tree=model.kinds_``.

        Parameters
        ----------
        X, bags : rows and their bags
            As in :meth:`predict_bags`; the answer has an entry for each of ``bags.names``.
        coverage : float, default=0.9
            The share of ranges that hold the true number, or the least probability of a name. No share of right names
            is promised: labels that many rows are a little alike are said too often.
        """
        check_number(self, "coverage", coverage, low=0, high=1, open_low=True, open_high=True)
        P = (self._belief(X)[0] @ self.layout.to_labels())[:, : len(self.classes_)]
        bags, known = as_bags(bags, n_rows=len(P)), getattr(self, "calibration_", {})
        if getattr(self, "counts_rows_", ""):
            found, error = sums_of(P, bags)
            numbers = known.get("numbers")
            width = float(NORMAL.inv_cdf(0.5 + coverage / 2.0))
            if numbers is not None:
                width = -np.log(threshold_of_share(numbers["nearness"], numbers["bag"], 1.0 - coverage) or LEAST)
            low = np.maximum(found - width * error, 0.0)
            high = np.minimum(found + width * error, bags.sizes[:, None])
            return said_of(self.classes_, np.ones(found.shape, dtype=bool), np.round(low), np.round(high))
        names, member = self._elements()
        threshold = max(coverage, threshold_of_kinds(known["kinds"], coverage)) if "kinds" in known else coverage
        return said_of(names, most_specific(carried(P, bags, member), member, threshold), None, None)

    def predict_kinds(self, X: Any, *, bags: Any = None, coverage: float = 0.9) -> np.ndarray:
        """Return the most specific name of each row that is probable enough: a label, else a kind above it, else None.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags, default=None
            The bags of these rows, when their labels are known.
        coverage : float, default=0.9
            The probability, as sure as held-out lists are right, that a name must have.
        """
        check_number(self, "coverage", coverage, low=0, high=1, open_low=True, open_high=True)
        names, member = self._elements()
        chance = (self.predict_proba(X, bags=bags) @ self.layout.to_labels())[:, : len(self.classes_)] @ member.T
        smallest_first = np.argsort(member.sum(axis=1), kind="stable")
        likely = chance[:, smallest_first] > coverage
        answers = np.array([*(names[e] for e in smallest_first), None], dtype=object)
        return np.asarray(answers[np.where(likely.any(axis=1), likely.argmax(axis=1), len(names))])

    def _elements(self) -> tuple[list[Any], np.ndarray]:
        """Return the names of labels and of kinds above them, and which labels each has."""
        kinds = getattr(self, "kinds_", {})
        place = {name: c for c, name in enumerate(self.classes_)}
        member = np.zeros((len(place) + len(kinds), len(place)), dtype=bool)
        member[: len(place)] = np.eye(len(place), dtype=bool)
        for row, below in enumerate(kinds.values(), start=len(place)):
            member[row, [place[name] for name in below]] = True
        return [*self.classes_, *kinds], member

    def predict_bag_sets(self, X: Any, bags: Any, *, coverage: float = 0.9, of: str = "share") -> np.ndarray:
        """Return label sets of new bags that hold a wanted share of the true labels, by features alone.

        The threshold is that of held-out lists (conformal risk control): over new bags like those of the fit it keeps
        what is asked for, whatever the model is worth; a poor one needs large sets for it. The sets come in the order
        of ``bags.names``; novel clusters are on no list and in no set.

        Parameters
        ----------
        X, bags : rows and their bags
            As in :meth:`predict_bags`.
        coverage : float, default=0.9
            The share that is wanted.
        of : {"share", "all"}, default="share"
            "share": sets hold this share of a bag's labels on average. "all": so many sets hold all of them.
        """
        check_choice(self, "of", of, ("share", "all"))
        check_number(self, "coverage", coverage, low=0, high=1, open_low=True, open_high=True)
        check_is_fitted(self)
        lists = getattr(self, "calibration_", {}).get("lists", {"bag": ()})
        if not len(lists["bag"]):
            note = getattr(self, "calibration_", {}).get("note") or "the model is of an older version"
            raise InvalidData(
                f"{type(self).__name__} knows no held-out lists to find a threshold by: {note}. Label more bags, or "
                "take predict_bags(X, bags, threshold=...)."
            )
        find = threshold_of_share if of == "share" else threshold_of_all
        threshold = find(lists["probability"], lists["bag"], 1.0 - coverage)
        bags = as_bags(bags, n_rows=count_rows(self, X))
        return self._name_sets(self.predict_bags_proba(X, bags, labels=self.classes_) >= threshold)

    def predict_sets(self, X: Any, *, bags: Any = None, coverage: float = 0.9) -> np.ndarray:
        """Return for each row the fewest names whose probabilities, as sure as they are right, reach a share.

        "One of wren, owl": about this share of new rows is named by its set; held-out lists promise it, no theorem.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags, default=None
            The bags of these rows, when their labels are known.
        coverage : float, default=0.9
            The share that is wanted.
        """
        check_number(self, "coverage", coverage, low=0, high=1, open_low=True, open_high=True)
        return self._name_sets(names_that_reach(self.predict_proba(X, bags=bags) @ self.layout.to_labels(), coverage))

    def _name_sets(self, chosen: np.ndarray) -> np.ndarray:
        sets = np.empty(len(chosen), dtype=object)
        sets[:] = [frozenset(self.label_names_[j] for j in np.flatnonzero(row)) for row in chosen]
        return sets

    def _columns(self, labels: Any) -> Any:
        if labels is None:
            return slice(None)
        place = {name: column for column, name in enumerate(self.label_names_)}
        labels = as_sequence(f"{type(self).__name__}.predict_bags_proba", "labels", labels, "a sequence of labels")
        for name in labels:
            if not isinstance(name, Hashable) or name not in place:
                raise UnknownName(f"labels names {name!r}, which the model does not know. {nearest(name, place)}")
        return [place[name] for name in labels]

    def novelty_score(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the probability that each row is of a kind that nobody named."""
        return self.predict_proba(X, bags=bags)[:, self.class_of_ < 0].sum(axis=1)

    @checks_y
    def score(
        self, X: Any, y: Any = None, *, bags: Any = None, candidates: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the mean log likelihood of the label lists of these bags; higher is better, 0 is best.

        Unlabelled bags do not count; NaN, with a warning, when there are no others.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, usually of held-out bags.
        y : Bags, default=None
            May hold the bags; anything else is ignored.
        bags : Bags, default=None
            The labelled bags.
        candidates : sequence or mapping, default=None
            Candidates of single rows, as in :meth:`fit`: the probability that a row is one of them counts.
        sample_weight : array of shape (n_rows,), default=None
            A bag counts as much as the mean weight of its rows.
        """
        n_rows = count_rows(self, X)
        lists = lists_of(bags, candidates, n_rows=n_rows, y=y)
        values = self.bag_scores(X, lists) if candidates is None else self.bag_scores(X, candidates=candidates)
        return mean_over_lists(self, values, lists, sample_weight)

    def bag_scores(self, X: Any, bags: Any = None, *, candidates: Any = None) -> np.ndarray:
        """Return the log likelihood of the list of each labelled bag, or of each row's candidates, in their order."""
        P, log_P, _ = self._belief(X)
        told, plan = self._plan(len(P), bags, None, candidates)
        values = Coverage(plan, self.class_of_, self.wrong, self.forgotten).posteriors(P, log_P)[1]
        return np.asarray(values[told.bags.is_labelled])

    def _belief(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return P, log P and the trust in each row: 1 as far as training rows went.

        Beyond, rows lean more and more to the shares of the clusters.
        """
        check_is_fitted(self)
        feature_map = getattr(self, "feature_map_", None)  # models of version 0.1 have none
        log_P, squares = log_posterior(rows_to_judge(self, X), feature_map, self.weights_, self.intercept_)
        trust = np.ones(len(squares))
        far = squares > getattr(self, "reach_", np.inf) * (1 + 1e-9)  # training rows themselves, up to rounding
        if far.any():
            trust[far] = self.reach_ / squares[far]
            near = trust[far][:, None]
            log_P[far] = log_softmax(near * log_P[far] + (1.0 - near) * np.log(self.cluster_shares_))
        return np.exp(log_P), log_P, trust

    def _plan(self, n_rows: int, bags: Any, row_labels: Any, candidates: Any) -> tuple[Told, BagPlan]:
        """Read what is known of rows that are judged, and what it demands and allows."""
        lists = lists_of(bags, candidates, n_rows=n_rows, classes=self.classes_)
        row_class = code_rows(read_row_labels(row_labels, n_rows), self.classes_)
        told = Told(None, lists, row_class, candidates is not None)
        return told, told.plan(self, self.layout, warn=True)


def _is_complete(told: Told) -> np.ndarray:
    """Whether the bag of each row has a list that names everything."""
    bags = told.bags
    return np.asarray((bags.is_labelled & ~bags.is_partial)[bags.codes])


def log_of(P: np.ndarray) -> np.ndarray:
    """Return log P; what cannot be stays out of reach without being infinite."""
    return np.log(np.maximum(P, 1e-300))


@one_blas_thread()  # how a product is cut into threads would show in its last bits
def log_posterior(
    X: Any, feature_map: FeatureMap | None, W: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return log P of rows by a rule, and how far each is from its nearest landmark, squared."""
    if feature_map is None:
        return SoftmaxLinear(*W.shape).log_posterior(np.concatenate([W.ravel(), b]), X), np.zeros(X.shape[0])
    scores, squares = feature_map.scores(X, W, b)
    return log_softmax(scores), squares


def lists_of(bags: Any, candidates: Any, *, n_rows: int, y: Any = None, classes: Any = None) -> Bags:
    """Return what was said of bags, or of rows by their candidates; both at once would be two answers."""
    if candidates is None:
        return as_bags(bags, n_rows=n_rows, y=y, classes=classes)
    if bags is not None or isinstance(y, Bags):
        raise InvalidData(
            "Got both bags and candidates. Bags say that all labels of a list are there, candidates that one of them "
            "is it, row by row: pass one of the two."
        )
    return read_candidates(candidates, n_rows, classes=classes)


def told_probabilities(held_out: HeldOut, odds: BagOdds) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of every label on a held-out, complete list, and the number of its bag."""
    bag, label = np.nonzero(held_out.listed * held_out.is_complete[:, None])
    return odds.probability(held_out.evidence)[bag, label], np.unique(bag, return_inverse=True)[1]


def threshold_of_all(probability: np.ndarray, bag: np.ndarray, alpha: float) -> float:
    """Return the highest threshold that all labels of a new bag reach with probability 1 - alpha; or 0."""
    n = int(bag.max(initial=-1)) + 1
    least = np.full(n, np.inf)
    np.minimum.at(least, bag, probability)
    n_missed = int(np.floor(alpha * (n + 1) + 1e-9)) - 1  # bags that may have a label below; rounding is no miss
    return float(np.sort(least)[n_missed]) if 0 <= n_missed < n else 0.0


def threshold_of_share(probability: np.ndarray, bag: np.ndarray, alpha: float) -> float:
    """Return the highest threshold below which at most a mean share alpha of the labels of a new bag lies; or 0."""
    n = int(bag.max(initial=-1)) + 1
    if not n:
        return 0.0
    order = np.argsort(probability, kind="stable")
    sorted_, share = probability[order], (1.0 / np.bincount(bag))[bag][order]
    below = np.concatenate([[0.0], np.cumsum(share)])[np.searchsorted(sorted_, sorted_, side="left")]
    allowed = sorted_[(below + 1.0) / (n + 1) <= alpha + 1e-12]  # rounding is no miss
    return float(allowed[-1]) if len(allowed) else 0.0
