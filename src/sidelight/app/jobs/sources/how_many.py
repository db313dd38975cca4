"""How many clusters: as many groups of sequences as find each other, or as many as the channels find alike.

Rows of one sequence are alike because they are of one day, so halves of the rows would confirm every single day. Here
each row looks for the nearest mean among the *other* sequences, channel by channel: days of one person find each other.
The links of k groups that nobody leaves would have k eigenvalues of 1; real links have k large ones. Large is what
exceeds chance (parallel analysis, Horn 1965): the same links, each sequence's to others at random.

Without sequences each channel is clustered alone, with every number of clusters. Channels that show the same things
agree most (adjusted mutual information) near the number of things; finer or coarser clusters are each channel's own
affair. Of the numbers on which they agree nearly best, the one is taken below which the eigenvalues of all graphs
together fall off most.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

from sidelight._affinity.spectral import NormalisedSum, leading_eigenvectors, unit_rows
from sidelight._core.process import one_thread, without_library_warnings
from sidelight._core.prototypes import group_means, squared_distances
from sidelight.estimators._how_many import NumberOfClusters, clearest_number
from sidelight.estimators.sources._joined import side_by_side
from sidelight.estimators.sources.graphs import AddedGraphs, graph_of
from sidelight.progress import report

FEWEST = 4  # sequences of which a number of groups can be asked
_DRAWS = 50  # of links by chance; an eigenvalue must exceed all of them
_MOST_ROWS, _MOST_SEQUENCES, _MOST_CLUSTERS = 8000, 400, 20


def above_chance(channels: Sequence[np.ndarray], home: np.ndarray, generator: np.random.Generator) -> NumberOfClusters:
    """Count the groups of sequences whose eigenvalue exceeds those of links by chance.

    Parameters
    ----------
    channels : sequence of ndarray of shape (n_rows, n_columns of the channel)
        The channels.
    home : ndarray of int
        The sequence of each row, 0 on; at least four sequences.
    generator : Generator
        Draws links by chance.
    """
    chosen = _some_rows(home, generator)
    home = np.unique(home[chosen], return_inverse=True)[1]
    n = int(home.max()) + 1
    tried = list(range(2, min(_MOST_CLUSTERS, n - 1) + 1))
    with one_thread():
        links = np.sum([_links(channel[chosen], home, n) for channel in channels], axis=0)
        chance = np.empty((_DRAWS, n))
        for draw in range(_DRAWS):
            report("number of clusters", draw, _DRAWS, f"links by chance, draw {draw + 1}")
            chance[draw] = _eigenvalues(_elsewhere(links, generator))
        excess = (_eigenvalues(links) - chance.max(axis=0))[1 : len(tried) + 1]
    n_large = int(np.argmin(np.append(excess, -1.0) > 0))  # the first that does not exceed chance ends the count
    errors = chance.std(axis=0)[1 : len(tried) + 1]
    return NumberOfClusters(
        tried, excess.tolist(), errors.tolist(), max(n_large + 1, 2), by="sequences", is_clear=n_large > 0
    )


def _some_rows(home: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Take some sequences, and some rows of them."""
    n = int(home.max()) + 1
    rows = np.arange(len(home))
    if n > _MOST_SEQUENCES:
        rows = rows[np.isin(home, generator.choice(n, _MOST_SEQUENCES, replace=False))]
    if len(rows) > _MOST_ROWS:
        rows = np.sort(generator.choice(rows, _MOST_ROWS, replace=False))
    return rows


def _links(X: np.ndarray, home: np.ndarray, n: int) -> np.ndarray:
    """Return the share of each sequence's rows whose nearest other sequence is each of the others."""
    squares = squared_distances(X, group_means(X, home, n))
    squares[np.arange(len(X)), home] = np.inf
    links = np.zeros((n, n))
    np.add.at(links, (home, squares.argmin(axis=1)), 1.0)
    return links / links.sum(axis=1, keepdims=True)


def _eigenvalues(links: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of the links in both directions, those of a sequence adding up to 1, largest first."""
    S = links + links.T
    degrees = S.sum(axis=1)
    return np.linalg.eigvalsh(S / np.sqrt(np.outer(degrees, degrees)))[::-1]


def _elsewhere(links: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return the same links, each sequence's to others at random, never to itself."""
    n = len(links)
    others = ~np.eye(n, dtype=bool)
    drawn = np.zeros_like(links)
    drawn[others] = generator.permuted(links[others].reshape(n, n - 1), axis=1).ravel()
    return drawn


_LEAST = 0.1  # agreement below which channels do not show the same things, and the rows are asked instead
_ROWS_COMPARED, _MOST_AGREED, _ROWS_EACH = 1000, 45, 8
_MOST_PAIRS = 28  # of channels whose clusters are compared
_NEARLY = 0.8  # of the best agreement
_CLEAR = 0.3  # relative gap from which a number is clear
_BESIDE = 0.5  # weight of the graph of all channels side by side, as a share of theirs
_FLOOR = 0.02  # keeps a fall between eigenvalues that are both 1 but for noise from looking large
_TOLERANCE, _STARTS = 1e-4, 2


def number_by_channels(parts: Sequence[Any], seed: int, generator: np.random.Generator) -> NumberOfClusters:
    """Choose a number of clusters: what channels agree on, or what the rows show where they agree on nothing.

    Parameters
    ----------
    parts : sequence of array-like of shape (n_rows, n_columns of the channel)
        The raw channels, dense or CSR; NaN where a row lacks one.
    seed : int
        Seed of the preparation.
    generator : Generator
        Draws rows and starts.
    """
    channels = [side_by_side([part], seed) for part in parts]
    whole = np.ones(len(channels[0]), dtype=bool)
    for part in parts:
        whole &= True if sp.issparse(part) else ~np.isnan(part).any(axis=1)
    agreed = agreed_number([rows[whole] for rows in channels], generator)
    return clearest_number(np.hstack(channels), generator) if agreed is None else agreed


def agreed_number(channels: Sequence[np.ndarray], generator: np.random.Generator) -> NumberOfClusters | None:
    """Choose the number of clusters that channels agree on; None where they do not, or where rows are too few.

    Parameters
    ----------
    channels : sequence of ndarray of shape (n_rows, n_columns of the channel)
        Prepared channels of the same total variance. Of many rows, some are taken.
    generator : Generator
        Draws rows and starts.
    """
    channels = _rows_compared(channels, generator)
    most = min(_MOST_AGREED, len(channels[0]) // _ROWS_EACH)
    channels = [rows for rows in channels if len(rows) and np.ptp(rows, axis=0).any()]
    if len(channels) < 2 or most < 3:
        return None
    tried = np.arange(2, most + 1)
    with without_library_warnings(), one_thread():
        operators = [NormalisedSum.of(_graph(rows, generator)) for rows in [*channels, np.hstack(channels)]]
        agreement = _agreement(operators[:-1], tried, generator)
        gaps = _gaps(operators, most, generator)
    mean = agreement.mean(axis=0)
    if mean.max() < _LEAST:
        return None
    errors = agreement.std(axis=0) / np.sqrt(len(agreement))
    best = max(np.flatnonzero(mean >= _NEARLY * mean.max()), key=lambda place: gaps[place])
    return NumberOfClusters(
        tried.tolist(), mean.tolist(), errors.tolist(), int(tried[best]), by="channels",
        is_clear=bool(gaps[best] >= _CLEAR),
    )  # fmt: skip


def _agreement(operators: Sequence[NormalisedSum], tried: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return how far the clusters of two channels are the same: pairs of channels by numbers of clusters."""
    labels = []
    for number, operator in enumerate(operators):
        report("number of clusters", number, len(operators), f"channel {number + 1} alone")
        labels.append(_clusters(operator, tried, generator))
    pairs = list(combinations(labels, 2))
    if len(pairs) > _MOST_PAIRS:
        pairs = [pairs[i] for i in generator.choice(len(pairs), _MOST_PAIRS, replace=False)]
    return np.array([[adjusted_mutual_info_score(*both) for both in zip(*pair)] for pair in pairs])


def _graph(rows: np.ndarray, generator: np.random.Generator) -> Any:
    return graph_of(rows, np.ones(len(rows), dtype=bool), generator)


def _clusters(operator: NormalisedSum, tried: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
    """Cluster the rows of the leading eigenvectors of one graph, with every number of clusters."""
    alone = AddedGraphs((operator,), (1.0,), None, 0.0)
    V = leading_eigenvectors(
        alone, int(tried[-1]), parts=alone.components(), generator=generator, tol=_TOLERANCE, dtype=operator.W.dtype
    )[1].astype(np.float64)
    return [KMeans(k, n_init=_STARTS, random_state=0).fit_predict(unit_rows(V[:, :k])) for k in tried.tolist()]


def _gaps(operators: Sequence[NormalisedSum], most: int, generator: np.random.Generator) -> np.ndarray:
    """Return the fall below each number's eigenvalue of all graphs together, relative to what the next lacks to 1."""
    n = len(operators) - 1
    added = AddedGraphs(tuple(operators), (1.0,) * n + (_BESIDE * n,), None, 0.0)
    values = leading_eigenvectors(
        added, most + 1, parts=added.components(), generator=generator, tol=_TOLERANCE, dtype=operators[0].W.dtype
    )[0] / (n + _BESIDE * n)
    return np.asarray((values[1:-1] - values[2:]) / (1.0 - values[2:] + _FLOOR))


def _rows_compared(channels: Sequence[np.ndarray], generator: np.random.Generator) -> list[np.ndarray]:
    n = len(channels[0])
    if n <= _ROWS_COMPARED:
        return list(channels)
    chosen = np.sort(generator.choice(n, _ROWS_COMPARED, replace=False))
    return [rows[chosen] for rows in channels]
