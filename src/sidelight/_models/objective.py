"""An objective is a model plus weighted terms plus a penalty on the weights: theta -> (value, gradient).

value(theta) = sum_t weight_t * term_t(P, log P) + penalty * |W|^2 / 2        with P = model(theta, X)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
