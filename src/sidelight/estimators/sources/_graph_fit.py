"""Prepared channels clustered by graphs, and the choice between the ways of joining them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from sidelight._core.params import as_seed
from sidelight._core.process import one_thread, without_library_warnings
from sidelight.data.bag_lists import is_drawn
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.estimators.sources._joined import (
    JoinedChannels,
    Masks,
    landmarks,
    preparation_of,
    prepared_rows,
    rows_that_tell,
)
from sidelight.estimators.sources.graphs import WAYS, Clustered, beside, cluster_graphs, spread

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
_TIE = 0.005  # silhouettes that differ by less say nothing
_FEWEST_COMPLETE = 50  # rows with all channels of which a silhouette can be taken
JOINED = 100_000  # rows, about, that are joined by graphs; of more, a sample: the others are placed as new rows are
WHOLE = 10  # rows of a sequence that say as much as all of them: of longer ones more sequences are in a sample
_MORE = 1.2  # times as many rows are joined, too: a sample of whole sequences has only about as many as were wanted


@dataclass(frozen=True, slots=True)
class Choice:
    """The way that was taken, the figures behind it, and a sentence."""

    method: str
    scores: dict[str, float]
    why: str


def choose(
    clustered: Clustered,
    channels: Mapping[str, Floats],
    there: Masks,
    table: CoOccurrence,
    n_clusters: int,
    generator: np.random.Generator,
) -> Choice:
    """Choose between the added graphs, the graph of the concatenation, and counts of codes."""
    complete = np.flatnonzero(np.all(list(there.values()), axis=0))
    if len(complete) < min(_FEWEST_COMPLETE, len(next(iter(there.values())))):
        return Choice("graphs", {}, "hardly any row has all channels, and graphs can do without")
    shared = clustered.shared / (n_clusters - 1) if n_clusters > 1 else np.inf
    finer = 0.0
    if shared < 1.0 and len(complete) == len(next(iter(there.values()))):
        finer = finer_groups(channels, n_clusters, generator)
        if shows_different_things(shared, finer) and codes_share(table):
            scores = {"neighbours shared": shared, "finer groups": finer}
            return Choice("annealed", scores, "the channels have groups of their own, which only occur together")
    rows = beside(channels, clustered.weights)
    chosen = sample_of(complete, generator)
    scores = {way: silhouette(rows, labels, chosen) for way, labels in clustered.ways.items()}
    # clusters that do not hang together anywhere are not told apart by how little they do
    is_added = scores["graphs"] >= scores["concatenated"] - _TIE or scores["concatenated"] <= 0
    names = ("graphs", "concatenated") if is_added else ("concatenated", "graphs")
    clear = f"its clusters hang together better (silhouette {scores[names[0]]:.3f} against {scores[names[1]]:.3f})"
    why = clear if abs(scores[names[0]] - scores[names[1]]) > _TIE else "both graphs have about the same silhouette"
    figures = {**scores, "neighbours shared": shared, "finer groups": finer} if np.isfinite(shared) else scores
    return Choice(names[0], figures, why)


def fit_graphs(
    parts: Mapping[str, Any],
    there: Masks,
    n_clusters: int,
    home: Ints | None,
    generator: np.random.Generator,
    *,
    way: str,
    table: CoOccurrence,
) -> tuple[Choice, JoinedChannels]:
    """Prepare channels, cluster them in one way or in both, and return the choice and its model.

    Parameters
    ----------
    parts : mapping of str to ndarray or CSR
        The raw rows of each channel that differ at all.
    there : mapping of str to ndarray of bool
        Which rows have each channel.
    n_clusters : int
        Number of clusters.
    home : ndarray of int or None
        The sequence of each row.
    generator : numpy.random.Generator
        Where the randomness comes from.
    way : {"auto", "graphs", "concatenated"}
        What was asked for.
    table : CoOccurrence
        How often codes of the channels occurred together.
    """
    seed = as_seed(generator)
    parts, there, home = _sampled(parts, there, home)
    preparations = {name: preparation_of(rows, there[name], seed) for name, rows in parts.items()}
    there = rows_that_tell(preparations, parts, there)
    channels = {name: prepared_rows(preparations[name], rows, there[name], None) for name, rows in parts.items()}
    ways: Sequence[str] = WAYS if way == "auto" else (way,)
    clustered = cluster_graphs(channels, there, n_clusters, home, generator, ways=ways)
    choice = Choice(way, {}, "it was asked for")
    if way == "auto":
        choice = choose(clustered, channels, there, table, n_clusters, generator)
    labels = clustered.ways[choice.method if choice.method in clustered.ways else "graphs"]
    some = landmarks(len(labels), generator)
    return choice, JoinedChannels(
        way=choice.method,
        preparations=preparations,
        known={name: rows[some] for name, rows in channels.items()},
        there={name: there[name][some] for name in channels},
        labels=labels[some],
        weights=dict(clustered.weights),
        means={name: rows[there[name]].mean(axis=0) for name, rows in channels.items()},
        scales={name: spread(rows) / np.sqrt(clustered.weights[name]) for name, rows in channels.items()},
        n_clusters=n_clusters,
    )


def _sampled(parts: Mapping[str, Any], there: Masks, home: Ints | None) -> tuple[Mapping[str, Any], Masks, Ints | None]:
    """Take some rows of very many, as from Parts: short sequences as a whole, and some rows of long ones."""
    n = len(next(iter(there.values())))
    if n <= _MORE * JOINED:
        return parts, there, home
    numbers = np.arange(n)
    names = numbers if home is None else np.arange(home.max() + 1)
    some = np.flatnonzero(is_drawn(names, numbers if home is None else home, numbers, JOINED / n, WHOLE))
    near = None if home is None else np.unique(home[some], return_inverse=True)[1].astype(np.intp)
    return {name: rows[some] for name, rows in parts.items()}, {name: of[some] for name, of in there.items()}, near


# Which way of clustering channels suits them, decided without truth.
#
# Two questions. Do the channels show the same thing? Then rows that are near in one channel are near in another, more
# often than clusters that merely occur together would explain, or no channel has groups of its own that are finer than
# the clusters; channels of the other kind are left to the counts of their codes. And of the two graphs, which has
# clusters that hang together: the silhouette of the labels on the balanced concatenation says it; ties go to the added
# graphs.


_SAMPLE = 2000  # rows of which silhouettes are taken
_FINER_SAMPLE = 1000
_FINER = (2, 3, 4)  # times as many groups as clusters
_CLEARLY = 0.15  # by which finer groups must hang together better: below that, added graphs do as well as counts
_CHANCE = 1e-3  # of codes that share nothing


def finer_groups(channels: Mapping[str, Floats], n_clusters: int, generator: np.random.Generator) -> float:
    """Return by how much groups finer than the clusters hang together better, in the mean of the channels alone.

    It is the silhouette of k-means with two to four times as many groups (the best of them) minus that with K.
    """
    gains = []
    for rows in channels.values():
        few = rows[_some(len(rows), _FINER_SAMPLE, generator)]
        seed = as_seed(generator)
        if _FINER[0] * n_clusters > len(few) // 5:  # groups of fewer than five rows say nothing
            continue
        own = _groups(few, n_clusters, seed)
        finer = [_groups(few, m * n_clusters, seed) for m in _FINER if m * n_clusters <= len(few) // 5]
        gains.append(max(finer) - own)
    return float(np.mean(gains)) if gains else 0.0


def codes_share(table: CoOccurrence) -> bool:
    """Say whether some two channels' codes share information: the likelihood-ratio test, corrected for many pairs."""
    pairs = list(combinations(table.axes, 2))
    for a, b in pairs:
        margin = table.margin(a, b)
        freedom = (margin.shape[0] - 1) * (margin.shape[1] - 1)
        if freedom > 0 and chi2.sf(2.0 * margin.total * margin.mutual_information(a, b), freedom) < _CHANCE / len(
            pairs
        ):
            return True
    return False


def silhouette(rows: Floats, labels: Ints, chosen: Ints) -> float:
    """Return the silhouette of labels on a sample of the rows; -1 where it has fewer than two clusters."""
    own = labels[chosen]
    if not 2 <= len(np.unique(own)) < len(own):
        return -1.0
    with one_thread():
        return float(silhouette_score(rows[chosen], own))


def sample_of(candidates: Ints, generator: np.random.Generator) -> Ints:
    """Take at most 2,000 of the rows."""
    return candidates[_some(len(candidates), _SAMPLE, generator)]


def shows_different_things(shared: float, finer: float) -> bool:
    """Say whether channels have groups of their own that only occur together."""
    return shared < 1.0 and finer > _CLEARLY


def _groups(rows: Floats, k: int, seed: int) -> float:
    with without_library_warnings(), one_thread():
        labels = KMeans(k, n_init=3, random_state=seed).fit_predict(rows)
    return silhouette(rows, labels, np.arange(len(rows)))


def _some(n: int, most: int, generator: np.random.Generator) -> Ints:
    return np.arange(n) if n <= most else np.sort(generator.choice(n, size=most, replace=False)).astype(np.intp)
