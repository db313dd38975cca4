"""The results of a run, opened in the studio; what people say goes back into the folder."""

from __future__ import annotations

import csv

import numpy as np

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.run import run
from sidelight.app.studio.results_folder import open_results, write_back
from sidelight.app.studio.studio import Studio


def test_results_are_opened_and_what_people_said_goes_back(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 7 * np.eye(4)[y]
    with open(tmp_path / "rows.csv", "w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "a", "b", "c", "d"])
        writer.writerows([f"r{i}", *map(repr, map(float, row))] for i, row in enumerate(X))
    config = RunConfig("relations", str(tmp_path / "rows.csv"), {"id": "id"}, {"n_clusters": 3})
    run(config, tmp_path / "results", spell=str)
    with open(tmp_path / "results" / "assignments.csv", newline="") as handle:
        assigned = {line["id"]: line["cluster"] for line in csv.DictReader(handle)}
    studio = Studio(tmp_path / "studio")
    project = studio.project(open_results(studio, str(tmp_path / "results")).id)
    snapshot = project.model.snapshot()
    found = [project.names(snapshot.labels)[k] for k in snapshot.labels]
    assert np.mean([f"cluster {assigned[name]}" == label for name, label in zip(project.rows.ids, found)]) > 0.95
    me = project.owner()
    project.name(me, 0, "wrens")
    row = project.members(0)[-1]
    project.correct(me, row, 1, is_member=True)
    project.answer(me, (3, 4), "different")
    assert set(write_back(project)) >= {"names.csv", "answers.csv"}
    names = (tmp_path / "results" / "names.csv").read_text()
    assert "wrens" in names
    answers = (tmp_path / "results" / "answers.csv").read_text()
    assert "r3,r4,different,you" in answers
    assert "the run" not in answers
    assert open_results(studio, str(tmp_path / "results")).id == project.project.id  # the second time it goes on
    studio.close()
