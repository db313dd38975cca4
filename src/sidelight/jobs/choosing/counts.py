"""How many clusters of each side of a table of counts: those that half of the counts needs to tell the other half.

Every event is dealt to one of two halves, so that they are independent tables of the same things. Clusters of one half
are judged by the other: how many bits more than chance do they tell about which row meets which column? Superfluous
clusters tell nothing, and cost by what they take for real; the smallest number within a standard error of the best is
taken, one side after the other.
"""

from __future__ import annotations

import numpy as np

from sidelight._core.threads import one_thread
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.errors import InvalidData
from sidelight.estimators._choice import Choice, choose_best
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.progress import report
from sidelight.results.jobs import Stability
from sidelight.words import Setting

_SPLITS, _STARTS = 4, 6
_MOST_CODES = 300  # of each side, the most frequent first: they carry most of the information
_MOST_CLUSTERS = 12
_ROUNDS = 3  # of choosing one side with the number of the other fixed; the second changes little, the third nothing
_WHOLE = 0.99  # share of the table in whole numbers from which it counts something


def most_telling(table: CoOccurrence, generator: np.random.Generator) -> tuple[Stability, ...]:
    """Choose the number of clusters of each axis.

    Parameters
    ----------
    table : CoOccurrence
        Counts. With more than two axes each is judged beside the one that tells most about it.
    generator : Generator
        Deals the counts.
    """
    if np.floor(table.counts).sum() < _WHOLE * table.total:
        raise InvalidData(
            "The table holds fractions, and only counts can be dealt into halves to choose a number of clusters.",
            do=["Say how many clusters with ", Setting("n_clusters"), "."],
        )
    with one_thread():  # once for all fits: each would look for the libraries in use again
        return _of_axes(table, generator)


def _of_axes(table: CoOccurrence, generator: np.random.Generator) -> tuple[Stability, ...]:
    if table.n_axes == 2:
        return _of_pair(table, generator)
    found = []
    for axis in table.axes:
        others = [other for other in table.axes if other != axis]
        partner = max(others, key=lambda other: table.mutual_information(axis, other))
        found.append(_of_pair(table.margin(axis, partner), generator)[0])
    return tuple(found)


def _of_pair(pair: CoOccurrence, generator: np.random.Generator) -> tuple[Stability, Stability]:
    halves = [_dealt(pair, generator) for _ in range(_SPLITS)]
    most = [max(1, min(_MOST_CLUSTERS, size)) for size in halves[0][0].shape]  # halves of rare codes share none
    known: dict[tuple[int, int], np.ndarray] = {}

    def told(k: int, m: int) -> np.ndarray:
        if (k, m) not in known:
            report("number of clusters", len(known), None, f"{k} x {m} clusters")
            known[k, m] = np.array([_bits(*half, k, m) for half in halves])
        return known[k, m]

    square = range(min(2, *most), min(most) + 1)
    now = [choose_best(square, [told(k, k) for k in square], simplest_within_error=True)["chosen"]] * 2
    curves: list[Choice] = []
    for _ in range(_ROUNDS):
        before, curves = list(now), []
        for side in (0, 1):
            tried = range(min(2, most[side]), most[side] + 1)
            values = [told(k, now[1]) if side == 0 else told(now[0], k) for k in tried]
            curves.append(choose_best(tried, values, simplest_within_error=True))
            now[side] = curves[side]["chosen"]
        if now == before:
            break
    return _stability(curves[0], pair.axes[0]), _stability(curves[1], pair.axes[1])


def _stability(curve: Choice, axis: str) -> Stability:
    place = curve["tried"].index(curve["chosen"])
    score, error = curve["scores"][place], curve["errors"][place]
    return Stability(
        curve["tried"], curve["scores"], curve["errors"], curve["chosen"], by="counts", of=axis, is_clear=score > error
    )


def _dealt(pair: CoOccurrence, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Deal the counts of the most frequent codes into two halves; codes that a half never shows are left out."""
    rows, columns = pair.coords
    kept = [_frequent(pair.marginal(axis)) for axis in pair.axes]
    inside = (kept[0][rows] >= 0) & (kept[1][columns] >= 0)
    counts = np.zeros([int(place.max()) + 1 for place in kept], dtype=np.int64)
    np.add.at(counts, (kept[0][rows[inside]], kept[1][columns[inside]]), np.floor(pair.counts[inside]).astype(np.int64))
    first = generator.binomial(counts, 0.5)
    second = counts - first
    seen = [(first.sum(axis=side) > 0) & (second.sum(axis=side) > 0) for side in (1, 0)]
    return first[np.ix_(*seen)], second[np.ix_(*seen)]


def _frequent(totals: np.ndarray) -> np.ndarray:
    """Number the most frequent codes; -1 for the others."""
    places = np.full(len(totals), -1, dtype=np.intp)
    chosen = np.sort(np.argsort(-totals, kind="stable")[:_MOST_CODES])
    places[chosen] = np.arange(len(chosen))
    return places


def _bits(first: np.ndarray, second: np.ndarray, k: int, m: int) -> float:
    """Return the bits per count that clusters of each half tell about the other, as a mean."""
    if min(first.shape) < 2:
        return 0.0
    k, m = min(k, first.shape[0]), min(m, first.shape[1])
    return float(np.mean([_told(a, b, k, m) for a, b in ((first, second), (second, first))]))


def _told(learnt: np.ndarray, judged: np.ndarray, k: int, m: int) -> float:
    model = InformationCoclustering((k, m), n_init=_STARTS, max_iter=30, random_state=0).fit(learnt)
    labels = [np.maximum(side, 0) for side in (model.row_labels_, model.column_labels_)]
    joint = np.full((k, m), 0.5)  # half a count: no rate is 0
    np.add.at(joint, (labels[0][:, None], labels[1][None, :]), learnt)
    joint /= joint.sum()
    more = np.log2(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    return float((judged * more[np.ix_(*labels)]).sum() / max(judged.sum(), 1))
