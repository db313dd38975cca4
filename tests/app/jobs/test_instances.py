"""The instances job: a messy table in, named clusters out."""

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.laws.registry import blobs

import sidelight as sl
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.run import run


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
    config = RunConfig("instances", table, {"bag": "recording", "label": "heard"}, {"method": "spectral", "alpha": 0.7})
    outcome = run(config, tmp_path / "out")
    assert any(s.startswith("3 of 3 classes have clusters of their own: ") for s in outcome.sentences)
    with (tmp_path / "out" / "assignments.csv").open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["name"] for row in rows} == {"ant", "bee", "cat"}
    assert len({(i % 3, row["name"]) for i, row in enumerate(rows)}) == 3
    model = sl.load(tmp_path / "out" / "model.sidelight")
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert "What the clusters are made of" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_fewer_clusters_than_classes_are_not_blamed_on_alpha(table, tmp_path):
    config = RunConfig(
        "instances",
        table,
        {"bag": "recording", "label": "heard"},
        {"method": "spectral", "alpha": 0.7, "n_clusters": 1},
    )
    said = " ".join(run(config, tmp_path / "out").sentences)
    assert "with 1 cluster for 3 classes some have to" in said
    assert "alpha=" not in said


def test_a_bag_that_reaches_into_a_foreign_cluster_is_named(table, tmp_path):
    text = Path(table).read_text(encoding="utf-8").splitlines()
    wrong = [line.rsplit(";", 1)[0] + ";ant" if line.startswith("rec 7;") else line for line in text]
    Path(table).write_text("\n".join(wrong) + "\n", encoding="utf-8")
    config = RunConfig("instances", table, {"bag": "recording", "label": "heard"}, {"method": "spectral", "alpha": 0.1})
    run(config, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "In 1 of 29 labelled bags" in page
    assert "(rec 7)" in page
    clusters = (tmp_path / "out" / "clusters.csv").read_text(encoding="utf-8")
    assert "(rec " in clusters.split("typical_rows")[1]  # a typical row says where to look for it


@pytest.mark.slow
def test_spectral_without_labels_chooses_a_number_of_clusters(tmp_path):
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
    lines = [f"rec{i // 4},{a:.4f},{b:.4f}" for i, (a, b) in enumerate(X)]
    (tmp_path / "t.csv").write_text("recording,a,b\n" + "\n".join(lines) + "\n")
    result = run(RunConfig("instances", str(tmp_path / "t.csv"), {}, {"method": "spectral"}), tmp_path / "out").result
    assert result.n_clusters_choice[0].chosen == 3
    assert sorted(result.sizes) == [20, 20, 20]


def test_dmnl_names_rows_that_no_list_names(table, tmp_path):
    text = Path(table).read_text(encoding="utf-8").replace("|cat", "").replace("cat|", "").replace("cat", "")
    Path(table).write_text(text, encoding="utf-8")
    roles = {"bag": "recording", "label": "heard"}
    outcome = run(RunConfig("instances", table, roles, {"method": "dmnl", "n_novel": 1}), tmp_path / "out")
    with (tmp_path / "out" / "assignments.csv").open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["label"] for i, row in enumerate(rows) if i % 3 == 2} == {"novel-1"}
    assert any("something that no list names: novel-1" in s for s in outcome.sentences)
    assert "Known and novel labels" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert sl.load(tmp_path / "out" / "model.sidelight").cluster_names_ == ("ant", "bee", "novel-1")


@pytest.mark.slow
def test_dmnl_shows_how_the_count_was_chosen(table, tmp_path):
    config = RunConfig("instances", table, {"bag": "recording", "label": "heard"}, {"method": "dmnl", "n_init": 1})
    outcome = run(config, tmp_path / "out")
    assert any("the known labels of held-out bags are told best" in s for s in outcome.sentences)


@pytest.mark.parametrize("n_novel", [0, 1])
def test_fast_miml_names_rows_and_writes_a_page(table, tmp_path, n_novel):
    config = RunConfig(
        "instances", table, {"bag": "recording", "label": "heard"}, {"method": "fast-miml", "n_novel": n_novel}
    )
    run(config, tmp_path / "out")
    with (tmp_path / "out" / "assignments.csv").open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["label"] for row in rows} <= {"ant", "bee", "cat", "novel-1"}
    model = sl.load(tmp_path / "out" / "model.sidelight")
    assert len(model.cluster_names_) == 3 + n_novel
