"""The clusters that are shown: those that the rows alone suggest, changed by answers as far as these reach.

The rows alone suggest k-means along the graph of near rows. A few labelled rows say less about rows far from all of
them than that does. So every row has two opinions, pooled by how near it is to rows with labels:

    score = reach * log posterior + (1 - reach) * log share of each label in its guessed cluster

A guessed cluster belongs to the label that answers place in it. One that no label was matched with keeps a label of its
own, and ``HELD`` answered rows' worth of it, so that one stray row, or one wrong answer, joins no two of them; where
the number of clusters is not known, only as far as answers agree that guessed clusters differ. While labels are few, or
doubtful because answers disagree, every guessed cluster holds on to its own, and answers reach less far; a guessed
cluster of which no row has a label is out of reach. How much the guess counts is learnt: if rows of one guessed cluster
turn out to have different labels, all of this fades.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight._affinity.spectral import unit_rows
from sidelight._core.matching import match_rows
from sidelight.active.gaussian import RowKernels
from sidelight.estimators._how_many import NumberOfClusters, clearest_number

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]
STARTS, ROUNDS, SAMPLE, TRIES = 6, 15, 3000, 8
FORETOLD = 10.0  # answers about rows of different clusters that are taken to have said "different" before any came
ABOUT = 0.15  # of a number of clusters: so near numbers share their clusters
ROWS_EACH = 8  # rows that a cluster needs at least, on average
APART, JOINED = 0.15, 0.33  # share of "same" among such answers: up to the first clusters differ, from the second not


class RowsAlone:
    """Clusters of the rows before anybody answered; worked out when first asked for, and never changed by answers.

    Parameters
    ----------
    kernels : RowKernels
        The rows.
    n_clusters : int or None
        How many clusters there are; None lets the graph of the rows say it.
    seed : int
        Draws the starts of k-means.
    """

    def __init__(self, kernels: RowKernels, n_clusters: int | None, seed: int) -> None:
        self._kernels, self._n_clusters, self._seed = kernels, n_clusters, seed
        self._others: dict[int, RowsAlone] = {}

    @cached_property
    def _guess(self) -> tuple[NumberOfClusters | None, np.random.Generator]:
        """The number that the rows suggest, where none was given, and what draws the starts after that."""
        generator = np.random.default_rng(self._seed)
        return None if self._n_clusters else clearest_number(self._kernels.known, generator), generator

    @property
    def is_clear(self) -> bool:
        """Whether the number of clusters was given, or the rows suggest it clearly."""
        number = self._guess[0]
        return number is None or number.is_clear

    @property
    def is_told(self) -> bool:
        """Whether a number was taken that the rows suggest, clearly or not."""
        number = self._guess[0]
        return number is None or number.is_clear or number.by == "told"

    def near(self, n_clusters: int) -> RowsAlone:
        """Return about so many clusters; those that were worked out for nearly as many are taken again."""
        near = [k for k in self._others if (1.0 - ABOUT) * k <= n_clusters <= (1.0 + ABOUT) * k]
        if not near:
            self._others[n_clusters] = RowsAlone(self._kernels, max(n_clusters, 2), self._seed)
            near = [n_clusters]
        return self._others[min(near, key=lambda k: abs(k - n_clusters))]

    def likely_number(self, sizes: Ints) -> int:
        """Return how many clusters there probably are, after so many rows were met in each of those known.

        Chao's estimate is met + f1 (f1 - 1) / (2 (f2 + 1)), with f1 clusters met once and f2 met twice. It is no more
        than what the rows clearly suggest.
        """
        clear = self._guess[0]
        n_met = int((sizes > 0).sum())
        if clear is not None and not n_met:
            return clear.chosen
        once, twice = int((sizes == 1).sum()), int((sizes == 2).sum())
        chao = n_met + once * (once - 1) / (2.0 * (twice + 1))
        if clear is not None and clear.is_clear:
            chao = min(chao, max(clear.chosen, n_met))
        return int(np.clip(round(chao), n_met, max(len(self._view) // ROWS_EACH, n_met)))

    @property
    def _view(self) -> Floats:
        return self._kernels.views.get("graph", next(iter(self._kernels.views.values())))

    @cached_property
    def labels(self) -> Ints:
        """The cluster of every row."""
        number, generator = self._guess
        n_clusters = self._n_clusters or (2 if number is None else number.chosen)
        return _k_means(self._view, min(max(n_clusters, 2), len(self._view)), generator)

    @cached_property
    def typicality(self) -> Floats:
        """How near every row is to the middle of its cluster: 1 is in the middle."""
        ones = np.ones(len(self.labels), dtype=self._view.dtype)
        members = sp.csr_array((ones, (self.labels, np.arange(len(self.labels)))))
        return np.asarray(np.einsum("ij,ij->i", self._view, unit_rows(members @ self._view)[self.labels]))

    @property
    def n_clusters(self) -> int:
        """How many there are."""
        return int(self.labels.max()) + 1

    def trust_in_number(self, rows: Sequence[int], links: Sequence[tuple[int, int, int]], eps: float) -> float:
        """Return how far answers agree that different clusters differ, from 0 to 1.

        Parameters
        ----------
        rows : sequence of int
            The rows that answers are about.
        links : sequence of (int, int, int)
            Positions of two of these rows, and whether the answer was "same".
        eps : float
            The share of wrong answers.
        """
        number = self.labels[list(rows)]
        said_same = [same for a, b, same in links if number[a] != number[b]]
        share = max(sum(said_same) / (len(said_same) + FORETOLD) - eps, 0.0) / (1.0 - 2.0 * eps)
        return float(np.clip((JOINED - share) / (JOINED - APART), 0.0, 1.0))


@np.errstate(invalid="ignore")  # as in gaussian.py
def _k_means(view: Floats, n_clusters: int, generator: np.random.Generator) -> Ints:
    n = len(view)
    some = view if n <= SAMPLE else view[generator.choice(n, SAMPLE, replace=False)]
    order = np.arange(len(some))

    best: tuple[float, Floats] | None = None
    for _ in range(STARTS):
        centres = _more_centres(some, some[generator.choice(len(some), 1)], n_clusters - 1, generator)
        for _ in range(ROUNDS):
            distances = _distances(some, centres)
            nearest = distances.argmin(axis=1)
            ones = np.ones(len(some), dtype=centres.dtype)  # sums are as precise as the centres
            sums = sp.csr_array((ones, (nearest, order)), shape=(n_clusters, len(some))) @ some
            sizes = np.bincount(nearest, minlength=len(centres))
            centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
        cost = float(distances.min(axis=1).sum())
        if best is None or cost < best[0]:
            best = (cost, centres)
    assert best is not None  # STARTS is positive
    return _distances(view, best[1]).argmin(axis=1)


def _more_centres(rows: Floats, centres: Floats, n_more: int, generator: np.random.Generator) -> Floats:
    """Add centres far from those there are, the best of several tries each (greedy k-means++)."""
    for _ in range(n_more):
        far = np.maximum(_distances(rows, centres).min(axis=1), 0.0)
        total = far.sum()
        chance = far / total if total > 0 else None
        tried = generator.choice(len(rows), TRIES, p=chance)
        costs = [np.minimum(far, _distances(rows, rows[[t]])[:, 0]).sum() for t in tried]
        centres = np.vstack([centres, rows[tried[int(np.argmin(costs))]]])
    return centres


def _distances(rows: Floats, centres: Floats) -> Floats:
    squares = np.einsum("ij,ij->i", rows, rows)[:, None] + np.einsum("ij,ij->i", centres, centres)
    return np.asarray(squares - 2.0 * rows @ centres.T)


HELD = 8.0  # rows with a label that a guessed cluster counts for
SPREAD = 0.3  # rows' worth of all labels alike in every guessed cluster
FEW = 3.0  # rows with labels a cluster, below which nothing has tested them
WELL_MET, DOUBTED = 6.0, 8.0  # rows with labels a cluster, from which answers reach far; the second if they disagree
TRUSTED = 7.0  # rows whose labels the guess is taken to have foretold before any was met
USELESS, USEFUL = 0.15, 0.6  # agreement of a guess with labels; those are of rows that are hard, so less is expected


def shown_clusters(
    guessed: Ints,
    rows: Ints,
    q: Floats,
    P: Floats,
    novelty: Floats,
    *,
    n_clusters: int | None,
    unmet: float,
    told: float,
    is_consistent: bool,
) -> Ints:
    """Return the cluster of every row; those from ``q.shape[1]`` on were guessed from the rows alone.

    Parameters
    ----------
    guessed : array of shape (n_rows,)
        Clusters of the rows alone.
    rows, q : array of shape (n_asked,) and (n_asked, n_known)
        The rows with labels, and the probability of each.
    P : array of shape (n_rows, n_known)
        The probability of each label for every row.
    novelty : array of shape (n_rows,)
        How little labels say about each row, from 0 to 1.
    n_clusters : int or None
        How many clusters there are, if that is known.
    unmet : float
        Otherwise the share of guessed clusters without a label that are taken for clusters of their own.
    told : float
        How much of what the labels of ``rows`` need was told, from 0 to 1; the rest was filled in by looks.
    is_consistent : bool
        Whether no answers contradict each other.
    """
    n_known = q.shape[1]
    met = np.zeros((int(guessed.max()) + 1, n_known))
    np.add.at(met, guessed[rows], q)
    label = match_rows(met)
    is_matched = (label >= 0) & ((n_clusters is not None) | (met[np.arange(len(met)), label] > 0.0))
    own = np.flatnonzero(~is_matched)
    n_own = max(round(unmet * len(own)), 2 - n_known) if n_clusters is None else n_clusters - n_known
    sizes = np.bincount(guessed)
    own = own[np.lexsort((-sizes[own], met[own].sum(axis=1)))]  # least known first, then largest
    own = np.sort(own[: max(n_own, 0)])
    share = np.full((len(met), n_known + len(own)), 1e-9)
    share[:, :n_known] = told * met + SPREAD / n_known
    trust = (_agreement(guessed[rows], q.argmax(axis=1)) - USELESS) / (USEFUL - USELESS)
    trust = float(np.clip(trust, 0.0, 1.0))
    share[own, n_known + np.arange(len(own))] = max(HELD * trust, 1.0)
    per_cluster = told * len(rows) / share.shape[1]
    if not is_consistent or per_cluster < FEW:
        share[is_matched, label[is_matched]] += HELD * trust
    reach = (1.0 - novelty[:, None]) * min(per_cluster / (WELL_MET if is_consistent else DOUBTED), 1.0) ** 2
    reach[np.isin(guessed, own[met[own].sum(axis=1) == 0.0])] = 0.0  # no answer was about any of their rows
    reach = 1.0 - trust * (1.0 - reach)
    share /= share.sum(axis=1, keepdims=True)
    score = (1.0 - reach) * np.log(share)[guessed]
    score[:, :n_known] += reach * np.log(np.maximum(P, 1e-9))
    score[:, n_known:] += reach * -np.log(n_known)  # of a label that was not met nothing is known
    return np.asarray(score.argmax(axis=1))


def _agreement(guessed: Ints, labels: Ints) -> float:
    """Return how well guessed clusters foretell labels, from 0 (by chance) to 1; few labels say little against it.

    >>> _agreement(np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    1.0
    >>> round(_agreement(np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 1, 0, 1, 0, 1, 0, 1])), 1)
    0.4
    """
    met = np.zeros((int(guessed.max()) + 1, int(labels.max()) + 1))
    np.add.at(met, (guessed, labels), 1.0)
    alike, others = met[guessed, labels] - 1.0, met.sum(axis=1)[guessed] - 1.0
    n_compared = int((others > 0).sum())
    sizes, n = met.sum(axis=0), len(labels)
    by_chance = float((sizes * (sizes - 1.0)).sum()) / max(n * (n - 1), 1)
    if n_compared == 0 or by_chance == 1.0:
        return 1.0
    agreed = float((alike[others > 0] / others[others > 0]).mean())
    above_chance = (agreed - by_chance) / (1.0 - by_chance)
    return float(np.clip((TRUSTED + n_compared * above_chance) / (TRUSTED + n_compared), 0.0, 1.0))
