"""DMNLCV: hidden labels are found again, and decide."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidInput


def kinds(n_bags=60, seed=0):
    """Bags of four rows of five kinds."""
    generator = np.random.default_rng(seed)
    y = generator.integers(5, size=4 * n_bags)
    codes = np.arange(len(y)) // 4
    X = 5.0 * np.eye(5)[y] + generator.normal(size=(len(y), 5))
    return X, sl.Bags(codes, labels={b: set(np.array(list("abcde"))[y[codes == b]]) for b in range(n_bags)}), y


def test_hidden_labels_are_found_again_and_the_novel_one_too():
    X, bags, y = kinds()
    told = bags.without_classes(["e"])
    search = sl.estimators.DMNLCV(1, lams=[0.1], rhos=[1.0, 10.0], n_init=2, random_state=0).fit(X, bags=told)

    assert search.best_params_["lam"] == 0.1
    assert (search.cv_results_["score"] > 0.9).all()
    assert np.mean((search.labels_ == 4) == (y == 4)) > 0.9
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


@pytest.mark.parametrize("grid", [{"lams": []}, {"rhos": [-1.0]}, {"lams": 5}, {"n_rounds": 0}])
def test_grids_that_cannot_be_tried_are_refused(grid):
    X, bags, _ = kinds(n_bags=10)
    with pytest.raises(InvalidInput):
        sl.estimators.DMNLCV(1, **grid).fit(X, bags=bags)
