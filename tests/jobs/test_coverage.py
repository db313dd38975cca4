"""The coverage job from a table to a folder, and what it says when the table cannot be used."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.jobs.config import RunConfig
from sidelight.jobs.coverage import read_counts
from sidelight.jobs.run import run

ROLES = {"bag": "recording", "label": "species", "label_separator": "|"}


@pytest.fixture
def table(tmp_path):
    """Thirty recordings of three kinds; crickets are never listed."""
    generator = np.random.default_rng(0)
    centres = {"wren": (0, 6), "owl": (6, 0), "cricket": (-6, -6)}
    path = tmp_path / "birds.csv"
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["recording", "species", "pitch", "length"])
        for r in range(30):
            kinds = list(generator.choice(list(centres), size=1 + r % 3, replace=False))
            listed = "|".join(kind for kind in kinds if kind != "cricket")
            for kind in kinds * 2:
                writer.writerow([f"r{r}", listed, *(np.array(centres[kind]) + generator.normal(size=2)).round(2)])
    return path


def test_a_table_becomes_names_a_model_and_a_report(table, tmp_path):
    config = RunConfig("coverage", str(table), ROLES, {"n_novel": "1", "empty": "none", "n_subclusters": "wren=2"})
    outcome = run(config, tmp_path / "out")
    assert {"assignments.csv", "bags.csv", "clusters.csv", "model.sidelight", "report.html"} <= set(outcome.files)
    with (tmp_path / "out" / "assignments.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    assert {row["label"] for row in rows} == {"wren", "owl", "novel-1"}
    model = sl.load(tmp_path / "out" / "model.sidelight")
    assert model.predict_labels([[0.0, 6.0], [6.0, 0.0], [-6.0, -6.0]]).tolist() == ["wren", "owl", "novel-1"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What the bags changed" in page
    assert "2 of 2 labels, 1 novel" in page  # a label with two clusters is one label


def test_a_table_without_labels_says_which_option_to_add(table, tmp_path):
    config = RunConfig("coverage", str(table), {"bag": "recording", "ignore": ["species"]})
    with pytest.raises(InvalidData, match="--label"):
        run(config, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_counts_are_read_as_people_write_them():
    assert read_counts("auto") == "auto"
    assert read_counts("2") == 2
    assert read_counts("wren=2, owl=3") == {"wren": 2, "owl": 3}
    with pytest.raises(InvalidParameter, match="wren=2,owl=3"):
        read_counts("many")
