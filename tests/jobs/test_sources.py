"""The sources and co-clusters jobs: what people have on disk becomes clusters, or one clear message."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidInput
from sidelight.jobs.config import RunConfig
from sidelight.jobs.run import run
from sidelight.jobs.sources import channels_of


def write(path, header, rows):
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([header, *rows])
    return str(path)


def read(path):
    with path.open() as handle:
        return list(csv.DictReader(handle))


@pytest.fixture
def recordings(tmp_path):
    seen = sl.make_sources(3, n_sequences=9, n_points=270, random_state=0)
    rows = [
        [f"f{i}", f"day{s}", *face[:4].round(3), *upper[:4].round(3)]
        for i, (s, face, upper) in enumerate(zip(seen.sequences, seen.channels["face"], seen.channels["upper"]))
    ]
    header = ["frame", "session", *(f"face_{j}" for j in range(4)), *(f"upper_{j}" for j in range(4))]
    return write(tmp_path / "seen.csv", header, rows)


def test_channels_become_clusters_of_every_channel(recordings, tmp_path):
    roles = {"id": "frame", "sequence": "session", "channels": channels_of(["face=face_*", "upper=upper_*"])}
    outcome = run(RunConfig("sources", recordings, roles, {"n_clusters": 3}), tmp_path / "out")
    rows = read(tmp_path / "out" / "assignments.csv")
    assert rows[0]["frame"] == "f0"
    assert {"cluster", "cluster of face", "cluster of upper", "sequence"} <= rows[0].keys()
    assert len({(row["sequence"], row["cluster"]) for row in rows}) == 9
    assert len(read(tmp_path / "out" / "sequences.csv")) == 9
    assert "270 rows of 2 channels fell into 3 clusters" in outcome.sentences[0]
    again = sl.load(tmp_path / "out" / "model.sidelight")
    assert again.predict_channel("face", np.zeros((2, 4))).shape == (2,)


def test_a_matrix_of_counts_becomes_clusters_of_rows_and_columns(tmp_path):
    rng = np.random.default_rng(0)
    P = rng.poisson(np.where(np.arange(12)[None, :] % 3 == np.arange(20)[:, None] % 3, 9.0, 0.5))
    path = write(
        tmp_path / "m.csv", ["doc", *(f"w{j}" for j in range(12))], [[f"d{i}", *row] for i, row in enumerate(P)]
    )
    run(RunConfig("coclusters", path, {"id": "doc"}, {"n_clusters": [3, 3]}), tmp_path / "out")
    rows, columns = read(tmp_path / "out" / "assignments.csv"), read(tmp_path / "out" / "columns.csv")
    assert len({(int(row["rows"][1:]) % 3, row["cluster"]) for row in rows}) == 3
    assert len({(int(row["columns"][1:]) % 3, row["cluster"]) for row in columns}) == 3
    assert "data:image/png;base64" in (tmp_path / "out" / "report.html").read_text()


def test_events_over_three_columns_are_counted_and_clustered(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=600)
    rows = [
        [f"u{k + 2 * rng.integers(4)}", f"i{k + 2 * rng.integers(4)}", f"t{k + 2 * rng.integers(3)}", 2] for k in kind
    ]
    path = write(tmp_path / "e.csv", ["user", "item", "time", "n"], rows)
    roles = {"events": ["user", "item", "time"], "weight": "n"}
    run(RunConfig("coclusters", path, roles, {"n_clusters": [2]}), tmp_path / "out")
    users = read(tmp_path / "out" / "assignments.csv")
    assert len({(int(row["user"][1:]) % 2, row["cluster"]) for row in users}) == 2
    assert len(read(tmp_path / "out" / "time.csv")) == 6


def test_wrong_channels_counts_and_numbers_are_named(recordings, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InvalidInput, match="at least two channels"):
        run(RunConfig("sources", recordings, {"channels": {"face": ["face_*"]}}, {"n_clusters": 3}), out)
    with pytest.raises(InvalidInput, match="NAME=COLUMN"):
        channels_of(["face"])
    with pytest.raises(InvalidInput, match="negative numbers"):
        run(RunConfig("coclusters", recordings, {"id": "frame"}, {"n_clusters": [3]}), out)
    assert not out.exists()
