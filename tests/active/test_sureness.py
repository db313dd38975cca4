"""Rows that are left out say how sure the others may be."""

from __future__ import annotations

import numpy as np

import sidelight as sl
from sidelight.active.sureness import Sureness


def test_rows_that_all_others_place_wrongly_make_the_rest_less_sure():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.5, 0.5], size=400)
    labels = (rng.random(400) < P[:, 1]).astype(int)
    assert Sureness.of(P, labels).temperature < 1.2
    too_sure = P**3 / (P**3).sum(axis=1, keepdims=True)
    found = Sureness.of(too_sure, labels)
    assert 2.3 < found.temperature < 3.7
    assert found.n_right / found.n_sure > 0.88
    Q = found.tempered(too_sure)
    np.testing.assert_array_equal(Q.argmax(axis=1), P.argmax(axis=1))
    many = np.hstack([P, np.zeros((400, 18))])
    assert Sureness.of(P[:19], labels[:19]) == Sureness()
    few = Sureness.of(many[:199], labels[:199])  # of 20 clusters
    assert few == Sureness()
    assert not few.is_measured
    assert Sureness.of(many[:200], labels[:200]).is_measured


def test_a_session_is_less_sure_where_rows_say_little():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=300)
    session = sl.ActiveSession(rng.normal(size=(300, 5)) + 0.6 * y[:, None], 2, random_state=0)
    session.run(sl.Oracle(y), 60)
    P = session.predict_proba()
    right = max(np.mean(session.labels_ == y), np.mean(session.labels_ != y))
    assert session.sureness().n_rows >= 20
    assert P.max(axis=1).mean() < right + 0.09
    assert P.max(axis=1).mean() < np.asarray(session._belief.posterior()).max(axis=1).mean()
