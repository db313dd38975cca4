"""A novel cluster that takes rows of named kinds is found out, and takes fewer; one for its own rows is left alone."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import ignore_warnings
from sidelight.estimators._labelled_bags.row_temperature import temper
from sidelight.estimators.coverage.novel_rows import by_chance
from sidelight.estimators.coverage.problem import Coverage


def drawn(seed=0, *, hidden=0, n_bags=120, spread=1.0, tails=3.0):
    """Return rows of eight kinds with heavy tails, three kinds a bag; the first ``hidden`` kinds are on no list."""
    rng = np.random.default_rng(seed)
    centres = 2.0 * rng.normal(size=(8, 6))
    y = np.concatenate([rng.choice(8, 3, replace=False)[rng.integers(3, size=8)] for _ in range(n_bags)])
    bag = np.repeat(np.arange(n_bags), 8)
    X = centres[y] + spread * rng.standard_t(tails, size=(len(y), 6))
    lists = {b: {f"k{kind}" for kind in y[bag == b] if kind >= hidden} for b in range(n_bags)}
    return X, sl.Bags(bag, labels={b: names for b, names in lists.items() if names}), np.array([f"k{k}" for k in y])


@pytest.fixture(scope="module")
def harmful():
    X, bags, y = drawn()
    return X, bags, y, sl.CoverageClustering(n_novel=1, random_state=0).fit(X, bags=bags)


def test_a_needless_cluster_is_found_out_and_takes_fewer_rows(harmful, tmp_path):
    X, bags, y, model = harmful
    novel = model.calibration_["novel"]
    assert novel["is_harmful"]
    assert novel["gain"] < -10
    assert np.nanmax(novel["taken"]) > 0.1
    np.testing.assert_array_equal(model.predict(X, bags=bags), model.labels_)
    P, log_P, _ = model._belief(X)
    _, plan = model._plan(len(X), bags, None, None)
    before = Coverage(plan, model.class_of_).posteriors(P, log_P)[0].argmax(axis=1)
    names = np.array(model.label_names_)
    assert (names[model.labels_] == y).mean() > (names[before] == y).mean() + 0.05
    assert (model.labels_ == 8).sum() < 0.7 * (before == 8).sum()
    np.testing.assert_array_equal(model.predict(X), P.argmax(axis=1))  # by features alone as ever
    sl.save(model, tmp_path / "m")
    np.testing.assert_array_equal(sl.load(tmp_path / "m").predict(X, bags=bags), model.labels_)


def test_rows_with_lists_weigh_their_names_by_chance(harmful):
    X, bags, _, model = harmful
    P = model._belief(X)[0]
    told = model._plan(len(X), bags, None, None)[0]
    chance = model.calibration_["novel"]["chance"]
    believed = temper(P, model.calibration_["temperature"])
    believed[:, :8] /= chance
    believed /= believed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model._against_novelty(P, told), believed)
    one_bag = np.flatnonzero(np.asarray(bags.codes) == 0)
    unlabelled = bags.without_labels(bags.names[:1])
    np.testing.assert_array_equal(model.predict(X, bags=unlabelled)[one_bag], P[one_bag].argmax(axis=1))


def test_a_kind_of_its_own_is_left_alone():
    X, bags, y = drawn(hidden=2, spread=0.7, tails=50.0)
    with ignore_warnings():
        model = sl.CoverageClustering(n_novel=2, n_init=4, random_state=0).fit(X, bags=bags)
    novel = model.calibration_["novel"]
    assert not novel["is_harmful"]
    assert novel["gain"] > 0
    P, log_P, _ = model._belief(X)
    _, plan = model._plan(len(X), bags, None, None)
    Q = Coverage(plan, model.class_of_).posteriors(P, log_P)[0]
    np.testing.assert_array_equal(model.labels_, Q.argmax(axis=1))  # as the lists have it
    is_new = np.isin(y, ["k0", "k1"])
    assert (model.class_of_[model.labels_] < 0)[is_new].mean() > 0.8


def test_without_novel_clusters_nothing_is_compared():
    X, bags, _ = drawn()
    assert "novel" not in sl.CoverageClustering(random_state=0).fit(X, bags=bags).calibration_


def test_by_chance_by_hand():
    P = np.array([[0.5, 0.3, 0.2]])
    R = by_chance(P, np.array([[True, False]]), np.array([0.25, 0.5]), 2.0)
    q = np.sqrt(P[0])
    expected = np.array([q[0] / 0.25, 0.0, q[2]])
    np.testing.assert_allclose(R[0], expected / expected.sum())


def test_the_test_raises_no_alarm_where_rows_of_named_kinds_would_be_taken():
    X, bags, y = drawn()
    found = sl.novelty_test(X, bags, random_state=0)
    assert found.tempered_gains.sum() < 0
    assert found.p_value > 0.5 >= found.p_of_lists
    assert set(found.taken) == set(y)
    assert max(found.taken.values()) > 0.1


def test_the_test_raises_an_alarm_for_a_kind_of_its_own_and_an_empty_list_is_proof():
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=600)
    X = 3.0 * np.eye(6)[y] + 0.7 * rng.normal(size=(600, 6))
    bag = np.arange(600) // 5
    lists = {b: {f"k{kind}" for kind in y[bag == b] if kind} for b in range(120)}
    bags = sl.Bags(bag, labels=lists)
    found = sl.novelty_test(X, bags, cv=3, random_state=0)
    assert found.tempered_gains.sum() > 0
    assert found.p_of_lists <= found.p_value < 0.01
    empty = bags.with_labels({**lists, 0: set()})
    proven = sl.novelty_test(X, empty, cv=3, random_state=0)
    assert proven.p_value == proven.p_of_lists
