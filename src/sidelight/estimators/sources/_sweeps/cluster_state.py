"""Co-clusters of an N-way table, with every sum that trying and making a move needs.

Moving one code of one axis from cluster p to q touches two slices of the cluster table. For every code the state keeps
its mass in each cell of the *other* axes' clusters (``slabs``), so trying a move costs O(cells of a slice), whatever
the size of the table, and only a move that is made visits the code's own stored cells.

The objective is a sum over cells of a function of the cell T and its mass W under independence: T log(T / W) for
information, T^2 / W for chi-square. A third one is one number here and one branch in ``gain_of``, ``slice_values``
and ``objective_value``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel

# Information in tables of joint probabilities, in nats: sums of x log x over cells and margins.
#
# Everything here works on the cells that are there; a zero cell adds nothing. ``total_correlation`` of a two-way table
# is its mutual information, and [B04] eq. (1.2) is the difference of two of them.


Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@kernel("float64(float64[::1])")
def sum_xlogx(values: Floats) -> float:
    """Sum x log x, with 0 log 0 = 0, without a temporary array as long as the table."""
    total = 0.0
    for x in values:
        if x > 0.0:
            total += x * np.log(x)
    return total


def total_correlation(cells: Floats, margins: Sequence[Floats]) -> float:
    """Return D(P || product of margins) of a table, from its cells and the margin of every axis.

    sum_x P[x] log P[x] - sum_a sum_i margins[a][i] log margins[a][i]      for cells that sum to one
    """
    joint = sum_xlogx(np.ascontiguousarray(cells, dtype=np.float64).ravel())
    return float(joint - sum(sum_xlogx(np.ascontiguousarray(m, dtype=np.float64)) for m in margins))


def table_information(table: Floats) -> float:
    """Return the total correlation of a dense table of joint probabilities with any number of axes."""
    return total_correlation(table, [margin(table, axis) for axis in range(table.ndim)])


def margin(table: Floats, axis: int) -> Floats:
    """Sum a dense table over every axis but one."""
    others = tuple(a for a in range(table.ndim) if a != axis)
    return np.asarray(table.sum(axis=others), dtype=np.float64)


Arrays = tuple[Any, ...]  # the state as the kernels take it; its numba type is _STATE
INFORMATION, CHI_SQUARE = 0, 1
OBJECTIVES = {"information": INFORMATION, "chi-square": CHI_SQUARE}
ROUNDING = 1e-13  # below this a gain is rounding, and two states could swap forever
TINY = 1e-300  # the log of an empty cell: finite, so that 0 * log stays 0


@dataclass(frozen=True, slots=True)
class Cells:
    """An N-way table, its stored cells sorted once per axis.

    coords[a, :, e], values[a, e] : the cells in the order of axis a; those of code i are starts[a][i]:starts[a][i + 1]
    """

    shape: tuple[int, ...]
    coords: Ints
    values: Floats
    starts: Ints  # the axes' starts one after the other; first[a] is where axis a begins
    first: Ints

    @classmethod
    def from_coords(cls, coords: Ints, values: Floats, shape: tuple[int, ...]) -> Cells:
        """Sort (n_axes, nnz) coordinates along every axis; ``values`` should sum to one."""
        n_axes = len(shape)
        orders = [np.argsort(coords[a], kind="stable") for a in range(n_axes)]
        counts = [np.bincount(coords[a], minlength=shape[a]) for a in range(n_axes)]
        starts = [np.concatenate([[0], np.cumsum(c)]) for c in counts]
        first = np.concatenate([[0], np.cumsum([s.size for s in starts])])[:-1]
        return cls(
            shape=tuple(int(n) for n in shape),
            coords=np.ascontiguousarray(np.stack([coords[:, o] for o in orders]), dtype=np.intp),
            values=np.ascontiguousarray(np.stack([values[o] for o in orders]), dtype=np.float64),
            starts=np.concatenate(starts).astype(np.intp),
            first=first.astype(np.intp),
        )


class State:
    """Labels of all codes of all axes in one array, and every sum that a proposal needs.

    labels[base[a] + i]                : cluster of code i of axis a
    table[p * stride[a] + offsets[a, c]] : mass of cluster p of axis a in cell c of the other axes' clusters
    slabs[slab[a] + i * width[a] + c]  : mass of code i of axis a in that cell
    margins[mbase[a] + p], mass[base[a] + i] : totals of clusters and of codes
    """

    def __init__(self, cells: Cells, n_clusters: tuple[int, ...], labels: list[Ints]) -> None:
        n_axes = len(cells.shape)
        self.cells, self.n_clusters = cells, n_clusters
        self.ks = np.array(n_clusters, dtype=np.intp)
        self.base = _starts(cells.shape)
        self.mbase = _starts(n_clusters)
        total = int(np.prod(self.ks))
        self.width = np.array([total // k for k in n_clusters], dtype=np.intp)
        self.slab = _starts([int(n * w) for n, w in zip(cells.shape, self.width)])
        self.stride = np.array([int(np.prod(self.ks[a + 1 :])) for a in range(n_axes)], dtype=np.intp)
        # place[b, d]: the step of axis d's label in the numbering of cells without axis b
        self.place = np.zeros((n_axes, n_axes), dtype=np.intp)
        self.offsets = np.zeros((n_axes, int(self.width.max())), dtype=np.intp)
        for b in range(n_axes):
            others = [d for d in range(n_axes) if d != b]
            grid = np.zeros(1, dtype=np.intp)
            for d in others:
                grid = (grid[:, None] + (np.arange(self.ks[d]) * self.stride[d])[None, :]).ravel()
            self.offsets[b, : grid.size] = grid
            for j, d in enumerate(others):
                self.place[b, d] = int(np.prod([n_clusters[o] for o in others[j + 1 :]]))
        self.labels = np.concatenate(labels).astype(np.intp)
        self.table = np.zeros(total)
        self.margins = np.zeros(int(self.ks.sum()))
        self.mass = np.zeros(sum(cells.shape))
        self.slabs = np.zeros(int(sum(n * w for n, w in zip(cells.shape, self.width))))
        self.refresh()

    def refresh(self) -> None:
        """Compute every sum afresh from the labels; increments leave rounding errors of 1e-16 a move."""
        self.table[:], self.margins[:], self.mass[:], self.slabs[:] = 0.0, 0.0, 0.0, 0.0
        fill(self.arrays)

    @property
    def arrays(self) -> Arrays:
        """What the kernels take, in their order."""
        c = self.cells
        return (
            c.coords, c.values, c.starts, c.first, self.ks, self.base, self.mbase, self.slab, self.width, self.stride,
            self.place, self.offsets, self.labels, self.table, self.margins, self.mass, self.slabs,
        )  # fmt: skip

    def by_axis(self) -> list[Ints]:
        """Return a copy of the labels, one array per axis."""
        ends = [*self.base[1:].tolist(), self.labels.size]
        return [self.labels[b:e].copy() for b, e in zip(self.base.tolist(), ends)]

    def value(self, objective: int) -> float:
        """Return the objective of the cluster table, from scratch."""
        return objective_value(self.table.reshape(self.n_clusters), objective)


def descend(state: State, objective: int, *, free: Collection[int] | None = None, max_sweeps: int = 200) -> None:
    """Make the best single move of every code until none improves; the objective never falls.

    ``free`` names the axes whose codes may move; all of them by default.
    """
    axes = np.array(sorted(free) if free is not None else range(len(state.n_clusters)), dtype=np.intp)
    for _ in range(max_sweeps):
        if greedy(state.arrays, axes, objective) == 0:
            break
    state.refresh()  # sums drift by rounding, move by move


def objective_value(table: Floats, objective: int) -> float:
    """Return the information (nats) or chi-square (phi squared) of a table of joint probabilities."""
    independent = np.ones(())
    for axis in range(table.ndim):
        independent = np.multiply.outer(independent, margin(table, axis))
    there = table > 0.0
    T, W = table[there], independent[there]
    return float((T * np.log(T / W)).sum()) if objective == INFORMATION else float((T * T / W).sum() - 1.0)


def slice_values(slices: Floats, weights: Floats, objective: int) -> Floats:
    """Return what each slice of the cluster table adds to the objective, the other axes staying as they are.

    information: sum_c T[c] log(T[c] / (m * weights[c]))        chi-square: sum_c T[c]^2 / (m * weights[c])
    """
    mass = slices.sum(axis=-1, keepdims=True)
    expected = np.maximum(mass * weights, TINY)
    if objective == INFORMATION:
        return np.asarray((slices * np.log(np.maximum(slices, TINY) / expected)).sum(axis=-1))
    return np.asarray((slices * slices / expected).sum(axis=-1))


def _starts(sizes: tuple[int, ...] | list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.intp)


_STATE = (
    "Tuple((intp[:, :, ::1], float64[:, ::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], "
    "intp[::1], intp[::1], intp[:, ::1], intp[:, ::1], intp[::1], float64[::1], float64[::1], float64[::1], "
    "float64[::1]))"
)


@kernel(f"void({_STATE})")
def fill(state: Arrays) -> None:
    """Add every stored cell to the table, the margins, the codes' masses and their slabs."""
    (coords, values, _, _, ks, base, mbase, slab, width, stride, place, _, labels, table, margins, mass, slabs) = state
    n_axes = ks.size
    for e in range(values.shape[1]):
        v = values[0, e]
        cell = 0
        for a in range(n_axes):
            i = base[a] + coords[0, a, e]
            cell += labels[i] * stride[a]
            mass[i] += v
            margins[mbase[a] + labels[i]] += v
            c = 0
            for d in range(n_axes):
                c += labels[base[d] + coords[0, d, e]] * place[a, d]
            slabs[slab[a] + coords[0, a, e] * width[a] + c] += v
        table[cell] += v


@kernel("float64(float64)")
def xlogx(x: float) -> float:
    """Return x log x, and 0 for what rounding left of an emptied cell."""
    return x * np.log(x) if x > 1e-300 else 0.0


@kernel(f"float64({_STATE}, intp, intp, intp, intp)")
def gain_of(state: Arrays, a: int, i: int, q: int, objective: int) -> float:
    """Return how much the objective rises when code i of axis a moves to cluster q."""
    (_, _, _, _, ks, base, mbase, slab, width, stride, place, offsets, labels, table, margins, mass, slabs) = state
    p = labels[base[a] + i]
    m = mass[base[a] + i]
    if p == q or m <= 0.0:
        return 0.0
    mp, mq = margins[mbase[a] + p], margins[mbase[a] + q]
    at = slab[a] + i * width[a]
    from_p, to_q = p * stride[a], q * stride[a]
    gain = 0.0
    if objective == 0:
        for c in range(width[a]):
            d = slabs[at + c]
            if d > 0.0:
                tp, tq = table[from_p + offsets[a, c]], table[to_q + offsets[a, c]]
                gain += xlogx(tp - d) - xlogx(tp) + xlogx(tq + d) - xlogx(tq)
        return gain - (xlogx(mp - m) - xlogx(mp) + xlogx(mq + m) - xlogx(mq))
    for c in range(width[a]):
        d = slabs[at + c]
        tp, tq = table[from_p + offsets[a, c]], table[to_q + offsets[a, c]]
        if tp > 0.0 or tq > 0.0:
            weight = 1.0
            rest = c
            for b in range(ks.size):
                if b != a:
                    weight *= margins[mbase[b] + rest // place[a, b]]
                    rest %= place[a, b]
            after = (tq + d) * (tq + d) / (mq + m)
            if mp - m > 1e-15:  # what rounding leaves of an emptied cluster
                after += (tp - d) * (tp - d) / (mp - m)
            before = tp * tp / mp
            if mq > 0.0:
                before += tq * tq / mq
            gain += (after - before) / weight
    return gain


@kernel(f"void({_STATE}, intp, intp, intp)")
def move(state: Arrays, a: int, i: int, q: int) -> None:
    """Move code i of axis a to cluster q and keep every sum true."""
    coords, values, starts, first, ks, base, mbase, slab = state[:8]
    width, stride, place, offsets, labels, table, margins, mass, slabs = state[8:]
    p = labels[base[a] + i]
    m = mass[base[a] + i]
    at = slab[a] + i * width[a]
    for c in range(width[a]):
        d = slabs[at + c]
        if d > 0.0:
            table[p * stride[a] + offsets[a, c]] = max(0.0, table[p * stride[a] + offsets[a, c]] - d)
            table[q * stride[a] + offsets[a, c]] += d
    margins[mbase[a] + p] = max(0.0, margins[mbase[a] + p] - m)
    margins[mbase[a] + q] += m
    labels[base[a] + i] = q
    if ks.size == 2:  # the loop below, without its bookkeeping: most tables have two axes, and this is the hot spot
        b = 1 - a
        for e in range(starts[first[a] + i], starts[first[a] + i + 1]):
            where = slab[b] + coords[a, b, e] * width[b]
            slabs[where + p] = max(0.0, slabs[where + p] - values[a, e])
            slabs[where + q] += values[a, e]
        return
    for e in range(starts[first[a] + i], starts[first[a] + i + 1]):
        v = values[a, e]
        for b in range(ks.size):
            if b != a:
                c = 0
                for d in range(ks.size):
                    if d != a and d != b:
                        c += labels[base[d] + coords[a, d, e]] * place[b, d]
                where = slab[b] + coords[a, b, e] * width[b] + c
                slabs[where + p * place[b, a]] = max(0.0, slabs[where + p * place[b, a]] - v)
                slabs[where + q * place[b, a]] += v


@kernel(f"intp({_STATE}, intp[::1], intp[::1], float64[::1], float64, intp)")
def metropolis(
    state: Arrays, codes: Ints, targets: Ints, thresholds: Floats, temperature: float, objective: int
) -> int:
    """Propose each move in turn; make it when its gain is at least -temperature * threshold. Count the moves."""
    ks, base, labels = state[4], state[5], state[12]
    moved = 0
    for n in range(codes.size):
        a = ks.size - 1
        while base[a] > codes[n]:
            a -= 1
        if labels[codes[n]] != targets[n]:
            gain = gain_of(state, a, codes[n] - base[a], targets[n], objective)
            if gain >= -temperature * thresholds[n]:
                move(state, a, codes[n] - base[a], targets[n])
                moved += 1
    return moved


@kernel(f"intp({_STATE}, intp, intp, float64[::1])")
def best_of(state: Arrays, a: int, i: int, logs: Floats) -> int:
    """Return the cluster that code i of axis a gains most information in; ``logs`` has x log x of the table.

    What leaving costs is the same for every target, so it is summed once.
    """
    (_, _, _, _, ks, base, mbase, slab, width, stride, _, offsets, labels, table, margins, mass, slabs) = state
    p, m = labels[base[a] + i], mass[base[a] + i]
    best, best_gain = p, ROUNDING
    if m <= 0.0:
        return best
    at, from_p = slab[a] + i * width[a], p * stride[a]
    leaving = 0.0
    for c in range(width[a]):
        d = slabs[at + c]
        if d > 0.0:
            leaving += xlogx(table[from_p + offsets[a, c]] - d) - logs[from_p + offsets[a, c]]
    mp = margins[mbase[a] + p]
    leaving -= xlogx(mp - m) - xlogx(mp)
    for q in range(ks[a]):
        if q == p:
            continue
        to_q, gain = q * stride[a], leaving
        for c in range(width[a]):
            d = slabs[at + c]
            if d > 0.0:
                gain += xlogx(table[to_q + offsets[a, c]] + d) - logs[to_q + offsets[a, c]]
        mq = margins[mbase[a] + q]
        gain -= xlogx(mq + m) - xlogx(mq)
        if gain > best_gain:
            best, best_gain = q, gain
    return best


@kernel(f"intp({_STATE}, intp[::1], intp)")
def greedy(state: Arrays, axes: Ints, objective: int) -> int:
    """Give each code of some axes in turn to its best cluster, if that gains more than rounding; count the moves."""
    ks, base, width, stride, offsets, labels, table = (
        state[4], state[5], state[8], state[9], state[11], state[12], state[13],
    )  # fmt: skip
    logs = np.empty(table.size)
    for c in range(table.size):
        logs[c] = xlogx(table[c])
    moved = 0
    for a in axes:
        end = base[a + 1] if a + 1 < ks.size else labels.size
        for i in range(end - base[a]):
            p = labels[base[a] + i]
            best, best_gain = p, ROUNDING
            if objective == 0:
                best = best_of(state, a, i, logs)
            else:
                for q in range(ks[a]):
                    gain = gain_of(state, a, i, q, objective)
                    if gain > best_gain:
                        best, best_gain = q, gain
            if best != p:
                move(state, a, i, best)
                moved += 1
                for c in range(width[a]):
                    for at in (p * stride[a] + offsets[a, c], best * stride[a] + offsets[a, c]):
                        logs[at] = xlogx(table[at])
    return moved
