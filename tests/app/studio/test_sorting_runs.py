"""Sorting the rows of a run: its piles are labels, and a placement is one."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest
from tests.app.studio.runs import results_of, write_tables

from sidelight.app.studio.run.results import open_results


@pytest.fixture(scope="module")
def finished(running, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return running(sources=[]), results_of(write_tables(folder), "coverage", folder)


@pytest.fixture
def sitting(finished):
    server, home = finished
    copied = home.with_name(f"results {len(server.studio.store.projects())}")
    shutil.copytree(home, copied)
    project = server.studio.project(open_results(server.studio, str(copied)).id)
    project.model.snapshot()
    link = server.client.post(f"/api/projects/{project.project.id}/people", json={"name": "ann"}).json()["link"]
    return SimpleNamespace(client=server.client, link=f"/api{link}", project=project)


def body_of(found, placements, key=""):
    return {
        "rows": [row["row"] for row in found["screen"]["rows"]], "placements": placements,
        "number": found["screen"]["number"], "screen": found["screen"]["key"], "seconds": 10.0, "key": key,
    }  # fmt: skip


def test_the_most_doubtful_rows_are_shown_with_labels_as_piles(sitting):
    found = sitting.client.get(f"{sitting.link}/screen").json()
    sure = sitting.project.model.snapshot().sure
    shown = [row["row"] for row in found["screen"]["rows"]]
    assert len(shown) == 10
    assert max(sure[shown]) <= sorted(sure)[9] + 1e-12
    assert {"wren", "owl", "jay"} <= {pile["name"] for pile in found["piles"]}
    assert all(row["likely"][0] in {pile["number"] for pile in found["piles"]} for row in found["screen"]["rows"])


def test_placements_are_labels_and_one_undo_takes_a_screen_back(sitting):
    found = sitting.client.get(f"{sitting.link}/screen").json()
    body = body_of(found, ["wren"] * 8 + [-1, "aside"], "k") | {"called": {"-1": "robin"}}
    first = sitting.client.post(f"{sitting.link}/screens", json=body)
    assert first.status_code == 200, first.text
    said = {answer.rows[0]: answer.answer for answer in sitting.project.answers()}
    assert [said[row] for row in body["rows"]] == ["wren"] * 8 + ["robin", "unsure"]
    assert not set(body["rows"]) & {row["row"] for row in first.json()["screen"]["rows"]}
    assert "robin" in sitting.project.vocabulary() or sitting.project.model.snapshot() is not None
    sitting.client.post(f"{sitting.link}/screens", json=body)  # sent again
    assert len(sitting.project.answers()) == 10
    sitting.client.post(f"{sitting.link}/undo", json={})
    assert not sitting.project.answers()
    again = sitting.client.get(f"{sitting.link}/screen").json()
    assert [row["row"] for row in again["screen"]["rows"]] == body["rows"]


def test_a_new_label_needs_a_name_and_piles_of_labels_are_not_merged(sitting):
    found = sitting.client.get(f"{sitting.link}/screen").json()
    refused = sitting.client.post(f"{sitting.link}/screens", json=body_of(found, [-1] * 10))
    assert refused.status_code == 422
    assert "needs a name" in refused.json()["error"]
    short = sitting.client.post(f"{sitting.link}/screens", json=body_of(found, ["wren"]))
    assert short.status_code == 422
    assert "1 placements for 10 rows" in short.json()["error"]
    merged = sitting.client.post(f"{sitting.link}/piles", json={"act": "merge", "pile": 0, "other": 1})
    assert merged.status_code == 422
    assert not sitting.project.answers()
