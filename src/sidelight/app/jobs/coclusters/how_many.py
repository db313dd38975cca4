"""How many clusters of each side of a table of counts: those that some of the counts need to tell the others.

Every event is dealt to one of five parts, so that they are independent tables of the same things. Clusters of four
parts are judged by the fifth: how many bits more than chance do they tell about which row meets which column?
Superfluous clusters tell nothing, and cost by what they take for real; the smallest number is taken that falls short of
the best by at most one standard error of the difference, one side after the other.

Words of a text do not come one by one: those of a document are in all parts, every document tells about itself, and
the gain never ends. Such counts scatter more than Poisson's around what the clusters expect; then the graph of the
profiles of each side decides, if it has a clear answer; a side without one gets at most as many as the other, and is
said to be unclear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sidelight._core.process import one_thread
from sidelight._models.prepared_rows import Preparation
from sidelight.app.jobs.reading import collect_notes
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.errors import InvalidData
from sidelight.estimators._choice import Choice, as_good, try_in_turn
from sidelight.estimators._how_many import NumberOfClusters, clearest_number
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.progress import report
from sidelight.words import Setting

_PARTS, _STARTS = 5, 12
_MOST_CODES = 300  # of each side, the most frequent first: they carry most of the information
_MOST_CLUSTERS = 12
_ROUNDS = 3  # of choosing one side with the number of the other fixed; the second changes little, the third nothing
_BURSTS = 1.5  # variances of Poisson's counts from which counts come in bursts; blocks of Poisson's have 1.0 to 1.1
_WHOLE = 0.99  # share of the table in whole numbers from which it counts something


def most_telling(table: CoOccurrence, generator: np.random.Generator) -> tuple[NumberOfClusters, ...]:
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
            "The table holds fractions, and only counts can be dealt into parts to choose a number of clusters.",
            do=["Say how many clusters with ", Setting("n_clusters"), "."],
        )
    with one_thread(), collect_notes():  # threads once for all fits; warnings of these fits are not about the run's own
        return _of_axes(table, generator)


def _of_axes(table: CoOccurrence, generator: np.random.Generator) -> tuple[NumberOfClusters, ...]:
    if table.n_axes == 2:
        return _of_pair(table, generator)
    found = []
    for axis in table.axes:
        others = [other for other in table.axes if other != axis]
        partner = max(others, key=lambda other: table.mutual_information(axis, other))
        found.append(_of_pair(table.margin(axis, partner), generator)[0])
    return tuple(found)


def _of_pair(pair: CoOccurrence, generator: np.random.Generator) -> tuple[NumberOfClusters, NumberOfClusters]:
    parts = _dealt(pair, generator)
    most = [max(1, min(_MOST_CLUSTERS, size)) for size in parts[0][0].shape]  # parts of rare codes share none
    known: dict[tuple[int, int], np.ndarray] = {}

    def told(k: int, m: int) -> np.ndarray:
        if (k, m) not in known:
            report("number of clusters", len(known), None, f"{k} x {m} clusters")
            known[k, m] = np.array([_told(*part, k, m) for part in parts])
        return known[k, m]

    square = range(min(2, *most), min(most) + 1)
    now = [try_in_turn(square, lambda k: told(k, k), _simplest)["chosen"]] * 2
    curves: list[Choice] = []
    for _ in range(_ROUNDS):
        before, curves = list(now), []
        for side in (0, 1):
            tried = range(min(2, most[side]), most[side] + 1)
            beside = partial(told, m=now[1]) if side == 0 else partial(told, now[0])
            curves.append(try_in_turn(tried, beside, _simplest))
            now[side] = curves[side]["chosen"]
        if now == before:
            break
    found = _stability(curves[0], pair.axes[0]), _stability(curves[1], pair.axes[1])
    learnt, judged = parts[0]
    return found if _dispersion(learnt + judged, now[0], now[1]) < _BURSTS else _by_profiles(found, pair, generator)


def _by_profiles(
    by_counts: tuple[NumberOfClusters, NumberOfClusters], pair: CoOccurrence, generator: np.random.Generator
) -> tuple[NumberOfClusters, NumberOfClusters]:
    """Ask the graph of the profiles of each side; a side without a clear answer has at most as many as the other."""
    rows = pair.to_csr()
    sides = [Preparation.of(side, "words")(side) for side in (rows, rows.T.tocsr())]
    graphs = [replace(clearest_number(side, generator), of=told.of) for side, told in zip(sides, by_counts)]
    most = min((graph.chosen for graph in graphs if graph.is_clear), default=_MOST_CLUSTERS)
    first, second = (
        graph if graph.is_clear else replace(told, chosen=min(told.chosen, most), is_clear=False)
        for graph, told in zip(graphs, by_counts)
    )
    return first, second


def _simplest(values: Sequence[np.ndarray]) -> int:
    """Take the smallest number that is as good as the best, part by part."""
    return as_good(values)[0]


def _stability(curve: Choice, axis: str) -> NumberOfClusters:
    return NumberOfClusters.of_choice(curve, "counts", lambda score, error: score > error, axis)


def _dealt(pair: CoOccurrence, generator: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Deal the counts of the most frequent codes into parts; return for each part the others, and itself.

    Codes that are in a single part are left out: nothing is learnt about them where they are judged.
    """
    rows, columns = pair.coords
    kept = [_frequent(pair.marginal(axis)) for axis in pair.axes]
    inside = (kept[0][rows] >= 0) & (kept[1][columns] >= 0)
    counts = np.zeros([int(place.max()) + 1 for place in kept], dtype=np.int64)
    np.add.at(counts, (kept[0][rows[inside]], kept[1][columns[inside]]), np.floor(pair.counts[inside]).astype(np.int64))
    parts = np.moveaxis(generator.multinomial(counts, np.full(_PARTS, 1 / _PARTS)), -1, 0)
    seen = [((parts.sum(axis=side) > 0).sum(axis=0) > 1) for side in (2, 1)]
    counts, parts = counts[np.ix_(*seen)], parts[:, *np.ix_(*seen)]
    return [(counts - part, part) for part in parts]


def _frequent(totals: np.ndarray) -> np.ndarray:
    """Number the most frequent codes; -1 for the others."""
    places = np.full(len(totals), -1, dtype=np.intp)
    chosen = np.sort(np.argsort(-totals, kind="stable")[:_MOST_CODES])
    places[chosen] = np.arange(len(chosen))
    return places


def _told(learnt: np.ndarray, judged: np.ndarray, k: int, m: int) -> float:
    """Return the bits per count that clusters of ``learnt`` tell about ``judged``."""
    if min(learnt.shape) < 2:
        return 0.0
    return float((judged * np.log2(_lift(learnt, k, m))).sum() / max(judged.sum(), 1))


def _dispersion(counts: np.ndarray, k: int, m: int) -> float:
    """Return the mean squared distance of counts from what k x m clusters expect, in variances of Poisson's counts."""
    if min(counts.shape) < 2:
        return 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1) * _lift(counts, k, m)
    used = expected > 0
    freedom = max(np.count_nonzero(used) - sum(counts.shape) - k * m, 1)
    return float(((counts[used] - expected[used]) ** 2 / expected[used]).sum() / freedom)


def _lift(counts: np.ndarray, k: int, m: int) -> np.ndarray:
    """Return for every cell how much more often clusters of both sides meet than by chance."""
    k, m = min(k, counts.shape[0]), min(m, counts.shape[1])
    model = InformationCoclustering((k, m), n_init=_STARTS, max_iter=30, random_state=0).fit(counts)
    labels = [np.maximum(side, 0) for side in (model.row_labels_, model.column_labels_)]
    joint = np.full((k, m), 0.5)  # half a count: no rate is 0
    np.add.at(joint, (labels[0][:, None], labels[1][None, :]), counts)
    joint /= joint.sum()
    return np.asarray((joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))[np.ix_(*labels)])
