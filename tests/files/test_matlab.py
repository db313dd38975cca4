"""MATLAB files: bags in cells and structs, plain matrices, and what the guard lets pass."""

from __future__ import annotations

import io
import struct
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from tests.files.test_sparse_files import element, ints, matlab_file, sparse_variable

import sidelight as sl
from sidelight.errors import InvalidData, SidelightError, UnreadableFile
from sidelight.files.matlab.bags import read_miml
from sidelight.files.matlab.reading import check_mat5
from sidelight.files.roles.plan import asked

X = np.arange(24.0).reshape(6, 4) / 7
BAGS = [np.arange(10.0).reshape(2, 5), np.arange(20.0).reshape(4, 5) / 3, np.arange(15.0).reshape(3, 5) / 7]


def cell(*members):
    """Return a cell array."""
    out = np.empty((len(members), 1), dtype=object)
    out[:, 0] = members
    return out


def miml(variables, name="bags", **said):
    """Read a cell array of bags."""
    return read_miml(Path("a.mat"), variables, asked(**said), name)


def read(tmp_path, variables, **said):
    """Write variables and read them again."""
    scipy.io.savemat(tmp_path / "a.mat", variables)
    data = sl.read(tmp_path / "a.mat", **said)
    assert data.path == str(tmp_path / "a.mat")
    return data


def role_of(data):
    """Return the role of every variable, by its name."""
    return {role.name: role.role for role in data.roles}


# ---- cells of bags


@pytest.mark.parametrize("turned", [False, True])
def test_classes_of_rows_lie_in_a_cell_beside_the_bags(turned):
    rows = cell(np.array([[1, 2]]), np.array([[3], [1], [1], [2]]), np.array([[9, 9, 1]]))
    variables = {"bags": cell(*(b.T if turned else b for b in BAGS)), "rows": rows}
    data = miml(variables)
    assert np.array_equal(data.X, np.concatenate(BAGS))
    assert data.y.tolist() == ["1", "2", "3", "1", "1", "2", "9", "9", "1"]
    assert data.label_names == ("1", "2", "3", "9")
    assert role_of(data) == {"bags": "feature", "rows": "label"}
    data = miml(variables | {"marks": np.eye(3)})
    assert data.label_names == ("1", "2", "3")
    assert dict(data.bags.labels) == {1: {"1"}, 2: {"2"}, 3: {"3"}}


@pytest.mark.parametrize(("n", "shape"), [(3, (6, 2)), (2, (4, 3)), (None, (4, 3))])
def test_the_classes_of_rows_say_which_way_bags_of_one_size_lie(n, shape):
    bags = {"bags": cell(np.arange(6.0).reshape(2, 3), np.ones((2, 3)))}
    data = miml(bags | ({} if n is None else {"rows": cell(np.ones((n, 1)), np.ones((n, 1)))}))
    assert data.X.shape == shape
    assert any("rows were taken" in note for note in data.notes) == (n is None)


def test_square_bags_stay_as_they_are():
    square = np.arange(9.0).reshape(3, 3)
    data = miml({"bags": cell(square, square), "rows": cell(np.ones((3, 1)), np.ones((3, 1)))})
    assert np.array_equal(data.X[:3], square)
    data = miml({"bags": cell(square, np.empty((0, 3)))})
    assert not any("rows were taken" in note for note in data.notes)


def test_other_cells_are_no_classes_of_rows():
    for rows in [
        cell(np.ones((2, 1)), np.ones((4, 1))),  # two for three bags
        cell(np.ones((2, 1)), np.ones((4, 1)), np.ones((2, 1))),
        cell(np.ones((2, 1)), np.ones((4, 1)), np.ones((3, 2))),
        cell(np.ones((2, 1)), np.ones((4, 1)), np.array(["abc"])),
        cell(np.ones((2, 1)), np.ones((4, 1)), np.empty((0, 0))),
        np.ones((3, 4)) / 3,
    ]:
        assert miml({"bags": cell(*BAGS), "rows": rows}).y is None


def test_bags_without_rows_are_left_out_with_their_labels():
    bags = cell(BAGS[0], np.empty((0, 5)), BAGS[2])
    marks = np.array([[1, 0], [0, 1], [1, 1]])
    data = miml({"bags": bags, "marks": marks})
    assert dict(data.bags.labels) == {1: {"1"}, 3: {"1", "2"}}
    assert any("1 bags without rows" in note for note in data.notes)
    assert not any("without rows" in note for note in miml({"bags": cell(*BAGS)}).notes)
    rows = cell(np.array([[1, 2]]), np.empty((0, 0)), np.array([[9, 9, 1]]))
    assert miml({"bags": bags, "rows": rows}).y.tolist() == ["1", "2", "9", "9", "1"]


def test_bags_that_share_no_dimension_are_refused():
    with pytest.raises(InvalidData, match=r"a\.mat, variable 'bags': expected matrices that share"):
        miml({"bags": cell(np.ones((2, 3)), np.ones((4, 5)))})


def test_the_targets_of_bags_are_known_by_their_shape_and_better_by_their_name():
    marks, other = np.array([[1, -1], [0, 1], [1, 1]]), np.eye(3)
    bags = {"bags": cell(*BAGS)}
    for targets in (marks, marks.T, sp.csc_array(marks)):
        assert dict(miml(bags | {"m": targets}).bags.labels) == {1: {"1"}, 2: {"2"}, 3: {"1", "2"}}
    assert len(miml(bags | {"m": other, "Targets": marks}).label_names) == 2
    assert len(miml(bags | {"m": other, "n": marks}).label_names) == 3
    assert len(miml(bags | {"m": other, "n": marks}, label="n").label_names) == 2
    for nothing in (np.ones((2, 2)), 2 * marks, np.empty((3, 0))):
        assert miml(bags | {"m": nothing}).label_names == ()
    for wrong in (np.ones((2, 2)), np.ones((3, 2, 2))):
        with pytest.raises(InvalidData, match="each of the 3 bags"):
            miml(bags | {"m": wrong}, label="m")
    with pytest.raises(SidelightError, match="nothing"):
        miml(bags, label="nothing")


def test_of_two_cells_the_larger_holds_the_bags_unless_one_was_said(tmp_path):
    variables = {
        "small": cell(np.eye(2), np.ones((3, 2))), "large": cell(np.eye(3), np.ones((4, 3))), "marks": np.eye(2),
    }  # fmt: skip
    assert read(tmp_path, variables).X.shape == (7, 3)
    assert read(tmp_path, variables, features="small").X.shape == (5, 2)


# ---- structs


DD = {
    "X": X, "XtB": np.array([[7, 7, 5, 5, 9, 9]]).T, "B": np.array([[5, 7, 8, 9]]).T,
    "YB": np.array([[1, 0], [0, 1], [1, 1], [1, 1]]), "YR": np.array([[1, 0], [0, 1], [0, 0], [1, 0], [1, 0], [0, 1]]),
}  # fmt: skip


def test_a_struct_of_rows_bags_and_labels(tmp_path):
    data = read(tmp_path, {"DD": DD})
    assert np.array_equal(data.X, X)
    assert dict(data.bags.labels) == {7: {"2"}, 5: {"1"}, 9: {"1", "2"}}
    assert data.bags.codes.tolist() == [0, 0, 1, 1, 2, 2]
    assert data.y.tolist() == ["1", "2", "", "1", "1", "2"]
    assert data.label_names == ("1", "2")
    assert any("1 labelled bags have no rows" in note for note in data.notes)
    assert role_of(data) == {
        "DD.X": "feature", "DD.XtB": "bag", "DD.YB": "label", "DD.YR": "label", "DD.B": "ignored",
    }  # fmt: skip


def test_a_struct_may_lack_what_it_does_not_need(tmp_path):
    data = read(tmp_path, {"DD": {"X": sp.csc_array(X), "bag": DD["XtB"], "YR": DD["XtB"] + 1.0}})
    assert sp.issparse(data.X)
    assert data.y.tolist() == ["8", "8", "6", "6", "10", "10"]
    assert data.label_names == ("8", "6", "10")
    assert not any("no rows" in note for note in data.notes)
    counted = {"X": X, "bag": np.array([[1, 1, 2, 2, 3, 3]]), "YB": np.eye(3)}
    data = read(tmp_path, {"DD": counted})
    assert dict(data.bags.labels) == {1: {"1"}, 2: {"2"}, 3: {"3"}}
    assert not any("no rows" in note for note in data.notes)


@pytest.mark.parametrize(
    "change",
    [{"XtB": DD["XtB"] + 0.5}, {"XtB": np.where(DD["XtB"] > 8, np.nan, DD["XtB"])}, {"B": np.array([[5, 6, 8, 9]]).T}],
)
def test_bags_of_a_struct_must_be_whole_numbers_that_have_labels(tmp_path, change):
    with pytest.raises(InvalidData, match="DD"):
        read(tmp_path, {"DD": DD | change})


def test_the_fields_of_the_only_struct_are_variables(tmp_path):
    inner = {"fea": X, "gnd": np.array([[1, 2, 1, 2, 3, 3]]).T}
    assert read(tmp_path, {"s": inner}).y.tolist() == ["1", "2", "1", "2", "3", "3"]
    assert read(tmp_path, {"s": inner, "Z": np.ones((3, 2)) / 3}).X.shape == (3, 2)
    with pytest.raises(InvalidData, match="expected a matrix"):
        read(tmp_path, {"s": inner, "t": inner})
    one_row = {"X": np.ones((1, 4)), "bag": np.ones((1, 1))}
    assert read(tmp_path, {"s": one_row}).bags is None
    assert read(tmp_path, {"s": {"X": X, "bag": np.ones((3, 1))}}).bags is None
    assert read(tmp_path, {"s": {"X": X, "bag": np.ones((6, 2))}}).bags is None


# ---- plain matrices


Y = np.array([[4, 5, 4, 5, 6, 6]]).T


@pytest.mark.parametrize(
    ("variables", "label"),
    [
        ({"m": Y}, "m"),
        ({"m": Y, "Gnd": Y + 1}, "Gnd"),
        ({"m": Y + 0.5}, None),
        ({"m": np.where(Y > 5, np.inf, Y)}, None),
        ({"m": Y[:5]}, None),
        ({"m": sp.csc_array(Y)}, None),
    ],
)
def test_the_label_of_a_plain_matrix(tmp_path, variables, label):
    data = read(tmp_path, {"fea": X} | variables)
    assert data.columns("label") == (() if label is None else (label,))
    if label:
        assert data.y.tolist() == [f"{v:g}" for v in variables[label][:, 0]]
    assert read(tmp_path, {"fea": X} | variables, label=False).y is None


def test_what_was_said_of_plain_matrices_is_obeyed(tmp_path):
    variables = {"fea": X, "m": Y, "small": X[:, :2], "words": cell(*"abcabc"), "marks": np.eye(6)[:, :3]}
    data = read(tmp_path, variables, label="words", bag="m", features="small")
    assert data.y.tolist() == list("abcabc")
    assert data.bags.names == ("4", "5", "6")
    assert data.X.shape == (6, 2)
    assert role_of(data) == {"small": "feature", "words": "label", "m": "bag", "fea": "ignored", "marks": "ignored"}
    data = read(tmp_path, variables, label="marks", bag="m", features="fea")
    assert data.Y[:4].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    for wrong in ({"bag": "nothing"}, {"bag": "m", "features": "words"}, {"bag": "marks", "features": "fea"}):
        with pytest.raises(SidelightError, match=r"nothing|words|marks"):
            read(tmp_path, variables, **wrong)
    with pytest.raises(InvalidData, match="'short'"):
        read(tmp_path, variables | {"short": Y[:5]}, bag="m", features="fea", label="short")


def test_cells_of_words_name_rows_and_columns(tmp_path):
    names, ids = cell("u", "v", "w", "x"), cell(*"abcdef")
    data = read(tmp_path, {"fea": X, "cols": names, "rows": ids, "more": cell(*"ghijkl")})
    assert data.feature_names == ("u", "v", "w", "x")
    assert data.row_ids.tolist() == list("abcdef")
    data = read(tmp_path, {"fea": X, "cols": cell("u", "v", "v", "x"), "rows": cell(*range(6))})
    assert (data.feature_names, data.row_ids) == (("f0", "f1", "f2", "f3"), None)
    data = read(tmp_path, {"fea": X, "cols": cell("u", "v", np.array(["w", "q"], dtype=object), "x")})
    assert data.feature_names[0] == "f0"


# ---- the guard


def saved(**variables):
    """Return the bytes of a file."""
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, variables)
    return buffer.getvalue()


def matrix(kind=6, dims=(2, 1), name=b"X", body=None, flags=0):
    """Return one variable: flags, sizes, name and what it holds."""
    body = element(9, np.ones(2).tobytes()) if body is None else body
    head = element(6, struct.pack("<II", kind | flags, 0))
    return element(14, head + element(5, ints(dims)) + element(1, name) + body)


def nested(depth):
    """Return cells inside cells around a number."""
    inner = np.ones((1, 1))
    for _ in range(depth):
        inner = cell(inner)
    return saved(x=inner)


EMPTY = element(14, b"")
FIELDS = element(5, ints([2])) + element(1, b"a\0b\0")


def test_files_that_are_as_long_as_they_say_pass_the_guard():
    for content in [
        matlab_file(matrix()),
        matlab_file(matrix(dims=(0, 3), body=element(9, b""))),
        matlab_file(matrix(name=b"n" * 255)),
        matlab_file(matrix(dims=(2,) + (1,) * 31)),
        matlab_file(matrix(kind=1, body=EMPTY + EMPTY)),
        matlab_file(matrix(kind=2, dims=(1, 1), body=FIELDS + EMPTY + EMPTY)),
        matlab_file(matrix(kind=3, dims=(1, 1), body=element(1, b"class") + FIELDS + EMPTY + EMPTY)),
        matlab_file(matrix(kind=4, body=element(16, b"ab"))),
        matlab_file(matrix(kind=16, dims=(1000, 1000))),  # no array: SciPy leaves it closed
        matlab_file(matrix(flags=0x800, body=2 * element(9, np.ones(2).tobytes()))),
        matlab_file(sparse_variable((4, 3), [0, 2, 3], [0, 0, 3, 3], [1.0, 2.0, 3.0])),
        nested(20),
    ]:
        check_mat5(Path("a.mat"), content)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (matlab_file(matrix(dims=(-2, -1))), "a matrix of size"),
        (matlab_file(matrix(name=b"n" * 256)), "a name of 256"),
        (matlab_file(matrix(dims=(2,) + (1,) * 32)), "33 dimensions"),
        (matlab_file(matrix(dims=(2,))), "1 dimensions"),
        (matlab_file(matrix(kind=15, dims=(1000, 1000))), "a matrix of size"),
        (matlab_file(matrix(kind=6, dims=(1000, 1000))), "a matrix of size"),
        (matlab_file(matrix(kind=1, body=EMPTY)), "2 cells in 8 bytes"),
        (matlab_file(matrix(kind=1, body=EMPTY + element(9, b""))), "a cell of type 9"),
        (matlab_file(matrix(kind=2, dims=(1, 1), body=FIELDS + EMPTY)), "2 cells in 8 bytes"),
        (matlab_file(matrix(kind=2, body=element(5, ints([0])) + element(1, b"") + EMPTY)), "field names of 0"),
        (matlab_file(matrix(kind=2, body=element(5, ints([257])) + element(1, b"a" * 257) + EMPTY)), "names of 257"),
        (matlab_file(matrix(kind=4, body=element(19, b"ab"))), "unknown type 19"),
        (matlab_file(matrix(kind=6, body=element(16, b"ab"))), "unknown type 16"),
        (matlab_file(matrix(flags=0x800, body=element(9, np.ones(2).tobytes()) + element(99, b""))), "unknown type 99"),
        (matlab_file(sparse_variable((4, 3), [0, 3, 3], [0, 0, 3, 3], [1.0, 2.0, 3.0])), "one cell twice"),
        (matlab_file(sparse_variable((4, 2), [0, 2], [0, 2, 3], [1.0, 2.0, 3.0])), "its 2 rows"),
        (nested(21), "21 deep"),
    ],
    ids=count(),
)  # fmt: skip
def test_files_that_declare_what_they_do_not_hold_are_refused(content, found):
    with pytest.raises(UnreadableFile, match=found):
        check_mat5(Path("a.mat"), content)
