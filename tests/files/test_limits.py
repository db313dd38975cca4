"""Small files that declare much: refused, with the numbers, before the memory is taken."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidParameter, TooLarge
from sidelight.files.limits import as_bytes, in_units

MUCH = 2_000_000_000


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, limit="1GB", **roles):
    """Return the message; a larger limit must not change what kind of file it is."""
    with pytest.raises(TooLarge, match=path.name) as caught:
        sl.read(path, max_memory=limit, **roles)
    assert "max_memory=" in str(caught.value)
    assert "of memory; the limit is" in str(caught.value)
    return str(caught.value)


def sparse_archive(path, shape):
    indptr = np.zeros(min(shape[0], 2) + 1, dtype=np.int64)
    np.savez(path, data=np.ones(0), indices=np.zeros(0, np.int64), indptr=indptr, shape=np.array(shape), format="csr")
    return path


def test_sparse_archives_of_two_billion_rows_or_columns(tmp_path):
    assert "2147483648 rows" in refused(sparse_archive(tmp_path / "tall.npz", (2**31, 2)))
    assert f"{MUCH} columns" in refused(sparse_archive(tmp_path / "wide.npz", (2, MUCH)))


def test_one_large_index_of_svmlight(put):
    assert "2147483646 columns" in refused(put("a.svm", "1 1:2\n" * 60 + "1 2147483646:1\n"))


def test_constant_columns_of_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3_000_000, np.int8)), pa.array([1.5]))
    pq.write_table(pa.table({"f": column}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    assert "3000000 rows of 1 columns would take about 48 MB" in refused(tmp_path / "a.parquet", "20MB")
    assert sl.read(tmp_path / "a.parquet", max_memory="60MB").X.sum() == 4_500_000


@pytest.mark.parametrize("categories", [True, False])
def test_one_long_text_that_comes_back_in_parquet(tmp_path, categories):
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = np.zeros(400_000, np.int32)
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["x" * 100_000]))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"s": column, "f": np.arange(400_000.0)}), path, store_schema=categories)
    assert path.stat().st_size < 5_000_000
    message = refused(path, label="s")
    assert "400000 texts of 100000 bytes" in message
    assert "40 GB" in message
    assert sl.read(path).n_rows == 400_000  # the text has no role, so it is never unpacked


def test_long_texts_that_begin_later_are_seen_too(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr("sidelight.files.arrays.parquet.SLICE", 10_000)
    codes = np.repeat(np.array([0, 1], np.int32), [2_000, 40_000])
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["short", "x" * 100_000]))
    pq.write_table(pa.table({"s": column, "f": np.arange(42_000.0)}), tmp_path / "a.parquet")
    assert "texts of column 's'" in refused(tmp_path / "a.parquet", label="s")


def test_dense_arrays_and_images(put, tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((4000, 1000), dtype=np.int8))
    assert "4000 x 1000" in refused(tmp_path / "a.npz", "20MB")
    images = b"\0\0\x08\x03" + struct.pack(">3I", 1000, 100, 40) + b"\0" * 4_000_000
    assert "1000 rows and 4000 columns" in refused(put("images-idx3-ubyte", images), "20MB")


def test_text_is_estimated_and_watched(put):
    rows = "f1,f2,f3\n" + "1,2,3\n" * 300_000
    assert "about 300001 rows with 3 columns of numbers" in refused(put("a.csv", rows), "5MB")
    assert "rows" in refused(put("a.csv.gz", gzip.compress(rows.encode())), "5MB")
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n"
    assert "lines, cut into cells" in refused(put("a.arff", head + "1,2\n" * 100_000), "5MB")


def test_folders_are_watched(tmp_path):
    for k in range(20):
        (tmp_path / "texts" / "a").mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / "a" / f"{k}.txt").write_text("word " * 20_000)
    assert "files would take" in refused(tmp_path / "texts", "5MB")


def test_a_limit_is_a_size():
    assert [as_bytes(s) for s in (5, "5", "1.5GB", "2 kB", "1GiB", "3m")] == [
        5,
        5,
        1_500_000_000,
        2000,
        2**30,
        3_000_000,
    ]
    assert [in_units(n) for n in (12, 3_400, 48_000_000, 2.5e12)] == ["12 bytes", "3.4 kB", "48 MB", "2.5 TB"]
    for wrong in ("much", "", "-1", 0, True, None, float("nan"), [1]):
        with pytest.raises(InvalidParameter, match="max_memory"):
            as_bytes(wrong)


def test_the_command_line_takes_the_limit(tmp_path, monkeypatch, capsys):
    from sidelight.app.cli.app import run

    path = tmp_path / "a.csv"
    path.write_text("f1,f2,f3\n" + "1,2,3\n" * 300_000)
    monkeypatch.setattr("sys.argv", ["sidelight", "describe", str(path), "--max-memory", "5MB"])
    with pytest.raises(SystemExit) as stop:
        run()
    assert stop.value.code == 2
    assert "raise it: --max-memory 10MB" in capsys.readouterr().err
