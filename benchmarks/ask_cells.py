"""One cell of [P17] 4.4: a set, a method and a run give a curve of pairwise F over the number of answers.

Random pairs depend on the set and the run only, so all methods see the same ones. Cells live in the ledger
``benchmarks/.work/ask_fidelity.jsonl``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import sidelight as sl
from relation_sets import load
from sidelight._core.forest import components, spanning_edges
from sidelight._core.simplex import binary_entropy
from sidelight.active.particle_belief import PairForest, pair_marginals
from sidelight.metrics import pair_precision_recall_f

QUESTIONS = {  # table 4.1
    "fertility": 60,
    "parkinsons": 60,
    "crabs": 60,
    "sonar": 100,
    "balance": 100,
    "transfusion": 100,
    "letters-IJ": 100,
    "digits-389": 100,
}
STEP = 10
DROPPED_AT = (10, 20, 30, 40, 50, 60)  # table 4.2
CLUSTERERS: dict[str, Callable[[int, int], Any]] = {
    "ITML": lambda K, seed: sl.peers.MetricKMeans(K, n_init=10, random_state=seed),
    "MPCK-Means": lambda K, seed: sl.peers.MPCKMeans(K, random_state=seed),
}
CENTRES = {"BC": "zero", "start BC": "start", "either BC": "either"}  # where the Gaussian of (4.3) is centred


class Cell(NamedTuple):
    """One curve: ``BC+tree``, ``info+start BC``, ``npu+ITML``; of other parameters, ``tau=0.5``, its end only."""

    set: str
    method: str
    run: int
    parameter: str = ""

    @property
    def key(self) -> str:
        """Its name in the ledger."""
        return "/".join(filter(None, (self.set, self.method, self.parameter, str(self.run))))


def compute(cell: Cell) -> dict[str, Any]:
    """Return the pairwise F measure after every ``STEP`` answers and, of chosen pairs, how many were passed over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left, _, right = cell.method.partition("+")
        return _passive(cell, left, bool(right)) if right in ("", "tree") else _active(cell, left, right)


def thesis(
    K: int, seed: int, criterion: str = "info", centre: str = "zero", parameter: str = ""
) -> sl.BayesianActiveClustering:
    """The method as the thesis sets it up, with one parameter changed if there is one."""
    settings: dict[str, Any] = {"eps": 0.05, "tau": 1.0, "penalty": 10.0}
    name, _, value = parameter.partition("=")
    settings |= {name: float(value)} if name else {}
    return sl.BayesianActiveClustering(K, criterion, centre=centre, n_particles="thesis", random_state=seed, **settings)


def random_pairs(name: str, run: int) -> sl.Pairs:
    """Four times as many pairs as are needed, so that a forest of them is large enough."""
    _, y = load(name)
    return sl.Pairs.sample(y, 4 * QUESTIONS[name], random_state=1000 + run)


def _passive(cell: Cell, method: str, in_forest: bool) -> dict[str, Any]:
    X, y = load(cell.set)
    K, budget = len(np.unique(y)), QUESTIONS[cell.set]
    drawn = random_pairs(cell.set, cell.run)
    if in_forest:
        drawn = drawn.only(spanning_edges(drawn.left, drawn.right, len(y)))
    scores = {}
    for at in range(budget if cell.parameter else STEP, budget + 1, STEP):
        model = (
            thesis(K, cell.run, centre=CENTRES[method], parameter=cell.parameter)
            if method in CENTRES
            else CLUSTERERS[method](K, cell.run)
        )
        scores[str(at)] = _f(y, model.fit(X, pairs=drawn.only(np.arange(min(at, drawn.n_answers)))).labels_)
    return {"f": scores}


def _active(cell: Cell, strategy: str, method: str) -> dict[str, Any]:
    X, y = load(cell.set)
    K, oracle = len(np.unique(y)), sl.Oracle(y)
    if method in CENTRES:
        session = thesis(K, cell.run, strategy, CENTRES[method], cell.parameter).start(X)
    else:
        belief = CLUSTERERS[method](K, cell.run)
        session = sl.ActiveSession(X, K, strategy=strategy, belief=belief, random_state=cell.run)
    scores, dropped = {}, {}
    for at in range(1, QUESTIONS[cell.set] + 1):
        question = session.ask()
        if method == "BC" and not cell.parameter and at in DROPPED_AT:
            dropped[str(at)] = n_dropped(session._belief, question.gain, strategy)
        session.tell(question, oracle(question))
        if at % STEP == 0 and (not cell.parameter or at == QUESTIONS[cell.set]):
            scores[str(at)] = _f(y, session.labels_)
    return {"f": scores} | ({"dropped": dropped} if dropped else {})


def n_dropped(belief: Any, gain: float, criterion: str) -> int:
    """Count the pairs that close a cycle, were not asked, and would have a larger gain than the pair that is asked.

    Both rows of such a pair lie in one tree of answers, so that their labels depend on each other: how alike they are
    is inferred exactly, by fixing the label of one row and passing messages to the others.
    """
    tree = components(belief.left, belief.right, belief.n_rows)
    count = 0
    for number in np.unique(tree[belief.left]):
        rows = np.flatnonzero(tree == number)
        if len(rows) < 3:
            continue
        inside = tree[belief.left] == number
        left, right = (np.searchsorted(rows, ends[inside]) for ends in (belief.left, belief.right))
        forest = PairForest.of(left, right, belief.same[inside].astype(bool), len(rows))
        same = belief.eps + (1 - 2 * belief.eps) * alike(belief.rules(belief.particles, rows), forest, belief.eps)
        gains = binary_entropy(same.mean(axis=0))
        if criterion == "info":
            gains = gains - binary_entropy(same).mean(axis=0)
        gains[left, right] = gains[right, left] = -np.inf  # were asked
        count += int((gains[np.triu_indices(len(rows), 1)] > gain).sum())
    return count


def alike(P: np.ndarray, forest: PairForest, eps: float) -> np.ndarray:
    """Return p(two rows have the same label | answers) of all pairs of rows in one tree; P has shape (S, m, K)."""
    q, _ = pair_marginals(P, forest, eps)
    S, m, K = P.shape
    together = np.empty((S, m, m))
    for row in range(m):
        total = np.zeros((S, m))
        for k in range(K):
            fixed = P.copy()
            fixed[:, row] = np.eye(K)[k]
            total += q[:, row, k, None] * pair_marginals(fixed, forest, eps)[0][:, :, k]
        together[:, row] = total
    return together


def _f(y: np.ndarray, labels: np.ndarray) -> float:
    return round(float(pair_precision_recall_f(y, labels).f), 4)
