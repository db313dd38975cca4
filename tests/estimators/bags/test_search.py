"""C and balance without labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.errors import InvalidParameter


def test_prefers_what_comes_back_and_keeps_its_clusters():
    generator = np.random.default_rng(0)
    y = np.arange(36) % 3
    X = 0.2 * generator.normal(size=(36 * 3, 3))
    X[np.arange(36) * 3, y] += 3.0
    codes = np.repeat(np.arange(36), 3)
    search = sl.estimators.MaxMarginBagClusteringCV(
        3, Cs=[0.01, 8.0], balances=[0.1, 1e6], n_resamples=3, n_init=2, random_state=0
    ).fit(X, bags=codes)
    assert search.best_params_["C"] == 8.0
    assert adjusted_rand_score(y, search.bag_labels_) == 1.0
    results = search.cv_results_
    assert search.best_score_ == results["score"].max()
    np.testing.assert_allclose(results["score"], results["stability"] * results["evenness"] * results["margin"])
    np.testing.assert_array_equal(search.predict_bag_clusters(X, codes), search.bag_labels_)
    assert search.decision_function(X, bags=codes).shape == search.memberships(X, bags=codes).shape == (36, 3)


@pytest.mark.parametrize("grid", [{"Cs": []}, {"balances": [-1.0]}, {"Cs": [0.0]}])
def test_a_grid_that_cannot_be_tried_is_refused(grid):
    with pytest.raises(InvalidParameter):
        sl.estimators.MaxMarginBagClusteringCV(2, **grid).fit(np.eye(4))


def test_uneven_clusters_lower_the_score():
    generator = np.random.default_rng(0)
    group = np.repeat([0, 1], [18, 6])  # bags of two sizes of groups, so that evenness is below 1
    ids = generator.permutation(24 * 3) // 3
    X = np.array([[6.0, 0.0], [0.0, 6.0]])[group[ids]] + generator.normal(scale=0.3, size=(72, 2))
    search = sl.estimators.MaxMarginBagClusteringCV(
        2, Cs=[4.0], balances=[10.0], n_resamples=2, n_init=2, random_state=0
    )
    search.fit(X, bags=ids)
    seen = search.cv_results_
    shares = np.bincount(search.bag_labels_) / 24
    assert seen["evenness"][0] == pytest.approx(-(shares * np.log(shares)).sum() / np.log(2))
    assert seen["evenness"][0] < 0.9
    assert seen["score"][0] == pytest.approx(seen["stability"][0] * seen["evenness"][0] * seen["margin"][0])
