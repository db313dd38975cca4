"""Pictures of clusters: they draw what they were given, on the axes they were given."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.registry import as_csr, blobs

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.plot import ClusterScatterDisplay, TypicalImagesDisplay
from sidelight.plot._axes import as_png, figure
from sidelight.plot.clusters import main_directions


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
