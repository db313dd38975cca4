"""Checks: which answers nothing confirms, and what is asked to test them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.active import consequences as checks
from sidelight.active.consequences import rows_at_risk


def never(*_):
    return False


next_check = partial(checks.next_check, surprise=lambda block: 0.0)


def chain(n: int, same: int = 1) -> list[tuple[int, int, int]]:
    return [(at, at + 1, same) for at in range(n)]


def test_few_answers_need_no_check():
    assert next_check(chain(2), 3, two_clusters=True, was_asked=never) is None


def test_the_ends_of_the_longest_path_are_asked_about():
    links = [*chain(12), (3, 13, 1)]
    assert set(next_check(links, 14, two_clusters=True, was_asked=never)) == {0, 12}


def test_a_check_closes_the_cycle():
    links = [*chain(12), (0, 12, 1)]
    assert next_check(links, 13, two_clusters=True, was_asked=never) is None


def test_no_pair_is_checked_twice():
    tested = next_check(chain(12), 13, two_clusters=True, was_asked=lambda a, b: {a, b} == {0, 12})
    assert set(tested) in ({0, 11}, {1, 12})


def test_different_says_how_ends_relate_only_with_two_clusters():
    links = chain(12, same=0)
    assert next_check(links, 13, two_clusters=True, was_asked=never) is not None
    assert next_check(links, 13, two_clusters=False, was_asked=never) is None


def test_answers_that_carry_one_row_each_are_not_worth_a_question():
    star = [(0, at, 1) for at in range(1, 15)]
    assert next_check(star, 15, two_clusters=True, was_asked=never) is None


def test_the_answer_that_carries_most_rows_is_tested():
    two_stars = [*((0, at, 1) for at in range(2, 8)), *((1, at, 1) for at in range(8, 14)), (0, 1, 1)]
    left, right = sorted(next_check(two_stars, 14, two_clusters=False, was_asked=never))
    assert left in range(2, 8)
    assert right in range(8, 14)


@pytest.mark.parametrize(("log_odds", "is_tested"), [(3.0, True), (-3.0, False)])
def test_an_answer_that_surprises_is_tested_sooner(log_odds, is_tested):
    star = [(0, at, 1) for at in range(1, 15)]
    tested = checks.next_check(
        star, 15, two_clusters=True, was_asked=never, surprise=lambda block: log_odds if block == [7] else -3.0
    )
    assert (tested is not None and 7 in tested) == is_tested


def test_clusters_that_few_answers_tell_apart_are_at_risk():
    links = np.array([(0, 1, 1), (2, 3, 1), (4, 5, 1), (0, 4, 0), (2, 4, 0), (3, 4, 0)])
    labels = np.array([0, 0, 1, 1, 2, 2])
    risk = rows_at_risk(links, labels, np.full((3, 3), 0.5), eps=0.05)
    assert risk[0, 2] == pytest.approx(0.1)  # one answer about two rows, wrong one time in twenty
    assert risk[0, 1] == pytest.approx(0.2)  # none, but it was nine times as probably new when it opened
    assert risk[1, 2] == pytest.approx(2 / (1 + 19**2))
    assert not np.tril(risk).any()  # each pair once, for the smaller or newer cluster


@pytest.mark.slow
def test_exact_answers_are_checked_a_few_times_only():
    X, y = load_breast_cancer(return_X_y=True)
    session = sl.ActiveSession(X / X.std(axis=0), 2, random_state=0)
    oracle, n_implied = sl.Oracle(y), 0
    for _ in range(40):
        question = session.ask()
        n_implied += session.pairs.implies(*question.rows) is not None
        session.tell(question, oracle(question))
    assert n_implied <= 4


@pytest.mark.slow
def test_early_wrong_answers_carry_no_block_of_rows():
    X, y = load_breast_cancer(return_X_y=True)
    session = sl.ActiveSession((X - X.mean(axis=0)) / X.std(axis=0), 2, random_state=1)
    session.run(sl.Oracle(y, noise=0.1, random_state=1001), budget=60)  # two of the first five are wrong
    assert adjusted_rand_score(y, session.labels_) > 0.65  # what k-means reaches; without checks it is .29
    assert 0.03 < session.eps_ < 0.25
