"""Applying a saved model: columns by name, whole bags together, any length, and the same answers as the fit gave."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from typing import get_args

import numpy as np
import polars as pl
import pytest
from tests.examples import but_slow

import sidelight as sl
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.placing import place_of
from sidelight.app.jobs.predict import predict
from sidelight.app.jobs.relations import Peer, Peers
from sidelight.app.jobs.relations.work import make_estimator
from sidelight.app.jobs.roles import Roles
from sidelight.app.jobs.run import run
from sidelight.app.jobs.samples import write_sample
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData
from sidelight.estimators.scaling import Standardized
from sidelight.files import streaming

RUNS = {
    "instances": ("birds", {}),
    "spectral": ("birds", {"method": "spectral"}),
    "words": ("birds", {"n_clusters": 3}),
    "margin": ("birds", {"method": "margin", "n_clusters": 3, "n_init": 2}),
    "medoids": ("birds", {"method": "medoids", "n_clusters": 3}),
    "relations": ("iris", {"n_clusters": 3}),
    "hierarchy": ("label-tree", {}),
    "sources": ("people", {"n_clusters": 3}),
}
JOBS = {"spectral": "instances", "words": "bags", "margin": "bags", "medoids": "bags"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Every kind of model, each in the folder of its run, made on first use."""
    folder = tmp_path_factory.mktemp("runs")
    made = {}

    def make(name):
        if name not in made:
            sample, options = RUNS[name]
            table = folder / f"{sample}.csv"
            if not table.exists():
                write_sample(sample, str(table))
            channels = {part: [f"{part}_*"] for part in ("face", "upper", "lower", "height")}
            roles = {"channels": channels} if name == "sources" else {}
            run(RunConfig(JOBS.get(name, name), str(table), roles, options), folder / name)
            made[name] = folder / name, table
        return made[name]

    return make


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_sets_of_names_hold_more_where_more_is_asked_for(runs, tmp_path):
    folder, table = runs("instances")
    sizes = []
    for coverage in (0.5, 0.99):
        out = tmp_path / str(coverage)
        done = predict(str(folder), str(table), out, Roles(), coverage=coverage)
        assert any(f"About {coverage:.0%} of rows" in sentence for sentence in done.sentences)
        rows, bags = rows_of(out / "assignments.csv"), rows_of(out / "bags.csv")
        assert all(row["label"] in row["one_of"].split("|") for row in rows)
        sizes.append(
            [
                sum(len(line[name].split("|")) for line in lines)
                for name, lines in (("one_of", rows), ("may_hold", bags))
            ]
        )
    assert sizes[0][0] < sizes[1][0]
    assert sizes[0][1] < sizes[1][1]


@pytest.mark.parametrize("name", but_slow(RUNS, "spectral", "words", "margin", "relations"))
def test_the_training_table_is_placed_as_the_fit_placed_it(runs, tmp_path, name):
    folder, table = runs(name)
    predict(str(folder), str(table), tmp_path / "placed", Roles())
    before, after = rows_of(folder / "assignments.csv"), rows_of(tmp_path / "placed" / "assignments.csv")
    column = "labels" if name == "hierarchy" else "cluster"
    assert [row[column] for row in after] == [row[column] for row in before]
    assert all(0 <= float(row["probability"]) <= 1 for row in after)
    frame = pl.read_parquet(tmp_path / "placed" / "assignments.parquet")
    assert frame[column].cast(pl.String).fill_null("").to_list() == [row[column] for row in after]


def test_columns_are_found_by_name_in_any_order_and_others_are_said(runs, tmp_path):
    folder, table = runs("relations")
    frame = pl.read_csv(table)
    shuffled = frame.select(sorted(frame.columns, reverse=True)).with_columns(more=pl.lit(1.0))
    shuffled.write_csv(tmp_path / "new.csv")
    done = predict(str(folder / "model.sidelight"), str(tmp_path / "new.csv"), tmp_path / "out.csv", Roles())
    assert done.numbers["unused_columns"] == ["species", "more"] or set(done.numbers["unused_columns"]) >= {"more"}
    before = [row["cluster"] for row in rows_of(folder / "assignments.csv")]
    assert [row["cluster"] for row in rows_of(tmp_path / "out.csv")] == before


def test_missing_columns_are_named(runs, tmp_path):
    folder, table = runs("relations")
    frame = pl.read_csv(table)
    frame.drop("petal_width").rename({"sepal_width": "sepal wide"}).write_csv(tmp_path / "new.csv")
    with pytest.raises(InvalidData, match="'sepal_width' and 'petal_width'"):
        predict(str(folder), str(tmp_path / "new.csv"), tmp_path / "out.csv", Roles())
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_blocks_hold_whole_bags_and_change_nothing(runs, tmp_path, monkeypatch, kind):
    folder, table = runs("instances")
    whole = predict(str(folder), str(table), tmp_path / "whole", Roles())
    frame = pl.read_csv(table).with_row_index("id")
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=0)
    path = tmp_path / f"mixed.{kind}"
    mixed.write_csv(path) if kind == "csv" else mixed.write_parquet(path)
    monkeypatch.setattr("sidelight.files.text.blocks.BLOCK", 4096)
    monkeypatch.setattr("sidelight.files.arrays.parquet._PIECE", 1)
    monkeypatch.setattr(streaming, "_BUCKET", 2000)
    done = predict(str(folder), str(path), tmp_path / "blocks", Roles(id="id"))
    assert any("bag by bag" in sentence for sentence in done.sentences)
    straight = {int(row["row"]) - 1: row for row in rows_of(tmp_path / "whole" / "assignments.csv")}
    blocks = {int(row["id"]): row for row in rows_of(tmp_path / "blocks" / "assignments.csv")}
    assert done.numbers["sizes"] == whole.numbers["sizes"]
    assert [blocks[i]["cluster"] for i in sorted(blocks)] == [straight[i]["cluster"] for i in sorted(straight)]
    bags = [row["bag"] for row in rows_of(tmp_path / "blocks" / "assignments.csv")]
    assert sum(a != b for a, b in itertools.pairwise(bags)) == len(set(bags)) - 1


def test_labels_nobody_taught_are_said_and_not_used(runs, tmp_path):
    folder, table = runs("instances")
    frame = pl.read_csv(table)
    label = next(name for name in frame.columns if frame[name].dtype == pl.String and "wren" in "".join(frame[name]))
    frame.with_columns(pl.col(label).str.replace("wren", "dodo")).write_csv(tmp_path / "new.csv")
    done = predict(str(folder), str(tmp_path / "new.csv"), tmp_path / "out.csv", Roles())
    assert done.numbers["unknown_labels"] == ["dodo"]


def test_gaps_stop_the_work_are_left_out_or_filled_with_the_means_of_the_model(runs, tmp_path):
    folder, table = runs("relations")
    frame = pl.read_csv(table).with_row_index("at")
    gap = pl.when(pl.col("at") > 0).then(pl.col("petal_width"))
    frame.with_columns(petal_width=gap).drop("at").write_csv(tmp_path / "gap.csv")
    with pytest.raises(InvalidData, match="row 1"):
        predict(str(folder), str(tmp_path / "gap.csv"), tmp_path / "out.csv", Roles())
    assert list(tmp_path.iterdir()) == [tmp_path / "gap.csv"]
    done = predict(str(folder), str(tmp_path / "gap.csv"), tmp_path / "out.csv", Roles(missing="drop"))
    assert done.numbers["n_rows"] == 149
    done = predict(str(folder), str(tmp_path / "gap.csv"), tmp_path / "mean.csv", Roles(missing="mean"))
    assert done.numbers["n_rows"] == 150


@pytest.mark.parametrize("method", get_args(Peers))
def test_every_method_of_answers_places_new_rows(method):
    X = 4 * np.eye(3)[np.arange(30) % 3] + np.random.default_rng(0).normal(size=(30, 3))
    model = Standardized(make_estimator(Peer(n_clusters=3, method=method), 0)).fit(X, pairs=[(0, 3, "same")])
    data = Dataset(X, ("a", "b", "c"), path="new.csv")
    assert place_of(model)(model, data).rows["cluster"] == model.labels_.tolist()


def test_a_model_of_counts_is_refused():
    model = sl.InformationCoclustering((2, 2), random_state=0).fit(np.eye(4) + 0.1)
    with pytest.raises(InvalidData, match="InformationCoclustering"):
        place_of(model)


@pytest.mark.slow
def test_a_long_table_needs_the_memory_of_a_block(runs, tmp_path):
    """Rows beyond the first blocks take no more memory: the peak of a fresh process."""
    folder, _ = runs("relations")
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    generator = np.random.default_rng(0)
    peaks = []
    for n_rows in (60_000, 200_000):  # of blocks of 10,000
        path = tmp_path / f"{n_rows}.txt"  # a Parquet file is mapped, and counts for the process although it is not
        pl.DataFrame(generator.normal(size=(n_rows, 4)), schema=names).write_csv(path, float_precision=3)
        code = (
            "import resource, sys\n"
            "from sidelight.app.jobs.predict import predict\n"
            "from sidelight.app.jobs.roles import Roles\n"
            "from sidelight.files import streaming\n"
            "from sidelight.files.text import blocks\n"
            "streaming._MOST, blocks.BLOCK = 10_000, 1 << 18\n"
            f"done = predict({str(folder)!r}, {str(path)!r}, {str(tmp_path / f'{n_rows}.csv')!r}, Roles(id=False))\n"
            f"assert done.numbers['n_rows'] == {n_rows}\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    unit = 1 if sys.platform == "darwin" else 1024
    grown = (peaks[1] - peaks[0]) * unit
    assert grown < 140_000 * 100, peaks  # bytes: what the lines of the further rows would take as Python objects


def test_cells_that_a_spreadsheet_would_run_are_disarmed_when_asked(runs, tmp_path):
    folder, table = runs("relations")
    frame = pl.read_csv(table).with_columns(name=pl.Series([f"=1+{i}" for i in range(150)]))
    frame.write_csv(tmp_path / "new.csv")
    for disarm, first in ((False, "=1+0"), (True, "'=1+0")):
        predict(str(folder), str(tmp_path / "new.csv"), tmp_path / f"{disarm}", Roles(id="name", disarm=disarm))
        assert rows_of(tmp_path / f"{disarm}" / "assignments.csv")[0]["name"] == first
        kept = pl.read_parquet(tmp_path / f"{disarm}" / "assignments.parquet")
        assert kept["name"][0] == "=1+0"  # no spreadsheet runs Parquet
        assert {path.name for path in (tmp_path / f"{disarm}").iterdir()} == {
            "assignments.csv", "assignments.parquet", "run.toml",
        }  # fmt: skip


def test_a_name_that_looks_like_a_number_keeps_its_zeros_in_parquet(runs, tmp_path, monkeypatch):
    folder, table = runs("relations")
    names = [f"{i:04d}" for i in range(149)] + ["wren"]
    pl.read_csv(table).with_columns(name=pl.Series(names)).write_csv(tmp_path / "new.csv")
    monkeypatch.setattr(streaming, "_MOST", 40)
    predict(str(folder), str(tmp_path / "new.csv"), tmp_path / "placed", Roles(id="name"))
    assert pl.read_parquet(tmp_path / "placed" / "assignments.parquet")["name"].to_list() == names


def test_a_kept_feature_keeps_every_digit_when_rows_are_placed(tmp_path):
    ids = [2**53 + 1 + 2 * i for i in range(40)]
    frame = pl.DataFrame({"tweet": ids, "width": [float(i // 20 * 9 + i % 3) for i in range(40)]})
    frame.write_csv(tmp_path / "t.csv")
    roles = {"features": ["tweet", "width"], "keep": ["tweet"], "id": False}
    run(RunConfig("relations", str(tmp_path / "t.csv"), roles, {"n_clusters": 2}), tmp_path / "run")
    assert [int(row["tweet"]) for row in rows_of(tmp_path / "run" / "assignments.csv")] == ids
    for kind in ("csv", "parquet"):
        table = tmp_path / f"new.{kind}"
        frame.write_csv(table) if kind == "csv" else frame.write_parquet(table)
        predict(str(tmp_path / "run"), str(table), tmp_path / f"{kind}.csv", Roles(keep=["tweet"], id=False))
        assert [int(row["tweet"]) for row in rows_of(tmp_path / f"{kind}.csv")] == ids


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_gaps_are_filled_with_the_means_of_the_training_rows(runs, tmp_path, kind):
    """Whatever the format, and whatever the means of the new table are."""
    folder, table = runs("relations")
    train = sl.read(table)
    mean = train.X.mean(axis=0)
    X = np.vstack([train.X[:5], train.X[:1]]) + 3.0  # other means than those of the training rows
    X[5, 2] = np.nan
    filled = np.where(np.isnan(X), mean, X)
    placed = []
    for name, cells in (("gaps", X), ("filled", filled)):
        path = tmp_path / f"{name}.{kind}"
        if kind == "csv":
            pl.DataFrame(cells, schema=list(train.feature_names)).fill_nan(None).write_csv(path)
        else:
            np.savez(path, X=cells, feature_names=np.array(train.feature_names))
        predict(str(folder), str(path), tmp_path / f"{name}.csv.csv", Roles(missing="mean"))
        placed.append(rows_of(tmp_path / f"{name}.csv.csv")[5])
    assert placed[0] == placed[1]


def test_a_model_of_one_table_says_so_before_columns_are_looked_for(tmp_path):
    lines = [f"u{i % 6},p{i % 4}" for i in range(48)]
    (tmp_path / "log.csv").write_text("\n".join(["user,page", *lines]))
    roles = {"events": ["user", "page"]}
    run(RunConfig("coclusters", str(tmp_path / "log.csv"), roles, {"n_clusters": [2, 2]}), tmp_path / "run")
    with pytest.raises(InvalidData, match="it describes one table"):
        predict(str(tmp_path / "run"), str(tmp_path / "log.csv"), tmp_path / "placed", Roles())
