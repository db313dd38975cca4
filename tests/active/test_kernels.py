"""Views of rows: what each is, how new rows get theirs, and that one seed gives one set of them."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._affinity.similarities import graph_features
from sidelight._models.feature_map import FeatureMap
from sidelight.active.gaussian import CONSTANT, LANDMARKS, N_GRAPH, RowKernels, _whitening

X = np.random.default_rng(0).normal(size=(40, 3)) @ np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.1]])


@pytest.fixture(scope="module")
def kernels():
    return RowKernels.of(X, np.random.default_rng(0))


def test_every_view_has_rows_of_about_unit_length(kernels):
    assert list(kernels.views) == [
        "straight", "whitened", "curved", "tightly curved", "whitened curved", "graph", "whitened graph",
    ]  # fmt: skip
    for name, view in kernels.views.items():
        assert view.dtype == np.float32
        length = np.sqrt((view.astype(float) ** 2).sum(axis=1))
        assert 0.5 < length.mean() < 1.5, name
        if "curved" in name:
            np.testing.assert_allclose(length, 1.0, atol=1e-5)


def test_straight_views_are_the_rows_and_a_constant_and_whitened_ones_have_no_shape(kernels):
    rows = kernels.straight(X)
    np.testing.assert_allclose(kernels.views["straight"], np.column_stack([rows, np.full(40, CONSTANT)]), atol=1e-6)
    assert rows.shape == (40, 3)
    white = kernels.views["whitened"][:, :-1].astype(float)
    np.testing.assert_allclose(white.T @ white, 40 / 3 * np.eye(3), atol=1e-3)


def test_directions_that_are_rounding_are_not_whitened():
    rows = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 1e-2, 1e-9]
    assert _whitening(rows).shape == (3, 2)
    np.testing.assert_array_equal(_whitening(np.zeros((5, 2))), np.zeros((2, 1)))
    assert _whitening(rows[:2]).shape[0] == 3


def test_new_rows_see_what_known_ones_saw_and_lie_on_the_graph_among_their_nearest(kernels):
    new = kernels.of_new(X[:7])
    for name in ("straight", "whitened", "curved", "tightly curved", "whitened curved"):
        np.testing.assert_allclose(new[name], kernels.views[name][:7], atol=1e-5)
    for name, rows in (("graph", kernels.known), ("whitened graph", kernels.known @ kernels.whitening)):
        for row in range(7):
            nearest = np.argsort(((rows - rows[row]) ** 2).sum(axis=1), kind="stable")[:5]
            mean = kernels.views[name][nearest].mean(axis=0)
            np.testing.assert_allclose(new[name][row], mean / np.linalg.norm(mean), atol=1e-5)


def test_few_rows_have_no_graph():
    for n, has_graph in ((5, False), (6, True)):
        views = RowKernels.of(X[:n], np.random.default_rng(0))
        assert ("graph" in views.views) == ("whitened graph" in views.views) == has_graph
        assert ("graph" in views.of_new(X[:2])) == has_graph


def test_graphs_are_sharp_and_of_the_rows_they_are_called_after(kernels):
    rows, white = kernels.known, kernels.known @ kernels.whitening
    for name, seen in (("graph", rows), ("whitened graph", white)):
        expected = graph_features(seen, N_GRAPH, generator=np.random.default_rng(1), sharp=True)
        K = kernels.views[name] @ kernels.views[name].T
        np.testing.assert_allclose(K, expected @ expected.T, atol=1e-3)


def test_the_same_seed_gives_the_same_views():
    rows = np.random.default_rng(2).normal(size=(400, 3))
    one, two = (RowKernels.of(rows, np.random.default_rng(4)) for _ in range(2))
    for name, view in one.views.items():
        np.testing.assert_array_equal(view, two.views[name])


def test_wide_rows_are_looked_at_along_their_leading_directions_and_bent_along_all_of_these():
    wide = np.random.default_rng(0).normal(size=(230, 240))
    kernels = RowKernels.of(wide, np.random.default_rng(0))
    assert kernels.known.shape == (230, 200)
    plain = FeatureMap.learn(
        kernels.known, generator=np.random.default_rng(0), n_landmarks=LANDMARKS, width=1.0, rank=None,
        unit_rows=False, most_columns=None,
    )  # fmt: skip
    assert kernels.curved["curved"].landmarks.shape == plain.landmarks.shape
    assert kernels.views["curved"].shape == (230, plain.curved(kernels.known).shape[1])
