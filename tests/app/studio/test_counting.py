"""What answers are worth when they are counted: agreement, votes, tables of answers, bounds of a label."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from sidelight.app.store.studio_store import Event
from sidelight.app.studio.answers import (
    Answer,
    as_table,
    check_answer,
    check_label,
    true_answer,
)
from sidelight.app.studio.history import Replay
from sidelight.app.studio.people import alpha
from sidelight.errors import InvalidData, UnknownName

NAN = float("nan")


def random_answers(rng, n_questions=8, width=2, n_people=4):
    """Some people answer some of the questions, at random."""
    words = ("same", "different") if width == 2 else ("a", "b", "c", "none")
    told = []
    for question in range(n_questions):
        for person in range(n_people):
            if rng.random() < 0.7:
                rows = tuple(range(width * question, width * question + width))
                told.append(Answer(len(told), person, rows, str(rng.choice(words)), 0.0, NAN))
    return told


def plain_alpha(answers, person=None):
    """Krippendorff's alpha by its definition: observed over expected disagreement of the coincidences."""
    coincidences, shared = {}, 0
    for question in {answer.rows for answer in answers}:
        said = [answer for answer in answers if answer.rows == question]
        if len(said) < 2 or (person is not None and person not in [answer.person for answer in said]):
            continue
        shared += 1
        for first, second in permutations(said, 2):
            if person is None or person in (first.person, second.person):
                pair = first.answer, second.answer
                coincidences[pair] = coincidences.get(pair, 0.0) + 1.0 / (len(said) - 1)
    n = sum(coincidences.values())
    words = {word for pair in coincidences for word in pair}
    total = {word: sum(weight for pair, weight in coincidences.items() if pair[0] == word) for word in words}
    observed = sum(weight for (a, b), weight in coincidences.items() if a != b) / n
    expected = sum(total[a] * total[b] for a in words for b in words if a != b) / (n * (n - 1))
    return 1.0 - observed / expected, shared


@pytest.mark.parametrize("person", [None, 0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_follows_from_its_definition(seed, person):
    answers = random_answers(np.random.default_rng(seed))
    value, shared = alpha(answers, person)
    expected, n = plain_alpha(answers, person)
    assert shared == n
    assert value == pytest.approx(expected)


def test_alpha_says_nothing_where_nobody_can_be_compared_and_one_where_nobody_differs():
    alone = [Answer(1, 1, (0, 1), "same", 0.0, NAN), Answer(2, 2, (2, 3), "same", 0.0, NAN)]
    assert alpha(alone) == (None, 0)
    assert alpha([*alone, Answer(3, 2, (0, 1), "same", 0.0, NAN)]) == (1.0, 1)
    differing = [*alone, Answer(3, 2, (0, 1), "different", 0.0, NAN)]
    assert alpha(differing) == (0.0, 1)
    assert alpha(differing, person=3) == (None, 0)
    correction = Answer(3, 2, (0, 1), "different", 0.0, NAN, correction=True)
    struck = Answer(3, 2, (0, 1), "different", 0.0, NAN, is_not=True)
    assert alpha([*alone, correction]) == alpha([*alone, struck]) == (None, 0)


def test_a_table_of_answers_holds_pairs_or_triplets_and_no_doubtful_ones():
    ids, people = list("pqrst"), {1: "Ann", 2: "=Bob"}
    pairs = [Answer(1, 1, (0, 1), "same", 0.0, 1.23456), Answer(2, 2, (1, 2), "different", 0.0, NAN)]
    unsure = Answer(3, 1, (3, 4), "unsure", 0.0, 1.0)
    assert as_table([*pairs, unsure], ids, people) == {
        "left": ["p", "q"], "right": ["q", "r"], "answer": ["same", "different"], "annotator": ["Ann", "'=Bob"],
        "seconds": [1.235, ""],
    }  # fmt: skip
    triplet = Answer(4, 3, (4, 3, 2), "b", 0.0, 2.0)
    assert as_table([*pairs, triplet], ids, people) == as_table(pairs, ids, people)
    assert as_table([*pairs, triplet], ids, people, of_three=True) == {
        "a": ["t"], "b": ["s"], "c": ["r"], "odd": ["b"], "annotator": [""], "seconds": [2.0]
    }  # fmt: skip


def test_right_answers_follow_from_the_classes():
    truth = [0, 0, 1, 2]
    told = [true_answer(rows, truth) for rows in [(0, 1), (0, 2), (0, 1, 2), (0, 2, 1), (2, 0, 1), (0, 2, 3)]]
    assert told == ["same", "different", "c", "b", "a", "none"]


def test_answers_are_about_rows_that_are_there_and_words_that_are_known():
    assert check_answer([4], "a name", 5) == (4,)
    assert check_answer([4, 0], "same", 5) == (4, 0)
    assert check_answer([4, 0, 1], "none", 5) == (4, 0, 1)
    for rows in ([5], [-1], [], [0, 0], [0, 1, 2, 3], [0, 5], [-1, 2]):
        with pytest.raises(InvalidData):
            check_answer(rows, "same", 5)
    for rows, word in (([0, 1], "a"), ([0, 1, 2], "same")):
        with pytest.raises(UnknownName):
            check_answer(rows, word, 5)


def test_a_label_is_one_line_of_bounded_length():
    assert check_label(f"  {'x' * 200} ") == "x" * 200
    for label in ("", "  ", "x" * 201, "a\nb"):
        with pytest.raises(InvalidData):
            check_label(label)


def event(number, person, kind, **content):
    """Something that a person did."""
    return Event(number, 1, person, kind, content, 0.0, 1.0)


def follow(*events):
    return Replay(events)


def test_names_follow_a_run_that_was_repeated():
    followed = follow(
        event(1, 1, "label", row=0, label="1"),
        event(2, 1, "label", row=1, label="wren"),
        event(3, 1, "cluster name", cluster="1", name="owl"),
        event(4, 1, "cluster name", cluster="2", name="wren"),
        event(5, 1, "label", row=2, label="1", settles=True),
        event(6, 1, "run", names={"1": "7", "2": "wren"}),
    )
    assert [answer.answer for answer in followed.standing.answers.values()] == ["7", "wren", "7"]
    assert followed.standing.cluster_names == {"7": "owl"}  # what the new run calls a wren needs no other name
    assert [answer.rows for answer in followed.standing.answers.values() if answer.decides] == [(2,)]
    followed.take(event(7, 1, "cluster name", cluster="7", name=""))
    assert followed.standing.cluster_names == {}
