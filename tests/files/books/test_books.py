"""Workbooks, databases and records: read as tables, whole numbers and dates as people wrote them."""

from __future__ import annotations

import json
import sqlite3
import zipfile

import numpy as np
import polars as pl
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, SidelightError, UnknownName, UnreadableFile

CELL = {str: 't="inlineStr"><is><t>{}</t></is></c>', float: "><v>{}</v></c>"}


def workbook(path, sheets, merged=()):
    """Write the smallest workbook there is, by hand: what a reader must take, whoever wrote it."""
    kinds = "http://schemas.openxmlformats.org/"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="application/vnd.openxmlformats-'
            'officedocument.spreadsheetml.worksheet+xml"/>'
            for k in range(1, len(sheets) + 1)
        )
        archive.writestr(
            "[Content_Types].xml",
            f'<?xml version="1.0"?><Types xmlns="{kinds}package/2006/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
            'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
            f'sheet.main+xml"/>{parts}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<?xml version="1.0"?><Relationships xmlns="{kinds}package/2006/relationships"><Relationship Id="rId1" '
            f'Type="{kinds}officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>",
        )
        listed = "".join(
            f'<sheet name="{name}" sheetId="{k}" r:id="rId{k}"/>' for k, name in enumerate(sheets, start=1)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<?xml version="1.0"?><workbook xmlns="{kinds}spreadsheetml/2006/main" '
            f'xmlns:r="{kinds}officeDocument/2006/relationships"><sheets>{listed}</sheets></workbook>',
        )
        links = "".join(
            f'<Relationship Id="rId{k}" Type="{kinds}officeDocument/2006/relationships/worksheet" '
            f'Target="worksheets/sheet{k}.xml"/>'
            for k in range(1, len(sheets) + 1)
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<?xml version="1.0"?><Relationships xmlns="{kinds}package/2006/relationships">{links}</Relationships>',
        )
        for k, rows in enumerate(sheets.values(), start=1):
            body = ""
            for i, row in enumerate(rows, start=1):
                cells = "".join(
                    f'<c r="{chr(65 + j)}{i}" ' + CELL[str if isinstance(v, str) else float].format(v)
                    for j, v in enumerate(row)
                    if v is not None
                )
                body += f'<row r="{i}">{cells}</row>'
            joins = "".join(f'<mergeCell ref="{ref}"/>' for ref in merged)
            joins = f'<mergeCells count="{len(merged)}">{joins}</mergeCells>' if merged else ""
            archive.writestr(
                f"xl/worksheets/sheet{k}.xml",
                f'<?xml version="1.0"?><worksheet xmlns="{kinds}spreadsheetml/2006/main"><sheetData>{body}</sheetData>'
                f"{joins}</worksheet>",
            )
    return path


ROWS = [["id", "site", "x", "y"], *[[float(i), f"s{i % 3}", i / 2, float(i * i % 7)] for i in range(1, 13)]]


def test_a_workbook_is_a_table_and_the_id_7_is_7(tmp_path):
    data = sl.read(workbook(tmp_path / "b.xlsx", {"Birds": ROWS}), id="id", bag="site")
    assert data.row_names.tolist()[:3] == [1, 2, 3]
    assert not any("sheet" in note for note in data.notes)
    assert data.bags.n_bags == 3
    np.testing.assert_array_equal(data.X[:, 0], np.arange(1, 13) / 2)


def test_a_sheet_is_chosen_by_name_and_others_are_said(tmp_path):
    path = workbook(
        tmp_path / "b.xlsx", {"First": ROWS, "Second": [["u", "v"], *[[1.0 * i, 2.0 * i] for i in range(9)]]}
    )
    assert any("other sheet" in note for note in sl.read(path).notes)
    assert sl.read(f"{path}::Second").feature_names == ("u", "v")
    with pytest.raises(UnknownName, match="no sheet 'Secnd'"):
        sl.read(f"{path}::Secnd")


def test_title_lines_empty_lines_and_merged_cells(tmp_path):
    rows = [["Census of 2024"], [], *map(list, ROWS), [None, None, None, None]]
    rows[4][1] = None  # merged with the cell above
    data = sl.read(workbook(tmp_path / "b.xlsx", {"s": rows}, merged=["B4:B5"]), bag="site")
    assert data.n_rows == 12
    assert data.bags.names[int(data.bags.codes[1])] == "s1"


@pytest.mark.slow
def test_a_workbook_bomb_and_damage_are_refused(tmp_path):
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * 60_000_000)
    with pytest.raises(UnreadableFile, match="decompression bomb"):
        sl.read(path)
    whole = workbook(tmp_path / "b.xlsx", {"s": ROWS}).read_bytes()
    for cut in (200, len(whole) // 2, len(whole) - 30):
        (tmp_path / "cut.xlsx").write_bytes(whole[:cut])
        with pytest.raises(SidelightError):
            sl.read(tmp_path / "cut.xlsx")


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "birds.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("create table segments (recording text, species text, x real, y integer, big integer)")
        rows = [(f"r{i // 3}", "wren" if i % 2 else "owl", i / 4, i, 2**60 + i) for i in range(30)]
        base.executemany("insert into segments values (?, ?, ?, ?, ?)", rows)
        base.execute('create table "odd ""name" (a real, b real)')
        base.executemany('insert into "odd ""name" values (?, ?)', [(1.0, i) for i in range(5)])
    base.close()
    return path


def test_a_database_is_read_by_table_and_by_query(database, tmp_path):
    data = sl.read(f"{database}::segments", bag="recording", label="species", keep="big", features=["x", "y"])
    assert data.bags.n_bags == 10
    assert str(data.kept["big"][3]) == str(2**60 + 3)
    assert sl.read(f'{database}::odd "name').n_rows == 5
    (tmp_path / "q.sql").write_text("select x, y from segments where y > 20;")
    assert sl.read(f"{database}::{tmp_path / 'q.sql'}").n_rows == 9
    with pytest.raises(UnknownName, match="no table 'segment'"):
        sl.read(f"{database}::segment")


def test_a_database_is_never_written_and_a_lock_is_said(database, tmp_path):
    before = database.read_bytes()
    (tmp_path / "q.sql").write_text("delete from segments")
    with pytest.raises(InvalidData, match="expected one SELECT"):
        sl.read(f"{database}::{tmp_path / 'q.sql'}")
    (tmp_path / "q.sql").write_text("with x as (select 1) delete from segments")
    with pytest.raises(SidelightError):
        sl.read(f"{database}::{tmp_path / 'q.sql'}")
    assert database.read_bytes() == before
    holder = sqlite3.connect(database)
    holder.execute("begin exclusive")
    try:
        with pytest.raises(UnreadableFile, match="another program holds the database"):
            sl.read(f"{database}::segments")
    finally:
        holder.close()


def test_a_damaged_database_is_refused(database):
    content = bytearray(database.read_bytes())
    content[100:400] = b"\xff" * 300
    database.write_bytes(bytes(content))
    with pytest.raises(SidelightError):
        sl.read(f"{database}::segments")


RECORDS = [{"id": f"r{i}", "at": {"x": i / 3, "y": i % 4}, "tags": ["a", "b"][: 1 + i % 2]} for i in range(20)]


@pytest.mark.parametrize("form", ["lines", "array", "inside"])
def test_records_are_read_with_fields_of_fields(tmp_path, form):
    path = tmp_path / "log.json"
    text = {
        "lines": "\n".join(map(json.dumps, RECORDS)),
        "array": json.dumps(RECORDS),
        "inside": json.dumps({"count": 20, "data": RECORDS}),
    }[form]
    path.write_text(text)
    data = sl.read(path, id="id", label="tags")
    assert data.feature_names == ("at.x", "at.y")
    assert data.row_names.tolist()[:2] == ["r0", "r1"]
    assert set(data.label_names) == {"a", "b"}


def test_a_line_that_is_no_record_is_named(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1, "b": 2}\n{"a": 1, "b"\n')
    with pytest.raises(UnreadableFile, match=r"log\.jsonl, line 2: expected one JSON record"):
        sl.read(path)
    path.write_text('{"a": 1, "b": 2}\n[1, 2]\n')
    with pytest.raises(InvalidData, match="line 2: expected a record"):
        sl.read(path)


def test_feather_is_read_and_damage_refused(tmp_path):
    path = tmp_path / "t.feather"
    pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.0, 1.0, 0.5], "name": ["a", "b", "c"]}).write_ipc(path)
    assert sl.read(path).X.shape == (3, 2)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(UnreadableFile, match="Arrow file that cannot be read"):
        sl.read(path)


def test_an_address_is_refused_with_a_clear_word():
    with pytest.raises(UnreadableFile, match="an address on the web, which is never asked"):
        sl.read("https://example.org/birds.csv")


def test_a_table_inside_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("deep/birds.csv", "x,y\n1,2\n3,4\n5,6\n")
        archive.writestr("__MACOSX/._birds.csv", "no")
    assert sl.read(tmp_path / "one.zip").X.shape == (3, 2)
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("../up.csv", "x,y\n1,2\n3,4\n5,6\n")
        archive.writestr("b.csv", "u,v\n1,2\n3,4\n5,6\n")
    with pytest.raises(UnreadableFile, match="an archive of 2 tables"):
        sl.read(tmp_path / "two.zip")
    assert sl.read(f"{tmp_path / 'two.zip'}::b.csv").feature_names == ("u", "v")
    assert sl.read(f"{tmp_path / 'two.zip'}::../up.csv").feature_names == ("x", "y")  # unpacked under our own name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.zip", "two.zip"]


def test_standard_input_is_a_table(tmp_path):
    import subprocess
    import sys

    words = [sys.executable, "-m", "sidelight", "describe", "-"]
    done = subprocess.run(
        words, input="x,y\n1,2\n3,4\n5,6\n", capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("standard input: text separated by commas")
