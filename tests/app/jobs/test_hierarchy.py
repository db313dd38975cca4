"""The hierarchy job: a table with gaps in, the same table without gaps and a tree out."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.describe import describe
from sidelight.app.jobs.hierarchy.work import work
from sidelight.app.jobs.page import page_of
from sidelight.app.jobs.run import run
from sidelight.errors import InvalidData, UnknownName, UnreadableFile
from sidelight.metrics import robinson_foulds
from sidelight.words import render

NAMES = ["animal", "bird", "wren", "frog", "owl", "tree frog"]


@pytest.fixture(scope="module")
def sample():
    return sl.data.make_label_tree(600, n_labels=6, n_features=4, missing=0.2, random_state=7)


def table(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([header, *rows])
    return str(path)


@pytest.fixture
def columns(sample, tmp_path):
    """A column of 0 and 1 for each label; an empty cell here and there."""
    rows = []
    for i, (x, y) in enumerate(zip(sample.X, sample.Y_incomplete)):
        cells = ["" if (i + j) % 19 == 0 else int(v) for j, v in enumerate(y)]
        rows.append([f"p{i}", *np.round(x, 3), *cells])
    return table(tmp_path / "columns.csv", ["photo", "a", "b", "c", "d", *NAMES], rows)


@pytest.fixture
def cells(sample, tmp_path):
    """All labels of a row in one cell."""
    rows = [
        [f"p{i}", *np.round(x, 3), ";".join(n for n, v in zip(NAMES, y) if v)]
        for i, (x, y) in enumerate(zip(sample.X, sample.Y_incomplete))
    ]
    return table(tmp_path / "cells.csv", ["photo", "a", "b", "c", "d", "tags"], rows)


@pytest.fixture
def two_tables(sample, tmp_path):
    """The rows in one table, and (row, label) pairs in another."""
    rows = table(
        tmp_path / "rows.csv",
        ["photo", "a", "b", "c", "d"],
        [[f"p{i}", *x] for i, x in enumerate(np.round(sample.X, 3))],
    )
    pairs = [[f"p{i}", NAMES[j]] for i, j in np.argwhere(sample.Y_incomplete == 1)]
    return rows, table(tmp_path / "tags.csv", ["photo", "tag"], pairs)


def test_label_columns_keep_what_nobody_looked_at_apart(columns, sample):
    result = work(RunConfig("hierarchy", columns, {"id": "photo", "label": NAMES}))
    assert result.n_unknown == sum((i + j) % 19 == 0 for i in range(600) for j in range(6))
    assert robinson_foulds(sample.tree.parents, result.tree.parents) == 0
    assert result.alpha == pytest.approx(0.2, abs=0.04)
    assert result.n_tested > 0
    assert result.n_not_random == 0


def test_the_three_ways_to_write_labels_agree(columns, cells, two_tables):
    rows, tags = two_tables
    roles = {"id": "photo"}
    one = work(RunConfig("hierarchy", cells, {**roles, "label": "tags"}, {"empty": "none"}))
    other = work(RunConfig("hierarchy", rows, {**roles, "label_file": tags}, {"empty": "none"}))
    assert one.assignments == other.assignments
    assert set(one.assignments) == {"photo", "labels", "added", "probability", *NAMES}


def test_the_table_comes_back_with_its_gaps_filled(cells, sample, tmp_path):
    config = RunConfig("hierarchy", cells, {"id": "photo", "label": "tags"}, {"empty": "none"})
    outcome = run(config, tmp_path / "out")
    assert {"assignments.csv", "tree.csv", "gaps.csv", "report.html", "model.sidelight"} <= set(outcome.files)
    with open(tmp_path / "out" / "assignments.csv", encoding="utf-8") as handle:
        filled = list(csv.DictReader(handle))
    result = outcome.result
    for row, before, line in zip(range(600), sample.Y_incomplete, filled):
        assert line["photo"] == f"p{row}"
        assert all(int(line[name]) >= value for name, value in zip(NAMES, before))
        assert set(filter(None, line["added"].split("|"))) <= set(line["labels"].split("|"))
    assert sum(bool(line["added"]) for line in filled) == result.n_rows_changed
    with open(tmp_path / "out" / "gaps.csv", encoding="utf-8") as handle:
        assert len(list(csv.DictReader(handle))) == result.n_added
    loaded = sl.load(tmp_path / "out" / "model.sidelight")
    assert loaded.tree_ == result.tree


def test_rows_without_labels_are_taken_for_unlabelled_and_the_page_says_so(cells):
    result = work(RunConfig("hierarchy", cells, {"id": "photo", "label": "tags"}))
    assert result.n_unlabelled > 0
    told = [render(sentence) for sentence in page_of(result).told]
    assert any("empty='none'" in sentence for sentence in told)
    told = [render(sentence) for sentence in page_of(replace(result, n_unlabelled=1)).told]
    assert any("1 row without labels was taken for one that nobody looked at" in sentence for sentence in told)


def test_features_in_any_unit_fill_the_same_gaps(sample, tmp_path):
    header = ["photo", "a", "b", "c", "d", *(f"tag_{name}" for name in NAMES)]
    filled = []
    for number, scale in enumerate((np.ones(4), np.array([1e4, 1e-3, 10.0, 1.0]))):
        rows = [[f"p{i}", *(x * scale + 7 * scale), *y] for i, (x, y) in enumerate(zip(sample.X, sample.Y_incomplete))]
        path = table(tmp_path / f"units{number}.csv", header, rows)
        filled.append(work(RunConfig("hierarchy", path, {"id": "photo", "label": ["tag_*"]})).completed)
    np.testing.assert_array_equal(*filled)


def test_labels_alone_need_no_features(two_tables, cells):
    result = work(RunConfig("hierarchy", cells, {"id": "photo", "label": "tags"}, {"use": "labels", "empty": "none"}))
    assert not result.used_features
    assert any("Only the labels were used" in render(s) for s in page_of(result).told)


def test_a_known_tree_comes_from_a_text_file(cells, sample, tmp_path):
    tree = sl.LabelTree(sample.tree.parents, NAMES)
    (tmp_path / "tree.txt").write_text(tree.to_text())
    options = {"tree": str(tmp_path / "tree.txt"), "empty": "none"}
    result = work(RunConfig("hierarchy", cells, {"id": "photo", "label": "tags"}, options))
    assert robinson_foulds(tree, result.tree) == 0
    assert result.source == "given"
    (tmp_path / "tree.txt").write_text("animal\n  newt\n")
    with pytest.raises(UnknownName, match="'newt'"):
        work(RunConfig("hierarchy", cells, {"id": "photo", "label": "tags"}, options))
    (tmp_path / "tree.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UnreadableFile, match="one label a line"):
        work(RunConfig("hierarchy", cells, {"id": "photo", "label": "tags"}, options))


def test_without_labels_the_message_says_what_to_do(two_tables):
    with pytest.raises(InvalidData, match="no labels of rows"):
        work(RunConfig("hierarchy", two_tables[0], {"id": "photo", "label": False}))


def test_describe_offers_the_job_for_several_labels_a_row(cells, two_tables):
    assert "hierarchy" in [fit.job for fit in describe(cells).fits]
    assert "hierarchy" not in [fit.job for fit in describe(two_tables[0]).fits]


def test_the_suggested_command_names_alike_columns_in_short(sample, tmp_path):
    rows = [[*x, *y] for x, y in zip(sample.X, sample.Y_incomplete)]
    path = table(tmp_path / "t.csv", ["a", "b", "c", "d", *(f"tag_{name}" for name in NAMES)], rows)
    assert next(fit for fit in describe(path).fits if fit.job == "hierarchy").roles["label"] == ["tag_*"]
    path = table(tmp_path / "u.csv", ["tag_size", "b", "c", "d", *(f"tag_{name}" for name in NAMES)], rows)
    fit = next(fit for fit in describe(path).fits if fit.job == "hierarchy")
    assert fit.roles["label"] == [f"tag_{name}" for name in NAMES]


def test_overlapping_labels_raise_a_doubt(tmp_path):
    rng = np.random.default_rng(0)
    mood = rng.normal(size=(500, 2))
    Y = (mood @ rng.normal(size=(2, 6)) + rng.normal(size=(500, 6)) > 0.3).astype(int)
    path = table(tmp_path / "moods.csv", [f"tag_{i}" for i in range(6)] + ["x"], [[*y, 0.0] for y in Y])
    result = work(RunConfig("hierarchy", path, {"label": ["tag_*"]}, {"use": "labels"}))
    told = " ".join(render(s) for s in page_of(result).told)
    assert "left out" in told or ("do not look like forgetting" in told and result.n_not_random > 0)


@pytest.mark.slow
@pytest.mark.parametrize("learn", [False, True])
def test_a_declared_tree_is_used_unless_it_is_to_be_learnt(data_dir, learn):
    table = str(data_dir / "church_fun" / "church_FUN.train.arff")
    result = work(RunConfig("hierarchy", table, {"missing": "mean"}, {"use": "labels", "learn_tree": learn}))
    assert result.declared is not None
    assert (robinson_foulds(result.declared, result.tree) == 0) is not learn
    page = page_of(result)
    assert ("Beside the tree that the file declares" in [section.title for section in page.sections]) is learn
    assert ("that the table declares" in page.told[0]) is not learn


def test_a_column_that_looks_like_a_bag_does_not_take_the_labels(tmp_path):
    lines = [f"r{i // 3},{i % 2},{int(i % 4 == 1)},{int(i % 4 == 0)},{i % 4}.5" for i in range(24)]
    (tmp_path / "t.csv").write_text("recording,tag_a,tag_b,tag_c,pitch\n" + "\n".join(lines) + "\n")
    result = run(RunConfig("hierarchy", str(tmp_path / "t.csv"), {"label": ["tag_*"]}), tmp_path / "out").result
    assert result.n_labels == 3
