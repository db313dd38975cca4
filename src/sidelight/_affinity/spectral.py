"""The leading eigenvectors of a similarity operator, one connected component at a time.

eigsh returns a repeated eigenvalue once and does not say so; with several components that loses whole clusters. Each
component is therefore solved alone and the best eigenvectors of all of them are kept, larger components first on ties.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh, lobpcg

from sidelight._affinity.operators import as_linear_operator
from sidelight._core.process import one_blas_thread, without_library_warnings
from sidelight._core.segments import group_rows
from sidelight.errors import SidelightError
from sidelight.progress import report

DENSE_ROWS = 300  # a full decomposition of that many rows is faster than Lanczos, and never misses anything
_GUARDS = 5  # extra vectors in a block method: the last wanted ones converge with their neighbours
_BLOCK_TOL = 1e-3  # residual norm; the eigenvalues are then right to about its square
_BLOCK_STEPS = 100
_TIE = 1e-6  # eigenvalues closer than that are equal in float32


class Operator(Protocol):
    """A symmetric operator on rows that can be restricted to some of them."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the product with a vector or a block of vectors."""

    def take(self, rows: np.ndarray) -> Self:
        """Return the same among ``rows`` only."""


def leading_eigenvectors(
    operator: Operator, k: int, *, parts: np.ndarray, generator: np.random.Generator, tol: float, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``k`` algebraically largest eigenvalues, descending, and their vectors as columns.

    Parameters
    ----------
    operator : Operator
        Block diagonal over ``parts``.
    k : int
        How many; at most the number of rows.
    parts : ndarray of shape (n_rows,)
        The component of each row.
    generator : numpy.random.Generator
        Draws the starting vectors.
    tol : float
        Relative accuracy of the eigenvalues.
    dtype : float type
        That of the products.
    """
    n_parts = int(parts.max(initial=0)) + 1
    if n_parts == 1:
        return _solve(operator, k, generator, tol, dtype)
    order, starts = group_rows(parts, n_parts)
    solutions: list[tuple[float, int, np.ndarray, np.ndarray]] = []
    for part in range(n_parts):
        report("components", part, n_parts)
        rows = order[starts[part] : starts[part + 1]]
        values, vectors = _solve(operator.take(rows), min(k, len(rows)), generator, tol, dtype)
        solutions += [(value, len(rows), rows, vector) for value, vector in zip(values, vectors.T)]
    solutions.sort(key=lambda one: (-round(one[0] / _TIE), -one[1]))
    vectors = np.zeros((len(parts), k), dtype=dtype)
    for column, (_, _, rows, vector) in enumerate(solutions[:k]):
        vectors[rows, column] = vector
    return np.array([one[0] for one in solutions[:k]]), vectors


def unit_rows(V: np.ndarray) -> np.ndarray:
    """Scale each row to unit length, as algorithm 1 step 5 does; rows of zeros stay."""
    lengths = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.where(lengths > 0, lengths, 1.0)


def _solve(
    operator: Operator, k: int, generator: np.random.Generator, tol: float, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    n_rows = operator.n_rows
    if n_rows <= max(DENSE_ROWS, 2 * k + 2):
        A = operator.product(np.eye(n_rows, dtype=dtype)).astype(np.float64)
        with one_blas_thread():  # its steps are so small that threads of BLAS would spend the time waiting
            # all of them: LAPACK's search for some returns fewer where rows are copies and eigenvalues repeat
            values, vectors = eigh((A + A.T) / 2, driver="evd")
        values, vectors = values[n_rows - k :], vectors[:, n_rows - k :]
    elif hasattr(operator, "precondition"):
        values, vectors = _solve_preconditioned(operator, k, generator)
    else:
        start = generator.standard_normal(n_rows).astype(dtype)
        linear = as_linear_operator(operator.product, n_rows, dtype)
        try:
            with one_blas_thread():  # ARPACK's BLAS is not NumPy's, and the two would spin against each other
                values, vectors = eigsh(linear, k, which="LA", v0=start, tol=tol)
        except ArpackNoConvergence as error:
            raise SidelightError(
                f"The {k} leading eigenvectors of {n_rows} rows did not converge to a tolerance of {tol:g}. "
                "Raise eigen_tol, or use fewer neighbours."
            ) from error
    order = np.argsort(values)[::-1]
    vectors = vectors[:, order]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)])  # the sign is free: fix it
    return values[order].astype(np.float64), vectors * np.where(signs == 0, 1, signs).astype(vectors.dtype)


def _solve_preconditioned(operator: Any, k: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Iterate on a block with a preconditioner, for spectra too wide for Lanczos."""
    block = operator.precondition(generator.standard_normal((operator.n_rows, k + _GUARDS)))
    with without_library_warnings():  # guard vectors may stay behind; the wanted ones are ordered first
        values, vectors = lobpcg(
            operator.product, block, M=operator.precondition, largest=True, tol=_BLOCK_TOL, maxiter=_BLOCK_STEPS
        )
    order = np.argsort(values)[::-1][:k]
    return values[order], vectors[:, order]
