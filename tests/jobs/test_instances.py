"""The instances job: a messy table in, named clusters out."""

import csv

import pytest
from tests.laws.registry import blobs

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.jobs.config import RunConfig
from sidelight.jobs.run import run


@pytest.fixture
def table(tmp_path):
    X, y = blobs()
    names = ["ant", "bee", "cat"]
    lines = ["recording;a;b;c;d;heard"]
    for row in range(60):
        bag = row // 2
        heard = "|".join(sorted({names[y[r]] for r in (2 * bag, 2 * bag + 1)})) if bag else ""
        lines.append(f"rec {bag};" + ";".join(f"{v:.3f}".replace(".", ",") for v in X[row]) + f";{heard}")
    path = tmp_path / "birds.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_clusters_are_named_after_the_classes_of_bags(table, tmp_path):
    config = RunConfig("instances", table, {"bag": "recording", "label": "heard"}, {"alpha": 0.7})
    outcome = run(config, tmp_path / "out")
    assert "3 of 3 classes have clusters of their own." in outcome.sentences
    with (tmp_path / "out" / "assignments.csv").open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["name"] for row in rows} == {"ant", "bee", "cat"}
    assert len({(i % 3, row["name"]) for i, row in enumerate(rows)}) == 3
    model = sl.load(tmp_path / "out" / "model.sidelight")
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert "What the clusters are made of" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_table_without_bags_is_refused_with_advice(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("a,b\n1.5,2\n2.5,1\n3.5,9\n", encoding="utf-8")
    with pytest.raises(InvalidData, match="--bag COLUMN"):
        run(RunConfig("instances", str(path)), tmp_path / "out")
    with pytest.raises(InvalidData, match="Add -k"):
        run(RunConfig("instances", str(path), {"bag": "a", "label": False}), tmp_path / "out")
