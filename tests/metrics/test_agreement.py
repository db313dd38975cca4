"""Agreement of clusters and classes: against counting by hand, and against scikit-learn."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from tests.examples import up_to

from sidelight import metrics
from sidelight.errors import InvalidData

JUDGES = [
    metrics.normalized_mutual_information,
    metrics.purity,
    metrics.pair_precision_recall_f,
    metrics.adjusted_rand_index,
    metrics.clustering_accuracy,
]
labellings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12)


def split(rows):
    true, pred = zip(*rows)
    return list(true), list(pred)


@settings(max_examples=up_to(40))  # scikit-learn takes a while
@given(labellings)
def test_nmi_and_ari_are_those_of_scikit_learn(rows):
    true, pred = split(rows)
    want = sk.normalized_mutual_info_score(true, pred, average_method="arithmetic")
    assert metrics.normalized_mutual_information(true, pred) == pytest.approx(want, abs=1e-9)  # rounding near 0
    assert metrics.adjusted_rand_index(true, pred) == pytest.approx(sk.adjusted_rand_score(true, pred))


@given(labellings)
def test_nmi_follows_its_formula(rows):
    def H(labels):
        p = np.array([labels.count(v) for v in set(labels)]) / len(labels)
        return -(p * np.log(p)).sum()

    true, pred = split(rows)
    information = H(true) + H(pred) - H(rows)
    both = H(true) + H(pred)
    want = 2 * information / both if both > 0 else 1.0
    assert metrics.normalized_mutual_information(true, pred) == pytest.approx(want, abs=1e-9)  # rounding near 0


@given(labellings)
def test_purity_counts_the_most_frequent_class_of_each_cluster(rows):
    true, pred = split(rows)
    want = sum(max(rows.count((t, k)) for t in set(true)) for k in set(pred)) / len(rows)
    assert metrics.purity(true, pred) == pytest.approx(want)


@given(labellings)
def test_pairs_are_counted_as_by_hand(rows):
    pairs = list(combinations(rows, 2))
    true = [a[0] == b[0] for a, b in pairs]
    found = [a[1] == b[1] for a, b in pairs]
    both = sum(t and f for t, f in zip(true, found))
    got = metrics.pair_precision_recall_f(*split(rows))
    if not any(true) and not any(found):
        assert got == (1, 1, 1)
    else:
        assert got.precision == pytest.approx(both / sum(found) if any(found) else 0)
        assert got.recall == pytest.approx(both / sum(true) if any(true) else 0)
        harmonic = 2 * got.precision * got.recall / (got.precision + got.recall) if both else 0
        assert got.f == pytest.approx(harmonic)


@given(labellings)
def test_accuracy_is_the_best_over_all_renamings(rows):
    true, pred = split(rows)
    names = range(5)
    best = max(sum(renamed[p] == t for t, p in rows) for renamed in permutations(names))
    assert metrics.clustering_accuracy(true, pred) == pytest.approx(best / len(rows))


@pytest.mark.parametrize("judge", JUDGES, ids=lambda f: f.__name__)
@settings(max_examples=up_to(30))
@given(rows=labellings, seed=st.integers(0, 99))
def test_neither_names_nor_the_order_of_rows_matter(judge, rows, seed):
    true, pred = split(rows)
    order = np.random.default_rng(seed).permutation(len(rows))
    renamed_true = np.array(["x", "b", "z", "a"])[true][order]
    renamed_pred = [("cluster", 9 - pred[i]) for i in order]
    assert judge(renamed_true, renamed_pred) == pytest.approx(judge(true, pred))


@pytest.mark.parametrize("judge", JUDGES, ids=lambda f: f.__name__)
def test_a_perfect_answer_scores_one_even_when_trivial(judge):
    for truth in ([0, 0, 1, 1, 2], ["one"] * 3, list(range(4)), ["alone"]):
        assert np.min(judge(truth, [f"c{t}" for t in truth])) == 1.0


@pytest.mark.parametrize("judge", JUDGES, ids=lambda f: f.__name__)
def test_bad_labels_are_refused_by_name(judge):
    with pytest.raises(InvalidData, match=rf"{judge.__name__}.*labels_(true|pred) has 2"):
        judge([0, 1], [0, 1, 1])
    with pytest.raises(InvalidData, match="nothing to judge"):
        judge([], [])
    with pytest.raises(InvalidData, match=r"labels_pred.*row 1 holds (np\.float64\()?nan"):
        judge([0, 1], [0.0, float("nan")])


def test_many_singletons_cost_no_table():
    n = 50_000  # a dense table would take 20 GB
    labels = np.arange(n)
    for judge in JUDGES:
        assert np.min(judge(labels, labels[::-1])) == 1.0


def test_a_million_rows_do_not_overflow_the_pairs():
    labels = np.zeros(2_000_000, dtype=np.int64)
    assert metrics.adjusted_rand_index(labels, labels) == 1.0
    halves = np.arange(2_000_000) % 2
    got = metrics.pair_precision_recall_f(halves, labels)
    assert got.precision == pytest.approx(0.5, rel=1e-5)  # up to the pairs of a row with itself
