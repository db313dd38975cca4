"""Weights with the tree and the rates of loss fixed."""

from __future__ import annotations

import numpy as np

import sidelight as sl
from sidelight._core.label_passes import as_inputs, edge_targets
from sidelight._models.label_logits import LabelLogits
from sidelight.estimators.hierarchy import weights


def test_biases_from_distinct_rows_have_the_value_and_gradient_of_all_rows():
    sample = sl.data.make_label_tree(300, n_features=2, n_labels=7, missing=0.3, random_state=0)
    Z = np.where(np.random.default_rng(0).random((300, 7)) < 0.1, -1, sample.Y_incomplete).astype(np.int8)
    tree = as_inputs(np.linspace(0.1, 0.4, 7), sample.tree.parents, 1e-3)
    model, b = LabelLogits(None, 300, 7, 1.0), np.linspace(-2.0, 1.5, 7)
    value, gradient = weights.without_features(model, Z, tree)(b)
    scores = model.scores(b)
    targets = edge_targets(scores, Z, tree)
    _, wanted = model.loss(b, targets.both, targets.parent)
    np.testing.assert_allclose(value, model.ridge(b) - targets.log_likelihood.sum(), rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-9, atol=1e-9)
