"""Rows without side information: the ways race, and the best is told without labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from sidelight.errors import EmptyClusters
from sidelight.estimators import RowClustering
from sidelight.estimators._judge import Judge
from sidelight.estimators.relations import rows as ways
from sidelight.metrics import adjusted_rand_index, normalized_mutual_information


def standard(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)


def test_long_clouds_side_by_side_are_a_mixture_s():
    generator = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = generator.normal(size=(240, 2)) * [3.0, 0.4] + np.column_stack([0.0 * y, 3.0 * y])
    model = RowClustering(3, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) > 0.95
    assert model.method_ == "mixture"
    assert adjusted_rand_index(y, RowClustering(3, method="k-means", random_state=0).fit(X).labels_) < 0.5


def test_rings_are_the_graph_s():
    generator = np.random.default_rng(0)
    y, turn = np.arange(400) % 2, generator.uniform(0, 2 * np.pi, 400)
    X = np.column_stack([np.cos(turn), np.sin(turn)]) * (1.0 + 3.0 * y)[:, None] + 0.1 * generator.normal(size=(400, 2))
    model = RowClustering(2, method="graph", random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) > 0.99  # by the rule that bends, which places new rows
    again = np.array([[0.0, 1.0], [0.0, 4.0], [4.0, 0.0]])
    assert model.predict(again)[0] != model.predict(again)[1] == model.predict(again)[2]


def test_no_cluster_of_iris_is_lost_and_the_best_way_beats_k_means():
    X, y = load_iris(return_X_y=True)
    model = RowClustering(3, random_state=0).fit(standard(X))
    assert np.bincount(model.labels_).min() > 30
    assert normalized_mutual_information(y, model.labels_) > 0.8


@pytest.mark.slow
def test_digits_are_told_apart_better_than_by_k_means():
    X, y = load_digits(return_X_y=True)
    model = RowClustering(10, random_state=0).fit(X)
    assert normalized_mutual_information(y, model.labels_) > 0.78


def test_what_won_is_placed_by_a_rule_that_repeats_it():
    X, _ = load_iris(return_X_y=True)
    model = RowClustering(3, random_state=0).fit(standard(X))
    assert model.method_ == max(model.scores_, key=model.scores_.__getitem__)
    np.testing.assert_array_equal(model.predict(standard(X)), model.labels_)
    alone = RowClustering(3, method=model.method_, random_state=0).fit(standard(X))
    assert list(alone.scores_) == [model.method_]
    assert adjusted_rand_index(alone.labels_, model.labels_) > 0.9


def test_directions_are_no_mixture_s_also_where_some_rows_are_empty():
    generator = np.random.default_rng(0)
    X = np.abs(generator.normal(size=(90, 6)) + 4.0 * np.eye(6)[np.arange(90) % 3])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert "mixture" in RowClustering(3, random_state=0).fit(X * generator.uniform(1, 3, (90, 1))).scores_
    X[5] = 0.0
    assert "mixture" not in RowClustering(3, random_state=0).fit(X).scores_


def test_a_few_odd_rows_beside_one_large_cluster_win_nothing():
    generator = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = np.vstack([generator.normal(size=(300, 3)) + 4.0 * y[:, None], generator.normal(size=(4, 3)) * 0.01 + 40.0])
    judge = Judge(X - X.mean(axis=0), generator)
    odd = (np.arange(304) >= 300).astype(int)
    assert judge.score(np.append(y, [0, 0, 0, 0]), 2) > judge.score(odd, 2)


def test_of_many_rows_some_race_and_all_are_placed(monkeypatch):
    monkeypatch.setattr(ways, "MOST_ROWS", 100)
    y = np.random.default_rng(3).integers(0, 3, 500)
    X = np.random.default_rng(4).normal(size=(500, 4)) + 6.0 * np.eye(4)[y]
    model = RowClustering(3, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) > 0.98


@pytest.mark.parametrize(("X", "k"), [(np.zeros((9, 2)), 3), (np.arange(4.0)[:, None], 4), (np.ones((2, 1)), 1)])
def test_rows_that_say_nothing_are_clustered_all_the_same(X, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyClusters)
        model = RowClustering(k, random_state=0).fit(X)
    assert model.method_ == "k-means"
    assert model.labels_.max() < k


def test_many_components_of_few_rows_are_not_learnt_by_heart():
    generator = np.random.default_rng(0)
    y = np.arange(300) % 4
    X = (generator.normal(size=(4, 8)) * 2)[y] @ generator.normal(size=(8, 1280)) + generator.normal(size=(300, 1280))
    model = RowClustering(4, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) > 0.95
