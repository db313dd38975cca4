"""Markov chains over the labels of a few rows, given answers about pairs of them and kernels between them.

log p(z, c) = sum over answers of trust * [z_i = z_j] + log_prior[c] - price * (number of labels used beyond n_free)
              - D (n_asked - 1) / 2 * log[(S + nu tr C / n_asked) / (V + nu / n_asked)]

S = sum over i, j with z_i = z_j of C_ij for the kernel c of the chain, V = 1 - sum_k (n_k / n_asked)^2. S / V makes
"all alike" no better than labels drawn at random. A flip costs O(n_asked): sums per row and label are kept up to date.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight._core.kernels import kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

NU = 2.0  # pseudo-rows that keep the ratio S / V from 0 / 0 while few rows are known


@kernel("void(intp[::1], float64[:, :, ::1], float64[::1], float64[::1], float64, float64[::1])")
def _view_energies(z: Ints, C: Floats, log_prior: Floats, floor: Floats, half: float, out: Floats) -> None:
    """Write log p(z, c) without answers and price of every kernel c into ``out``."""
    n_asked = len(z)
    sizes = np.zeros(z.max() + 1)
    for i in range(n_asked):
        sizes[z[i]] += 1.0
    V = 1.0 - (sizes * sizes).sum() / n_asked**2
    for m in range(len(C)):
        S = 0.0
        for i in range(n_asked):
            S += C[m, i, i]
            for j in range(i):
                if z[i] == z[j]:
                    S += 2.0 * C[m, i, j]
        out[m] = log_prior[m] - half * np.log((max(S, 0.0) + floor[m]) / (V + NU / n_asked))


@kernel(
    "Tuple((float64[::1], float64[:, :, ::1], float64[:, ::1]))(intp[:, ::1], float64[:, :, ::1], float64[::1], "
    "float64[:, ::1], float64[::1], intp, float64, float64, intp, float64, float64, intp, float64[:, ::1])"
)
def sweep_chains(
    Z: Ints,
    C: Floats,
    log_prior: Floats,
    A: Floats,
    trust: Floats,
    n_labels: int,
    D: float,
    price: float,
    n_free: int,
    hot: float,
    cold: float,
    n_sweeps: int,
    uniforms: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Sweep every chain, cooling from ``hot`` to ``cold``; Z is changed in place.

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
    trust : array of shape (n_chains,)
        log((1 - eps) / eps) of each chain.
    n_labels, D, price, n_free : int, float, float, int
        Labels allowed, the weight of the kernel term, and what each label costs that is used beyond ``n_free``.
    hot, cold, n_sweeps : float, float, int
        Temperatures of the first and last sweep, and their number.
    uniforms : array of shape (n_chains, 1 + n_sweeps * n_asked)
        Random numbers.

    Returns
    -------
    energies, conditionals, kernels
        log p without the answers of each chain, summed over kernels; p(label | the others) of each row; and
        p(kernel | labels).
    """
    R, n_asked = Z.shape
    M = len(C)
    half = D * (n_asked - 1) / 2.0
    energies, conditionals, kernels = np.zeros(R), np.zeros((R, n_asked, n_labels)), np.zeros((R, M))
    p, sizes = np.zeros(n_labels), np.zeros(n_labels)
    floor, after = np.zeros(M), np.zeros(M)
    for m in range(M):
        for i in range(n_asked):
            floor[m] += C[m, i, i] * NU / n_asked
    for r in range(R):
        z = Z[r]
        sizes[:] = 0.0
        for i in range(n_asked):
            sizes[z[i]] += 1.0
        _view_energies(z, C, log_prior, floor, half, kernels[r])  # then the kernel of this chain is drawn
        top = kernels[r].max()
        total = 0.0
        for m in range(M):
            kernels[r, m] = np.exp((kernels[r, m] - top) / hot)
            total += kernels[r, m]
        draw, chosen = uniforms[r, 0] * total, 0
        while chosen < M - 1 and draw > kernels[r, chosen]:
            draw -= kernels[r, chosen]
            chosen += 1
        for m in range(M):
            kernels[r, m] /= total
        K = C[chosen]
        # sums per row and label
        G, B = np.zeros((n_asked, n_labels)), np.zeros((n_asked, n_labels))
        S = 0.0
        for i in range(n_asked):
            S += K[i, i]
            for j in range(n_asked):
                if j != i:
                    G[i, z[j]] += K[i, j]
                    B[i, z[j]] += trust[r] * A[i, j]
            S += G[i, z[i]]
        for turn in range(n_sweeps + 1):
            last = turn == n_sweeps  # the last pass only looks: it takes the conditionals
            T = cold if last or n_sweeps < 2 else hot + (cold - hot) * turn / (n_sweeps - 1)
            for i in range(n_asked):
                old = z[i]
                sizes[old] -= 1.0
                squares, n_used = (sizes * sizes).sum(), (sizes > 0.0).sum()
                top = -1e300
                for k in range(n_labels):
                    V_k = 1.0 - (squares + 2.0 * sizes[k] + 1.0) / n_asked**2
                    S_k = S + 2.0 * (G[i, k] - G[i, old])
                    p[k] = B[i, k] - half * np.log((max(S_k, 0.0) + floor[chosen]) / (V_k + NU / n_asked))
                    if sizes[k] == 0.0 and n_used >= n_free:
                        p[k] -= price
                    if p[k] > top:
                        top = p[k]
                total = 0.0
                for k in range(n_labels):
                    p[k] = np.exp((p[k] - top) / T)
                    total += p[k]
                new = old
                if last:
                    for k in range(n_labels):
                        conditionals[r, i, k] = p[k] / total
                else:
                    draw, new = uniforms[r, 1 + turn * n_asked + i] * total, 0
                    while new < n_labels - 1 and draw > p[new]:
                        draw -= p[new]
                        new += 1
                sizes[new] += 1.0
                if new != old:
                    z[i] = new
                    S += 2.0 * (G[i, new] - G[i, old])
                    for j in range(n_asked):
                        if j != i:
                            G[j, old] -= K[j, i]
                            G[j, new] += K[j, i]
                            B[j, old] -= trust[r] * A[j, i]
                            B[j, new] += trust[r] * A[j, i]
        _view_energies(z, C, log_prior, floor, half, after)
        top = after.max()
        energies[r] = top + np.log(np.exp(after - top).sum())
        energies[r] -= price * max((sizes > 0.0).sum() - n_free, 0)
    return energies, conditionals, kernels


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
        if a < 0 or (best <= 0.0 and left <= most):
            break
        alive[b] = False
        left -= 1
        for j in range(n_asked):
            if z[j] == b:
                z[j] = a
            if alive[j] and j != a:
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
