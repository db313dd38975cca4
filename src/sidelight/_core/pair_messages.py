"""Exact inference on a forest of pair answers, in O(K) a message, for many parameters at once.

An answer "same" has the table (1 - eps) on the diagonal and eps beside it, [P17] eq. (4.4), so a message is
eps sum_j b(j) + (1 - 2 eps) b(k), and (1 - eps) sum_j b(j) - (1 - 2 eps) b(k) for "different".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._core.forest import root_forest

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


def pair_marginals(P: Floats, forest: PairForest, eps: float) -> tuple[Floats, Floats]:
    """Return p(label of each row | answers) and the log probability of the answers; P has shape (..., n, K)."""
    up, scale = P.copy(), np.zeros(P.shape[:-2])
    messages = np.ones_like(P)
    for v in forest.order[::-1]:
        total = up[..., v, :].sum(axis=-1, keepdims=True)
        up[..., v, :] /= total
        scale += np.log(total[..., 0])
        parent = forest.parents[v]
        if parent >= 0:
            messages[..., v, :] = _message(up[..., v, :], bool(forest.same[v]), eps)
            up[..., parent, :] *= messages[..., v, :]
    q = up
    for v in forest.order:
        parent = forest.parents[v]
        if parent >= 0:
            without = q[..., parent, :] / messages[..., v, :]
            without /= without.sum(axis=-1, keepdims=True)
            q[..., v, :] = q[..., v, :] * _message(without, bool(forest.same[v]), eps)
            q[..., v, :] /= q[..., v, :].sum(axis=-1, keepdims=True)
    return q, scale


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


def _message(belief: Floats, same: bool, eps: float) -> Floats:
    total = belief.sum(axis=-1, keepdims=True)
    if same:
        return eps * total + (1 - 2 * eps) * belief
    return (1 - eps) * total - (1 - 2 * eps) * belief
