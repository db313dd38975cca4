"""Laws that every term obeys: right gradients, leading axes, and no care for the names of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from tests.laws.registry import TERMS

from sidelight._core.simplex import log_softmax
from sidelight._models.objective import Objective, SoftmaxLinear

each_term = pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
X = np.random.default_rng(0).normal(size=(7, 3))
MODEL = SoftmaxLinear(3, 4)
THETA = np.random.default_rng(2).normal(size=(5, MODEL.n_parameters))


@each_term
def test_gradient_through_the_model_agrees_with_finite_differences(term):
    objective = Objective(MODEL, X, [(1.7, term)], penalty=0.3)
    error = check_grad(lambda t: float(objective(t)[0]), lambda t: objective(t)[1], THETA[0])
    assert error < 1e-5  # the truncation error of forward differences at these sizes


@each_term
def test_leading_axes_equal_a_loop(term):
    objective = Objective(MODEL, X, [(1.0, term)], penalty=0.1)
    values, gradients = objective(THETA)
    for theta, value, gradient in zip(THETA, values, gradients):
        one_value, one_gradient = objective(theta)
        np.testing.assert_allclose(value, one_value, rtol=1e-12)
        np.testing.assert_allclose(gradient, one_gradient, rtol=1e-10, atol=1e-13)


@each_term
def test_a_logit_gap_of_800_stays_finite(term):
    scores = np.zeros((7, 4))
    scores[:, 0] = 800.0
    log_P = log_softmax(scores)
    value, G = term(np.exp(log_P), log_P)
    assert np.isfinite(value)
    assert np.isfinite(G).all()


NAMELESS = [
    t for t in TERMS if not any(hasattr(t, name) for name in ("Q", "class_of", "Y", "sizes"))
]  # the others know whose cluster it is


@pytest.mark.parametrize("term", NAMELESS, ids=lambda term: type(term).__name__)
def test_renaming_clusters_changes_nothing(term):
    log_P = MODEL.log_posterior(THETA[0], X)
    renamed = log_P[:, [2, 0, 3, 1]]
    np.testing.assert_allclose(term(np.exp(log_P), log_P)[0], term(np.exp(renamed), renamed)[0], rtol=1e-12)
