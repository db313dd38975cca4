"""The protocol of [P17] 3.3: methods whose parameters are chosen by five folds of answers, and one cell of its figures.

The thesis chooses parameters for every draw; here they are chosen once for each set and kind of answers, on the answers
of the first draw in the middle of the range, and kept for all draws and numbers. No truth is looked at for it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

import relation_sets
import sidelight as sl
from runner import Ledger
from sidelight.data.splits import AnswerKFold
from sidelight.metrics import adjusted_rand_index, pair_precision_recall_f

DRAWS = int(os.environ.get("RELATIONS_DRAWS", "20"))
MOST = {"hja": int(os.environ.get("RELATIONS_HJA", "5"))}  # draws of a set that takes more than half of the time
STORED = bool(os.environ.get("RELATIONS_STORED"))  # write the page from the cells that exist; compute none
SETS = ("ionosphere", "pima", "balance", "digits-389", "letters-IJLT", "msrcv2-6", "hja")
PAIRS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # of N
TRIPLETS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
EQUAL_PAIRS = tuple(round(1.5 * share, 3) for share in TRIPLETS)  # as many rows in answers as TRIPLETS
MIDDLE = {"pairs": 0.3, "triplets": 0.15}
EPS = 0.05
Settings = dict[str, Any]


def _metric(made: Callable[..., Any]) -> Callable[..., Any]:
    return lambda K, seed, **settings: sl.peers.MetricKMeans(K, metric=made(**settings), n_init=50, random_state=seed)


def _dc(of: Callable[..., Any] = sl.DiscriminativeClustering, **fixed: Any) -> Callable[..., Any]:
    def make(K: int, seed: int, **settings: Any) -> Any:
        settings = {"eps": EPS, **settings, **fixed}
        return of(K, objective="variational", random_state=seed, **settings)

    return make


METHODS: dict[str, Callable[..., Any]] = {
    "k-means": lambda K, seed: KMeans(K, n_init=50, random_state=seed),
    "Xing": _metric(sl.peers.DiagonalMMC),
    "ITML": _metric(sl.peers.ITML),
    "constrained EM": lambda K, seed, **s: sl.peers.ConstrainedGaussianMixture(K, random_state=seed, **s),
    "LSML": _metric(sl.peers.LSML),
    "SSSVaD": lambda K, seed, **s: sl.peers.SSSVaD(K, n_init=5, random_state=seed, **s),
    "sparse LP": _metric(sl.peers.SparseLPMetric),
    "DC": _dc(),
    "DC without none": _dc(relation_sets.WithoutNone),
    "DC hard": _dc(eps=0, on_conflict="soften"),
    "ours": lambda K, seed: sl.DiscriminativeClustering(K, random_state=seed),
}
GRIDS: dict[str, list[Settings]] = {
    "DC": [
        {"tau": tau, "penalty": 2.0 * lam} for tau, lam in product((0.5, 1.0, 1.5), [2.0**p for p in range(-10, -1, 2)])
    ],
    "ITML": [{"gamma": gamma} for gamma in (0.01, 0.1, 1.0, 10.0)],
    "constrained EM": [{"ridge": ridge} for ridge in (0.001, 0.01, 0.1)],
    "LSML": [{"penalty": penalty} for penalty in (0.001, 0.01, 0.1, 1.0)],
    "SSSVaD": [{"trade": trade} for trade in (0.1, 1.0, 10.0)],
    "sparse LP": [{"penalty": penalty} for penalty in (0.001, 0.01, 0.1, 1.0)],
}  # of DC the thesis' own (its lambda is half our penalty); the thesis does not print those of the others
TUNED = {"DC without none": "DC", "DC hard": "DC"}  # share the parameters of DC


class Cell(NamedTuple):
    """What is fitted: ``share`` answers a row, of which ``wrong`` are wrong; ``eps`` other than 0.05 if given."""

    set: str
    kind: str
    share: float
    method: str
    draw: int
    wrong: float = 0.0
    eps: float | None = None

    @property
    def key(self) -> str:
        """Its name in the ledger."""
        eps = "" if self.eps is None else f"/eps={self.eps:g}"
        return f"{self.set}/{self.kind}/{self.share:g}/{self.method}{eps}/{self.wrong:g}/{self.draw}"


def answers_of(cell: Cell) -> Any:
    """The answers of a draw; all methods see the same."""
    _, y = relation_sets.load(cell.set)
    kind = sl.Pairs if cell.kind == "pairs" else sl.Triplets
    return kind.sample(y, round(cell.share * len(y)), noise=cell.wrong, random_state=1000 + cell.draw)


def tune(name: str, kind: str, method: str) -> Settings:
    """Return the settings whose clusters agree with most held-out answers, five folds."""
    grid = GRIDS.get(method, [{}])
    if len(grid) == 1:
        return grid[0]
    answers = answers_of(Cell(name, kind, MIDDLE[kind], method, 0))
    folds = list(AnswerKFold(5, random_state=0).split(answers))
    right = [sum(_agreed(_labels(name, kind, method, s, train, 0), test) for train, test in folds) for s in grid]
    return grid[int(np.argmax(right))]


def compute(cell: Cell, settings: Settings) -> dict[str, float]:
    """Fit one cell and judge it by the truth."""
    _, y = relation_sets.load(cell.set)
    settings = settings if cell.eps is None else {**settings, "eps": cell.eps}
    labels = _labels(cell.set, cell.kind, cell.method, settings, answers_of(cell), cell.draw)
    return {
        "f": round(float(pair_precision_recall_f(y, labels).f), 5),
        "ari": round(float(adjusted_rand_index(y, labels)), 5),
        "nmi": round(float(normalized_mutual_info_score(y, labels)), 5),
    }


def _labels(name: str, kind: str, method: str, settings: Settings, answers: Any, seed: int) -> np.ndarray:
    X, y = relation_sets.load(name)
    model = METHODS[method](len(np.unique(y)), seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(model.fit(X, **({} if method == "k-means" else {kind: answers})).labels_)


def _agreed(labels: np.ndarray, answers: Any) -> int:
    """Count the answers that clusters give, too."""
    of = labels[answers.rows]
    if of.shape[1] == 2:
        return int(((of[:, 0] == of[:, 1]) == answers.same).sum())
    alike = np.column_stack([of[:, 1] == of[:, 2], of[:, 0] == of[:, 2], of[:, 0] == of[:, 1]])  # without a, b, c
    odd = np.where(alike.sum(axis=1) == 1, alike.argmax(axis=1), -1)
    return int((odd == answers.odd).sum())


def run(cells: Iterable[Cell], stage: str) -> dict[str, Any]:
    """Choose parameters and compute what is missing; return what is there."""
    ledger = Ledger("relations_thesis", source="relation_thesis.py")
    minutes = 0 if STORED else np.inf
    cells = list(cells)
    needed = dict.fromkeys((cell.set, cell.kind, TUNED.get(cell.method, cell.method)) for cell in cells)
    tuning = [(f"tune/{'/'.join(key)}", partial(tune, *key)) for key in needed if key[2] in GRIDS]
    chosen = ledger.run(tuning, stage=f"{stage}: parameters", minutes=minutes)

    def work(cell: Cell) -> dict[str, float]:
        method = TUNED.get(cell.method, cell.method)
        return compute(cell, chosen.get(f"tune/{cell.set}/{cell.kind}/{method}", {}))

    ledger.run([(cell.key, partial(work, cell)) for cell in cells], stage=stage, minutes=minutes)
    return ledger.cells


def every_draw(kind: str, shares: Iterable[float], methods: Iterable[str], **more: Any) -> list[Cell]:
    """List cells, draws outermost, so that a run that is stopped early has whole draws."""
    return [
        Cell(name, kind, share, method, draw, **more)
        for draw in range(DRAWS)
        for name in SETS
        if draw < MOST.get(name, DRAWS)
        for share in shares
        for method in methods
    ]


def values(found: dict[str, Any], cell: Cell, measure: str = "f") -> np.ndarray:
    """Return one measure of a cell over the draws that are there."""
    keys = [cell._replace(draw=draw).key for draw in range(DRAWS)]
    return np.array([found[key][measure] for key in keys if key in found])
