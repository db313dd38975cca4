"""Markov chains over the labels of a few rows, given answers about pairs of them and kernels between them.

log p(z, c) = sum over answers of +-trust * [z_i = z_j] + log_prior[c] - price * (number of labels used beyond n_free)
              - D (n_asked - 1) / 2 * log[(S + nu tr C / n_asked) / (V + nu / n_asked)]

S = sum over i, j with z_i = z_j of C_ij for the kernel c of the chain, V = 1 - sum_k (n_k / n_asked)^2. S / V makes
"all alike" no better than labels drawn at random.

A chain moves single rows and whole blocks, and both moves keep p exactly. In a block move (Swendsen and Wang 1987) an
answer that the labels keep becomes a bond with probability 1 - exp(-trust), and rows joined by bonds get their label
together, given all others: a wrong answer that carries many rows is undone in one step. "Same" makes bonds, and with
two labels "different" as well. A block of labels z moves to (z + s) mod n_labels, for one s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight._core.kernels import kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]

NU = 2.0  # pseudo-rows that keep the ratio S / V from 0 / 0 while few rows are known
ALL, ONLY_DIFFERENT, NONE = 0, 1, 2  # which answers a move weighs; bonds stand for the others


@kernel("float64(intp[::1], float64[:, ::1])")
def _same_sum(z: Ints, K: Floats) -> float:
    """Return S, the sum of K over pairs of rows with one label."""
    S = 0.0
    for i in range(len(z)):
        S += K[i, i]
        for j in range(i):
            if z[i] == z[j]:
                S += 2.0 * K[i, j]
    return S


@kernel("intp(intp[::1], float64[:, :, ::1], float64[::1], float64[::1], float64[::1], float64, float64)")
def draw_kernel(
    z: Ints, C: Floats, log_prior: Floats, floor: Floats, sizes: Floats, half: float, uniform: float
) -> int:
    """Draw the kernel of a chain, given its labels."""
    n_asked, M = len(z), len(C)
    V = 1.0 - (sizes * sizes).sum() / n_asked**2
    p = np.empty(M)
    for m in range(M):
        S = max(_same_sum(z, C[m]), 0.0)
        p[m] = log_prior[m] - half * np.log((S + floor[m]) / (V + NU / n_asked))
    p = np.exp(p - p.max())
    draw, chosen = uniform * p.sum(), 0
    while chosen < M - 1 and draw > p[chosen]:
        draw -= p[chosen]
        chosen += 1
    return chosen


@kernel(
    "float64(intp[::1], intp[::1], float64[:, ::1], float64[:, ::1], float64, intp, float64[::1], float64, float64, "
    "float64, float64, intp, float64, float64[::1], boolean[::1])"
)
def _move(
    z: Ints,
    block: Ints,
    K: Floats,
    A: Floats,
    trust: float,
    weighed: int,
    sizes: Floats,
    S: float,
    floor: float,
    half: float,
    price: float,
    n_free: int,
    uniform: float,
    p: Floats,
    inside: Bools,
) -> float:
    """Draw one shift of the labels of a block, and write the chance of each shift into ``p``; return the new S.

    A negative ``uniform`` leaves the labels as they are.
    """
    n_asked, n_labels = len(z), len(sizes)
    alike, meets = np.zeros(n_labels), np.zeros(n_labels)
    p[:] = 0.0
    n_like_first = 0.0
    for i in block:
        inside[i] = True
        sizes[z[i]] -= 1.0
        if z[i] == z[block[0]]:
            n_like_first += 1.0
    for i in block:
        for j in range(n_asked):
            if not inside[j]:
                s = z[j] - z[i]
                if s < 0:
                    s += n_labels
                alike[s] += K[i, j]
                if weighed == ALL or (weighed == ONLY_DIFFERENT and A[i, j] < 0.0):
                    p[s] += trust * A[i, j]
        for s in range(n_labels):
            meets[s] += sizes[(z[i] + s) % n_labels]
    own = n_like_first**2 + (len(block) - n_like_first) ** 2  # a block has at most two labels
    squares, n_used = (sizes * sizes).sum() + own, (sizes > 0.0).sum()
    for s in range(n_labels):
        V_s = 1.0 - (squares + 2.0 * meets[s]) / n_asked**2
        S_s = max(S + 2.0 * (alike[s] - alike[0]), 0.0)
        p[s] -= half * np.log((S_s + floor) / (V_s + NU / n_asked))
        if n_used >= n_free and sizes[(z[block[0]] + s) % n_labels] == 0.0:
            p[s] -= price
    top = p.max()
    total = 0.0
    for s in range(n_labels):
        p[s] = np.exp(p[s] - top)
        total += p[s]
    shift, draw = 0, uniform * total
    while draw > p[shift] and shift < n_labels - 1:
        draw -= p[shift]
        shift += 1
    for s in range(n_labels):
        p[s] /= total
    for i in block:
        z[i] = (z[i] + shift) % n_labels
        sizes[z[i]] += 1.0
        inside[i] = False
    return S + 2.0 * (alike[shift] - alike[0])


@kernel("intp[::1](intp[::1], float64[:, ::1], intp[:, ::1], float64, boolean, float64[::1])")
def _blocks(z: Ints, A: Floats, ends: Ints, trust: float, two_labels: bool, uniforms: Floats) -> Ints:
    """Return the block of each row, named by one of its rows, with bonds drawn anew."""
    block = np.arange(len(z))
    for e in range(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        kept = z[i] == z[j] if A[i, j] > 0.0 else two_labels and z[i] != z[j]
        if kept and uniforms[e] < 1.0 - np.exp(-trust * abs(A[i, j])):
            while block[i] != i:
                i = block[i]
            while block[j] != j:
                j = block[j]
            block[max(i, j)] = min(i, j)
    for i in range(len(z)):
        block[i] = block[block[i]]  # the row that names a block is its first
    return block


@kernel(
    "float64[:, :, ::1](intp[:, ::1], float64[:, :, ::1], float64[::1], float64[:, ::1], intp[:, ::1], float64[::1], "
    "intp, float64, float64, intp, intp, float64[:, ::1])"
)
def sweep_chains(
    Z: Ints,
    C: Floats,
    log_prior: Floats,
    A: Floats,
    ends: Ints,
    trust: Floats,
    n_labels: int,
    D: float,
    price: float,
    n_free: int,
    n_sweeps: int,
    uniforms: Floats,
) -> Floats:
    """Draw the kernel of every chain, then move its blocks and its rows ``n_sweeps`` times; Z is changed in place.

    Parameters
    ----------
    Z : array of shape (n_chains, n_asked)
        Labels of each chain.
    C : array of shape (n_kernels, n_asked, n_asked)
        Centred inverse of each kernel matrix.
    log_prior : array of shape (n_kernels,)
        Log prior and determinant of each kernel.
    A : array of shape (n_asked, n_asked)
        Answers: how many more said alike than different, symmetric.
    ends : array of shape (n_pairs, 2)
        The pairs of rows with an answer, each once.
    trust : array of shape (n_chains,)
        log((1 - eps) / eps) of each chain.
    n_labels, D, price, n_free : int, float, float, int
        Labels allowed, the weight of the kernel term, and what each label costs that is used beyond ``n_free``; with
        two labels both are free.
    n_sweeps : int
        How often all blocks and all rows are moved.
    uniforms : array of shape (n_chains, 1 + n_sweeps * (n_pairs + 2 * n_asked))
        Random numbers.

    Returns
    -------
    array of shape (n_chains, n_asked, n_labels)
        p(label | all others) of each row, under the kernel that was drawn.
    """
    n_chains, n_asked = Z.shape
    two_labels = n_labels == 2
    half = D * (n_asked - 1) / 2.0
    conditionals = np.zeros((n_chains, n_asked, n_labels))
    sizes, p, inside = np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_asked, dtype=np.bool_)
    floor, rows = np.zeros(len(C)), np.arange(n_asked)
    for m in range(len(C)):
        for i in range(n_asked):
            floor[m] += C[m, i, i] * NU / n_asked
    for r in range(n_chains):
        z, drawn = Z[r], uniforms[r]
        sizes[:] = 0.0
        for i in range(n_asked):
            sizes[z[i]] += 1.0
        m = draw_kernel(z, C, log_prior, floor, sizes, half, drawn[0])
        K, S, at = C[m], _same_sum(z, C[m]), 1
        for turn in range(2 * n_sweeps):
            alone = turn % 2 == 1  # blocks and single rows take turns
            block, weighed = rows, ALL
            if not alone:
                block = _blocks(z, A, ends, trust[r], two_labels, drawn[at : at + len(ends)])
                weighed = NONE if two_labels else ONLY_DIFFERENT
                at += len(ends)
            for i in range(n_asked):
                if block[i] == i:
                    members = rows[i : i + 1] if alone else rows[block == i]
                    u = drawn[at + i]
                    S = _move(
                        z, members, K, A, trust[r], weighed, sizes, S, floor[m], half, price, n_free, u, p, inside
                    )  # fmt: skip
            at += n_asked
        for i in range(n_asked):  # only a look
            _move(z, rows[i : i + 1], K, A, trust[r], ALL, sizes, S, floor[m], half, price, n_free, -1.0, p, inside)
            for s in range(n_labels):
                conditionals[r, i, (z[i] + s) % n_labels] = p[s]
    return conditionals


@kernel("intp[::1](float64[:, ::1], intp)")
def contract(W: Floats, most: int) -> Ints:
    """Join the two groups of largest total weight while that is positive or there are more than ``most`` groups."""
    n_asked = len(W)
    z = np.arange(n_asked)
    M = W.copy()
    alive = np.ones(n_asked, dtype=np.bool_)
    left = n_asked
    for i in range(n_asked):
        M[i, i] = -1e300
    while left > 1:
        best, a, b = -1e300, -1, -1
        for i in range(n_asked):
            if alive[i]:
                for j in range(i):
                    if alive[j] and M[i, j] > best:
                        best, a, b = M[i, j], i, j
        if best <= 0.0 and left <= most:
            break
        alive[b] = False
        left -= 1
        for j in range(n_asked):
            if z[j] == b:
                z[j] = a
            M[a, j] += M[b, j]
            M[j, a] = M[a, j]
    numbers = np.zeros(n_asked, dtype=np.intp)
    n_groups = 0
    for i in range(n_asked):
        if alive[i]:
            for j in range(n_asked):
                if z[j] == i:
                    numbers[j] = n_groups
            n_groups += 1
    return numbers
