"""Several people who answer at once: what each is asked while others still think."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

import sidelight as sl
from sidelight.active.outlook import PartitionHistory
from sidelight.active.shown import shown_clusters
from sidelight.metrics import adjusted_rand_index


def wine():
    """Three classes that overlap a little."""
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def conversation(X, y, seed, n_people, n_answers, wrong):
    """Let people answer in a random order, each holding one question; return the adjusted Rand index at the end."""
    session = sl.ActiveSession(X, random_state=seed)
    generator = np.random.default_rng([seed, 9])
    held: dict[int, tuple[int, ...]] = {}
    for _ in range(n_answers):
        for person in set(range(n_people)) - set(held):
            question = session.ask(busy=held.values())
            assert set(question.rows) not in [set(rows) for rows in held.values()]
            held[person] = question.rows
        who = int(generator.integers(n_people))
        rows = held.pop(who)
        is_same = (y[rows[0]] == y[rows[1]]) != (generator.random() < wrong[who])
        session.tell(rows, "same" if is_same else "different")
    return adjusted_rand_index(y, session.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [(0.0, 0.0, 0.0), (0.3, 0.02, 0.02)])
def test_three_people_at_once_are_not_worse_than_one_after_the_other(wrong):
    X, y = wine()
    seeds = range(300, 304)
    alone = np.mean([conversation(X, y, seed, 1, 60, [np.mean(wrong)]) for seed in seeds])
    together = np.mean([conversation(X, y, seed, 3, 60, wrong) for seed in seeds])
    assert together >= alone - 0.03


def test_rows_that_others_compare_with_are_not_avoided():
    X, y = wine()
    session = sl.ActiveSession(X, random_state=0)
    session.run(sl.Oracle(y), 30)
    placed = {row for rows, _ in session.history for row in rows}
    unplaced = [row for row in range(len(X)) if row not in placed]
    held = [(row, other) for row, other in zip(unplaced, placed)]  # every row that is known is in somebody's question
    row, other = session.ask(busy=held).rows
    assert other in placed
    assert row not in {rows[0] for rows in held}


def test_what_is_expected_is_forgotten():
    X, y = wine()
    session = sl.ActiveSession(X, random_state=0)
    session.run(sl.Oracle(y), 20)
    before, labels = session.ask().rows, session.labels_
    for _ in range(3):
        session.ask(busy=[before, (0, 1), (5, 100)])
    assert session.ask().rows == before
    again = sl.ActiveSession(X, random_state=0)
    again.run(sl.Oracle(y), 20)
    session.tell(before, "same")
    again.tell(before, "same")
    assert (session.labels_ == again.labels_).all()
    assert (labels != -1).all()


@pytest.mark.slow
def test_a_row_that_was_begun_is_finished_by_whoever_comes_next():
    X, y = wine()
    session, oracle, n_begun = sl.ActiveSession(X, random_state=0), sl.Oracle(y), 0
    for _ in range(20):
        question = session.ask()
        elsewhere = session.ask(busy=[question])
        session.tell(question, oracle(question))
        if question.rows[0] in session._strategy.in_hand:
            n_begun += 1
            assert session.ask(busy=[elsewhere]).rows[0] == question.rows[0]
    assert n_begun >= 2


# -- how often people are wrong --------------------------------------------------------------------------------------

X3 = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
Y3 = np.repeat([0, 1, 2], 20)


def truth_of(a, b):
    """What somebody careful says."""
    return "same" if Y3[a] == Y3[b] else "different"


def team(n_answers, wrong, seed=0):
    """Two careful people and one who answers wrongly with a probability, about random pairs."""
    session, generator = sl.ActiveSession(X3, random_state=seed), np.random.default_rng(seed)
    while session.n_answers < n_answers:
        a, b = (int(row) for row in generator.choice(12, 2, replace=False) * 5)
        person = ["ann", "bob", "carl"][session.n_answers % 3]
        if session.may_tell((a, b), person):
            is_wrong = person == "carl" and generator.random() < wrong
            right = truth_of(a, b)
            word = {"same": "different", "different": "same"}[right] if is_wrong else right
            session.tell((a, b), word, person=person)
    return session


def test_who_is_careless_has_the_largest_rate_and_the_examples():
    session = team(90, 0.4)
    ann, bob, carl = sorted(session.people(), key=lambda line: line.person)
    assert [line.n_answers for line in (ann, bob, carl)] == [30, 30, 30]
    assert carl.rate > 0.2 > max(ann.rate, bob.rate)
    assert carl.low > max(ann.rate, bob.rate)
    assert carl.low < carl.rate < carl.high
    shown = [(rows, answer) for rows, answer, _ in carl.disagree]
    assert len(shown) >= 5
    assert np.mean([truth_of(*rows) != answer for rows, answer in shown]) > 0.8
    assert session._rates.weight("carl") < 0.7 < session._rates.weight("ann")


def test_three_answers_accuse_nobody():
    session = sl.ActiveSession(X3, random_state=0)
    for rows in [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]:
        session.tell(rows, "same", person="ann")
    for rows in [(0, 3), (0, 1), (1, 2)]:
        session.tell(rows, "different", person="new")
    assert {line.person: line for line in session.people()}["new"].low < 0.1


def test_answers_that_nothing_tests_say_nothing_about_a_person():
    session = sl.ActiveSession(X3, random_state=0)
    for row in range(1, 10):
        session.tell((0, row), "same" if row % 2 else "different", person="ann")
    assert session.people()[0].n_tested == 0


def test_honest_people_are_not_accused_where_classes_overlap():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    session, oracle = sl.ActiveSession(rng.normal(size=(80, 4)) + 0.5 * y[:, None], 2, random_state=0), sl.Oracle(y)
    for number in range(60):
        person = f"person {number % 3}"
        question = session.ask(person=person)
        session.tell(question, oracle(question), person=person)
    assert max(line.rate for line in session.people()) < 0.05


def test_a_question_is_answered_once_by_each_person_and_all_of_it_is_undone_saved_and_resumed(tmp_path):
    session = sl.ActiveSession(X3, random_state=0)
    session.tell((0, 1), "same", person="ann")
    session.tell((0, 1), "different", person="bob")
    session.tell((1, 0), "same", person=3)
    for person in ("ann", None):
        with pytest.raises(sl.errors.InvalidData, match="asked about already"):
            session.tell((0, 1), "same", person=person)
    session.tell((0, 25), "different", person="bob")
    session.undo()
    session.save(tmp_path / "s.json")
    again = sl.ActiveSession.resume(tmp_path / "s.json", X3)
    assert again.people() == session.people()
    assert [line.person for line in again.people()] == ["ann", "bob", 3]
    assert (again.labels_ == session.labels_).all()
    again.undo()
    assert again.may_tell((0, 1), 3)
    assert not again.may_tell((0, 1), "bob")


def test_a_surprising_answer_goes_to_another_person_and_a_third_decides():
    session = sl.ActiveSession(X3, random_state=0)
    for number in range(24):
        person = ["ann", "bob"][number % 2]
        question = session.ask(person=person)
        session.tell(question, truth_of(*question.rows), person=person)
    known = [row for rows, _ in session.history for row in rows]
    row = next(row for row in range(20) if row not in known)
    member = next(other for other in known if Y3[other] == 0)
    session.tell((row, member), "different", person="bob")  # a slip
    assert session.ask(person="bob").rows != (row, member)
    assert session.ask().rows != (row, member)
    assert session.ask(busy=[(row, member)], person="ann").rows != (row, member)
    assert session.ask(person="ann").rows == (row, member)
    session.tell((row, member), "same", person="ann")
    assert session.ask(person="ann").rows != (row, member)
    assert session.ask(person="carl").rows == (row, member)
    session.tell((row, member), "same", person="carl")
    assert session.ask(person="dora").rows != (row, member)
    assert session.labels_[row] == session.labels_[member]


# -- what is doubtful ------------------------------------------------------------------------------------------------


def test_a_row_that_looks_unlike_the_cluster_that_one_answer_gives_it_is_doubtful():
    session = sl.ActiveSession(X3, 3, random_state=0)
    session.run(sl.Oracle(Y3), 40)
    row = next(row for row in range(40, 60) if row not in {row for rows, _ in session.history for row in rows})
    member = next(rows[0] for rows, answer in session.history if answer == "same" and Y3[rows[0]] == 0)
    assert session._belief.n_unlike() == 0
    session.tell((row, member), "same")  # a slip that nothing contradicts
    P = session.predict_proba()
    assert session.labels_[row] == session.labels_[member]
    assert P[row, session.labels_[row]] < 0.7
    assert np.argmin(P[np.arange(60), session.labels_]) == row
    assert session._belief.n_unlike() == 1
    session._history.changes = [0.0, 0.0, 0.0]
    assert not session.outlook().enough
    assert "doubtful" in session.outlook().sentence


def test_contradictions_are_a_queue_with_the_answer_that_most_share_first():
    session = sl.ActiveSession(X3, random_state=0)
    session.tell((50, 51), "same")
    session.tell((51, 52), "same")
    session.tell((50, 52), "different")
    for row in range(1, 4):
        session.tell((0, row), "same")
        session.tell((20, 20 + row), "same")
    session.tell((0, 20), "same")  # wrong
    for row in range(1, 4):
        session.tell((row, 20 + row), "different")
    found = session.contradictions()
    assert found[-1].rows == (50, 52)
    assert len(found) == 4


@pytest.mark.parametrize("strategy", ["random", "cobras"])
def test_people_are_counted_with_every_strategy(strategy):
    session = sl.ActiveSession(X3, strategy=strategy, random_state=0)
    session.tell(session.ask(person="ann"), "same", person="ann")
    assert [(line.person, line.n_answers) for line in session.people()] == [("ann", 1)]


def test_people_are_counted_with_the_belief_of_the_thesis():
    session = sl.BayesianActiveClustering(3, random_state=0).start(X3)
    for person in ("ann", "bob"):
        question = session.ask(person=person)
        session.tell(question, truth_of(*question.rows), person=person)
    assert [(line.person, line.n_answers) for line in session.people()] == [("ann", 1), ("bob", 1)]


# -- corrections -----------------------------------------------------------------------------------------------------


def two_groups():
    """Three rows known to be alike in each of two clusters that no answer tells apart, and a row put in the wrong."""
    session = sl.ActiveSession(X3, random_state=0)
    session.run(sl.Oracle(Y3), 30)
    asked = {row for rows, _ in session.history for row in rows}
    row = next(row for row in range(20) if row not in asked)
    here, there = (next(other for other in asked if Y3[other] == k) for k in (0, 1))
    session.tell((row, there), "same")  # a slip
    return session, row, here, there


def test_a_correction_moves_a_row_and_contradicts_nothing(tmp_path):
    session, row, here, there = two_groups()
    assert session.labels_[row] == session.labels_[there]
    before = session._belief.n_known
    session.place(row, int(session.labels_[here]))
    labels = session.labels_
    assert labels[row] == labels[here] != labels[there]
    assert session._belief.n_known == before
    assert session.contradictions() == ()
    session.save(tmp_path / "s.json")
    assert (sl.ActiveSession.resume(tmp_path / "s.json", X3).labels_ == labels).all()
    session.undo()
    assert session.labels_[row] == session.labels_[there]


def test_a_correction_joins_no_clusters_that_nothing_tells_apart():
    session = sl.ActiveSession(X3, random_state=0)
    for rows in [(0, 1), (1, 2), (0, 3), (20, 21), (21, 22), (20, 23)]:
        session.tell(rows, "same")
    session.tell((3, 21), "same", correction=True)  # the row that the others were not compared through
    assert session.pairs.implies(0, 20) is None
    assert session.pairs.implies(0, 2) == "same"
    assert session.pairs.implies(3, 20) == "same"
    session.tell((0, 24), "same", correction=True)  # the row that held the others together moves alone
    assert session.pairs.implies(1, 2) == "same"
    assert session.pairs.implies(0, 1) is None
    assert session.pairs.implies(0, 24) == "same"


@pytest.mark.slow
def test_a_row_that_was_said_to_differ_from_its_new_cluster_is_moved_all_the_same():
    session, row, here, _ = two_groups()
    session.reject(row, int(session.labels_[here]))
    session.place(row, int(session.labels_[here]))
    assert session.labels_[row] == session.labels_[here]
    assert session.contradictions() == ()


def test_a_rare_class_is_not_broken_into_single_rows():
    session = sl.ActiveSession(np.random.default_rng(0).normal(size=(100, 6)), random_state=0)
    belief = session._belief
    first, second = belief.rows[0], belief.rows[0] - 1
    session.tell((first, second), "same")
    session.tell((first, 90), "different")  # opens the second cluster
    belief.process.novelty_without = lambda rows: np.ones(len(rows))  # every row looks like no other
    belief.process.of_asked = lambda: (np.full((len(belief.rows), belief.n_known), 0.5), np.ones(len(belief.rows)))
    belief._chance_of_new = lambda labels, n_known: 0.95
    session.tell((second, 95), "different")
    assert belief.n_known == 2  # it is first compared with the row that is alone
    session.tell((90, 95), "different")
    assert belief.n_known == 3


def test_it_is_not_enough_while_rows_are_unsure():
    history = PartitionHistory()
    history.changes = [0.0, 0.0, 0.0]
    P = np.repeat([[0.95, 0.05]], 100, axis=0)
    assert history.outlook(60, P).enough
    P[:3] = 0.5
    outlook = history.outlook(60, P)
    assert not outlook.enough
    assert "3% of the rows are unsure" in outlook.sentence


def test_a_row_that_looks_unlike_its_cluster_is_doubtful_where_answers_disagree_too():
    session = sl.ActiveSession(X3, 3, random_state=0)
    session.run(sl.Oracle(Y3), 40)
    belief = session._belief
    row = next(t for t, number in enumerate(belief.rows) if Y3[number] == 2)
    wrong = belief.labels[next(t for t, number in enumerate(belief.rows) if Y3[number] == 0)]
    belief.labels[row], belief.q[row], belief.links = wrong, np.eye(4)[wrong], [*belief.links, (row, 0, 1)]
    belief.is_consistent, belief.eps = False, 0.1  # answers disagree, and all chains agree on the wrong cluster
    P = session.predict_proba()
    assert P[belief.rows[row], wrong] < 0.7
    assert belief.n_unlike() >= 1


# -- what is shown ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_right_answers_never_make_what_is_shown_much_worse_than_the_start(known):
    X, y = load_digits(return_X_y=True)
    X, y = X[::3], y[::3]
    curves = []
    for seed in range(300, 303):
        session, oracle = sl.ActiveSession(X, 10 if known else None, random_state=seed), sl.Oracle(y)
        curve = [adjusted_rand_index(y, session.labels_)]
        for _ in range(8):
            session.run(oracle, 5)
            curve.append(adjusted_rand_index(y, session.labels_))
        curves.append(curve)
    means = np.mean(curves, axis=0)
    assert means.min() >= means[0] - 0.05


def test_one_wrong_answer_joins_no_two_clusters_of_the_rows():
    guessed = np.repeat([0, 1, 2], 20)
    q = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    shown = shown_clusters(
        guessed, np.array([0, 25, 45]), q, np.full((60, 2), 0.5), np.ones(60),
        n_clusters=3, unmet=1.0, told=1.0, is_consistent=True,
    )  # fmt: skip
    assert (
        len({shown[5], shown[30], shown[50]}) == 3
    )  # row 25 was said to be as row 0, and keeps its neighbours out of it


def test_answers_decide_where_they_reach_and_where_the_rows_alone_foretell_nothing():
    guessed, rows = np.repeat([0, 1], 20), np.arange(0, 40, 2)
    q = np.eye(2)[np.arange(20) % 2]  # labels have nothing to do with the guess
    P = np.repeat([[0.4, 0.6]], 40, axis=0)
    far = shown_clusters(guessed, rows, q, P, np.ones(40), n_clusters=2, unmet=1.0, told=1.0, is_consistent=True)
    assert (far == 1).all()
    told = np.arange(0, 40, 3)  # many rows with labels, which the guess foretells, and no row is far from them
    near = shown_clusters(
        guessed, told, np.eye(2)[guessed[told]], P, np.zeros(40), n_clusters=2, unmet=1.0, told=1.0, is_consistent=True
    )
    assert (near == 1).all()
    few = shown_clusters(
        guessed, told[[0, -1]], np.eye(2), P, np.zeros(40), n_clusters=2, unmet=1.0, told=1.0, is_consistent=True
    )
    assert (few == guessed).all()  # two labels move nothing but themselves
