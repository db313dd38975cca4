"""The model of a project, its thread's work done step by step: who is asked what, what is learnt, what is shown."""

from __future__ import annotations

import pytest
from tests.app.studio.conftest import blobs, busy_model

from sidelight.app.studio.answers import Answer, true_answer
from sidelight.app.studio.learner import Learner, moved_rows, new_session, told_by
from sidelight.app.studio.model import ProjectModel
from sidelight.app.studio.open_questions import OpenQuestions
from sidelight.app.studio.rows import read_rows, write_rows
from sidelight.app.studio.studio import Studio

NAN = float("nan")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Thirty rows of three classes, with their key."""
    source, folder = blobs(30), tmp_path_factory.mktemp("rows") / "rows"
    write_rows(folder, source.X, source.ids, source.features, source.look, source.y)
    return read_rows(folder)


@pytest.fixture
def project(tmp_path):
    """A project of three classes, at work."""
    studio = Studio(tmp_path)
    yield studio.project(studio.add("blobs", blobs(90), {}).id)
    studio.close()


SETTINGS = {"strategy": "rows", "kind": "pair", "clusters": None, "seed": 0}


class Conversation:
    """A model whose thread never starts, and the answers so far."""

    def __init__(self, rows, **settings):
        self.answers = []
        self.model = ProjectModel(rows, {"strategy": "rows", "kind": "pair", **settings}, self._told)
        self.rows = rows

    def _told(self):
        return list(self.answers), list(self.answers)

    def say(self, person, rows, word=None):
        """Answer, rightly unless a word is given."""
        word = word or true_answer(rows, self.rows.truth)
        self.answers.append(Answer(len(self.answers) + 1, person, tuple(rows), word, 0.0, 1.0))
        self.model.after_answer(person, tuple(rows))

    def asked(self, person):
        """What a person is asked once the thread has worked."""
        self.model.questions(person, wait=0.0)
        self.model._work()
        return self.model.questions(person, wait=0.0)


def test_an_answer_is_learnt_and_not_asked_again(rows):
    talk = Conversation(rows)
    (first, _) = talk.asked(1)
    talk.say(1, first)
    assert frozenset(first) not in {frozenset(question) for question in talk.asked(1)}
    assert talk.model._learner.told == told_by(talk.answers)


def test_who_leaves_gives_back_what_they_were_asked(rows):
    talk = Conversation(rows)
    asked = talk.asked(1)
    talk.model.leave(1)
    assert all(talk.model._open.is_free(2, question) for question in asked)
    fixed = Conversation(rows, strategy="fixed", questions=[[0, 1], [2, 3]])
    assert fixed.model.questions(1) == [(0, 1), (2, 3)]
    assert fixed.model.questions(2) == []
    fixed.model.leave(1)
    assert fixed.model.questions(2) == [(0, 1), (2, 3)]


def test_answers_are_learnt_the_same_in_one_step_or_one_by_one(rows):
    pairs = [(0, 3), (1, 4), (0, 1), (3, 6), (2, 0), (2, 5)]
    answers = [Answer(i, 1, p, true_answer(p, rows.truth), 0.0, 1.0) for i, p in enumerate(pairs)]
    learner = Learner(rows, {"strategy": "rows"})
    learner.catch_up(answers[:2], lambda: False)
    learner.catch_up(answers, lambda: False)
    assert learner.told == told_by(answers)
    learner.catch_up(answers[1:], lambda: False)  # the first was taken back
    assert learner.told == told_by(answers[1:])
    anew = Learner(rows, {"strategy": "rows"})
    anew.catch_up(answers[1:], lambda: False)
    assert (learner.look(answers[1:], None).labels == anew.look(answers[1:], None).labels).all()
    over = Learner(rows, {"strategy": "rows"})
    over.catch_up(answers, lambda: True)
    assert over.told == []


def test_what_moved_is_said_until_an_answer_comes(rows):
    learner = Learner(rows, {"strategy": "rows", "clusters": 3})
    pairs = [(0, 3), (1, 4), (0, 1), (0, 2), (1, 2)]
    answers = [Answer(i, 1, p, true_answer(p, rows.truth), 0.0, 1.0) for i, p in enumerate(pairs)]
    before = learner.look([], None)
    assert (before.moved.size, before.moved_by, before.version) == (0, 0, 0)
    learner.catch_up(answers, lambda: False)
    after = learner.look(answers, before)
    assert (after.moved_by, after.version) == (5, 5)
    assert after.moved.tolist() == moved_rows(before.labels, after.labels).tolist()
    again = learner.look(answers, after)
    assert (again.moved_by, again.moved.tolist()) == (after.moved_by, after.moved.tolist())
    assert [n for n, _ in learner.curve] == [0, 5]
    assert learner.curve[-1][1] == after.agreement


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
    with busy_model(project):
        project.answer(ann, on_screen, "same", wait=0.01)
        assert project.model.questions(ann.id, wait=0.0) == [loaded]
    project.model.snapshot()
    session = new_session(project.rows, project.project.settings)
    session.tell(on_screen, "same")
    assert project.model.questions(ann.id)[0] == tuple(session.ask().rows)


def test_triplets_are_told_to_the_session_as_they_are(project):
    learner = Learner(project.rows, SETTINGS | {"kind": "triplet"})
    told = [Answer(i, 1, rows, true_answer(rows, project.rows.truth), 0.0, 1.0)
            for i, rows in enumerate([(0, 3, 1), (6, 9, 1), (0, 1, 2), (3, 9, 4)])]  # fmt: skip
    learner.catch_up(told, lambda: False)
    assert learner._session.history == tuple((answer.rows, answer.answer) for answer in told)
    edited = [*told[:3], Answer(9, 1, (3, 9), "same", 0.0, 1.0), Answer(10, 1, (0, 3), "same", 0.0, 1.0)]
    learner.catch_up(edited, lambda: False)  # (0, 3) was said by a triplet and is not learnt twice
    assert learner._session.n_answers == 4


def test_what_was_put_off_comes_back_once_the_oldest_first():
    questions = OpenQuestions()
    questions.give(1, (0, 1))
    questions.give(1, (2, 3))
    questions.put_off(1, (1, 0))
    questions.put_off(1, (0, 1))
    questions.put_off(1, (4, 5))
    questions.put_off(1, (6, 7))
    assert questions.of(1) == [(2, 3)]
    assert not questions.is_free(1, (0, 1))
    assert questions.is_free(2, (0, 1))
    questions.note(1, (4, 5))
    assert [questions.bring_back(1) for _ in range(3)] == [(1, 0), (6, 7), None]
    assert questions.bring_back(2) is None
