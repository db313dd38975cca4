"""The door of sidelight.read: whatever is passed, a data set or a message of ours."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidParameter, SidelightError, UnreadableFile
from sidelight.files.text import delimited

ODD = (5, 1.5, "", [], {}, object(), True, ["f1", 3], {"a": 5}, b"x", float("nan"), "\0", np.array([1, 2]), range(3))
ROLES = (
    "id", "bag", "label", "features", "ignore", "show", "keep", "sequence", "channels", "events", "weight",
    "label_file", "label_separator", "label_level", "bag_label", "format", "separator", "encoding", "header",
    "max_memory",
)  # fmt: skip


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,f1,f2\n" + "".join(f"{'ab'[i % 2]},{i},{i * i % 7}.5\n" for i in range(12)))
    return path


@pytest.mark.parametrize("role", ROLES)
def test_odd_values_give_data_or_a_message(table, role):
    for value in ODD:
        with suppress(SidelightError):  # anything else that is raised fails
            assert sl.read(table, **{role: value}).n_rows == 12


@pytest.mark.parametrize("path", ["", "\0", 5, None, b"a.csv", "\udcff\0", 1.5, [], "a" * 5000, "/a/b/\ud800"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises((InvalidParameter, UnreadableFile)):
        sl.read(path)
    for call in (lambda: sl.load(path), lambda: sl.save(sl.Bags([1, 1]), path)):
        with pytest.raises(SidelightError):
            call()


@pytest.mark.parametrize("separator", ["::", "é", "§", "", "\n", 5])
def test_a_separator_is_one_ascii_character(table, separator):
    with pytest.raises(InvalidParameter, match="one ASCII character"):
        sl.read(table, separator=separator)


def test_names_that_are_not_utf8_are_read(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9.csv")
    try:
        with open(path, "wb") as handle:
            handle.write(b"a,b\n1,2\n3,4\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert sl.read(os.fsdecode(path)).X.tolist() == [[1, 2], [3, 4]]


def test_a_file_that_vanishes_while_its_folder_is_read(tmp_path, monkeypatch):
    for k in range(3):
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / f"{k}.txt").write_text("some words here")
    from sidelight.files.text import folder

    text_of = folder._text

    def vanish(*document):
        shutil.rmtree(tmp_path / "texts", ignore_errors=True)
        return text_of(*document)

    monkeypatch.setattr(folder, "_text", vanish)
    with pytest.raises(UnreadableFile, match=r"1\.txt: cannot be read \(No such file"):
        sl.read(tmp_path / "texts")


@pytest.mark.slow
def test_a_header_of_more_than_a_megabyte(tmp_path):
    names = [f"{'long' * 100}_{j}" for j in range(3000)]
    path = tmp_path / "a.csv"
    path.write_text(",".join(names) + "\n" + (",".join(["1"] * 3000) + "\n") * 3)
    assert path.stat().st_size > 1_000_000
    assert sl.read(path).X.shape == (3, 3000)


@pytest.mark.parametrize("line", [1, *(pytest.param(line, marks=pytest.mark.slow) for line in (2, 50))])
def test_an_unclosed_quotation_mark_is_found_quickly_and_never_read_over(tmp_path, line):
    lines = ["name,f", *(f"n{i},{i}" for i in range(1_000_000))]
    lines[line - 1] = '"' + lines[line - 1]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UnreadableFile, match=rf"line {line}: a quotation mark is opened and not closed"):
        sl.read(path)


@pytest.mark.parametrize(
    "cell", ["2.5", "oops", *(pytest.param(cell, marks=pytest.mark.slow) for cell in ("NA", " 7 "))]
)
def test_a_very_wide_table_is_read_row_by_row(tmp_path, cell, monkeypatch):
    monkeypatch.setattr(delimited, "_WIDE", 2000)
    width = 3000
    rows = [
        ",".join(f"f{j}" for j in range(width)),
        *[",".join(["1.5"] * width)] * 11,
        ",".join(["2"] * (width - 1) + [cell]),
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(rows) + "\n")
    if cell == "oops":
        with pytest.raises(SidelightError, match=rf"line 13, column 'f{width - 1}': expected a number, found 'oops'"):
            sl.read(path)
        return
    X = sl.read(path).X
    assert X.shape == (12, width)
    np.testing.assert_array_equal(X[-2:, -1], [1.5, {"2.5": 2.5, "NA": np.nan, " 7 ": 7.0}[cell]])
