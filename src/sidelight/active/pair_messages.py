"""Exact inference on a forest of pair answers, in O(K) a message, for many parameters at once.

An answer "same" has the table (1 - eps) on the diagonal and eps beside it, [P17] eq. (4.4), so a message is
eps sum_j b(j) + (1 - 2 eps) b(k), and (1 - eps) sum_j b(j) - (1 - 2 eps) b(k) for "different".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._core.forest import root_forest
from sidelight._core.kernels import kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


class PairForest(NamedTuple):
    """Answers that close no cycle, hung from the lowest row of each tree."""

    parents: Ints
    same: npt.NDArray[np.bool_]  # the answer about each row and its parent; of no meaning at roots
    order: Ints  # every row after its parent

    @classmethod
    def of(cls, left: Ints, right: Ints, same: npt.NDArray[np.bool_], n_rows: int) -> PairForest:
        """Hang the answers; :class:`~sidelight.errors.InvalidData` when they close a cycle."""
        hung = root_forest(left, right, n_rows)
        along = np.zeros(n_rows, dtype=bool)
        has_parent = hung.edges >= 0
        along[has_parent] = same[hung.edges[has_parent]]
        return cls(hung.parents, along, hung.order)


@kernel("float64(float64[::1])")
def _normalise(weights: Floats) -> float:
    total = weights.sum()
    weights /= total
    return total


@kernel("void(float64[::1], boolean, float64, float64[::1])")
def _message(belief: Floats, same: bool, eps: float, message: Floats) -> None:
    """Write what a row tells its neighbour; ``belief`` sums to 1."""
    for k in range(len(belief)):
        message[k] = eps + (1 - 2 * eps) * belief[k] if same else (1 - eps) - (1 - 2 * eps) * belief[k]


def pair_marginals(P: Floats, forest: PairForest, eps: float) -> tuple[Floats, Floats]:
    """Return p(label of each row | answers) and the log probability of the answers; P has shape (..., n, K)."""
    q = np.array(P, dtype=np.float64, order="C")
    many = q.reshape(-1, *q.shape[-2:])
    log_Z = _pass_messages(many, forest.parents, forest.same, forest.order, eps, True)
    return many.reshape(q.shape), log_Z.reshape(q.shape[:-2])


def log_likelihood(P: Floats, forest: PairForest, eps: float) -> Floats:
    """Return the log probability of the answers alone, which needs the messages up the trees only."""
    many = np.array(P, dtype=np.float64, order="C").reshape(-1, *P.shape[-2:])
    return _pass_messages(many, forest.parents, forest.same, forest.order, eps, False).reshape(P.shape[:-2])


@kernel("float64[::1](float64[:, :, ::1], intp[::1], boolean[::1], intp[::1], float64, boolean)")
def _pass_messages(
    q: Floats, parents: Ints, same: npt.NDArray[np.bool_], order: Ints, eps: float, down: bool
) -> Floats:
    """Turn P into the marginals, in place: from the leaves up, and ``down`` again; return log p(answers)."""
    n_tables, n, K = q.shape
    log_Z, messages, without = np.zeros(n_tables), np.ones((n, K)), np.empty(K)
    for s in range(n_tables):
        for at in range(n - 1, -1, -1):
            v = order[at]
            log_Z[s] += np.log(_normalise(q[s, v]))
            if parents[v] >= 0:
                _message(q[s, v], same[v], eps, messages[v])
                q[s, parents[v]] *= messages[v]
        for v in order:
            if down and parents[v] >= 0:
                without[:] = q[s, parents[v]] / messages[v]
                _normalise(without)
                _message(without, same[v], eps, messages[v])
                q[s, v] *= messages[v]
                _normalise(q[s, v])
    return log_Z


def best_labels(P: Floats, forest: PairForest, eps: float) -> Ints:
    """Return the most probable labels of all rows together; P has shape (n, K), eps is above 0."""
    log_P = np.log(np.maximum(P, 1e-300))
    agree, differ = np.log(1 - eps), np.log(eps)
    score, choice = log_P.copy(), np.zeros(P.shape, dtype=np.intp)
    for v in forest.order[::-1]:
        parent = forest.parents[v]
        if parent < 0:
            continue
        on, off = (agree, differ) if forest.same[v] else (differ, agree)
        first = int(score[v].argmax())
        others = score[v].copy()
        others[first] = -np.inf
        second = int(others.argmax()) if len(others) > 1 else first
        best_other = np.where(np.arange(len(others)) == first, second, first)
        stay, leave = score[v] + on, score[v][best_other] + off
        if len(others) == 1:
            leave = np.full(1, -np.inf)
        choice[v] = np.where(stay >= leave, np.arange(len(others)), best_other)
        score[parent] += np.maximum(stay, leave)
    labels = np.empty(len(P), dtype=np.intp)
    for v in forest.order:
        parent = forest.parents[v]
        labels[v] = score[v].argmax() if parent < 0 else choice[v, labels[parent]]
    return labels
