"""Prepared channels clustered by graphs, and the choice between the ways of joining them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_seed
from sidelight.data.bag_lists import is_drawn
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.estimators.sources._joined import (
    JoinedChannels,
    Masks,
    preparation_of,
    prepared_rows,
    rows_that_tell,
)
from sidelight.estimators.sources._votes import landmarks
from sidelight.estimators.sources._ways import (
    codes_share,
    finer_groups,
    foretold,
    sample_of,
    shows_different_things,
    silhouette,
)
from sidelight.estimators.sources.graphs import WAYS, Clustered, beside, cluster_graphs, spread

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
_TIE = 0.005  # silhouettes that differ by less say nothing
# times, and beyond that by how much, channels foretell the added graphs' clusters more alike where silhouettes mislead
_TIMES_ALIKE, _ALIKE = 1.1, 0.05
_NO_WORSE = 0.005  # by which all channels together may foretell them less
_FEWEST_COMPLETE = 50  # rows with all channels of which a silhouette can be taken
JOINED = 100_000  # rows, about, that are joined by graphs; of more, a sample: the others are placed as new rows are
WHOLE = 10  # rows of a sequence that say as much as all of them: of longer ones more sequences are in a sample
_MORE = 1.2  # times as many rows are joined, too: a sample of whole sequences has only about as many as were wanted
_WHOLE = 2000  # rows up to which words are looked at whole: more rows teach directions that say all of it


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
    if not is_added and len(channels) > 1:
        alike, together = zip(*(
            foretold(channels, clustered.weights, clustered.ways[way], n_clusters, chosen, generator) for way in WAYS
        ))  # fmt: skip
        if alike[0] > _TIMES_ALIKE * alike[1] + _ALIKE and together[0] >= together[1] - _NO_WORSE:
            figures = {**scores, "foretold alike": alike[0], "foretold alike, concatenated": alike[1]}
            return Choice("graphs", figures, "channels foretell its clusters more alike than those of all side by side")
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
    choose_with: Callable[..., Choice],
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
    choose_with : callable
        Takes what was found and the prepared channels, and chooses.
    """
    seed = as_seed(generator)
    parts, there, home = _sampled(parts, there, home)
    preparations = {name: preparation_of(rows, there[name], seed) for name, rows in parts.items()}
    there = rows_that_tell(preparations, parts, there)
    channels = {name: prepared_rows(preparations[name], rows, there[name], None) for name, rows in parts.items()}
    is_few = len(next(iter(channels.values()))) <= _WHOLE
    whole = {name: of.weighed(parts[name]) for name, of in preparations.items() if is_few and of.kind == "words"}
    ways: Sequence[str] = WAYS if way == "auto" else (way,)
    clustered = cluster_graphs(channels, whole, there, n_clusters, home, generator, ways=ways)
    choice = choose_with(clustered, channels, there) if way == "auto" else Choice(way, {}, "it was asked for")
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
