"""How questions are chosen from a belief, on a belief written down as a table."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._core.simplex import binary_entropy, entropy
from sidelight.active.strategies import FORGIVEN, PairStrategy, RandomStrategy, RowStrategy

SOME = np.array([
    [0.45, 0.55, 0.0], [0.6, 0.3, 0.1], [0.34, 0.33, 0.33], [0.9, 0.1, 0.0], [0.05, 0.8, 0.15], [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
])  # fmt: skip
WEIGHT = np.array([1.0, 2.0, 1.5, 3.0, 1.0, 1.0, 1.0])


class Table:
    """Seven rows and two clusters, of which rows 5 and 6 are known; row 7 is no candidate."""

    n_known, n_clusters, is_consistent, n_rows = 2, 2, True, 8
    rows = (5, 6, 0, 1)
    candidates = np.array([0, 1, 2, 3, 4, 5, 6])
    position = np.array([0, 1, 2, 3, 4, 5, 6, -1])

    def __init__(self, check=None, sure=0.0):
        self.check, self.sure = check, sure

    def places(self):
        return SOME.copy()

    def influence(self, Q):
        return WEIGHT.copy()

    def certainty(self, row):
        return self.sure

    def representative(self, row, cluster, asked):
        other = (5, 6)[cluster]
        return other if other != row and not asked(row, other) else None

    def next_check(self, was_asked):
        return self.check


class Asked:
    """Which pairs were asked about."""

    def __init__(self, *pairs):
        self._pairs = {frozenset(pair) for pair in pairs}

    def __call__(self, a, b):
        return frozenset((a, b)) in self._pairs

    was_asked = __call__


def scores(unsure=()):
    """Return entropy x influence / expected number of questions of every row, counted out."""
    result = []
    for Q, weight in zip(SOME, WEIGHT):
        cost = sum((rank + 1) * p for rank, p in enumerate(sorted(Q[:-1], reverse=True))) + 2 * Q[-1]
        result.append(float(entropy(np.maximum(Q, 1e-12))) * weight / max(cost, 1.0))
    for row in unsure:
        result[row] *= FORGIVEN
    return np.array(result)


def holding(*rows, unsure=()):
    strategy = RowStrategy()
    strategy.in_hand = dict.fromkeys(rows, 1)
    strategy.unsure = dict.fromkeys(unsure, 1)
    return strategy


def choose(strategy, belief=None, asked=None, busy=()):
    return strategy.choose(belief or Table(), asked or Asked(), np.random.default_rng(0), frozenset(busy))


def test_the_row_of_largest_score_is_asked_against_its_likeliest_cluster():
    order = np.argsort(-scores())
    assert choose(RowStrategy()) == ((order[0], 5), pytest.approx(scores()[order[0]]))
    assert choose(RowStrategy(), asked=Asked((order[0], 5)))[0] == (order[0], 6)
    for n in range(1, 5):
        assert choose(RowStrategy(), busy=order[:n])[0][0] == order[n]
        everywhere = Asked(*((row, other) for row in order[:n] for other in (5, 6)))
        assert choose(RowStrategy(), asked=everywhere)[0][0] == order[n]
    assert choose(RowStrategy(), busy=range(7)) is None
    assert choose(RowStrategy(), busy=(7, *order[:2]))[0][0] == order[2]  # row 7 is no candidate
    assert choose(RowStrategy(), asked=Asked(*((row, other) for row in range(8) for other in (5, 6)))) is None
    assert choose(RowStrategy(), asked=Asked((4, 6)), busy=(0, 1, 2, 3))[0] == (4, 5)


def test_what_was_answered_unsure_is_less_wanted_the_first_row_among_them():
    for unsure in ((1,), (0, 1), (0, 1, 2), (0, 1, 2, 3)):
        assert choose(holding(unsure=unsure))[0][0] == scores(unsure).argmax()
    strategy = RowStrategy()
    for _ in range(2):
        strategy.after_answer(Table(), (1, 5), "unsure")
    assert strategy.unsure == {1: 2}
    np.testing.assert_allclose(strategy._scores(Table(), SOME), scores((1,)) * np.where(np.arange(7) == 1, FORGIVEN, 1))
    strategy.unsure = {0: 1}
    np.testing.assert_allclose(strategy._scores(Table(), SOME), scores((0,)))
    strategy.unsure = {7: 3}
    np.testing.assert_allclose(strategy._scores(Table(), SOME), scores())


def test_the_row_taken_up_last_comes_first_and_its_gain_is_told():
    strategy = holding(4, 0)
    assert choose(strategy) == ((0, 6), pytest.approx(scores()[0]))
    assert choose(strategy, busy=(0,)) == ((4, 6), pytest.approx(scores()[4]))
    assert choose(strategy, asked=Asked((0, 5), (0, 6)))[0] == (4, 6)
    assert choose(strategy, busy=(0, 4))[0][0] == scores().argmax()
    rows, gain = choose(holding(7))  # nothing is known of it: the clusters come in their order
    assert rows == (7, 5)
    assert np.isnan(gain)


def test_rows_in_hand_that_have_no_partner_are_left_alone():
    best = int(scores().argmax())
    strategy = holding(best)
    assert choose(strategy, asked=Asked((best, 5), (best, 6)))[0][0] == np.argsort(-scores())[1]
    assert choose(RowStrategy(), busy=(0, 1, 2, 3, 4))[0] == (5, 6)  # the first candidate is no other than the rest


def test_a_check_comes_after_rows_in_hand_and_before_new_ones():
    belief = Table(check=(3, 4))
    rows, gain = choose(RowStrategy(), belief)
    assert rows == (3, 4)
    assert np.isnan(gain)
    assert choose(holding(4), belief)[0] == (4, 6)
    assert choose(holding(4), belief, busy=(4,))[0] == (3, 4)


def test_a_row_is_let_go_when_it_is_placed_or_was_asked_about_often():
    for changes, n_answers, is_in_hand in [
        ({}, 1, True),
        ({}, 4, True),
        ({}, 5, False),  # as often as there are clusters, and three times more
        ({"sure": 0.95}, 1, False),
        ({"sure": 0.9}, 1, True),
        ({"is_consistent": False}, 1, False),
        ({"rows": (5, 6, 0)}, 1, False),  # the first rows have no second partner
        ({"rows": (5, 6, 0), "n_clusters": None}, 1, True),
        ({"rows": (5, 6, 0, 1), "n_clusters": None}, 1, True),
    ]:
        strategy, belief = RowStrategy(), Table()
        for name, value in changes.items():
            setattr(belief, name, value)
        for _ in range(n_answers):
            strategy.after_answer(belief, (3, 5), "different")
        assert (3 in strategy.in_hand) == is_in_hand
        strategy.in_hand = {3: 1}
        strategy.after_answer(belief, (3, 5), "unsure")
        assert 3 not in strategy.in_hand
        assert strategy.unsure == {3: 1}


def test_the_pair_of_largest_information_is_asked():
    gains = binary_entropy(SOME[:, :-1]) * WEIGHT[:, None]
    order = [np.unravel_index(at, gains.shape) for at in np.argsort(-gains, axis=None, kind="stable")]
    pairs = [(int(row), 5 + int(cluster)) for row, cluster in order if gains[row, cluster] > 0]
    assert choose(PairStrategy()) == (pairs[0], pytest.approx(gains.max()))
    for n in range(1, len(pairs)):
        assert choose(PairStrategy(), asked=Asked(*pairs[:n]))[0] == pairs[n]
    busy = {row for row, _ in pairs[:3]}
    assert choose(PairStrategy(), busy=busy)[0] == next(pair for pair in pairs if pair[0] not in busy)
    assert choose(PairStrategy(), busy={0, 7})[0][0] != 0
    assert choose(PairStrategy(), busy=range(7)) is None
    assert choose(PairStrategy(), asked=Asked(*((row, other) for row in range(8) for other in (5, 6)))) is None


def test_random_pairs_are_of_two_rows_that_are_free_and_were_not_asked_about():
    free = {frozenset((a, b)) for a in range(4) for b in range(a)} - {frozenset((0, 1))}
    drawn = set()
    for seed in range(60):
        rows, gain = RandomStrategy().choose(
            Table(), Asked((0, 1)), np.random.default_rng(seed), frozenset({4, 5, 6, 7})
        )
        drawn.add(frozenset(rows))
        assert np.isnan(gain)
    assert drawn == free
    every = Asked(*((a, b) for a in range(8) for b in range(a)))
    assert RandomStrategy().choose(Table(), every, np.random.default_rng(0)) is None
