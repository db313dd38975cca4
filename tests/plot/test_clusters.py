"""Pictures of clusters: they draw what they were given, on the axes they were given."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.registry import as_csr, blobs

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.plot import ClusterScatterDisplay, TypicalImagesDisplay
from sidelight.plot._axes import as_png, figure
from sidelight.plot.layout import cluster_map, main_directions


@pytest.fixture(scope="module")
def fitted():
    X, _ = blobs()
    return sl.DiscriminativeClustering(3, random_state=0).fit(X), X


def test_the_map_shows_every_row_and_names_every_cluster(fitted):
    model, X = fitted
    shown = ClusterScatterDisplay.from_estimator(model, X, names=["a", "b", "c"]).plot()
    assert len(shown.ax_.collections[0].get_offsets()) == len(X)
    assert {text.get_text() for text in shown.ax_.texts} == {"a", "b", "c"}
    assert as_png(shown.figure_).startswith(b"\x89PNG")


def test_it_draws_on_the_axes_it_was_given(fitted):
    model, X = fitted
    ax = figure().subplots()
    assert ClusterScatterDisplay.from_estimator(model, X).plot(ax).ax_ is ax


def test_other_rows_than_those_of_fit_are_refused(fitted):
    model, X = fitted
    with pytest.raises(InvalidData, match="10 rows"):
        ClusterScatterDisplay.from_estimator(model, X[:10])


def test_main_directions_are_principal_components(fitted):
    _, X = fitted
    centred = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(main_directions(X)), np.abs(U[:, :2] * s[:2]), rtol=1e-8)


def test_sparse_and_one_column_rows_have_a_map_too(fitted):
    _, X = fitted
    assert main_directions(as_csr(X)).shape == (len(X), 2)
    assert main_directions(X[:, :1]).shape == (len(X), 2)


def test_typical_images_are_the_surest_of_their_cluster(fitted):
    model, X = fitted
    images = np.arange(len(X))[:, None, None] * np.ones((1, 2, 2))
    shown = TypicalImagesDisplay.from_estimator(model, X, images, n_shown=3).plot()
    P = model.predict_proba(X)
    for k in range(3):
        surest = np.flatnonzero(model.labels_ == k)[np.argmax(P[model.labels_ == k, k])]
        assert shown.images[k][0, 0, 0] == surest


def test_main_directions_of_wide_tables_are_those_of_the_svd():
    for shape in ((6, 40), (40, 6), (1, 5), (2, 3)):
        X = np.random.default_rng(0).normal(size=shape)
        centred = X - X.mean(axis=0)
        U, s, _ = np.linalg.svd(centred, full_matrices=False)
        expected = np.zeros((shape[0], 2))
        expected[:, : min(2, len(s))] = (U * s)[:, :2]
        np.testing.assert_allclose(np.abs(main_directions(X)), np.abs(expected), atol=1e-7)  # signs are free


def test_the_map_of_a_wide_table_takes_no_table_of_features_by_features(monkeypatch):
    solved = []
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda A: solved.append(A.shape) or eigh(A))
    main_directions(np.random.default_rng(0).normal(size=(20, 3000)))
    assert solved == [(20, 20)]


def overlap(coordinates, y):
    """The share of rows whose nearest row on the map is of another kind."""
    squares = ((coordinates[:, None] - coordinates[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return np.mean(y[squares.argmin(axis=1)] != y)


def test_a_map_of_many_clusters_keeps_apart_what_main_directions_throw_together():
    generator = np.random.default_rng(0)
    y = generator.integers(0, 8, 400)
    X = 3.0 * np.eye(8)[y] + generator.normal(size=(400, 8))
    assert overlap(cluster_map(X, y), y) < 0.3 * overlap(main_directions(X), y)


def test_a_map_does_not_tear_apart_what_is_one_cloud():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(400, 8)), generator.integers(0, 5, 400)
    assert overlap(cluster_map(X, y), y) > 0.6  # of 0.8 by chance


def test_rows_between_two_clusters_lie_between_them():
    generator = np.random.default_rng(1)
    y = np.repeat(np.arange(5), 60)
    X = 6.0 * np.eye(5)[y] + generator.normal(size=(300, 5))
    X = np.vstack([X, X[y == 0].mean(axis=0) / 2 + X[y == 1].mean(axis=0) / 2])
    shown = cluster_map(X, np.append(y, -1))  # the last row is in no cluster
    middle = (shown[:300][y == 0].mean(axis=0) + shown[:300][y == 1].mean(axis=0)) / 2
    others = [np.linalg.norm(shown[-1] - shown[:300][y == k].mean(axis=0)) for k in (2, 3, 4)]
    assert np.linalg.norm(shown[-1] - middle) < 0.5 * min(others)


def test_any_number_of_clusters_and_any_kind_of_rows_have_a_map():
    for n_clusters in [1, 2, 3, 6]:
        generator = np.random.default_rng(0)
        X, y = generator.normal(size=(40, 6)), np.arange(40) % n_clusters
        wide = generator.random((40, 500)) * (generator.random((40, 500)) < 0.1)
        for rows in (
            X,
            as_csr(X),
            X[:, :1],
            X[:, :2],
            np.zeros((40, 3)),
            wide,
            as_csr(wide),
            np.repeat(X[:1], 40, axis=0),
        ):
            shown = cluster_map(rows, y)
            assert shown.shape == (40, 2)
            assert np.isfinite(shown).all()


def test_the_unit_of_a_feature_does_not_change_the_map():
    X, y = blobs()
    np.testing.assert_allclose(np.abs(cluster_map(X, y)), np.abs(cluster_map(X * 1000.0, y)), atol=1e-6)
