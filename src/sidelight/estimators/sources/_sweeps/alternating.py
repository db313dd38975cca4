"""Dhillon's alternating co-clustering: rows by the clusters of columns, then columns by the clusters of rows.

The table stays sparse from beginning to end, once by rows and once by columns, so that both half-rounds are the same:
every code goes to the cluster whose profile is nearest in KL divergence. The profiles (a code's mass in each cluster of
the other side) are counted in the first rounds; later few codes move, and only their cells are moved. The information
kept never falls: reassigning is Dhillon's step, and a cluster that lost its last code takes the worst-fitting code of
another one, which splits that cluster and can only add information.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel
from sidelight._core.process import map_in_threads
from sidelight.estimators.sources._sweeps.cluster_state import table_information
from sidelight.progress import report

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

HEAT, FINALISTS, GROUP = 5, 3, 10  # rounds before a race is decided, how many then run to the end, of how many starts
RECOUNT = 0.4  # share of moved codes above which counting anew is faster than moving their cells
TINY = 1e-300  # the log of an empty cell: finite, so that 0 * log stays 0, and worse than any cell with mass


@dataclass(frozen=True, slots=True)
class Side:
    """A table read along one axis: the cells of each code, as CSR arrays."""

    data: Floats
    indices: NDArray[np.int32]
    indptr: Ints

    @classmethod
    def of(cls, csr: Any) -> Side:
        """Take a scipy CSR array; indices are 4 bytes each because a pass over a large table is mostly reading them."""
        return cls(csr.data, csr.indices.astype(np.int32, copy=False), csr.indptr.astype(np.intp, copy=False))


@dataclass(frozen=True, slots=True)
class Table:
    """A two-way table whose cells sum to one, by rows and by columns."""

    rows: Side
    columns: Side

    @classmethod
    def of(cls, csr: Any) -> Table:
        """Take a scipy CSR array and make its transposed copy."""
        return cls(Side.of(csr), Side.of(csr.T.tocsr()))


@dataclass(frozen=True, slots=True)
class Coclusters:
    """Labels of rows and columns, the information their table keeps (nats), and how it got there."""

    row_labels: Ints
    column_labels: Ints
    information: float
    trace: list[float]
    converged: bool


def alternate(
    table: Table,
    row_labels: Ints,
    column_labels: Ints,
    n_clusters: tuple[int, int],
    *,
    max_iter: int = 100,
    tol: float = 1e-5,
    stage: str = "co-clustering",
) -> Coclusters:
    """Improve a start until nothing moves, a round gains no more than ``tol`` of the information, or rounds are over.

    Parameters
    ----------
    table : Table
        Joint probabilities.
    row_labels, column_labels : intp arrays
        The start; copied.
    n_clusters : (int, int)
        How many clusters of rows and of columns.
    """
    rows, columns = _halves(table, row_labels, column_labels, n_clusters)
    small = rows.count(columns).sums()
    trace: list[float] = []
    converged = False
    for iteration in range(max_iter):
        report(stage, iteration, max_iter)
        moved = _move_until_stable(rows, columns, small, anew=iteration == 0) + _move_until_stable(
            columns, rows, columns.sums()
        )
        small = rows.sums()
        trace.append(table_information(small))
        if moved == 0 or (len(trace) > 1 and trace[-1] - trace[-2] <= tol * trace[-1]):
            converged = True
            break
    return Coclusters(rows.labels, columns.labels, trace[-1], trace, converged)


def follow(
    table: Table, row_labels: Ints, column_labels: Ints, n_clusters: tuple[int, int], *, leader: int, max_iter: int = 20
) -> tuple[Ints, Ints]:
    """Fit one side to the other, which stays as it is: ``leader`` 0 keeps the rows, 1 the columns."""
    rows, columns = _halves(table, row_labels, column_labels, n_clusters)
    mine = columns.count(rows) if leader == 0 else rows.count(columns)
    for _ in range(max_iter):
        if _reassign(mine, mine.sums()) == 0:
            break
    return rows.labels, columns.labels


def race(
    table: Table,
    starts: list[tuple[Ints, Ints]],
    n_clusters: tuple[int, int],
    *,
    max_iter: int = 100,
    tol: float = 1e-5,
    n_sure: int = 0,
) -> tuple[Coclusters, list[float]]:
    """Run every start for a few rounds, finish the leading ones, and return the winner and what each one kept.

    Most of the information is won in the first rounds, so finishing a start that lies far behind is time wasted: on
    classic3 most seeds end within 0.0001 nats of the best of ten finished starts (benchmarks/bench_sources.py). But a
    good start may be slow: after each heat the better half goes on, until the finalists are left. Starts race in
    groups of ten, and the first of each group are finished whatever they keep, so that more starts finish what fewer
    did; so are the last ``n_sure``.
    """
    runs = [Coclusters(*start, -1.0, [], False) for start in starts]  # no information yet: less than any table has
    n_raced = len(runs) - n_sure
    leading: list[int] = []
    for first in range(0, n_raced, GROUP):
        group, rounds = list(range(first, min(first + GROUP, n_raced))), 0
        leading += group[:FINALISTS]
        group = group[FINALISTS:]
        while len(group) > FINALISTS and rounds < max_iter:
            rounds = min(rounds + HEAT, max_iter)
            heat = [runs[i] for i in group]
            ends = map_in_threads(partial(_go_on, table, n_clusters=n_clusters, max_iter=rounds, tol=tol), heat)
            for i, end in zip(group, ends):
                runs[i] = end
            group = sorted(group, key=lambda i: -runs[i].information)[: max(FINALISTS, len(group) // 2)]
        leading += group
    leading += range(len(runs) - n_sure, len(runs))
    ends = map_in_threads(lambda run: _go_on(table, run, n_clusters, max_iter, tol), [runs[i] for i in leading])
    for i, end in zip(leading, ends):
        runs[i] = end
    best = max(runs, key=lambda run: run.information)
    return best, [run.information for run in runs]


def _go_on(table: Table, run: Coclusters, n_clusters: tuple[int, int], max_iter: int, tol: float) -> Coclusters:
    if run.converged or len(run.trace) >= max_iter:
        return run
    rounds = max_iter - len(run.trace)
    more = alternate(table, run.row_labels, run.column_labels, n_clusters, max_iter=rounds, tol=tol)
    return replace(more, trace=run.trace + more.trace)


@dataclass(slots=True)
class _Half:
    """One side of a run: its cells, its labels, and ``profiles[code, cluster of the other side]``."""

    side: Side
    labels: Ints
    n_clusters: int
    profiles: Floats

    def count(self, other: _Half) -> _Half:
        """Count the profiles anew, by the labels of the other side."""
        sum_codes(self.side.data, self.side.indices, self.side.indptr, other.labels, self.profiles)
        return self

    def sums(self) -> Floats:
        """Add up the profiles of each cluster: the cluster table with this side as rows."""
        small = np.zeros((self.n_clusters, self.profiles.shape[1]))
        add_profiles(self.profiles, self.labels, small)
        return small


def _halves(table: Table, row_labels: Ints, column_labels: Ints, n_clusters: tuple[int, int]) -> tuple[_Half, _Half]:
    k, m = n_clusters
    rows = _Half(table.rows, row_labels.copy(), k, np.empty((row_labels.size, m)))
    columns = _Half(table.columns, column_labels.copy(), m, np.empty((column_labels.size, k)))
    return rows, columns


def _move_until_stable(me: _Half, other: _Half, small: Floats, *, anew: bool = False) -> int:
    """Let one side settle, and bring the profiles of the other side up to date (or count them); return the moves."""
    before = me.labels.copy()
    moved = _reassign(me, small)
    if anew or moved > RECOUNT * me.labels.size:
        other.count(me)
    elif moved:
        shift_codes(me.side.data, me.side.indices, me.side.indptr, before, me.labels, other.profiles)
    return moved


def _reassign(me: _Half, small: Floats) -> int:
    """Give every code to its nearest cluster and refill clusters that died; count the moves."""
    log_share = log_shares(small)
    moved = assign(me.profiles, log_share, me.labels)
    sizes = np.bincount(me.labels, minlength=me.n_clusters)
    if not sizes.all():
        moved += _refill(me.labels, sizes, _misfit(me.profiles, log_share, me.labels))
    return moved


def cluster_sums(side: Side, labels: Ints, others: Ints, n_clusters: tuple[int, int]) -> Floats:
    """Add up a table over the clusters of both sides, [B04] eq. (1.1)."""
    profiles, small = np.empty((labels.size, n_clusters[1])), np.zeros(n_clusters)
    sum_codes(side.data, side.indices, side.indptr, others, profiles)
    add_profiles(profiles, labels, small)
    return small


def log_shares(small: Floats) -> Floats:
    """Return log P(column cluster | row cluster); an empty cluster has no share anywhere, so no row prefers it."""
    mass = small.sum(axis=1, keepdims=True)
    return np.log(np.maximum(small / np.maximum(mass, TINY), TINY))


def _misfit(profiles: Floats, log_share: Floats, labels: Ints) -> Floats:
    """Return each profile's share of the information lost: its mass times its divergence from its cluster."""
    return np.asarray((profiles * (log_shares(profiles) - log_share[labels])).sum(axis=1))


def _refill(labels: Ints, sizes: Ints, misfit: Floats) -> int:
    """Let each empty cluster take the worst-fitting code that is not alone in its cluster; count the moves."""
    empty = np.flatnonzero(sizes == 0)
    moved = 0
    for code in np.argsort(-misfit, kind="stable"):
        if moved == empty.size:
            break
        if sizes[labels[code]] > 1:
            sizes[labels[code]] -= 1
            labels[code] = empty[moved]
            moved += 1
    return moved


@kernel("void(float64[::1], int32[::1], intp[::1], intp[::1], float64[:, ::1])")
def sum_codes(data: Floats, indices: Any, indptr: Ints, others: Ints, out: Floats) -> None:
    """out[i, c] = sum of code i over the codes of cluster c of the other side."""
    out[:] = 0.0
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            out[i, others[indices[e]]] += data[e]


@kernel("void(float64[::1], int32[::1], intp[::1], intp[::1], intp[::1], float64[:, ::1])")
def shift_codes(data: Floats, indices: Any, indptr: Ints, before: Ints, after: Ints, out: Floats) -> None:
    """Move the cells of the codes that changed clusters: out[j, c] as ``sum_codes`` of the other side would have it."""
    for i in range(indptr.size - 1):
        if before[i] != after[i]:
            for e in range(indptr[i], indptr[i + 1]):
                out[indices[e], before[i]] -= data[e]
                out[indices[e], after[i]] += data[e]


@kernel("void(float64[:, ::1], intp[::1], float64[:, ::1])")
def add_profiles(profiles: Floats, labels: Ints, out: Floats) -> None:
    """Add every profile to the row of ``out`` that its label names."""
    for i in range(profiles.shape[0]):
        for c in range(profiles.shape[1]):
            out[labels[i], c] += profiles[i, c]


@kernel("intp(float64[:, ::1], float64[:, ::1], intp[::1])")
def assign(profiles: Floats, log_share: Floats, labels: Ints) -> int:
    """Move each profile to the cluster of smallest KL divergence, keeping its own on a tie; count the moves."""
    moved = 0
    for i in range(profiles.shape[0]):
        best = labels[i]
        best_score = 0.0
        for c in range(profiles.shape[1]):
            best_score += profiles[i, c] * log_share[best, c]
        for k in range(log_share.shape[0]):
            score = 0.0
            for c in range(profiles.shape[1]):
                score += profiles[i, c] * log_share[k, c]
            if score > best_score:
                best_score = score
                best = k
        if best != labels[i]:
            labels[i] = best
            moved += 1
    return moved
