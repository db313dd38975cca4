"""A small table, and the command line called in this process."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest

from sidelight.app.cli.app import run as run_app


def files(folder):
    """Return the names of what is in a folder."""
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def table(tmp_path):
    generator = np.random.default_rng(0)
    groups = np.repeat([0.0, 8.0], 20)
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["photo", "width", "height", "note"])
        for i, group in enumerate(groups):
            writer.writerow([f"img{i}", group + generator.normal(), group + generator.normal(), "text"])
    return path


@pytest.fixture
def sidelight(monkeypatch, capsys, tmp_path):
    """Call the command line in this process: (code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["sidelight", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            run_app()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call
