"""MIMLfast (Huang, Gao and Zhou 2014): labels of bags and rows by ranking, in a space that all labels share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.kernels import kernel
from sidelight._core.params import as_generator, check_number
from sidelight._core.prototypes import mean_and_scale, standardised
from sidelight._core.segments import segment_max
from sidelight._core.simplex import softmax
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.estimators._base import Estimator, all_or_nothing, rows_to_fit, rows_to_judge
from sidelight.estimators._labelled_bags.supervision import Layout, refuse_empty_sets, require_lists
from sidelight.estimators.novelty.naming import NamesRows
from sidelight.estimators.novelty.problem import allowed_labels
from sidelight.progress import report

PATIENCE, WORTH = 20, 0.99  # a fit ends when so many passes did not lower the mean loss to that share of the lowest


class FastMIML(NamesRows, ClusterMixin, Estimator):
    """Rank the labels of bags: MIMLfast of Huang, Gao and Zhou (2014), for rows and for bags.

    Rows are mapped to a space that all labels share; each label has several sub-concepts there and scores a row by the
    best of them, and a bag by its best row. Stochastic steps put labels on a bag's list before the others, and a dummy
    label between them, which is the threshold for new bags.

    Parameters
    ----------
    n_dimensions : int, default=50
        Dimensions of the shared space.
    n_subconcepts : int, default=2
        Sub-concepts of each label.
    step : float, default=0.02
        The first step, for rows of mean squared length 1.
    decay : float, default=0.1
        A step of pass t is ``step / (1 + decay * t)``; the paper's steps hardly fall, and the loss then hardly does.
    bound : float, default=10.0
        The largest length of a sub-concept and of a column of the map.
    max_iter : int, default=200
        Most passes over the bags.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the map and of the steps.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Label of each row among those of its bag; a number into ``cluster_names_``.
    classes_, label_names_ : tuple
        The labels.
    cluster_names_ : tuple of str
        The same, as text.
    class_of_ : ndarray of shape (n_labels,)
        0, 1, 2, ...: every cluster is a label of its own.
    shared_ : ndarray of shape (n_dimensions, n_features + 1)
        The map, for standardised rows with a constant.
    subconcepts_ : ndarray of shape (n_labels + 1, n_subconcepts, n_dimensions)
        The sub-concepts of every label; the last one is the dummy's.
    mean_, scale_ : ndarray of shape (n_features,)
        What standardises the rows.
    trace_ : ndarray
        The mean loss of each pass.
    n_iter_ : int
        Passes over the bags.
    n_features_in_, data_fingerprint_
        As everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [0.3], [5.1], [4.9]])
    >>> bags = sl.Bags([0, 0, 1, 1, 2, 2], labels={0: {"wren", "owl"}, 1: {"wren"}, 2: {"owl"}})
    >>> model = sl.peers.FastMIML(random_state=0).fit(X, bags=bags)
    >>> model.predict_labels(X, bags=bags).tolist()
    ['wren', 'owl', 'wren', 'wren', 'owl', 'owl']
    """

    def __init__(
        self,
        *,
        n_dimensions: int = 50,
        n_subconcepts: int = 2,
        step: float = 0.02,
        decay: float = 0.1,
        bound: float = 10.0,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.n_dimensions = n_dimensions
        self.n_subconcepts = n_subconcepts
        self.step = step
        self.decay = decay
        self.bound = bound
        self.max_iter = max_iter
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> Self:
        """Learn to rank the labels on the lists of bags before the others.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, in any units.
        y : Bags, default=None
            May hold the bags, for scikit-learn's model selection; anything else is ignored.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in and what labels the bags carry. Bags without a list are left out.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        refuse_empty_sets(bags)
        require_lists(self, bags)
        generator = as_generator(self.random_state)
        self.mean_, self.scale_ = mean_and_scale(X)
        layout = Layout.of(bags.classes, 1, 0 if bags.classes else 1)
        self.classes_, self.class_of_, self.cluster_names_ = layout.classes, layout.class_of, layout.names
        self.label_names_ = layout.label_names
        self._rank(self._prepared(X), bags, generator)
        self.labels_ = np.argmax(self._probabilities(X, bags), axis=1)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of every label for every row, less that of the dummy label: above 0 speaks for the label."""
        check_is_fitted(self)
        return self._over_the_dummy(self._scores(rows_to_judge(self, X)))

    def bag_decision_function(self, X: Any, bags: Any) -> np.ndarray:
        """Return the score of every label for every bag, less the dummy's, in the order of ``bags.names``."""
        check_is_fitted(self)
        scores = self._scores(rows_to_judge(self, X))
        bags = as_bags(bags, n_rows=len(scores))
        return self._over_the_dummy(segment_max(scores[bags.order], bags.starts))

    def _probabilities(self, X: Any, bags: Any) -> np.ndarray:
        """Take the softmax of a row's scores; with bags, over the labels on the bag's list. It is not calibrated."""
        scores = self._over_the_dummy(self._scores(X))
        if bags is None:
            return softmax(scores)
        bags = as_bags(bags, n_rows=len(scores), classes=self.classes_)
        if self.classes_:
            refuse_empty_sets(bags)
        return softmax(np.where(allowed_labels(bags, self.layout), scores, -np.inf))

    def predict_bags(self, X: Any, bags: Any) -> np.ndarray:
        """Return the labels that score above the dummy label, or the best one where none does: a set for each bag.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags or sequence of bag ids
            Which bag each row is in; labels that it may hold are not looked at.
        """
        scores = self.bag_decision_function(X, bags)
        carried = scores > 0
        carried[np.arange(len(scores)), scores.argmax(axis=1)] = True
        sets = np.empty(len(scores), dtype=object)
        sets[:] = [frozenset(self.label_names_[j] for j in np.flatnonzero(row)) for row in carried]
        return sets

    def _scores(self, X: Any) -> np.ndarray:
        """Return the score of every label, and of the dummy, for every row."""
        Z = self._prepared(X) @ self.shared_.T
        n_labels, n_parts, m = self.subconcepts_.shape
        return np.asarray((Z @ self.subconcepts_.reshape(-1, m).T).reshape(len(Z), n_labels, n_parts).max(axis=2))

    def _over_the_dummy(self, scores: np.ndarray) -> np.ndarray:
        """Return the scores of the labels less that of the dummy; of one cluster for all where nothing was listed."""
        if not self.classes_:
            return np.zeros((len(scores), 1))
        return np.asarray(scores[:, :-1] - scores[:, -1:])

    def _prepared(self, X: Any) -> np.ndarray:
        """Return standardised rows and a constant, of mean squared length 1: a step means the same everywhere."""
        rows = standardised(X, self.mean_, self.scale_)
        rows = np.hstack([rows, np.ones((len(rows), 1))]) / np.sqrt(rows.shape[1] + 1)
        return np.ascontiguousarray(rows, dtype=np.float64)

    def _rank(self, rows: np.ndarray, bags: Bags, generator: np.random.Generator) -> None:

        labelled = np.flatnonzero(bags.is_labelled)
        listed = np.ascontiguousarray(bags.label_matrix.toarray() > 0)
        n_labels, m = listed.shape[1], self.n_dimensions
        W = generator.standard_normal((m, rows.shape[1]))
        V = generator.standard_normal((n_labels + 1, self.n_subconcepts, m)) / np.sqrt(m)
        order, starts = np.array(bags.order), np.array(bags.starts)
        losses: list[float] = []
        lowest, since = np.inf, 0
        while len(losses) < self.max_iter and since < PATIENCE and len(labelled):
            report("passes over the bags", len(losses), self.max_iter)
            visits = generator.permutation(labelled)
            draws = generator.random((len(visits), n_labels + 2))
            fall = self.decay / (self.step * len(labelled))
            done = len(losses) * len(labelled)
            loss = ranking_pass(rows, order, starts, listed, visits, draws, W, V, self.step, fall, self.bound, done)
            losses.append(loss)
            since = 0 if losses[-1] < WORTH * lowest else since + 1
            lowest = min(lowest, losses[-1])
        self.shared_, self.subconcepts_ = W, V
        self.trace_, self.n_iter_ = np.array(losses), max(1, len(losses))

    def _check_parameters(self) -> None:
        for name in ("n_dimensions", "n_subconcepts", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1, high=100_000)
        for name in ("step", "bound"):
            check_number(self, name, getattr(self, name), low=0, open_low=True)
        check_number(self, "decay", self.decay, low=0)


# One pass over the bags for MIMLfast (Huang, Gao and Zhou 2014, algorithm 1): sample, compare, step.
#
# Label l scores a row x by max_k V[l, k] . (W x) and a bag by the largest score of its rows. A step takes a bag, a
# label on its list, and labels off the list until one of them scores within 1 of it; the later one is found, the
# better the first already ranks, and the smaller the step. The last label is the dummy that parts labels on a list
# from others.


Floats = NDArray[np.float64]


Ints = NDArray[np.intp]


@kernel("Tuple((float64, intp, intp))(float64[:, ::1], float64[:, :, ::1], intp)")
def best_row(Z: Floats, V: Floats, label: int) -> tuple[float, int, int]:
    """Return the largest score of a label over mapped rows, with the row and the sub-concept that have it."""
    best, at_row, at_part = -np.inf, 0, 0
    for i in range(Z.shape[0]):
        for k in range(V.shape[1]):
            score = 0.0
            for j in range(Z.shape[1]):
                score += Z[i, j] * V[label, k, j]
            if score > best:
                best, at_row, at_part = score, i, k
    return best, at_row, at_part


@kernel("void(float64[::1], float64)")
def shorten(vector: Floats, bound: float) -> None:
    """Scale a vector in place so that it is no longer than ``bound``."""
    square = 0.0
    for j in range(len(vector)):
        square += vector[j] ** 2
    if square > bound**2:
        for j in range(len(vector)):
            vector[j] *= bound / np.sqrt(square)


@kernel(
    "float64(float64[:, ::1], intp[::1], intp[::1], boolean[:, ::1], intp[::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, :, ::1], float64, float64, float64, intp)"
)
def ranking_pass(
    X: Floats,
    order: Ints,
    starts: Ints,
    listed: NDArray[np.bool_],
    bags: Ints,
    draws: Floats,
    W: Floats,
    V: Floats,
    step: float,
    decay: float,
    bound: float,
    steps_before: int,
) -> float:
    """Visit the bags in turn, change W and V in place, and return the mean loss.

    ``listed`` has a row for every bag and a column for every label but the dummy; ``draws`` are uniform numbers, one
    row a visit and two columns more than labels.
    """
    n_labels = listed.shape[1]
    dummy = n_labels
    m, d = W.shape
    on, off = np.empty(n_labels + 1, dtype=np.intp), np.empty(n_labels + 1, dtype=np.intp)
    total = 0.0
    for visit in range(len(bags)):
        b = bags[visit]
        n_on = n_off = 0
        for label in range(n_labels):
            if listed[b, label]:
                on[n_on] = label
                n_on += 1
            else:
                off[n_off] = label
                n_off += 1
        on[n_on] = dummy
        label = on[int(draws[visit, 0] * (n_on + 1))]
        if label != dummy:
            off[n_off] = dummy
            n_off += 1
        if n_off == 0:
            continue
        rows = order[starts[b] : starts[b + 1]]
        Z = np.zeros((len(rows), m))
        for i in range(len(rows)):
            for j in range(m):
                for f in range(d):
                    Z[i, j] += W[j, f] * X[rows[i], f]
        score, i, k = best_row(Z, V, label)
        for trial in range(1, n_off + 1):
            drawn = trial - 1 + int(draws[visit, trial] * (n_off - trial + 1))
            off[trial - 1], off[drawn] = off[drawn], off[trial - 1]
            other = off[trial - 1]
            rival, i2, k2 = best_row(Z, V, other)
            if rival <= score - 1.0:
                continue
            weight = 0.0
            for r in range(1, n_off // trial + 1):
                weight += 1.0 / r
            total += weight * (1.0 + rival - score)
            rate = step / (1.0 + decay * step * (steps_before + visit)) * weight
            for j in range(m):
                old, old_rival = V[label, k, j], V[other, k2, j]
                V[label, k, j] += rate * Z[i, j]
                V[other, k2, j] -= rate * Z[i2, j]
                for f in range(d):
                    W[j, f] += rate * (old * X[rows[i], f] - old_rival * X[rows[i2], f])
            shorten(V[label, k], bound)
            shorten(V[other, k2], bound)
            for f in range(d):
                length = 0.0
                for j in range(m):
                    length += W[j, f] ** 2
                if length > bound**2:
                    for j in range(m):
                        W[j, f] *= bound / np.sqrt(length)
            break
    return total / max(len(bags), 1)
