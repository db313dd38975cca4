"""The belief of rows against plain versions of what it says it works out, on a table small enough to count."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sidelight.active.consequences import OPEN, consequences_of, expected_error
from sidelight.active.row_belief import RowBelief

Y = np.random.default_rng(5).permutation(np.arange(30) % 3)
X = np.random.default_rng(6).normal(size=(30, 2)) + 1.8 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
WIDE = np.random.default_rng(0).normal(size=(40, 2))  # of which nothing can be seen


def anybody(*rows):
    return False


@cache
def begun(n_clusters, wide, seed):
    return RowBelief(WIDE if wide else X, n_clusters, np.random.default_rng(seed))


def believed(n_clusters=None, answers=(), wide=False, seed=0):
    belief = begun(n_clusters, wide, seed).anew()
    if answers:
        belief.tell_all(list(answers), np.random.default_rng(1))
    return belief


def told(n_clusters=None, n=12, y=Y, first=None, **more):
    """A belief in which ``n`` rows have a place: each was compared with a row of every class before it."""
    belief = believed(n_clusters, **more)
    first = belief.rows[0] if first is None else first
    met, answers = {y[first]: first}, []
    for row in [row for row in range(len(y)) if row != first][:n]:
        answers += [(row, other, bool(y[row] == kind)) for kind, other in met.items()]
        met.setdefault(y[row], row)
    belief.tell_all(answers, np.random.default_rng(1))
    return belief


def disagreeing(n_clusters=None):
    """A belief whose answers contradict each other."""
    belief = told(n_clusters)
    a, b = [row for row in belief.rows if Y[row] == 0][:2]
    c = next(row for row in belief.rows if Y[row] == 1)
    belief.tell_all([(a, c, True), (b, c, True), (a, b, True)], np.random.default_rng(2))
    assert not belief.is_consistent
    return belief


BELIEFS = {
    "three clusters": lambda: told(3),
    "two clusters": lambda: told(2, y=Y % 2),
    "an unknown number": lambda: told(None),
    "open rows": lambda: open_row()[0],
    "a row alone": lambda: with_a_row_alone(),
    "one cluster": lambda: believed(None, [(0, 1, True), (1, 2, True)]),
    "answers that disagree": lambda: disagreeing(3),
    "answers that disagree, number unknown": lambda: disagreeing(None),
}


def open_row(n_clusters=None):
    """A belief with one row that was told apart from one of three clusters, and that row."""
    belief = told(n_clusters)
    row = next(row for row in range(30) if row not in belief.at)
    other = next(other for other in belief.rows if Y[other] != Y[row])
    belief.tell_all([(row, other, False)], np.random.default_rng(3))
    return belief, row, other


def with_a_row_alone():
    """A belief with a row that is unlike one row of each of three clusters."""
    belief = told()
    row = next(row for row in range(30) if row not in belief.at)
    others = [next(other for other in belief.rows if Y[other] == k) for k in range(3)]
    belief.tell_all([(row, other, False) for other in others], np.random.default_rng(3))
    assert belief.n_known == 4
    return belief


# -- chances ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BELIEFS)
def test_a_representative_is_placed_sure_alike_and_not_asked_against(kind):
    belief = BELIEFS[kind]()
    taken = {frozenset((row, other)) for row in range(30) for other in range(row) if (row + other) % 3 == 0}

    def asked(a, b):
        return frozenset((a, b)) in taken

    for row in range(30):
        for cluster in range(belief.n_known):
            members = [
                t for t, other in enumerate(belief.rows)
                if belief.labels[t] == cluster and belief.is_placed[t] and other != row and not asked(row, other)
            ]  # fmt: skip
            worth = [
                max(belief.process.likeness([belief.rows[t]], row)[0], 1e-3) * belief.q[t, cluster] ** 2
                for t in members
            ]
            expected = belief.rows[members[int(np.argmax(worth))]] if members else None
            assert belief.representative(row, cluster, asked) == expected
    assert belief.representative(0, 0, lambda a, b: True) is None


def plain_chances_of_asked(belief):
    known = belief.q[:, :-1] / np.maximum(belief.q[:, :-1].sum(axis=1, keepdims=True), 1e-12)
    eps = expected_error(belief.links, len(belief.rows), two_clusters=belief.n_clusters == 2)
    eps = max(eps, 0.0 if belief.is_consistent else min(belief.eps, 0.3))
    for t, own in enumerate(belief.labels):
        if not belief.is_placed[t] or not belief.process.is_labelled[t] or (belief.labels == own).sum() < 2:
            continue
        n_same = sum(same for a, b, same in belief.links if t in (a, b) and belief.labels[a] == belief.labels[b])
        wrong, P = eps ** max(n_same, 1), np.maximum(belief.process.without(np.array([t]))[0], 1e-12)
        chances = np.array([p * (1 - wrong if k == own else wrong) for k, p in enumerate(P)])
        chances /= chances.sum()
        if belief.is_consistent or chances[own] < known[t, own]:
            known[t] = chances
    return known


@pytest.mark.parametrize("kind", BELIEFS)
def test_rows_asked_about_are_as_doubtful_as_their_answers_and_their_looks(kind):
    belief = BELIEFS[kind]()
    expected = plain_chances_of_asked(belief)
    P = belief.posterior()
    np.testing.assert_allclose(P[belief.rows], expected)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-6)
    own = expected[np.arange(len(expected)), belief.labels]
    assert belief.n_unlike() == sum(belief.is_placed & (own < 0.7))


def test_before_the_first_answer_the_first_row_is_sure_of_its_cluster():
    belief = believed()
    np.testing.assert_array_equal(belief.posterior(), np.ones((30, 1)))
    one = believed(None, [(0, 1, True), (1, 2, True)])
    np.testing.assert_array_equal(one.posterior()[one.rows], np.ones((len(one.rows), 1)))


def test_new_rows_have_the_posterior_of_their_views():
    belief = told(3)
    views = belief.kernels.of_new(X[:5] + 0.1)
    expected = belief.process.posterior([views[name] for name in belief.kernels.views])
    np.testing.assert_array_equal(belief.posterior(X[:5] + 0.1), expected)


# -- what follows from answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [None, 3, 4])
def test_chances_of_an_open_row_leave_excluded_clusters_out(n_clusters):
    belief, row, other = open_row(n_clusters)
    t = belief.at[row]
    settled = belief._what_follows()
    assert settled.labels[t] == OPEN
    mixtures = belief.process.mixtures
    q = belief._chances(settled)
    is_open = settled.labels == OPEN
    np.testing.assert_allclose(q.sum(axis=1), 1.0)
    np.testing.assert_array_equal(q[~is_open], np.eye(settled.n_clusters + 1)[settled.labels[~is_open]])
    assert q[t, settled.labels[belief.at[other]]] == 0.0
    assert (q[t, -1] > 0) == (n_clusters != 3)  # all three were met
    assert belief.process.mixtures is mixtures  # views are weighed once all have a place
    if belief.process.is_labelled[t]:  # what is believed of a row does not confirm itself
        P, novelty = belief.process.without(np.array([t]))[0], belief.process.novelty_without(np.array([t]))[0]
    else:
        P, novelty = (part[t] for part in belief.process.of_asked())
    n_labelled = belief._with_believed(settled)
    new = novelty * belief._chance_of_new(n_labelled[n_labelled != OPEN], settled.n_clusters)
    alone = np.append(np.maximum(P, 1e-12) * (1 - new) * ~settled.excluded[t], new)
    np.testing.assert_allclose(q[t], alone / alone.sum(), rtol=1e-6)


def test_rows_of_an_open_block_have_one_place():
    belief, row, _ = open_row()
    mate = next(other for other in range(30) if other not in belief.at and Y[other] == Y[row])
    belief.tell_all([(row, mate, True)], np.random.default_rng(4))
    np.testing.assert_array_equal(belief.q[belief.at[row]], belief.q[belief.at[mate]])
    assert belief.labels[belief.at[row]] == belief.labels[belief.at[mate]]
    assert not belief.is_placed[belief.at[row]]
    assert belief.is_placed[: len(belief.rows) - 2].all()


def test_answers_that_say_little_are_sampled_and_disagreement_is_known():
    belief = believed(3, [(0, 1, False), (2, 3, False), (4, 5, False)])
    assert belief.is_consistent  # nothing contradicts, but nothing is compared with the first row
    assert belief.is_placed.all()
    plain = consequences_of(np.array(belief.links), len(belief.rows), 3)
    assert belief.is_settled.tolist() == (plain.labels != OPEN).tolist()
    assert not belief.is_settled.all()
    assert disagreeing().is_settled is None


def test_answers_of_people_who_err_weigh_less():
    """Two rows of a pair: one said "same", one "different"; who weighs more decides."""
    labels = []
    for heavy in (0, 1):
        belief = told(2, y=Y % 2)
        row = next(row for row in range(30) if row not in belief.at)
        one = next(other for other in belief.rows if belief.labels[belief.at[other]] == 0)
        two = next(other for other in belief.rows if belief.labels[belief.at[other]] == 0 and other != one)
        belief.answer_weights = np.ones(len(belief.links) + 2)
        belief.answer_weights[-2:] = [2.0, 0.1] if heavy == 0 else [0.1, 2.0]
        belief.tell_all([(row, one, True), (row, two, False)], np.random.default_rng(0))
        labels.append(belief.q[belief.at[row], belief.labels[belief.at[one]]])
    assert labels[0] > 0.5 > labels[1]


def test_a_belief_begun_anew_knows_what_a_new_one_knows():
    belief = told(3)
    anew, new = belief.anew(), believed(3)
    for one in (anew, new):
        one.tell_all([(0, 1, True), (2, 0, False)], np.random.default_rng(0))
    assert anew.rows == new.rows
    np.testing.assert_array_equal(anew.posterior(), new.posterior())
    assert len(belief.rows) > len(new.rows)


# -- what is expected of questions that others have ------------------------------------------------------------------


# -- checks ----------------------------------------------------------------------------------------------------------


def test_checks_are_of_answers_that_agree():
    assert disagreeing(3).next_check(anybody) is None
    chain = [(row, row + 1, True) for row in range(14)]
    two = believed(2, chain)
    ends = set(two.next_check(anybody))
    assert ends == {0, 14} or (two.rows[0] > 14 and ends == {0, 14})
    assert set(two.next_check(lambda a, b: {a, b} == {0, 14})) in ({0, 13}, {1, 14})
    assert believed(2, [(0, 1, False)]).next_check(anybody) is None


# -- what is shown ---------------------------------------------------------------------------------------------------


def test_two_clusters_of_an_unknown_number_may_be_one_and_a_single_one_may_not():
    stars = [(0, 1, False), *((row, row % 2, True) for row in range(2, 40))]
    two = believed(None, stars, wide=True)
    assert two.n_known == 2
    row, other = two.next_check(lambda a, b: a % 2 == b % 2)
    assert row % 2 != other % 2
    assert believed(None, [(row, 0, True) for row in range(1, 6)]).next_check(anybody) is None


def test_two_clusters_that_are_all_there_are_are_not_taken_for_one():
    stars = [(0, 1, False), *((row, row % 2, True) for row in range(2, 40))]
    two = believed(2, stars, wide=True)
    end, _ = two.next_check(anybody)
    assert two.next_check(lambda a, b: end in (a, b)) is None
    assert two._doubtful_clusters(lambda a, b: end in (a, b)) is not None  # by its looks it would be


def test_a_row_that_looks_like_no_other_opens_a_cluster_and_keeps_it():
    far = np.argsort(-((WIDE - WIDE.mean(axis=0)) ** 2).sum(axis=1))[:4].tolist()
    belief = believed(10, wide=True)
    a, b, d = belief.rows[0], *[row for row in far if row != belief.rows[0]][:2]
    c = next(row for row in range(40) if row not in (a, b, d))
    belief.tell_all([(b, a, False), (c, a, False), (c, b, False)], np.random.default_rng(0))
    assert belief.n_known == 3
    belief.tell_all([(d, a, False), (d, b, False)], np.random.default_rng(0))  # it was not compared with row c
    assert belief.n_known == 4
    assert belief.openers == tuple(belief.at[row] for row in (a, b, c, d))
    assert belief.is_placed.all()
    others = [row for row in range(40) if row not in belief.at]
    belief.tell_all([(row, a, True) for row in others[:8]], np.random.default_rng(0))
    assert belief.n_known == 4  # with less to be met it would not open one now
    belief.tell_all([(d, c, True)], np.random.default_rng(0))  # it was opened in error
    assert belief.n_known == 3
    assert belief.is_consistent
