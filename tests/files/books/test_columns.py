"""Cells of any kind to columns, and the lines of a sheet that are no rows."""

from __future__ import annotations

import sqlite3
import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, UnknownName, UnreadableFile
from sidelight.files import reading as archives
from sidelight.files.books import databases
from sidelight.files.books.columns import as_column, as_text, table_of
from sidelight.files.books.databases import read_sqlite
from sidelight.files.books.sheets import _header
from sidelight.files.roles.columns import Coded
from sidelight.files.source import Source


def test_columns_of_numbers_are_float64():
    for cells, numbers in [
        ([1, 2.5, None], [1, 2.5, np.nan]),
        ([1, "?", ""], [1, np.nan, np.nan]),
        ([2**53, 1], [2**53, 1]),
        ([2.0**60, 1], [2.0**60, 1]),
        ([2**53 + 1, 1], None),
        ([True, 1], None),
        (["a", 1], None),
        ([None, ""], None),
    ]:
        column = as_column(cells)
        assert isinstance(column, Coded) == (numbers is None)
        if numbers is not None:
            assert np.array_equal(column, numbers, equal_nan=True)


def test_cells_as_people_write_them():
    for cell, text in [
            (None, ""), (True, "1"), (7.0, "7"), (7.5, "7.5"), (2.0**53, "9007199254740992.0"),
            (2.0**53 - 1, str(2**53 - 1)),
            (float("inf"), "inf"), (datetime(2024, 1, 2), "2024-01-02"), (date(2024, 1, 2), "2024-01-02"),
            (datetime(2024, 1, 2, 3), "2024-01-02 03:00:00"), (time(3), "03:00:00"), (timedelta(minutes=1), "60.0"),
            (2**60, str(2**60)),
            ("a", "a"),
        ]:  # fmt: skip
        assert as_text(cell) == text


def test_columns_have_names_of_their_own():
    made = table_of(Path("b.xlsx"), "a book", ["a", "", " a  b ", "a"], [[1], [2], [3], [4]], notes=["n"])
    assert (made.names, made.path, made.title, made.notes) == (
        ("a", "column 2", "a b", "a 2"), Path("b.xlsx"), "a book", ("n",),
    )  # fmt: skip
    assert not made.declares_words
    for nothing in ([], [[]]):
        with pytest.raises(InvalidData, match="without rows"):
            table_of(Path("b.xlsx"), "a book", ["a"], nothing)


def test_the_names_stand_in_the_first_line_that_is_filled_as_the_others_are():
    for filled, line in [
        ([5, 5, 5], 0),
        ([1, 5, 5, 5], 1),
        ([1, 0, 5, 5, 5], 2),
        ([4, 5, 5, 5], 0),
        ([3, 5, 5, 5], 1),
        ([2], 0),
        ([0, 1], 1),
    ]:
        assert _header([["x"] * n + [" ", None] * (5 - n) for n in filled]) == line


# ---- archives, databases, records and servers


def test_an_archive_is_known_by_its_only_table(tmp_path, monkeypatch):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/t.csv", "a,b\n" + "1,2\n" * 50)
        for other in ("__MACOSX/t.csv", "in/.t.csv", "p.png", "d/"):
            archive.writestr(other, "x")
    assert archives.tables_in(path) == ["in/t.csv"]
    data = sl.read(path)
    assert (data.path, data.n_rows) == (f"{path}::in/t.csv", 50)
    info = zipfile.ZipFile(path).getinfo("in/t.csv")
    monkeypatch.setattr(archives, "MAX_UNPACKED", info.file_size - 1)
    monkeypatch.setattr(archives, "MAX_RATIO", info.file_size / info.compress_size)
    assert sl.read(path).n_rows == 50
    monkeypatch.setattr(archives, "MAX_RATIO", (info.file_size - 1) / info.compress_size)
    with pytest.raises(UnreadableFile, match="bomb"):
        sl.read(path)
    monkeypatch.setattr(archives, "MAX_UNPACKED", info.file_size)
    assert sl.read(path).n_rows == 50


def test_the_first_table_of_a_database_is_read_and_others_are_told(tmp_path, monkeypatch):
    path = tmp_path / "a b?.sqlite"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE one (a, b)")
    base.executemany("INSERT INTO one VALUES (?, ?)", [(1.5, 2), (3, 4.5)])
    base.commit()
    assert read_sqlite(path).notes == ()
    base.execute('CREATE TABLE "t ""wo" (a)')
    base.execute("CREATE VIEW v AS SELECT a FROM one")
    base.commit()
    base.close()
    (note,) = read_sqlite(path).notes
    assert "'one' was read; 2 others" in note
    assert read_sqlite(path, "v").notes == ()
    with pytest.raises(InvalidData, match="without rows"):
        read_sqlite(path, 't "wo')
    query = tmp_path / "q.SQL"
    query.write_bytes(b"select a from one -- caf\xe9\n;")
    assert read_sqlite(path, str(query)).n_rows == 2
    query.write_text("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT max(k) FROM n")
    monkeypatch.setattr(databases, "_STEPS", 50_000)
    with pytest.raises(UnreadableFile, match="takes too long"):
        read_sqlite(path, str(query))


def test_which_table_of_a_server_is_meant():
    sa = pytest.importorskip("sqlalchemy")

    source = Source("postgresql://u@h/d")
    with sa.create_engine("sqlite://").connect() as connection:
        with pytest.raises(InvalidData, match="without tables"):
            databases._query_on(connection, source, None)
        connection.execute(sa.text("CREATE TABLE one (a)"))
        assert databases._query_on(connection, source, None)[1:] == ("table 'one'", [])
        connection.execute(sa.text("CREATE VIEW two AS SELECT a FROM one"))
        query, title, (note,) = databases._query_on(connection, source, None)
        assert (title, str(query.compile()).split()) == ("table 'one'", ["SELECT", "*", "FROM", "one"])
        assert "1 other is there: two" in note.replace("'", "")
        assert databases._query_on(connection, source, "two")[1:] == ("table 'two'", [])
        query, title, notes = databases._query_on(connection, source, "main.two")
        assert (title, notes, str(query.compile()).split()[-1]) == ("table 'main.two'", [], "main.two")
        for unknown in ("three", "main.three", "other.two"):
            with pytest.raises(UnknownName, match=unknown):
                databases._query_on(connection, source, unknown)


def test_cells_of_servers_and_errors_without_a_password():
    from decimal import Decimal

    plain = [databases._plain(cell) for cell in (Decimal("7.0"), Decimal("7.5"), Decimal(2**53), Decimal(2**53 - 1))]
    assert plain == [7, 7.5, 2.0**53, 2**53 - 1]
    assert [type(cell) for cell in plain] == [int, float, float, int]
    assert [databases._plain(cell) for cell in (b"x", memoryview(b"x"), ["a", 1], "a")] == [None, None, "a|1", "a"]

    class Wrapped(Exception):
        orig = ValueError("secret inside\nmore")

    for error, told in ((Wrapped("outside"), "... inside"), (ValueError("secret outside"), "... outside")):
        with pytest.raises(UnreadableFile, match=rf"\({told}\)"), databases._told(Source("postgresql://u:secret@h/d")):
            raise error
