"""The model of a project, its thread's work done step by step: who is asked what, what is learnt, what is shown."""

from __future__ import annotations

import numpy as np
import pytest
from tests.app.studio.conftest import blobs

from sidelight.active.outlook import Outlook
from sidelight.app.studio import model as model_module
from sidelight.app.studio.answers import Answer, true_answer
from sidelight.app.studio.learner import Learner, Snapshot, _corrected, contradictions_of, moved_rows, told_by
from sidelight.app.studio.model import _POOL, ProjectModel, _doubtful
from sidelight.app.studio.open_questions import NOBODY
from sidelight.app.studio.rows import read_rows, write_rows
from sidelight.data.relations import Pairs
from sidelight.errors import InvalidData

NAN = float("nan")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Thirty rows of three classes, with their key."""
    source, folder = blobs(30), tmp_path_factory.mktemp("rows") / "rows"
    write_rows(folder, source.X, source.ids, source.features, source.look, source.y)
    return read_rows(folder)


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


def test_a_person_gets_a_question_and_one_behind_it(rows):
    talk = Conversation(rows)
    assert len(talk.asked(1)) == 2
    first, second = talk.asked(1)
    assert set(first) != set(second)
    assert talk.asked(1) == [first, second]  # nothing new was said, so nothing changes


def test_no_two_people_are_asked_the_same_and_a_pool_waits_for_more(rows):
    talk = Conversation(rows)
    for person in (1, 2, 3):
        talk.asked(person)
    every = [frozenset(question) for person in (1, 2, 3) for question in talk.model.questions(person, wait=0.0)]
    assert len(every) == len(set(every)) >= 6
    assert talk.model._open.n_fresh(NOBODY) == _POOL
    alone = Conversation(rows)
    alone.asked(1)
    assert alone.model._open.n_fresh(NOBODY) == 0


def test_an_answer_is_learnt_and_not_asked_again(rows):
    talk = Conversation(rows)
    (first, _) = talk.asked(1)
    talk.say(1, first)
    assert frozenset(first) not in {frozenset(question) for question in talk.asked(1)}
    assert talk.model._learner.told == told_by(talk.answers)


def test_who_put_off_a_question_gets_it_when_nothing_else_is_left(rows):
    talk = Conversation(rows, strategy="fixed", questions=[[0, 1], [2, 3]])
    assert talk.model.questions(1) == [(0, 1), (2, 3)]
    asking = Conversation(rows)
    (first, second) = asking.asked(1)
    asking.model.put_off(1, first)
    assert asking.model.questions(1, wait=0.0) == [second]
    assert frozenset(first) not in {frozenset(question) for question in asking.asked(1)}
    asking.model._learner.ask = lambda *_: None  # nothing is left
    asking.say(1, second)
    assert first in asking.asked(1)


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


def test_a_question_that_was_taken_back_comes_first(rows):
    talk = Conversation(rows)
    (first, _) = talk.asked(1)
    talk.say(1, first)
    talk.asked(1)
    talk.answers.pop()
    talk.model.reopen(1, first)
    talk.model.changed()
    assert talk.model.questions(1, wait=0.0)[0] == first
    talk.model._work()
    assert talk.model._learner.told == []


def test_the_clusters_are_shown_once_they_were_worked_out(rows, monkeypatch):
    monkeypatch.setattr(model_module, "_QUIET", 600.0)
    monkeypatch.setattr(model_module, "_OLDEST", 600.0)
    talk = Conversation(rows)
    with pytest.raises(InvalidData):
        talk.model.snapshot(wait=0.0)
    talk.model._lookers = 1  # a page asks for them
    talk.model._work()
    shown = talk.model.snapshot(wait=0.0)
    assert (shown.version, len(shown.labels)) == (0, 30)
    talk.model._lookers = 0
    talk.say(1, (0, 3))
    talk.model._learn()
    talk.model._look()  # an answer has just come, and no page asks
    assert talk.model.snapshot(wait=0.0) is shown
    monkeypatch.setattr(model_module, "_QUIET", 0.0)
    talk.model._look()  # no answer has come for a while
    assert talk.model.snapshot(wait=0.0).version == 1
    talk.say(1, (0, 6))
    monkeypatch.setattr(model_module, "_QUIET", 600.0)
    talk.model._learn()
    monkeypatch.setattr(model_module, "_OLDEST", 0.0)
    talk.model._look()  # answers keep coming, and the clusters are old
    assert talk.model.snapshot(wait=0.0).version == 2


def test_all_questions_may_be_asked_of_a_second_person(rows):
    talk = Conversation(rows)
    for _ in range(3):
        talk.say(1, talk.asked(1)[0])
    talk.model.second_share = 1.0
    by_first = {frozenset(answer.rows) for answer in talk.answers}
    talk.model._learn()
    assert frozenset(talk.model._second_look(2)) in by_first
    assert talk.model._second_look(1) is None
    assert talk.model._second_look(NOBODY) is None
    talk.model.second_share = 0.0
    assert talk.model._second_look(2) is None


def test_a_person_is_asked_something_at_once_where_many_wait(rows):
    talk = Conversation(rows)
    talk.model._lookers = 1
    talk.model._work()
    crowd = range(1, model_module._CROWD + 2)
    asked = [talk.model.questions(person, wait=0.0) for person in crowd]
    assert [len(questions) for questions in asked[:-1]] == [0] * (len(crowd) - 1)
    assert len(asked[-1]) == 1
    assert talk.model._open.n_fresh(crowd[-1]) == 1


def test_triplets_have_three_rows_and_a_second_person_gets_none_of_them(rows):
    talk = Conversation(rows, kind="triplet")
    talk.say(1, talk.asked(1)[0])
    assert {len(set(question)) for question in talk.asked(1)} == {3}
    talk.model.second_share = 1.0
    assert talk.model._second_look(2) is None


def test_answers_go_on_after_those_noted_before_unless_one_was_taken_back(rows):
    talk = Conversation(rows)
    for pair in [(0, 3), (1, 4)]:
        talk.say(1, pair)
    talk.model._learn()
    model, more = talk.model, Answer(9, 1, (5, 6), "same", 0.0, 1.0)
    assert model._is_continued(talk.answers)
    assert model._is_continued([*talk.answers, more])
    assert not model._is_continued(talk.answers[:1])
    assert not model._is_continued([talk.answers[1], more])
    assert ProjectModel(rows, {"strategy": "rows"}, talk._told)._is_continued([])


def snapshot_of(labels, sure, typical=None):
    labels = np.array(labels)
    outlook = Outlook(**dict.fromkeys(Outlook.__dataclass_fields__, 0))
    typical = np.zeros(len(labels)) if typical is None else np.array(typical)
    return Snapshot(0, labels, np.array(sure), 2, outlook, NAN, np.zeros(0, dtype=int), 0, typical)


def test_a_doubtful_row_is_compared_with_the_surest_and_most_typical_of_its_cluster(monkeypatch):
    monkeypatch.setattr(model_module, "_DOUBTFUL", 1)
    rng = np.random.default_rng(0)
    shown = snapshot_of([0, 0, 0, 0, 1], [0.3, 0.9, 0.9, 0.5, 1.0], [0.0, 0.1, 0.7, 0.9, 1.0])
    assert _doubtful(shown, 1, rng) == (0,)
    assert _doubtful(shown, 2, rng) == (0, 2)
    assert _doubtful(snapshot_of([0, 1, 1], [0.1, 0.9, 0.9]), 2, rng) is None  # the only one of its cluster


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


def test_corrections_hold_for_their_rows():
    P = np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    labels, sure = P.argmax(axis=1), P.max(axis=1)
    said = [Answer(1, 1, (0, 1), "same", 0.0, NAN, correction=True), Answer(2, 1, (2, 1), "same", 0.0, NAN)]
    _corrected(labels, sure, P, said)
    assert (labels.tolist(), sure.tolist()) == ([1, 1, 2], [1.0, 0.8, 0.6])
    apart = [Answer(3, 1, (0, 1), "different", 0.0, NAN, correction=True)]
    _corrected(labels, sure, P, apart)
    assert (labels.tolist(), sure[0]) == ([0, 1, 2], 0.6)
    _corrected(labels, sure, P, apart)  # they are apart already
    assert (labels.tolist(), sure[0]) == ([0, 1, 2], 0.6)


def test_contradictions_name_the_answers_for_and_against():
    words = [((0, 1), "same"), ((1, 2), "same"), ((0, 2), "different"), ((4, 5), "same")]
    answers = [Answer(i, 1, rows, word, 0.0, NAN) for i, (rows, word) in enumerate(words, start=1)]
    pairs = Pairs([r[0] for r, _ in words], [r[1] for r, _ in words], [word for _, word in words], n_rows=6)
    ((rows, said, against),) = contradictions_of(pairs, answers)
    assert set(rows) == {0, 2}
    assert ([a.id for a in said], [a.id for a in against]) == ([1, 2], [3])
