"""Asking in the terminal: keys, answers on the disk, going on, and other rows."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("polars")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    generator = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("ask") / "rows.csv"
    X = generator.normal(size=(30, 3)) + 5 * (np.arange(30) % 2)[:, None]
    lines = ["id,x,y,z", *(f"r{i},{a:.3f},{b:.3f},{c:.3f}" for i, (a, b, c) in enumerate(X))]
    path.write_text("\n".join(lines) + "\n")
    return path


def ask(table, out, keys, *more):
    words = [sys.executable, "-m", "sidelight", "ask", str(table), "--out", str(out), *more]
    return subprocess.run(words, input=keys, capture_output=True, text=True, check=False)


def test_answers_are_kept_and_the_next_sitting_goes_on(table, tmp_path):
    out = tmp_path / "answers"
    first = ask(table, out, "d\nx\nu\ns\nb\nd\nq\n", "-k", "2")
    assert first.returncode == 0, first.stderr
    assert "'x' is none of these" in first.stdout
    events = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert [event.get("answer", "undo") for event in events] == ["different", "unsure", "same", "undo", "different"]
    second = ask(table, out, "s\n")
    assert second.returncode == 0, second.stderr
    assert "3 answers are there already" in second.stdout
    assert len((out / "assignments.csv").read_text().splitlines()) == 31
    assert (out / "pairs.csv").read_text().startswith("left,right,answer")


def test_answers_about_other_rows_are_refused(table, tmp_path):
    out = tmp_path / "answers"
    ask(table, out, "d\n")
    other = tmp_path / "other.csv"
    other.write_text("id,x,y,z\n" + "".join(f"r{i},{i},{i},1\n" for i in range(9)))
    refused = ask(other, out, "s\n")
    assert refused.returncode == 2
    assert "other rows" in refused.stderr
    assert len((out / "answers.jsonl").read_text().splitlines()) == 1
