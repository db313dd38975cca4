"""How many clusters: where the eigenvalues of the rows' graph fall off, or what other rows tell most about.

The nearest-neighbour graph of K groups that hardly touch has K eigenvalues near 1 and then a gap (von Luxburg, 2007,
section 8.3). The gap below the K-th is taken relative to what is missing to 1 beneath it, or the first, trivial, fall
would win most of the time. A number counts only if its clusters come back from parts of the rows; of those with nearly
the largest gap the largest is taken.

Texts and other rows whose kinds touch have no such gap, or one where a single kind stands apart from all others. So
clusters of every number are also judged by other rows (:mod:`sidelight.estimators._judge`), relative to a cloud of the
same covariance that has no clusters: where that speaks for another number much more, that number is taken, and where
nothing speaks for any, two. No labels are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from sidelight.estimators._judge import NEAREST, Judge, leading_components
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
_TOLERANCE, _STARTS, _RACED = 1e-4, 5, 3
_JUDGED = (*range(2, 11), 12, 14, 17, 20, 24, 29, 35, 42)  # numbers that are judged: a grid that widens
_STANDS = 0.8  # of the best excess over a cloud, which the number below a clear gap has where kinds lie apart (blobs)
_ABOVE = 0.15  # of that excess: clouds, balls and one skewed lump reach .11


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
        What was asked: the graph of the "rows", what other rows tell ("told"), halves of the code books ("words"),
        "sequences", "channels", parts of the "counts" or of the "answers", or what answers prove ("proof").
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
    """Try numbers of clusters from 2 on and choose one by the rows.

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
        by_gaps, spectrum = _by_gaps(Z, most, generator)
        if len(Z) <= NEAREST or most < 3:
            return by_gaps
        excess = _excess(Z, spectrum, [k for k in _JUDGED if k <= most], generator)
    best = max(excess, key=excess.__getitem__)
    nearest = min(excess, key=lambda k: abs(k - by_gaps.chosen))
    if excess[best] < _ABOVE or (by_gaps.is_clear and excess[nearest] >= _STANDS * excess[best]):
        return by_gaps
    return NumberOfClusters([*excess], [*excess.values()], [0.0] * len(excess), best, by="told", is_clear=False)


def _by_gaps(Z: np.ndarray, most: int, generator: np.random.Generator) -> tuple[NumberOfClusters, Spectrum]:
    """Choose by the gaps of the eigenvalues, and return the spectrum of all rows."""
    whole = Spectrum.of(Z, most + 1, generator)
    parts = []
    for number in range(_PARTS):
        report("number of clusters", number, _PARTS + 1, f"part {number + 1} of the rows")
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
    found = NumberOfClusters(tried, gaps.tolist(), errors.tolist(), chosen, is_clear=bool(clear))
    return found, whole


def _excess(
    Z: np.ndarray, spectrum: Spectrum, tried: Sequence[int], generator: np.random.Generator
) -> dict[int, float]:
    """Return how much more other rows tell about clusters than in a normal cloud of the same covariance."""
    report("number of clusters", _PARTS, _PARTS + 1, "judged by other rows")
    rows = leading_components(Z - Z.mean(axis=0))
    cloud = generator.normal(size=rows.shape) * rows.std(axis=0)
    of_rows = _told(rows, spectrum, tried, generator)
    of_cloud = _told(cloud, Spectrum.of(cloud, max(tried) + 1, generator), tried, generator)
    return {k: own - chance for k, own, chance in zip(tried, of_rows, of_cloud)}


def _told(
    rows: np.ndarray, spectrum: Spectrum, tried: Sequence[int], generator: np.random.Generator
) -> Iterator[float]:
    """Yield how much other rows tell about clusters of each number: those of the graph or of k-means."""
    judge = Judge(rows, generator)
    for k in tried:
        ways = spectrum.clusters(k), KMeans(k, n_init=_RACED, random_state=0).fit(rows).labels_
        yield max(judge.score(np.unique(labels, return_inverse=True)[1], k) for labels in ways)


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
