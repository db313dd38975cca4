"""The parts of clustering rows in labelled bags: constraints, rounding, shares of classes, readings, probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight._core.simplex import softmax
from sidelight.errors import InvalidData
from sidelight.estimators.instances.bag_constraint import BagConstraint
from sidelight.estimators.instances.bag_discriminative import BagLikeness
from sidelight.estimators.instances.class_shares import bag_agreement, class_shares

RNG = np.random.default_rng(0)
CODES = np.array([2, 0, 1, 0, 3, 2, 1, 3])
BAGS = sl.Bags(CODES, labels={0: {"a"}, 1: {"a", "b"}, 2: {"b", "c"}})
ROWS = RNG.normal(size=(8, 2))


def plain(bags, *, ambiguous=False, centred=False):
    """Q written out."""
    n, Y = bags.n_rows, bags.label_matrix.toarray().astype(float)
    Y = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)
    mu = np.square(Y.sum(axis=0)).sum() / bags.n_bags**2
    single = (bags.label_matrix.toarray().sum(axis=1) == 1) & ~bags.is_partial
    Q = np.empty((n, n))
    for i, a in enumerate(bags.codes):
        for j, b in enumerate(bags.codes):
            Q[i, j] = Y[a] @ Y[b] - (mu if centred or a == b else 0.0)
            if ambiguous and single[a] and single[b]:
                same = (Y[a] == Y[b]).all()
                Q[i, j] -= float(same) - (mu if a == b and not centred else 0.0)
    return Q


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("ambiguous", [False, True])
def test_the_constraint_is_the_matrix_written_out(ambiguous, centred):
    for bags in (BAGS, sl.Bags(CODES, labels=BAGS.labels, partial=[0])):
        found = BagConstraint.from_bags(bags, ambiguous_only=ambiguous, centred=centred)
        expected = plain(bags, ambiguous=ambiguous, centred=centred)
        np.testing.assert_allclose(found.product(np.eye(8)), expected, atol=1e-12)
        np.testing.assert_allclose(found.product(ROWS[:, 0]), expected @ ROWS[:, 0], atol=1e-12)
        some = np.array([1, 2, 3, 6])  # none of the last bag
        np.testing.assert_allclose(found.take(some).product(np.eye(4)), expected[np.ix_(some, some)], atol=1e-12)


def test_rows_are_coupled_by_bags_and_classes_or_all_of_them():
    bags, classes = (np.asarray(one.toarray()) for one in BagConstraint.from_bags(BAGS).couplings())
    np.testing.assert_array_equal(bags, np.arange(4)[:, None] == BAGS.codes)
    np.testing.assert_array_equal(classes > 0, BAGS.label_matrix.toarray().T[:, BAGS.codes] > 0)
    (everybody,) = BagConstraint.from_bags(BAGS, centred=True).couplings()
    assert everybody.toarray().tolist() == [[1.0] * 8]
    assert BagConstraint.from_bags(BAGS.without_labels()).couplings() == []
    assert BagConstraint.from_bags(BAGS, dtype=np.float32).product(ROWS.astype(np.float32)).dtype == np.float32


def test_shares_are_most_likely_and_sum_to_one_where_somebody_says_something():
    labels = RNG.integers(3, size=8)
    theta = class_shares(labels, BAGS, 4)
    allowed = BAGS.row_label_mask()
    told = BAGS.is_labelled[BAGS.codes]

    def log_likelihood(theta):
        inside = (theta[labels] * allowed).sum(axis=1)
        return np.log(np.maximum(inside[told], 1e-12)).sum()

    for k in range(4):
        assert theta[k].sum() == pytest.approx(1.0 if (told & (labels == k)).any() else 0.0, abs=1e-4)
    for _ in range(20):
        assert log_likelihood(theta) >= log_likelihood(RNG.dirichlet(np.ones(3), size=4)) - 1e-4
    assert class_shares(np.zeros(0, dtype=int), sl.Bags([], classes=["a"]), 0).shape == (0, 1)
    partial = sl.Bags([0, 1], labels={0: {"a"}, 1: {"b"}}, partial=[1])
    np.testing.assert_allclose(class_shares(np.array([0, 1]), partial, 2), [[1, 0], [0, 0]])
    empty = sl.Bags([0, 1], labels={0: {"a"}, 1: set()})
    np.testing.assert_allclose(class_shares(np.array([0, 1]), empty, 2), [[1], [0]])
    np.testing.assert_allclose(class_shares(np.array([0, 0]), empty, 1), [[1]])  # an empty list says nothing
    assert bag_agreement(np.array([0, 0]), empty, np.array([[1.0]])) == 1.0
    assert bag_agreement(np.array([0, 0]), partial, np.array([[1.0, 0.0]])) == 1.0


def test_a_reading_names_half_of_a_cluster_and_lists_the_bags_that_object():
    bags = sl.Bags([0, 1, 2, 2, 3, 3, 3], labels={0: {"a"}, 1: {"b"}, 2: {"b"}, 3: {"c"}})
    labels = np.array([0, 0, 1, 1, 1, 1, 2])
    read = sl.estimators.ClusterReading
    found = read.from_labels(labels, bags, distances=[2.0, 1.0, 4.0, 3.0, 1.0, 2.0, 0.0], n_nearest=2)
    assert found.refines == ["a", "b", "c"]  # half is enough
    assert found.disagreeing == [[1], [3], []]
    assert [near.tolist() for near in found.nearest] == [[1, 0], [4, 5], [6]]
    columns = found.to_columns(most=1)
    assert columns["rows"] == [2, 4, 1]
    assert columns["made of"] == ["a 50%", "b 50%", "c 100%"]
    assert columns["typical rows"] == ["1", "4", "6"]
    assert columns["bags that disagree"] == [1, 1, 0]
    assert columns["for example"] == ["1", "3", ""]
    five = read.from_labels(np.zeros(7, dtype=int), bags, distances=np.arange(7.0))
    assert len(five.nearest[0]) == 5
    assert len(five.to_columns()["typical rows"][0].split(", ")) == 5
    assert five.refines == [None]
    assert five.names == ["mixed"]
    assert [near.tolist() for near in read.from_labels(labels, bags).nearest] == [[], [], []]
    for bad in ({"labels": labels - 1}, {"labels": labels + 0.5}, {"distances": [1.0]}, {"distances": list("abcdefg")}):
        with pytest.raises(InvalidData):
            read.from_labels(**{"labels": labels, "bags": bags, **bad})


def planted(n=60):
    y = np.arange(n) % 3
    codes = RNG.permutation(n) // 3
    X = 2.0 * np.eye(3)[y] + RNG.normal(size=(n, 3))
    return X, sl.Bags(codes, labels={int(b): set(np.array(list("abc"))[y[b == codes]]) for b in range(n // 3)}), y


def test_probabilities_are_votes_or_fall_with_the_distance_to_centres():
    X, bags, _ = planted()
    model = sl.BagSpectralClustering(4, random_state=0).fit(X, bags=bags)
    P = model.predict_proba(X)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))
    votes = np.asarray(model._similarity(X, "neighbours") @ np.eye(4)[model.labels_])
    np.testing.assert_allclose(P, votes / votes.sum(axis=1, keepdims=True))
    told = model.predict_proba(X, bags=bags)
    np.testing.assert_array_equal(told.argmax(axis=1), model.labels_)
    inside = np.square(model.embedding_ - model.centres_[model.labels_]).sum(axis=1).mean()
    squares = np.square(model.embedding_[:, None] - model.centres_).sum(axis=2)
    plain = softmax(-squares / (2 * inside))
    agree = plain.argmax(axis=1) == model.labels_
    assert agree.mean() > 0.8
    np.testing.assert_allclose(told[agree], plain[agree], atol=1e-6)
    for k in range(4):
        np.testing.assert_allclose(model.centres_[k], model.embedding_[model.labels_ == k].mean(axis=0))
    half = np.flatnonzero(bags.codes < 10)
    new = model.predict_proba(X[half], bags=bags[half])
    np.testing.assert_allclose(new.sum(axis=1), 1.0)
    np.testing.assert_array_equal(new.argmax(axis=1), model.predict(X[half], bags=bags[half]))
    assert np.abs(new - model.predict_proba(X[half])).max() > 0.01
    np.testing.assert_array_equal(model.embed(X, bags=bags), model.embedding_)
    assert np.abs(model.embed(X[half], bags=bags[half]) - model.embed(X[half])).max() > 0.01


def test_scores_follow_lists_where_there_are_some_and_distances_elsewhere():
    X, bags, _ = planted()
    model = sl.BagSpectralClustering(3, random_state=0).fit(X, bags=bags)
    weights = RNG.uniform(0.5, 2.0, size=60)
    labels = model.predict(X)
    inside = (model.class_shares_[labels] * bags.row_label_mask()).sum(axis=1)
    each = np.log(np.maximum(inside, 1 / 61))
    assert model.score(X, bags=bags) == pytest.approx(each.mean())
    assert model.score(X, bags=bags, sample_weight=weights) == pytest.approx(np.average(each, weights=weights))
    some = sl.Bags(list(bags), labels={b: bags.labels[b] for b in range(6)}, classes=["d", "c", "b", "a"])
    known = some.is_labelled[some.codes]
    assert model.score(X, bags=some) == pytest.approx(each[known].mean())
    gaps = np.square(model.embed(X) - model.centres_[labels]).sum(axis=1)
    assert model.score(X) == pytest.approx(-gaps.mean())
    assert model.score(X, sample_weight=weights) == pytest.approx(-np.average(gaps, weights=weights))


def test_new_rows_of_a_function_are_asked_for_their_similarities_to_known_ones():
    X, bags, _ = planted()

    def near(A, B=None):
        B = A if B is None else B
        return np.exp(-np.square(A[:, None] - B).sum(axis=2) / 4.0)

    model = sl.BagSpectralClustering(3, affinity=near, random_state=0).fit(X, bags=bags)
    expected = (near(X[:7] + 0.1, X) @ np.eye(3)[model.labels_]).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X[:7] + 0.1), expected)


def test_a_reading_of_an_estimator_knows_its_bags_clusters_and_centres():
    X, bags, _ = planted()
    model = sl.BagSpectralClustering(3, random_state=0).fit(X, bags=bags)
    found = sl.estimators.ClusterReading.from_estimator(model)
    assert [len(near) for near in found.nearest] == [5, 5, 5]
    gaps = np.linalg.norm(model.embedding_ - model.centres_[model.labels_], axis=1)
    for k, near in enumerate(found.nearest):
        own = np.flatnonzero(model.labels_ == k)
        assert near.tolist() == own[np.argsort(gaps[own], kind="stable")][:5].tolist()
    assert [len(near) for near in sl.estimators.ClusterReading.from_estimator(model, n_nearest=2).nearest] == [2, 2, 2]
    plain = sl.estimators.BagDiscriminativeClustering(4, n_init=1, random_state=0).fit(X, bags=bags)
    plain.labels_ = np.minimum(plain.labels_, 1)  # two clusters are empty
    assert sl.estimators.ClusterReading.from_estimator(plain, bags=bags).names[2:] == ["empty/1", "empty/2"]
    with pytest.raises(InvalidData, match="keeps no bags"):
        sl.estimators.ClusterReading.from_estimator(plain)
    with pytest.raises(InvalidData, match="labels_"):
        sl.estimators.ClusterReading.from_estimator(sl.BagSpectralClustering())


def test_a_rule_scores_information_and_how_alike_bags_are():
    X, bags, _ = planted()
    model = sl.estimators.BagDiscriminativeClustering(3, tau=2.0, alpha=3.0, n_init=1, random_state=0).fit(X, bags=bags)
    P = model.predict_proba(X)
    share = P.mean(axis=0)
    information = (P * np.log(P)).sum(axis=1).mean() - (share * np.log(share)).sum()
    assert model.score(X) == pytest.approx(2.0 * information)
    alike = BagLikeness(*(getattr(BagConstraint.from_bags(bags), name) for name in ("gather", "codes", "bag_product")))
    expected = 2.0 * information - 3.0 * float(alike(P, np.log(P))[0])
    assert model.score(X, bags=bags) == pytest.approx(expected)
    assert model.score(X, bags) == pytest.approx(expected)


def test_of_weights_that_carry_the_lists_equally_well_the_smallest_is_taken():
    y = np.arange(40) % 2
    X = 30.0 * y[:, None] + RNG.normal(size=(40, 2))
    bags = sl.Bags(np.arange(40), labels={i: {"ab"[y[i]]} for i in range(40)})
    found = sl.BagSpectralClustering(2, alpha="auto", random_state=0).fit(X, bags=bags).alpha_search_
    assert set(found["agreement"]) == {1.0}
    assert found["chosen"] == found["alpha"][0]
