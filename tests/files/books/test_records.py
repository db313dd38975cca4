"""JSON of every shape becomes the table it holds; what is left out is said, and several tables are asked about."""

from __future__ import annotations

import json
import tarfile

import numpy as np
import polars as pl
import pytest

import sidelight as sl
from sidelight.errors import UnreadableFile


def written(tmp_path, content, **how):
    """Write JSON and read it."""
    path = tmp_path / "a.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, **how))
    return sl.read(path)


ROWS = [{"width": i * 7 % 11 + 0.5, "height": i * 5 % 13 + 0.25, "kind": "ab"[i % 2]} for i in range(20)]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(ROWS, indent=2),
        "\n".join(map(json.dumps, ROWS)),
        " \n[" + ",\n".join(map(json.dumps, ROWS)) + "]\n",
        json.dumps({"version": 1, "items": ROWS}),
        json.dumps({"data": {"items": ROWS}}, indent=1),
        json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
        json.dumps({name: {str(i): row[name] for i, row in enumerate(ROWS)} for name in ROWS[0]}),
        json.dumps({"columns": list(ROWS[0]), "index": list(range(20)), "data": [list(row.values()) for row in ROWS]}),
        json.dumps([list(ROWS[0]), *(list(row.values()) for row in ROWS)]),
        json.dumps({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": row} for row in ROWS]}),
    ],
    ids=["array", "lines", "array of lines", "inside", "deeper", "columns", "keyed", "split", "rows", "geojson"],
)
def test_records_are_found_wherever_they_stand(tmp_path, content):
    data = written(tmp_path, content)
    assert data.feature_names == ("width", "height")
    assert data.columns("label") == ("kind",)
    np.testing.assert_array_equal(data.X[:, 0], [row["width"] for row in ROWS])


def test_numbers_that_json_does_not_know_are_read(tmp_path):
    assert np.isnan(written(tmp_path, '[{"a": NaN, "b": 1.5}, {"a": 2.5, "b": 0.5}]').X).sum() == 1


def test_a_list_of_numbers_is_as_many_columns_and_one_of_texts_a_set(tmp_path):
    rows = [row | {"spectrum": [i, i * i % 7, 1.5], "tags": ["x", "y"][: 1 + i % 2]} for i, row in enumerate(ROWS)]
    data = written(tmp_path, rows)
    assert {"spectrum.0", "spectrum.1", "spectrum.2"} <= {role.name for role in data.roles}
    ragged = [row | {"spectrum": list(range(i % 3 + 1))} for i, row in enumerate(ROWS)]
    data = written(tmp_path, ragged)
    assert any("'spectrum' is nested" in note for note in data.notes)


def test_records_inside_records_become_columns_or_rows_of_their_own(tmp_path):
    told_apart = [
        {"name": f"p{i}", "scores": [{"kind": k, "points": i * s % 17 + 0.5} for k, s in (("exam", 3), ("quiz", 5))]}
        for i in range(12)
    ]
    data = written(tmp_path, told_apart)
    assert data.feature_names == ("scores.exam", "scores.quiz")
    assert data.n_rows == 12
    alike = [{"name": f"p{i}", "visits": [{"weight": i + k, "pulse": 60 + k} for k in range(3)]} for i in range(12)]
    data = written(tmp_path, alike)
    assert data.n_rows == 36
    assert data.format.endswith("a row for each of their 'visits'")
    named = [row | {"actors": [{"name": "ann"}, {"name": "bob"}]} for row in ROWS]
    assert any("'actors'" in note for note in written(tmp_path, named).notes)


def test_spans_and_empty_lists_do_not_change_the_rows(tmp_path):
    spans = [row | {"spans": [{"start": 1, "end": 5, "label": "ORG"}]} for row in ROWS]
    data = written(tmp_path, spans)
    assert data.n_rows == 20
    assert any("'spans' is nested" in note for note in data.notes)
    seldom = [row | ({"extra": [{"a": 1}]} if i == 3 else {}) for i, row in enumerate(ROWS)]
    assert written(tmp_path, seldom).n_rows == 20


def test_several_lists_of_records_are_asked_about_and_named(tmp_path):
    data = written(tmp_path, {"nodes": ROWS, "links": [{"source": i, "target": i % 5} for i in range(90)]})
    assert data.n_rows == 20
    assert [settings["part"] for _, settings in data.doubts[0].readings] == ["nodes", "links"]
    (tmp_path / "b.json").write_text(json.dumps({"birds": ROWS, "trees": ROWS[:15]}))
    chosen = sl.read(f"{tmp_path / 'b.json'}::trees")
    assert chosen.n_rows == 15
    assert not any("trees" in doubt.question for doubt in chosen.doubts)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ({"type": "Topology", "objects": {}}, "TopoJSON"),
        ({"images": [{"id": 1}], "annotations": [{"bbox": [1, 2, 3, 4]}], "categories": []}, "label track"),
    ],
)
def test_documents_without_rows_are_named(tmp_path, content, match):
    with pytest.raises(UnreadableFile, match=match):
        written(tmp_path, content)


def test_structs_and_lists_of_parquet_and_arrow_are_opened(tmp_path):
    frame = pl.DataFrame({
        "at": [{"x": i + 0.5, "y": {"z": i * 3 % 7}} for i in range(9)],
        "list": [[i, i + 1] for i in range(9)],
        "ragged": [[0] * (i % 3) for i in range(9)],
        "bytes": [b"ab", b"cd", b"ef"] * 3,
    })  # fmt: skip
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")
    frame.write_ipc_stream(tmp_path / "s.arrow")
    for name in ("a.parquet", "a.arrow", "s.arrow"):
        data = sl.read(tmp_path / name)
        assert {"at.x", "at.y.z", "list.0", "list.1", "bytes"} == {role.name for role in data.roles}
        assert any("'ragged' is nested" in note for note in data.notes)
        np.testing.assert_array_equal(data.X[:, data.feature_names.index("at.x")], np.arange(9) + 0.5)


@pytest.mark.parametrize("packed", ["w", "w:gz"])
def test_tables_in_a_tar_archive_are_named_and_read(tmp_path, packed):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("width,kind\n" + "".join(f"{i}.5,{'uv'[i % 2]}\n" for i in range(10)))
    with tarfile.open(tmp_path / "t.tar", packed) as archive:
        for name in ("a.csv", "b.csv"):
            archive.add(tmp_path / name, name)
    with pytest.raises(UnreadableFile, match=r"2 tables .*which one is meant"):
        sl.read(tmp_path / "t.tar")
    assert sl.read(f"{tmp_path / 't.tar'}::b.csv").n_rows == 10


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"$FL2@(#) SPSS", "SPSS"), (b"<stata_dta><header>", "Stata"), (b"\x72\x02\x01\x00" + b"\0" * 60, "Stata"),
        (b"\0" * 8 + b"DUCK" + b"\0" * 60, "DuckDB"), (b"X\n\0\0\0\2", "R data"), (b"Obj\x01avro", "Avro"),
        (b"\0" * 12 + b"\xc2\xea\x81\x60", "SAS"), (b"CDF\x01", "NetCDF"), (b"II*\0", "TIFF"),
        (b"<?xml version='1.0'?>\n<ANNOTATION_DOCUMENT>", "ELAN"),
        (b"<annotation>\n<object><name>cat</name>", "Pascal VOC"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_called_by_its_name_with_the_way_out(tmp_path, content, match):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(UnreadableFile, match=match) as refusal:
        sl.read(tmp_path / "a")
    assert len(str(refusal.value).splitlines()) == 1
