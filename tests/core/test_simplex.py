"""Logits and probabilities: no size of logit makes a NaN, and the pullback is the gradient."""

from __future__ import annotations

import numpy as np
from scipy import special

from sidelight._core.simplex import (
    binary_entropy,
    entropy,
    log_softmax,
    normalised,
    softmax,
    xlogx,
    xlogy,
)


def test_softmax_agrees_with_scipy_along_the_last_axis():
    for shape in [(4,), (5, 3), (2, 3, 4), (700, 2), (3, 200, 5), (200, 9)]:
        logits = np.random.default_rng(0).normal(size=shape) * 10
        np.testing.assert_allclose(softmax(logits), special.softmax(logits, axis=-1))
        np.testing.assert_allclose(log_softmax(logits), special.log_softmax(logits, axis=-1))


def test_a_logit_gap_of_800_keeps_its_logarithm():
    np.testing.assert_array_equal(softmax([800.0, 0.0]), [1.0, 0.0])
    np.testing.assert_array_equal(log_softmax([800.0, 0.0]), [0.0, -800.0])


def test_entropies_of_certain_and_uniform_points():
    P = np.array([[1.0, 0.0], [0.5, 0.5]])
    np.testing.assert_allclose(entropy(P), [0, np.log(2)])
    np.testing.assert_allclose(
        entropy(softmax([[3.0, 1.0]]), log_softmax([[3.0, 1.0]])), entropy(softmax([[3.0, 1.0]]))
    )
    np.testing.assert_allclose(binary_entropy([0.0, 0.5, 1.0]), [0, np.log(2), 0])


def test_zero_times_log_zero_is_zero_and_nothing_else_is():
    np.testing.assert_array_equal(xlogx([0, 1, 2]), [0, 0, 2 * np.log(2)])
    np.testing.assert_array_equal(xlogy([0.0, 1.0], [0.0, 0.0]), [0.0, -np.inf])


def test_weights_without_mass_become_uniform():
    np.testing.assert_array_equal(normalised([[1.0, 3.0], [0.0, 0.0]]), [[0.25, 0.75], [0.5, 0.5]])
