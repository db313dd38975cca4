"""The leading left singular vectors of a normalised table, one connected component at a time.

[B04] Algorithm 3 asks for eigenvectors of a matrix that is neither symmetric nor, in general, square; what works is the
singular vectors of D_r^(-1/2) P D_c^(-1/2). A table of k blocks has the singular value 1 k times over, and Lanczos
returns a repeated value once without saying so: hence the components. Beyond two axes each axis has its own unfolding,
normalised like a two-way table, and its own left vectors: the higher-order SVD that section 5.1 proposes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import svds

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

DENSE_SIDE = 400  # a full decomposition with a side that short is faster than Lanczos, and never misses anything


def unfold(coords: Ints, values: Floats, shape: tuple[int, ...], axis: int) -> Any:
    """Return the CSR matrix (codes of ``axis`` x cells of the other axes that occur), normalised as a two-way table.

    entry = P[x] / sqrt(P_axis[x_axis] * P_others[x_others])

    Each unfolding is a table of its own, its columns the combinations of the other axes, and Algorithm 3 divides by
    *its* margins; for two axes nothing changes. Dividing by the margins of the single axes instead lets combinations of
    codes that are frequent alone and rare together decide: on ten generated people that errs by 30 % instead of 0 %.
    """
    cell = np.zeros(values.size, dtype=np.int64)
    for a in range(len(shape)):
        if a != axis:
            cell = np.unique(cell * shape[a] + coords[a], return_inverse=True)[1]
    n_cells = int(cell.max()) + 1
    of_code, of_cell = np.bincount(coords[axis], values), np.bincount(cell, values)
    scaled = values / np.sqrt(of_code[coords[axis]] * of_cell[cell])
    return sp.csr_array((scaled, (coords[axis], cell)), shape=(shape[axis], n_cells))


def left_singular_vectors(A: Any, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the ``k`` largest singular values of a sparse matrix and their left vectors as columns.

    Fewer come back when the matrix has fewer rows or columns.
    """
    m, n = A.shape
    graph = sp.csr_array(sp.block_array([[None, A], [A.T, None]])) if m + n > DENSE_SIDE else None
    n_parts, parts = connected_components(graph, directed=False) if graph is not None else (1, np.zeros(m + n))
    triples: list[tuple[float, Ints, Floats]] = []
    for part in range(n_parts):
        rows, columns = np.flatnonzero(parts[:m] == part), np.flatnonzero(parts[m:] == part)
        if rows.size and columns.size:
            values, vectors = _solve(A[rows][:, columns] if n_parts > 1 else A, k, rng)
            triples += [(float(value), rows, vector) for value, vector in zip(values, vectors.T)]
    triples.sort(key=lambda one: (-round(one[0], 9), -one[1].size))  # ties between blocks: the larger block first
    vectors = np.zeros((m, min(k, len(triples))))
    for column, (_, rows, vector) in enumerate(triples[:k]):
        vectors[rows, column] = vector
    return np.array([one[0] for one in triples[:k]]), vectors


def _solve(A: Any, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    k = min(k, *A.shape)
    if min(A.shape) <= max(DENSE_SIDE, 2 * k + 2):
        if A.shape[1] > 4 * A.shape[0]:  # a wide unfolding: its short side squared is smaller
            squares, U = np.linalg.eigh((A @ A.T).toarray())
            order = np.argsort(squares)[::-1][:k]
            values, U = np.sqrt(np.maximum(squares[order], 0.0)), U[:, order]
        else:
            U, values, _ = np.linalg.svd(A.toarray(), full_matrices=False)
            values, U = values[:k], U[:, :k]
    else:
        U, values, _ = svds(A, k=k, v0=rng.standard_normal(min(A.shape)), return_singular_vectors="u")
        order = np.argsort(values)[::-1]
        values, U = values[order], U[:, order]
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])])  # the sign is free: fix it
    return values, U * np.where(signs == 0, 1.0, signs)
