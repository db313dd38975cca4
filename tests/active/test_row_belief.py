"""The belief of rows against plain versions of what it says it works out, on a table small enough to count."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sidelight._core.simplex import binary_entropy, entropy
from sidelight.active.chains import LabelPool
from sidelight.active.consequences import OPEN, WORTH, Settled, consequences_of, expected_error, rows_at_risk
from sidelight.active.row_belief import RowBelief
from sidelight.active.shown import shown_clusters

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


@pytest.mark.parametrize(
    ("n_clusters", "labels", "n_known", "expected"),
    [
        (None, [0], 1, 0.75),
        (None, [0, 0, 0], 1, 0.5 / 4),
        (None, list(range(20)), 20, 0.9),  # never certain
        (2, [0, 1], 2, 0.0),  # all were met
        (3, [0, 0, 0, 0, 0, 0, 1, 1, 1], 2, 0.5 / 3),  # no less than half the share of clusters that were not met
        (3, [0, 1], 2, 2 / 3),  # no more than twice that share
        (4, [0], 1, 0.75),
        (100, list(range(20)), 20, 0.9),
    ],
)
def test_the_chance_of_a_new_cluster_heeds_how_many_there_are(n_clusters, labels, n_known, expected):
    belief = told(n_clusters and 3)
    belief.n_clusters, belief.labels, belief.n_known = n_clusters, np.array(labels), n_known
    assert belief.chance_of_new() == pytest.approx(expected)


@pytest.mark.parametrize("kind", BELIEFS)
def test_places_are_those_of_the_process_except_of_rows_asked_about(kind):
    belief = BELIEFS[kind]()
    Q, new = belief.places(), belief.process.novelty() * belief.chance_of_new()
    P = belief.process.posterior()
    for row in range(30):
        expected = belief.q[belief.at[row]] if row in belief.at else [*P[row] * (1 - new[row]), new[row]]
        np.testing.assert_allclose(Q[row], expected)
    assert 0 in belief.at  # the first of the candidates is no other than the rest
    np.testing.assert_allclose(
        belief.influence(Q), belief.process.influence(entropy(np.maximum(Q, 1e-12))[belief.process.reference]), 1e-4
    )


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


def settled_of(labels, excluded, blocks=None, openers=None):
    labels = np.array(labels)
    n_clusters = len(excluded[0])
    return Settled(
        labels, np.array(excluded, dtype=bool), np.arange(len(labels)) if blocks is None else np.array(blocks),
        tuple(int(np.argmax(labels == k)) for k in range(n_clusters)) if openers is None else openers,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("n_clusters", "labels", "excluded", "expected"),
    [
        (4, [0, 1, OPEN], [1, 0], True),  # the number is known
        (None, [0, 1, OPEN], [1, 0], False),  # two clusters of one row, and it was compared with one of them
        (None, [0, 1, OPEN], [1, 1], True),
        (None, [0, 0, 1, 1, OPEN], [0, 0], True),  # no cluster has a single row
        (None, [0, 0, 1, OPEN], [1, 0], False),
        (None, [0, 0, 1, OPEN], [0, 1], True),
        (None, [0, 0, 1, 2, OPEN], [0, 1, 0], True),  # three clusters, and none has most rows
        (None, [0, 0, 0, 1, 2, OPEN], [0, 1, 0], False),  # one has most rows
        (None, [0, 0, 0, 1, 1, 2, OPEN], [0, 0, 0], True),  # one has half of them
        (None, [0, 0, 1, 1, 2, OPEN], [1, 1, 0], True),
    ],
)
def test_a_row_opens_a_cluster_by_its_looks_once_it_was_compared_with_single_rows(
    n_clusters, labels, excluded, expected
):
    belief = believed()
    belief.n_clusters = n_clusters
    rows = [[False] * len(excluded)] * (len(labels) - 1)
    assert belief._may_open(settled_of(labels, [*rows, excluded]))[-1] == expected


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


def test_clusters_keep_their_names_when_answers_number_them_otherwise():
    belief = believed()
    belief.labels = np.array([2, 2, 0, 1, 1])
    assert belief._names(np.array([0, 0, 1, 2, 2, 2]), 3).tolist() == [2, 0, 1]
    assert belief._names(np.array([0, 0, OPEN, 1, 1]), 3).tolist() == [2, 1, 0]  # open rows count for none
    assert sorted(belief._names(np.array([0, 0, 1, 2, 3]), 4).tolist()) == [0, 1, 2, 3]


def test_an_open_row_is_believed_where_it_was_before_unless_an_answer_excludes_that():
    belief = told()
    believed_label, n = belief.labels[-1], len(belief.labels)
    labels = belief.labels.copy()
    labels[-1] = OPEN
    excluded = np.zeros((n, belief.n_known), dtype=bool)
    settled = settled_of(labels, excluded)
    assert belief._with_believed(settled).tolist() == belief.labels.tolist()
    excluded[-1, believed_label] = True
    assert belief._with_believed(settled_of(labels, excluded)).tolist() == labels.tolist()
    belief.process.is_labelled[-1] = False  # nothing was believed
    assert belief._with_believed(settled).tolist() == labels.tolist()


def test_certain_rows_and_open_ones_that_are_sure_teach_the_others():
    belief, row, _ = open_row()
    certainty = belief.q[:, :-1].max(axis=1)
    expected = np.where(certainty > 0.9, 1 / certainty**2, np.inf)
    np.testing.assert_allclose(belief.process.doubt, expected)
    np.testing.assert_array_equal(belief.process.T, np.eye(belief.n_known)[belief.labels])
    np.testing.assert_array_equal(belief.pool.labels, belief.labels)
    assert belief.is_settled.tolist() == belief.is_placed.tolist() == [other != row for other in belief.rows]


def test_a_cluster_that_was_opened_by_looks_alone_is_given_up_when_answers_cannot_be_right_with_it():
    belief = told(2, n=6, y=Y % 2)
    mine, other = (
        belief.openers[0],
        next(t for t in range(len(belief.rows)) if belief.labels[t] == belief.labels[0] and t),
    )
    belief.openers = (*belief.openers, other)  # answers join it to the first: three clusters of two cannot be
    belief.tell_all([(belief.rows[0], belief.rows[other], True)], np.random.default_rng(0))
    assert belief.is_consistent
    assert belief.openers[0] == mine
    assert len(belief.openers) == 2


def test_answers_that_say_little_are_sampled_and_disagreement_is_known():
    belief = believed(3, [(0, 1, False), (2, 3, False), (4, 5, False)])
    assert belief.is_consistent  # nothing contradicts, but nothing is compared with the first row
    assert belief.is_placed.all()
    plain = consequences_of(np.array(belief.links), len(belief.rows), 3)
    assert belief.is_settled.tolist() == (plain.labels != OPEN).tolist()
    assert not belief.is_settled.all()
    assert disagreeing().is_settled is None


def test_where_answers_disagree_rows_teach_by_how_sure_they_are():
    belief = disagreeing(3)
    certainty = np.maximum(belief.q[np.arange(len(belief.rows)), belief.labels], 0.05)
    np.testing.assert_allclose(belief.process.doubt, 1 / certainty**2)
    assert belief.eps > 0
    assert len(belief.wrong) == len(belief.links)
    assert belief.is_placed.all()


def test_where_answers_disagree_the_rows_speak_for_forty_five_of_them(monkeypatch):
    asked, real = [], LabelPool.open_row_chances
    monkeypatch.setattr(LabelPool, "open_row_chances", lambda *rest, **more: asked.append(more) or real(*rest, **more))
    disagreeing(3)
    believed(3, [(0, 1, False), (2, 3, False), (4, 5, False)])
    assert [more["most_weighed"] for more in asked] == [45, None]


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


def test_other_answers_take_the_place_of_those_so_far():
    belief = told(3)
    row, stand_in = belief.rows[belief.openers[1]], belief.rows[-1]
    links = [(a, b, same) for a, b, same in ((belief.rows[a], belief.rows[b], s) for a, b, s in belief.links[:4])]
    before = belief.openers
    belief.answer_weights = np.ones(3)
    belief.relink(links, row, stand_in)
    assert belief.links == [(belief.at[a], belief.at[b], same) for a, b, same in links]
    assert belief.openers == (before[0], belief.at[stand_in], *before[2:])
    assert belief.wrong.tolist() == [0.0] * 4
    assert belief.answer_weights is None


def test_a_belief_begun_anew_knows_what_a_new_one_knows():
    belief = told(3)
    anew, new = belief.anew(), believed(3)
    for one in (anew, new):
        one.tell_all([(0, 1, True), (2, 0, False)], np.random.default_rng(0))
    assert anew.rows == new.rows
    np.testing.assert_array_equal(anew.posterior(), new.posterior())
    assert len(belief.rows) > len(new.rows)


# -- what is expected of questions that others have ------------------------------------------------------------------


def test_a_row_that_is_being_placed_is_labelled_with_its_chances():
    belief, row, _ = open_row()
    new = next(other for other in range(30) if other not in belief.at)
    Q, n = belief.places(), len(belief.rows)
    expected, placed = belief.expecting([(row, 0), (new, 0), (0, 1)])
    assert placed == [row, new]  # rows 0 and 1 are sure of their clusters: that is a check
    assert expected.links[-1] == (belief.at[0], belief.at[1], int(Y[0] == Y[1]))
    assert (len(belief.links), len(belief.rows), belief.q.shape[0]) == (len(expected.links) - 1, n, n)
    assert expected.rows == [*belief.rows, new]
    np.testing.assert_allclose(expected.process.T[belief.at[row]], Q[row, :-1])
    np.testing.assert_allclose(expected.process.T[-1], Q[new, :-1])
    assert expected.process.doubt[[belief.at[row], n]].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(expected.q[-1], Q[new])
    assert expected.labels[-1] == Q[new, :-1].argmax()
    assert not expected.is_placed[-1]
    assert expected.process.mixtures == belief.process.mixtures  # views are weighed by answers alone
    assert belief.at.keys() != expected.at.keys()


def test_a_question_about_a_row_that_is_not_known_is_no_check():
    belief = told()
    new = next(row for row in range(30) if row not in belief.at)
    for pair in ((0, new), (new, 0)):
        assert belief.expecting([pair])[1] == [pair[0]]


def test_rows_that_are_no_candidates_may_belong_anywhere():
    belief = told(3)
    new = next(other for other in range(30) if other not in belief.at)
    belief.process.position = np.where(np.arange(30) == new, -1, belief.process.position)
    np.testing.assert_allclose(belief.expecting([(new, 0)])[0].process.T[-1], np.full(3, 1 / 3))
    zero = believed(None, [(1, 2, False), (3, 1, True), (4, 2, True)])
    zero = zero if 0 not in zero.at else believed(None, [(1, 2, False), (3, 1, True), (4, 2, True)], seed=1)
    assert zero.position[0] == 0
    np.testing.assert_allclose(zero.expecting([(0, 1)])[0].process.T[-1], zero.places()[0, :-1])


# -- checks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["three clusters", "two clusters", "an unknown number"])
def test_a_block_surprises_by_the_log_odds_of_its_likeliest_other_place(kind):
    belief = BELIEFS[kind]()
    surprises = []
    for k in range(belief.n_known):
        for size in (1, 2):
            rows = np.flatnonzero(belief.labels == k)[:size]
            P = belief.process.without(rows)
            if belief.n_clusters == 2:
                here, there = np.log(P[:, k]).sum(), np.log(P[:, 1 - k]).sum()
            else:
                new = belief.process.novelty_without(rows) * belief.chance_of_new()
                totals = np.log(np.maximum(np.column_stack([P * (1 - new[:, None]), new]), 1e-12)).sum(axis=0)
                here, there = totals[k], max(total for other, total in enumerate(totals) if other != k)
            surprises.append(there - here)
            assert belief._surprise(rows.tolist()) == pytest.approx(np.clip(there - here, 0.0, 3.0), abs=1e-5)
    assert min(surprises) < 0


def test_rows_without_a_label_surprise_nobody_and_one_cluster_cannot_surprise():
    belief, row, _ = open_row()
    belief.process.is_labelled = np.arange(len(belief.rows)) != belief.at[row]
    assert belief._surprise([belief.at[row]]) == 0.0
    one = believed(None, [(0, 1, True)])
    assert one._surprise([0]) == 0.0


def test_a_row_that_looks_like_another_cluster_surprises():
    for n_clusters in (2, None):
        belief = told(n_clusters, y=Y % 2)
        t = max(range(len(belief.rows)), key=lambda t: belief.process.without(np.array([t]))[0, 1 - belief.labels[t]])
        belief.labels[t] = 1 - belief.labels[t]
        agrees = belief._surprise([t])
        belief.labels[t] = 1 - belief.labels[t]
        assert belief._surprise([t]) != agrees


def plain_doubtful_clusters(belief, was_asked):
    labels = np.where(belief.is_placed, belief.labels, OPEN)
    alike, by_row = np.zeros((belief.n_known, belief.n_known)), {}
    for k in range(belief.n_known):
        rows = np.flatnonzero(labels == k)
        new = belief.chance_of_new() * belief.process.novelty_without(rows)
        by_row[k] = dict(zip(rows.tolist(), belief.process.without(rows) * (1 - new[:, None])))
        alike[:, k] = np.mean(list(by_row[k].values()), axis=0)
    eps = expected_error(belief.links, len(labels), two_clusters=False)
    risk = rows_at_risk(np.array(belief.links), labels, alike, eps)
    a, b = np.unravel_index(int(risk.argmax()), risk.shape)
    if risk[a, b] <= WORTH:
        return None
    for t in sorted(by_row[b], key=lambda t: -by_row[b][t][a]):
        other = belief.representative(belief.rows[t], int(a), was_asked)
        if other is not None:
            return belief.rows[t], other
    return None


def test_clusters_that_may_be_one_are_compared():
    y = np.arange(40) % 4
    founders = [(a, b, False) for a in range(4) for b in range(a)]
    belief = believed(None, [*founders, *((row, row % 4, True) for row in range(4, 40))], wide=True)
    asked = {frozenset((belief.rows[a], belief.rows[b])) for a, b, _ in belief.links}

    def was_asked(a, b):
        return frozenset((a, b)) in asked

    seen = []
    for _ in range(6):
        pair = belief._doubtful_clusters(was_asked)
        assert pair == plain_doubtful_clusters(belief, was_asked)
        assert belief.next_check(was_asked) is not None
        if pair is None:
            break
        assert not was_asked(*pair)
        assert y[pair[0]] != y[pair[1]]
        seen.append(pair)
        asked.add(frozenset(pair))
    assert len(seen) >= 2
    assert belief._doubtful_clusters(lambda a, b: True) is None


def test_checks_are_of_answers_that_agree():
    assert disagreeing(3).next_check(anybody) is None
    chain = [(row, row + 1, True) for row in range(14)]
    two = believed(2, chain)
    ends = set(two.next_check(anybody))
    assert ends == {0, 14} or (two.rows[0] > 14 and ends == {0, 14})
    assert set(two.next_check(lambda a, b: {a, b} == {0, 14})) in ({0, 13}, {1, 14})
    assert believed(2, [(0, 1, False)]).next_check(anybody) is None


# -- what is shown ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BELIEFS)
def test_what_is_shown_is_pooled_from_all_that_is_known(kind):
    belief = BELIEFS[kind]()
    belief.q[3] = np.append(np.eye(belief.n_known)[belief.labels[3]], 1) / 2  # as probably new as where it is
    sure = belief.q[:, :-1].max(axis=1) >= belief.q[:, -1]
    has_place = belief.is_placed & sure
    for t, label in enumerate(belief.labels):
        has_place[t] |= label not in belief.labels[belief.is_placed & sure]
    told_share, keeps_own = belief._told()
    eps = 0.0 if belief.is_consistent else min(belief.eps, 0.3)
    trusted = belief.rows_alone.trust_in_number(belief.rows, belief.links, eps)
    expected = shown_clusters(
        belief.rows_alone.labels, np.array(belief.rows)[has_place], belief.q[has_place, :-1], belief.posterior(),
        belief.process.novelty(belief.process.views), n_clusters=belief.n_clusters,
        unmet=0.0 if belief._has_met_all(told_share) else trusted, told=told_share,
        is_consistent=belief.is_consistent,
    )  # fmt: skip
    for t in np.flatnonzero(has_place & keeps_own):
        expected[belief.rows[t]] = belief.labels[t]
    np.testing.assert_array_equal(belief.partition(), expected)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"is_settled": None}, False),
        ({"labels": [0, 1, 2, 3]}, False),  # every cluster has one row: more will come
        ({"labels": [0, 0, 1]}, False),  # a chance of 1.5 / 4
        ({"told": 0.5}, True),
        ({"told": 0.49}, False),
        ({"rows": [0, 0, 0, 0]}, False),  # all of them in one cluster of the rows
        ({"rows": [0, 1, 1]}, False),  # fewer than two for each of two clusters
        ({"labels": [0, 1, 1, 1, 1]}, False),  # a chance of a quarter
        ({"rows": [0, 0, 0, 2, 2, 2], "n_alone": 3}, False),  # none of them in the second of three
        ({"rows": [0, 0, 1, 1, 2, 2], "n_alone": 3}, True),
    ],
)
def test_every_cluster_was_met_when_settled_rows_lie_in_all_that_the_rows_suggest(changes, expected):
    given = {"rows": [0, 0, 1, 1], "labels": [0, 0, 0, 1, 1], "told": 1.0, "is_settled": True, "n_alone": 2} | changes

    class Alone:
        labels, n_clusters = np.repeat(np.arange(given["n_alone"]), 8), given["n_alone"]

    belief = believed()
    belief.rows_alone, belief.labels = Alone, np.array(given["labels"])
    rows = [8 * cluster + at for at, cluster in enumerate(given["rows"])]
    belief.process.rows = [*rows, 7]
    settled = np.append(np.ones(len(rows), dtype=bool), False)
    belief.is_settled = None if given["is_settled"] is None else settled
    assert belief._has_met_all(given["told"]) == expected


def test_how_much_was_told_is_counted_in_rows_that_answers_compare():
    belief = told(3)
    assert belief._told() == (1.0, pytest.approx(np.ones(len(belief.rows), dtype=bool)))
    assert believed()._told()[0] == 1.0
    assert believed()._told()[1].tolist() == [True]
    apart = believed(3, [(0, 1, False), (2, 3, False), (2, 5, False), (6, 7, False), (8, 9, False)])
    shares = np.bincount(apart.rows_alone.labels) / 30
    an_answer = binary_entropy((shares**2).sum()) / entropy(shares)
    n_settled = (apart.is_settled & apart.is_placed).sum()
    share, keeps = apart._told()
    assert share == pytest.approx(max(n_settled, an_answer * 5) / len(apart.rows))
    compared = np.isin(apart.rows, [2, 3, 5])
    np.testing.assert_array_equal(apart._most_compared(), compared)
    np.testing.assert_array_equal(keeps, compared if share < 0.5 else np.ones(len(keeps)))
    apart.is_settled = np.arange(len(apart.rows)) < len(apart.rows) / 2
    half = dict(zip(apart.rows, apart._told()[1].tolist()))
    assert len(apart.rows) == 10
    assert apart._told()[0] == 0.5
    assert all(half.values())  # half of what they need was told: enough
    apart.is_settled = None
    assert apart._told()[0] == pytest.approx(max(3, an_answer * 5) / len(apart.rows))


def test_what_follows_is_what_the_answers_alone_say():
    belief = told(3)
    plain = consequences_of(np.array(belief.links), len(belief.rows), 3)
    np.testing.assert_array_equal(belief.is_placed, plain.labels != OPEN)
    for label in range(3):
        assert len(set(plain.labels[belief.labels == label])) == 1


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
