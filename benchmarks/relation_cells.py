"""One harness for everything that clusters with answers: a cell is a set, a kind of answers, how many, which method.

Cells live in one ledger, ``benchmarks/.work/relations.jsonl``, that the comparison and quality pages read.
Draws of answers depend on the set, the kind, the number and the draw only, so all methods see the same answers.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

import relation_sets
import sidelight as sl
from runner import Ledger
from sidelight.metrics import adjusted_rand_index, pair_precision_recall_f

DRAWS = int(os.environ.get("RELATIONS_DRAWS", "20"))  # of answers; lower it where the clock is short
SETS = [name for name in os.environ.get("RELATIONS_SETS", "").split(",") if name]  # only these; empty means all
STORED = bool(os.environ.get("RELATIONS_STORED"))  # write the pages from the cells that exist; compute none

THESIS_SETS = ("ionosphere", "pima", "balance", "digits-389", "letters-IJLT", "msrcv2-6", "hja")
PAIRS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # of N
TRIPLETS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
KMEANS_STARTS = 10  # of k-means after a metric; the thesis takes 50

Make = Callable[[int, int], Any]


def metric(name: str) -> Make:
    """k-means in a metric."""
    return lambda K, seed: sl.peers.MetricKMeans(K, metric=name, n_init=KMEANS_STARTS, random_state=seed)


def thesis(of: Callable[..., Any] = sl.DiscriminativeClustering, **settings: Any) -> Make:
    """The thesis' method with tau = 1 and lambda = 2^-6, the middle of its grid."""
    return lambda K, seed: of(K, objective="variational", random_state=seed, **settings)


METHODS: dict[str, Make] = {
    "k-means": lambda K, seed: KMeans(K, n_init=KMEANS_STARTS, random_state=seed),
    "ours": lambda K, seed: sl.DiscriminativeClustering(K, random_state=seed),
    "DC": thesis(),
    "DC hard": thesis(eps=0, on_conflict="soften"),
    "DC without none": thesis(of=relation_sets.WithoutNone),
    "Xing": metric("mmc"),
    "ITML": metric("itml"),
    "LSML": metric("lsml"),
    "SCML": metric("scml"),
    "sparse LP": metric("sparse-lp"),
    "constrained EM": lambda K, seed: sl.peers.ConstrainedGaussianMixture(K, n_init=1, random_state=seed),
    "SSSVaD": lambda K, seed: sl.peers.SSSVaD(K, n_init=5, random_state=seed),
    "COP-KMeans": lambda K, seed: sl.peers.COPKMeans(K, n_init=3, random_state=seed),
    "PCK-Means": lambda K, seed: sl.peers.PCKMeans(K, n_init=3, random_state=seed),
    "MPCK-Means": lambda K, seed: sl.peers.MPCKMeans(K, random_state=seed),
    "propagation": lambda K, seed: sl.peers.ConstraintPropagation(K, random_state=seed),
}


class Cell(NamedTuple):
    """What is fitted: ``share`` answers a row, of which ``wrong`` are wrong."""

    set: str
    kind: str  # "pairs" or "triplets"
    share: float
    method: str
    draw: int
    wrong: float = 0.0

    @property
    def key(self) -> str:
        """Its name in the ledger."""
        return f"{self.set}/{self.kind}/{self.share:g}/{self.method}/{self.wrong:g}/{self.draw}"


def compute(cell: Cell) -> dict[str, Any]:
    """Fit one cell and judge it by the truth."""
    X, y = relation_sets.load(cell.set)
    kind = sl.Pairs if cell.kind == "pairs" else sl.Triplets
    answers = kind.sample(y, round(cell.share * len(y)), noise=cell.wrong, random_state=1000 + cell.draw)
    model = METHODS[cell.method](len(np.unique(y)), cell.draw)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            labels = model.fit(X, **({} if cell.method == "k-means" else {cell.kind: answers})).labels_
        except sl.SidelightError as error:
            return {"refused": type(error).__name__}
    seconds = time.perf_counter() - begin
    cell_values = {
        "ari": float(adjusted_rand_index(y, labels)),
        "f": float(pair_precision_recall_f(y, labels).f),
        "seconds": round(seconds, 3),
    }
    if cell.method == "ours":
        cell_values["by features"] = float(adjusted_rand_index(y, model.predict(X)))
    return cell_values


def run(cells: Iterable[Cell], stage: str) -> dict[str, Any]:
    """Compute the cells that are missing, all sets and methods of a draw before the next draw; return what is there."""
    ledger = Ledger("relations", source="relation_cells.py")
    wanted = [cell for cell in cells if not SETS or cell.set in SETS]
    computed = [(cell.key, partial(compute, cell)) for cell in wanted]
    ledger.run(computed, stage=stage, minutes=0 if STORED else math.inf)
    return ledger.cells


def every_draw(
    sets: Sequence[str],
    kinds: Sequence[tuple[str, Sequence[float]]],
    methods: Sequence[str],
    wrong: float = 0.0,
    draws: int = DRAWS,
) -> list[Cell]:
    """List cells, draws outermost, so that a run that is stopped early has whole draws."""
    return [
        Cell(name, kind, share, method, draw, wrong)
        for draw in range(draws)
        for name in sets
        for kind, shares in kinds
        for share in shares
        for method in methods
        if wrong == 0 or method != "k-means"
    ]


def values(
    found: dict[str, Any],
    name: str,
    kind: str,
    share: float,
    method: str,
    measure: str = "ari",
    wrong: float = 0.0,
    n_draws: int = 100,
) -> np.ndarray:
    """Return one measure of the first ``n_draws`` draws that are there; k-means sees no answers, right or wrong."""
    shown = []
    for draw in range(n_draws):
        cell = Cell(name, kind, share, method, draw, 0.0 if method == "k-means" else wrong)
        if cell.key in found and measure in found[cell.key]:
            shown.append(found[cell.key][measure])
    return np.array(shown)


def refusals(found: dict[str, Any], name: str, kind: str, share: float, method: str, wrong: float = 0.0) -> int:
    """Count the draws that a method refused."""
    keys = (Cell(name, kind, share, method, draw, wrong).key for draw in range(100))
    return sum("refused" in found[key] for key in keys if key in found)


def written(numbers: np.ndarray, *, spread: bool = True) -> str:
    """Write mean and standard error; nothing where there is no draw."""
    if not len(numbers):
        return ""
    error = f" ± {numbers.std(ddof=1) / np.sqrt(len(numbers)):.3f}" if spread and len(numbers) > 1 else ""
    return f"{numbers.mean():.3f}{error}"
