"""Label trees: what they say, how they are written down, and what they refuse."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight.data.hierarchy import LabelTree
from sidelight.errors import InvalidData, InvalidInput, UnknownName

BIRDS = LabelTree([-1, 0, 0, -1, 1], names=["bird", "wren", "thrush", "frog", "winter wren"])


@st.composite
def trees(draw, max_labels=8):
    n = draw(st.integers(1, max_labels))
    parents = [draw(st.integers(-1, i - 1)) for i in range(n)]
    place = draw(st.permutations(range(n)))
    shuffled = np.empty(n, dtype=int)
    for i, parent in enumerate(parents):
        shuffled[place[i]] = -1 if parent < 0 else place[parent]
    return LabelTree(shuffled, [f"label {i}" for i in range(n)])


@st.composite
def trees_with_labels(draw):
    tree = draw(trees())
    rows = draw(st.integers(0, 5))
    cells = draw(st.lists(st.booleans(), min_size=rows * tree.n_labels, max_size=rows * tree.n_labels))
    return tree, np.array(cells, dtype=bool).reshape(rows, tree.n_labels)


def test_a_tree_knows_its_family():
    assert BIRDS.n_labels == len(BIRDS) == 5
    assert BIRDS.depth == 3
    assert BIRDS.depths.tolist() == [1, 2, 2, 1, 3]
    assert BIRDS.ancestors("winter wren").tolist() == [1, 0]
    assert BIRDS.ancestors(0).tolist() == []
    assert BIRDS.children("bird").tolist() == [1, 2]
    assert BIRDS.tops.tolist() == BIRDS.children(-1).tolist() == [0, 3]
    assert BIRDS.leaves.tolist() == [2, 3, 4]
    assert BIRDS.preorder.tolist() == [0, 1, 4, 2, 3]
    assert BIRDS.edges.tolist() == [[-1, 0], [0, 1], [0, 2], [-1, 3], [1, 4]]


@given(trees())
def test_orders_put_parents_first(tree):
    for order in (tree.order, tree.preorder):
        place = np.argsort(order)
        assert sorted(order) == list(range(tree.n_labels))
        assert all(place[parent] < place[child] for parent, child in tree.edges if parent >= 0)


@given(trees_with_labels())
def test_closing_twice_changes_nothing_more(case):
    tree, Y = case
    closed = tree.close(Y)
    assert np.array_equal(tree.close(closed), closed)
    assert tree.is_consistent(closed)
    assert (closed >= Y).all()
    for row, label in zip(*np.nonzero(closed)):  # nothing is on without a reason
        below = [label, *(i for i in range(tree.n_labels) if label in tree.ancestors(i))]
        assert Y[row, below].any()


@given(trees_with_labels())
def test_sparse_and_dense_labels_are_treated_alike(case):
    tree, Y = case
    closed = tree.close(sp.csr_array(Y.astype(float)))
    assert sp.issparse(closed)
    assert closed.dtype == np.float64
    assert np.array_equal(closed.toarray(), tree.close(Y))
    assert np.array_equal(tree.violations(sp.csr_array(Y)), tree.violations(Y))
    expected = [
        (row, label)
        for row, label in zip(*np.nonzero(Y))
        if tree.parents[label] >= 0 and not Y[row, tree.parents[label]]
    ]
    assert [tuple(pair) for pair in tree.violations(Y)] == expected
    assert tree.is_consistent(Y) == (not expected)


def test_the_label_matrix_of_the_user_is_left_alone():
    Y = sp.csr_array((np.array([0.0, 1.0]), np.array([0, 4]), np.array([0, 2])), shape=(1, 5))
    assert BIRDS.close(Y).toarray().tolist() == [[1, 1, 0, 0, 1]]
    assert Y.nnz == 2
    dense = np.eye(5, dtype=int)
    BIRDS.close(dense)
    assert np.array_equal(dense, np.eye(5))


@given(trees())
def test_written_then_read_is_the_same_tree(tree):
    assert LabelTree.from_text(tree.to_text(), names=tree.names) == tree
    assert LabelTree.from_text(tree.to_text("\t"), names=tree.names) == tree
    named = [(None if p < 0 else tree.names[p], tree.names[c]) for p, c in tree.edges]
    assert LabelTree.from_edges(named, names=tree.names) == tree
    assert LabelTree.__unarchive__(tree.__archive__()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree
    assert tree != LabelTree(tree.parents, [f"other {i}" for i in range(tree.n_labels)])


def test_a_saved_tree_is_loaded_as_it_was(tmp_path):
    sl.save(BIRDS, tmp_path / "tree.sidelight")
    assert sl.load(tmp_path / "tree.sidelight") == BIRDS


def test_paths_name_every_prefix():
    tree = LabelTree.from_paths(["01/03/05", "01/04", "02"])
    assert tree.names == ("01", "01/03", "01/03/05", "01/04", "02")
    assert tree.parents.tolist() == [-1, 0, 1, 0, -1]
    assert LabelTree.from_paths(["comp.sys.mac"], separator=".").depth == 3


@given(trees(max_labels=12))
def test_the_drawing_is_tidy(tree):
    xy = tree.layout()
    assert np.array_equal(xy[:, 1], tree.depths)
    for level in range(1, tree.depth + 1):
        x = np.sort(xy[tree.depths == level, 0])
        assert (np.diff(x) >= 1 - 1e-9).all()  # rounding of centres
    for label in range(tree.n_labels):
        below = tree.children(label)
        if len(below):
            assert xy[label, 0] == pytest.approx((xy[below, 0].min() + xy[below, 0].max()) / 2)


def test_trees_print_what_they_hold():
    assert repr(BIRDS) == "LabelTree(5 labels, 3 leaves, depth 3; 2 at the top: bird, frog)"
    page = LabelTree([-1, 0], names=["<b>", "x & y"])._repr_html_()
    assert "&lt;b&gt;" in page
    assert "x &amp; y" in page
    assert page.count("<ul>") == page.count("</ul>") == 2


def test_trees_are_frozen():
    with pytest.raises(AttributeError):
        BIRDS.names = ()
    with pytest.raises(ValueError, match="read-only"):
        BIRDS.parents[0] = 1


def test_a_long_chain_is_no_problem():
    chain = LabelTree(np.arange(-1, 4999))
    assert chain.depth == 5000
    assert LabelTree.from_text(chain.to_text()) == chain


REFUSED = {
    "cycle": (lambda: LabelTree([1, 2, 0, 0], names="abcd"), "got 'abcd'"),
    "shown cycle": (lambda: LabelTree([1, 2, 0, 0], names=list("abcd")), "'a' -> 'b' -> 'c' -> 'a'"),
    "own parent": (lambda: LabelTree([-1, 1]), "'1' -> '1'"),
    "range": (lambda: LabelTree([-1, 7]), r"label 1 \('1'\) has the parent 7"),
    "below the root": (lambda: LabelTree([-2]), "has the parent -2"),
    "twice": (lambda: LabelTree([-1, 0], names=["x", "x"]), "labels 0 and 1 are both named 'x'"),
    "too few names": (lambda: LabelTree([-1, 0], names=["x"]), "2 labels but 1 names"),
    "unnamed": (lambda: LabelTree([-1, 0], names=["x", float("nan")]), "label 1 has no name: it is nan"),
    "names without order": (lambda: LabelTree([-1, 0], names={"x", "y"}), "must be a sequence"),
    "childless edge": (lambda: LabelTree.from_edges([("a", float("nan"))]), "edge 0 has no child"),
    "no edges": (lambda: LabelTree.from_edges([]), "from_edges: there is no label"),
    "no text": (lambda: LabelTree.from_text(" \n"), "from_text: there is no label"),
    "blank": (lambda: LabelTree([-1], names=[" "]), "label 0 is named ' '"),
    "empty": (lambda: LabelTree([]), "non-empty"),
    "floats": (lambda: LabelTree([-1.0, 0.0]), "array of ints"),
    "two parents": (lambda: LabelTree.from_edges([("a", "c"), ("b", "c")]), "'c' has two parents, 'a' and 'b'"),
    "edge cycle": (lambda: LabelTree.from_edges([("a", "b"), ("b", "a")]), "their own ancestors"),
    "half an edge": (lambda: LabelTree.from_edges([("a",)]), "edge 0 must be"),
    "path": (lambda: LabelTree.from_paths(["01//3"]), "'01//3' is not a path"),
    "indent": (lambda: LabelTree.from_text("a\n    b\n  c"), r"line 3 \('c'\) is indented by 2"),
    "repeated line": (lambda: LabelTree.from_text("a\nb\na"), "line 3 repeats the name 'a'"),
    "columns": (lambda: BIRDS.close(np.eye(3)), "one column for each of the 5 labels"),
    "values": (lambda: BIRDS.close(np.full((1, 5), 2)), "0 and 1"),
    "label": (lambda: BIRDS.ancestors(9), "label 9 is out of range"),
}


def test_a_frame_of_edges_makes_a_tree_and_a_gap_is_the_root():
    edges = {"parent": [None, "bird", None], "child": ["bird", "wren", "frog"]}
    for frame in (pd.DataFrame(edges), pl.DataFrame(edges)):
        assert LabelTree.from_edges(frame).to_text() == "bird\n  wren\nfrog"
    assert LabelTree.from_edges([(float("nan"), "frog")]).names == ("frog",)


@pytest.mark.parametrize("case", REFUSED)
def test_bad_trees_are_refused_with_the_culprit(case):
    make, message = REFUSED[case]
    with pytest.raises(InvalidData, match=message):
        make()


def test_an_unknown_label_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="'wren'"):
        BIRDS.children("wrenn")
    with pytest.raises(UnknownName, match="'c' is not among the given names"):
        LabelTree.from_edges([("a", "c")], names=["a", "b"])


def valid_or_refused(make) -> bool:
    try:
        tree = make()
    except InvalidInput as error:
        return "LabelTree" in str(error)
    reaches_root = all(len(tree.ancestors(i)) < tree.n_labels for i in range(tree.n_labels))
    return reaches_root and len(set(tree.names)) == tree.n_labels


numbers = st.lists(st.one_of(st.integers(-3, 5), st.floats(allow_nan=True), st.none()), max_size=6)
whole = st.lists(st.integers(-2, 5), min_size=1, max_size=6)
some_names = st.one_of(st.none(), st.lists(st.one_of(st.text(max_size=2), st.integers(0, 3), st.none()), max_size=6))


@given(st.one_of(whole, numbers, st.none(), st.text(max_size=3)), some_names)
def test_any_parents_give_a_tree_or_a_message(parents, names):
    assert valid_or_refused(lambda: LabelTree(parents, names))


@given(st.lists(st.tuples(st.sampled_from([None, "a", "b", "c", 4]), st.sampled_from([None, "a", "b", "c", ""]))))
def test_any_edges_give_a_tree_or_a_message(edges):
    assert valid_or_refused(lambda: LabelTree.from_edges(edges))


@given(st.text(alphabet="ab \t\n/", max_size=20))
def test_any_text_gives_a_tree_or_a_message(text):
    assert valid_or_refused(lambda: LabelTree.from_text(text))
    assert valid_or_refused(lambda: LabelTree.from_paths(text.split()))


@pytest.mark.data
def test_gene_functions_have_their_499_nodes(data_dir):
    lines = next((data_dir / "church_fun").glob("*.arff")).read_text().splitlines()
    header = next(line for line in lines if "hierarchical" in line)
    paths = header.split("hierarchical")[1].strip().split(",")
    tree = sl.LabelTree.from_paths([path.strip() for path in paths])
    assert tree.n_labels == 499
    assert len(tree.tops) == 18
