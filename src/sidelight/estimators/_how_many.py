"""How many clusters: where the eigenvalues of the rows' graph fall off, if the clusters there come back.

The nearest-neighbour graph of K groups that hardly touch has K eigenvalues near 1 and then a gap (von Luxburg, 2007,
section 8.3). The gap below the K-th is taken relative to what is missing to 1 beneath it, or the first, trivial, fall
would win most of the time. A number counts only if its clusters come back from parts of the rows; of those with nearly
the largest gap the largest is taken. No labels are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import graph_local_scaling
from sidelight._affinity.spectral import NormalisedSum, leading_eigenvectors, unit_rows
from sidelight._core.process import one_thread, without_library_warnings
from sidelight.estimators._choice import Choice
from sidelight.metrics import adjusted_rand_index
from sidelight.progress import report

_MOST_ROWS, _MOST_CLUSTERS, _MOST_DIRECTIONS = 2000, 45, 20
_ROWS_EACH = 8  # rows a cluster needs at least, on average
_NEIGHBOURS = 10
_PARTS, _SHARE = 4, 0.7  # how many parts of the rows are clustered again, and how large they are
_CANDIDATES = 8  # numbers with the largest gaps, whose clusters are looked for again
_COMES_BACK, _CLEAR_GAP = 0.9, 0.15  # mean adjusted Rand index, and relative gap, from which a number is clear
_NEARLY = 0.7  # of the largest such gap: of numbers that are nearly as clear the largest is taken
_FLOOR = 0.02  # keeps a fall between eigenvalues that are both 1 but for noise from looking large
_TOLERANCE, _STARTS = 1e-4, 5


@dataclass(frozen=True, slots=True, eq=False)
class NumberOfClusters:
    """How well every number of clusters that was tried does, and the one in use.

    Attributes
    ----------
    tried, scores, errors : sequences
        Numbers of clusters, a score of each (higher is better) and its standard error.
    chosen : int
        The number in use.
    by : str
        What was asked: the graph of the "rows", halves of the code books ("words"), "sequences", "channels", parts of
        the "counts" or of the "answers", or what answers prove ("proof").
    of : str
        The axis, where each has a number of its own.
    is_clear : bool
        Whether the chosen number comes back well.
    seeds_agree : float or None
        Mean adjusted Rand index between the clusters of several seeds of the method; None where nobody tried.
    """

    tried: Sequence[int]
    scores: Sequence[float]
    errors: Sequence[float]
    chosen: int
    by: str = "rows"
    of: str = ""
    is_clear: bool = True
    seeds_agree: float | None = None

    @classmethod
    def of_choice(
        cls, choice: Choice, by: str, is_clear: Callable[[float, float], bool], of: str = ""
    ) -> NumberOfClusters:
        """Return what one loop over candidates tried; ``is_clear`` asks the score in use and its error."""
        tried = [k[0] if isinstance(k, tuple) else k for k in choice["tried"]]
        place = choice["tried"].index(choice["chosen"])
        clear = is_clear(choice["scores"][place], choice["errors"][place])
        return cls(tried, choice["scores"], choice["errors"], tried[place], by=by, of=of, is_clear=clear)

    @property
    def score(self) -> float:
        """The score of the number in use; of the best that was tried, where it is 1 because none of them gained."""
        tried = list(self.tried)
        return float(self.scores[tried.index(self.chosen)] if self.chosen in tried else max(self.scores))


def clearest_number(points: np.ndarray, generator: np.random.Generator) -> NumberOfClusters:
    """Try numbers of clusters from 2 on and choose one by the eigenvalues of the graph of the rows.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        Prepared rows. Of many, some are taken.
    generator : Generator
        Draws rows and parts of them.
    """
    most = min(_MOST_CLUSTERS, len(points) // _ROWS_EACH)
    if most < 2 or not np.ptp(points, axis=0).any():  # too few rows to ask, or rows that are all the same
        return NumberOfClusters([1], [1.0], [0.0], 1)
    with without_library_warnings(), one_thread():
        Z = _compact(np.asarray(points, dtype=np.float64), generator)
        most = min(most, len(Z) // _ROWS_EACH)
        whole = Spectrum.of(Z, most + 1, generator)
        parts = []
        for number in range(_PARTS):
            report("number of clusters", number, _PARTS, f"part {number + 1} of the rows")
            rows = np.sort(generator.choice(len(Z), int(_SHARE * len(Z)), replace=False))
            parts.append((rows, Spectrum.of(Z[rows], most + 1, generator)))
        gaps = whole.gaps
        tried = list(range(2, len(gaps) + 2))
        clear = {}
        for place in np.argsort(-gaps, kind="stable")[:_CANDIDATES]:
            labels = whole.clusters(tried[place])
            again = [adjusted_rand_index(labels[rows], part.clusters(tried[place])) for rows, part in parts]
            if gaps[place] >= _CLEAR_GAP and np.mean(again) >= _COMES_BACK:
                clear[tried[place]] = gaps[place]
    chosen = max((k for k in clear if clear[k] >= _NEARLY * max(clear.values())), default=tried[0])
    errors = np.std([part.gaps[: len(gaps)] for _, part in parts], axis=0)
    return NumberOfClusters(tried, gaps.tolist(), errors.tolist(), chosen, is_clear=bool(clear))


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The leading eigenvalues of the normalised graph of some rows, and their vectors."""

    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(
        cls, Z: np.ndarray, n_vectors: int, generator: np.random.Generator, *, n_neighbours: int = _NEIGHBOURS
    ) -> Spectrum:
        """Join every row to those nearest to it; fewer vectors come back where rows are few."""
        n_nearest = min(n_neighbours, max(3, len(Z) // 10))
        W = graph_local_scaling(nearest_rows(Z, n_nearest, generator=generator))[0]
        parts = connected_components(W, directed=False)[1]
        k = min(n_vectors, len(Z) - 2)
        found = leading_eigenvectors(
            NormalisedSum.of(W), k, parts=parts, generator=generator, tol=_TOLERANCE, dtype=W.dtype
        )
        return cls(*found)

    @property
    def gaps(self) -> np.ndarray:
        """The fall below the second, third, ... eigenvalue, relative to what the next is short of 1."""
        above, below = self.values[1:-1], self.values[2:]
        return np.asarray((above - below) / (1.0 - below + _FLOOR))

    def clusters(self, k: int) -> np.ndarray:
        """Cluster the rows of the first k vectors, as [PF14] algorithm 1 does."""
        rows = unit_rows(self.vectors[:, :k].astype(np.float64))
        return np.asarray(KMeans(k, n_init=_STARTS, random_state=0).fit(rows).labels_)


def _compact(points: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Take some rows and the directions in which they differ most."""
    if len(points) > _MOST_ROWS:
        points = points[np.sort(generator.choice(len(points), _MOST_ROWS, replace=False))]
    width = min(_MOST_DIRECTIONS, *points.shape)
    if width >= points.shape[1]:
        return points
    return np.asarray(PCA(width, svd_solver="full").fit_transform(points))
