"""A restart shows what was known at once, pages do not wait for the learning, and nothing in doubt is believed."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from tests.app.studio.conftest import blobs
from tests.examples import but_slow

from sidelight.app.studio import saved_view
from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.learner import Learner
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web.seeing import contradictions


@pytest.fixture
def kept(tmp_path):
    """A studio that was closed after some answers, some of them wrong: the folder, the project, the clusters."""
    studio = Studio(tmp_path)
    project = studio.project(studio.add("blobs", blobs(), {}).id)
    ann = project.owner()
    for rows in ((0, 3), (0, 1), (1, 4), (2, 5), (0, 2), (1, 2)):
        project.answer(ann, rows, true_answer(rows, project.rows.truth))
    project.answer(ann, (0, 4), "same")
    project.answer(ann, (3, 4), "different")
    snapshot = project.model.snapshot()
    studio.close()
    return tmp_path, project.project.id, snapshot


@contextmanager
def learning_for_ever(monkeypatch):
    """Let every model that starts be busy until the end."""
    over = threading.Event()

    def learn(self, counted, is_over):
        over.wait(30)

    monkeypatch.setattr(Learner, "catch_up", learn)
    try:
        yield
    finally:
        over.set()


def test_a_restart_shows_the_clusters_at_once_and_asks(kept, monkeypatch):
    folder, number, before = kept
    studio = Studio(folder)
    with learning_for_ever(monkeypatch):
        began = time.monotonic()
        project = studio.project(number)
        while not project.status()["ready"] and time.monotonic() - began < 10:
            time.sleep(0.01)
        after = project.model.snapshot()
        np.testing.assert_array_equal(after.labels, before.labels)
        assert (after.version, after.outlook.sentence) == (before.version, before.outlook.sentence)
        asked = project.questions(project.owner())
        project.answer(project.owner(), asked[0]["rows"], "same")
        assert project.model.snapshot().version == before.version  # the new answer is kept, and learnt later
        assert contradictions(project) == {"contradictions": []}
        assert time.monotonic() - began < 10
    studio.close()


DOUBTS = ["another answer", "taken back", "settings", "version", "broken", "half", "labels"]


@pytest.mark.parametrize("doubt", but_slow(DOUBTS, "taken back", "broken"))
def test_clusters_in_doubt_are_thrown_away(kept, monkeypatch, doubt):
    folder, number, _ = kept
    studio = Studio(folder)
    record = studio.store.project(number)
    file = folder / "projects" / record.settings["place"] / saved_view.FILE
    assert file.is_file()
    person = studio.store.people(number)[0]
    first = studio.store.events(number)[0]
    if doubt == "another answer":
        studio.store.append(person, "edit", {"of": first.id, "answer": "unsure"})
    elif doubt == "taken back":
        studio.store.append(person, "undo", {"of": first.id})
    elif doubt == "version":
        monkeypatch.setattr(saved_view.sidelight, "__version__", "0.0.0.other")
    elif doubt == "broken":
        file.write_bytes(b"no file of ours")
    elif doubt == "half":
        file.write_bytes(file.read_bytes()[:200])
    else:
        with np.load(file) as parts:
            np.savez(file, **({name: parts[name] for name in parts.files} | {"labels": np.full(60, -1)}))
    with learning_for_ever(monkeypatch):
        project = studio.project(number)
        told = [(answer.rows, answer.answer) for answer in project._to_learn()[1]]
        other = {"seed": 7} if doubt == "settings" else {}
        assert saved_view.read_view(project.rows, record.settings | other, told) is None
    studio.close()


def test_a_view_of_fewer_answers_is_shown_until_the_others_are_learnt(kept):
    folder, number, before = kept
    studio = Studio(folder)
    studio.store.append(studio.store.people(number)[0], "answer", {"rows": [8, 11], "answer": "same"})
    project = studio.project(number)
    assert project.model.snapshot(wait=20).version >= before.version
    while project.model._is_rebuilding:
        time.sleep(0.01)
    assert project.model.snapshot().version == before.version + 1
    studio.close()
