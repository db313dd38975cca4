"""Particles of a posterior that is a Gaussian times a factor: resampled by weight, moved by elliptical slice sampling.

Elliptical slice sampling (Murray, Adams and MacKay 2010) needs no tuning and runs over all particles at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Factor = Callable[[Floats], Floats]  # (n_particles, d) -> log factor of each


def resample(log_weights: Floats, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the particles to go on with, drawn by systematic resampling."""
    weights = np.exp(log_weights - log_weights.max())
    edges = np.cumsum(weights / weights.sum())
    points = (generator.random() + np.arange(len(weights))) / len(weights)
    return np.minimum(np.searchsorted(edges, points), len(weights) - 1).astype(np.intp)


def move(
    particles: Floats, mean: Floats, spread: float, factor: Factor, n_moves: int, generator: np.random.Generator
) -> Floats:
    """Move every particle ``n_moves`` times along ellipses through N(mean, spread^2 I), times the factor.

    ``mean`` is one for all particles, or one for each.
    """
    mean = np.broadcast_to(mean, particles.shape)
    states = particles - mean
    levels = factor(states + mean)
    for _ in range(n_moves):
        directions = spread * generator.standard_normal(states.shape)
        threshold = levels + np.log(generator.random(len(states)))
        angle = generator.uniform(0.0, 2 * np.pi, len(states))
        low, high = angle - 2 * np.pi, angle.copy()
        waiting = np.arange(len(states))
        moved, reached = states.copy(), levels.copy()
        while len(waiting):
            turn = angle[waiting][:, None]
            proposals = states[waiting] * np.cos(turn) + directions[waiting] * np.sin(turn)
            values = factor(proposals + mean[waiting])
            accepted = values > threshold[waiting]
            done = waiting[accepted]
            moved[done], reached[done] = proposals[accepted], values[accepted]
            waiting = waiting[~accepted]
            below = angle[waiting] < 0
            low[waiting] = np.where(below, angle[waiting], low[waiting])
            high[waiting] = np.where(below, high[waiting], angle[waiting])
            angle[waiting] = generator.uniform(low[waiting], high[waiting])
        states, levels = moved, reached
    return states + mean
