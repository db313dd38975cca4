"""A small file is read without polars, and nothing but the waiting may differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import up_to

import sidelight as sl
from sidelight.errors import InvalidData, SidelightError, UnreadableFile
from sidelight.files.text import delimited

CELLS = st.one_of(
    st.integers(-999, 999).map(str),
    st.floats(allow_nan=False, width=32).map(repr),
    st.sampled_from(
        [
            "",
            "NA",
            "?",
            "nan",
            "inf",
            "-inf",
            "1e3",
            "1e400",
            ".5",
            "5.",
            "+1",
            "1_0",
            "1 000",
            "owl",
            "a;b",
            "٣",
            "１٢.5",
            "1_000",
            "ınf",
        ]
    ),
    st.sampled_from([" 1 ", " wren", '"quoted, twice ""so"""', '"1.5"', "Ä", "\u3000x"]),
)
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=8)
)


def _read(path, monkeypatch, small):
    monkeypatch.setattr(delimited, "_SMALL", (1 << 18) if small else 0)
    try:
        data = sl.read(path)
    except SidelightError as error:
        return str(error)
    sets = None if data.bags is None else [list(data.bags), data.bags.labels]
    parts = [data.X.tolist() if isinstance(data.X, np.ndarray) else data.X.toarray().tolist(), data.feature_names]
    texts = [None if part is None else part.tolist() for part in (data.row_ids, data.y, data.Y, data.sequence)]
    return repr([*parts, *texts, sets, data.counts, data.roles, [str(note) for note in data.notes]])


@settings(max_examples=up_to(150), deadline=None)
@given(rows=ROWS, end=st.sampled_from(["", "\n", "\n\n"]))
def test_small_files_are_read_as_large_ones_are(tmp_path_factory, rows, end):
    path = tmp_path_factory.mktemp("small") / "t.csv"
    header = ",".join(f"c{j}" for j in range(len(rows[0])))
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        assert _read(path, patch, small=True) == _read(path, patch, small=False)


@pytest.mark.parametrize(
    "text",
    [
        "a;b;c\n1,5;x;2\n;y;3\n",
        "a b  c\n1 2   3\n4 5 6\n",
        "who,what,n\np,q,1\np,r,2\ns,q,\ns,r,1\n",
        "a,b\n1,2\n3\n",
        "a,b\n1,2\n3,x\n" + "4,5\n" * 30,
        '"a\n1","b"\n"1","2\n"\n',
        'a , b\nx , "$1,199"\ny , "$2,000"\n',
    ],
    ids=[
        "decimal commas",
        "blanks",
        "events",
        "ragged",
        "a word among numbers",
        "lines in cells",
        "blanks before quotes",
    ],
)
def test_small_files_of_every_dialect_are_read_as_large_ones_are(tmp_path, monkeypatch, text):
    (tmp_path / "t.csv").write_text(text)
    assert _read(tmp_path / "t.csv", monkeypatch, small=True) == _read(tmp_path / "t.csv", monkeypatch, small=False)


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("x,y\n1,2\n3\n4,5,6\n7,8\n9,1\n", 3, 1),
        ("x,y\n1,2\n4,5,6\n3\n7,8\n", 3, 3),
        ("x,y\n1,2\n3,4\n5\r6,7\n8,9\n", 4, 1),  # a lone carriage return ends a line
    ],
)
def test_short_and_long_rows_that_cancel_out_are_told_by_line(tmp_path, text, line, found):
    (tmp_path / "t.csv").write_text(text, newline="")
    with pytest.raises(UnreadableFile, match=f"line {line}: expected 2 columns, found {found}"):
        sl.read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "cell", ["٣", "１٢.5", "1_000", "ınf"], ids=["Arabic", "full width", "underscore", "dotless i"]
)
@pytest.mark.parametrize("small", [True, False])
def test_digits_of_other_scripts_are_text_in_files_of_any_size(tmp_path, monkeypatch, cell, small):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 40 + f"{cell},3\n", encoding="utf-8")
    monkeypatch.setattr(delimited, "_SMALL", (1 << 18) if small else 0)
    with pytest.raises(InvalidData, match=r"line 42, column 'a': expected a number"):
        sl.read(tmp_path / "t.csv", features=["a", "b"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.arff", "@relation t\n@attribute a numeric\n@attribute b numeric\n@data\n1,2\n٣,4\n"),
        ("t.dat", "@relation t\n@attribute a real [0, 9]\n@attribute b real [0, 9]\n@inputs a, b\n@data\n1,2\n٣,4\n"),
    ],
    ids=["ARFF", "KEEL"],
)
def test_every_reader_has_the_same_grammar_of_a_number(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidData, match="expected a number"):
        sl.read(tmp_path / name)
