"""Small parts of a session against what they say: people, overlaps, the outlook, particles, what follows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta

from sidelight.active.consequences import LOOKED_NEW, OPEN, consequences_of, rows_at_risk
from sidelight.active.outlook import PartitionHistory
from sidelight.active.particle_belief import PairForest, best_labels, log_likelihood, move, pair_marginals, resample
from sidelight.active.people import Rates, is_tested, report_people
from sidelight.active.shown import RowsAlone, _k_means
from sidelight.active.told import GivenAnswer

# -- what follows from answers, against all clusterings ---------------------------------------------------------------


def clusterings(n, n_clusters):
    """Return every clustering of n rows that answers may mean; a known number is the most there are."""
    for z in itertools.product(range(n), repeat=n):
        is_ordered = all(label <= max(z[:at], default=-1) + 1 for at, label in enumerate(z))
        if is_ordered and (n_clusters is None or max(z) < n_clusters):
            yield z


@pytest.mark.parametrize("n_clusters", [None, 2, 3])
def test_what_follows_holds_in_every_clustering_that_keeps_the_answers(n_clusters):
    generator, n_refused = np.random.default_rng(0), 0
    every = list(clusterings(5, n_clusters))
    pairs = list(itertools.combinations(range(5), 2))
    for _ in range(60):
        chosen = generator.choice(len(pairs), int(generator.integers(1, 9)), replace=False)
        links = np.array([(*pairs[at], int(generator.random() < 0.4)) for at in chosen])
        kept = [z for z in every if all((z[a] == z[b]) == bool(same) for a, b, same in links)]
        settled = consequences_of(links, 5, n_clusters)
        if settled is None:
            n_refused += 1
            assert not kept
            continue
        blocks, labels = settled.blocks, settled.labels
        for z in kept:
            for a, b in pairs:
                if blocks[a] == blocks[b] or (labels[a] == labels[b] != OPEN):
                    assert z[a] == z[b]
                elif OPEN not in (labels[a], labels[b]):
                    assert z[a] != z[b]
            for row in range(5):
                for cluster, opener in enumerate(settled.openers):
                    assert not settled.excluded[row, cluster] or z[row] != z[opener]
        assert [labels[opener] for opener in settled.openers] == list(range(settled.n_clusters))
        compared = [labels[row] != OPEN or settled.excluded[row].any() for row in range(5)]
        assert settled.says_enough == all(compared)
    assert n_refused > 3


def test_rows_that_no_answer_names_are_open():
    settled = consequences_of(np.array([(0, 1, 0)]), 4, None)
    assert settled.labels.tolist() == [0, 1, OPEN, OPEN]
    assert not settled.says_enough


# -- exact inference --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 2, 3])
def test_messages_go_through_whichever_row_a_tree_hangs_from(K):
    """Rows 1 and 3 hang from row 0, row 2 from row 3: the first answer and the first row are no exceptions."""
    left, right, same = np.array([3, 0, 2]), np.array([0, 1, 3]), np.array([0, 1, 1])
    P, eps = np.random.default_rng(0).dirichlet(np.ones(K), size=(2, 5)), 0.2
    forest = PairForest.of(left, right, same.astype(bool), 5)
    many, log_Z = pair_marginals(P, forest, eps)
    for table in range(2):
        total, q, best = 0.0, np.zeros((5, K)), (-1.0, ())
        for z in itertools.product(range(K), repeat=5):
            weight = np.prod([P[table, row, k] for row, k in enumerate(z)])
            for a, b, s in zip(left, right, same):
                weight *= 1 - eps if (z[a] == z[b]) == bool(s) else eps
            total += weight
            q[np.arange(5), z] += weight
            best = max(best, (weight, z))
        np.testing.assert_allclose(many[table], q / total)
        assert log_Z[table] == pytest.approx(np.log(total))
        assert log_likelihood(P, forest, eps)[table] == pytest.approx(np.log(total))
        assert tuple(best_labels(P[table], forest, eps)) == best[1]
    strided = np.asfortranarray(P)
    np.testing.assert_allclose(pair_marginals(strided, forest, eps)[0], many)
    np.testing.assert_allclose(log_likelihood(strided, forest, eps), log_Z)


# -- particles --------------------------------------------------------------------------------------------------------


def test_resampling_keeps_each_particle_as_often_as_it_weighs():
    weights = np.array([0.05, 0.4, 0.3, 0.25])
    counts = np.zeros(4)
    for seed in range(400):
        kept = resample(np.log(weights) + 7.0, np.random.default_rng(seed))
        assert (np.diff(kept) >= 0).all()
        found = np.bincount(kept, minlength=4)
        assert (np.abs(found - 4 * weights) < 1).all()  # systematic: never off by a whole one
        counts += found / 400
    np.testing.assert_allclose(counts, 4 * weights, atol=0.1)


def test_a_mean_may_be_one_for_all_or_one_for_each():
    def flat(W):
        return np.zeros(len(W))

    means = np.repeat([[-50.0], [50.0]], 500, axis=0)
    moved = move(means.copy(), means, 1.0, flat, 3, np.random.default_rng(0))
    assert moved[:500].mean() == pytest.approx(-50, abs=0.2)
    assert moved[500:].mean() == pytest.approx(50, abs=0.2)
    assert moved[:500].std() == pytest.approx(1.0, abs=0.1)
    shared = move(np.full((500, 1), 5.0), np.array([5.0]), 2.0, flat, 3, np.random.default_rng(0))
    assert shared.std() == pytest.approx(2.0, abs=0.3)


# -- people -----------------------------------------------------------------------------------------------------------


def plain_tested(links):
    """Say of each answer whether turning it round would contradict the others, or its rows are compared twice."""

    def groups(some):
        z = list(range(6))
        for a, b, same in some:
            if same:
                z = [z[a] if label == z[b] else label for label in z]
        return z

    tested = []
    z = groups(links)
    for number, (a, b, same) in enumerate(links):
        rest = groups([link for other, link in enumerate(links) if other != number])
        if same or z[a] == z[b]:
            tested.append(rest[a] == rest[b])
        else:
            sides = [{z[c], z[d]} for c, d, other in links if not other and z[c] != z[d]]
            tested.append(sides.count({z[a], z[b]}) > 1)
    return tested


def test_an_answer_is_tested_that_others_would_contradict():
    generator = np.random.default_rng(0)
    pairs = list(itertools.combinations(range(6), 2))
    for _ in range(40):
        chosen = generator.choice(len(pairs), int(generator.integers(1, 10)), replace=False)
        links = [(*pairs[at][:: int(generator.choice([1, -1]))], int(generator.random() < 0.6)) for at in chosen]
        links = [link for link in links if link[2] or groups_differ(links, link)]
        assert is_tested(links, 6).tolist() == plain_tested(links), links
    assert is_tested([], 3).tolist() == []


def groups_differ(links, link):
    """Say whether no answers "same" join the rows of a link."""
    z = list(range(6))
    for a, b, same in links:
        if same:
            z = [z[a] if label == z[b] else label for label in z]
    return z[link[0]] != z[link[1]]


def test_rates_are_means_under_a_prior_that_all_share():
    wrong, tested = np.array([0.9, 0.1, 0.0, 0.8, 0.5]), np.array([True, True, True, True, False])
    rates = Rates.of(wrong, tested, ["ann", "bob", "bob", "ann", "ann"])
    common = (0.3 + 1.8) / (6.3 + 4)
    assert rates.common == pytest.approx(common)
    assert rates.rate("ann") == pytest.approx(np.clip((10 * common + 1.7) / 12, 0.005, 0.45))
    assert rates.rate("bob") == pytest.approx((10 * common + 0.1) / 12)
    assert rates.rate("new") == pytest.approx(common)
    low, high = rates.interval("bob")
    expected = beta(10 * common + 0.1, 10 * (1 - common) + 1.9)
    assert (expected.cdf(low), expected.cdf(high)) == (pytest.approx(0.05), pytest.approx(0.95))
    odds = {name: np.log((1 - rates.rate(name)) / rates.rate(name)) for name in ("ann", "bob", "new")}
    for name in odds:
        assert rates.weight(name) == pytest.approx(np.clip(odds[name] / odds["new"], 0.1, 2.0))


def test_a_person_is_reported_with_the_answers_that_are_probably_wrong_the_surest_first():
    told = [
        GivenAnswer((0, 1), "same", "ann"), GivenAnswer((2, 3), "unsure", "ann"), GivenAnswer((4, 5), "same", "bob"),
        GivenAnswer((0, 2, 5), "a", "ann"), GivenAnswer((1, 5), "different", "ann"),
    ]  # fmt: skip
    sources, wrong = [0, 2, 3, 3, 4], np.array([0.6, 0.95, 0.7, 0.9, 0.5])
    tested = np.array([True, True, True, False, False])
    ann, bob = report_people(told, sources, wrong, Rates.of(wrong, tested, ["ann", "bob", "ann", "ann", "ann"]), tested)
    assert (ann.person, ann.n_answers, ann.n_unsure, ann.n_tested) == ("ann", 4, 1, 2)
    assert (bob.person, bob.n_answers, bob.n_unsure, bob.n_tested) == ("bob", 1, 0, 1)
    assert ann.disagree == (((0, 2, 5), "a", 0.9), ((0, 1), "same", 0.6))  # half is not probable
    assert bob.disagree == (((4, 5), "same", 0.95),)
    (quiet,) = report_people(told[1:2], [], np.zeros(0), Rates(0.05, {}), np.zeros(0, dtype=bool))
    assert (quiet.n_answers, quiet.n_tested, quiet.disagree) == (1, 0, ())


# -- clusters that may be one -----------------------------------------------------------------------------------------


def test_rows_at_risk_are_counted_pair_by_pair():
    labels = np.array([0, 0, 1, 1, 1, 2, OPEN, 0])
    links = np.array([(0, 2, 0), (3, 1, 0), (5, 6, 0), (6, 0, 0), (0, 1, 1), (2, 3, 1), (5, 2, 0)])
    alike, eps = np.random.default_rng(0).uniform(0.1, 0.9, size=(4, 4)), 0.1
    risk = rows_at_risk(links, labels, alike, eps)
    sizes = [3, 3, 1, 0]
    for a in range(4):
        for b in range(4):
            comes_first = (-sizes[a], a) < (-sizes[b], b)  # the larger, of equal ones the older
            n_apart = sum(not s and {labels[i], labels[j]} == {a, b} for i, j, s in links)
            odds = np.log(alike[a, b] / (1 - alike[a, b])) + (n_apart * np.log(1 / 9) if n_apart else LOOKED_NEW)
            assert risk[a, b] == pytest.approx(sizes[b] / (1 + np.exp(-odds)) if comes_first else 0.0)


# -- the outlook ------------------------------------------------------------------------------------------------------


def outlook(changes, sure=(0.9,) * 10, n_unlike=None, n_answers=40):
    history = PartitionHistory()
    history.changes = list(changes)
    P = np.column_stack([sure, 1 - np.array(sure)])
    return history.outlook(n_answers, P, *(() if n_unlike is None else (n_unlike,)))


def test_it_is_enough_when_three_comparisons_were_calm_and_nothing_is_doubtful():
    for changes, options, enough in [
        ([0.0, 0.0], {}, False), ([0.0, 0.0, 0.0], {}, True), ([0.5, 0.01, 0.01, 0.01], {}, True),
        ([0.0, 0.02, 0.0], {}, False), ([0.0, 0.0, 0.5], {}, False), ([0.0] * 3, {"n_unlike": 1}, False),
        ([0.0] * 3, {"n_unlike": 0}, True), ([0.5] * 3, {"n_unlike": 1}, False),
        ([0.0] * 3, {"sure": [0.6, *[0.9] * 49]}, True),  # one row in fifty may be unsure
        ([0.0] * 3, {"sure": [0.6, 0.6, *[0.9] * 48]}, False), ([0.0] * 3, {"sure": [0.7] * 10}, True),
    ]:  # fmt: skip
        assert outlook(changes, **options).enough == enough


def test_the_outlook_says_why():
    for changes, options, words in [
        ([0.0] * 3, {"n_unlike": 1}, "One row looks"), ([0.0] * 3, {"n_unlike": 2}, "2 rows look"),
        ([0.0] * 3, {"sure": [0.5] * 4}, "100% of the rows are unsure"),
        ([0.5] * 3, {"n_unlike": 2}, "it pays to go on"),
        ([], {"n_answers": 0}, "No question was answered"), ([], {"n_answers": 1}, "1 question was answered"),
        ([], {"n_answers": 2}, "2 questions were answered"), ([0.01], {}, "changed little"),
        ([0.02], {}, "changed 2% of"), ([0.3], {"sure": [0.5] * 4}, "100% of the rows are unsure: it pays"),
    ]:  # fmt: skip
        assert words in outlook(changes, **options).sentence


def test_partitions_are_compared_with_the_one_before():
    history = PartitionHistory()
    assert np.isnan(history.outlook(0, np.ones((2, 1))).change)
    for labels in ([0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]):
        history.add(np.array(labels))
    assert history.changes[0] == pytest.approx(0.0)
    assert history.changes[1] > 1.0
    seen = history.outlook(30, np.ones((2, 1)))
    assert (seen.change, seen.share_unsure) == (history.changes[1], 0.0)


# -- clusters of the rows alone ---------------------------------------------------------------------------------------


class Seen:
    """Rows of three kinds in one view."""

    known = np.random.default_rng(0).normal(scale=0.1, size=(30, 2)) + 3.0 * np.eye(3)[:, :2][np.arange(30) % 3]
    views = {"graph": known}


def test_a_number_that_is_given_is_taken_and_two_are_the_fewest():
    assert RowsAlone(Seen, 5, 0).n_clusters == 5
    assert RowsAlone(Seen, 1, 0).n_clusters == 2
    assert RowsAlone(Seen, None, 0).n_clusters == 3
    assert RowsAlone(Seen, 3, 0).labels.tolist() == RowsAlone(Seen, 3, 0).labels.tolist()
    many = RowsAlone(Seen, 99, 0).labels
    assert len(set(many.tolist())) <= 30


def test_typical_rows_lie_along_the_middle_of_their_cluster():
    alone = RowsAlone(Seen, 3, 0)
    for row in range(30):
        middle = Seen.known[alone.labels == alone.labels[row]].sum(axis=0)
        expected = Seen.known[row] @ middle / np.linalg.norm(middle)
        assert alone.typicality[row] == pytest.approx(expected)


def test_the_number_is_trusted_by_the_share_of_same_between_clusters():
    for n_same, n_different, eps, expected in [
        (0, 0, 0.0, 1.0), (0, 5, 0.0, 1.0), (2, 0, 0.0, (0.33 - 2 / 12) / 0.18), (3, 2, 0.1, (0.33 - 0.1 / 0.8) / 0.18),
        (30, 0, 0.0, 0.0), (3, 2, 0.3, 1.0),
    ]:  # fmt: skip
        alone = RowsAlone(Seen, 3, 0)
        links = [(0, 1, 1)] * n_same + [(1, 0, 0)] * n_different + [(0, 2, 1)] * 9  # rows 0 and 3 are of one kind
        assert alone.trust_in_number([0, 1, 3], links, eps) == pytest.approx(np.clip(expected, 0, 1))


def test_k_means_finds_what_a_search_over_all_assignments_finds():
    rows = np.random.default_rng(3).normal(size=(8, 2))
    labels = _k_means(rows, 3, np.random.default_rng(0))

    def cost(z):
        z = np.array(z)
        return sum(((rows[z == k] - rows[z == k].mean(axis=0)) ** 2).sum() for k in set(z.tolist()))

    least = min(cost(z) for z in itertools.product(range(3), repeat=8) if len(set(z)) == 3)
    assert cost(labels) == pytest.approx(least)
