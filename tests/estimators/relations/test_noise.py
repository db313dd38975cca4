"""Wrong answers: how many there are, whose they are, and which answers are mistaken for which."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import SidelightWarning
from sidelight.estimators.relations.answered import Answered
from sidelight.estimators.relations.noise import ErrorRates, estimate_errors, even_confusion

RNG = np.random.default_rng(0)
Y = np.arange(900) % 3
X = 3.0 * np.eye(3)[Y] @ RNG.normal(size=(3, 6)) + RNG.normal(size=(900, 6))


def fit(answers, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)  # wrong answers contradict each other
        return sl.DiscriminativeClustering(3, n_init=1, random_state=0, **options).fit(X, answers)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("kind", [sl.Pairs, sl.Triplets])
def test_the_share_of_wrong_answers_is_learnt(kind, noise):
    answers = kind.sample(Y, 600, noise=noise, random_state=1)
    share = np.mean(kind.sample(Y, 600, random_state=1).codes != answers.codes)  # what the draw really holds
    assert fit(answers).eps_ == pytest.approx(share, abs=0.03)


def test_annotators_are_told_apart():
    rates = {"ann": 0.0, "bob": 0.1, "eve": 0.3}
    answers = sum(
        (sl.Pairs.sample(Y, 100, noise=r, random_state=i, annotator=n) for i, (n, r) in enumerate(rates.items())),
        sl.Pairs.empty(len(Y)),
    )
    learnt = fit(answers).annotator_errors_
    for name, rate in rates.items():
        assert learnt[name] == pytest.approx(rate, abs=0.1)  # one draw; the benchmark averages many
    assert learnt["ann"] < learnt["bob"] < learnt["eve"]


def test_uneven_confusions_are_learnt():
    pairs = sl.Pairs.sample(Y, 900, random_state=2)
    slips = pairs.same & (np.random.default_rng(0).random(900) < 0.4)  # alike rows are often called different
    told = sl.Pairs(pairs.left, pairs.right, pairs.same & ~slips, n_rows=len(Y))
    table = fit(told, errors="confusion").pair_confusion_
    assert table[1, 0] == pytest.approx(0.4, abs=0.1)
    assert table[0, 1] < 0.05


def certain(answers):
    """Truths that are known: every fourth answer is wrong, and the truth is then the next word."""
    right = np.arange(answers.n_answers) % 4 > 0
    n_words = len(answers.WORDS)
    return np.eye(n_words)[np.where(right, answers.codes, (answers.codes + 1) % n_words)], ~right


def answers_of_two():
    pairs = sl.Pairs.sample(Y, 30, random_state=0, annotator="ann") + sl.Pairs.sample(Y, 21, random_state=1)
    triplets = sl.Triplets.sample(Y, 18, random_state=2, annotator="bob")
    return pairs, triplets


def test_where_truths_are_certain_rates_are_shares_pulled_towards_the_prior():
    pairs, triplets = answers_of_two()
    (T_pairs, wrong_pairs), (T_triplets, wrong_triplets) = certain(pairs), certain(triplets)
    answered = Answered.evenly(pairs, triplets, 0.2)
    rates = estimate_errors(answered, (T_pairs, T_triplets), confusion=False)
    common = (wrong_pairs.sum() + wrong_triplets.sum() + 0.5) / (51 + 18 + 5)
    assert rates.eps == pytest.approx(common)
    ann = np.array([name == "ann" for name in pairs.annotators])
    assert rates.by_annotator["ann"] == pytest.approx((wrong_pairs[ann].sum() + 10 * common) / (ann.sum() + 10))
    assert rates.by_annotator["bob"] == pytest.approx((wrong_triplets.sum() + 10 * common) / (18 + 10))
    np.testing.assert_allclose(rates.pair_confusion, even_confusion(2, common))
    np.testing.assert_allclose(rates.triplet_confusion, even_confusion(4, common))
    assert not rates.uneven
    assert rates.differ
    assert not ErrorRates.evenly(0.1).differ
    assert not ErrorRates(0.1, {"ann": 0.1}).differ
    assert ErrorRates(0.1, uneven=True).differ


def test_where_truths_are_certain_confusions_are_counts_pulled_towards_even_ones():
    pairs, triplets = answers_of_two()
    truths = certain(pairs)[0], certain(triplets)[0]
    rates = estimate_errors(Answered.evenly(pairs, triplets, 0.2), truths, confusion=True)
    assert rates.uneven
    for answers, T, table in ((pairs, truths[0], rates.pair_confusion), (triplets, truths[1], rates.triplet_confusion)):
        expected = 10 * even_confusion(T.shape[1], rates.eps)
        np.add.at(expected, (T.argmax(axis=1), answers.codes), 1.0)
        np.testing.assert_allclose(table, expected / expected.sum(axis=1, keepdims=True))


def test_an_even_confusion_shares_mistakes_out_alike():
    np.testing.assert_allclose(even_confusion(4, 0.3).sum(axis=1), 1.0)
    np.testing.assert_allclose(even_confusion(4, 0.3), 0.1 + 0.6 * np.eye(4))


def test_another_share_of_wrong_answers_keeps_the_odds_between_people():
    uneven = np.array([[0.8, 0.2], [0.1, 0.9]])
    rates = ErrorRates(0.2, {"ann": 0.1, "bob": 0.3}, uneven, even_confusion(4, 0.2), uneven=True)
    scaled = rates.scaled(0.05)
    factor = (0.05 / 0.95) / (0.2 / 0.8)
    assert scaled.eps == pytest.approx(0.05)
    for name, rate in rates.by_annotator.items():
        new = scaled.by_annotator[name]
        assert new / (1 - new) == pytest.approx(factor * rate / (1 - rate))
    for row in range(2):
        old, new = uneven[row, 1 - row], scaled.pair_confusion[row, 1 - row]
        assert new / (1 - new) == pytest.approx(factor * old / (1 - old))
    np.testing.assert_allclose(scaled.pair_confusion.sum(axis=1), 1.0)
    np.testing.assert_allclose(scaled.triplet_confusion, even_confusion(4, 0.05))
    np.testing.assert_array_equal(ErrorRates(0.2).scaled(0.05).triplet_confusion, np.eye(4))
    assert scaled.uneven


def test_chances_follow_the_person_and_the_kind_of_mistake():
    pairs = sl.Pairs.from_table([(0, 1, "same", 1.0, "ann"), (2, 3, "different", 1.0, "eve")], n_rows=4)
    triplets = sl.Triplets.empty(4)
    same, apart = sl.Pairs.WORDS.index("same"), sl.Pairs.WORDS.index("different")
    even = ErrorRates(0.1, {"ann": 0.2}).believed(pairs, triplets).pair_chances
    assert even[0, same] == pytest.approx(0.8)
    assert even[0, apart] == pytest.approx(0.2)
    assert even[1, apart] == pytest.approx(0.9)  # eve has no rate of her own
    table = np.empty((2, 2))
    table[same], table[apart] = np.roll([0.7, 0.3], same), np.roll([0.95, 0.05], apart)
    uneven = ErrorRates(0.1, {"ann": 0.2}, table, uneven=True).believed(pairs, triplets).pair_chances
    assert uneven[0, same] == pytest.approx(1 - 2 * 0.3)  # ann slips twice as often as all
    assert uneven[0, apart] == pytest.approx(2 * 0.05)
    assert uneven[1, apart] == pytest.approx(0.95)
    assert uneven[1, same] == pytest.approx(0.3)
