"""The softmax-linear belief and its objectives: a model plus weighted terms plus a penalty, theta -> (value, gradient).

P[i, k] is proportional to exp(x_i . W_k + b_k)
value(theta) = sum_t weight_t * term_t(P, log P) + penalty * |W|^2 / 2        with P = model(theta, X)

Parameters are one vector ``theta`` of W (features x clusters) followed by b, with any leading axes (starts, particles):
theta (..., d K + K) gives log P (..., n, K). X is touched only by ``@``, so CSR needs no second path.

``Objective`` is evaluated whole. ``BlockedObjective`` is a sum over blocks of rows, each of which goes from rows to
value and gradient while it is in the cache: blocks run in threads and are added up by one tree, so no result depends on
the number of threads. Two passes: the first makes P of every block and adds up the mean posterior, the second asks the
terms and pulls their gradients back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sidelight._core.posterior_passes import posteriors_of, pull_back
from sidelight._core.simplex import log_softmax
from sidelight._core.threads import map_in_threads
from sidelight._core.tree_sum import tree_sum


@dataclass(frozen=True, slots=True)
class SoftmaxLinear:
    """A linear score per cluster, turned into probabilities by a softmax."""

    n_features: int
    n_clusters: int

    @property
    def n_parameters(self) -> int:
        """Length of ``theta``."""
        return (self.n_features + 1) * self.n_clusters

    def unpack(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split ``theta`` (..., d K + K) into views W (..., d, K) and b (..., K)."""
        d, K = self.n_features, self.n_clusters
        return theta[..., : d * K].reshape(*theta.shape[:-1], d, K), theta[..., d * K :]

    def pack(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Join W (..., d, K) and b (..., K) into ``theta``."""
        return np.concatenate([W.reshape(*W.shape[:-2], -1), b], axis=-1)

    def log_posterior(self, theta: np.ndarray, X: Any) -> np.ndarray:
        """Log P (..., n, K) of the rows of X."""
        W, b = self.unpack(theta)
        if W.ndim == 2:
            return log_softmax(
                np.asarray(X @ W.astype(X.dtype, copy=False)) + b
            )  # never a float64 copy of float32 rows
        # One product for all starts: fold the leading axes into the columns.
        lead = W.shape[:-2]
        folded = np.moveaxis(W, -2, 0).reshape(self.n_features, -1)
        scores = np.moveaxis(np.asarray(X @ folded).reshape(X.shape[0], *lead, self.n_clusters), 0, -2)
        return log_softmax(scores + b[..., None, :])

    def pullback(self, D: np.ndarray, X: Any) -> np.ndarray:
        """Gradient in ``theta`` from D = d value / d scores (..., n, K)."""
        lead = D.shape[:-2]
        folded = np.moveaxis(D, -2, 0).reshape(X.shape[0], -1)
        gradient_W = np.asarray(X.T @ folded.astype(X.dtype, copy=False)).reshape(
            self.n_features, *lead, self.n_clusters
        )
        return self.pack(np.moveaxis(gradient_W, 0, -2), D.sum(axis=-2))


# A term maps (P, log P) to (value, G) with G = d value / d log P; leading axes of P are axes of the value.
Term = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Objective:
    """What a solver goes down: ``objective(theta)`` returns the value and its gradient."""

    model: SoftmaxLinear
    X: Any
    terms: Sequence[tuple[float, Term]]
    penalty: float = 0.0

    def __call__(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        log_P = self.model.log_posterior(theta, self.X)
        P = np.exp(log_P)
        value, G = np.zeros(theta.shape[:-1]), np.zeros_like(P)
        for weight, term in self.terms:
            term_value, term_G = term(P, log_P)
            value = value + weight * term_value
            G += weight * term_G
        # Softmax pullback; working with d / d log P means that nothing divides by P.
        G -= P * G.sum(axis=-1, keepdims=True)
        gradient = self.model.pullback(G, self.X)
        W, _ = self.model.unpack(theta)
        gradient_W, _ = self.model.unpack(gradient)
        gradient_W += self.penalty * W
        return value + 0.5 * self.penalty * np.square(W).sum(axis=(-2, -1)), gradient


Floats = npt.NDArray[np.float64]


Cuts = npt.NDArray[np.intp]


NUMBERS = 1 << 17  # posteriors of a block: 1 MB an array, so that the handful of them stays in the cache


FEWEST, ROWS = 8, 512  # blocks to share out where there are rows enough, and the fewest rows worth a block


@runtime_checkable
class SumOverRows(Protocol):
    """A term that is a sum over blocks of rows has this method."""

    def add_rows(self, first: int, last: int, weight: float, P: Floats, log_P: Floats, G: Floats) -> float:
        """Add ``weight`` times the gradient of the rows ``first`` to ``last`` to G; return that much of the value."""
        ...


@runtime_checkable
class OfMeanPosterior(Protocol):
    """A term that depends on the mean posterior alone has this method."""

    def of_share(self, share: Floats) -> tuple[float, Floats]:
        """The value, and its derivative by the mean posterior."""
        ...


def can_be_blocked(terms: Sequence[tuple[float, Term]]) -> bool:
    """Whether every term is a sum over rows or a function of the mean posterior."""
    return all(isinstance(term, (SumOverRows, OfMeanPosterior)) for _, term in terms)


def block_cuts(starts: Cuts, n_clusters: int) -> Cuts:
    """Cut rows into blocks of whole bags, of at most about ``NUMBERS`` posteriors each.

    The cuts depend on the data alone, never on the number of threads, and so does every sum over blocks.

    Parameters
    ----------
    starts : intp array of shape (n_bags + 1,)
        Where each bag of consecutive rows begins; the last entry is the number of rows.
    n_clusters : int
        Posteriors of a row.
    """
    n_rows = int(starts[-1])
    step = max(1, min(NUMBERS // max(n_clusters, 1), max(ROWS, n_rows // FEWEST)))
    wanted = np.arange(step, n_rows, step)
    return np.unique(np.concatenate([[0], starts[np.searchsorted(starts, wanted)], [starts[-1]]])).astype(np.intp)


@dataclass(frozen=True)
class BlockedObjective:
    """What ``Objective`` computes, block by block; every term must pass :func:`can_be_blocked`."""

    model: SoftmaxLinear
    X: Any
    terms: Sequence[tuple[float, Term]]
    penalty: float
    cuts: Cuts

    @cached_property
    def room(self) -> tuple[Floats, Floats]:
        """Log P and P, overwritten by every evaluation: new memory would cost as much as what is computed into it."""
        shape = int(self.cuts[-1]), self.model.n_clusters
        return np.empty(shape), np.empty(shape)

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        W, b = self.model.unpack(theta)
        runs = list(zip(self.cuts[:-1].tolist(), self.cuts[1:].tolist()))
        n_rows, weights = int(self.cuts[-1]), np.ascontiguousarray(W.T, dtype=self.X.dtype)
        log_P, P = self.room
        size = float(n_rows) * W.size  # multiplications of each of the two passes

        def believe(run: tuple[int, int]) -> tuple[Floats]:
            here = slice(*run)
            log_P[here] = (weights @ self.X[here].T).T  # the thin factor first: BLAS takes a fifth less time
            return (posteriors_of(log_P[here], b, P[here]),)

        (mass,) = tree_sum(map_in_threads(believe, runs, multiplications=size))
        value, slope = of_mean(self.terms, mass / n_rows)

        def pull(run: tuple[int, int]) -> tuple[float, Floats, Floats]:
            here = slice(*run)
            return pull_rows(self.terms, run, self.X[here], P[here], log_P[here], slope / n_rows)

        of_rows, gradient_W, gradient_b = tree_sum(map_in_threads(pull, runs, multiplications=size))
        value += of_rows + 0.5 * self.penalty * np.square(W).sum()
        return np.asarray(value), self.model.pack(gradient_W + self.penalty * W, gradient_b)


def of_mean(terms: Sequence[tuple[float, Term]], share: Floats) -> tuple[float, Floats]:
    """Return what the terms of the mean posterior are worth together, and their slope."""
    value, slope = 0.0, np.zeros_like(share)
    for weight, term in terms:
        if isinstance(term, OfMeanPosterior):
            term_value, term_slope = term.of_share(share)
            value += weight * term_value
            slope += weight * term_slope
    return value, slope


def pull_rows(
    terms: Sequence[tuple[float, Term]], run: tuple[int, int], X: Any, P: Floats, log_P: Floats, slope: Floats
) -> tuple[float, Floats, Floats]:
    """Return value, gradient by W and gradient by b of a block of rows.

    Parameters
    ----------
    terms : sequence of (float, Term)
        The terms; those of the mean posterior are in ``slope``.
    run : tuple of int
        The rows of the block, as the terms count them.
    X, P, log_P : arrays
        These rows and their posteriors.
    slope : array of shape (n_clusters,)
        Derivative by the sum of the posteriors.
    """
    value, G, gradient_b = 0.0, P * slope, np.empty(P.shape[1])
    for weight, term in terms:
        if isinstance(term, SumOverRows):
            value += term.add_rows(*run, weight, P, log_P, G)
    pull_back(P, G, gradient_b)
    return value, np.asarray((G.T.astype(X.dtype, copy=False) @ X).T, dtype=np.float64), gradient_b
