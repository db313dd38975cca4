"""Settings chosen by held-out answers: every setting is tried, the fewest clusters that do as well are taken."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators.relations.cross_validation import _fewest_clusters

Y = np.arange(60) % 3
X = 4.0 * np.eye(3)[Y] + np.random.default_rng(0).normal(size=(60, 3))
PAIRS = sl.Pairs.sample(Y, 40, random_state=0)
TRIPLETS = sl.Triplets.sample(Y, 20, random_state=0)
BASE = sl.DiscriminativeClustering(n_init=1, eps=0.1, max_iter=30)


def search(n_clusters=3, **settings):
    return sl.DiscriminativeClusteringCV(n_clusters, cv=2, random_state=0, **settings)


@pytest.mark.parametrize("estimator", [None, BASE])
@pytest.mark.filterwarnings("ignore::sidelight.errors.ConvergenceWarning")
def test_every_combination_is_tried_and_the_chosen_one_is_fitted(estimator):
    found = search([2, 3], taus=[0.2, 5.0], penalties=[0.01], estimator=estimator).fit(X, pairs=PAIRS)
    assert found.choice_["tried"] == [(2, 0.2, 0.01), (2, 5.0, 0.01), (3, 0.2, 0.01), (3, 5.0, 0.01)]
    assert len(set(found.choice_["scores"])) == 4
    K, tau, penalty = found.choice_["chosen"]
    assert K == found.n_clusters_ == 3
    best = found.best_estimator_.get_params()
    assert (best["n_clusters"], best["tau"], best["penalty"]) == (K, tau, penalty)
    if estimator is not None:
        assert best["eps"] == 0.1
    again = sl.DiscriminativeClustering(**best).fit(X, pairs=PAIRS)
    np.testing.assert_array_equal(again.labels_, found.labels_)
    np.testing.assert_array_equal(again.probabilities_, found.probabilities_)
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))
    for told in ({}, {"pairs": PAIRS}, {"triplets": TRIPLETS}, {"pairs": PAIRS, "triplets": TRIPLETS}):
        assert found.score(X, **told) == again.score(X, **told)
    assert found.score(X, PAIRS) == again.score(X, pairs=PAIRS)


@pytest.mark.slow
def test_the_seed_decides_the_folds_and_the_fit():
    first, same, other = (
        sl.DiscriminativeClusteringCV([2, 3], cv=2, random_state=seed).fit(X, pairs=PAIRS) for seed in (0, 0, 1)
    )
    assert first.choice_["scores"] == same.choice_["scores"] != other.choice_["scores"]
    assert first.best_estimator_.random_state == same.best_estimator_.random_state != other.best_estimator_.random_state


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sidelight.errors.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [None, BASE])
def test_answers_of_both_kinds_are_held_out(estimator):
    scores = [
        search([2, 3], estimator=estimator).fit(X, **told).choice_["scores"]
        for told in ({"pairs": PAIRS}, {"triplets": TRIPLETS}, {"pairs": PAIRS, "triplets": TRIPLETS})
    ]
    assert len({tuple(some) for some in scores}) == 3


def test_one_setting_is_fitted_without_holding_anything_out():
    found = search(3, taus=[0.5]).fit(X)
    assert found.choice_["chosen"] == (3, 0.5, None)
    assert np.isnan([*found.choice_["scores"], *found.choice_["errors"]]).all()
    with pytest.raises(InvalidParameter, match="'taus' parameter of DiscriminativeClusteringCV"):
        search(3, taus=0.5).fit(X)


def test_counts_of_clusters_are_tried_where_none_is_given_but_none_beyond_the_rows():
    few = np.array([0, 1, 2, 3, 4])
    found = search(None).fit(X[few], pairs=sl.Pairs.sample(Y[few], 8, random_state=0))
    tried = [K for K, _, _ in found.choice_["tried"]]
    assert max(tried) == 5
    assert tried == sorted(set(tried))


def test_answers_fewer_than_folds_are_refused():
    few = PAIRS.only(slice(4))
    with pytest.raises(InvalidData, match="5 folds"):
        sl.DiscriminativeClusteringCV([2, 3], cv=5).fit(X, pairs=few)
    assert sl.DiscriminativeClusteringCV([2, 3], cv=4, random_state=0).fit(X, pairs=few).n_clusters_ in (2, 3)
    with pytest.raises(InvalidParameter, match="estimator"):
        search(estimator=sl.peers.COPKMeans()).fit(X, pairs=PAIRS)
    with pytest.raises(InvalidParameter, match="at least one"):
        search(taus=[]).fit(X, pairs=PAIRS)


def test_the_fewest_clusters_within_an_error_of_the_best_are_taken_with_their_best_settings():
    grid = [(4, 0.1, None), (2, 0.1, None), (3, 0.1, None), (3, 0.2, None)]
    spread = np.array([-1.0, 1.0, -1.0, 1.0])  # a standard error of about .58
    values = [spread, spread - 5.0, spread - 0.3, spread - 0.2]
    assert grid[_fewest_clusters(grid, values)] == (3, 0.2, None)
    assert grid[_fewest_clusters(grid, [spread, spread - 5.0, spread - 0.9, spread - 0.8])] == (4, 0.1, None)
    one_size = [(3, 0.1, None), (3, 0.2, None)]
    assert one_size[_fewest_clusters(one_size, [spread - 0.1, spread])] == (3, 0.2, None)
