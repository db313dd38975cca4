"""Events in many Parquet files are counted as in one table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, UnknownName
from sidelight.files.roles import events as part_events
from sidelight.files.roles.events import count_parquet


@pytest.fixture
def events(tmp_path):
    generator = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "who": [f"p{code}" for code in generator.integers(0, 9, 500)],
            "what": generator.integers(0, 5, 500),
            "times": generator.integers(1, 4, 500),
        }
    )
    cuts = (0, 120, 120, 500)  # the second file has no events
    files = [tmp_path / f"{number}.parquet" for number in range(3)]
    for path, first, last in zip(files, cuts, cuts[1:]):
        frame[first:last].write_parquet(path)
    return files, frame


@pytest.mark.parametrize("weight", [None, "times"])
def test_files_and_pieces_do_not_show(events, monkeypatch, weight):
    monkeypatch.setattr(part_events, "PIECE", 37)
    files, frame = events
    counts = count_parquet(files, ["who", "what"], weight=weight)
    assert counts == sl.CoOccurrence.from_table(frame, ["who", "what"], weights=weight)


def test_a_file_without_a_column_is_named(events):
    files, frame = events
    frame.drop("what").write_parquet(files[2])
    with pytest.raises(UnknownName, match=r"2\.parquet has no column 'what'"):
        count_parquet(files, ["who", "what"])


def test_a_file_with_another_type_is_named(events):
    files, frame = events
    frame.cast({"what": pl.String}).write_parquet(files[1])
    with pytest.raises(InvalidData, match=r"1\.parquet: column 'what' holds String, but Int64"):
        count_parquet(files, ["who", "what"])
