"""The softmax-linear belief and its objectives: a model plus weighted terms plus a penalty, theta -> (value, gradient).

P[i, k] is proportional to exp(x_i . W_k + b_k)
value(theta) = sum_t weight_t * term_t(P, log P) + penalty * |W|^2 / 2        with P = model(theta, X)

Parameters are one vector ``theta`` of W (features x clusters) followed by b, with any leading axes (starts, particles):
theta (..., d K + K) gives log P (..., n, K). X is touched only by ``@``, so CSR needs no second path.

``Objective`` is evaluated whole. ``BlockedObjective`` is a sum over blocks of rows, each of which goes from rows to
value and gradient while it is in the cache: blocks run in threads and are added up by one tree, so no result depends on
the number of threads. Two passes: the first makes P of every block and adds up the mean posterior, the second asks the
terms and pulls their gradients back.

``PartedObjective`` asks whoever goes over very many rows the same in two questions, ``Share`` and ``Pull``; posteriors
are made again for the second one where nobody had room to keep them. Rows lie near 0
(:class:`~sidelight.data.parts.Look`), and curved features are kernels of landmarks that are made block by block. Scores
are linear in both, so the weights of features become weights of these *raw columns* before a question is asked, and
gradients go back the same way: no row is ever standardised, centred or projected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from sidelight._core.process import map_in_threads
from sidelight._core.simplex import log_softmax, posteriors_of, pull_back
from sidelight._core.tree_sum import Sums, tree_sum
from sidelight._models.feature_map import FeatureMap
from sidelight._models.passes import Held, Passes
from sidelight.data.parts import Look


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
        terms = sums_over_rows(self.terms)

        def pull(run: tuple[int, int]) -> tuple[float, Floats, Floats]:
            here = slice(*run)
            return pull_rows(terms, run, self.X[here], P[here], log_P[here], slope / n_rows)

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


def sums_over_rows(terms: Sequence[tuple[float, Term]]) -> list[tuple[float, SumOverRows]]:
    """Return the terms that are sums over rows: asked once, for asking a protocol takes as long as a small block."""
    return [(weight, cast(SumOverRows, term)) for weight, term in terms if isinstance(term, SumOverRows)]


def pull_rows(
    terms: Sequence[tuple[float, SumOverRows]], run: tuple[int, int], X: Any, P: Floats, log_P: Floats, slope: Floats
) -> tuple[float, Floats, Floats]:
    """Return value, gradient by W and gradient by b of a block of rows.

    Parameters
    ----------
    terms : sequence of (float, SumOverRows)
        The terms that are sums over rows; those of the mean posterior are in ``slope``.
    run : tuple of int
        The rows of the block, as the terms count them.
    X, P, log_P : arrays
        These rows and their posteriors.
    slope : array of shape (n_clusters,)
        Derivative by the sum of the posteriors.
    """
    value, G, gradient_b = 0.0, P * slope, np.empty(P.shape[1])
    for weight, term in terms:
        value += term.add_rows(*run, weight, P, log_P, G)
    pull_back(P, G, gradient_b)
    return value, np.asarray((G.T.astype(X.dtype, copy=False) @ X).T, dtype=np.float64), gradient_b


class TermsOfPart(Protocol):
    """What a family wishes of the rows of a part; small enough to be sent with every question."""

    @property
    def key(self) -> str:
        """A name that no other fit's wishes have: plans are made once for each part."""
        ...

    def __call__(self, held: Held) -> Sequence[tuple[float, Term]]:
        """Return weighted terms whose rows are counted from the first row of the part."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class NearKernels:
    """exp(-|x - z|^2 / h) for rows near 0 and landmarks z, in single precision: what a question carries of a map."""

    spread: NDArray[np.float32]
    points: NDArray[np.float32]  # 2 z / h, one column a landmark
    lengths: NDArray[np.float32]  # |z|^2 / h
    width: float

    @classmethod
    def of(cls, look: Look, curve: FeatureMap) -> NearKernels:
        """Take the centre off the landmarks of a map; they are not divided, so that distances stay."""
        near = curve.landmarks - look.centre
        lengths = np.einsum("ij,ij->i", near, near) / curve.width
        points = np.ascontiguousarray(near.T * (2.0 / curve.width), dtype=np.float32)
        return cls(look.spread.astype(np.float32), points, lengths.astype(np.float32), curve.width)

    def __call__(self, near: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the kernels of some rows."""
        rows = near * self.spread
        exponents = rows @ self.points
        exponents -= (np.einsum("ij,ij->i", rows, rows) / np.float32(self.width))[:, None]
        exponents -= self.lengths
        # beyond -87 the exponential is no normal number; rows so far that both squares are infinite get it, too
        return np.exp(np.fmax(exponents, np.float32(-87.0), out=exponents), out=exponents)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """Weights of raw columns, which kernels they need, and a name for "the same rule as in the last question"."""

    W: Floats
    b: Floats
    kernels: NearKernels | None
    name: str
    keeps: bool = False  # whether kernels are kept from one question to the next

    def columns(self, held: Held, run: tuple[int, int]) -> NDArray[Any]:
        """Return the raw columns of a block: rows near 0, and kernels of landmarks."""
        near, kernels = held.X[slice(*run)], self.kernels
        if kernels is None:
            return near
        near = near.astype(np.float32, copy=False)
        if not self.keeps:
            return np.hstack([near, kernels(near)])
        return np.asarray(held.once(f"columns/{run[0]}", lambda: np.hstack([near, kernels(near)])))

    def believe(self, columns: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """Return P, log P and the sum of P over the rows."""
        scores = self.W.T.astype(columns.dtype) @ columns.T  # as in BlockedObjective
        log_P = np.ascontiguousarray(scores.T, dtype=np.float64)
        P = np.empty_like(log_P)
        return P, log_P, posteriors_of(log_P, self.b, P)


@dataclass(frozen=True, slots=True)
class RawColumns:
    """How features come from raw columns: rows in the user's units, or mapped."""

    look: Look
    feature_map: FeatureMap | None = None
    keeps: bool = False

    def rule(self, W: Floats, b: Floats, name: str) -> Rule:
        """Turn weights of features into weights of raw columns."""
        curve = self.feature_map
        if curve is None:
            straight, kernels, shift = W, W[:0], np.zeros(W.shape[1])
        else:
            straight, kernels, shift = curve.weights_of_columns(W)
        raw = np.vstack([straight * self.look.spread[:, None], kernels])
        near = NearKernels.of(self.look, curve) if curve is not None and len(kernels) else None
        return Rule(raw, b + self.look.centre @ straight + shift, near, name, self.keeps)

    def gradient(self, raw: Floats, of_b: Floats) -> Floats:
        """Turn a gradient by weights of raw columns into one by weights of features."""
        d = len(self.look.spread)
        straight = raw[:d] * self.look.spread[:, None] + np.outer(self.look.centre, of_b)
        if self.feature_map is None:
            return straight
        return self.feature_map.gradient_of_columns(straight, raw[d:], of_b)


@dataclass(slots=True)
class PartedObjective:
    """What a solver goes down: ``objective(theta)`` returns the value and its gradient."""

    model: SoftmaxLinear
    passes: Passes
    columns: RawColumns
    of_part: TermsOfPart
    of_all: Sequence[tuple[float, Term]]
    penalty: float
    n_evaluations: int = 0

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        self.n_evaluations += 1
        W, b = self.model.unpack(theta)
        rule = self.columns.rule(W, b, f"{self.of_part.key}/{self.n_evaluations}")
        value, slope = 0.0, np.zeros(self.model.n_clusters)
        if self.of_all:
            (mass,) = self.passes.sum(Share(rule))
            value, slope = of_mean(self.of_all, mass / self.passes.n_rows)
        of_rows, raw, of_b = self.passes.sum(Pull(rule, self.of_part, slope / self.passes.n_rows))
        value += of_rows + 0.5 * self.penalty * np.square(W).sum()
        return np.asarray(value), self.model.pack(self.columns.gradient(raw, of_b) + self.penalty * W, of_b)


@dataclass(frozen=True, slots=True)
class Share:
    """What do the posteriors add up to?"""

    rule: Rule

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Answer for one block, and keep the posteriors where there is room."""
        columns = self.rule.columns(held, run)
        P, log_P, mass = self.rule.believe(columns)
        if held.keeps:
            held.made[f"P/{run[0]}"] = self.rule.name, P, log_P
        return (mass,)


@dataclass(frozen=True, slots=True)
class Pull:
    """What are the terms worth, and what is their gradient?"""

    rule: Rule
    of_part: TermsOfPart
    slope: Floats

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Answer for one block."""
        columns = self.rule.columns(held, run)
        name, P, log_P = held.made.get(f"P/{run[0]}", ("", None, None))
        if name != self.rule.name:
            P, log_P, _ = self.rule.believe(columns)
        terms = held.once(self.of_part.key, lambda: self.of_part(held))
        return pull_rows(sums_over_rows(terms), run, columns, P, log_P, self.slope)
