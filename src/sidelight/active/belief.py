"""What a belief can do, and what one that cannot do it answers instead; and any clusterer as a belief.

A session and its strategies ask nothing of a belief that `Belief` does not name. Our own belief has better answers to
most of it (:mod:`sidelight.active.row_belief`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import clone

from sidelight._core.params import as_seed
from sidelight._core.simplex import entropy, softmax
from sidelight.data.relations import Pairs
from sidelight.errors import InvalidData

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]
CANDIDATES, REFERENCE = 2000, 400  # rows that questions are chosen from, and rows that influence is measured on


def squared_distances(A: Floats, B: Floats) -> Floats:
    """Squared distances between the rows of A and of B."""
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    return np.maximum(squares - 2.0 * A @ B.T, 0.0)


def as_dense(X: Any) -> npt.NDArray[np.float64]:
    """Return rows as one dense array of float64."""
    return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)


class Belief:
    """What answers about pairs say about every row: a base of beliefs.

    A belief has to have ``n_rows``, ``rows``, ``eps``, ``n_known``, ``n_clusters``, ``is_consistent``, ``features``,
    ``posterior()``, ``partition()``, and ``tell`` or ``tell_all``. What it does not override of the rest, it cannot do.

    Attributes
    ----------
    n_rows, n_known : int
        How many rows there are, and how many clusters were met.
    n_clusters : int or None
        How many clusters there are; None lets them be discovered.
    rows : list of int
        The rows asked about.
    eps : float
        The share of wrong answers.
    is_consistent : bool
        Whether all answers can be right.
    wrong : ndarray
        The chance of each answer to be wrong; those beyond its end are taken as right.
    answer_weights : ndarray or None
        What each answer weighs, if not all weigh alike; set by the session, for a belief that heeds it.
    can_relink : bool
        Whether ``relink`` takes a row out of answers, so that a correction of it joins no two clusters.
    placement_doubts : sequence of (person, float)
        Who placed each row that was placed twice, and the chance of each such placement to be wrong.
    """

    n_rows: int
    n_known: int
    n_clusters: int | None
    rows: list[int]
    eps: float
    is_consistent: bool
    wrong: Floats = np.zeros(0)
    answer_weights: Floats | None = None
    can_relink = False
    placement_doubts: Sequence[tuple[Any, float]] = ()

    def anew(self) -> Belief | None:
        """Return the belief as it was before the first answer; None where it has to be made again."""
        return None

    def expecting(self, being_asked: Sequence[tuple[int, ...]]) -> tuple[Belief, list[int]]:
        """Return the belief as it would be once some questions are answered, and the rows to leave alone until then."""
        return self, [row for rows in being_asked for row in rows]

    def relink(self, links: Sequence[tuple[int, int, int]], row: int, stand_in: int) -> None:
        """Take other answers for those so far, with one row in the place of another."""
        raise NotImplementedError

    def next_check(self, was_asked: Any) -> tuple[int, int] | None:
        """Return rows whose relation follows from answers that nothing confirms, where it is time to test them."""
        return None

    def chance_of_same(self, a: int, b: int) -> float | None:
        """Return the chance that two rows belong together; None where little is known of both."""
        return None

    def marginals(self) -> Floats | None:
        """Return the probability of each label under each particle; None without particles."""
        return None

    def n_unlike(self) -> int:
        """Return how many rows look so unlike the cluster that answers give them that these may well be wrong."""
        return 0

    def typicality(self) -> Floats:
        """Return how near each row is to the middle of the cluster that the rows alone suggest; 1 is in the middle."""
        return np.ones(self.n_rows)

    def partition(self, generator: np.random.Generator) -> Ints:
        """Return a cluster for every row."""
        raise NotImplementedError

    @property
    def features(self) -> Floats:
        """Dense rows whose distances mean something."""
        raise NotImplementedError

    def posterior(self, X: Any = None) -> Floats:
        """Return the probability of each cluster for all rows, or for new ones."""
        raise NotImplementedError

    def tell(self, a: int, b: int, same: bool, generator: np.random.Generator) -> None:
        """Learn one answer."""
        raise NotImplementedError

    def tell_all(self, answers: list[tuple[int, int, bool]], generator: np.random.Generator) -> None:
        """Learn some answers."""
        for a, b, same in answers:
            self.tell(a, b, same, generator)

    @cached_property
    def candidates(self) -> Ints:
        """The rows that may be asked about next: evenly spread over the table where there are many."""
        return np.unique(np.linspace(0, self.n_rows - 1, min(self.n_rows, CANDIDATES)).astype(np.intp))

    @cached_property
    def position(self) -> Ints:
        """The position of each row among the candidates, -1 for the others."""
        place = np.full(self.n_rows, -1, dtype=np.intp)
        place[self.candidates] = np.arange(len(self.candidates))
        return place

    @cached_property
    def _alike(self) -> Floats:
        """How alike candidates and reference rows are, from 0 to 1."""
        near = self.features[self.candidates]
        some = near[np.linspace(0, len(near) - 1, min(len(near), REFERENCE)).astype(np.intp)]
        apart = squared_distances(near, some)
        width = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
        return np.asarray(np.exp(-4.0 * apart / width))

    def left_out(self) -> tuple[Floats, Ints]:
        """Return what all others say of each row that answers give a cluster, and this cluster; here of none."""
        return np.zeros((0, 1)), np.zeros(0, dtype=np.intp)

    def places(self) -> Floats:
        """Return the probability of each cluster, and of a new one (0), for every candidate."""
        P = self.posterior()[self.candidates]
        return np.column_stack([P, np.zeros(len(P))])

    def influence(self, Q: Floats) -> Floats:
        """Return how many uncertain rows are near each candidate."""
        doubt = entropy(np.maximum(Q, 1e-12))
        some = np.linspace(0, len(Q) - 1, self._alike.shape[1]).astype(np.intp)
        return np.asarray(self._alike @ doubt[some])

    def certainty(self, row: int) -> float:
        """Return the probability of the likeliest cluster of a row."""
        return float(self.posterior()[row].max())

    def representative(self, row: int, cluster: int, asked: Any) -> int | None:
        """Return the nearest row of a cluster that ``row`` was not ``asked`` against."""
        members = np.flatnonzero(self.posterior().argmax(axis=1) == cluster)
        members = members[members != row]
        apart = squared_distances(self.features[members], self.features[[row]])[:, 0]
        for other in members[np.argsort(apart, kind="stable")].tolist():
            if not asked(row, other):
                return int(other)
        return None


# Any clusterer that takes answers about pairs, as a belief: it is fitted again when its clusters are needed.


FLAT = 1e-12  # of the largest distance: the least spread of a cluster, where every row is its own centre


def as_belief(belief: Any) -> Callable[..., Any]:
    """Return what makes a belief from (X, n_clusters, generator): a clusterer is wrapped, a callable is one already."""
    wanted = "belief must be a clusterer with fit(X, pairs=...), a callable that makes a belief, or None"
    fit = getattr(belief, "fit", None)  # a clusterer is anybody's estimator
    if isinstance(belief, type) and fit is not None:
        raise InvalidData(f"ActiveSession: {wanted}. Got the class {name_of(belief)}: call it, {name_of(belief)}().")
    if fit is not None:
        takes = signature(fit).parameters.values()
        if not any(one.name == "pairs" or one.kind is Parameter.VAR_KEYWORD for one in takes):
            raise InvalidData(f"ActiveSession: {wanted}. The fit of {name_of(belief)} takes no pairs.")
        return partial(ClustererBelief, clusterer=belief)
    if not callable(belief):
        raise InvalidData(f"ActiveSession: {wanted}. Got {belief!r:.80}.")
    return belief


def name_of(belief: Any) -> str:
    """Return the name of a clusterer's class, or of what makes a belief."""
    owner = getattr(belief, "__self__", belief)  # of a method: whose it is
    return str(getattr(owner, "__name__", type(owner).__name__))


class ClustererBelief(Belief):
    """What a clusterer makes of the answers.

    Where it has no ``predict_proba``, rows are as sure of their cluster as they are nearer to its centre.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows.
    n_clusters : int or None
        Set on the clusterer where it is known.
    generator : numpy.random.Generator
        Draws the seed of the clusterer where it has none.
    clusterer : estimator
        With ``fit(X, pairs=...)`` and ``labels_``.
    """

    eps = 0.0  # clusterers take answers as they are

    def __init__(self, X: Any, n_clusters: int | None, generator: np.random.Generator, *, clusterer: Any) -> None:
        self.X, self.n_rows = X, X.shape[0]
        self._features: Floats = as_dense(X)
        self.clusterer = clone(clusterer)
        known = self.clusterer.get_params()
        if n_clusters is not None and "n_clusters" in known:
            self.clusterer.set_params(n_clusters=n_clusters)
        if known.get("random_state", 0) is None:
            self.clusterer.set_params(random_state=as_seed(generator))
        self.n_clusters: int | None = self.clusterer.get_params().get("n_clusters", n_clusters)
        self.pairs, self.rows = Pairs.empty(self.n_rows), []
        self._fitted_on = -1

    def tell(self, a: int, b: int, same: bool, generator: np.random.Generator) -> None:
        """Keep an answer for the next fit."""
        self.pairs = self.pairs + Pairs([a], [b], ["same" if same else "different"], n_rows=self.n_rows)
        self.rows += [row for row in (a, b) if row not in self.rows]

    @property
    def features(self) -> Floats:
        """The rows, dense."""
        return self._features

    @property
    def is_consistent(self) -> bool:  # type: ignore[override] # here it follows from the answers
        """Whether all answers can be right."""
        return not self.pairs.contradictions(limit=1)

    @property
    def n_known(self) -> int:  # type: ignore[override] # here it follows from the fit
        """How many clusters there are."""
        return int(self._fit().max()) + 1

    def _fit(self) -> Ints:
        if self._fitted_on != self.pairs.n_answers:
            self.clusterer.fit(self.X, pairs=self.pairs)
            _, self._labels = np.unique(self.clusterer.labels_, return_inverse=True)
            self._fitted_on = self.pairs.n_answers
        return self._labels

    def partition(self, generator: np.random.Generator) -> Ints:
        """Return the clusterer's labels."""
        return self._fit().copy()

    def posterior(self, X: Any = None) -> Floats:
        """Return the probability of each cluster for all rows, or for new ones."""
        labels = self._fit()
        predict_proba = getattr(self.clusterer, "predict_proba", None)
        if predict_proba is not None:
            return np.asarray(predict_proba(self.X if X is None else X))
        rows = self.features
        sizes = np.bincount(labels)
        centres = np.stack([rows[labels == k].mean(axis=0) for k in range(len(sizes))])
        gaps = squared_distances(rows, centres)
        spread = max(float(np.mean(gaps[np.arange(self.n_rows), labels])), FLAT * float(gaps.max())) or 1.0
        new = rows if X is None else as_dense(X)
        P = softmax(-squared_distances(new, centres) / spread)
        if X is None:  # the clusterer's own labels stay the likeliest
            top = P.max(axis=1)
            P[np.arange(self.n_rows), labels] = np.maximum(P[np.arange(self.n_rows), labels], top * (1 + 1e-9))
            P = P / P.sum(axis=1, keepdims=True)
        return np.asarray(P)
