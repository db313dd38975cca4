"""Clusterers with answers, against plain references on small cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.cluster import KMeans

import sidelight as sl
from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import graph_local_scaling
from sidelight.errors import ConflictingAnswers, InvalidInput
from sidelight.peers._links import Links, compare
from sidelight.peers.constrained.gaussian_mixture import LabelInference
from sidelight.peers.constrained.mpck_means import Metrics, farthest_gaps
from sidelight.peers.constrained.propagation import spread
from sidelight.peers.constrained.sweep import Incidence, _assign, assign_in_turn


def groups(n=60, seed=0, gap=3.0):
    """Three groups of rows that overlap, in four dimensions."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return gap * np.eye(3, 4)[y] + rng.normal(size=(n, 4)), y


def links_of(pairs):
    return Links.of(pairs, sl.Triplets.empty(pairs.n_rows))


def test_a_triplet_makes_three_links_and_two_comparisons():
    triplets = sl.Triplets.from_table([(0, 1, 2, "a"), (0, 1, 3, "none")], n_rows=4)
    links = Links.of(sl.Pairs.empty(4), triplets)
    found = {(*sorted(rows), bool(same)) for rows, same in zip(links.rows.tolist(), links.same)}
    assert found == {(1, 2, True), (0, 1, False), (0, 2, False)}
    comparisons = compare(sl.Pairs.empty(4), triplets, np.random.default_rng(0))
    assert comparisons.near.tolist() == [[1, 2], [1, 2]]
    assert sorted(map(sorted, comparisons.far.tolist())) == [[0, 1], [0, 2]]


def test_every_pair_is_compared_with_one_of_the_other_kind():
    _, y = groups()
    pairs = sl.Pairs.sample(y, 40, random_state=0)
    comparisons = compare(pairs, sl.Triplets.empty(60), np.random.default_rng(0))
    assert (y[comparisons.near[:, 0]] == y[comparisons.near[:, 1]]).all()
    assert (y[comparisons.far[:, 0]] != y[comparisons.far[:, 1]]).all()
    assert len({tuple(rows) for rows in comparisons.far.tolist()}) == (~pairs.same).sum()


def test_the_compiled_assignment_equals_the_plain_one():
    rng = np.random.default_rng(1)
    rows = np.array([rng.choice(12, 2, replace=False) for _ in range(15)])
    same, prices, costs = rng.random(15) < 0.5, rng.random((15, 3)), rng.random((12, 3))
    labels = rng.integers(-1, 3, size=12)
    fast, plain = labels.copy(), labels.copy()
    incidence, order = Incidence.of(rows, 12), rng.permutation(12)
    assert assign_in_turn(costs, fast, order, incidence, same, prices) == -1
    _assign.py_func(costs, plain, order, *incidence, same.astype(np.intp), prices)
    np.testing.assert_array_equal(fast, plain)
    last = order[-1]  # the last row took its cheapest cluster, given all others

    def cost(k):
        total = costs[last, k]
        for m, (i, j) in enumerate(rows):
            if last in (i, j):
                other = fast[j if i == last else i]
                if same[m] and other != k:
                    total += prices[m, k] + prices[m, other]
                if not same[m] and other == k:
                    total += prices[m, k]
        return total

    assert fast[last] == min(range(3), key=cost)


def test_cop_kmeans_keeps_every_answer_that_kmeans_breaks():
    X, y = groups(gap=1.0)
    pairs = sl.Pairs.sample(y, 60, random_state=0)
    model = sl.peers.COPKMeans(3, random_state=0).fit(X, pairs=pairs)
    assert len(model.violated_["pairs"]) == 0
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(X)
    assert ((labels[pairs.left] == labels[pairs.right]) != pairs.same).sum() > 5


def test_cop_kmeans_finds_the_best_of_all_clusterings_that_keep_the_answers():
    X = np.random.default_rng(3).normal(size=(9, 2))
    pairs = sl.Pairs.from_table([(0, 1, "same"), (2, 3, "different"), (4, 0, "different")], n_rows=9)

    def inertia(labels):
        return sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in set(labels))

    every = (np.array(labels) for labels in product(range(2), repeat=9))
    kept = [labels for labels in every if ((labels[pairs.left] == labels[pairs.right]) == pairs.same).all()]
    model = sl.peers.COPKMeans(2, n_init=30, random_state=0).fit(X, pairs=pairs)
    assert model.inertia_ == pytest.approx(min(inertia(labels) for labels in kept))


def test_cop_kmeans_names_the_answers_that_leave_no_cluster():
    pairs = sl.Pairs.from_table(
        [(0, 1, "different"), (1, 2, "same"), (2, 3, "different"), (0, 3, "different")], n_rows=4
    )
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ConflictingAnswers, match=r"more than 2 clusters") as refused:
        sl.peers.COPKMeans(2, random_state=0).fit(X, pairs=pairs)
    assert sum(f"answer {number}" in str(refused.value) for number in range(4)) >= 2
    assert len(sl.peers.COPKMeans(3, random_state=0).fit(X, pairs=pairs).violated_["pairs"]) == 0


def test_contradictory_answers_are_refused_with_the_chain():
    pairs = sl.Pairs.from_table([(0, 1, "same"), (1, 2, "same"), (0, 2, "different")], n_rows=4)
    for model in (sl.peers.COPKMeans(2), sl.peers.ConstrainedGaussianMixture(2)):
        with pytest.raises(ConflictingAnswers, match=r"pair answer 0 and pair answer 1.*pair answer 2"):
            model.fit(np.arange(8.0).reshape(4, 2), pairs=pairs)


def test_pck_means_minimises_what_it_says_and_never_rises():
    X, y = groups(gap=1.0)
    pairs = sl.Pairs.sample(y, 50, noise=0.1, random_state=1)
    model = sl.peers.PCKMeans(3, weight=2.0, random_state=0).fit(X, pairs=pairs)
    plain = sum(((x - model.cluster_centers_[k]) ** 2).sum() for x, k in zip(X, model.labels_))
    assert model.objective_ == pytest.approx(plain + 2.0 * len(model.violated_["pairs"]))
    assert (np.diff(model.trace_) <= 1e-9).all()


def test_a_high_price_keeps_answers_and_a_price_of_zero_is_kmeans():
    X, y = groups(gap=1.0)
    pairs = sl.Pairs.sample(y, 30, random_state=0)
    dear = sl.peers.PCKMeans(3, weight=1e6, random_state=0).fit(X, pairs=pairs)
    free = sl.peers.PCKMeans(3, weight=0.0, n_init=20, random_state=0).fit(X, pairs=pairs)
    assert len(dear.violated_["pairs"]) < len(free.violated_["pairs"])
    assert free.objective_ == pytest.approx(KMeans(3, n_init=20, random_state=0).fit(X).inertia_, rel=0.02)


@pytest.mark.parametrize("shared", [True, False])
def test_the_metrics_of_mpck_means_minimise_its_objective(shared):
    X, y = groups(gap=1.0)
    X = X * [1.0, 2.0, 0.5, 1.0]
    links = links_of(sl.Pairs.sample(y, 60, noise=0.2, random_state=0))
    model = sl.peers.MPCKMeans(3, shared=shared)
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=len(X))
    centres = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    gaps2 = (X[links.rows[:, 0]] - X[links.rows[:, 1]]) ** 2
    farthest = farthest_gaps(X, X**2, centres.mean(axis=0), Metrics(np.ones((3, 4))))
    A = model._fit_metrics(X, X**2, centres, labels, links, gaps2, farthest, 1e-9).A

    def objective(A):
        total = sum((A[k] * (x - centres[k]) ** 2).sum() - np.log(A[k]).sum() for x, k in zip(X, labels))
        for (i, j), same, gap2 in zip(links.rows, links.same, gaps2):
            k, other = labels[i], labels[j]
            if same and k != other:
                total += ((A[k] + A[other]) / 2 * gap2).sum()
            if not same and k == other:
                total += (A[k] * (farthest[k] - gap2)).sum()
        return total

    for _ in range(20):
        change = np.exp(0.05 * rng.normal(size=(1 if shared else 3, 4)))
        assert objective(A * change) > objective(A) - 1e-9


def test_mpck_means_learns_which_feature_matters():
    X, y = groups(n=120, gap=4.0)
    X = np.column_stack([X, 3 * np.random.default_rng(5).normal(size=(120, 2))])
    pairs = sl.Pairs.sample(y, 120, random_state=0)
    model = sl.peers.MPCKMeans(3, random_state=0).fit(X, pairs=pairs)
    assert sl.metrics.adjusted_rand_index(y, model.labels_) > 0.9
    assert model.metrics_[0, :3].min() > 2 * model.metrics_[0, 4:].max()


def enumerate_labels(log_P, apart):
    """Marginals and log likelihood by listing all joint labels."""
    n, K = log_P.shape
    weights = {}
    for labels in product(range(K), repeat=n):
        if all(labels[a] != labels[b] for a, b in apart):
            weights[labels] = np.exp(sum(log_P[g, k] for g, k in enumerate(labels)))
    total = sum(weights.values())
    Q = np.zeros((n, K))
    for labels, weight in weights.items():
        Q[np.arange(n), labels] += weight / total
    return Q, np.log(total)


def test_labels_of_groups_that_must_differ_are_exact_in_small_components():
    log_P = np.random.default_rng(0).normal(size=(6, 3))
    apart = np.array([[0, 1], [1, 2], [0, 2], [4, 5]])
    inference = LabelInference(6, apart, 3)
    Q, value = inference(log_P)
    plain, total = enumerate_labels(log_P, apart)
    assert inference.is_exact
    np.testing.assert_allclose(Q, plain, atol=1e-12)
    assert value == pytest.approx(total)


def test_labels_in_a_large_component_are_bounded_from_below():
    log_P = np.random.default_rng(0).normal(size=(9, 3))
    apart = np.column_stack([np.arange(8), np.arange(1, 9)])
    inference = LabelInference(9, apart, 3)
    Q, value = inference(log_P)
    assert not inference.is_exact
    plain, total = enumerate_labels(log_P, apart)
    assert total - 3 < value <= total
    assert np.abs(Q - plain).mean() < 0.2


def test_em_with_chunklets_never_lowers_the_likelihood():
    X, _ = groups(gap=2.0)
    same = [(i, j, "same") for i, j in [(0, 3), (3, 6), (1, 4), (2, 5), (5, 8)]]
    model = sl.peers.ConstrainedGaussianMixture(3, ridge=1e-6, tol=0.0, max_iter=30, n_init=1, random_state=0)
    with pytest.warns(sl.SidelightWarning, match="max_iter"):
        model.fit(X, pairs=same)
    assert (np.diff(model.trace_) >= -1e-8).all()
    assert len(model.violated_["pairs"]) == 0


def test_cannot_links_decide_rows_between_two_components():
    X = np.array([[-3.0], [-2.9], [-3.1], [-2.8], [3.0], [3.1], [2.9], [2.8], [0.01], [-0.01]])
    model = sl.peers.ConstrainedGaussianMixture(2, random_state=0).fit(
        X, pairs=[(0, 9, "different"), (4, 8, "different")]
    )
    assert model.labels_[9] == model.labels_[4] != model.labels_[8]
    assert model.is_exact_
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_sssvad_weighs_features_by_comparisons():
    X, y = groups(n=120, gap=4.0)
    X = np.column_stack([X[:, :3], 6 * np.random.default_rng(5).normal(size=(120, 2))])
    triplets = sl.Triplets.sample(y, 150, random_state=0)
    model = sl.peers.SSSVaD(3, random_state=0).fit(X, triplets=triplets)
    np.testing.assert_allclose(model.feature_weights_.sum(axis=1), 5.0)
    assert model.feature_weights_[:, 3:].max() < 0.5
    assert sl.metrics.adjusted_rand_index(y, model.labels_) > 0.9


def test_answers_are_spread_as_the_dense_formula_says():
    X, y = groups()
    links = links_of(sl.Pairs.sample(y, 20, random_state=0))
    W = graph_local_scaling(nearest_rows(X, 6, generator=np.random.default_rng(0)))[0].toarray().astype(float)
    root = 1 / np.sqrt(W.sum(axis=1))
    S = root[:, None] * W * root
    Z = np.zeros((60, 60))
    for (i, j), same in zip(links.rows, links.same):
        Z[i, j] = Z[j, i] = 1.0 if same else -1.0
    inverse = np.linalg.inv(np.eye(60) - 0.8 * S)
    left, right = spread(*np.linalg.eigh(S), links, 0.8)
    np.testing.assert_allclose(left @ right.T, 0.04 * inverse @ Z @ inverse, atol=1e-10)


def test_propagated_answers_move_rows_that_nobody_asked_about():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([2.2 * y + rng.normal(size=120), 3 * rng.normal(size=120)])
    pairs = sl.Pairs.sample(y, 80, random_state=0)
    plain = sl.peers.ConstraintPropagation(2, random_state=0).fit(X)
    told = sl.peers.ConstraintPropagation(2, random_state=0).fit(X, pairs=pairs)
    untouched = np.setdiff1d(np.arange(120), pairs.rows)
    before = sl.metrics.adjusted_rand_index(y[untouched], plain.labels_[untouched])
    assert sl.metrics.adjusted_rand_index(y[untouched], told.labels_[untouched]) > before


def test_one_cluster_and_equal_rows_are_no_accident():
    for make in [
        sl.peers.COPKMeans,
        sl.peers.PCKMeans,
        sl.peers.MPCKMeans,
        sl.peers.ConstrainedGaussianMixture,
        sl.peers.SSSVaD,
        sl.peers.MetricKMeans,
    ]:
        X = np.zeros((6, 2))
        X[:3] = 1.0
        model = make(1, random_state=0).fit(X, pairs=[(0, 1, "same")])
        assert set(model.labels_) == {0}
        assert len(make(2, random_state=0).fit(X, pairs=[(0, 5, "different")]).predict(X)) == 6


@pytest.mark.parametrize(
    "make", [sl.peers.COPKMeans, sl.peers.PCKMeans, sl.peers.MPCKMeans, sl.peers.SSSVaD, sl.peers.ConstraintPropagation]
)
def test_answers_about_rows_that_are_not_there_are_refused(make):
    with pytest.raises(InvalidInput, match="9"):
        make(2).fit(np.arange(8.0).reshape(4, 2), pairs=[(0, 9, "same")])
