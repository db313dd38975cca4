"""The model of a project: what it asks one person, what it does when many answer, and what a restart brings back."""

from __future__ import annotations

import pytest
from tests.app.studio.conftest import blobs

from sidelight.app.studio.answers import Answer, true_answer
from sidelight.app.studio.learner import Learner, new_session
from sidelight.app.studio.open_questions import FixedList, OpenQuestions
from sidelight.app.studio.studio import Studio

SETTINGS = {"strategy": "rows", "kind": "pair", "clusters": None, "seed": 0}


@pytest.fixture
def project(tmp_path):
    """A project of three classes, at work."""
    studio = Studio(tmp_path)
    yield studio.project(studio.add("blobs", blobs(90), {}).id)
    studio.close()


def answers(rows, n):
    """Right answers to what the session asks."""
    session, told = new_session(rows, SETTINGS), []
    for number in range(n):
        question = session.ask()
        word = true_answer(question.rows, rows.truth)
        session.tell(question, word)
        told.append(Answer(number, 1, tuple(question.rows), word, 0.0, 1.0))
    return told


def test_one_person_is_asked_exactly_what_the_session_would_ask(project):
    session, ann = new_session(project.rows, project.project.settings), project.owner()
    for _ in range(15):
        expected = tuple(session.ask().rows)
        asked = project.model.questions(ann.id, wait=20, wait_more=20)
        assert asked[0] == expected
        assert len(asked) == 2
        word = true_answer(expected, project.rows.truth)
        session.tell(expected, word)
        project.answer(ann, expected, word, wait=20)


def test_who_waits_too_long_gets_the_question_that_was_loaded(project):
    ann = project.owner()
    on_screen, loaded = project.model.questions(ann.id, wait=20, wait_more=20)
    with project.model._learner._lock:  # the model is busy
        project.answer(ann, on_screen, "same", wait=0.01)
        assert project.model.questions(ann.id, wait=0.0) == [loaded]
    project.model.snapshot()
    session = new_session(project.rows, project.project.settings)
    session.tell(on_screen, "same")
    assert project.model.questions(ann.id)[0] == tuple(session.ask().rows)


def test_answers_that_came_together_are_learnt_in_one_step(project):
    told, learner = answers(project.rows, 6), Learner(project.rows, SETTINGS)
    learner.catch_up(told[:1], lambda: False)
    learner.catch_up(told, lambda: False)
    assert learner._session._said.steps == [1, 5]


def test_a_restart_brings_back_the_session_and_the_curve(project):
    told, learner = answers(project.rows, 25), Learner(project.rows, SETTINGS)
    for n in range(1, 26):
        learner.catch_up(told[:n], lambda: False)
    again = Learner(project.rows, SETTINGS)
    again.catch_up(told, lambda: False)
    assert (again.look(told, None).labels == learner.look(told, None).labels).all()
    assert [n for n, _ in again.curve] == [10, 20, 25]
    assert again.curve[-1] == learner.curve[-1]


def test_triplets_are_told_to_the_session_as_they_are(project):
    learner = Learner(project.rows, SETTINGS | {"kind": "triplet"})
    told = [Answer(i, 1, rows, true_answer(rows, project.rows.truth), 0.0, 1.0)
            for i, rows in enumerate([(0, 3, 1), (6, 9, 1), (0, 1, 2), (3, 9, 4)])]  # fmt: skip
    learner.catch_up(told, lambda: False)
    assert learner._session.history == tuple((answer.rows, answer.answer) for answer in told)
    edited = [*told[:3], Answer(9, 1, (3, 9), "same", 0.0, 1.0), Answer(10, 1, (0, 3), "same", 0.0, 1.0)]
    learner.catch_up(edited, lambda: False)  # (0, 3) was said by a triplet and is not learnt twice
    assert learner._session.n_answers == 4


def test_a_question_is_with_one_person_until_the_next_answer():
    asked = OpenQuestions()
    asked.give(1, (0, 1))
    asked.give(1, (2, 3))
    asked.after_answer(1, (1, 0))
    assert asked.of(1) == [(2, 3)]
    assert asked.n_fresh(1) == 0
    assert (asked.expected(1), asked.expected(2)) == ([], [(2, 3)])
    assert not asked.is_free(2, (3, 2))
    assert asked.is_free(1, (2, 3))
    asked.give(1, (4, 5))
    assert asked.of(1) == [(4, 5), (2, 3)]
    asked.after_answer(1, (4, 5))
    asked.after_answer(1, (2, 3))
    assert asked.is_free(2, (6, 7))
    assert not asked.is_free(2, (2, 3))
    asked.leave(1)
    assert asked.of(1) == []


def test_a_fixed_list_gives_back_what_a_person_left():
    asked, listed = OpenQuestions(), FixedList([[0, 1], [2, 3], [4, 5]], has_overlap=False)
    assert listed.of(1, asked) == [(0, 1), (2, 3)]
    assert listed.of(2, asked) == [(4, 5)]
    listed.leave(1)
    assert listed.of(2, asked) == [(4, 5), (0, 1)]
