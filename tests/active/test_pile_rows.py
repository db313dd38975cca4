"""Which rows a screen shows, what others say of a placed row, and how many kinds there probably are: plain versions."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight._core.simplex import softmax
from sidelight.active.gaussian import LabelProcess, RowKernels
from sidelight.active.shown import RowsAlone

N = 40
VIEWS = [np.random.default_rng(s).normal(size=(N, d)).astype(np.float32) / d**0.5 for s, d in enumerate((2, 5))]


def fitted(rows=(3, 0, 7, 12, 5, 9)):
    process = LabelProcess(VIEWS, np.random.default_rng(0))
    process.add(*rows)
    process.fit(np.eye(3)[np.arange(len(rows)) % 3], np.ones(len(rows)), weigh=False)
    return process


def test_rows_of_a_screen_are_chosen_as_if_those_before_had_labels():
    process = fitted()
    generator = np.random.default_rng(1)
    doubt, wish = generator.random(N), generator.random(N)
    wish[[3, 0, 7, 12, 5, 9, 20]] = 0.0
    chosen, left = process.most_telling(6, doubt, wish), wish.copy()
    for at in chosen:
        gains = left * process.influence(doubt[process.reference].astype(np.float32))
        assert at == int(gains.argmax())
        left[at] = 0.0
        process = process.branch()
        process.add(at)
        T = np.eye(3)[np.arange(len(process.rows)) % 3]  # labels say nothing about the variance
        process.fit(T, np.ones(len(process.rows)), weigh=False)
    assert len(set(chosen)) == 6


def test_no_row_without_a_wish_is_chosen():
    wish = np.zeros(N)
    wish[[4, 30]] = 1.0
    assert sorted(fitted().most_telling(5, np.ones(N), wish)) == [4, 30]
    assert sorted(fitted(rows=()).most_telling(5, np.ones(N), wish)) == [4, 30]


def test_what_others_say_of_each_row_is_what_they_say_of_it_alone():
    process = fitted()
    process.fit(process.T, np.array([1.0, 2.0, 1.0, np.inf, 1.0, 0.5]), weigh=False)
    P, novelty = process.each_without()
    for t in (0, 1, 2, 4, 5):
        assert P[t] == pytest.approx(process.without(np.array([t]))[0])
        assert novelty[t] == pytest.approx(process.novelty_without(np.array([t]))[0])
    asked, new = process.of_asked()
    assert (P[3], novelty[3]) == (pytest.approx(asked[3]), pytest.approx(new[3]))


def rows_alone(n_kinds=6, apart=4.0, n_rows=240):
    generator = np.random.default_rng(0)
    y = np.arange(n_rows) % n_kinds
    X = generator.normal(size=(n_rows, n_kinds)) + apart * np.eye(n_kinds)[y]
    return RowsAlone(RowKernels.of(X, generator), None, seed=0)


@pytest.mark.parametrize(
    ("sizes", "number"),
    [([1, 1, 1, 1, 3, 5], 6 + 4 * 3 / 2), ([1, 1, 1, 2, 2], 5 + 3 * 2 / (2 * 3)), ([4, 5], 2), ([1] * 9, 30)],
)
def test_kinds_met_once_tell_how_many_were_not_met(sizes, number):
    alone = rows_alone(apart=0.0)
    assert not alone.is_clear
    assert alone.likely_number(np.array(sizes)) == number  # no more than one in eight rows


def test_a_clear_number_of_kinds_is_not_exceeded_but_by_those_met():
    alone = rows_alone()
    assert alone.is_clear
    assert alone.likely_number(np.array([1, 1, 1, 1])) == 6
    assert alone.likely_number(np.full(8, 3)) == 8
    assert alone.likely_number(np.zeros(1, dtype=int)) == 6


def test_nearly_the_same_number_has_the_same_clusters():
    alone = rows_alone()
    assert alone.near(10) is alone.near(11)
    assert alone.near(20).n_clusters == 20
    assert alone.near(20) is not alone.near(10)


def test_many_kinds_are_shown_before_they_were_met():
    generator = np.random.default_rng(3)
    y = np.arange(320) % 16
    X = generator.normal(size=(320, 8)) + 0.9 * generator.normal(size=(16, 8))[y]
    session = sl.ActiveSession(X, random_state=0)
    session.run(sl.Oracle(y), seconds=20)
    assert len(session.piles) <= 10 < len(np.unique(session.labels_))


def test_votes_and_other_rows_are_weighed_by_the_error_rate():
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    session = sl.ActiveSession(generator.normal(size=(90, 3)) + 4.0 * np.eye(3)[y], random_state=0)
    session.tell_screen(list(range(30)), y[:30].tolist())
    session.tell_screen([1, 2], [0, 2])  # of row 1 one placement is wrong
    belief = session._belief
    process, eps = belief.process, belief.eps
    process.fit(np.array([[0.5, 0.5, 0] if t == 1 else np.eye(3)[y[t]] for t in range(30)]), np.ones(30), weigh=False)
    P, novelty = process.each_without()
    alone = np.maximum((1 - novelty[:, None]) * P + novelty[:, None] / 3, 1e-9)
    twice = np.log(alone[2]) + 2 * np.array([np.log(eps / 3), np.log(eps / 3), np.log(1 - eps)])
    assert belief.q[2, :-1] == pytest.approx(softmax(twice))
    split = np.log(alone[1]) + np.array([1.0, 1.0, 0.0]) * (np.log(1 - eps) - np.log(eps / 3))
    assert belief.q[1, :-1] == pytest.approx(softmax(split))
    assert session.labels_[1] == 1
