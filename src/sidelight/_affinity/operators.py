"""Normalised similarities with something low-rank added, as linear operators on blocks of vectors.

    A = D^-1/2 (W + alpha Q) D^-1/2,   D = Diag(W 1)          [PF14] eq. (13), algorithm 1 step 3

D comes from W alone. Nothing of the size of Q is ever formed; a dense W stays one array, a sparse one CSR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.linalg import get_blas_funcs
from scipy.sparse.linalg import LinearOperator

from sidelight._affinity.links import MustBlocks, degrees


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
