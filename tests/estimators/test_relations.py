"""Discriminative clustering without answers: regularised information maximisation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from sidelight.errors import InvalidParameter


def test_the_trace_never_rises_and_ends_at_the_objective():
    X = np.random.default_rng(0).normal(size=(50, 3))
    fitted = sl.DiscriminativeClustering(3, random_state=0).fit(X)
    assert (np.diff(fitted.trace_) <= 1e-12).all()
    assert fitted.trace_[-1] == pytest.approx(fitted.objective_)


def test_more_starts_never_end_worse():
    X = np.random.default_rng(1).normal(size=(60, 4))
    few = sl.DiscriminativeClustering(4, n_init=1, random_state=0).fit(X)
    many = sl.DiscriminativeClustering(4, n_init=5, random_state=0).fit(X)
    assert many.objective_ <= few.objective_


def test_objective_is_information_minus_penalty():
    X = np.random.default_rng(2).normal(size=(40, 3))
    fitted = sl.DiscriminativeClustering(3, penalty=0.05, random_state=0).fit(X)
    P = fitted.predict_proba(X)
    share = P.mean(axis=0)
    information = -(share * np.log(share)).sum() + (P * np.log(P)).sum(axis=1).mean()
    assert fitted.score(X) == pytest.approx(information)
    assert fitted.objective_ == pytest.approx(-information + 0.025 * np.square(fitted.weights_).sum())


def test_beats_k_means_on_standardised_digits():
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = sl.DiscriminativeClustering(10, n_init=2, random_state=0).fit(X)
    theirs = KMeans(10, n_init=2, random_state=0).fit(X)
    assert adjusted_rand_score(y, ours.labels_) > adjusted_rand_score(y, theirs.labels_) + 0.05


def test_a_bad_parameter_is_named():
    with pytest.raises(InvalidParameter, match=r"'penalty' parameter of DiscriminativeClustering .* Got -1 instead"):
        sl.DiscriminativeClustering(2, penalty=-1).fit(np.eye(3))


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_any_data_frame_is_welcome(frame):
    library = pytest.importorskip(frame)
    columns = {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate("abc")}
    table = library.table(columns) if frame == "pyarrow" else library.DataFrame(columns)
    X = np.column_stack(list(columns.values()))
    by_frame = sl.DiscriminativeClustering(2, random_state=0).fit(table)
    by_array = sl.DiscriminativeClustering(2, random_state=0).fit(X)
    np.testing.assert_array_equal(by_frame.labels_, by_array.labels_)
    assert list(by_frame.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(by_frame.predict(table), by_frame.labels_)
