"""Pictures of a conversation."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData

Y = np.repeat(np.arange(2), 20)
X = np.random.default_rng(0).normal(size=(40, 3)) + 6.0 * Y[:, None]


@pytest.fixture(scope="module")
def session():
    session = sl.ActiveSession(X, 2, random_state=0)
    session.run(sl.Oracle(Y), budget=6)
    return session


def test_every_row_has_its_doubt(session):
    drawn = sl.plot.UncertaintyMapDisplay.from_session(session, X).plot()
    assert len(drawn.ax_.collections[0].get_offsets()) == 40
    assert np.allclose(np.sort(drawn.doubt), np.sort(1.0 - session.predict_proba().max(axis=1)))


def test_every_answer_is_a_line(session):
    drawn = sl.plot.QuestionsDisplay.from_session(session, X).plot()
    lines = {line.get_label().split()[0]: line.get_xdata() for line in drawn.ax_.lines}
    n_same = int(session.pairs.same.sum())
    assert [len(lines[word]) // 3 for word in ("same", "different")] == [n_same, 6 - n_same]


@pytest.mark.parametrize("name", ["UncertaintyMapDisplay", "QuestionsDisplay"])
def test_other_rows_are_refused(session, name):
    with pytest.raises(InvalidData, match="the rows that the session is about"):
        getattr(sl.plot, name).from_session(session, X[:5])


def test_rows_of_clusters_that_nobody_was_asked_about_are_in_doubt():
    session = sl.ActiveSession(X, 2, random_state=0)
    drawn = sl.plot.UncertaintyMapDisplay.from_session(session, X.tolist())
    guessed = session.labels_ > 0
    assert 0 < guessed.sum() < 40
    assert (drawn.doubt[guessed] == 1.0).all()
