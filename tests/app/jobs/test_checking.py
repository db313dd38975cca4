"""Every job says how sure each row is, compares itself with a truth in the table, and takes corrections back."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.checking import MOST
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.instances.coverage import _about_corrections, _with_names
from sidelight.app.jobs.run import run
from sidelight.app.jobs.samples import write_sample
from sidelight.errors import InvalidData, UnknownName

pytestmark = pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
PEOPLE = {"channels": {part: [f"{part}_*"] for part in ("face", "upper", "lower", "height")}}
RUNS = {
    "instances": ("digit-bags", "instances", {}, {"boundary": "straight"}, "label"),
    "spectral": ("birds", "instances", {}, {"method": "spectral", "alpha": 0.7}, "cluster"),
    "words": ("birds", "bags", {}, {"n_clusters": 3}, "cluster"),
    "margin": ("birds", "bags", {}, {"method": "margin", "n_clusters": 3, "n_init": 1}, "cluster"),
    "medoids": ("birds", "bags", {}, {"method": "medoids", "n_clusters": 3}, "cluster"),
    "relations": ("wine", "relations", {}, {"n_clusters": 3}, "cluster"),
    "hierarchy": ("label-tree", "hierarchy", {}, {}, None),
    "sources": ("people", "sources", PEOPLE, {"n_clusters": 3}, "cluster"),
    "coclusters": ("visits", "coclusters", {}, {"n_clusters": [4, 3]}, "cluster"),
}
COMPARED = {"instances", "relations", "sources"}  # samples that hold a truth of rows
DONE = {}
CORRECTED = {"instances": "right_label", "relations": "answer", "hierarchy": "right"}


def read(path):
    with open(path, encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def read_names(path):
    with open(path, encoding="utf-8", newline="") as handle:
        return next(csv.reader(handle))


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("checking")


def do(folder, name, out=None, **more):
    """Run a job on its sample: once, unless it is told more."""
    if out is None and (folder / name) in DONE:
        return DONE[folder / name]
    sample, job, roles, options, _ = RUNS[name]
    table = folder / f"{sample}.csv"
    if not table.exists():
        write_sample(sample, str(table))
    made = run(RunConfig(job, str(table), roles, {**options, **more}), folder / (out or name), overwrite=True)
    return DONE.setdefault(folder / (out or name), made)


@pytest.mark.parametrize("name", RUNS)
def test_every_row_has_a_probability_and_the_doubtful_ones_are_listed(folder, name):
    outcome = do(folder, name)
    rows = read(folder / name / "assignments.csv")
    assert all(0 <= float(row["probability"]) <= 1 for row in rows)
    for file in {*(folder / name).glob("*.csv")} - {folder / name / "truth.csv"}:  # headings of users
        assert " " not in "".join(read_names(file)), file.name
    check = read(folder / name / "check.csv")
    assert 0 < len(check) <= MOST
    empty = [column for column in check[0] if all(row[column] == "" for row in check)]
    assert empty == ([CORRECTED[name]] if name in CORRECTED else [])
    truth = outcome.result.truth
    assert (truth is not None) == (name in COMPARED)
    if truth is not None:
        assert truth.information > 0.3
        crossed = read(folder / name / "truth.csv")
        assert sum(int(row[kind]) for row in crossed for kind in row if kind != "cluster") == truth.n_rows
        assert any("mutual information" in sentence for sentence in outcome.sentences)


@pytest.mark.parametrize(
    ("job", "options", "column"),
    [
        ("instances", {"boundary": "straight"}, "true kind"),
        ("instances", {"method": "spectral"}, "true kind"),
        ("relations", {"n_clusters": 2}, "true kind"),
        ("bags", {"method": "medoids", "n_clusters": 2}, "true place"),
    ],
    ids=["coverage", "spectral", "relations", "bags"],
)
def test_a_truth_beside_the_lists_of_bags_is_compared_with_by_itself(tmp_path, job, options, column):
    rng = np.random.default_rng(0)
    lines = [f"trap,animals,{column},x,y"]
    for bag in range(20):
        kinds = [["fox"], ["owl"], ["fox", "owl"]][bag % 3]
        for i in range(6):
            kind = kinds[i % len(kinds)]
            x, y = rng.normal(3 * (kind == "owl"), 0.5, size=2)
            truth = kind if column == "true kind" else f"place {bag % 3}"
            lines.append(f"{bag},{'|'.join(kinds)},{truth},{x:.3f},{y:.3f}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    truth = run(RunConfig(job, str(tmp_path / "t.csv"), {}, options), tmp_path / "out").result.truth
    assert truth.column == column
    assert truth.n_rows == (20 if job == "bags" else 120)
    assert truth.accuracy > (0.6 if job == "bags" else 0.95)


def test_corrected_rows_are_believed(folder):
    do(folder, "instances")
    data = sl.read(folder / "digit-bags.csv")
    kinds = data.truth if data.y is None else data.y
    truth = {str(name): label for name, label in zip(data.row_names, kinds)}
    check = read(folder / "instances" / "check.csv")
    key = next(iter(check[0]))
    for row in check:
        row["right_label"] = truth[row[key]]
    write(folder / "filled.csv", check)
    outcome = do(folder, "instances", "corrected", corrections=str(folder / "filled.csv"))
    assert outcome.result.truth is not None  # the labels of the rows were not used, only the corrections
    after = {row[key]: row["label"] for row in read(folder / "corrected" / "assignments.csv")}
    assert all(after[row[key]] == truth[row[key]] for row in check)
    before = {row[key]: row["label"] for row in read(folder / "instances" / "assignments.csv")}
    right = [np.mean([labels[name] == truth[name] for name in truth]) for labels in (before, after)]
    assert right[1] > right[0]


def test_a_kind_that_gathers_no_cluster_is_a_label_of_the_corrected_row_and_takes_no_other(folder):
    do(folder, "instances")
    before = {line["row"]: line["label"] for line in read(folder / "instances" / "assignments.csv")}
    row = read(folder / "instances" / "check.csv")[0]["row"]
    write(folder / "odd.csv", [{"row": row, "right_label": "smudge"}])
    outcome = do(folder, "instances", "odd", corrections=str(folder / "odd.csv"))
    after = {line["row"]: line["label"] for line in read(folder / "odd" / "assignments.csv")}
    assert after[row] == "smudge"
    assert set(after.values()) == {*before.values(), "smudge"}
    assert sum(after[name] != before[name] for name in before) < 0.02 * len(before)
    assert any("corrected to 'smudge': it is a label of its own now" in note for note in outcome.result.heard)


def test_new_labels_and_empty_corrections_are_said():
    bags = sl.Bags(["p", "p", "q"], labels={"p": {"fox", "hare"}, "q": {"hare"}})
    assert _about_corrections("check.csv", {0: "fox"}, bags) == []
    assert "no row was corrected" in _about_corrections("check.csv", {}, bags)[0]
    told = _about_corrections("check.csv", {0: "foxx", 1: "boar"}, bags)[0]
    assert "2 labels that no list has" in told
    assert "Was 'fox' meant by 'foxx'?" in told


def test_corrected_pairs_are_answers(folder):
    before = do(folder, "relations")
    check = read(folder / "relations" / "check.csv")
    for row in check[:10]:
        row["answer"] = "different"
    write(folder / "pairs.csv", check)
    after = do(folder, "relations", "answered", corrections=str(folder / "pairs.csv"))
    assert (before.result.n_pairs, after.result.n_pairs) == (0, 10)


def test_corrected_entries_are_in_the_completed_labels(folder):
    do(folder, "hierarchy")
    check = read(folder / "hierarchy" / "check.csv")
    key = next(iter(check[0]))
    for number, row in enumerate(check[:8]):
        row["right"] = str(number % 2)
    write(folder / "entries.csv", check)
    do(folder, "hierarchy", "entries", corrections=str(folder / "entries.csv"))
    after = {row[key]: row for row in read(folder / "entries" / "assignments.csv")}
    assert all(after[row[key]][row["label"]] == row["right"] for row in check[:8])


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("row,other\n1,x\n", InvalidData, "right_label"),
        ("row,right label\nnobody,3\n", UnknownName, "nobody"),
    ],
)
def test_corrections_that_fit_nothing_are_refused(folder, text, error, message):
    (folder / "bad.csv").write_text(text)
    with pytest.raises(error, match=message):
        do(folder, "instances", "bad", corrections=str(folder / "bad.csv"))
    assert not (folder / "bad").exists()


def test_a_novel_cluster_of_an_earlier_run_is_no_label():
    bags = sl.Bags(["a", "a", "b"], labels={"a": {"fox"}, "b": {"owl"}})
    right, told = _with_names({0: "novel-1", 2: "hare"}, bags)
    assert right == {2: "hare"}
    assert "1 correction says 'novel-1', a cluster of the run before and no label" in told[0]
    named = sl.Bags(["a"], labels={"a": {"novel-1"}})
    assert _with_names({0: "novel-1"}, named) == ({0: "novel-1"}, [])
