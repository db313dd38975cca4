"""COBRAS of Van Craenendonck, Dumancic, Van Wolputte and Blockeel 2018, for comparison: split, then ask what to join.

Rows are held in *super-instances*, sets that k-means made, each spoken for by its medoid; clusters are sets of these.
The largest super-instance is split: how finely is found by asking whether the medoids of ever smaller halves are alike.
Then clusters whose nearest medoids are alike are joined, nearest first. Answers are taken as right, and the number of
clusters is found. The method is a belief and a strategy in one; the strategy goes with other beliefs too.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from sidelight._core.params import as_seed
from sidelight.active.belief import Belief, as_dense, squared_distances

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]
Dialogue = Generator[tuple[int, int], bool, Any]  # asks about two rows, is sent whether they are alike

N_STARTS = 10  # of k-means, as in the authors' code


@dataclass(frozen=True, eq=False)
class SuperInstance:
    """Rows that are taken to be alike, and the one nearest to their mean."""

    rows: Ints
    medoid: int


class CobrasBelief(Belief):
    """The clusters of COBRAS, and the question it waits for.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows.
    n_clusters : int or None
        Not used: COBRAS finds the number of clusters.
    generator : numpy.random.Generator
        Draws the starts of k-means.
    """

    eps = 0.0  # answers are taken as right
    is_consistent = True

    def __init__(self, X: Any, n_clusters: int | None, generator: np.random.Generator) -> None:
        self.n_rows, self.n_clusters = X.shape[0], None
        self._features: Floats = as_dense(X)
        self._generator = generator
        self.rows: list[int] = []
        self._told: dict[frozenset[int], bool] = {}
        self._passed: set[frozenset[int]] = set()  # pairs that were answered "unsure"
        self._clusters = [[self._super_instance(np.arange(self.n_rows))]]
        self._shown = list(self._clusters)
        self._dialogue = self._converse()
        self.next_pair: tuple[int, int] | None = None
        self._advance(None)

    # -- the conversation --------------------------------------------------------------------------------------------

    def tell(self, a: int, b: int, same: bool, generator: np.random.Generator | None = None) -> None:
        """Take an answer; one to another question waits until COBRAS would ask it."""
        self.rows += [row for row in (a, b) if row not in self.rows]
        self._told[frozenset((a, b))] = same
        if self.next_pair is not None and {a, b} == set(self.next_pair):
            self._advance(same)

    def pass_over(self, a: int, b: int) -> None:
        """Go on without an answer, as if the two were not alike: nothing is joined without one."""
        self._passed.add(frozenset((a, b)))
        if self.next_pair is not None and {a, b} == set(self.next_pair):
            self._advance(False)

    def _advance(self, answer: bool | None) -> None:
        try:
            pair = next(self._dialogue) if answer is None else self._dialogue.send(answer)
            while (rows := frozenset(pair)) in self._told or rows in self._passed:
                pair = self._dialogue.send(self._told.get(rows, False))
            self.next_pair = pair
        except StopIteration:
            self.next_pair = None

    def _converse(self) -> Dialogue:
        while True:
            self._shown = [list(cluster) for cluster in self._clusters]
            largest = max((one for cluster in self._clusters for one in cluster), key=lambda one: len(one.rows))
            if len(largest.rows) < 2:
                return
            n_parts = yield from self._fineness(largest)
            parts = self._split(largest, n_parts)
            if len(parts) < 2:
                parts = [self._super_instance(rows) for rows in np.array_split(largest.rows, 2)]  # copies of one row
            kept = [[one for one in cluster if one is not largest] for cluster in self._clusters]
            self._clusters = [*filter(None, kept), *([part] for part in parts)]
            yield from self._join()

    def _fineness(self, whole: SuperInstance) -> Generator[tuple[int, int], bool, int]:
        """Halve until two halves are alike; 2 to the number of halvings that were not is how many parts there are."""
        at, depth = whole, 0
        while len(at.rows) >= 2:
            halves = self._split(at, 2)
            if len(halves) < 2 or (yield halves[0].medoid, halves[1].medoid):
                break
            depth += 1
            left = [half for half in halves if len(half.rows) >= 2]
            if not left:
                break
            at = min(left, key=lambda half: len(half.rows))
        return min(2 ** max(depth, 1), len(whole.rows))

    def _join(self) -> Dialogue:
        """Ask about clusters, those with the nearest medoids first, and join those that are alike."""
        apart: set[frozenset[int]] = {pair for pair, same in self._told.items() if not same}
        joined = True
        while joined:
            joined = False
            for _, a, b, one, other in self._candidates(apart):
                if (yield a, b):
                    self._clusters = [c for c in self._clusters if c is not one and c is not other] + [one + other]
                    joined = True
                    break
                apart.add(frozenset((a, b)))

    def _candidates(self, apart: set[frozenset[int]]) -> list[tuple[float, int, int, Any, Any]]:
        """Return (distance, medoid, medoid, cluster, cluster) of clusters not known to differ, the nearest first."""
        pairs = []
        for one, other in combinations(self._clusters, 2):
            left, right = [part.medoid for part in one], [part.medoid for part in other]
            if any(frozenset((a, b)) in apart for a in left for b in right):
                continue
            gaps = squared_distances(self._features[left], self._features[right])
            i, j = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
            pairs.append((float(gaps[i, j]), left[i], right[j], one, other))
        return sorted(pairs)  # no two have both medoids in common

    # -- sets of rows ------------------------------------------------------------------------------------------------

    def _super_instance(self, rows: Ints) -> SuperInstance:
        own = self._features[rows]
        return SuperInstance(rows, int(rows[np.argmin(((own - own.mean(axis=0)) ** 2).sum(axis=1))]))

    def _split(self, whole: SuperInstance, n_parts: int) -> list[SuperInstance]:
        own = self._features[whole.rows]
        n_parts = min(n_parts, len(np.unique(own, axis=0)))
        if n_parts < 2:
            return [whole]
        labels = KMeans(n_parts, n_init=N_STARTS, random_state=as_seed(self._generator)).fit_predict(own)
        return [self._super_instance(whole.rows[labels == k]) for k in np.unique(labels)]

    # -- what is shown -----------------------------------------------------------------------------------------------

    @property
    def features(self) -> Floats:
        """The rows, dense."""
        return self._features

    @property
    def n_known(self) -> int:  # type: ignore[override] # here it follows from the answers
        """How many clusters there are."""
        return len(self._shown)

    def partition(self, generator: np.random.Generator) -> Ints:
        """Return the clusters before the split that is being asked about."""
        labels = np.zeros(self.n_rows, dtype=np.intp)
        for number, cluster in enumerate(self._shown):
            for part in cluster:
                labels[part.rows] = number
        return labels

    def posterior(self, X: Any = None) -> Floats:
        """Return 1 for the cluster of each row; new rows belong with the nearest medoid."""
        if X is None:
            return np.asarray(np.eye(self.n_known)[self.partition(self._generator)])
        medoids = [(part.medoid, number) for number, cluster in enumerate(self._shown) for part in cluster]
        new = as_dense(X)
        nearest = squared_distances(new, self._features[[medoid for medoid, _ in medoids]]).argmin(axis=1)
        return np.asarray(np.eye(self.n_known)[[medoids[at][1] for at in nearest]])


class CobrasStrategy:
    """Ask what COBRAS waits for: the belief itself, or one beside it whose clusters are not shown."""

    def __init__(self) -> None:
        self._beside: CobrasBelief | None = None

    def choose(
        self, belief: Any, asked: Any, generator: np.random.Generator, busy: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, ...], float] | None:
        """Return the question it waits for; one at a time."""
        pair = self._cobras(belief).next_pair
        return None if pair is None or busy & set(pair) else (pair, float("nan"))

    def after_answer(self, belief: Any, rows: tuple[int, ...], answer: str) -> None:
        """Tell COBRAS; an "unsure" answer is passed over."""
        cobras, (a, b) = self._cobras(belief), rows
        if answer == "unsure":
            cobras.pass_over(a, b)
        elif cobras is not belief:
            cobras.tell(a, b, answer == "same")

    def _cobras(self, belief: Any) -> CobrasBelief:
        if isinstance(belief, CobrasBelief):
            return belief
        if self._beside is None:
            self._beside = CobrasBelief(belief.features, None, np.random.default_rng(0))
        return self._beside
