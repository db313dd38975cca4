"""A softmax-linear objective over rows that are read part by part: two questions for one evaluation.

value(theta) = sum over parts of the terms about their rows + the terms of the mean posterior + penalty * |W|^2 / 2

The first question asks for the sum of the posteriors (``Share``), the second for value and gradient (``Pull``), with
the slope of the terms of the mean posterior in it. Posteriors are made again for the second question where nobody had
room to keep them.

Rows lie near 0 (:class:`~sidelight.data.parts.Look`), and curved features are kernels of landmarks that are made
block by block. Scores are linear in both, so the weights of features become weights of these *raw columns* before a
question is asked, and gradients go back the same way: no row is ever standardised, centred or projected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sidelight._core.posterior_passes import posteriors_of
from sidelight._core.tree_sum import Sums
from sidelight._models.feature_map import FeatureMap
from sidelight._models.objective import SoftmaxLinear, Term, of_mean, pull_rows
from sidelight._models.passes import Held, Passes
from sidelight.data.parts import Look

Floats = NDArray[np.float64]


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

    def columns(self, held: Held, run: tuple[int, int]) -> NDArray[Any]:
        """Return the raw columns of a block: rows near 0, and kernels of landmarks."""
        near = held.X[slice(*run)]
        return near if self.kernels is None else np.hstack([near, self.kernels(near)])

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

    def rule(self, W: Floats, b: Floats, name: str) -> Rule:
        """Turn weights of features into weights of raw columns."""
        curve = self.feature_map
        if curve is None:
            straight, kernels, shift = W, W[:0], np.zeros(W.shape[1])
        else:
            straight, kernels, shift = curve.weights_of_columns(W)
        raw = np.vstack([straight * self.look.spread[:, None], kernels])
        near = NearKernels.of(self.look, curve) if curve is not None and len(kernels) else None
        return Rule(raw, b + self.look.centre @ straight + shift, near, name)

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
        return pull_rows(terms, run, columns, P, log_P, self.slope)
