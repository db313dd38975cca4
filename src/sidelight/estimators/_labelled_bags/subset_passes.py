"""One bag, forward and back over the subsets of its labels that are carried so far; plain numbers, or logarithms.

With f[S] the probability that the rows so far carry exactly the listed labels S, one row costs O(2^m m):

    f'[S] = f[S] * (stay + sum_{c in S} move[c]) + sum_{c in S} f[S - c] * move[c]

The weights of a row sum to one, so f always sums to one and its mirror b peaks at one: no scaling is needed. A sum of
positive terms throughout; inclusion-exclusion would need fewer lines and cancel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel

Floats = NDArray[np.float64]

BLOCK = 1 << 20  # doubles of one bag's forward pass held at once; longer bags are recomputed block by block


@kernel("void(float64[:, ::1], float64[::1], float64[:, ::1])")
def _forward(move: Floats, stay: Floats, f: Floats) -> None:  # pragma: no cover - compiled
    """Fill f[i + 1] from f[i], row by row; f[0] is given."""
    n, m = move.shape
    size = 1 << m
    kept = np.empty(size)
    for i in range(n):
        kept[0] = stay[i]
        for c in range(m):
            bit = 1 << c
            for S in range(bit):
                kept[bit + S] = kept[S] + move[i, c]
        old, new = f[i], f[i + 1]
        for S in range(size):
            new[S] = old[S] * kept[S]
        for c in range(m):
            bit, w = 1 << c, move[i, c]
            for base in range(0, size, 2 * bit):
                for S in range(base, base + bit):
                    new[S + bit] += old[S] * w


@kernel("void(float64[:, ::1], float64[::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[::1])")
def _backward(
    move: Floats, stay: Floats, f: Floats, b: Floats, moved: Floats, stayed: Floats
) -> None:  # pragma: no cover - compiled
    """Walk b back over the rows; moved[i, c] and stayed[i] are what row i's choice is worth to the rest of the bag."""
    n, m = move.shape
    size = 1 << m
    kept, new = np.empty(size), np.empty(size)
    for i in range(n - 1, -1, -1):
        now = f[i]
        total = 0.0
        for S in range(size):
            total += now[S] * b[S]
        stayed[i] = total
        kept[0] = stay[i]
        for c in range(m):
            bit = 1 << c
            for S in range(bit):
                kept[bit + S] = kept[S] + move[i, c]
        for S in range(size):
            new[S] = b[S] * kept[S]
        for c in range(m):
            bit, w, worth = 1 << c, move[i, c], 0.0
            for base in range(0, size, 2 * bit):
                for S in range(base, base + bit):
                    worth += (now[S] + now[S + bit]) * b[S + bit]
                    new[S] += b[S + bit] * w
            moved[i, c] = worth
        for S in range(size):
            b[S] = new[S]


@kernel("float64(float64, float64)")
def logadd(a: float, b: float) -> float:  # pragma: no cover - compiled
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@kernel("void(float64[:, ::1], float64[::1], float64[:, ::1])")
def _forward_log(move: Floats, stay: Floats, f: Floats) -> None:  # pragma: no cover - compiled
    n, m = move.shape
    for i in range(n):
        for S in range(1 << m):
            total = f[i, S] + stay[i]
            for c in range(m):
                if S >> c & 1:
                    total = logadd(total, move[i, c] + logadd(f[i, S], f[i, S ^ (1 << c)]))
            f[i + 1, S] = total


@kernel("void(float64[:, ::1], float64[::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[::1])")
def _backward_log(
    move: Floats, stay: Floats, f: Floats, b: Floats, moved: Floats, stayed: Floats
) -> None:  # pragma: no cover - compiled
    n, m = move.shape
    new = np.empty(1 << m)
    for i in range(n - 1, -1, -1):
        stayed[i] = -np.inf
        for c in range(m):
            moved[i, c] = -np.inf
        for S in range(1 << m):
            stayed[i] = logadd(stayed[i], f[i, S] + b[S])
            total = b[S] + stay[i]
            for c in range(m):
                onward = b[S | (1 << c)]
                moved[i, c] = logadd(moved[i, c], f[i, S] + onward)
                total = logadd(total, move[i, c] + onward)
            new[S] = total
        for S in range(1 << m):
            b[S] = new[S]


@kernel("float64(float64[:, ::1], float64[::1], intp, float64, float64[:, ::1], float64[::1], boolean)")
def subset_pass(
    move: Floats, stay: Floats, required: int, wrong: float, moved: Floats, stayed: Floats, logs: bool
) -> float:  # pragma: no cover - compiled
    """One bag, forward and back; returns the (log) probability of coverage. Long bags hold one block of f at a time."""
    n, m = move.shape
    size = 1 << m
    block = n if n * size <= BLOCK else int(np.sqrt(n)) + 1
    n_blocks = (n + block - 1) // block
    zero = -np.inf if logs else 0.0
    heads = np.full((n_blocks, size), zero)
    heads[0, 0] = 0.0 if logs else 1.0
    f = np.empty((block + 1, size))
    last = 0
    for j in range(n_blocks):
        lo, hi = j * block, min(n, (j + 1) * block)
        last = hi - lo
        for S in range(size):
            f[0, S] = heads[j, S]
        if logs:
            _forward_log(move[lo:hi], stay[lo:hi], f[: last + 1])
        else:
            _forward(move[lo:hi], stay[lo:hi], f[: last + 1])
        if j + 1 < n_blocks:
            for S in range(size):
                heads[j + 1, S] = f[last, S]
    b = np.empty(size)
    total = zero
    for S in range(size):
        count, rest = 0, S
        while rest:
            rest &= rest - 1
            count += 1
        short = max(0, required - count)
        if logs:
            b[S] = 0.0 if short == 0 else (short * np.log(wrong) if wrong > 0 else -np.inf)
            total = logadd(total, f[last, S] + b[S])
        else:
            b[S] = wrong**short if short else 1.0
            total += f[last, S] * b[S]
    for j in range(n_blocks - 1, -1, -1):
        lo, hi = j * block, min(n, (j + 1) * block)
        if j < n_blocks - 1:
            for S in range(size):
                f[0, S] = heads[j, S]
            if logs:
                _forward_log(move[lo:hi], stay[lo:hi], f[: hi - lo + 1])
            else:
                _forward(move[lo:hi], stay[lo:hi], f[: hi - lo + 1])
        if logs:
            _backward_log(move[lo:hi], stay[lo:hi], f[: hi - lo + 1], b, moved[lo:hi], stayed[lo:hi])
        else:
            _backward(move[lo:hi], stay[lo:hi], f[: hi - lo + 1], b, moved[lo:hi], stayed[lo:hi])
    return total
