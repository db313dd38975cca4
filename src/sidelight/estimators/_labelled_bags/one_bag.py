"""One bag: what its rows become when every label on its list must be carried, and how likely the list is.

A pass goes forward and back over the subsets of labels that are carried so far, in plain numbers or logarithms. With
f[S] the probability that the rows so far carry exactly the listed labels S, one row costs O(2^m m):

    f'[S] = f[S] * (stay + sum_{c in S} move[c]) + sum_{c in S} f[S - c] * move[c]

The weights of a row sum to one, so f always sums to one and its mirror b peaks at one: no scaling is needed. A sum of
positive terms throughout; inclusion-exclusion would need fewer lines and cancel.

Bags with more than ``cap`` labels, or with many rows besides, keep the labels that are hardest to cover in the exact
pass; the others are conditioned on one by one as if rows were independent (assumed-density filtering). Among many rows
that is next to exact: a label that fifty rows may carry tells each of them little.
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


Ints = NDArray[np.intp]
MOST_STEPS = 1 << 15  # rows times subsets of one exact pass: 8 rows with 12 labels, 250 with 7
LEAST_EXACT = 6  # labels that the exact pass of any bag holds: linear in rows from 512 of them
RARE = 1e-200  # below it, products of two passes come near the smallest double: use logarithms


@kernel("intp[::1](float64[:, ::1], intp, boolean)")
def _hardest_first(share: Floats, m: int, logs: bool) -> Ints:  # pragma: no cover - compiled
    """Order a bag's labels by the probability that no row carries them, independent rows assumed; the largest first."""
    ease = np.zeros(m)
    order = np.arange(m)
    for c in range(m):
        for i in range(len(share)):
            own = np.exp(share[i, c]) if logs else share[i, c]
            ease[c] -= np.log1p(-min(own, 1.0 - 1e-15))  # a certain row must not give an infinity
        j = c
        while j > 0 and ease[order[j - 1]] > ease[c]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = c
    return order


@kernel("intp(intp, intp, intp)")
def n_exact(n: int, m: int, cap: int) -> int:  # pragma: no cover - compiled
    """How many of a bag's m labels are in the exact pass: fewer where its n rows are many, so that time is linear."""
    exact = min(m, cap)
    while exact > LEAST_EXACT and n << exact > MOST_STEPS:
        exact -= 1
    return exact


@kernel("float64(float64[:, ::1], intp, float64)")
def _condition(share: Floats, c: int, wrong: float) -> float:  # pragma: no cover - compiled
    """Condition independent rows on "label c is carried": rewrites ``share``, returns the log probability of it."""
    n = share.shape[0]
    after = np.ones(n + 1)
    for i in range(n - 1, -1, -1):
        after[i] = after[i + 1] * (1.0 - share[i, c])
    carried = 1.0 - (1.0 - wrong) * after[0]
    if carried < RARE:  # no row has any share of it: nothing to condition
        return np.log(RARE)
    before = 1.0
    for i in range(n):
        own = share[i, c]
        others = (1.0 - (1.0 - wrong) * before * after[i + 1]) / carried
        for d in range(share.shape[1]):
            share[i, d] *= others
        share[i, c] = own / carried
        before *= 1.0 - own
    return np.log(carried)


@kernel("float64(float64[:, ::1], intp, intp, float64, float64, intp, boolean, float64[:, ::1])")
def _cover(
    share: Floats, m: int, required: int, wrong: float, forgotten: float, cap: int, logs: bool, worth: Floats
) -> float:  # pragma: no cover - compiled
    """Condition a bag's rows on coverage: fills ``worth``, the factor of each slot, and returns the log probability.

    ``share`` and ``worth`` are (rows, m + 1): the listed labels, then everything that no list demands. Both are logs
    when ``logs`` is True. Returns NaN when the plain pass is too rare to be trusted.
    """
    n = len(share)
    order = np.arange(m)
    exact = n_exact(n, m, cap)
    if m > exact:
        order = _hardest_first(share, m, logs)
    move, stay = np.empty((n, exact)), np.empty(n)
    for i in range(n):
        stay[i] = share[i, m]
        for j in range(m):
            own = share[i, order[j]]
            if j >= exact:
                stay[i] = logadd(stay[i], own) if logs else stay[i] + own
            elif logs:
                move[i, j] = own + np.log1p(-forgotten)
                stay[i] = logadd(stay[i], own + np.log(forgotten)) if forgotten > 0 else stay[i]
            else:
                move[i, j] = own * (1.0 - forgotten)
                stay[i] += own * forgotten
    moved, stayed = np.empty((n, exact)), np.empty(n)
    total = subset_pass(move, stay, min(required, exact), wrong, moved, stayed, logs)
    if not logs and total < RARE:
        return np.nan
    for i in range(n):
        if logs:
            for s in range(m + 1):
                worth[i, s] = stayed[i] - total
            for j in range(exact):
                value = moved[i, j] + np.log1p(-forgotten)
                value = logadd(value, stayed[i] + np.log(forgotten)) if forgotten > 0 else value
                worth[i, order[j]] = value - total
        else:
            for s in range(m + 1):
                worth[i, s] = stayed[i] / total
            for j in range(exact):
                worth[i, order[j]] = ((1.0 - forgotten) * moved[i, j] + forgotten * stayed[i]) / total
    log_likelihood = total if logs else np.log(total)
    if m > exact and required == m:
        posterior = np.empty((n, m + 1))
        for i in range(n):
            for s in range(m + 1):
                posterior[i, s] = np.exp(share[i, s] + worth[i, s]) if logs else share[i, s] * worth[i, s]
        for j in range(exact, m):
            log_likelihood += _condition(posterior, order[j], wrong)
        for i in range(n):
            for s in range(m + 1):
                if logs:
                    worth[i, s] = np.log(posterior[i, s]) - share[i, s] if posterior[i, s] > 0 else -np.inf
                elif share[i, s] > 0:
                    worth[i, s] = posterior[i, s] / share[i, s]
    return log_likelihood


@kernel("intp[::1](intp[::1], intp[::1])")
def _slots(class_of: Ints, labels: Ints) -> Ints:  # pragma: no cover - compiled
    """Give every cluster its place in a bag: 0..m-1 for listed classes, m for novel clusters, m + 1 for the others."""
    m = len(labels)
    slot = np.empty(len(class_of), dtype=np.intp)
    for k in range(len(class_of)):
        slot[k] = m if class_of[k] < 0 else m + 1
        for c in range(m):
            if labels[c] == class_of[k]:
                slot[k] = c
    return slot


@kernel(
    "float64(float64[:, ::1], intp[::1], intp[::1], intp[::1], intp, float64, intp[::1], float64, float64, intp, "
    "float64[:, ::1])"
)
def plain_bag(
    P: Floats,
    class_of: Ints,
    rows: Ints,
    labels: Ints,
    required: int,
    others: float,
    row_class: Ints,
    wrong: float,
    forgotten: float,
    cap: int,
    Q: Floats,
) -> float:  # pragma: no cover - compiled
    """One bag with plain numbers; NaN when it needs logarithms."""
    n, m, K = len(rows), len(labels), P.shape[1]
    slot = _slots(class_of, labels)
    unlisted = max(others, forgotten)
    share = np.zeros((n, m + 1))
    log_likelihood = 0.0
    for i in range(n):
        r, known, total = rows[i], row_class[rows[i]], 0.0
        for k in range(K):
            value = P[r, k] if slot[k] <= m else P[r, k] * unlisted
            if known >= 0 and class_of[k] != known:
                value = 0.0
            Q[r, k] = value
            total += value
            share[i, min(slot[k], m)] += value
        if total < RARE:
            return np.nan
        log_likelihood += np.log(total)
        for c in range(m + 1):
            share[i, c] /= total
    if required > 0:
        worth = np.empty((n, m + 1))
        log_likelihood += _cover(share, m, required, wrong, forgotten, cap, False, worth)
        if np.isnan(log_likelihood):
            return log_likelihood
        for i in range(n):
            for k in range(K):
                Q[rows[i], k] *= worth[i, min(slot[k], m)]
    for i in range(n):
        total = 0.0
        for k in range(K):
            total += Q[rows[i], k]
        for k in range(K):
            Q[rows[i], k] /= total
    return log_likelihood


@kernel(
    "float64(float64[:, ::1], intp[::1], intp[::1], intp[::1], intp, float64, intp[::1], float64, float64, intp, "
    "float64[:, ::1])"
)
def log_bag(
    log_P: Floats,
    class_of: Ints,
    rows: Ints,
    labels: Ints,
    required: int,
    others: float,
    row_class: Ints,
    wrong: float,
    forgotten: float,
    cap: int,
    Q: Floats,
) -> float:  # pragma: no cover - compiled
    """One bag in logarithms; -inf when nothing that the bag says can be true."""
    n, m, K = len(rows), len(labels), log_P.shape[1]
    slot = _slots(class_of, labels)
    unlisted = max(others, forgotten)
    log_unlisted = np.log(unlisted) if unlisted > 0 else -np.inf
    share = np.full((n, m + 1), -np.inf)
    log_likelihood = 0.0
    for i in range(n):
        r, known, total = rows[i], row_class[rows[i]], -np.inf
        for k in range(K):
            value = log_P[r, k] if slot[k] <= m else log_P[r, k] + log_unlisted
            if known >= 0 and class_of[k] != known:
                value = -np.inf
            Q[r, k] = value
            total = logadd(total, value)
            share[i, min(slot[k], m)] = logadd(share[i, min(slot[k], m)], value)
        log_likelihood += total
        for c in range(m + 1):
            share[i, c] -= total if total > -np.inf else 0.0
    worth = np.zeros((n, m + 1))
    if required > 0 and log_likelihood > -np.inf:
        log_likelihood += _cover(share, m, required, wrong, forgotten, cap, True, worth)
    for i in range(n):
        peak, total = -np.inf, 0.0
        for k in range(K):
            Q[rows[i], k] += worth[i, min(slot[k], m)]
            peak = max(peak, Q[rows[i], k])
        for k in range(K):
            Q[rows[i], k] = np.exp(Q[rows[i], k] - peak) if peak > -np.inf else 0.0
            total += Q[rows[i], k]
        for k in range(K):
            Q[rows[i], k] /= total if total > 0 else 1.0
    return log_likelihood
