"""Exact passes over trees of on/off labels with gaps: posteriors, posteriors of pairs, and the best states.

The model of [P17] table 5.1, one row at a time, g_c = sigma(scores[c]):

    P(y_c = 1 | y_parent = 1) = g_c      P(y_c = 1 | y_parent = 0) = eps      (a label under the root: g_c)
    P(z_c = 1 | y_c = 1) = 1 - alpha_c   P(z_c = 1 | y_c = 0) = 0             (z_c = -1: not checked, no evidence)

The way up multiplies messages; the way down multiplies conditionals a_c = Q(y_c = 1 | y_parent = 1) and
b_c = Q(y_c = 1 | y_parent = 0), so nothing divides by a posterior as [P17] eq. (5.5) does (it is 0 wherever a label
was seen). Z is int8 because it is as large as the scores. Every sum over rows is taken block by block in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight._core.forest import parents_first
from sidelight._core.kernels import kernel
from sidelight._core.process import for_each_in_threads

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Entries = NDArray[np.int8]

_ENTRIES = 1 << 17  # entries a task: some milliseconds, about what the start of threads costs
_LEAST = 1e-300  # stands for a probability of 0 in a logarithm
_PAIR_BLOCKS = 8  # partial sums over pairs of labels, a matrix each


class Posterior(NamedTuple):
    """What one pass over the rows gives."""

    on: Floats  # Q[i, c] = P(y_c = 1 | everything seen on row i)
    on_given_on: Floats  # a[i, c] = Q(y_c = 1 | y_parent = 1)
    on_given_off: Floats  # b[i, c] = Q(y_c = 1 | y_parent = 0)
    log_likelihood: Floats  # log P(z_i), one a row


class EdgeTargets(NamedTuple):
    """What the M-step for the weights needs of one pass."""

    both: Floats  # Q(y_parent = 1, y_c = 1)
    parent: Floats  # Q(y_parent = 1); 1 under the root
    log_likelihood: Floats


class Inputs(NamedTuple):
    """One tree with its rates, checked and in the form of the kernels."""

    alpha: Floats
    parents: Ints
    order: Ints
    eps: float


def as_inputs(alpha: Floats | float, parents: Ints, eps: float) -> Inputs:
    """Bring a tree and its rates into the form of the kernels; ``alpha`` may be one number for all labels."""
    parents = np.array(parents, dtype=np.intp)
    alphas = np.ascontiguousarray(np.broadcast_to(np.asarray(alpha, dtype=np.float64), parents.shape))
    return Inputs(alphas.copy(), parents, parents_first(parents), float(eps))


def posterior(scores: Floats, Z: Entries, tree: Inputs) -> Posterior:
    """Compute all posteriors of single labels, and the conditionals that posteriors of pairs are made of."""
    Z = _writable(Z)
    Q, A, B = (np.empty(scores.shape) for _ in range(3))
    result = Posterior(Q, A, B, np.empty(len(scores)))

    def work(rows: slice) -> None:
        _posterior(scores[rows], Z[rows], *tree, *(part[rows] for part in result))

    _over_rows(work, scores.shape)
    return result


def edge_targets(scores: Floats, Z: Entries, tree: Inputs) -> EdgeTargets:
    """Compute the posteriors on the edges of the tree: the E-step when the tree is fixed."""
    Z = _writable(Z)
    targets = EdgeTargets(np.empty(scores.shape), np.empty(scores.shape), np.empty(len(scores)))

    def work(rows: slice) -> None:
        _edge_targets(scores[rows], Z[rows], *tree, *(part[rows] for part in targets))

    _over_rows(work, scores.shape)
    return targets


def weighted_targets(scores: Floats, Z: Entries, weights: Floats, tree: Inputs) -> tuple[Floats, Floats, float]:
    """Sum :func:`edge_targets` over weighted rows that all have the same scores, without a matrix of them.

    Returns the sums of ``both`` and ``parent`` for each label, and of the log-likelihood.
    """
    Z, n_labels = _writable(Z), len(scores)
    blocks = _blocks(len(Z), max(1, _ENTRIES // n_labels))
    both, parent = np.zeros((2, len(blocks), n_labels))
    logs = np.zeros(len(blocks))

    def work(number: int) -> None:
        rows = blocks[number]
        logs[number] = _weighted_targets(scores, Z[rows], *tree, weights[rows], both[number], parent[number])

    for_each_in_threads(work, range(len(blocks)))
    return both.sum(axis=0), parent.sum(axis=0), float(logs.sum())


def best_states(scores: Floats, Z: Entries, tree: Inputs) -> Entries:
    """Find the most probable states in which no label is on without its parent (``tree.eps`` is not used)."""
    Z, states = _writable(Z), np.empty(scores.shape, dtype=np.int8)

    def work(rows: slice) -> None:
        _best_states(scores[rows], Z[rows], tree.alpha, tree.parents, tree.order, states[rows])

    _over_rows(work, scores.shape)
    return states


def pair_sums(Q: Posterior, scores: Floats, tree: Inputs) -> tuple[Floats, Floats]:
    """Sum Q11 over rows for all ordered pairs, alone and times the child's score: what edge weights (5.9) need.

    ``sums[k, c] = sum_i Q(y_k = 1, y_c = 1)`` and ``weighted[k, c] = sum_i Q(y_k = 1, y_c = 1) * scores[i, c]``.
    Q belongs to ``tree``; the scores may be newer. In breadth-first order Q11(k, c) = b_c Q_k + (a_c - b_c)
    Q11(k, parent of c). Rows are streamed: nothing of size n_rows x n_labels x n_labels is held.
    """
    n_rows, n_labels = scores.shape
    size = max(1, -(-n_rows // _PAIR_BLOCKS))
    blocks = list(_blocks(n_rows, size))
    sums, weighted = np.zeros((2, len(blocks), n_labels, n_labels))

    def work(number: int) -> None:
        rows = blocks[number]
        parts = (Q.on[rows], Q.on_given_on[rows], Q.on_given_off[rows], scores[rows])
        _pair_sums(*parts, tree.parents, tree.order, sums[number], weighted[number])

    for_each_in_threads(work, range(len(blocks)))
    return sums.sum(axis=0), weighted.sum(axis=0)


def pair_targets(Q: Posterior, tree: Inputs, parents: Ints) -> Floats:
    """Compute Q(y_p = 1, y_c = 1) for p = ``parents[c]`` of another tree under the posterior of ``tree``."""
    targets = np.empty(Q.on.shape)
    wanted = np.array(parents, dtype=np.intp)

    def work(rows: slice) -> None:
        parts = (Q.on[rows], Q.on_given_on[rows], Q.on_given_off[rows])
        _pair_targets(*parts, tree.parents, tree.order, wanted, targets[rows])

    _over_rows(work, Q.on.shape)
    return targets


def parent_columns(Q: Floats, parents: Ints) -> Floats:
    """Return the column of each label's parent; 1 under the root."""
    columns = np.ones_like(Q)
    below = parents >= 0
    columns[:, below] = Q[:, parents[below]]
    return columns


def logistic_residual(scores: Floats, both: Floats, parent: Floats) -> tuple[float, Floats]:
    """Return sum(both * s - parent * log(1 + e^s)) and its gradient both - parent * sigma(s), [P17] eq. (5.8)."""
    residual, values = np.empty(scores.shape), np.empty(len(scores))
    _logistic_residual(scores, both, parent, values, residual)
    return float(values.sum()), residual


def _writable(Z: Entries) -> Entries:
    """Return Z in the form of the kernels' signature, which knows no read-only arrays."""
    return Z if Z.flags.writeable and Z.flags.c_contiguous else np.array(Z, order="C")


def _over_rows(work: Callable[[slice], None], shape: tuple[int, ...]) -> None:
    """Work through the rows; only a large matrix is worth the start of threads."""
    if shape[0] * shape[1] <= _ENTRIES:
        work(slice(0, shape[0]))
    else:
        for_each_in_threads(work, _blocks(shape[0], max(1, _ENTRIES // shape[1])))


def _blocks(n_rows: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


_ROW = "float64[::1], int8[::1], float64[::1], intp[::1], intp[::1], float64"
_ROWS = "float64[:, ::1], int8[:, ::1], float64[::1], intp[::1], intp[::1], float64"


@kernel("void(float64[::1], float64[::1])")
def _sigmoids(scores: Floats, gates: Floats) -> None:
    """Fill in sigma(scores)."""
    for c in range(scores.shape[0]):
        s = scores[c]
        e = np.exp(-abs(s))
        gates[c] = 1.0 / (1.0 + e) if s >= 0 else e / (1.0 + e)


@kernel(f"float64({_ROW}, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def _one_row(
    gates: Floats,
    z: Entries,
    alpha: Floats,
    parents: Ints,
    order: Ints,
    eps: float,
    off: Floats,
    on: Floats,
    a: Floats,
    b: Floats,
    q: Floats,
) -> float:
    """Pass up and down one row: fills a, b and q, and returns log P(z); ``off`` and ``on`` are work space."""
    n = gates.shape[0]
    for c in range(n):
        if z[c] == 1:
            off[c], on[c] = 0.0, 1.0 - alpha[c]
        elif z[c] == 0:
            off[c], on[c] = 1.0, alpha[c]
        else:
            off[c], on[c] = 1.0, 1.0
    total, product = 0.0, 1.0  # a logarithm takes as long as the rest of a label: factors are multiplied first
    for j in range(n - 1, -1, -1):
        c = order[j]
        g = gates[c]
        from_on = g * on[c] + (1.0 - g) * off[c]
        from_off = eps * on[c] + (1.0 - eps) * off[c]
        certain = 1.0 if z[c] == 1 else 0.0
        a[c] = g * on[c] / from_on if from_on > 0 else certain
        b[c] = eps * on[c] / from_off if from_off > 0 else certain
        p = parents[c]
        if p < 0:
            factor = max(from_on, _LEAST)
        else:
            factor = max(from_on, from_off)
            if factor <= 0:  # both excluded: the tree above learns nothing from here
                factor = _LEAST
            else:
                off[p] *= from_off / factor
                on[p] *= from_on / factor
                kept = max(off[p], on[p])
                if 0 < kept < 1e-100:  # many children: keep the product in range
                    off[p] /= kept
                    on[p] /= kept
                    total += np.log(kept)
        if factor < 1e-100:
            total += np.log(factor)
        else:
            product *= factor
            if product < 1e-100:
                total += np.log(product)
                product = 1.0
    total += np.log(product)
    for j in range(n):
        c = order[j]
        p = parents[c]
        above = 1.0 if p < 0 else q[p]
        q[c] = a[c] * above + b[c] * (1.0 - above)
    return total


@kernel(f"void({_ROWS}, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])")
def _posterior(
    scores: Floats,
    Z: Entries,
    alpha: Floats,
    parents: Ints,
    order: Ints,
    eps: float,
    Q: Floats,
    A: Floats,
    B: Floats,
    logs: Floats,
) -> None:
    n = scores.shape[1]
    off, on, gates = np.empty(n), np.empty(n), np.empty(n)
    for i in range(scores.shape[0]):
        _sigmoids(scores[i], gates)
        logs[i] = _one_row(gates, Z[i], alpha, parents, order, eps, off, on, A[i], B[i], Q[i])


@kernel(f"void({_ROWS}, float64[:, ::1], float64[:, ::1], float64[::1])")
def _edge_targets(
    scores: Floats,
    Z: Entries,
    alpha: Floats,
    parents: Ints,
    order: Ints,
    eps: float,
    both: Floats,
    parent: Floats,
    logs: Floats,
) -> None:
    n = scores.shape[1]
    off, on, a, b, q, gates = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(scores.shape[0]):
        _sigmoids(scores[i], gates)
        logs[i] = _one_row(gates, Z[i], alpha, parents, order, eps, off, on, a, b, q)
        for c in range(n):
            above = 1.0 if parents[c] < 0 else q[parents[c]]
            parent[i, c] = above
            both[i, c] = a[c] * above


@kernel(
    "float64(float64[::1], int8[:, ::1], float64[::1], intp[::1], intp[::1], float64, float64[::1], float64[::1], "
    "float64[::1])"
)
def _weighted_targets(
    scores: Floats,
    Z: Entries,
    alpha: Floats,
    parents: Ints,
    order: Ints,
    eps: float,
    weights: Floats,
    both: Floats,
    parent: Floats,
) -> float:
    n = scores.shape[0]
    off, on, a, b, q, gates = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    _sigmoids(scores, gates)
    total = 0.0
    for i in range(Z.shape[0]):
        total += weights[i] * _one_row(gates, Z[i], alpha, parents, order, eps, off, on, a, b, q)
        for c in range(n):
            above = weights[i] if parents[c] < 0 else weights[i] * q[parents[c]]
            parent[c] += above
            both[c] += a[c] * above
    return total


@kernel("void(float64[:, ::1], int8[:, ::1], float64[::1], intp[::1], intp[::1], int8[:, ::1])")
def _best_states(scores: Floats, Z: Entries, alpha: Floats, parents: Ints, order: Ints, states: Entries) -> None:
    """Max-product in logs; a label without its parent has weight 0, so ``off`` above means off below."""
    n = scores.shape[1]
    never = -1e9  # below any sum of logs that can occur
    log_kept, log_lost = np.empty(n), np.empty(n)
    for c in range(n):
        log_kept[c] = np.log(max(1.0 - alpha[c], 1e-12))  # a rate of exactly 0 or 1 must not forbid what was seen
        log_lost[c] = np.log(max(alpha[c], 1e-12))
    off, on = np.empty(n), np.empty(n)
    takes = np.empty(n, dtype=np.bool_)
    for i in range(scores.shape[0]):
        for c in range(n):
            off[c] = never if Z[i, c] == 1 else 0.0
            on[c] = log_kept[c] if Z[i, c] == 1 else (log_lost[c] if Z[i, c] == 0 else 0.0)
        for j in range(n - 1, -1, -1):
            c = order[j]
            s = scores[i, c]
            soft = np.log1p(np.exp(-abs(s)))
            log_on = min(s, 0.0) - soft + on[c]
            log_off = min(-s, 0.0) - soft + off[c]
            takes[c] = log_on > log_off
            p = parents[c]
            if p >= 0:
                on[p] += max(log_on, log_off)
                off[p] += off[c]
        for j in range(n):
            c = order[j]
            p = parents[c]
            states[i, c] = 1 if takes[c] and (p < 0 or states[i, p] == 1) else 0


@kernel(
    "void(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], intp[::1], intp[::1], "
    "float64[:, ::1], float64[:, ::1])"
)
def _pair_sums(
    Q: Floats, A: Floats, B: Floats, scores: Floats, parents: Ints, order: Ints, sums: Floats, weighted: Floats
) -> None:
    """Labels are renumbered in breadth-first order, so that the inner loops run along rows of memory."""
    n_rows, n = Q.shape
    place = np.empty(n, dtype=np.intp)
    for j in range(n):
        place[order[j]] = j
    pairs, totals, times_row, times_column = np.empty((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    q, s = np.empty(n), np.empty(n)
    for i in range(n_rows):
        for j in range(n):
            q[j], s[j] = Q[i, order[j]], scores[i, order[j]]
        for j in range(n):
            c = order[j]
            a, b = A[i, c], B[i, c]
            if parents[c] < 0:
                for k in range(j):
                    pairs[j, k] = q[k] * q[j]
            else:
                p = place[parents[c]]
                for k in range(p):
                    pairs[j, k] = b * q[k] + (a - b) * pairs[p, k]
                pairs[j, p] = a * q[p]
                for k in range(p + 1, j):
                    pairs[j, k] = b * q[k] + (a - b) * pairs[k, p]
            for k in range(j):
                totals[j, k] += pairs[j, k]
                times_row[j, k] += pairs[j, k] * s[j]
                times_column[j, k] += pairs[j, k] * s[k]
    for j in range(n):
        for k in range(j):
            later, earlier = order[j], order[k]
            sums[later, earlier] = totals[j, k]
            sums[earlier, later] = totals[j, k]
            weighted[earlier, later] = times_row[j, k]
            weighted[later, earlier] = times_column[j, k]


@kernel("void(float64[:, ::1], float64[:, ::1], float64[:, ::1], intp[::1], intp[::1], intp[::1], float64[:, ::1])")
def _pair_targets(Q: Floats, A: Floats, B: Floats, parents: Ints, order: Ints, wanted: Ints, both: Floats) -> None:
    n_rows, n = Q.shape
    pairs = np.empty((n, n))
    for i in range(n_rows):
        for j in range(n):
            c = order[j]
            p = parents[c]
            for e in range(j):
                k = order[e]
                if p < 0:
                    value = Q[i, k] * Q[i, c]
                elif p == k:
                    value = A[i, c] * Q[i, p]
                else:
                    value = B[i, c] * Q[i, k] + (A[i, c] - B[i, c]) * pairs[k, p]
                pairs[c, k] = value
                pairs[k, c] = value
        for c in range(n):
            both[i, c] = Q[i, c] if wanted[c] < 0 else pairs[wanted[c], c]


@kernel("void(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1])")
def _logistic_residual(scores: Floats, both: Floats, parent: Floats, values: Floats, residual: Floats) -> None:
    for i in range(scores.shape[0]):
        value = 0.0
        for c in range(scores.shape[1]):
            s = scores[i, c]
            e = np.exp(-abs(s))
            on = 1.0 / (1.0 + e) if s >= 0 else e / (1.0 + e)
            value += both[i, c] * s - parent[i, c] * (max(s, 0.0) + np.log1p(e))
            residual[i, c] = both[i, c] - parent[i, c] * on
        values[i] = value
