"""Mean and scale of columns: as numpy has them, and finite where squares are not."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sidelight._core.prototypes import mean_and_scale, scaled


def test_columns_of_any_size_become_standard():
    for unit in [1.0, 1e-150, 1e99, 1e155, 1e300]:
        X = np.random.default_rng(0).normal(3.0, 2.0, size=(50, 3)) * np.array([unit, 1.0, unit])
        with np.errstate(over="raise", invalid="raise"):
            Z = scaled(X, *mean_and_scale(X))
        if unit > 1e-100:  # the scale of smaller columns is that of a constant
            np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
            np.testing.assert_allclose(Z.std(axis=0), 1.0, rtol=1e-12)


def test_sparse_columns_have_the_same_moments():
    X = np.random.default_rng(1).poisson(0.5, size=(40, 4)).astype(float)
    for dense, sparse in zip(mean_and_scale(X), mean_and_scale(sp.csr_array(X))):
        np.testing.assert_allclose(dense, sparse, rtol=1e-12)
