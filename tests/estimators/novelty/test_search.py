"""DMNLCV: hidden labels are found again, and decide."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import sidelight as sl
from sidelight.errors import InvalidInput, SidelightWarning
from sidelight.estimators.novelty.dmnl import choose_n_novel


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


class Told(BaseEstimator):
    """Says of every bag what it was told for so many novel labels."""

    def __init__(self, means=(), n_novel="auto", n_init=5, cv=2, max_novel=6, random_state=None):
        self.means, self.n_novel, self.n_init = means, n_novel, n_init
        self.cv, self.max_novel, self.random_state = cv, max_novel, random_state

    def fit(self, X, *, bags):
        assert self.n_init == 2
        self.is_fitted_ = True
        return self

    def bag_scores(self, X, bags):
        return self.means[self.n_novel] + np.resize([0.0, 0.02], bags.n_bags)


def test_counts_are_tried_until_known_labels_are_told_no_better():
    for means, n_tried, chosen in [
        ([0.5, 0.2, 0.1, 0.9], 3, 0),  # two counts after the best
        ([0.2, 0.1, 0.6, 0.3, 0.3, 0.9], 5, 2),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], 7, 6),
        ([0.5, 0.501, 0.1, 0.1], 4, 0),  # the smallest within an error
    ]:
        X, bags, _ = kinds(n_bags=12)
        found = choose_n_novel(Told(means), X, bags, np.random.default_rng(0))
        assert found["tried"] == list(range(n_tried))
        assert found["chosen"] == chosen


def test_an_empty_list_demands_a_novel_label_and_counts_that_look_alike_are_said():
    X, bags, _ = kinds(n_bags=12)
    empty = sl.Bags(list(bags), labels={**bags.labels, 3: set()})
    assert choose_n_novel(Told([0.9, 0.5, 0.2, 0.1]), X, empty, np.random.default_rng(0))["tried"] == [1, 2, 3]
    partial = sl.Bags(list(bags), labels={**bags.labels, 3: set()}, partial=[3])
    assert choose_n_novel(Told([0.9, 0.5, 0.2]), X, partial, np.random.default_rng(0))["tried"] == [0, 1, 2]
    with pytest.warns(SidelightWarning, match="0 to 2 novel labels"):
        choose_n_novel(Told([0.5, 0.5, 0.5]), X, bags, np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="cv=13"):
        choose_n_novel(Told([0.5] * 3, cv=13), X, bags, np.random.default_rng(0))
    assert choose_n_novel(Told([0.5, 0.9], cv=12, max_novel=1), X, bags, np.random.default_rng(0))["chosen"] == 1
