"""Sparse matrices that lie about themselves: nothing is converted before every index was looked at."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import TooLarge, UnreadableFile


def element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)


def ints(values):
    return np.array(values, dtype="<i4").tobytes()


def sparse_variable(shape, rows, ends, values, name=b"X"):
    """One sparse matrix as MATLAB stores it: flags, sizes, name, row indices, column pointers, values."""
    parts = [
        element(6, struct.pack("<II", 5, max(len(rows), 1))),
        element(5, ints(shape)),
        element(1, name),
        element(5, ints(rows)),
        element(5, ints(ends)),
        element(9, np.array(values, dtype="<f8").tobytes()),
    ]
    return element(14, b"".join(parts))


def matlab_file(*variables):
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(variables)


def refusal(tmp_path, content):
    path = tmp_path / "a.mat"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"a\.mat") as caught:
        sl.read(path)
    return str(caught.value)


GOOD = ((4, 2), [0, 2, 3], [0, 2, 3], [1.0, 2.0, 3.0])


def test_a_sparse_matrix_is_read(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(matlab_file(sparse_variable(*GOOD)))
    assert sl.read(path).X.toarray().tolist() == [[1, 0], [0, 0], [2, 0], [0, 3]]


def test_rows_of_a_column_may_come_in_any_order(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(matlab_file(sparse_variable((4, 2), [2, 0, 3], [0, 2, 3], [2.0, 1.0, 3.0])))
    assert sl.read(path).X.toarray().tolist() == [[1, 0], [0, 0], [2, 0], [0, 3]]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("row", [4, 5, 50_000_000, -1])
def test_a_row_that_is_not_there_is_refused(tmp_path, row, packed):
    variable = sparse_variable((4, 2), [0, row, 3], [0, 2, 3], [1.0, 2.0, 3.0])
    if packed:
        body = zlib.compress(variable)
        variable = struct.pack("<II", 15, len(body)) + body
    assert f"row {row} (counted from 0) in a sparse matrix of 4 x 2" in refusal(tmp_path, matlab_file(variable))


@pytest.mark.parametrize("ends", [[0, 2, 9], [1, 2, 3], [0, 3, 2], [0, -1, 3], [0, 2**31 - 1, 3], [0, 3]])
def test_column_pointers_that_lead_elsewhere_are_refused(tmp_path, ends):
    message = refusal(tmp_path, matlab_file(sparse_variable((4, 2), [0, 2, 3], ends, [1.0, 2.0, 3.0])))
    assert "column pointers" in message


def test_fewer_values_than_rows_are_refused(tmp_path):
    assert "1 values" in refusal(tmp_path, matlab_file(sparse_variable((4, 2), [0, 2, 3], [0, 2, 3], [1.0])))


def test_a_cell_that_is_named_twice_is_refused(tmp_path):
    message = refusal(tmp_path, matlab_file(sparse_variable((4, 2), [1, 1, 3], [0, 2, 3], [1.0, 2.0, 3.0])))
    assert "one cell twice" in message


def test_a_sparse_matrix_inside_a_cell_array_is_checked_too(tmp_path):
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [sp.csc_array(np.eye(3)), sp.csc_array(np.eye(3))]
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"bags": cells})
    data = bytearray(buffer.getvalue())
    at = data.rindex(ints([0, 1, 2]), 0, data.rindex(ints([0, 1, 2, 3])))
    data[at + 8 : at + 12] = ints([70_000_000])
    assert "row 70000000" in refusal(tmp_path, bytes(data))


@pytest.mark.parametrize(("indices", "indptr"), [([0, 7], [0, 1, 2]), ([0, 1], [0, 9, 2]), ([0, -5], [0, 1, 2])])
def test_indices_of_an_archive_are_checked(tmp_path, indices, indptr):
    path = tmp_path / "a.npz"
    np.savez(path, data=np.ones(2), indices=np.array(indices), indptr=np.array(indptr), shape=np.array([2, 3]))
    with pytest.raises(UnreadableFile, match=r"a\.npz: expected a sparse matrix"):
        sl.read(path)


@pytest.mark.parametrize(("shape", "ends"), [((2**31 - 1, 2), [0, 1, 2]), ((2, 2_000_000_000), [0, 2])])
def test_two_billion_rows_or_columns_are_refused_with_the_numbers(tmp_path, shape, ends):
    path = tmp_path / "a.mat"
    path.write_bytes(matlab_file(sparse_variable(shape, [0, 1], ends, [1.0, 2.0])))
    with pytest.raises(TooLarge, match=f"a sparse table of {shape[0]} rows and {shape[1]} columns would take about"):
        sl.read(path, max_memory="4GB")


@pytest.mark.parametrize("kind", ["dense", "complex", "sparse"])
def test_numbers_of_an_unknown_type_are_refused_before_scipy_looks_them_up(tmp_path, kind):
    """SciPy's table of types is not checked: such a file ended the process."""
    table = np.arange(12.0).reshape(4, 3) + 1.5
    value = {"dense": table, "complex": table * 1j, "sparse": sp.csc_array(table)}[kind]
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"x": value})
    data = bytearray(buffer.getvalue())
    numbers = value.data if kind == "sparse" else value.imag.T if kind == "complex" else value.T
    at = bytes(data).rindex(np.ascontiguousarray(numbers).tobytes()) - 8
    assert struct.unpack_from("<I", data, at)[0] == 9  # doubles
    struct.pack_into("<I", data, at, 0x2F31)
    path = tmp_path / "x.mat"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile, match="unknown type"):
        sl.read(path)
