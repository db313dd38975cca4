"""One bag that says more than a list: at least and at most so many of its rows carry each element.

An element is a set of classes; elements are disjoint or nested, and a row carries all elements that its class lies in.
Classes that carry the same elements are of one *kind* to the bag. Where rows and numbers are few, a pass goes forward
and back over how many rows carried each element so far (up to what is asked for),

    f'[s + kind] += f[s] * share[kind];

the subset pass of :mod:`sidelight.estimators._labelled_bags.one_bag` is the case of one row an element, and no most.

Where there are too many states, expected numbers take the place of numbers. Of all posteriors whose sums lie within
what is asked for, the one nearest to the rows' own in Kullback-Leibler divergence is a tilt,

    q[i, kind] ~ share[i, kind] * exp(sum of l[e] over the kind's elements),    value = -KL(q || share),

with l from Newton's method on the dual, one number for each element. A range (3, 5) is a number 4 that may be off: its
square, in variances of the range, is added to the divergence, for between hard ends nothing would pull. The derivative
of the value by log share is q, as in the pass, so both serve the same fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel
from sidelight.estimators._labelled_bags.one_bag import RARE

if TYPE_CHECKING:
    from sidelight.data.bags import Bags

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MOST_STATES = 4096  # of a pass: they fit the second-level cache
MOST_PASS = 1 << 21  # rows x states x kinds of a pass: some milliseconds
NEWTON = 60  # steps of the dual; ten are the rule
CLOSE = 1e-8  # rows by which sums may miss what is asked for
FIRM = 1e-9  # added to the diagonal: of a bag that counts all its rows one number follows from the others
STEEPEST = 4.0  # the most that a logarithm may change in a step


class DemandPlan(NamedTuple):
    """Bag b demands ``least`` to ``most`` rows of each of ``elements[starts[b]:starts[b + 1]]``."""

    starts: Ints
    elements: Ints
    least: Floats
    most: Floats
    member: NDArray[np.bool_]  # elements x classes
    others: Floats  # the weight of classes in no element of the bag
    is_special: NDArray[np.bool_]  # bags that are planned here; the others have lists
    is_counted: NDArray[np.bool_]  # those of them that count rows

    @classmethod
    def of(cls, bags: Bags) -> DemandPlan | None:
        """Write down what bags say beyond lists; what was cut off demands nothing, and allows what it allowed."""
        said = bags.demands
        if said is None:
            return None
        least = np.where(bags.whole[said.bags], said.least, 0.0)
        return cls(  # copies, because kernels refuse read-only arrays
            np.array(said.starts), np.array(said.elements), least, np.array(said.most), np.array(said.member),
            said.is_open.astype(np.float64), np.array(said.is_special), said.is_counted,
        )  # fmt: skip

    def restrict(self, begin: int, end: int) -> DemandPlan:
        """The plan of the bags ``begin`` to ``end``."""
        part = slice(int(self.starts[begin]), int(self.starts[end]))
        return self._replace(
            starts=self.starts[begin : end + 1] - part.start, elements=self.elements[part], least=self.least[part],
            most=self.most[part], others=self.others[begin:end], is_special=self.is_special[begin:end],
            is_counted=self.is_counted[begin:end],
        )  # fmt: skip


@kernel("intp(float64[::1], float64[::1], boolean[:, ::1], intp[:, ::1], intp[::1], intp[::1])")
def _states(
    least: Floats, most: Floats, kinds: NDArray[np.bool_], onward: Ints, top: Ints, stride: Ints
) -> int:  # pragma: no cover - compiled
    """Fill the next state of every kind and state, -1 where a row too many would carry something; returns how many."""
    E, n_states = len(least), 1
    for e in range(E):
        stride[e] = n_states
        n_states *= top[e] + 1
    for g in range(len(kinds)):
        for s in range(n_states):
            to = s
            for e in range(E):
                if kinds[g, e]:
                    if s // stride[e] % (top[e] + 1) < top[e]:
                        to += stride[e]
                    elif most[e] < np.inf:
                        to = -1
                        break
            onward[g, s] = to
    return n_states


@kernel("float64(float64[:, ::1], float64[::1], float64[::1], boolean[:, ::1], intp[::1], float64, float64[:, ::1])")
def _pass(
    share: Floats, least: Floats, most: Floats, kinds: NDArray[np.bool_], top: Ints, wrong: float, worth: Floats
) -> float:  # pragma: no cover - compiled
    """Forward and back over states: fills the worth of kinds; returns the log probability, NaN where it is too rare."""
    n, G = share.shape
    E, size = len(least), 1
    for e in range(E):
        size *= top[e] + 1
    onward, stride = np.empty((G, size), dtype=np.intp), np.empty(E, dtype=np.intp)
    n_states = _states(least, most, kinds, onward, top, stride)
    f, b, new, logs = np.zeros((n + 1, n_states)), np.empty(n_states), np.empty(n_states), 0.0
    f[0, 0] = 1.0
    for i in range(n):
        total = 0.0
        for g in range(G):
            w = share[i, g]
            if w > 0.0:
                for s in range(n_states):
                    to = onward[g, s]
                    if to >= 0:
                        f[i + 1, to] += f[i, s] * w
        for s in range(n_states):
            total += f[i + 1, s]
        if total < RARE:
            return -np.inf if total == 0.0 else np.nan
        for s in range(n_states):
            f[i + 1, s] /= total
        logs += np.log(total)
    total = 0.0
    for s in range(n_states):
        b[s] = 1.0
        for e in range(E):
            short = least[e] - s // stride[e] % (top[e] + 1)
            if short > 0:
                b[s] *= wrong**short
        total += f[n, s] * b[s]
    if total < RARE:
        return -np.inf if total == 0.0 else np.nan
    logs += np.log(total)
    for i in range(n - 1, -1, -1):
        sums, peak = 0.0, 0.0
        for s in range(n_states):
            new[s] = 0.0
        for g in range(G):
            value = 0.0
            for s in range(n_states):
                to = onward[g, s]
                if to >= 0:
                    value += f[i, s] * b[to]
                    new[s] += share[i, g] * b[to]
            worth[i, g] = value
            sums += share[i, g] * value
        for s in range(n_states):
            peak = max(peak, new[s])
        if sums <= 0.0 or peak <= 0.0:
            return np.nan
        for g in range(G):
            worth[i, g] /= sums
        for s in range(n_states):
            b[s] = new[s] / peak
    return logs


@kernel("void(float64[:, ::1], float64[::1])")
def _solve(H: Floats, b: Floats) -> None:  # pragma: no cover - compiled
    """Overwrite b with the solution of H x = b, H positive definite, by Cholesky; a small one needs no library."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1):
            left = H[i, j]
            for k in range(j):
                left -= H[i, k] * H[j, k]
            H[i, j] = left / H[j, j] if j < i else np.sqrt(max(left, FIRM))
        for k in range(i):
            b[i] -= H[i, k] * b[k]
        b[i] /= H[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= H[k, i] * b[k]
        b[i] /= H[i, i]


@kernel("float64(float64[:, ::1], float64[::1], float64[::1], boolean[:, ::1], float64[:, ::1])")
def _tilt(
    share: Floats, least: Floats, most: Floats, kinds: NDArray[np.bool_], worth: Floats
) -> float:  # pragma: no cover - compiled
    """Tilt rows until expected numbers are what is asked for; fills the worth of each kind, returns -KL."""
    n, G = share.shape
    E = len(least)
    tilt, factor, mass, q = np.zeros(E), np.empty(G), np.empty(G), np.empty(G)
    together, H, step = np.empty((G, G)), np.empty((E, E)), np.empty(E)
    is_free, is_up = np.empty(E, dtype=np.bool_), np.empty(E, dtype=np.bool_)
    middle, variance = np.full(E, -1.0), np.zeros(E)  # of what is said to be about so many
    for e in range(E):
        if least[e] > 0.0 and most[e] < np.inf:
            middle[e], variance[e] = 0.5 * (least[e] + most[e]), (most[e] - least[e]) ** 2 / 12.0
    value = 0.0
    for turn in range(NEWTON):
        peak = -np.inf
        for g in range(G):
            factor[g] = 0.0
            for e in range(E):
                if kinds[g, e]:
                    factor[g] += tilt[e]
            peak = max(peak, factor[g])
        for g in range(G):
            factor[g] = np.exp(factor[g] - peak)
        value = n * peak
        mass[:] = 0.0
        together[:] = 0.0
        for i in range(n):
            total = 0.0
            for g in range(G):
                q[g] = share[i, g] * factor[g]
                total += q[g]
            total = max(total, RARE)
            value += np.log(total)
            for g in range(G):
                q[g] /= total
                worth[i, g] = factor[g] / total
                mass[g] += q[g]
                for h in range(g + 1):
                    together[g, h] += q[g] * q[h]
        missing = 0.0
        for e in range(E):
            carried = 0.0
            for g in range(G):
                if kinds[g, e]:
                    carried += mass[g]
            is_up[e] = tilt[e] > 0.0 or (tilt[e] == 0.0 and carried < least[e])
            wanted = least[e] if is_up[e] else most[e]
            is_free[e] = middle[e] >= 0.0 or tilt[e] != 0.0 or carried < least[e] or carried > most[e]
            if middle[e] >= 0.0:
                wanted = middle[e] - variance[e] * tilt[e]
            step[e] = wanted - carried if is_free[e] else 0.0
            missing = max(missing, abs(step[e]))
        if missing < CLOSE * n or turn == NEWTON - 1:
            break
        for e in range(E):
            for d in range(E):
                H[e, d] = 0.0
                if is_free[e] and is_free[d]:
                    for g in range(G):
                        if kinds[g, e]:
                            if kinds[g, d]:
                                H[e, d] += mass[g]
                            for h in range(G):
                                if kinds[h, d]:
                                    H[e, d] -= together[max(g, h), min(g, h)]
            H[e, e] += FIRM * n + variance[e] if is_free[e] else 1.0
        _solve(H, step)
        largest = 0.0
        for e in range(E):
            largest = max(largest, abs(step[e]))
        slower = min(1.0, STEEPEST / max(largest, RARE))
        for e in range(E):
            tilt[e] += slower * step[e]
            if middle[e] < 0.0 and (tilt[e] < 0.0) == is_up[e]:
                tilt[e] = 0.0  # above the least, or below the most, nothing pulls
    for e in range(E):
        if middle[e] >= 0.0:
            value -= tilt[e] * (middle[e] - 0.5 * variance[e] * tilt[e])
        elif tilt[e] != 0.0:
            value -= tilt[e] * (least[e] if tilt[e] > 0.0 else most[e])
    return value


@kernel(
    "float64(float64[:, ::1], intp[::1], intp[::1], intp[::1], float64[::1], float64[::1], boolean[:, ::1], float64, "
    "intp[::1], float64, float64, float64[:, ::1])"
)
def demand_bag(
    log_P: Floats,
    class_of: Ints,
    rows: Ints,
    elements: Ints,
    least: Floats,
    most: Floats,
    member: NDArray[np.bool_],
    others: float,
    row_class: Ints,
    wrong: float,
    forgotten: float,
    Q: Floats,
) -> float:  # pragma: no cover - compiled
    """Fill the posteriors of a bag's rows, and return its log likelihood, -inf where what it says cannot be true."""
    n, K, E = len(rows), len(class_of), len(elements)
    weight, carries = np.ones(K), np.zeros((K, E), dtype=np.bool_)
    for k in range(K):
        c = class_of[k]
        if c < 0:
            continue  # novel clusters carry nothing, and are always allowed
        is_named, is_struck = False, False
        for e in range(E):
            if member[elements[e], c]:
                carries[k, e] = True
                is_named = True
                is_struck = is_struck or most[e] == 0.0
        weight[k] = 0.0 if is_struck else 1.0 if is_named else max(others, forgotten)
    asked = np.empty(E, dtype=np.intp)  # elements that ask for something of rows that are allowed
    n_asked = 0
    for e in range(E):
        if most[e] > 0.0 and (least[e] > 0.0 or most[e] < np.inf):
            asked[n_asked] = e
            n_asked += 1
    kind_of, G = np.zeros(K, dtype=np.intp), 1
    kinds = np.zeros((K + 1, n_asked), dtype=np.bool_)  # the first kind carries nothing
    for k in range(K):
        found = -1
        for g in range(G):
            is_same = True
            for a in range(n_asked):
                is_same = is_same and kinds[g, a] == carries[k, asked[a]]
            if is_same:
                found = g
                break
        if found < 0:
            for a in range(n_asked):
                kinds[G, a] = carries[k, asked[a]]
            found = G
            G += 1
        kind_of[k] = found
    share, value = np.zeros((n, G)), 0.0
    for i in range(n):
        r, known, peak, total = rows[i], row_class[rows[i]], -np.inf, 0.0
        for k in range(K):
            is_out = weight[k] == 0.0 or (known >= 0 and class_of[k] != known)
            Q[r, k] = -np.inf if is_out else log_P[r, k] + np.log(weight[k])
            peak = max(peak, Q[r, k])
        if peak == -np.inf:
            return -np.inf
        for k in range(K):
            Q[r, k] = np.exp(Q[r, k] - peak)
            total += Q[r, k]
        value += np.log(total) + peak
        for k in range(K):
            Q[r, k] /= total
            share[i, kind_of[k]] += Q[r, k]
    if n_asked == 0:
        return value
    low, high = np.empty(n_asked), np.empty(n_asked)
    top, size, is_whole = np.empty(n_asked, dtype=np.intp), 1, True
    for a in range(n_asked):
        low[a], high[a] = least[asked[a]], most[asked[a]]
        is_whole = is_whole and low[a] == np.floor(low[a]) and (high[a] == np.inf or high[a] == np.floor(high[a]))
        top[a] = np.intp(np.ceil(high[a] if high[a] < np.inf else low[a]))
        size = min(size * (top[a] + 1), MOST_PASS)
    worth, found_value = np.empty((n, G)), np.nan
    if is_whole and size <= MOST_STATES and n * size * G <= MOST_PASS:
        found_value = _pass(share, low, high, kinds[:G].copy(), top, wrong, worth)
    if np.isnan(found_value):
        found_value = _tilt(share, low, high, kinds[:G].copy(), worth)
    if found_value == -np.inf:
        return found_value
    for i in range(n):
        total = 0.0
        for k in range(K):
            Q[rows[i], k] *= worth[i, kind_of[k]]
            total += Q[rows[i], k]
        for k in range(K):
            Q[rows[i], k] /= max(total, RARE)
    return value + found_value
