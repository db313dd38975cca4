"""Maximum margin clustering of bags: what it publishes, and how it takes bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, f1_score

import sidelight as sl
from sidelight.errors import ConvergenceWarning, EmptyClusters, InvalidInput, InvalidParameter, ignore_warnings
from sidelight.estimators.bags.max_margin import members, membership_threshold


def needles(seed=0, n_bags=60, k=3, size=5, noise=0.3):
    """Bags of clutter around 0 with one telling row each, at a random place in the bag."""
    generator = np.random.default_rng(seed)
    y = np.arange(n_bags) % k
    X = noise * generator.normal(size=(n_bags * size, 4))
    telling = np.arange(n_bags) * size + generator.integers(0, size, n_bags)
    X[telling, y] += 3.0
    return X, np.repeat(np.arange(n_bags), size), y, telling


@pytest.fixture(scope="module")
def found():
    X, codes, _, _ = needles()
    return sl.MaxMarginBagClustering(3, random_state=0).fit(X, bags=codes)


def test_finds_the_groups_and_the_telling_rows(found):
    _, codes, y, telling = needles()
    assert adjusted_rand_score(y, found.bag_labels_) == 1.0
    assert np.mean(found.witnesses_ == telling) > 0.9
    assert (codes[found.witnesses_] == np.arange(60)).all()
    assert found.status_ == "converged"


def test_rows_carry_the_cluster_of_their_bag(found):
    _, codes, _, _ = needles()
    np.testing.assert_array_equal(found.labels_, found.bag_labels_[codes])


def test_the_best_decision_is_the_label_and_the_margin(found):
    X, codes, _, _ = needles()
    decisions = found.decision_function(X, bags=codes)
    np.testing.assert_array_equal(decisions.argmax(axis=1), found.predict_bag_clusters(X, codes))
    np.testing.assert_allclose(decisions.max(axis=1), found.bag_margins_)


def test_new_bags_are_recognised(found):
    X, codes, y, _ = needles(seed=9, n_bags=30)
    assert adjusted_rand_score(y, found.predict_bag_clusters(X, codes)) == 1.0


def test_the_trace_never_rises_beyond_the_inner_tolerance(found):
    assert (np.diff(found.trace_) <= found.C * found.inner_tol).all()
    assert found.objective_ == found.start_objectives_.min() == found.trace_[-1]


def test_rows_may_come_in_any_order(found):
    X, codes, _, _ = needles()
    shuffled = np.random.default_rng(1).permutation(len(X))
    names = list(sl.Bags(codes[shuffled]).names)
    in_order = found.decision_function(X, bags=codes)
    np.testing.assert_allclose(found.decision_function(X[shuffled], bags=codes[shuffled]), in_order[names], atol=1e-9)
    np.testing.assert_array_equal(found.predict_bag_clusters(X[shuffled], codes[shuffled]), found.bag_labels_[names])


@pytest.mark.slow
def test_csr_rows_give_the_same_margins():
    X, codes, _, _ = needles()
    X[np.abs(X) < 0.2] = 0
    dense = sl.MaxMarginBagClustering(3, random_state=0).fit(X, bags=codes)
    sparse = sl.MaxMarginBagClustering(3, random_state=0).fit(sp.csr_array(X), bags=codes)
    np.testing.assert_allclose(dense.bag_margins_, sparse.bag_margins_, atol=1e-6)


def test_memberships_beat_one_cluster_on_overlapping_bags():
    X, bags, Y = sl.data.make_overlapping_bags(n_bags=120, n_clusters=4, noise=0.3, random_state=0)
    model = sl.MaxMarginBagClustering(4, random_state=0).fit(X, bags=bags)
    belongs = model.memberships(X, bags=bags)
    one = np.eye(4, dtype=bool)[model.bag_labels_]
    order = matched(Y, one)
    several = f1_score(Y, belongs[:, order], average="micro")
    single = f1_score(Y, one[:, order], average="micro")
    assert several > single + 0.05


def matched(Y, belongs):
    """The cluster of each true group, by the most common bags."""
    from scipy.optimize import linear_sum_assignment

    common = Y.astype(float).T @ belongs
    return linear_sum_assignment(-common)[1]


def test_two_heaps_are_parted_between_them():
    margins = np.array([[1.2, -0.4, 0.9], [1.0, -0.5, -0.6], [-0.4, 1.0, -0.5]])
    threshold = membership_threshold(margins)
    assert -0.4 < threshold < 0.9
    np.testing.assert_array_equal(members(margins, threshold)[0], [True, False, True])
    assert membership_threshold(np.ones((4, 3))) == np.inf


def test_every_bag_belongs_somewhere(found):
    X, codes, _, _ = needles()
    assert (found.memberships(X, bags=codes, threshold=1e9).sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0}, "'C' parameter"),
        ({"balance": -1}, "'balance' parameter"),
        ({"scale": "units"}, "Did you mean 'unit'"),
        ({"init": "random"}, "'init' parameter"),
        ({"n_clusters": 0}, "'n_clusters' parameter"),
        ({"n_clusters": 99}, "99 clusters but got 60 bags"),
    ],
)
def test_a_bad_parameter_is_named(parameters, words):
    X, codes, _, _ = needles()
    with pytest.raises(InvalidParameter, match=words):
        sl.MaxMarginBagClustering(**{"n_clusters": 3, **parameters}).fit(X, bags=codes)


def test_a_row_without_a_bag_is_refused():
    with pytest.raises(InvalidInput, match="bag"):
        sl.MaxMarginBagClustering(2).fit(np.eye(3), bags=["a", "b"])


def test_one_cluster_has_no_margin():
    X, codes, _, _ = needles(n_bags=6)
    found = sl.MaxMarginBagClustering(1).fit(X, bags=codes)
    assert found.status_ == "no margin"
    assert set(found.labels_) == {0}


@pytest.mark.slow
def test_constant_features_change_nothing():
    X, codes, _, _ = needles()
    padded = np.column_stack([X, np.full(len(X), 0.1)])
    fit = sl.MaxMarginBagClustering(3, random_state=0).fit
    np.testing.assert_allclose(fit(X, bags=codes).bag_margins_, fit(padded, bags=codes).bag_margins_, atol=1e-6)


def test_rows_that_are_all_alike_have_no_margin():
    assert sl.MaxMarginBagClustering(2).fit(np.ones((6, 2)), bags=[0, 0, 1, 1, 2, 2]).status_ == "no margin"


def test_a_balance_that_only_zero_meets_is_a_status():
    found = sl.MaxMarginBagClustering(2, margin="paper", balance=0.0, scale="none").fit(np.array([[1.0], [2.0], [3.0]]))
    assert found.status_ == "no margin"


def test_a_loose_balance_that_leaves_clusters_empty_is_a_status():
    X = np.abs(np.random.default_rng(0).normal(size=(30, 2))) + 5
    with pytest.warns(EmptyClusters, match="of 3 clusters"):
        found = sl.MaxMarginBagClustering(3, margin="paper", balance=1e9, scale="none", random_state=0).fit(X)
    assert found.status_ == "empty clusters"
    assert set(found.labels_) == set(range(len(set(found.labels_))))


def test_a_start_cut_short_warns():
    X, codes, _, _ = needles(noise=2.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        found = sl.MaxMarginBagClustering(3, max_iter=1, n_init=1).fit(X, bags=codes)
    assert found.status_ == "iteration limit"


MENDED = ("rest", "rows")


def correlated(size, seed=0, n_bags=60):
    """Rows spread along one direction, with one telling row in each bag that leaves it: many rows a bag."""
    generator = np.random.default_rng(seed)
    y = np.arange(n_bags) % 3
    X = generator.normal(size=(n_bags * size, 1)) + 0.2 * generator.normal(size=(n_bags * size, 6))
    X[np.arange(n_bags) * size, y] += 1.5
    return X, np.repeat(np.arange(n_bags), size), y


@pytest.mark.slow
def test_bags_of_many_rows_escape_the_papers_balance_and_not_the_offsets():
    X, codes, y = correlated(size=40)
    paper = sl.MaxMarginBagClustering(3, margin="paper", scale="standard", C=4.0, random_state=0)
    with pytest.warns(EmptyClusters, match=r"cannot prevent this"):
        paper.fit(X, bags=codes)
    for margin, C, least in (
        ("rest", 16.0, 4),
        ("rows", 4.0, 2),
    ):  # of five seeds
        fits = [sl.MaxMarginBagClustering(3, margin=margin, C=C, random_state=seed) for seed in range(5)]
        with ignore_warnings(EmptyClusters):
            right = [adjusted_rand_score(y, model.fit(X, bags=codes).bag_labels_) > 0.9 for model in fits]
        assert sum(right) >= least, margin


@pytest.mark.slow
@pytest.mark.parametrize("margin", MENDED)
def test_with_offsets_the_trace_never_rises_beyond_the_inner_tolerance(margin):
    X, codes, _ = correlated(size=8)
    for seed in range(5):
        model = sl.MaxMarginBagClustering(3, margin=margin, n_init=1, random_state=seed).fit(X, bags=codes)
        assert (np.diff(model.trace_) <= model.C * model.inner_tol).all()


@pytest.mark.parametrize("margin", MENDED)
def test_one_centred_row_a_bag_is_the_papers_problem(margin):
    X = np.random.default_rng(3).normal(size=(40, 3))
    X -= X.mean(axis=0)
    ours, paper = (
        sl.MaxMarginBagClustering(3, margin=kind, balance=1e9, C=4.0, scale="standard", n_init=1, random_state=2)
        for kind in (margin, "paper")
    )
    np.testing.assert_allclose(ours.fit(X).decision_function(X), paper.fit(X).decision_function(X), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("margin", MENDED)
def test_new_bags_are_judged_by_the_offsets_of_the_training_bags(margin):
    X, codes, _, _ = needles()
    model = sl.MaxMarginBagClustering(3, margin=margin, random_state=0).fit(X, bags=codes)
    few = np.isin(codes, (0, 5, 7))
    whole = model.decision_function(X, bags=codes)
    np.testing.assert_allclose(model.decision_function(X[few], bags=codes[few]), whole[[0, 5, 7]], atol=1e-9)
    assert model.offsets_.shape == (3,)


def test_the_margins_of_bags_are_those_of_their_definition():
    X, codes, _, _ = needles(n_bags=12)
    for margin in MENDED:
        model = sl.MaxMarginBagClustering(3, margin=margin, scale="none", random_state=0).fit(X, bags=codes)
        W = model.weights_ - (model.weights_.mean(axis=0) if margin == "rows" else 0.0)
        M = np.array([(X[codes == bag] @ W.T).max(axis=0) for bag in range(12)])
        h = M.mean(axis=0)
        if margin == "rows":
            f = 1.5 * ((M - h).max(axis=1) + h.mean())
        else:
            f = 1.5 * ((M - h).max(axis=1) - (M - h).mean(axis=1))
        np.testing.assert_allclose(model.bag_margins_, f, atol=1e-9)
        J = 0.5 * (model.weights_**2).sum() + model.C * np.maximum(0.0, 1.0 - f).mean()
        np.testing.assert_allclose(model.objective_, J, atol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sidelight.errors.EmptyClusters")
def test_the_papers_margin_takes_the_lowest_objective_of_its_starts():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(120, 6))
    bags = sl.Bags(generator.permutation(np.arange(120) // 3))
    lost = 0
    for seed in range(20):
        model = sl.MaxMarginBagClustering(4, margin="paper", balance=0.05, n_init=3, random_state=seed).fit(
            X, bags=bags
        )
        assert model.objective_ == model.start_objectives_.min()
        lost += len(np.unique(model.bag_labels_)) < 4
    assert lost  # the start with the lowest objective may leave clusters empty: that is what the paper says
