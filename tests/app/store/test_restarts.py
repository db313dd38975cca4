"""A database that is away for a moment: nothing acknowledged is lost, the model goes on, and one server has it."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
from tests.app.studio.conftest import blobs

from sidelight.app.store.studio_store import DatabaseAway, StudioStore
from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.project import AWAY
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web.serving import holding
from sidelight.errors import CannotWrite


class _Web:
    """What the watcher ends."""

    should_exit = False


def _until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.mark.slow
def test_the_model_goes_on_after_a_restart_and_the_claim_is_taken_again(postgres_server, tmp_path):
    studio = Studio(tmp_path, postgres_server.address)
    studio.store.claim()
    first_claim = studio.store._lock_connection
    web = _Web()
    with closing(studio), holding(studio.store, web):
        project = studio.project(studio.add(f"away {time.time()}", blobs(), {}).id)
        ann = studio.of(project.owner().token)[1]
        for rows in ((0, 1), (0, 3)):
            project.answer(ann, rows, true_answer(rows, project.rows.truth))
        assert project.model.snapshot().version == 2
        postgres_server.stop()
        project.model.changed()  # there may be something to learn: the model needs no database for that
        assert project.status()["sentence"] == AWAY
        assert project.status()["answers"] == 2
        assert studio.of(ann.token)[1] == ann  # its link was used before
        with pytest.raises(DatabaseAway):
            project.answer(ann, (0, 6), "same")
        postgres_server.start()
        assert _until(lambda: project.status()["sentence"] != AWAY)
        project.answer(ann, (0, 6), "same", key="k")
        assert project.model.snapshot().version == 3
        assert project.model.failure == ""
        assert _until(lambda: studio.store._lock_connection not in (None, first_claim))  # the watcher took it again
        with (
            closing(StudioStore(postgres_server.address)) as second,
            pytest.raises(CannotWrite, match="Another studio"),
        ):
            second.claim()
        assert not web.should_exit


@pytest.mark.slow
def test_a_server_whose_database_another_one_took_stops(postgres_server):
    with (
        closing(StudioStore(postgres_server.address)) as first,
        closing(StudioStore(postgres_server.address)) as second,
    ):
        first.claim()
        postgres_server.stop()
        postgres_server.start()
        second.claim()  # the lock went with the connection
        web = _Web()
        with holding(first, web):
            assert _until(lambda: web.should_exit)
        assert first.is_taken_over
        with pytest.raises(CannotWrite, match="Another studio"):
            first.projects()
