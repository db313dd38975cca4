"""Novel labels, against the double sums of the paper; and bags that end in one cluster."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.metrics import novel_bag_f1, novel_instance_f1, novel_instance_scores, single_cluster_share

labels = st.integers(0, 5)
KNOWN = [0, 1, 2]


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=12))
def test_f_inl_equals_the_double_sum_of_the_paper(rows):
    both = found = true = 0
    for (ti, hi), (tj, hj) in combinations(rows, 2):
        both += (hi == hj) and (ti == tj) and ti not in KNOWN and hi not in KNOWN
        found += (hi == hj) and hi not in KNOWN
        true += (ti == tj) and ti not in KNOWN
    t, h = map(list, zip(*rows))
    got = novel_instance_scores(t, h, KNOWN)
    if found == true == 0:
        assert got == (1, 1, 1)
    else:
        assert got.precision == pytest.approx(both / found if found else 0)
        assert got.recall == pytest.approx(both / true if true else 0)
        assert novel_instance_f1(t, h, KNOWN) == got.f == pytest.approx(2 * both / (found + true))


def test_names_of_novel_labels_need_not_match():
    true = ["wren", "x", "x", "y", "y"]
    assert novel_instance_f1(true, ["wren", "novel-1", "novel-1", "novel-2", "novel-2"], ["wren"]) == 1.0
    assert novel_instance_f1(true, ["wren", "novel-1", "novel-1", "novel-1", "novel-1"], ["wren"]) == 0.5


def test_known_labels_as_one_string_are_refused():
    with pytest.raises(InvalidParameter, match=r"try \['wren'\]"):
        novel_instance_f1(["wren"], ["wren"], "wren")


@st.composite
def bag_labels(draw):
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    n, n_known = draw(st.integers(1, 8)), draw(st.integers(0, 2))
    widths = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    return *(rng.integers(0, 2, size=(n, n_known + w)) for w in widths), n_known


@given(bag_labels())
def test_f_bnl_takes_the_best_true_label_for_each_predicted_one(case):
    Y, G, n_known = case

    def f1(g, y):
        return 2 * (g & y).sum() / (g.sum() + y.sum()) if g.any() or y.any() else 0.0

    want = np.mean([max(f1(g, y) for y in Y.T[n_known:]) for g in G.T[n_known:]])
    assert novel_bag_f1(Y, G, n_known) == pytest.approx(want)
    for sparse in (csr_array, csr_matrix):
        assert novel_bag_f1(sparse(Y), sparse(G), n_known) == pytest.approx(want)
    assert novel_bag_f1(csr_array(Y), G.astype(bool), n_known) == pytest.approx(want)


def test_f_bnl_without_novel_labels():
    one = np.ones((3, 1), dtype=int)
    assert novel_bag_f1(one, one, 1) == 1.0
    assert novel_bag_f1(np.ones((3, 2)), one, 1) == 0.0
    assert novel_bag_f1(one, np.ones((3, 2)), 1) == 0.0


def test_f_bnl_refuses_what_does_not_fit():
    with pytest.raises(InvalidData, match="same bags"):
        novel_bag_f1(np.ones((3, 1)), np.ones((2, 1)))
    with pytest.raises(InvalidData, match="4 known labels"):
        novel_bag_f1(np.ones((3, 1)), np.ones((3, 2)), 4)
    with pytest.raises(InvalidData, match=r"Y_pred to hold zeros and ones only; got 0\.5"):
        novel_bag_f1(np.ones((3, 1)), np.full((3, 1), 0.5))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=15))
def test_single_cluster_share_equals_a_loop_over_bags(rows):
    clusters, bags = map(list, zip(*rows))
    n_labels = {bag: bag % 3 for bag in set(bags)}
    several = [b for b in set(bags) if n_labels[b] >= 2 and bags.count(b) >= 2]
    alone = [len({c for c, other in rows if other == b}) == 1 for b in several]
    got = single_cluster_share(clusters, bags, n_labels)
    if several:
        assert got == pytest.approx(np.mean(alone))
    else:
        assert np.isnan(got)
    in_order = [n_labels[b] for b in dict.fromkeys(bags)]
    np.testing.assert_equal(single_cluster_share(clusters, np.array(bags), in_order), got)


def test_a_bags_object_knows_its_labels():
    bags = sl.Bags(["r1", "r1", "r2", "r2", "r3", "r3"], labels={"r1": {"wren", "owl"}, "r2": {"owl"}})
    clusters = ["a", "a", "a", "b", "c", "c"]
    assert single_cluster_share(clusters, bags) == 1.0
    assert single_cluster_share(clusters, bags, {"r1": 1, "r2": 2, "r3": 1}) == 0.0


def test_single_cluster_share_asks_for_what_is_missing():
    with pytest.raises(InvalidParameter, match="needs n_labels"):
        single_cluster_share([0, 0], ["r", "r"])
    with pytest.raises(InvalidData, match="bag 's'"):
        single_cluster_share([0, 0], ["r", "s"], {"r": 2})
    with pytest.raises(InvalidData, match="2 bags"):
        single_cluster_share([0, 0], ["r", "s"], [2])
    with pytest.raises(InvalidData, match="labels has 3, bags has 2"):
        single_cluster_share([0, 0, 1], ["r", "s"], [2, 2])
