"""Lines that are no rows: named and refused, or left out and counted."""

from __future__ import annotations

import json

import pytest

import sidelight as sl
from sidelight.data.dataset import TOLD
from sidelight.errors import SidelightError

HOW = {"events": ["user", "page"]}


def told(data):
    return [str(note) for note in data.notes if getattr(note, "code", "") == TOLD]


def events(n=400, bad=()):
    lines = [json.dumps({"user": f"u{k % 7}", "page": f"p{k % 11}"}) for k in range(n)]
    for k in bad:
        lines[k] = lines[k][:9]
    return "\n".join(lines)


def test_a_broken_line_of_json_is_named_or_left_out(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text(events(bad=(120, 300)))
    with pytest.raises(SidelightError, match="line 121") as error:
        sl.read(path, **HOW)
    assert "bad_lines='skip'" in str(error.value)
    data = sl.read(path, bad_lines="skip", **HOW)
    assert data.counts.total == 398
    assert told(data) == ["2 lines left out that are no row: line 121 (no JSON record), line 301 (no JSON record)"]
    path.write_text(events(bad=(0,)))
    assert sl.read(path, bad_lines="skip", **HOW).counts.total == 399


@pytest.mark.parametrize("n", [40, 60_000])
@pytest.mark.parametrize("quote", ["", '"'])
def test_short_and_long_lines_of_a_text_are_named_or_left_out(tmp_path, n, quote):
    lines = ["name;a;b", *(f"{quote}r{k}{quote};{k};{k + 0.5}" for k in range(n))]
    lines[17], lines[18] = "r16;16", "r17;17;17.5;9"  # together they have as many separators as two rows
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(SidelightError, match="line 18"):
        sl.read(path, id="name")
    data = sl.read(path, id="name", bad_lines="skip")
    assert data.n_rows == n - 2
    assert data.row_names[16] == "r18"
    assert data.location(16) == "line 20"
    assert "2 lines left out" in told(data)[0]
    assert "line 18 (2 columns instead of 3)" in told(data)[0]


def test_another_word_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SidelightError, match="bad_lines"):
        sl.read(tmp_path / "a.csv", bad_lines="maybe")
