"""COBRAS as a session: it learns, goes on without an answer, and finds the number of clusters."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.active.rivals.cobras import CobrasBelief, CobrasStrategy

Y = np.repeat([0, 1, 2], 30)
X = np.random.default_rng(0).normal(size=(90, 2)) + 5.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]


def test_it_finds_the_clusters_and_their_number():
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    session.run(sl.Oracle(Y), budget=25)
    assert len(np.unique(session.labels_)) == 3
    assert adjusted_rand_score(Y, session.labels_) > 0.9


def test_no_question_comes_twice_and_answers_given_before_are_used():
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    oracle = sl.Oracle(Y)
    session.tell((0, 89), "different")
    session.run(oracle, budget=40)
    asked = [frozenset(rows) for rows, _ in session.history]
    assert len(set(asked)) == len(asked) == 41


def test_unsure_joins_nothing_and_is_not_asked_again():
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    first = session.ask()
    session.tell(first, "unsure")
    assert session.ask() != first
    assert session.pairs.n_answers == 0


def test_a_conversation_ends_when_every_row_was_told_apart():
    session = sl.ActiveSession(X[:6], strategy="cobras", random_state=0)
    session.run(lambda question: "different", budget=100)
    assert session.ask() is None
    assert len(np.unique(session.labels_)) == 6


def test_undo_and_new_rows(tmp_path):
    session = sl.ActiveSession(X, strategy="cobras", random_state=0)
    session.run(sl.Oracle(Y), budget=12)
    question, before = session.ask(), session.labels_
    session.tell(question, "same")
    session.undo()
    np.testing.assert_array_equal(session.labels_, before)
    assert session.ask().rows == question.rows
    assert np.mean(session.predict(X) == before) > 0.9


def test_copies_of_one_row_are_no_trouble():
    session = sl.ActiveSession(np.ones((8, 2)), strategy="cobras", random_state=0)
    session.run(lambda question: "same", budget=30)
    assert len(np.unique(session.labels_)) == 1


# -- the dialogue, on a line of rows where the order of its questions can be read off ---------------------------------

LINE = np.array([0.0, 1.0, 2.0, 20.0, 21.0, 22.0, 50.0, 51.0, 52.0])[:, None]
KIND = np.repeat([0, 1, 2], 3)


def on_a_line(rows=LINE, seed=0):
    return CobrasBelief(rows, None, np.random.default_rng(seed))


def answered(belief, n, say=lambda a, b: bool(KIND[a] == KIND[b])):
    """Answer so many of the questions that it waits for; return the rows of each."""
    asked = []
    for _ in range(n):
        asked.append(frozenset(belief.next_pair))
        belief.tell(*belief.next_pair, say(*belief.next_pair))
    return asked


def test_the_largest_part_is_halved_and_the_nearest_parts_are_compared():
    for seed in range(2):
        belief = on_a_line(seed=seed)
        first, second = answered(belief, 2)
        assert first == {2, 7}  # the middles of rows 0 to 5 and 6 to 8
        assert second < {6, 7, 8}  # the smaller half, of one kind: two parts are enough, and these were compared
        assert belief.n_known == 2
        assert answered(belief, 1) == [{1, 4}]  # rows 0 to 5 are the largest part now
        halves = answered(belief, 1)[0]
        assert halves < {0, 1, 2} or halves < {3, 4, 5}
        assert belief.partition(None).tolist() in (
            [0] * 6 + [1] * 3,
            [1] * 6 + [0] * 3,
        )  # shown until the split is done
        assert answered(belief, 2) == [{4, 7}, {1, 7}]  # the nearest medoids first; rows 1 and 4 were told apart
        assert belief.n_known == 3
        assert belief.rows[0] in (2, 7)
        assert len(set(belief.rows)) == len(belief.rows)


def test_parts_that_are_alike_are_joined_again():
    belief = on_a_line()
    answered(belief, 1)
    answered(belief, 1, lambda a, b: False)  # the smaller half is split into single rows: finer parts are made
    while belief.n_known == 1:
        answered(belief, 1)
    labels = belief.partition(None)
    assert [len(set(labels[k == KIND])) for k in range(3)] == [1, 1, 1]
    assert belief.n_known == 3
    parts = sorted(row for cluster in belief._clusters for part in cluster for row in part.rows.tolist())
    assert parts == list(range(9))


def test_an_answer_to_another_question_waits_until_it_would_be_asked():
    belief, later = on_a_line(), on_a_line()
    later.tell(4, 1, False)
    assert later.next_pair == belief.next_pair
    asked = answered(belief, 6)
    assert answered(later, 5) == [pair for pair in asked if pair != {1, 4}]
    assert set(later.rows) == set(belief.rows)


def test_a_pair_that_is_passed_over_counts_as_not_alike():
    passed, told = on_a_line(), on_a_line()
    for _ in range(2):
        pair = passed.next_pair
        passed.pass_over(pair[1], pair[0])
        told.tell(*pair, False)
        assert passed.next_pair == told.next_pair
    waits = passed.next_pair
    passed.pass_over(0, 8)  # a pair that it does not wait for
    assert passed.next_pair == waits
    assert passed.rows == []


def test_a_dialogue_that_is_over_takes_answers_still():
    belief = on_a_line(LINE[:2])
    answered(belief, 1)
    assert belief.next_pair is None
    belief.tell(0, 1, True)
    belief.pass_over(0, 1)
    assert belief.next_pair is None
    assert on_a_line(LINE[:1]).next_pair is None


def test_two_rows_that_are_alike_are_one_cluster_and_two_that_are_not_are_two():
    for same, n_clusters in ((True, 1), (False, 2)):
        belief = on_a_line(LINE[:2])
        answered(belief, 1, lambda a, b, same=same: same)
        assert belief.n_known == n_clusters


def test_a_half_of_two_rows_is_halved_too():
    belief = on_a_line(np.array([0.0, 10.0, 50.0, 51.0, 52.0])[:, None])
    assert answered(belief, 2, lambda a, b: False)[1] == {0, 1}


def test_new_rows_belong_with_the_nearest_medoid():
    belief = on_a_line()
    answered(belief, 6)
    np.testing.assert_array_equal(belief.posterior(), np.eye(3)[belief.partition(None)])
    new = belief.posterior(np.array([[-5.0], [30.0], [60.0]]))
    np.testing.assert_array_equal(new, belief.posterior()[[0, 3, 8]])
    np.testing.assert_array_equal(belief.posterior(sp.csr_array([[40.0]])), belief.posterior()[[8]])


def test_the_same_seed_splits_alike():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    beliefs = [on_a_line(rows, seed) for seed in (1, 1, 2)]
    asked = [answered(belief, 8, lambda a, b: (a + b) % 3 == 0) for belief in beliefs]
    assert asked[0] == asked[1] != asked[2]


def test_a_question_with_a_row_that_others_have_waits():
    strategy, belief = CobrasStrategy(), on_a_line()
    assert strategy.choose(belief, None, None)[0] == belief.next_pair
    assert strategy.choose(belief, None, None, frozenset({2})) is None
    assert strategy.choose(belief, None, None, frozenset({0, 8}))[0] == belief.next_pair


def test_beside_another_belief_it_asks_what_it_would_ask_itself():
    class Other:
        features = LINE

    strategy, own = CobrasStrategy(), on_a_line()
    for number in range(6):
        assert strategy.choose(Other, None, None)[0] == own.next_pair
        a, b = own.next_pair
        word = "unsure" if number == 1 else "same" if KIND[a] == KIND[b] else "different"
        strategy.after_answer(Other, (a, b), word)
        if word == "unsure":
            own.pass_over(a, b)
        else:
            own.tell(a, b, word == "same")
    strategy.after_answer(own, own.next_pair, "same")  # a belief of its own was told by the session
    assert own.next_pair is not None
