"""When three rows are asked about instead of two, on a belief written down as a table."""

from __future__ import annotations

import numpy as np

from sidelight._core.simplex import entropy
from sidelight.active.questions import are_apart, better_triplet, pairs_of

PLACES = np.array([
    [0.4, 0.35, 0.2, 0.05], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0],
    [0.95, 0.05, 0.0, 0.0],
])  # fmt: skip


class Table:
    """Three clusters, known by rows 1, 2 and 3; row 6 is no candidate."""

    n_known, rows = 3, (0, 1, 2, 3, 4, 6)
    position = np.array([0, 1, 2, 3, 4, 5, -1])

    def __init__(self, known=(1, 2, 3), sure=1.0, n_known=3):
        self.known, self.sure, self.n_known = known, sure, n_known

    def places(self):
        return PLACES

    def certainty(self, row):
        return self.sure

    def representative(self, row, cluster, asked):
        other = self.known[cluster]
        return other if other is not None and not asked(row, other) else None


def ask(belief=None, pair=(0, 1), seconds=(1.0, 1.0), asked=(), alike=()):
    return better_triplet(
        belief or Table(), pair, lambda a, b: {a, b} in [set(one) for one in asked],
        lambda a, b: {a, b} not in [set(one) for one in alike], seconds,
    )  # fmt: skip


def test_the_second_row_is_of_the_next_likeliest_cluster():
    assert ask() == (0, 1, 2)
    assert ask(pair=(0, 2)) == (0, 2, 1)
    assert ask(asked=[(0, 2)]) is None  # only the two likeliest clusters are looked at
    assert ask(alike=[(1, 2)]) is None
    assert ask(Table(known=(1, None, 3))) is None
    assert ask(Table(known=(5, 2, 3))) == (0, 1, 2)  # row 5 is of the cluster of row 1
    assert ask(Table(known=(2, 2, 3)), pair=(0, 2)) is None


def test_three_rows_need_two_clusters_and_a_row_that_is_a_candidate():
    assert ask(Table(n_known=1)) is None
    assert ask(Table(n_known=2)) == (0, 1, 2)
    assert ask(pair=(6, 1)) is None
    assert ask(pair=(0, 6)) is None  # nothing is known of row 6


def test_three_rows_are_asked_about_where_they_buy_more_a_second():
    two, three = float(entropy(np.array([0.4, 0.6]))), float(entropy(np.array([0.4, 0.35, 0.25])))
    for seconds, expected in (((1.0, 1.0), (0, 1, 2)), ((1.0, 0.99 * three / two), (0, 1, 2)),
                              ((1.0, 1.01 * three / two), None), ((2.0, 2.02 * three / two), None)):  # fmt: skip
        assert ask(seconds=seconds) == expected
    assert ask(pair=(5, 1), seconds=(1.0, 3.0)) is None


def test_rows_are_apart_that_are_sure_of_different_clusters():
    for rows, sure, expected in [
        ((1, 2), 1.0, True), ((2, 4), 1.0, False), ((1, 2), 0.9, True), ((1, 2), 0.89, False), ((1, 5), 1.0, False),
        ((0, 2), 1.0, True), ((0, 1), 1.0, False), ((6, 2), 1.0, False), ((2, 6), 1.0, False), ((5, 2), 1.0, False),
    ]:  # fmt: skip
        assert are_apart(Table(sure=sure), *rows) == expected


def test_the_odd_one_out_says_something_of_pairs():
    for word, relation, expected in [
        ("a", None, [(1, 2, "same"), (0, 1, "different")]), ("b", None, [(0, 2, "same"), (0, 1, "different")]),
        ("c", None, [(0, 1, "same"), (0, 2, "different")]), ("none", None, []),
        ("none", "different", [(0, 1, "different"), (0, 2, "different")]), ("none", "same", [(0, 1, "same")]),
    ]:  # fmt: skip
        assert pairs_of((0, 1, 2), word, relation) == expected
