"""Estimators that choose settings: what else they were told reaches the estimator inside, which answers for them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.registry import labelled_bags, pure_bags

import sidelight as sl
from sidelight.errors import ignore_warnings

ours = sl.estimators
BAGS, X = labelled_bags(), pure_bags()
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X))
SEARCHES = [
    ours.MaxMarginBagClusteringCV(
        2, Cs=[2.0, 8.0], balances=[0.5, 3.0], n_resamples=2, margin="paper", scale="standard",
        init="normal", n_init=2, tol=0.05, inner_tol=0.02, max_iter=7, random_state=0,
    ),
    ours.DMNLCV(
        2, lams=[0.05, 0.2], rhos=[2.0, 5.0], n_rounds=2, structure="manifold", ridge=0.3, n_init=2, max_iter=4,
        random_state=0,
    ),
]  # fmt: skip


@pytest.fixture(scope="module", params=SEARCHES, ids=lambda one: type(one).__name__)
def search(request):
    with ignore_warnings():
        return request.param.fit(X, bags=BAGS)


def test_every_setting_of_a_search_reaches_what_it_fits(search):
    inner = search.best_estimator_.get_params()
    for name, value in search.get_params().items():
        if name in inner and name != "random_state":
            assert inner[name] == value, name
    for name, value in search.best_params_.items():
        assert inner[name] == value


def test_every_combination_is_tried_and_the_best_is_kept(search):
    results, names = search.cv_results_, list(search.best_params_)
    tried = list(zip(*(results[name].tolist() for name in names)))
    told = search.get_params()
    grids = [told[f"{name}s"] for name in names]
    assert sorted(tried) == sorted((a, b) for a in grids[0] for b in grids[1])
    assert search.best_score_ == results["score"].max()
    assert tried[int(results["score"].argmax())] == tuple(search.best_params_.values())


def test_what_a_search_says_is_what_its_best_estimator_says(search):
    best, more = search.best_estimator_, {"bags": BAGS}
    np.testing.assert_array_equal(search.labels_, best.labels_)
    for name in ("predict", "predict_proba", "decision_function", "predict_labels", "novelty_score", "memberships"):
        if hasattr(best, name):
            np.testing.assert_array_equal(getattr(search, name)(X, **more), getattr(best, name)(X, **more))
    for name in ("predict_bags", "predict_bag_clusters", "predict_bag_proba"):
        if hasattr(best, name) and hasattr(search, name):
            np.testing.assert_array_equal(getattr(search, name)(X, BAGS), getattr(best, name)(X, BAGS))
    plain, weighed = (best.score(X, bags=BAGS, sample_weight=weights) for weights in (None, WEIGHTS))
    assert search.score(X, bags=BAGS) == search.score(X, BAGS) == plain
    assert search.score(X, bags=BAGS, sample_weight=WEIGHTS) == weighed
    assert plain != weighed or best.score(X, bags=BAGS) == 1.0
    if hasattr(best, "memberships"):
        for threshold in (-1.0, 0.0):
            np.testing.assert_array_equal(
                search.memberships(X, bags=BAGS, threshold=threshold),
                best.memberships(X, bags=BAGS, threshold=threshold),
            )


def test_the_score_of_margins_is_what_can_be_seen_of_them():
    with ignore_warnings():
        search = SEARCHES[0].fit(X, bags=BAGS)
    results = search.cv_results_
    np.testing.assert_allclose(results["score"], results["stability"] * results["evenness"] * results["margin"])
    at = int(results["score"].argmax())
    best = search.best_estimator_
    shares = np.bincount(best.bag_labels_, minlength=2) / BAGS.n_bags
    shares = shares[shares > 0]
    assert results["evenness"][at] == pytest.approx(-(shares * np.log(shares)).sum() / np.log(2))
    assert results["margin"][at] == pytest.approx(np.clip(best.bag_margins_, 0, 1).mean())
    assert results["objective"][at] == best.objective_
    with ignore_warnings():
        free = ours.MaxMarginBagClusteringCV(2, Cs=[2.0], balances=[0.5, 3.0], n_resamples=1, n_init=1).fit(
            X, bags=BAGS
        )
    assert len(free.cv_results_["C"]) == 1  # the balance only matters for the paper's margin


@pytest.mark.parametrize(("share", "n_kept"), [(0.6, 9), (0.01, 2), (1.0, 15)])
def test_resamples_are_whole_bags(share, n_kept, monkeypatch):
    monkeypatch.setattr("sidelight.estimators.bags.search.SHARE", share)
    search = ours.MaxMarginBagClusteringCV(2)
    rows = search._resample(BAGS, np.random.default_rng(0))
    kept = np.unique(BAGS.codes[rows])
    assert len(kept) == n_kept
    assert rows.tolist() == np.flatnonzero(np.isin(BAGS.codes, kept)).tolist()
