"""Tables of results on the disk: every text, and no copy of it on the way."""

from __future__ import annotations

import csv
import json
import tracemalloc

import numpy as np
import polars as pl
import pytest

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.output import write_csv, write_parquet
from sidelight.app.jobs.run import run


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


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_is_disarmed_whatever_it_begins_with(tmp_path, begins):
    cell = f"{begins}1+1"
    write_csv(tmp_path / "t.csv", {"name": [cell, "plain", f"a{cell}"], cell: [-1, 2.5, ""]}, disarm=True)
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["name", f"'{cell}"]
    assert [row[0] for row in rows[1:]] == [f"'{cell}", "plain", f"a{cell}"]
    assert [row[1] for row in rows[1:]] == ["-1", "2.5", ""]  # numbers stay numbers


@pytest.mark.parametrize("job", ["instances", "relations"])
def test_names_of_19_digits_come_through_a_run_digit_by_digit(tmp_path, job):
    rng = np.random.default_rng(0)
    ids = [str(9_007_199_254_740_993_000 + 2 * i + 1) for i in range(40)]  # as doubles most would be the same
    lines = [
        f"{name},{rng.normal() + 5 * (i % 2):.3f},{rng.normal():.3f},b{i // 4},wren|owl" for i, name in enumerate(ids)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["photo,x,y,recording,species", *lines]) + "\n")
    roles = {"id": "photo", "bag": "recording", "label": "species"} if job == "instances" else {"id": "photo"}
    if job == "relations":
        roles["ignore"] = ["recording", "species"]
    run(RunConfig(job, str(tmp_path / "t.csv"), roles), tmp_path / "out")
    with (tmp_path / "out" / "assignments.csv").open(newline="") as file:
        assert [row["photo"] for row in csv.DictReader(file)] == ids
    assert [str(name) for name in pl.read_parquet(tmp_path / "out" / "assignments.parquet")["photo"]] == ids
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert {str(name) for name in next(iter(numbers["tables"]["check"].values()))} <= set(ids)
    if job == "instances":
        told = {str(name) for names in numbers["contents"]["typical"] for name in names}
        assert told
        assert told <= set(ids)
