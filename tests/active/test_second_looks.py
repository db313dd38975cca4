"""Which answers another person should look at, counted out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.active.people import SLOPES, SecondLooks, doubt_of_untested
from sidelight.active.row_belief import RowBelief
from sidelight.active.told import Conversation, GivenAnswer


def plain_slope(odds):
    def fit(slope):
        return sum(np.log(1 / (1 + np.exp(-slope * one))) for one in odds) - (slope - 1) ** 2 / 0.5

    return max(SLOPES, key=fit)


def test_what_is_foretold_is_trusted_by_how_well_it_was():
    for odds in [[], [2.0, 3.0, 1.0], [-2.0, -3.0, 2.0], [5.0] * 30, [-1.0] * 30]:
        looks = SecondLooks()
        looks._foretold = list(odds)
        assert looks.slope == plain_slope(odds)


def test_an_answer_that_is_probably_wrong_is_noted():
    for chance, rate, is_noted in [
        (0.05, 0.05, True),  # 0.0475 of 0.0475 + 0.0475
        (0.49, 0.05, False),  # wrong with a chance of five in a hundred
        (0.49, 0.2, True),
        (0.5, 0.45, False),
        (0.51, 0.45, False),  # what was likelier than not is not asked again
        (0.0, 0.001, True),  # never foretold with more certainty than one in a thousand
        (0.0, 0.0001, False),
        (1.0, 0.45, False),
    ]:  # fmt: skip
        looks = SecondLooks()
        looks.note((3, 4), chance, rate)
        assert (looks.rows == [(3, 4)]) == is_noted
        assert len(looks._foretold) == 1
        p = np.clip(chance, 1e-3, 1 - 1e-3)
        assert looks._foretold[0] == pytest.approx(np.log(p / (1 - p)), abs=2e-3)


def test_a_belief_that_foretold_badly_surprises_less():
    looks = SecondLooks()
    for _ in range(30):
        looks.note((0, 1), 0.2, 1e-6)
    assert looks.slope == SLOPES[0]
    looks.note((3, 4), 0.1, 0.05)  # flattened to 0.37
    assert looks.rows == []


def said_of(*words):
    said = Conversation(9)
    for person, word in zip(("ann", "bob", "carl", "dora"), words):
        said.add([GivenAnswer((0, 1), word, person)], None)
    return said


def test_a_second_person_looks_and_a_third_where_two_differ():
    for words, is_due in [
        (["same"], True), (["same", "different"], True), (["same", "same"], False), (["unsure"], False),
        (["same", "unsure"], True), (["same", "unsure", "different"], False), (["same", "different", "same"], False),
        (["unsure", "unsure"], False),
    ]:  # fmt: skip
        looks = SecondLooks()
        looks.rows = [(0, 1)]
        assert (looks.due_for("zoe", said_of(*words), set()) == (0, 1)) == is_due


def test_who_answered_does_not_look_again_and_nobody_while_another_does():
    looks, said = SecondLooks(), said_of("same")
    looks.rows = [(0, 1)]
    assert looks.due_for("ann", said, set()) is None
    assert looks.due_for("bob", said, {frozenset((1, 0))}) is None
    assert looks.due_for("bob", said, {frozenset((1, 2))}) == (0, 1)


class Table:
    """Rows 0 and 4 were asked about; row 5 is no candidate."""

    at, q = {0: 0, 4: 1, 5: 2}, np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.5, 0.5, 0.0]])
    position = np.array([0, 1, 2, 3, 4, -1])

    def places(self):
        return np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.5, 0.4, 0.1], [1.0, 0.0, 0.0], [0.2, 0.7, 0.1]])


def test_the_chance_of_an_answer_is_that_of_the_clusters_of_its_rows():
    for rows, expected in [
        ((1, 0), 0.3 * 0.9 + 0.6 * 0.1), ((0, 1), 0.3 * 0.9 + 0.6 * 0.1), ((2, 4), 0.5 * 0.2 + 0.4 * 0.7),
        ((0, 4), 0.9 * 0.2 + 0.1 * 0.7), ((4, 0), 0.9 * 0.2 + 0.1 * 0.7), ((1, 2), None), ((5, 0), None),
        ((0, 5), 0.5),
    ]:  # fmt: skip
        chance = RowBelief.chance_of_same(Table(), *rows)
        assert chance == (None if expected is None else pytest.approx(expected))


# -- testing a team ---------------------------------------------------------------------------------------------------


def team(n_answers, people, careless=None, seed=0):
    """Hold a conversation in turn; return the session and the questions that were asked again."""
    X, y = load_iris(return_X_y=True)
    session, again = sl.ActiveSession((X - X.mean(axis=0)) / X.std(axis=0), 3, random_state=seed), []
    oracles = {name: sl.Oracle(y, noise=0.4 if name == careless else 0.0, random_state=seed) for name in people}
    for number in range(n_answers):
        person = people[number % len(people)]
        question = session.ask(person=person)
        if not session.may_tell(question.rows):
            again.append((number, question.rows, person))
        assert session.ask(person=person).rows == question.rows
        session.tell(question, oracles[person](question), person=person)
    return session, again


def test_every_eighth_question_of_a_team_tests_somebody():
    _, again = team(40, ("ann", "bob", "cai"))
    assert [number for number, *_ in again if number % 8 == 7][:3] == [7, 15, 23]


def test_a_team_that_agrees_is_tested_less_often_and_not_for_ever():
    _, again = team(120, ("ann", "bob"))
    tests = [number for number, *_ in again if number % 8 == 7]  # the others were surprising
    assert tests[:3] == [7, 15, 23]
    assert all(number % 16 == 15 for number in tests[3:])
    assert 5 <= len(tests) <= 7


def test_one_person_is_never_tested():
    assert team(30, ("ann",))[1] == []


@pytest.mark.slow
def test_a_careless_third_of_a_team_is_found_out_whoever_it_is():
    _, y = load_iris(return_X_y=True)
    for careless in ("ann", "bob", "cai"):
        session, _ = team(100, ("ann", "bob", "cai"), careless, seed=30)
        assert adjusted_rand_score(y, session.labels_) > 0.9
        rates = {line.person: line.rate for line in session.people()}
        assert max(rates, key=rates.get) == careless


def test_two_who_differ_in_a_test_have_a_third_to_decide():
    looks = SecondLooks()
    given = [GivenAnswer((1, 2), "same", "ann")]
    looks.note_again((1, 2), "same", given)
    assert looks.rows == []
    looks.note_again((1, 2), "different", given)
    looks.note_again((1, 2), "different", given)
    assert looks.rows == [(1, 2)]


def test_a_team_is_less_sure_until_its_people_were_tested():
    said = Conversation(50)
    assert doubt_of_untested(said) == 0.0
    said.add([GivenAnswer((k, k + 1), "same", "ann") for k in range(6)], None)
    assert doubt_of_untested(said) == 0.0  # one person, whom nobody can test
    said.add([GivenAnswer((k, k + 1), "same", "bob") for k in range(20, 22)], None)
    assert doubt_of_untested(said) == pytest.approx(0.1)
    said.add([GivenAnswer((k, k + 1), "same", "bob") for k in range(2)], None)
    assert doubt_of_untested(said) == pytest.approx(0.1 * 0.6**2 / (0.1 * 0.6**2 + 0.9))
    said.add([GivenAnswer((2, 3), "different", "bob")], None)  # both are weighed by now
    assert doubt_of_untested(said) == 0.0


def test_untested_people_lower_the_probabilities_of_rows():
    X, y = load_iris(return_X_y=True)
    alone, several = (sl.ActiveSession(X, 3, random_state=0) for _ in range(2))
    for number in range(6):
        question = alone.ask()
        for session, person in ((alone, None), (several, "ab"[number % 2])):
            session.tell(question, sl.Oracle(y)(question), person=person)
    P, Q = alone.predict_proba(), several.predict_proba()
    assert pytest.approx(0.9 * P + 0.1 / P.shape[1]) == Q
