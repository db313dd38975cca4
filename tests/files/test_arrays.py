"""Named arrays: which are views, labels, candidates, bags and names, by their names and by what fits together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sidelight.errors import InvalidData, SidelightError
from sidelight.files.arrays.bundles import read_bundle
from sidelight.files.arrays.npz import from_matrices
from sidelight.files.roles.plan import ASKED, LIKELY, asked

A = np.arange(18.0).reshape(6, 3) / 7  # three views of six rows
B = np.arange(24.0).reshape(6, 4) / 11
C = np.arange(30.0).reshape(6, 5) / 13
GT = np.array([1, 2, 3, 1, 2, 3])
KINDS = GT.astype(str).tolist()
HOT = np.eye(3)[GT - 1]


def of(arrays, **said):
    """Read arrays as if they came from an archive."""
    data = from_matrices(Path("a.npz"), "NPZ", arrays, asked(**said))
    assert (data.path, data.format) == ("a.npz", "NPZ")
    return data


def role_of(data):
    """Return the role of every array, by its name."""
    return {role.name: role.role for role in data.roles}


def views_of(data):
    """Return the width of every channel."""
    return {name: part.stop - part.start for name, part in (data.channels or {}).items()}


def cell(*members):
    """Return a cell array."""
    out = np.empty(len(members), dtype=object)
    out[:] = members
    return out


# ---- views


def test_views_stand_side_by_side_and_a_vector_says_what_rows_are():
    data = of({"X1": A, "X2": B.T, "gt": GT, "note": np.array(3)})
    assert np.array_equal(data.X, np.hstack([A, B]))
    assert data.channels == {"X1": slice(0, 3), "X2": slice(3, 7)}
    assert data.feature_names == ("X1_1", "X1_2", "X1_3", "X2_1", "X2_2", "X2_3", "X2_4")
    assert data.truth.tolist() == KINDS
    assert role_of(data) == {"X1": "feature", "X2": "feature", "gt": "truth", "note": "ignored"}
    assert {role.name: role.sure for role in data.roles}["X2"] == LIKELY
    assert {role.name: role.sure for role in data.roles}["X1"] == 0.9
    assert not data.doubts


def test_views_of_different_names_are_asked_about_and_the_largest_is_the_other_reading():
    data = of({"audio": A, "video": B, "gt": GT})
    assert [dict(r) for _, r in data.doubts[0].readings] == [
        {"channels": {"audio": ["audio"], "video": ["video"]}}, {"features": "video"},
    ]  # fmt: skip
    assert {role.sure for role in data.roles if role.role == "feature"} == {ASKED}
    assert [dict(r) for _, r in of({"audio": C, "video": B, "gt": GT}).doubts[0].readings][1] == {"features": "audio"}


def test_views_are_chosen_by_names_and_patterns():
    for said, expected in [
        ({"features": "audio"}, ["audio"]),
        ({"features": "aud*"}, ["audio"]),
        ({"features": ["audio", "video"]}, ["audio", "video"]),
        ({"features": "?id*"}, ["video"]),
        ({"ignore": "video"}, ["audio"]),
        ({"ignore": "vid*"}, ["audio"]),
        ({"ignore": ["video"]}, ["audio"]),
        ({"channels": {"audio": "aud*", "video": ["vid*"]}}, ["audio", "video"]),
    ]:
        data = of({"audio": A.T, "video": B.T, "gt": GT}, **said)
        assert data.X.shape[1] == sum({"audio": 3, "video": 4}[name] for name in expected)
        assert list(views_of(data)) == (expected if len(expected) > 1 else [])
        assert not data.doubts


def test_a_name_comes_before_the_pattern_that_it_is_and_a_cell_stands_for_its_views():
    arrays = {"v[1]": A, "v1": B.T, "gt": GT}
    assert views_of(of(arrays, channels={"a": "v[1]", "b": "v1"})) == {"a": 3, "b": 4}
    arrays = {"X": cell(A, B), "other": C, "gt": GT}
    assert views_of(of(arrays, channels={"a": "X", "b": "other"})) == {"a": 7, "b": 5}
    assert views_of(of(arrays, features="X")) == {"X1": 3, "X2": 4}
    with pytest.raises(SidelightError, match="nothing"):
        of(arrays, features="nothing")


def test_rows_of_a_test_set_and_matrices_of_likeness_are_no_views():
    assert views_of(of({"X1": A, "X2": B, "X3_test": C, "gt": GT})) == {"X1": 3, "X2": 4}
    assert views_of(of({"X1": A, "X2": B, "K": np.ones((6, 6)) / 3, "gt": GT})) == {"X1": 3, "X2": 4}


def test_a_matrix_lies_on_its_side_where_its_columns_are_the_rows_or_somebody_says_so():
    assert np.array_equal(of({"X": A.T, "gt": GT}).X, A)
    square = np.arange(36.0).reshape(6, 6) / 7
    assert np.array_equal(of({"K": square, "gt": GT}).X, square)
    assert np.array_equal(of({"K": square, "gt": GT}, transpose="K").X, square.T)
    assert np.array_equal(of({"K": square, "gt": GT}, transpose=["k*", "K*"]).X, square.T)
    assert np.array_equal(of({"K1": square, "gt": GT}, transpose="K").X, square)


def test_a_view_of_other_rows_is_refused():
    with pytest.raises(InvalidData, match="expected 6 rows"):
        of({"X1": A, "X2": np.ones((5, 4)) / 3, "gt": GT}, features=["X1", "X2"])


def test_sparse_views_stay_sparse():
    data = of({"X1": A, "X2": sp.csr_array(B), "gt": GT})
    assert sp.issparse(data.X)
    assert np.array_equal(data.X.toarray(), np.hstack([A, B]))


def test_one_matrix_the_right_way_up_is_no_bundle():
    wanted = asked()
    assert read_bundle(Path("a"), "NPZ", {"X": A, "gt": GT}, wanted) is None
    assert read_bundle(Path("a"), "NPZ", {"X": A}, wanted) is None
    assert read_bundle(Path("a"), "NPZ", {"X": A, "gt": GT}, asked(channels={"a": "X"})) is not None


# ---- how many rows


def test_how_many_rows_there_are():
    for arrays, n in [
        ({"X": np.ones((6, 4)) / 3, "Z": C, "a": np.arange(4), "label": GT}, 6),
        ({"X": np.ones((6, 4)) / 3, "Z": np.ones((4, 7)) / 3, "label": np.arange(4), "a": GT}, 4),
        ({"X": A.T, "Z": B.T, "a": GT}, 6),
        ({"X": A.T, "Z": B.T, "a": GT, "b": np.arange(9)}, 6),
        ({"X": A, "Z": B}, 6),
        ({"X": A.T, "Z": B.T}, 6),
        ({"X": A, "Z": B.T}, 6),
        ({"X": A, "Z": B, "Y_test": np.ones((9, 9))}, 6),
        ({"X": A, "Z": A}, None),
        ({"X": A, "Z": np.ones((5, 4))}, None),
        ({"X": A, "Z": B, "a": np.arange(9)}, None),  # a vector that fits nothing
        ({"X": A, "X_test": B}, None),
        ({"X": cell(A, B)}, 6),
        ({"X": cell(A.T, B.T)}, 6),
        ({"X": cell(*(np.ones((6, k + 2)) / 3 for k in range(6)))}, 6),
        ({"X": cell(*(np.ones((6, k + 2)) / 3 for k in range(7)))}, None),
        ({"X": cell(*(np.ones((6, k + 2)) for k in range(7)))}, 6),  # with marks
        ({"X": cell(A, B), "Z": np.ones((2, 6)) / 3}, None),  # a row of Z for each: bags
    ]:
        data = read_bundle(Path("a"), "NPZ", arrays, asked())
        assert (None if data is None else data.n_rows) == n
        assert data is None or any(note.startswith(f"{n} rows, by") for note in data.notes)


def test_the_vector_that_was_said_says_how_many_rows_there_are():
    arrays = {"X": np.ones((6, 4)) / 3, "Z": np.ones((4, 6)) / 3, "label": GT, "a": np.arange(4)}
    assert of(arrays, label="a").n_rows == 4
    assert of(arrays).n_rows == 6


def test_a_vector_is_of_whole_numbers_or_words():
    for vector, fits in [
        (GT, True),
        (GT[:, None], True),
        (GT[None, :], True),
        (GT.astype(float), True),
        (GT > 1, True),
        (np.array(list("abcabc")), True),
        (np.array([b"a", b"b", b"\xff", b"a", b"b", b"c"]), True),
        (GT + 0.5, False),
        (np.where(GT > 2, np.nan, GT), False),
        (np.where(GT > 2, np.inf, GT), False),
        (GT[:1], False),
        (np.array([None] * 6), False),
    ]:
        data = read_bundle(Path("a"), "NPZ", {"X": A.T, "gt": vector}, asked())
        assert (data is not None) == fits
        if fits and vector.dtype.kind == "S":
            assert data.y.tolist() == ["a", "b", "\ufffd", "a", "b", "c"]


def test_a_cell_of_copies_of_one_vector_is_that_vector():
    def views(*members):
        return role_of(of({"X": cell(A.T, B.T), "gt": cell(*members)}))["gt"]

    assert views(GT, GT) == "truth"
    assert views(GT, GT[::-1]) == "ignored"
    assert views(GT, GT[:3]) == "ignored"
    assert views(GT, GT[:, None]) == "truth"
    assert views(GT, GT + 0.5) == "ignored"


# ---- cells


def test_views_in_a_cell_are_asked_about_only_where_nothing_else_lies_beside_them():
    data = of({"X": cell(A, B)})
    assert [dict(r) for _, r in data.doubts[0].readings] == [
        {"channels": {"X1": ["X1"], "X2": ["X2"]}}, {"features": "X"},
    ]  # fmt: skip
    data = of({"X": cell(A, B), "gt": GT})
    assert not data.doubts
    assert role_of(data) == {"X1": "feature", "X2": "feature", "X": "feature", "gt": "truth"}
    assert not of({"X": cell(A, B), "Y": np.ones((6, 2))}).doubts


# ---- labels, candidates and the truth


SETS = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda m: 2 * m - 1])
def test_a_matrix_of_marks_beside_numbers_holds_the_labels(turned, form):
    data = of({"X": B, "M": form(SETS.T if turned else SETS)})
    assert data.Y.tolist() == SETS.tolist()
    assert data.label_names == ("1", "2", "3")
    assert role_of(data)["M"] == "label"


def test_one_mark_a_row_is_a_label_of_one_view_and_the_truth_of_several():
    assert of({"X": B, "M": HOT}).y.tolist() == KINDS
    data = of({"X1": A, "X2": B, "M": HOT})
    assert (data.y, data.truth.tolist(), role_of(data)["M"]) == (None, KINDS, "truth")
    data = of({"X1": A, "X2": B, "M": SETS})
    assert (data.truth, role_of(data)["M"]) == (None, "label")
    assert of({"X1": A, "X2": B, "M": HOT}, label=False).truth is None


def test_marks_beside_a_vector_of_labels_are_a_view_unless_they_are_called_labels():
    assert views_of(of({"X1": A, "M": SETS, "gt": GT})) == {"X1": 3, "M": 3}
    data = of({"X1": A, "targets": SETS, "gt": GT})
    assert (data.Y.tolist(), data.truth.tolist()) == (SETS.tolist(), KINDS)
    assert views_of(of({"X1": A, "targets": SETS, "gt": GT}, features=["X1", "tar*"])) == {"X1": 3, "targets": 3}
    assert views_of(of({"X1": A, "targets": SETS, "gt": GT}, features="*")) == {"X1": 3, "targets": 3}


def test_of_two_matrices_of_labels_the_one_that_was_said_is_read():
    arrays = {"X": B, "labels1": SETS, "labels2": 1 - SETS}
    assert of(arrays).Y.tolist() == SETS.tolist()
    assert of(arrays, label="labels2").Y.tolist() == (1 - SETS).tolist()
    assert of(arrays, label="labels1").Y.tolist() == SETS.tolist()


MAYBE = np.clip(HOT + np.roll(HOT, 1, axis=1), 0, 1)


def test_the_larger_of_two_matrices_lists_candidates_and_the_smaller_is_the_truth():
    for arrays in ({"X": B, "M": MAYBE, "N": HOT}, {"X": B, "N": HOT, "M": MAYBE}):
        data = of(arrays)
        assert data.candidates.tolist() == MAYBE.tolist()
        assert (data.truth.tolist(), data.label_names) == (KINDS, ("1", "2", "3"))
        assert role_of(data) == {"X": "feature", "M": "candidates", "N": "truth"}
    gaps = HOT * (GT[:, None] != 2)
    assert of({"X": B, "M": MAYBE, "N": gaps}).truth.tolist() == ["1", "", "3", "1", "", "3"]
    assert of({"X": B, "M": MAYBE, "N": HOT}, candidates=False).candidates is None


def test_other_pairs_of_matrices_are_no_candidates():
    for inner in [
        MAYBE,  # the same
        HOT[::-1],  # not inside
        np.minimum(MAYBE, np.where(GT[:, None] == 1, MAYBE, HOT)),  # two in a row
        HOT[:, :2],
    ]:
        assert of({"X": B, "M": MAYBE, "N": inner}).candidates is None


def test_candidates_that_were_said():
    arrays = {"X": B, "M": MAYBE, "N": HOT, "O": SETS}
    data = of(arrays, candidates="M")
    assert (data.candidates.tolist(), data.truth.tolist()) == (MAYBE.tolist(), KINDS)
    data = of(arrays, candidates="M", truth="O")
    assert role_of(data)["O"] == "truth"
    data = of({"X": B, "M": MAYBE, "wide": np.hstack([HOT, HOT])}, candidates="M", label=False)
    assert data.truth is None
    data = of({"X": B, "M": MAYBE, "gt": GT}, candidates="M")
    assert (data.candidates.tolist(), data.truth.tolist()) == (MAYBE.tolist(), KINDS)


def test_a_vector_is_the_label_of_one_view_and_the_truth_of_several_unless_it_was_said():
    assert of({"X": A.T, "gt": GT}).y.tolist() == KINDS
    assert of({"X1": A, "X2": B, "gt": GT}).y is None
    assert of({"X1": A, "X2": B, "gt": GT}, label="gt").y.tolist() == KINDS
    data = of({"X1": A, "X2": B, "gt": GT}, label=False)
    assert (data.y, data.truth) == (None, None)
    two = {"X1": A, "X2": B, "gt": GT, "more": GT[::-1]}
    assert of(two).truth.tolist() == KINDS
    assert of(two, truth="more").truth.tolist() == KINDS[::-1]
    assert of(two, label="more").y.tolist() == KINDS[::-1]
    assert of({"X1": A, "X2": B, "short": np.arange(3), "m": GT}).truth.tolist() == KINDS
    with pytest.raises(SidelightError, match="nothing"):
        of(two, label="nothing")


# ---- one matrix, and arrays beside it


def test_arrays_beside_the_features_are_known_by_name_and_length():
    data = of({"X": A, "bags": np.array(list("aabbcc")), "ids": GT * 10 + np.arange(6), "y": np.array(KINDS),
               "sequence": np.array([1.0, 1, 1, 2, 2, 2]), "feature_names": np.array(["u", "v", "w"])})  # fmt: skip
    assert data.feature_names == ("u", "v", "w")
    assert data.row_ids.tolist() == [10, 21, 32, 13, 24, 35]
    assert data.sequence.tolist() == [1, 1, 1, 2, 2, 2]
    assert dict(data.bags.labels) == {"a": {"1", "2"}, "b": {"1", "3"}, "c": {"2", "3"}}
    assert data.bags.classes == ("1", "2", "3")
    assert data.y.tolist() == KINDS
    assert {role.name: (role.role, role.kind) for role in data.roles} == {
        "X": ("feature", "number"), "bags": ("bag", "text"), "ids": ("id", "number"),
        "sequence": ("sequence", "number"), "y": ("label", "text"), "feature_names": ("ignored", "number"),
    }  # fmt: skip


def test_what_was_said_of_arrays_is_obeyed():
    arrays = {"X": A, "W": B, "other": np.array(list("aabbcc")), "bags": GT, "short": GT[:3]}
    assert of(arrays, bag="other").bags.names == ("a", "b", "c")
    assert of(arrays, bag=False, id=False).bags is None
    assert of(arrays, id="other", bag=False).row_ids.tolist() == list("aabbcc")
    assert of(arrays, features="W").X.shape == (6, 4)
    assert of(arrays).X.shape == (6, 3)
    for wrong in ({"bag": "short"}, {"bag": "nothing"}, {"features": "nothing"}, {"features": "short"}):
        with pytest.raises(SidelightError, match=r"short|nothing"):
            of(arrays, **wrong)


def test_labels_may_speak_of_bags():
    bags = np.array(list("aabbcc"))
    assert dict(of({"X": A, "bags": bags, "y": GT[:3]}).bags.labels) == {"a": {"1"}, "b": {"2"}, "c": {"3"}}
    own = np.array(["u|v", "u", "v"])
    data = of({"X": A, "bags": bags, "bag_labels": own})
    assert dict(data.bags.labels) == {"a": {"u", "v"}, "b": {"u"}, "c": {"v"}}
    data = of({"X": A, "bags": bags, "bag_labels": own, "y": GT})
    assert dict(data.bags.labels) == {"a": {"u", "v"}, "b": {"u"}, "c": {"v"}}
    assert data.y.tolist() == KINDS
    assert data.label_names == ("1", "2", "3")
    assert of({"X": A, "bags": bags}).bags.classes == ()
    with pytest.raises(InvalidData, match="6 rows or 3 bags"):
        of({"X": A, "bags": bags, "y": GT[:4]})


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_matrix_of_labels_beside_names_of_features(form):
    names = {"feature_names": np.array(["u", "v", "w"])}
    data = of({"X": A, "y": form(SETS[:, :2]), "label_names": np.array(["p", "q"])} | names)
    assert (data.label_names, data.Y.tolist()) == (("p", "q"), SETS[:, :2].tolist())
    data = of({"X": A, "y": form(2 * SETS[:, :2] - 1)} | names)
    assert (data.label_names, data.Y.tolist()) == (("0", "1"), SETS[:, :2].tolist())
    data = of({"X": A, "y": form(SETS), "bags": np.array(list("aabbcc"))} | names)
    assert dict(data.bags.labels) == {"a": {"0", "1"}, "b": {"0", "2"}, "c": {"1"}}
    assert data.Y is None
    assert of({"X": A, "y": GT[:, None]} | names).y.tolist() == KINDS


def test_names_of_rows_from_arrays_of_every_kind():
    for ids, read in [
        (np.array([b"a", b"\xff", b"c", b"d", b"e", b"f"]), ["a", "\ufffd", "c", "d", "e", "f"]),
        (np.arange(6.0), [0, 1, 2, 3, 4, 5]),
        (np.arange(6) + 0.5, ["0.5", "1.5", "2.5", "3.5", "4.5", "5.5"]),
        (np.array([0, 1, 2, 3, 4, 2.0**53]), ["0", "1", "2", "3", "4", "9.0072e+15"]),
        (np.array([0, 1, 2, 3, 4, 2.0**53 - 1]), [0, 1, 2, 3, 4, 2**53 - 1]),
        (np.array([0, 1, 2, 3, 4, np.inf]), ["0", "1", "2", "3", "4", "inf"]),
        (np.arange(6, dtype=np.uint8), [0, 1, 2, 3, 4, 5]),
    ]:
        assert of({"X": A, "ids": ids}).row_ids.tolist() == read


def test_the_largest_matrix_holds_the_features_and_deeper_arrays_are_unfolded():
    ids = {"ids": np.arange(6)}
    assert of({"u": A, "v": C, "w": B} | ids).X.shape == (6, 5)
    assert of({"v": C, "X": A} | ids).X.shape == (6, 3)
    assert np.array_equal(of({"X": np.arange(24).reshape(6, 2, 2)} | ids).X, np.arange(24).reshape(6, 4))
    assert sp.issparse(of({"X": sp.csr_array(A)} | ids).X)
    for nothing in ({"X": np.arange(6)}, {"X": np.empty((0, 3))}, {"X": np.array([["a", "b"]] * 6)}):
        with pytest.raises(InvalidData, match="expected a matrix"):
            of(nothing | ids)
        with pytest.raises(InvalidData, match="expected a matrix"):
            of(nothing | ids, features="X")
