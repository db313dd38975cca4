"""Every example runs, from another folder, without a screen; one of them as a process of its own."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path.stem == "hierarchy" else [pytest.mark.slow]) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_example_runs_and_says_something(path, tmp_path, monkeypatch, capsys):
    assert len(path.read_text().splitlines()) <= 60
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
def test_an_example_needs_nothing_but_itself(tmp_path):
    path = next(path for path in EXAMPLES if path.stem == "bags")
    command = [sys.executable, "-W", "error", str(path)]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
