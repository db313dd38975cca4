"""Neighbourhoods on a line of rows, where who is nearest and farthest can be read off."""

from __future__ import annotations

import numpy as np

from sidelight.active.belief import squared_distances
from sidelight.active.rivals.neighbourhoods import NPU, MinMax, Neighbourhoods

PLACES = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.5, 30.0, 31.0])


class Line:
    """A belief whose rows lie on a line, left and right of 5."""

    def __init__(self, n_clusters=None, places=PLACES):
        self.features, self.n_rows, self.n_clusters = np.array(places)[:, None], len(places), n_clusters
        self.n_fits = 0

    def partition(self, generator):
        self.n_fits += 1
        return (self.features[:, 0] > 5).astype(int)


def asked(*pairs):
    """What was asked so far."""
    known = {frozenset(pair) for pair in pairs}
    return lambda a, b: frozenset((a, b)) in known


def choose(strategy, belief, *pairs, busy=frozenset(), seed=0):
    chosen = strategy.choose(belief, asked(*pairs), np.random.default_rng(seed), busy)
    return None if chosen is None else chosen[0]


def having(kind, *groups, **more):
    strategy = kind()
    strategy.groups = [list(group) for group in groups]
    for name, value in more.items():
        setattr(strategy, name, value)
    return strategy


def test_the_first_question_is_about_a_row_and_the_one_farthest_from_it():
    for seed in range(4):
        row, first = choose(Neighbourhoods(), Line(), seed=seed)
        assert row == (7 if PLACES[first] < 15 else 0)


def test_until_every_cluster_was_met_the_farthest_free_row_comes_next():
    strategy, belief = having(Neighbourhoods, [0], [7]), Line(3)
    assert choose(strategy, belief) == (5, 0)  # 12.5 is 12.5 away from row 0 and 18.5 from row 7
    assert choose(strategy, belief, busy=frozenset({5})) == (4, 0)
    strategy.skipped = {4, 5}
    assert choose(strategy, belief) == (3, 0)


def test_the_row_in_hand_is_asked_against_neighbourhoods_that_are_not_ruled_out():
    strategy, belief = having(Neighbourhoods, [0, 2], [3], current=5, apart={1}), Line(3)
    assert choose(strategy, belief) == (5, 2)
    assert choose(strategy, belief, (5, 2)) == (5, 0)
    assert choose(strategy, belief, busy=frozenset({5})) == (7, 3)  # another has it; of row 7 nothing is ruled out


def test_a_row_that_is_placed_is_not_asked_against_itself():
    assert choose(having(Neighbourhoods, [0], [3, 5], current=5), Line(2)) == (5, 3)


def test_a_row_compared_with_all_makes_way_unless_others_hold_its_partners():
    strategy, belief = having(Neighbourhoods, [0], [7], current=5), Line(3)
    assert choose(strategy, belief, (5, 0), (5, 7)) == (4, 0)
    assert choose(strategy, belief, busy=frozenset({0, 7})) is None
    everything = [(a, b) for a in range(8) for b in range(a)]
    assert choose(strategy, belief, *everything) is None


def test_once_every_cluster_was_met_any_free_row_comes_next():
    strategy, belief = having(Neighbourhoods, [0, 1], [7, 5]), Line(2)
    assert {choose(strategy, belief, seed=seed)[0] for seed in range(30)} == {2, 3, 4, 6}


def test_minmax_takes_the_likeliest_neighbourhood_by_its_nearest_row_and_explore_by_its_middle():
    groups, belief = ([0, 6], [3]), Line(2)  # the middle of the first is 15, its nearest row to row 1 is row 0
    assert having(MinMax, *groups).likeliest(belief, 1, None) == [0, 1]
    assert having(Neighbourhoods, *groups).likeliest(belief, 1, None) == [1, 0]


def test_minmax_consolidates_with_the_free_row_that_is_covered_worst():
    strategy, belief = having(MinMax, [0], [3]), Line(2)
    free = np.ones(8, dtype=bool)
    assert strategy.consolidate(belief, free, None) == 7
    free[[6, 7]] = False
    assert strategy.consolidate(belief, free, None) == 5


def test_npu_weighs_entropy_by_the_expected_number_of_questions(monkeypatch):
    strategy, belief = having(NPU, [0], [3], [7]), Line(3)
    p = np.full((8, 3), [1.0, 0.0, 0.0])
    p[2], p[5], p[6] = [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [1 / 3, 1 / 3, 1 / 3]
    monkeypatch.setattr(strategy, "_chances", lambda belief, rows, generator: p[rows])
    free = np.ones(8, dtype=bool)
    assert strategy.next_row(belief, free, None) == 6  # log 3 / 2 beats log 2 / 1.5
    free[6] = False
    assert strategy.next_row(belief, free, None) == 2
    free[2] = False
    assert strategy.next_row(belief, free, None) == 5
    p[5] = [0.3, 0.2, 0.5]
    assert strategy.likeliest(belief, 5, None) == [2, 0, 1]


def test_npu_grows_one_forest_an_answer_and_its_chances_sum_to_one():
    strategy, belief = having(NPU, [0, 1], [11]), Line(2, np.r_[np.linspace(0, 1, 6), np.linspace(9, 10, 6)])
    p = strategy._chances(belief, np.arange(12), np.random.default_rng(0))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p.argmax(axis=1) == np.repeat([0, 1], 6)).all()
    leaves = strategy._leaves(belief, np.random.default_rng(1))
    beside = [np.mean([(leaves[5] == leaves[t]).mean() for t in group]) + 1e-6 for group in strategy.groups]
    np.testing.assert_allclose(p[5], np.array(beside) / sum(beside))
    assert belief.n_fits == 1
    strategy.after_answer(belief, (2, 0), "same")
    strategy._leaves(belief, np.random.default_rng(1))
    assert belief.n_fits == 2


def test_squared_distances_are_those_of_the_definition():
    A, B = np.random.default_rng(0).normal(size=(5, 3)), np.random.default_rng(1).normal(size=(4, 3))
    np.testing.assert_allclose(squared_distances(A, B), ((A[:, None] - B) ** 2).sum(axis=2))
