"""What rows alone suggest is shown before anybody answers, and as long as answers do not speak against it."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.active.gaussian import RowKernels
from sidelight.active.shown import RowsAlone, shown_clusters
from sidelight.errors import InvalidParameter
from sidelight.metrics import adjusted_rand_index


def kinds(n_kinds, n_rows=240, seed=0):
    """Rows of several kinds that touch a little, in no order."""
    generator = np.random.default_rng(seed)
    y = generator.permutation(np.arange(n_rows) % n_kinds)
    return generator.normal(size=(n_rows, n_kinds)) + 4.0 * np.eye(n_kinds)[y], y


def alone(n_kinds, n_clusters=None):
    X, y = kinds(n_kinds)
    return RowsAlone(RowKernels.of(X, np.random.default_rng(0)), n_clusters, seed=0), y


def test_a_session_shows_the_clusters_of_the_rows_before_the_first_answer():
    X, y = kinds(6)
    assert adjusted_rand_index(y, sl.ActiveSession(X, random_state=0).labels_) > 0.9


@pytest.mark.slow
def test_wrong_answers_do_not_take_away_what_rows_alone_show():
    X, y = kinds(8, n_rows=320)
    scores = []
    for seed in range(3):
        session = sl.ActiveSession(X, random_state=seed)
        start = adjusted_rand_index(y, session.labels_)
        session.run(sl.Oracle(y, noise=0.15, random_state=seed), 30)
        scores.append(adjusted_rand_index(y, session.labels_) - start)
    assert np.mean(scores) > -0.05


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [None, 5])
def test_clusters_are_those_of_the_rows_whoever_asks_first(n_clusters):
    rows_alone, y = alone(5, n_clusters)
    assert rows_alone.n_clusters == 5
    assert adjusted_rand_index(y, rows_alone.labels) > 0.9


def test_answers_that_join_what_the_rows_separate_end_the_trust_in_their_number():
    rows_alone, _ = alone(4)
    rows = [int(np.flatnonzero(rows_alone.labels == k)[0]) for k in range(4)]
    pairs = [(a, b) for a in range(4) for b in range(a)]
    assert rows_alone.trust_in_number(rows, [], 0.0) == 1.0
    assert rows_alone.trust_in_number(rows, [(a, b, 0) for a, b in pairs * 4], 0.0) == 1.0
    assert rows_alone.trust_in_number(rows, [(a, b, 1) for a, b in pairs * 4], 0.0) == 0.0


def test_answers_that_are_wrong_anyway_do_not_speak_against_the_number():
    rows_alone, _ = alone(4)
    rows = [int(np.flatnonzero(rows_alone.labels == k)[0]) for k in range(4)]
    links = [(a, b, int(number % 3 == 0)) for number, (a, b) in enumerate([(1, 0), (2, 0), (3, 0), (2, 1)] * 12)]
    assert rows_alone.trust_in_number(rows, links, 0.0) < 0.5 < rows_alone.trust_in_number(rows, links, 0.25)


def test_answers_inside_one_cluster_say_nothing_about_the_number():
    rows_alone, _ = alone(4)
    rows = np.flatnonzero(rows_alone.labels == 0)[:6].tolist()
    assert rows_alone.trust_in_number(rows, [(0, at, 1) for at in range(1, 6)], 0.0) == 1.0


@pytest.mark.parametrize(("unmet", "n_shown"), [(0.0, 2), (0.5, 3), (1.0, 4)])
def test_clusters_without_a_label_are_shown_as_far_as_their_number_is_trusted(unmet, n_shown):
    guessed = np.repeat(np.arange(4), 20)
    shown = shown_clusters(
        guessed, np.array([0, 20]), np.eye(2), np.full((80, 2), 0.5), np.ones(80),
        n_clusters=None, unmet=unmet, told=1.0, is_consistent=True,
    )  # fmt: skip
    assert len(np.unique(shown)) == n_shown


def test_with_a_number_given_no_more_clusters_are_shown():
    guessed = np.repeat(np.arange(3), 20)
    q = np.eye(3)[[0, 1, 2]]  # all three labels were met in one guessed cluster
    shown = shown_clusters(
        guessed, np.array([0, 1, 2]), q, np.full((60, 3), 1 / 3), np.ones(60),
        n_clusters=3, unmet=1.0, told=1.0, is_consistent=True,
    )  # fmt: skip
    assert len(np.unique(shown)) == 3


@pytest.mark.slow
def test_typical_rows_of_a_cluster_come_first():
    X = kinds(4)[0]
    session = sl.ActiveSession(X, random_state=0)
    for cluster in range(4):
        rows = session.typical_rows(cluster)
        assert (session.labels_[rows] == cluster).all()
        middle = X[rows].mean(axis=0)
        away = np.linalg.norm(X[rows] - middle, axis=1)
        assert away[:10].mean() < away[-10:].mean()


def test_a_row_is_placed_in_a_cluster_that_no_question_was_about():
    X = kinds(4)[0]
    session = sl.ActiveSession(X, random_state=0)
    row = int(session.typical_rows(1)[-1])
    other = int(session.typical_rows(2)[0])
    session.place(row, 2)
    assert session.history == (((row, other), "same"),)
    assert session.labels_[row] == session.labels_[other]


def test_a_row_is_struck_out_of_a_cluster_that_no_question_was_about():
    X = kinds(4)[0]
    session = sl.ActiveSession(X, random_state=0)
    row, other = int(session.typical_rows(3)[-1]), int(session.typical_rows(3)[0])
    session.reject(row, 3)
    assert session.history == (((row, other), "different"),)
    assert session.labels_[row] != session.labels_[other]


@pytest.mark.parametrize("cluster", [-1, 4])
def test_a_cluster_that_is_not_shown_is_refused(cluster):
    session = sl.ActiveSession(kinds(4)[0], random_state=0)
    with pytest.raises(InvalidParameter, match="range \\[0, 3\\]"):
        session.place(0, cluster)
    with pytest.raises(InvalidParameter, match="range \\[0, 3\\]"):
        session.typical_rows(cluster)
    assert not session.history


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [None, 12])
def test_right_answers_about_random_pairs_do_not_join_what_looks_apart(n_clusters):
    X, y = kinds(12, n_rows=1200)
    rng = np.random.default_rng(0)
    session = sl.ActiveSession(X, n_clusters=n_clusters, random_state=0)
    before = adjusted_rand_index(y, session.labels_)
    for _ in range(3):  # most of them "different": they say little about which of twelve clusters a row is of
        pairs = {tuple(sorted(rng.choice(len(X), 2, replace=False).tolist())) for _ in range(40)}
        session.tell_all([(pair, "same" if y[pair[0]] == y[pair[1]] else "different", None) for pair in pairs])
        assert adjusted_rand_index(y, session.labels_) > before - 0.05


@pytest.mark.slow
def test_rows_that_are_still_being_compared_do_not_join_what_looks_apart():
    """Many people at once: when their answers come, most rows were compared with some clusters only."""
    X, y = kinds(12, n_rows=1200)
    session = sl.ActiveSession(X, random_state=0)
    before = adjusted_rand_index(y, session.labels_)
    for _ in range(4):
        open_: list[tuple[int, ...]] = []
        for _ in range(25):
            open_.append(session.ask(busy=open_).rows)
        said = [(rows, "same" if y[rows[0]] == y[rows[1]] else "different", None) for rows in open_]
        session.tell_all([one for one in said if session.may_tell(one[0])])
        assert adjusted_rand_index(y, session.labels_) > before - 0.05


def test_answers_suggest_how_many_kinds_there_are_where_the_rows_do_not():
    generator = np.random.default_rng(4)
    y = np.arange(300) % 20
    X = generator.normal(size=(300, 10)) + 0.85 * generator.normal(size=(20, 10))[y]
    session = sl.ActiveSession(X, random_state=0)
    belief = session._belief
    if belief.rows_alone.is_clear:
        pytest.skip("these rows were to be unclear")
    start = adjusted_rand_index(y, session.labels_)
    session.run(sl.Oracle(y), 24)
    assert session._belief._likely_number() > session._belief.n_known > 4
    assert len(np.unique(session.labels_)) > session._belief.n_known
    assert adjusted_rand_index(y, session.labels_) > start + 0.1
    known = sl.ActiveSession(X, 20, random_state=0)
    known.run(sl.Oracle(y), 24)
    assert known._belief._likely_number() is None
