"""The map from rows to features: what it approximates, how its blocks are scaled, and what it does far away."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import sidelight as sl
from sidelight._models.feature_map import FeatureMap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5)) * [1, 2, 3, 1, 1] + 4


def learn(rows=X, **options):
    return FeatureMap.learn(rows, generator=np.random.default_rng(1), **options)


def test_inner_products_of_the_full_map_are_the_centred_kernel():
    found = learn(n_landmarks=200, rank=None)  # as many landmarks as rows: nothing is approximated
    curved = found(X)[:, 5:]
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / found.width)
    centre = np.eye(len(X)) - 1 / len(X)
    centred = centre @ kernel @ centre
    np.testing.assert_allclose(curved @ curved.T, centred / np.trace(centred) * len(X), atol=1e-3)


def test_each_block_is_centred_and_has_mean_square_length_one():
    features = learn(n_landmarks=40, rank=15, strength=1.0)(X)
    assert features.shape == (120, 20)
    for block in (features[:, :5], features[:, 5:]):
        np.testing.assert_allclose(block.mean(axis=0), 0, atol=1e-10)
        np.testing.assert_allclose(np.square(block).sum(axis=1).mean(), 1.0)


def test_raw_rows_of_another_scale_get_the_same_features():
    np.testing.assert_allclose(learn(n_landmarks=40)(X), learn(1000.0 * X, n_landmarks=40)(1000.0 * X), atol=1e-6)


def test_far_rows_have_a_constant_map():
    found = learn(n_landmarks=40)
    far = found(X[:3] + 1e4)[:, 5:]
    np.testing.assert_allclose(far, np.tile(-found.offset, (3, 1)))


def test_sparse_rows_get_the_features_of_dense_ones():
    rows = np.where(RNG.random((200, 700)) < 0.02, RNG.normal(size=(200, 700)), 0.0)
    for columns in (50, None):
        dense, sparse = (learn(form, most_columns=columns, n_landmarks=30) for form in (rows, sp.csr_array(rows)))
        np.testing.assert_allclose(dense(rows), sparse(sp.csr_array(rows)), atol=1e-8)


def test_leading_directions_keep_what_varies():
    low = RNG.normal(size=(300, 6)) @ RNG.normal(size=(6, 900)) + 0.01 * RNG.normal(size=(300, 900))
    found = learn(low, most_columns=6, n_landmarks=0)
    kept = found(low) / found.row_scale
    total = np.square(low - low.mean(axis=0)).sum()
    assert np.square(kept).sum() > 0.999 * total


def test_constant_rows_and_repeated_rows_are_no_trouble():
    constant = np.full((20, 3), 7.0)
    np.testing.assert_array_equal(learn(constant)(constant), np.zeros((20, 3)))
    repeated = np.repeat([[0.0, 0.0], [1.0, 0.0]], [30, 5], axis=0)
    assert np.isfinite(learn(repeated, n_landmarks=10)(repeated)).all()


def test_is_saved_with_a_model(tmp_path):
    found = learn(n_landmarks=40)
    sl.save(found, tmp_path / "map.sidelight")
    np.testing.assert_array_equal(sl.load(tmp_path / "map.sidelight")(X), found(X))


def test_scores_are_those_of_features_that_are_never_made():
    wide = RNG.normal(size=(40, 30))
    W, b = RNG.normal(size=(35, 3)), RNG.normal(size=3)
    for rows, options in (
        (X, {"n_landmarks": 40, "rank": 30}),
        (wide, {"most_columns": 5, "n_landmarks": 60, "rank": 30}),
    ):
        found = learn(rows, **options)
        weights = W[: found.n_features]
        features = found(rows)
        scores, nearest = found.scores(rows, weights, b)
        np.testing.assert_allclose(scores, features @ weights + b, atol=1e-9)
        gaps = ((rows[:, None] - found.landmarks) ** 2).sum(axis=2).min(axis=1)
        np.testing.assert_allclose(nearest, gaps, atol=1e-9)
