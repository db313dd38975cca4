"""Who is asked what: nobody twice, no two people the same, and what was put off comes back last."""

from __future__ import annotations

from sidelight.app.studio.open_questions import NOBODY, FixedList, OpenQuestions


def test_a_person_has_two_questions_and_old_ones_only_behind_fresh_ones():
    questions = OpenQuestions()
    for rows in [(0, 1), (2, 3), (4, 5)]:
        questions.give(1, rows)
    assert questions.of(1) == [(0, 1), (2, 3)]
    questions.after_answer(1, (0, 1))
    assert (questions.of(1), questions.n_fresh(1)) == ([(2, 3)], 0)
    questions.give(1, (3, 2))
    assert (questions.of(1), questions.n_fresh(1)) == ([(3, 2)], 1)
    questions.give(1, (6, 7))
    assert questions.of(1) == [(3, 2), (6, 7)]
    assert questions.answered_by((1, 0)) == {1}


def test_questions_that_wait_for_anybody_are_passed_on_in_their_order():
    questions = OpenQuestions()
    questions.pass_on(1)
    assert questions.of(1) == []
    questions.give(NOBODY, (0, 1))
    questions.give(NOBODY, (2, 3))
    questions.pass_on(1)
    assert questions.of(1) == [(0, 1)]
    assert questions.n_fresh(1) == 0
    questions.give(2, (4, 5))
    assert questions.people() == [2]


def test_what_somebody_has_or_answered_is_not_free():
    questions = OpenQuestions()
    questions.give(1, (0, 1))
    questions.note(2, (2, 3))
    assert not questions.is_free(1, (1, 0))
    assert not questions.is_free(2, (0, 1))
    assert not questions.is_free(1, (2, 3))
    assert questions.is_free(1, (2, 3), is_again=True)
    assert not questions.is_free(2, (3, 2), is_again=True)
    assert questions.is_free(2, (0, 2))
    questions.give(1, (6, 7))
    questions.after_answer(1, (0, 1))  # (6, 7) stays on the screen of person 1
    assert not questions.is_free(2, (6, 7))
    assert questions.is_free(1, (6, 7))
    questions.leave(1)
    assert questions.is_free(2, (6, 7))
    assert questions.of(1) == []


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


def test_second_looks_are_at_what_one_other_person_answered():
    questions = OpenQuestions()
    questions.note(1, (1, 0))
    questions.note(2, (2, 3))
    questions.note(1, (4, 5))
    questions.note(2, (4, 5))
    questions.note(1, (8, 9))
    questions.give(3, (8, 9))
    assert questions.second_looks(2) == [(0, 1)]
    assert questions.second_looks(1) == [(2, 3)]


def test_a_question_that_is_opened_again_comes_first():
    questions = OpenQuestions()
    questions.give(1, (0, 1))
    questions.after_answer(1, (0, 1))
    questions.give(1, (2, 3))
    questions.reopen(1, (0, 1))
    assert questions.of(1) == [(0, 1), (2, 3)]
    assert questions.answered_by((0, 1)) == set()


def test_expected_is_what_others_look_at_and_what_is_fresh():
    questions = OpenQuestions()
    for person, rows in [(1, (0, 1)), (1, (2, 3)), (2, (4, 5)), (2, (6, 7)), (NOBODY, (8, 9))]:
        questions.give(person, rows)
    assert questions.expected(1) == [(4, 5), (0, 1), (2, 3)]
    questions.after_answer(1, (0, 1))
    assert questions.expected(1) == [(4, 5)]


def test_a_fixed_list_is_shared_out_or_asked_of_all():
    rows, known = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)], OpenQuestions()
    shared, common = FixedList(rows, has_overlap=False), FixedList(rows, has_overlap=True)
    assert [shared.of(person, known) for person in (1, 2, 1, 3)] == [
        [(0, 1), (2, 3)], [(4, 5), (6, 7)], [(0, 1), (2, 3)], [(8, 9)]
    ]  # fmt: skip
    assert [common.of(person, known) for person in (1, 2)] == [[(0, 1), (2, 3)]] * 2
    known.note(1, (0, 1))
    assert shared.of(1, known) == [(2, 3)]
    assert [common.of(person, known) for person in (1, 2)] == [[(2, 3), (4, 5)], [(0, 1), (2, 3)]]
    shared.leave(2)
    assert shared.of(1, known) == [(2, 3), (4, 5)]
