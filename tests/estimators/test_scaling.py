"""Claims about standardised rows in front of an estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter

SCALES = np.array([1.0, 1000.0, 0.01])


@pytest.fixture(scope="module")
def rows():
    """Three groups of rows, in columns of very different units."""
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = 4.0 * np.eye(3)[y] + generator.normal(size=(90, 3))
    return X * SCALES + 7.0, y


@pytest.fixture(scope="module")
def bags(rows):
    _, y = rows
    ids = np.random.default_rng(1).permutation(90) // 3
    return sl.Bags(ids, labels={b: {"abc"[c] for c in y[ids == b]} for b in range(30)})


def test_it_equals_the_inner_estimator_on_standardised_rows(rows, bags):
    X, _ = rows
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    outer = sl.Standardized(sl.CoverageClustering(calibrate=False)).fit(X, bags=bags)
    inner = sl.CoverageClustering(calibrate=False).fit(Z, bags=bags)
    np.testing.assert_allclose(outer.predict_proba(X), inner.predict_proba(Z), atol=1e-6)
    assert outer.predict_bags(X, bags).tolist() == inner.predict_bags(Z, bags).tolist()
    np.testing.assert_allclose(outer.novelty_score(X), inner.novelty_score(Z))


@pytest.mark.slow
def test_model_selection_works_without_a_scorer(rows, bags):
    X, _ = rows
    model = sl.Standardized(sl.CoverageClustering())
    assert np.isfinite(cross_val_score(model, X, bags, cv=sl.BagKFold(3), error_score="raise")).all()
    search = GridSearchCV(model, {"estimator__penalty": [0.1, 1.0]}, cv=sl.BagKFold(3), error_score="raise")
    assert len(search.fit(X, bags).predict(X)) == len(X)


@pytest.mark.slow
def test_fit_predict_on_a_fitted_one_standardises(rows):
    X, _ = rows
    model = sl.Standardized(sl.DiscriminativeClustering(3, random_state=0)).fit(X)
    np.testing.assert_array_equal(model.fit_predict(X), model.fit(X).labels_)
    np.testing.assert_allclose(model.estimator_.weights_, sl.Standardized(model.estimator).fit(X).weights_)


def test_embed_gets_standardised_rows(rows, bags):
    X, _ = rows
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    outer = sl.Standardized(sl.BagSpectralClustering(3, random_state=0)).fit(X, bags=bags)
    np.testing.assert_allclose(outer.embed(X[:9]), outer.estimator_.embed(Z[:9]), atol=1e-8)


def test_channels_get_points_in_the_users_units(rows):
    X, _ = rows
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    channels = {"big": [1], "rest": [0, 2]}
    outer = sl.Standardized(sl.MultiSourceClustering(2, channels=channels, method="information", random_state=0)).fit(X)
    inner = outer.estimator_
    np.testing.assert_array_equal(outer.predict_channel("big", X[:, 1]), inner.predict_channel("big", Z[:, [1]]))
    np.testing.assert_array_equal(outer.is_new(X), inner.is_new(Z))
    np.testing.assert_array_equal(
        outer.is_new(X[:, [0, 2]], channel="rest"), inner.is_new(Z[:, [0, 2]], channel="rest")
    )
    with pytest.raises(InvalidData, match="2 columns"):
        outer.predict_channel("rest", X)


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame])
def test_columns_of_a_frame_are_found_by_name(rows, frame, tmp_path):
    X, _ = rows
    data = {name: X[:, j] for j, name in enumerate("abc")}
    model = sl.Standardized(sl.DiscriminativeClustering(3, random_state=0)).fit(frame(data))
    turned = frame({"c": X[:, 2], "more": X[:, 0], "b": X[:, 1], "a": X[:, 0]})
    np.testing.assert_array_equal(model.predict(turned), model.labels_)
    with pytest.raises(InvalidData, match=r"called 'b'.*do not have"):
        model.predict(frame({"a": X[:, 0], "c": X[:, 2]}))
    sl.save(model, tmp_path / "m.sidelight")
    np.testing.assert_array_equal(sl.load(tmp_path / "m.sidelight").predict(turned), model.labels_)


def test_names_can_be_given_to_a_plain_array(rows):
    X, _ = rows
    model = sl.Standardized(sl.DiscriminativeClustering(3, random_state=0), feature_names=list("abc")).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(pd.DataFrame(X[:, ::-1], columns=list("cba"))), model.labels_)
    with pytest.raises(InvalidParameter, match="one name for each of the 3"):
        sl.Standardized(model.estimator, feature_names=["a"]).fit(X)


def test_it_has_the_methods_of_the_inner_estimator_and_no_others():
    model = sl.Standardized(sl.DiscriminativeClustering(3))
    assert hasattr(model, "predict_proba")
    assert not hasattr(model, "embed")
    assert not hasattr(model, "predict_channel")
    with pytest.raises(NotFittedError):
        model.predict(np.eye(3))


def test_tables_of_distances_are_refused():
    with pytest.raises(InvalidParameter, match="similarities or distances"):
        sl.Standardized(sl.estimators.BagKMedoids(2, metric="precomputed")).fit(np.eye(4))
    with pytest.raises(InvalidParameter, match=r"Call it: BagKMedoids\(\)"):
        sl.Standardized(sl.estimators.BagKMedoids).fit(np.eye(4))


def test_numbers_near_the_largest_are_scaled(rows):
    X, _ = rows
    plain = sl.Standardized(sl.DiscriminativeClustering(3, random_state=0)).fit(X)
    huge = sl.Standardized(sl.DiscriminativeClustering(3, random_state=0)).fit(X * 1e300)
    np.testing.assert_array_equal(plain.labels_, huge.labels_)
    np.testing.assert_array_equal(huge.predict(X * 1e300), plain.labels_)


def test_filling_gaps_sees_standardised_rows():
    sample = sl.data.make_label_tree(300, n_labels=5, n_features=3, missing=0.3, random_state=0)
    raw = sample.X * [100.0, 1.0, 0.01] + [1000.0, 0.0, 5.0]
    inner = sl.LatentHierarchyClassifier()
    outer = sl.Standardized(inner).fit(raw, sample.Y_incomplete)
    X = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    inner.fit(X, sample.Y_incomplete)
    for method in ("complete", "complete_proba", "score"):
        by_outer = getattr(outer, method)(raw, sample.Y_incomplete)
        np.testing.assert_allclose(by_outer, getattr(inner, method)(X, sample.Y_incomplete), atol=1e-9)


def test_words_are_condensed_to_so_many_directions():
    generator = np.random.default_rng(0)
    words = generator.poisson(0.3, size=(60, 40)).astype(float)
    widths = [
        sl.Standardized(sl.estimators.Codebook(3, random_state=0), kind="words", n_directions=n).fit(words)
        .estimator_.prototypes_.shape[1]
        for n in (3, 7)
    ]  # fmt: skip
    assert widths == [3, 7]


def test_attributes_are_those_of_the_inner_estimator_once_it_is_fitted():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = sl.Standardized(sl.estimators.Codebook(3, random_state=0))
    with pytest.raises(AttributeError, match="'Standardized' object has no attribute 'prototypes_'"):
        _ = model.prototypes_
    assert model.fit(X).prototypes_.shape == (3, 2)
    for name in ("_n_features_out", "_made_up"):  # what begins with an underscore is nobody else's
        with pytest.raises(AttributeError, match=f"'Standardized' object has no attribute '{name}'"):
            getattr(model, name)


@pytest.mark.parametrize("names", [None, ["p", "q"]])
def test_columns_of_parts_have_their_names_or_those_that_are_given(names):
    X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 50.0] + [0.0, 300.0]
    bags = sl.Bags(np.arange(40) // 2, labels={b: {"a"} if b % 2 else {"b"} for b in range(20)})
    parts = sl.Parts.from_arrays(X, bags, feature_names=["u", "v"])
    inner = sl.CoverageClustering(boundary="straight", calibrate=False, n_init=1, random_state=0)
    model = sl.Standardized(inner, feature_names=names).fit(parts)
    assert model.feature_names_in_.tolist() == (names or ["u", "v"])
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.scale_, X.std(axis=0), rtol=1e-4)
