"""Files that are not what they should be: one message with file, place, expectation, finding and a way out."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter, UnknownName, UnreadableFile


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, error=UnreadableFile, **roles):
    with pytest.raises(error) as caught:
        sl.read(path, **roles)
    assert str(path.name) in str(caught.value)
    return str(caught.value)


# ---- text


def test_a_header_alone_has_no_rows(put):
    assert "expected rows below the header" in refused(put("a.csv", "bag,label,f1\n"))


def test_ragged_rows_are_found_among_quoted_cells(put):
    message = refused(put("a.csv", 'name,f1,f2\n"a,\nb",1,2\n"c",3\n'))
    assert "line 4: expected 3 columns, found 2" in message


def test_a_word_among_numbers_is_named_by_line_and_column(put):
    rows = "".join(f"{i},{i + 0.5}\n" for i in range(50))
    message = refused(put("a.csv", f"f1,f2\n{rows}7,oops\n"), InvalidData)
    assert "line 52, column 'f2': expected a number, found 'oops'" in message
    assert "ignore='f2'" in message


@pytest.mark.slow
def test_a_line_without_end_is_refused(put, monkeypatch):
    monkeypatch.setattr("sidelight.files.text.blocks.LONGEST_ROW", 1 << 20)
    monkeypatch.setattr("sidelight.files.text.blocks.BLOCK", 1 << 18)
    assert "line 2: expected rows" in refused(put("a.csv", b"f1,f2\n1," + b"0" * (3 << 20)))


def test_latin1_is_read_with_a_note_and_wrong_encodings_are_refused(put):
    path = put("a.csv", "name,f1\ncafé,1\nthé,2\ncafé,3\n".encode("latin-1"))
    data = sl.read(path, label="name")
    assert data.y.tolist() == ["café", "thé", "café"]
    assert any("Latin-1" in note for note in data.notes)
    assert "expected utf-8 text, found byte 0xe9" in refused(path, encoding="utf-8")
    assert "no encoding called" in refused(path, InvalidParameter, encoding="utf-99")


def test_a_late_accent_of_latin1_is_read_too(put):
    text = "name,f1\n" + "plain,1\n" * 200_000 + "café,2\n"
    data = sl.read(put("a.csv", text.encode("latin-1")), label="name")
    assert data.y[-1] == "café"
    assert any("line 200002 is not UTF-8 and was read as Latin-1" in note for note in data.notes)


def test_a_bad_byte_in_a_file_of_utf8_is_refused_by_line(put):
    text = ("name,f1\n" + "plain,1\n" * 200_000 + "café,2\nthé,3\n").encode()
    assert "line 200004: expected utf-8 text, found byte 0xff" in refused(put("a.csv", text + b"x\xffy,4\n"))


@pytest.mark.parametrize("late", [0, 40_000])
def test_lines_that_are_not_utf8_are_noted(put, late):
    head = "@relation r\n@attribute f numeric\n@attribute class {a,é}\n@data\n".replace("é", "é" if late == 0 else "b")
    rows = "1.2345678901234567890123456,a\n" * max(late, 3)
    content = (head + rows).encode("latin-1") + (b"% caf\xe9\n1,a\n" if late else b"")
    data = sl.read(put("a.arff", content))
    assert any("Latin-1" in note for note in data.notes)


def test_gaps_and_infinities_are_noted_with_their_place(put):
    data = sl.read(put("a.csv", "f1,f2\n1,NA\n2,inf\n3,4\n"))
    assert np.isnan(data.X[0, 1])
    assert np.isinf(data.X[1, 1])
    assert any("1 missing cells" in note for note in data.notes)
    assert any("line 3, column 'f2'" in note for note in data.notes)


# ---- roles


def test_a_column_that_does_not_exist_suggests_the_nearest(put):
    path = put("a.csv", "recording,f1\nr1,1\nr1,2\n")
    assert "Did you mean 'recording'?" in refused(path, UnknownName, bag="recordings")
    assert "asked for as features" in refused(path, UnknownName, features=["g*"])


def test_labels_that_match_no_bag_are_listed(put):
    labels = put("labels.csv", "bag,label\nr1,wren\nr9,owl\n")
    path = put("a.csv", "bag,f1\nr1,1\nr1,2\nr2,3\n")
    with pytest.raises(InvalidData, match=r"labels.csv: 1 of 2 keys match no bag: 'r9'"):
        sl.read(path, bag="bag", label_file=labels)


# ---- other things than tables


@pytest.mark.parametrize(
    ("start", "word"),
    [
        (b"%PDF-1.4", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\x80\x04\x95", "pickle"),
        (b"BZh91AY&SY", "bzip2"),
    ],
)
def test_files_that_are_no_tables_are_called_by_name(put, start, word):
    assert word in refused(put("a.csv", start + b"\n" * 10))


# ---- MATLAB


def matlab_bytes(**variables):
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, variables)
    return buffer.getvalue()


def test_a_cut_matlab_file_says_so(put):
    data = matlab_bytes(X=np.arange(600.0).reshape(100, 6))
    assert "cut off" in refused(put("a.mat", data[:-100]))


def test_a_cell_array_of_a_billion_cells_is_refused_before_it_is_allocated(put):
    cells = np.empty((2, 1), dtype=object)
    cells[:] = [[np.ones((2, 3))], [np.ones((2, 3))]]
    data = bytearray(matlab_bytes(data=cells))
    at = data.index(struct.pack("<ii", 2, 1), 128)
    data[at : at + 4] = struct.pack("<i", 1_000_000_000)
    assert "1000000000 cells" in refused(put("a.mat", bytes(data)))


def test_a_compressed_variable_that_explodes_is_refused(put, monkeypatch):
    monkeypatch.setattr("sidelight.files.matlab.reading.MAX_UNPACKED", 1 << 20)
    bomb = zlib.compress(b"\0" * (8 << 20), 9)
    data = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(bomb)) + bomb
    assert "decompression bomb" in refused(put("a.mat", data))


# ---- NumPy


def test_pickled_objects_are_refused(put):
    buffer = io.BytesIO()
    np.savez(buffer, X=np.array([{"a": 1}], dtype=object))
    assert "run code" in refused(put("a.npz", buffer.getvalue()))


def test_an_array_that_declares_more_than_it_has_is_refused(put):
    buffer = io.BytesIO()
    np.save(buffer, np.ones((4, 5)))
    data = buffer.getvalue().replace(b"(4, 5)", b"(9, 5)")
    assert "expected 360 bytes" in refused(put("a.npy", data))


# ---- the others


def test_idx_sizes_must_fit(put):
    data = b"\0\0\x08\x03" + struct.pack(">3I", 1000, 28, 28) + b"\0" * 784
    assert "expected 784000 bytes" in refused(put("images-idx3-ubyte", data))


def test_svmlight_takes_indices_in_any_order_and_rows_without_pairs(put):
    data = sl.read(put("a.svm", "1 1:0.5 3:2\n" * 3 + "2 3:7 1:5\n1\n2 2:1\n"))
    assert data.X.toarray()[3:].tolist() == [[5, 0, 7], [0, 0, 0], [0, 1, 0]]
    assert data.y.tolist() == ["1", "1", "1", "2", "1", "2"]


def test_characters_that_do_not_exist_are_refused(put):
    buffer = io.BytesIO()
    np.savez(buffer, X=np.ones((2, 2)), ids=np.array(["ab", "cd"]))
    with zipfile.ZipFile(io.BytesIO(buffer.getvalue())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content.replace("d".encode("utf-32-le"), struct.pack("<I", 0x3B9ACA00)))
    assert "characters that do not exist" in refused(put("a.npz", out.getvalue()))


def test_a_line_of_nothing_but_separators_after_an_endless_cell_is_still_a_line(put):
    path = put("endless.csv", 'a,b\n1,2\n3,"' + "x" * 140_000 + '"\n,\n')
    assert sl.read(path).n_rows == 3
