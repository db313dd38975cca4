"""k-medoids over a table of distances: FasterPAM, and the plain alternation of the BAMIC paper.

FasterPAM (Schubert and Rousseeuw 2021) tries every swap of a medoid for another point in O(n) per candidate, keeping
for each point its nearest and second nearest medoid, and takes each swap that helps at once. The alternation moves
each medoid only inside its own cluster, so it stops earlier and, on the same start, never lower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight._core.kernels import kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

_MOST_PASSES = 100_000  # swaps end long before; what may be asked for is any whole number


@dataclass(frozen=True, slots=True)
class Medoids:
    """The chosen points, the cluster of every point, and the sum of distances to the medoids after every pass."""

    medoids: Ints
    labels: Ints
    trace: Floats
    converged: bool

    @property
    def inertia(self) -> float:
        """The sum of distances to the medoids."""
        return float(self.trace[-1])


def faster_pam(distances: Floats, start: Ints, *, max_iter: int = 100) -> Medoids:
    """Swap medoids as long as a swap lowers the sum of distances.

    Parameters
    ----------
    distances : array of shape (n, n)
        Symmetric and finite.
    start : array of shape (n_clusters,)
        The first medoids, all different.
    max_iter : int
        The most passes over all points.
    """
    if len(start) == 1:  # there is no second nearest medoid; the middle of everything is the optimum
        return alternate(distances, start, max_iter=max_iter)
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    medoids = np.array(start, dtype=np.intp)
    trace = np.empty(min(max_iter, _MOST_PASSES) + 1)
    n_passes, converged = _swap_passes(distances, medoids, trace)
    return Medoids(medoids, nearest_medoid(distances, medoids), trace[: n_passes + 1].copy(), bool(converged))


def alternate(distances: Floats, start: Ints, *, max_iter: int = 100) -> Medoids:
    """Assign every point to its nearest medoid, move every medoid to the middle of its cluster, repeat.

    Parameters
    ----------
    distances, start, max_iter
        As in :func:`faster_pam`.
    """
    medoids = np.array(start, dtype=np.intp)
    labels = nearest_medoid(distances, medoids)
    trace, converged = [_inertia(distances, medoids)], False
    while not converged and len(trace) <= max_iter:
        moved = medoids.copy()
        for cluster in range(len(medoids)):
            members = np.flatnonzero(labels == cluster)
            if len(members):
                totals = distances[np.ix_(members, members)].sum(axis=0)
                moved[cluster] = members[np.argmin(totals)]
        converged = bool((moved == medoids).all())
        medoids = moved
        labels = nearest_medoid(distances, medoids)
        trace.append(_inertia(distances, medoids))
    return Medoids(medoids, labels, np.array(trace), converged)


def nearest_medoid(distances: Floats, medoids: Ints) -> Ints:
    """Return the cluster of every point; a medoid is always in its own, even beside a duplicate."""
    labels: Ints = np.argmin(distances[:, medoids], axis=1).astype(np.intp)
    labels[medoids] = np.arange(len(medoids))
    return labels


def _inertia(distances: Floats, medoids: Ints) -> float:
    return float(distances[:, medoids].min(axis=1).sum())


@kernel("float64(float64[:, ::1], intp[::1], intp[::1], float64[::1], float64[::1], float64[::1])")
def _two_nearest(D: Floats, medoids: Ints, near: Ints, d_near: Floats, d_second: Floats, loss: Floats) -> float:
    total = 0.0
    loss[:] = 0.0
    for o in range(D.shape[0]):
        d1, d2, m1 = np.inf, np.inf, 0
        for m in range(medoids.shape[0]):
            d = D[o, medoids[m]]
            if d < d1:
                d2, d1, m1 = d1, d, m
            elif d < d2:
                d2 = d
        near[o], d_near[o], d_second[o] = m1, d1, d2
        loss[m1] += d2 - d1
        total += d1
    return total


@kernel("UniTuple(intp, 2)(float64[:, ::1], intp[::1], float64[::1])")
def _swap_passes(D: Floats, medoids: Ints, trace: Floats) -> tuple[int, int]:
    n, k = D.shape[0], medoids.shape[0]
    near = np.empty(n, np.intp)
    d_near, d_second = np.empty(n), np.empty(n)
    is_medoid = np.zeros(n, np.bool_)
    loss, gain = np.zeros(k), np.zeros(k)  # loss: what removing each medoid costs when nothing replaces it
    for m in range(k):
        is_medoid[medoids[m]] = True
    total = _two_nearest(D, medoids, near, d_near, d_second, loss)
    trace[0] = total
    for step in range(trace.shape[0] - 1):
        changed = 0
        for x in range(n):
            if is_medoid[x]:
                continue
            gain[:] = loss
            shared = 0.0
            for o in range(n):
                d = D[o, x]
                if d < d_near[o]:
                    shared += d - d_near[o]
                    gain[near[o]] += d_near[o] - d_second[o]
                elif d < d_second[o]:
                    gain[near[o]] += d - d_second[o]
            best = 0
            for m in range(1, k):
                if gain[m] < gain[best]:
                    best = m
            if shared + gain[best] < -1e-12 * total:  # less is rounding, and would swap duplicates for ever
                is_medoid[medoids[best]] = False
                is_medoid[x] = True
                medoids[best] = x
                total = _two_nearest(D, medoids, near, d_near, d_second, loss)
                changed += 1
        trace[step + 1] = total
        if changed == 0:
            return step + 1, 1
    return trace.shape[0] - 1, 0
