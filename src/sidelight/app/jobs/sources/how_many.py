"""How many clusters of sequences: as many as groups of sequences that find each other.

Rows of one sequence are alike because they are of one day, so halves of the rows would confirm every single day. Here
each row looks for the nearest mean among the *other* sequences, channel by channel: days of one person find each other.
The links of k groups that nobody leaves would have k eigenvalues of 1; real links have k large ones. Large is what
exceeds chance (parallel analysis, Horn 1965): the same links, each sequence's to others at random.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight._core.prototypes import group_means, squared_distances
from sidelight._core.threads import one_thread
from sidelight.estimators._how_many import NumberOfClusters
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
