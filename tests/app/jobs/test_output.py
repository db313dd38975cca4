"""Tables of results on the disk: every text, and no copy of it on the way."""

from __future__ import annotations

import tracemalloc

import polars as pl

from sidelight.app.jobs.output import write_parquet


def test_texts_are_not_copied_on_their_way_into_a_file(tmp_path):
    names = [f"{'ü' if i % 2 else 'u'}{'x' * 200}{i % 50}" for i in range(20_000)]
    columns = dict.fromkeys(("bag", "label", "row"), names)
    write_parquet(tmp_path / "once.parquet", columns)  # loads the library
    tracemalloc.start()
    write_parquet(tmp_path / "names.parquet", columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < sum(map(len, names))  # of one column
    assert pl.read_parquet(tmp_path / "names.parquet")["row"].to_list() == names


def test_text_that_utf8_cannot_hold_is_written_as_its_code(tmp_path):
    write_parquet(tmp_path / "t.parquet", {"a": ["x", "\ud800", "ü"], "b": [1, None, 3]})
    assert pl.read_parquet(tmp_path / "t.parquet").to_dict(as_series=False) == {
        "a": ["x", "\\ud800", "ü"],
        "b": [1, None, 3],
    }
