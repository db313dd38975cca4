"""Answers on no cycle against a search that takes each one away, and checks against all pairs of rows."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from sidelight.active.consequences import WORTH, bridges_of, expected_error, next_check


def reached(start, edges):
    seen, waiting = {start}, [start]
    while waiting:
        row = waiting.pop()
        for a, b in edges:
            for one, other in ((a, b), (b, a)):
                if one == row and other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return seen


def near_of(edges):
    near = defaultdict(list)
    for number, (a, b) in enumerate(edges):
        near[a].append((b, number))
        near[b].append((a, number))
    return near


def plain_bridges(edges):
    """Return the answers whose removal parts their rows, with the rows on either side."""
    found = {}
    for number, (a, b) in enumerate(edges):
        rest = edges[:number] + edges[number + 1 :]
        if b not in reached(a, rest):
            found[number] = (reached(a, rest), reached(b, rest))
    return found


def graphs(n_graphs=25, n_rows=9, n_edges=9):
    generator = np.random.default_rng(0)
    every = list(itertools.combinations(range(n_rows), 2))
    for _ in range(n_graphs):
        chosen = generator.choice(len(every), n_edges, replace=False)
        yield [every[at][:: int(generator.choice([-1, 1]))] for at in chosen]


def test_answers_on_no_cycle_are_those_whose_removal_parts_rows():
    n_smaller = 0
    for edges in graphs():
        blocks, expected = bridges_of(near_of(edges), range(9)), plain_bridges(edges)
        assert blocks.keys() == expected.keys()
        for number, block in blocks.items():
            sides = expected[number]
            assert set(block) in sides
            assert len(block) == min(len(side) for side in sides)
            n_smaller += len(sides[0]) != len(sides[1])
    assert n_smaller > 20


def test_an_answer_given_twice_is_on_a_cycle():
    assert bridges_of(near_of([(0, 1), (1, 0), (1, 2)]), range(3)) == {2: [2]}


def test_of_two_equal_sides_the_one_that_was_reached_later_counts():
    assert bridges_of(near_of([(0, 1)]), range(2)) == {0: [1]}
    assert bridges_of(near_of([(1, 0)]), [1, 0]) == {0: [0]}


@pytest.mark.parametrize(("links", "two_clusters", "n_tested"), [
    ([(0, 1, 1), (1, 2, 1), (0, 2, 1), (2, 3, 1)], False, 3),
    ([(0, 1, 1), (1, 2, 0), (0, 2, 0)], False, 0),
    ([(0, 1, 1), (1, 2, 0), (0, 2, 0)], True, 3),
])  # fmt: skip
def test_fewer_wrong_answers_are_expected_the_more_were_tested(links, two_clusters, n_tested):
    assert expected_error(links, 4, two_clusters=two_clusters) == pytest.approx(0.3 / (6.3 + n_tested))


def plain_risk(edges, a, b, surprise):
    """Return the rows at risk by the open answers between two rows."""
    eps = 0.3 / (6.3 + len(edges) - len(plain_bridges(edges)))
    total = 0.0
    blocks = bridges_of(near_of(edges), range(9))
    for number, sides in plain_bridges(edges).items():
        if (a in sides[0] and b in sides[1]) or (a in sides[1] and b in sides[0]):
            odds = math.log(eps / (1 - eps)) + surprise(blocks[number])
            total += len(blocks[number]) / (1 + math.exp(-odds))
    return total


def test_a_check_is_about_the_two_rows_whose_relation_puts_most_rows_at_risk():
    n_due = 0
    for edges in graphs(n_edges=8):

        def surprise(block):
            return (sum(block) % 5) / 2.0

        pairs = [(a, b) for a, b in itertools.combinations(range(9), 2) if b in reached(a, edges)]
        most = max(plain_risk(edges, *pair, surprise) for pair in pairs)
        links = [(a, b, 1) for a, b in edges]
        check = next_check(links, 9, two_clusters=False, was_asked=lambda a, b: False, surprise=surprise)
        if most <= WORTH:
            assert check is None
            continue
        n_due += 1
        assert plain_risk(edges, *check, surprise) == pytest.approx(most)
        others = next_check(
            links, 9, two_clusters=False, was_asked=lambda a, b, c=check: {a, b} == set(c), surprise=surprise
        )
        assert others is None or (set(others) != set(check) and others[0] != others[1])
        assert next_check(links, 9, two_clusters=False, was_asked=lambda a, b: True, surprise=surprise) is None
    assert n_due > 10


def test_no_answers_need_no_check():
    assert next_check([], 3, two_clusters=True, was_asked=lambda a, b: False, surprise=lambda block: 0.0) is None
    assert next_check([(0, 1, 0)] * 9, 3, two_clusters=False, was_asked=lambda a, b: False, surprise=len) is None
