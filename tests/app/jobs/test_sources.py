"""The sources and co-clusters jobs: what people have on disk becomes clusters, or one clear message."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.predict import predict
from sidelight.app.jobs.roles import Roles
from sidelight.app.jobs.run import run
from sidelight.errors import InvalidInput, InvalidParameter


def channels_of(words):
    """Say channels as a run does."""
    return {name: pattern.split(",") for name, _, pattern in (word.partition("=") for word in words)}


def write(path, header, rows):
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([header, *rows])
    return str(path)


def read(path):
    with path.open() as handle:
        return list(csv.DictReader(handle))


@pytest.fixture
def recordings(tmp_path):
    seen = sl.data.make_sources(3, n_sequences=9, n_points=270, random_state=0)
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
    assert {"cluster", "cluster_of_face", "cluster_of_upper", "sequence"} <= rows[0].keys()
    assert len({(row["sequence"], row["cluster"]) for row in rows}) == 9
    assert len(read(tmp_path / "out" / "sequences.csv")) == 9
    assert "270 rows of 2 channels fell into 3 clusters" in outcome.sentences[0]
    again = sl.load(tmp_path / "out" / "model.sidelight")
    assert again.predict_channel("face", np.zeros((2, 4))).shape == (2,)


@pytest.mark.slow
def test_rows_may_lack_a_channel_on_disk_too(recordings, tmp_path):
    rows = read(Path(recordings))
    for row in rows[::9]:
        row.update({name: "" for name in row if name.startswith("face")})
    gaps = write(tmp_path / "gaps.csv", list(rows[0]), [row.values() for row in rows])
    roles = {"id": "frame", "sequence": "session", "channels": channels_of(["face=face_*", "upper=upper_*"])}
    config = RunConfig("sources", gaps, roles, {"n_clusters": 3, "judge": gaps})
    outcome = run(config, tmp_path / "out")
    found = read(tmp_path / "out" / "assignments.csv")
    assert len(found) == 270
    assert {row["cluster_of_face"] for row in found[::9]} == {""}
    assert "" not in {row["cluster"] for row in found} | {row["cluster_of_upper"] for row in found}
    assert "30 rows lack the channel 'face': the others decide about them." in outcome.result.heard
    assert {row["new"] for row in read(tmp_path / "out" / "new.csv")} == {"0"}
    predict(str(tmp_path / "out"), gaps, tmp_path / "placed", Roles())
    placed = read(tmp_path / "placed" / "assignments.csv")
    assert [row["cluster"] for row in placed] == [row["cluster"] for row in found]
    run(RunConfig("sources", gaps, roles, {}), tmp_path / "auto")  # the number of clusters is asked of such rows, too


def test_gaps_within_a_channel_and_methods_of_counts_need_every_cell(recordings, tmp_path):
    rows = read(Path(recordings))
    rows[3].update({name: "" for name in rows[3] if name.startswith("face")})
    roles = {"id": "frame", "sequence": "session", "channels": channels_of(["face=face_*", "upper=upper_*"])}
    gaps = write(tmp_path / "gaps.csv", list(rows[0]), [row.values() for row in rows])
    with pytest.raises(InvalidInput, match="1 missing or infinite value"):
        run(RunConfig("sources", gaps, roles, {"n_clusters": 3, "method": "annealed"}), tmp_path / "out")
    rows[3].update({name: "1" for name in rows[3] if name.startswith("face_")} | {"face_2": ""})
    gaps = write(tmp_path / "gaps.csv", list(rows[0]), [row.values() for row in rows])
    with pytest.raises(InvalidInput, match=r"'face_2' .* 1 missing or infinite value"):
        run(RunConfig("sources", gaps, roles, {"n_clusters": 3}), tmp_path / "out")


def test_a_matrix_of_counts_becomes_clusters_of_rows_and_columns(tmp_path):
    rng = np.random.default_rng(0)
    P = rng.poisson(np.where(np.arange(12)[None, :] % 3 == np.arange(20)[:, None] % 3, 9.0, 0.5))
    path = write(
        tmp_path / "m.csv", ["doc", *(f"w{j}" for j in range(12))], [[f"d{i}", *row] for i, row in enumerate(P)]
    )
    run(RunConfig("coclusters", path, {"id": "doc"}, {"n_clusters": [3, 3]}), tmp_path / "out")
    rows, columns = read(tmp_path / "out" / "assignments.csv"), read(tmp_path / "out" / "columns.csv")
    assert len({(int(row["doc"][1:]) % 3, row["cluster"]) for row in rows}) == 3
    assert len({(int(row["columns"][1:]) % 3, row["cluster"]) for row in columns}) == 3
    assert (tmp_path / "out" / "report.html").read_text().count('<svg viewBox="0 0 12 20"') == 2  # counted, remembered


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
    assert len(read(tmp_path / "out" / "axis3.csv")) == 6


def test_wrong_channels_counts_and_numbers_are_named(recordings, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InvalidInput, match="at least two channels"):
        run(RunConfig("sources", recordings, {"channels": {"face": ["face_*"]}}, {"n_clusters": 3}), out)
    with pytest.raises(InvalidInput, match="negative numbers"):
        run(RunConfig("coclusters", recordings, {"id": "frame"}, {"n_clusters": [3]}), out)
    assert not out.exists()


EVENTS = [["ann", "hall", 2], ["bob", "", 1], ["", "yard", 1], ["ann", "yard", ""], ["bob", "hall", 3]]
EVENTS.append(["cy", "yard", 1])


def test_events_with_gaps_are_an_error_that_names_the_line_or_are_left_out(tmp_path):
    path, out = write(tmp_path / "e.csv", ["who", "where", "n"], EVENTS), tmp_path / "out"
    roles, options = {"events": ["who", "where"], "weight": "n"}, {"n_clusters": [2, 2]}
    for missing in ("error", "mean"):
        with pytest.raises(InvalidInput, match=r"3 of 6 rows have a gap in .*the first in line 3.*missing='drop'"):
            run(RunConfig("coclusters", path, {**roles, "missing": missing}, options), out)
    outcome = run(RunConfig("coclusters", path, {**roles, "missing": "drop"}, options), out)
    assert outcome.sentences[-1].startswith("3 of 6 rows have a gap in 'who', 'where' and 'n', the first in line 3")
    assert [row["count"] for row in read(out / "assignments.csv")] == ["2", "3", "1"]


def test_a_weight_below_zero_is_named_with_its_line(tmp_path):
    path = write(tmp_path / "e.csv", ["who", "where", "n"], [["ann", "hall", 2], ["bob", "yard", -1]])
    roles = {"events": ["who", "where"], "weight": "n"}
    with pytest.raises(InvalidInput, match=r"line 3, column 'n': expected how often"):
        run(RunConfig("coclusters", path, roles, {"n_clusters": [2]}), tmp_path / "out")


def test_a_column_or_channel_named_twice_and_shared_columns_are_said(recordings, tmp_path):
    out = tmp_path / "out"
    path = write(tmp_path / "e.csv", ["who", "where", "n"], EVENTS)
    with pytest.raises(InvalidInput, match="'who' is named twice among the events"):
        run(RunConfig("coclusters", path, {"events": ["who", "who"]}, {"n_clusters": [2]}), out)
    shared = {"channels": {"face": ["face_*"], "head": ["face_1", "face_2"]}}
    with pytest.raises(InvalidInput, match="'face' and 'head' share the column 'face_1'"):
        run(RunConfig("sources", recordings, shared, {"n_clusters": 3}), out)
    with pytest.raises(InvalidInput, match=r"40 clusters of 'who', which has only 3 codes. Ask for at most 3"):
        run(RunConfig("coclusters", path, {"events": ["who", "where"], "missing": "drop"}, {"n_clusters": [40]}), out)


def test_rows_without_a_sequence_are_named_or_dropped_and_a_guess_is_said(recordings, tmp_path):
    lines = Path(recordings).read_text(encoding="utf-8").splitlines()
    cells = lines[4].split(",")
    lines[4] = ",".join([cells[0], "", *cells[2:]])
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(lines) + "\n")
    roles = {"id": "frame", "channels": channels_of(["face=face_*", "upper=upper_*"])}
    options = {"n_clusters": 3, "curve": [2, 4]}
    with pytest.raises(InvalidInput, match=r"line 5: nothing in the column 'session'.*sequence=False"):
        run(RunConfig("sources", str(path), {**roles, "sequence": "session"}, options), tmp_path / "out")
    config = RunConfig("sources", str(path), {**roles, "sequence": "session", "missing": "drop"}, options)
    outcome = run(config, tmp_path / "dropped")
    assert outcome.sentences[-1] == "1 of 270 rows has no sequence, in line 5: left out."
    assert [row["clusters"] for row in read(tmp_path / "dropped" / "curve.csv")] == ["2", "3", "4"]
    outcome = run(RunConfig("sources", recordings, roles, options), tmp_path / "guessed")
    assert "Guessed: the sequence is 'session'. Say otherwise with sequence=." in outcome.sentences
    outcome = run(RunConfig("sources", recordings, {**roles, "sequence": False}, options), tmp_path / "without")
    assert not (tmp_path / "without" / "sequences.csv").exists()


def test_new_people_in_a_second_table_are_said_to_be_new(recordings, tmp_path):
    head, *rows = Path(recordings).read_text(encoding="utf-8").splitlines()
    stranger = [",".join([f"s{i}", "day99", *["50"] * 8]) for i in range(5)]
    second = tmp_path / "later.csv"
    second.write_text("\n".join([head, *rows[:30], *stranger]) + "\n")
    roles = {"id": "frame", "sequence": "session", "channels": channels_of(["face=face_*", "upper=upper_*"])}
    options = {"n_clusters": 3, "judge": str(second), "curve": [2, 3]}
    outcome = run(RunConfig("sources", recordings, roles, options), tmp_path / "out")
    judged = read(tmp_path / "out" / "new.csv")
    assert {row["new"] for row in judged if row["sequence"] == "day99"} == {"1"}
    assert any("fit no cluster" in sentence and "day99" in sentence for sentence in outcome.sentences)


def test_a_constant_channel_and_one_with_few_codes_are_said(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    rows = [[*(6 * k + rng.normal(size=2)).round(3), int(k == 1), 7] for k in y]
    path = write(tmp_path / "c.csv", ["a_1", "a_2", "sex", "height"], rows)
    roles = {"channels": channels_of(["a=a_*", "sex=sex", "height=height"])}
    outcome = run(RunConfig("sources", path, roles, {"n_clusters": 3, "curve": [2, 3]}), tmp_path / "out")
    told = " ".join(outcome.sentences)
    assert "3 clusters of 30 rows each, by graphs of near rows" in told
    assert "Channel 'height' is the same in every row, so it carries no information and is left out." in told
    options = {"n_clusters": 3, "curve": [2, 3], "method": "annealed"}
    told = " ".join(run(RunConfig("sources", path, roles, options), tmp_path / "counts").sentences)
    assert "Channel 'height' has the same code in every row, so it carries no information." in told
    assert "Channel 'sex' has only 2 different codes, so it gets 2 clusters instead of 3." in told


def test_a_curve_of_three_axes_is_refused_and_not_forgotten(tmp_path):
    events = tmp_path / "events.csv"
    events.write_text("who,what,when\n" + "".join(f"u{i % 4},v{i % 3},d{i % 2}\n" for i in range(24)))
    config = RunConfig(
        "coclusters", str(events), roles={"events": ["who", "what", "when"]},
        options={"n_clusters": [2, 2, 2], "curve": [2, 3]}, seed=0,
    )  # fmt: skip
    with pytest.raises(InvalidParameter, match="two axes"):
        run(config, tmp_path / "out")


@pytest.mark.slow
def test_the_number_of_clusters_is_asked_of_rows_prepared_by_their_kind(tmp_path):
    """Counts of words beside noise: standardised, every word counts as much as any other and nothing is clear."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(4, size=240)
    topics = rng.dirichlet(np.full(60, 0.1), size=4)
    words = np.array([rng.multinomial(30, 0.6 * topics[k] + 0.4 / 60) for k in kinds])
    size = kinds[:, None] * 4.0 + rng.normal(size=(240, 1))
    header = ["name", *(f"w{j}" for j in range(60)), "size"]
    rows = [[f"n{i}", *words[i].tolist(), *size[i].round(3).tolist()] for i in range(240)]
    roles = {"id": "name", "channels": channels_of(["words=w*", "size=size"])}
    table = write(tmp_path / "words.csv", header, rows)
    outcome = run(RunConfig("sources", table, roles, {"n_clusters": "auto"}), tmp_path / "out")
    (choice,) = outcome.result.n_clusters_choice
    assert (choice.chosen, choice.is_clear) == (4, True)
