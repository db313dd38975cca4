"""How often answers are wrong, by answers that test each other, and not by rows whose classes overlap."""

from __future__ import annotations

from itertools import combinations, product

import networkx
import numpy as np
import pytest
from scipy.stats import beta

import sidelight as sl
from sidelight.estimators.relations import trust as closures
from sidelight.estimators.relations.trust import HeldOutPairs, error_range, error_rate


def drawn(y, n, noise, seed=0):
    """Answers about random pairs, some of them wrong."""
    return sl.Pairs.sample(y, n, noise=noise, random_state=seed)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("noise", "low", "high"), [(0.0, 0.0, 0.03), (0.2, 0.13, 0.28)])
def test_the_share_of_wrong_answers_is_found_whatever_a_fit_was_surprised_by(n_classes, noise, low, high):
    y = np.arange(80) % n_classes
    for surprise in (0.02, 0.35):
        assert low <= error_rate(drawn(y, 500, noise), n_classes, surprise) <= high


def test_where_no_answers_test_each_other_the_surprise_stands_and_accuses_nobody_of_much():
    chain = sl.Pairs([0, 1, 2], [1, 2, 3], ["same", "different", "same"], n_rows=5)
    assert error_rate(chain, 2, 0.15) == error_rate(chain, 3, 0.15) == 0.15
    assert error_rate(chain, 2, 0.4) == error_rate(chain, 3, 0.4) == 0.2


def test_one_answer_repeated_and_contradicted_is_a_test():
    agree = sl.Pairs([0] * 6, [1] * 6, ["same"] * 6, n_rows=4)
    differ = sl.Pairs([0] * 6, [1] * 6, ["same", "different"] * 3, n_rows=4)
    for n_clusters in (2, 3):
        assert error_rate(agree, n_clusters, 0.15) < 0.15 < error_rate(differ, n_clusters, 0.15)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2])
def test_the_range_holds_the_share_of_wrong_answers(n_classes, noise):
    y = np.arange(80) % n_classes
    for surprise in (0.25, 0.35):
        low, high = error_range(drawn(y, 500, noise), n_classes, surprise)
        assert low - 0.02 <= noise <= high + 0.02  # of so many answers a few less may be wrong
        assert high <= surprise
        assert high - low < 0.2


def test_where_no_answers_test_each_other_the_range_begins_at_nothing():
    chain = sl.Pairs([0, 1, 2], [1, 2, 3], ["same", "different", "same"], n_rows=5)
    for n_clusters in (2, 3):
        assert error_range(chain, n_clusters, 0.37) == (0.0, 0.37)
    differ = sl.Pairs([0] * 8, [1] * 8, ["same", "different"] * 4, n_rows=4)
    assert error_range(differ, 3, 0.01)[0] > 0.05  # what is proven stands, however little a fit was surprised


def test_a_fit_says_the_range_and_how_right_sure_pairs_are(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=160)
    X = rng.normal(size=(160, 4)) + 0.9 * y[:, None]
    model = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=drawn(y, 120, 0.0))
    low, high = model.eps_range_
    assert low == 0.0
    assert low <= model.eps_ <= high
    known = model.calibration_
    assert known["n_answers"] == 120 == known["reliability"]["rows"].sum()
    assert known["temperature"] > 0
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))
    sl.save(model, tmp_path / "m")
    np.testing.assert_array_equal(sl.load(tmp_path / "m").predict_proba(X), P)
    given = sl.DiscriminativeClustering(2, eps=0.1, random_state=0).fit(X, pairs=drawn(y, 120, 0.0))
    assert given.eps_range_.tolist() == [0.1, 0.1]
    assert given.calibration_ == {"temperature": 1.0, "n_answers": 0, "reliability": {}}


def test_pairs_are_as_right_as_sure_whatever_the_sharpness_and_the_wrong_answers():
    rng = np.random.default_rng(0)
    left, right = (rng.dirichlet([0.4, 0.4, 0.4], size=20_000) for _ in range(2))
    kinds = [(p.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1) for p in (left, right)]
    said = (kinds[0] == kinds[1]) ^ (rng.random(20_000) < 0.1)
    too_sure = [2.0 * np.log(p) for p in (left, right)]
    found = HeldOutPairs(*too_sure, said, np.ones(20_000)).calibration(0.1)
    assert found["temperature"] == pytest.approx(2.0, rel=0.13)
    assert found["reliability"]["right"] == pytest.approx(found["reliability"]["said"], abs=0.03)


def test_rows_are_no_surer_than_right_where_features_say_little():
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=600)
    X = rng.normal(size=(600, 8)) + 0.45 * y[:, None]
    model = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=drawn(y, 150, 0.1))
    P = model.predict_proba(X)
    right = max(np.mean(model.predict(X) == y), np.mean(model.predict(X) != y))
    assert P.max(axis=1).mean() < right + 0.04


def test_honest_people_are_not_doubted_where_classes_overlap():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=150)
    X = rng.normal(size=(150, 4)) + 0.4 * y[:, None]
    model = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=drawn(y, 300, 0.0))
    assert model.eps_ < 0.03


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sidelight.errors.AnswersDisagree")
def test_more_answers_do_not_hurt_where_a_fifth_is_wrong():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = rng.normal(size=(150, 4)) + 1.2 * np.eye(4)[y]
    few, many = (
        np.mean(
            [
                sl.metrics.adjusted_rand_index(
                    y, sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=drawn(y, n, 0.2, seed)).labels_
                )
                for seed in range(3)
            ]
        )
        for n in (300, 900)
    )
    assert many >= few - 0.02


def test_closed_paths_count_by_their_lengths():
    """A square with one "different", a triangle with two, and a tail that closes nothing."""
    rows = [(7, 4), (4, 6), (6, 5), (5, 7), (0, 2), (2, 1), (1, 0), (7, 3)]
    words = ["same", "same", "different", "same", "different", "same", "different", "same"]
    for order in (np.arange(8), np.array([5, 3, 0, 7, 6, 1, 2, 4])):
        told = sl.Pairs.from_table([(*rows[i], words[i]) for i in order], n_rows=9)
        keeps = 1 - 2 * closures.GRID
        expected = np.log((1 - keeps**4) / 2) + np.log((1 + keeps**3) / 2)
        np.testing.assert_allclose(closures._parity(told), expected)


def test_triangles_and_repeated_answers_count_as_in_a_plain_loop(monkeypatch):
    monkeypatch.setattr(closures, "GRID", np.linspace(0.01, 0.4, 9))
    rng = np.random.default_rng(3)
    for n_answers, noise in ((6, 0.0), (15, 0.0), (15, 0.3), (30, 0.2)):
        y = rng.integers(3, size=9)
        told = drawn(y, n_answers, noise, seed=1) + drawn(y, n_answers, noise, seed=2)
        word = {}
        agree = differ = 0
        for (a, b), same in zip(np.sort(told.rows, axis=1).tolist(), told.same.tolist()):
            agree += sum(other == same for other in word.get((a, b), []))
            differ += sum(other != same for other in word.get((a, b), []))
            word.setdefault((a, b), []).append(same)
        counts, edges = np.zeros(4), set()
        for a, b, c in combinations(range(9), 3):
            sides = [(a, b), (a, c), (b, c)]
            for words in product(*(set(word.get(side, [])) for side in sides)):
                counts[sum(words)] += 1
                edges |= set(sides)
        graph = networkx.Graph([tuple(pair) for pair in told.rows[told.same].tolist()])
        cycles = int(told.same.sum()) - graph.number_of_nodes() + networkx.number_connected_components(graph)
        eps = closures.GRID
        expected = agree * np.log1p(-2 * eps * (1 - eps)) + differ * np.log(2 * eps * (1 - eps))
        expected += (0 if told.contradictions() else cycles) * np.log1p(-eps)
        if counts.sum():
            kinds = [np.array([closures._seen(true, e) for true in (3, 1, 0)]) for e in eps]
            expected += min(len(edges) / (3 * counts.sum()), 1.0) * np.array([closures._fit(counts, k) for k in kinds])
        np.testing.assert_allclose(closures._triangles(told), expected)


@pytest.mark.parametrize("n_alike", [0, 1, 3])
def test_the_chances_of_answers_about_three_rows_are_those_of_enumeration(n_alike):
    expected = np.zeros(4)
    for wrong in product([0, 1], repeat=3):
        said = sum((pair < n_alike) != bool(slip) for pair, slip in enumerate(wrong))
        expected[said] += 0.1 ** sum(wrong) * 0.9 ** (3 - sum(wrong))
    np.testing.assert_allclose(closures._seen(n_alike, 0.1), expected)


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_the_share_of_wrong_answers_is_the_mean_of_what_tests_and_surprise_leave(n_clusters):
    """Twice the same answer: a beta prior of ten answers' worth, times the chance that both are right or both wrong."""
    twice = sl.Pairs([0, 1], [1, 0], ["different", "different"], n_rows=3)
    eps = closures.GRID
    chance = beta.pdf(eps, 10 * 0.15, 10 * 0.85) * (1 - 2 * eps * (1 - eps))
    assert error_rate(twice, n_clusters, 0.15) == pytest.approx(eps @ chance / chance.sum())
