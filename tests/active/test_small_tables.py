"""Tiny and strange tables, people who are unsure, and answers nobody asked for: a session always goes on."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sidelight as sl
from sidelight.active.rivals.cobras import CobrasBelief
from sidelight.active.strategies import STRATEGIES

GENERATOR = np.random.default_rng(0)
COPIES = np.repeat(GENERATOR.normal(size=(4, 3)), 4, axis=0)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_asks_what_nobody_could_tell(strategy):
    session = sl.ActiveSession(COPIES, strategy=strategy, seconds=(3.0, 3.1), random_state=1)
    oracle = sl.Oracle(np.arange(16) % 3, noise=0.4, random_state=0)
    for number in range(12):
        question = session.ask()
        if question is None:
            break
        session.tell(question, "unsure" if number % 3 else oracle(question))  # refuses what was asked before
    assert session.n_answers >= 6


@pytest.mark.parametrize("belief", [None, CobrasBelief])
def test_cobras_passes_over_a_pair_for_good(belief):
    session = sl.ActiveSession(COPIES, strategy="cobras", belief=belief, random_state=1)
    session.run(lambda question: "unsure", budget=60)
    assert session.ask() is None or session.n_answers == 60


@pytest.mark.parametrize("strategy", ["explore", "minmax", "npu"])
def test_more_people_than_rows_get_fewer_questions(strategy):
    session = sl.ActiveSession(COPIES[2:6], strategy=strategy, random_state=0)
    assert len(session.ask(3)) == 2


@pytest.mark.parametrize("strategy", ["explore", "minmax"])
def test_a_row_that_was_compared_with_every_neighbourhood_does_not_end_the_conversation(strategy):
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    session = sl.ActiveSession(X, 3, strategy=strategy, random_state=0)
    for rows, answer in (((0, 2), "different"), ((1, 0), "same"), ((1, 2), "different")):
        session.tell(rows, answer)  # row 1 is in hand, and nothing is left to ask about it
    assert session.ask() is not None


def test_an_open_block_that_is_partly_believed_to_be_in_a_cluster_is_weighed_as_one():
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + 0.01 * GENERATOR.normal(size=(40, 2))
    session = sl.ActiveSession(X, random_state=0)
    first = session._belief.rows[0]
    near, far = (range(20), range(20, 40)) if first < 20 else (range(20, 40), range(20))
    near = [row for row in near if row != first]
    session.tell_all([((row, first), "same") for row in near[:9]])
    session.tell_all([((far[0], first), "different"), *(((row, far[0]), "same") for row in far[1:9])])
    session.tell((far[10], first), "different")  # open, and believed to be in the other cluster
    assert not session._belief.is_placed[-1]
    assert session._belief.process.is_labelled[-1]
    session.tell((far[11], far[10]), "same")
    assert len(set(session.labels_[far])) == 1


def test_answers_disagree_with_more_than_sixty_clusters_met():
    X = GENERATOR.normal(size=(66, 2))
    session = sl.ActiveSession(X, random_state=0)
    first = session._belief.rows[0]
    order = [first, *(row for row in range(66) if row != first)][:65]
    session.tell_all([((a, b), "different") for at, a in enumerate(order) for b in order[:at]])
    assert session._belief.n_known == 65
    last = next(row for row in range(66) if row not in order)
    session.tell_all([((order[0], last), "same"), ((order[1], last), "same")])
    assert not session._belief.is_consistent
    assert len(np.unique(session.labels_)) > 60


def test_as_many_clusters_as_rows_leave_probabilities_that_are_numbers():
    session = sl.ActiveSession(np.array([[0.0], [1.0], [5.0]]), 3, belief=sl.peers.PCKMeans(3), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        P = session.predict_proba(np.array([[0.2], [70.0]]))
    assert P.argmax(axis=1)[0] == session.labels_[0]
    assert np.allclose(P.sum(axis=1), 1.0)
