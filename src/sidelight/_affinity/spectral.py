"""The leading eigenvectors of a similarity operator, one connected component at a time.

eigsh returns a repeated eigenvalue once and does not say so; with several components that loses whole clusters. Each
component is therefore solved alone and the best eigenvectors of all of them are kept, larger components first on ties.

Operators are normalised similarities with something low-rank added:

    A = D^-1/2 (W + alpha Q) D^-1/2,   D = Diag(W 1)          [PF14] eq. (13), algorithm 1 step 3

D comes from W alone. Nothing of the size of Q is ever formed; a dense W stays one array, a sparse one CSR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.linalg import eigh, get_blas_funcs
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, lobpcg

from sidelight._affinity.links import MustBlocks, degrees
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


class Extra(Protocol):
    """What may be added to W: a symmetric product that can be restricted to some rows."""

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the product with a vector or a block of vectors."""

    def take(self, rows: np.ndarray) -> Self:
        """Return the same among ``rows`` only."""

    def couplings(self) -> list[Any]:
        """Return what couples rows, as matrices (things x rows)."""


@dataclass(frozen=True, slots=True)
class NormalisedSum:
    """D^-1/2 (W + alpha * extra) D^-1/2; rows of degree 0 are treated as similar to themselves only.

    ``W`` is an array or CSR of shape (n_rows, n_rows), ``root`` the vector D^-1/2, ``extra`` None or an :class:`Extra`.
    """

    W: Any
    root: np.ndarray
    alpha: float
    extra: Extra | None

    @classmethod
    def of(cls, W: Any, *, alpha: float = 0.0, extra: Extra | None = None, d: np.ndarray | None = None) -> Self:
        """Normalise by the degrees of ``W``, or by ``d`` when they are given."""
        d = degrees(W) if d is None else d
        root = 1.0 / np.sqrt(np.where(d > 0, d, 1.0))
        return cls(W, root.astype(W.dtype), float(alpha), extra if alpha != 0 else None)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.root)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return A @ V for a vector or a block."""
        root = self.root if V.ndim == 1 else self.root[:, None]
        scaled = root * V
        out = symmetric_product(self.W, scaled)
        if self.extra is not None:
            out += self.W.dtype.type(self.alpha) * self.extra.product(scaled)
        return root * out

    def take(self, rows: np.ndarray) -> Self:
        """Return the operator among ``rows``, with the normalisation it has here."""
        W = self.W[np.ix_(rows, rows)] if isinstance(self.W, np.ndarray) else self.W[rows][:, rows]
        extra = None if self.extra is None else self.extra.take(rows)
        return type(self)(W, self.root[rows], self.alpha, extra)

    def couplings(self) -> list[Any]:
        """Return what couples rows besides W."""
        return [] if self.extra is None else self.extra.couplings()

    def as_linear_operator(self) -> LinearOperator:
        """Return it as SciPy's LinearOperator, with block products."""
        return as_linear_operator(self.product, self.n_rows, self.W.dtype)


@dataclass(frozen=True, slots=True)
class AdditiveSum:
    """(W + extra + d_max I - D) / d_max: the normalisation of Kamvar, Klein and Manning (2003)."""

    W: Any
    d: np.ndarray
    d_max: float
    extra: Extra

    @classmethod
    def of(cls, W: Any, *, extra: Extra, d: np.ndarray) -> Self:
        """Normalise by the degrees ``d`` of both parts together."""
        return cls(W, d.astype(W.dtype), float(d.max()), extra)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.d)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the product with a vector or a block."""
        rest = self.W.dtype.type(self.d_max) - self.d
        out = self.W @ V + self.extra.product(V) + (rest if V.ndim == 1 else rest[:, None]) * V
        return np.asarray(out / self.W.dtype.type(self.d_max))

    def take(self, rows: np.ndarray) -> Self:
        """Return the operator among ``rows``, with the normalisation it has here."""
        W = self.W[np.ix_(rows, rows)] if isinstance(self.W, np.ndarray) else self.W[rows][:, rows]
        return type(self)(W, self.d[rows], self.d_max, self.extra.take(rows))

    def couplings(self) -> list[Any]:
        """Return what couples rows besides W."""
        return self.extra.couplings()


@dataclass(frozen=True, slots=True)
class PenalisedCut:
    """D^-1/2 (W - beta L) D^-1/2 with L the Laplacian of the must-links, after Ji and Xu (2006).

    Its top eigenvectors minimise the normalised cut plus beta * sum over must-links of (z_p - z_q)^2. The penalty
    stretches the spectrum far below -1, which Lanczos cannot stand; (D + beta L)^-1 is known in closed form and
    preconditions a block method.
    """

    W: Any
    d: np.ndarray
    beta: float
    blocks: MustBlocks

    @classmethod
    def of(cls, W: Any, *, beta: float, single: np.ndarray) -> Self:
        """Penalise the must-links of the rows with ``single >= 0``."""
        d = degrees(W)
        return cls(W, np.where(d > 0, d, 1.0), beta, MustBlocks.of(single, laplacian=True))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.d)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return the product with a vector or a block, in float64."""
        root = 1.0 / np.sqrt(self.d if V.ndim == 1 else self.d[:, None])
        scaled = root * V
        near = (self.W @ scaled.astype(self.W.dtype)).astype(np.float64)
        return root * (near - self.beta * self.blocks.product(scaled))

    def precondition(self, V: np.ndarray) -> np.ndarray:
        """Return (I + beta D^-1/2 L D^-1/2)^-1 @ V, block by block with the Sherman-Morrison formula."""
        root = np.sqrt(self.d)[:, None]
        inverse = (1.0 / (self.d + self.beta * self.blocks.sizes))[:, None]
        gather = self.blocks.gather
        scaled = inverse * (root * V)
        left = 1.0 - self.beta * (gather @ inverse)  # positive: inverse < 1 / (beta * block size)
        return root * (scaled + self.beta * inverse * (gather.T @ ((gather @ scaled) / left)))

    def take(self, rows: np.ndarray) -> Self:
        """Return the operator among ``rows``, with the normalisation it has here."""
        W = self.W[np.ix_(rows, rows)] if isinstance(self.W, np.ndarray) else self.W[rows][:, rows]
        return type(self)(W, self.d[rows], self.beta, self.blocks.take(rows))

    def couplings(self) -> list[Any]:
        """Return what couples rows besides W."""
        return self.blocks.couplings()


def symmetric_product(W: Any, V: np.ndarray) -> Any:
    """Return W @ V; of a dense W and one vector half the entries are read, and reading is what it waits for."""
    if V.ndim > 1 or not isinstance(W, np.ndarray):
        return W @ V
    symv = get_blas_funcs("symv", (W, V))
    return symv(1.0, W.T, V)  # W.T is laid out as BLAS wants it, so nothing is copied


def as_linear_operator(product: Callable[[np.ndarray], np.ndarray], n_rows: int, dtype: Any) -> LinearOperator:
    """Wrap a symmetric product for SciPy."""
    return LinearOperator(
        (n_rows, n_rows),
        matvec=lambda v: product(np.ascontiguousarray(v.ravel())),
        matmat=product,
        rmatvec=lambda v: product(np.ascontiguousarray(v.ravel())),
        dtype=dtype,
    )
