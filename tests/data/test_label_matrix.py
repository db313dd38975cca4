"""Label matrices: every shape that users bring becomes 1, 0 and unknown, or a message that says what to do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.data.coerce import as_label_matrix
from sidelight.errors import InvalidData, UnknownName

VALUES = [[1, 0, -1], [0, 1, 1]]


def test_matrices_of_all_kinds_say_the_same():
    for given in [
        VALUES,
        np.array(VALUES),
        np.array([[1.0, 0.0, np.nan], [0, 1, 1]]),
        np.array([[1, 0, None], [0, True, 1]], dtype=object),
        sp.csr_array(np.array(VALUES)),
        sp.coo_array(([1.0, np.nan, 1.0, 1.0], ([0, 0, 1, 1], [0, 2, 1, 2])), shape=(2, 3)),
        sl.LabelMatrix(VALUES),
    ]:
        np.testing.assert_array_equal(as_label_matrix(given).values, VALUES)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_columns_brings_its_names_and_its_gaps(library):
    frames = pytest.importorskip(library)
    found = as_label_matrix(frames.DataFrame({"bird": [1, 0], "wren": [0.0, 1.0], "frog": [None, 1]}))
    assert found.names == ("bird", "wren", "frog")
    np.testing.assert_array_equal(found.values, VALUES)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_names_takes_what_is_in_the_cells(library):
    frames = pytest.importorskip(library)
    found = as_label_matrix(frames.DataFrame({"first": ["wren", "frog", ""], "second": ["bird", None, None]}))
    assert found.names == ("bird", "frog", "wren")
    np.testing.assert_array_equal(found.values, [[1, 0, 1], [0, 1, 0], [0, 0, 0]])


def test_sets_of_names_and_rows_that_nobody_looked_at():
    found = as_label_matrix([{"bird", "wren"}, set(), None])
    np.testing.assert_array_equal(found.values, [[1, 1], [0, 0], [-1, -1]])
    np.testing.assert_array_equal(as_label_matrix([["bird", "wren"], [], ["bird"]]).values, [[1, 1], [0, 0], [1, 0]])


def test_one_dimension_means_one_label_a_row():
    found = as_label_matrix(np.array(["wren", "frog", "wren"]))
    assert found.names == ("frog", "wren")
    np.testing.assert_array_equal(found.values, [[0, 1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(as_label_matrix([2, 0]).values, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(
        as_label_matrix(np.array(["a", None, "b"], dtype=object)).values, [[1, 0], [-1, -1], [0, 1]]
    )


def test_names_put_columns_in_order_and_unknown_ones_are_refused():
    labels = sl.LabelMatrix(VALUES, names=["bird", "wren", "frog"])
    moved = as_label_matrix(labels, names=("frog", "bird", "wren", "newt"))
    np.testing.assert_array_equal(moved.values, [[-1, 1, 0, -1], [1, 0, 1, -1]])
    with pytest.raises(UnknownName, match="'frog'"):
        as_label_matrix(labels, names=("bird", "wren"))
    with pytest.raises(UnknownName, match=r"row 1 has the label 'newt'"):
        as_label_matrix([{"bird"}, {"newt"}], names=("bird",))
    with pytest.raises(InvalidData, match="expected 2 columns"):
        as_label_matrix(VALUES, names=("bird", "wren"))


def test_other_values_are_named_with_their_place():
    with pytest.raises(InvalidData, match=r"row 1, column 2 is 3"):
        sl.LabelMatrix([[1, 0, 0], [0, 0, 3]])
    with pytest.raises(InvalidData, match=r"row 1, column 2 is 3"):
        sl.LabelMatrix(sp.csr_array(np.array([[1, 0, 0], [0, 0, 3]])))


def test_only_minus_one_and_one_asks_which_is_meant():
    with pytest.raises(InvalidData, match=r"If -1 means off, pass \(Y > 0\)"):
        sl.LabelMatrix([[1, -1], [-1, 1]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", "Expected labels"),
        (3, "Expected labels"),
        (sl.Bags([0, 0, 1]), "Got Bags"),
        ([[1, 0], [1]], "differ in length"),
        (np.zeros((2, 2, 2)), "shape"),
        (np.zeros((2, 0)), "shape"),
    ],
)
def test_what_is_no_table_of_labels_is_refused(given, message):
    with pytest.raises(InvalidData, match=message):
        as_label_matrix(given)


def test_rows_are_selected_and_the_rest_is_locked():
    labels = sl.LabelMatrix(VALUES, names=["a", "b", "c"])
    assert labels[[1, 0]] == sl.LabelMatrix(VALUES[::-1], names=["a", "b", "c"])
    assert labels[np.array([True, False]), ...].n_rows == 1
    with pytest.raises(ValueError, match="read-only"):
        labels.values[0, 0] = 0
    with pytest.raises(AttributeError, match="frozen"):
        labels.names = ()
    with pytest.raises(InvalidData, match="rows only"):
        labels[:, 0]


def test_survives_saving(tmp_path):
    labels = sl.LabelMatrix(VALUES, names=["a", "b", "c"])
    sl.save(labels, tmp_path / "labels.sidelight")
    assert sl.load(tmp_path / "labels.sidelight") == labels


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "i1", "O", "?"])
def test_the_order_in_memory_does_not_matter(dtype):
    """A matrix column by column, as pandas gives one, stopped every fit of label sets."""
    Y = (np.arange(12).reshape(6, 2) % 3 == 0).astype(dtype)
    wide = np.zeros((12, 4), dtype=dtype)
    wide[::2, ::2] = Y
    for other in (np.asfortranarray(Y), wide[::2, ::2], Y[::-1][::-1]):
        labels = sl.LabelMatrix(other)
        assert labels == sl.LabelMatrix(Y)
        assert labels.values.flags.c_contiguous
    X = np.arange(12.0).reshape(6, 2)
    with_columns = sl.LatentHierarchyClassifier().fit(X, np.asfortranarray(Y))
    assert (with_columns.predict(X) == sl.LatentHierarchyClassifier().fit(X, Y).predict(X)).all()
