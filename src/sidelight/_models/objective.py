"""An objective is a model plus weighted terms plus a penalty on the weights: theta -> (value, gradient).

value(theta) = sum_t weight_t * term_t(P, log P) + penalty * |W|^2 / 2        with P = model(theta, X)

``Objective`` is evaluated whole. ``BlockedObjective`` is a sum over blocks of rows, each of which goes from rows to
value and gradient while it is in the cache: blocks run in threads and are added up by one tree, so no result depends on
the number of threads. Two passes: the first makes P of every block and adds up the mean posterior, the second asks
the terms and pulls their gradients back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sidelight._core.posterior_passes import posteriors_of, pull_back
from sidelight._core.threads import map_in_threads
from sidelight._core.tree_sum import tree_sum
from sidelight._models.feature_map import FeatureMap
from sidelight._models.softmax_linear import SoftmaxLinear

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


@dataclass(frozen=True, slots=True)
class UnprojectedObjective:
    """An objective of weights of features, where only the columns are there that features are linear in.

    ``inner`` is the objective of weights of these columns (:meth:`FeatureMap.unprojected`), without a penalty.
    """

    model: SoftmaxLinear
    feature_map: FeatureMap
    inner: Objective | BlockedObjective
    penalty: float

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        W, b = self.model.unpack(theta)
        U, shift = self.feature_map.weights_unprojected(W)
        value, gradient = self.inner(self.inner.model.pack(U, b + shift))
        of_U, of_b = self.inner.model.unpack(gradient)
        of_W = self.feature_map.gradient_projected(of_U, of_b) + self.penalty * W
        return value + 0.5 * self.penalty * np.square(W).sum(), self.model.pack(of_W, of_b)


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
