"""The weighted logistic objective of the M-step."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime

from sidelight._models import label_logits
from sidelight._models.label_logits import LabelLogits, one_scale
from sidelight._models.scaled_rows import ScaledRows


def problem(sparse: bool = False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.6)
    rows = ScaledRows(sp.csr_array(X) if sparse else X, *one_scale(X), np.ones(30))
    parent = rng.random((30, 3))
    return LabelLogits(rows, 30, 3, penalty=2.0), parent * rng.random((30, 3)), parent, rng.normal(size=15)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_gradient_is_that_of_the_value(sparse):
    model, both, parent, theta = problem(sparse)
    _, gradient = model.loss(theta, both, parent)
    numeric = approx_fprime(theta, lambda t: model.loss(t, both, parent)[0], 1e-6)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)  # forward differences


def test_blocks_of_rows_change_nothing_but_rounding(monkeypatch):
    model, both, parent, theta = problem()
    value, gradient = model.loss(theta, both, parent)
    scores = model.scores(theta)
    monkeypatch.setattr(label_logits, "_BLOCK", 16)
    other_value, other_gradient = model.loss(theta, both, parent)
    assert other_value == pytest.approx(value)
    np.testing.assert_allclose(other_gradient, gradient, atol=1e-12)
    np.testing.assert_allclose(model.scores(theta), scores, atol=1e-12)


def test_rows_of_one_scale_have_mean_square_one_and_zero_mean():
    X = np.random.default_rng(1).normal(loc=3, scale=[1.0, 5.0, 0.1], size=(50, 3))
    mean, inverse = one_scale(X)
    scaled = (X - mean) * inverse
    assert np.mean(scaled**2) == pytest.approx(1.0)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    dense, sparse = one_scale(X), one_scale(sp.csr_array(X))
    np.testing.assert_allclose(dense, sparse)


def test_without_rows_only_the_bias_is_left():
    model = LabelLogits(None, 10, 2, penalty=1.0)
    on = np.zeros((10, 2))
    on[:3, 0] = 1
    value, gradient = model.loss(model.start(), on, np.ones((10, 2)))
    assert value == pytest.approx(20 * np.log(2))
    np.testing.assert_allclose(gradient, [2.0, 5.0])
