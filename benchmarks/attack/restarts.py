"""A PostgreSQL that is stopped and started while people answer: nothing acknowledged is lost, and the model lives."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np

from attack.outcome import ACCEPTED
from attack.postgres import Server
from attack.races import _rows

COUNT = 6
WRITERS, STOPS = 4, 3


def attack(number: int, folder: Path) -> str:
    """Answer, stop the database, start it, and look."""
    from sidelight.app.studio.studio import Studio
    from sidelight.errors import SidelightError

    rng = np.random.default_rng([7, number])
    with Server() as server:
        studio = Studio(folder / "studio", server.address)
        studio.store.claim()
        project = studio.project(studio.add("rows", _rows(), {}).id)
        people = [studio.store.add_person(project.project.id, f"p{i}") for i in range(WRITERS)]
        over, acknowledged, bare = threading.Event(), list[str](), list[str]()

        def answer(who: int) -> None:
            pairs = [(a, b) for a in range(30) for b in range(a) if (a + b) % WRITERS == who]
            for at, rows in enumerate(pairs):
                while not over.is_set():
                    try:
                        project.answer(people[who], rows, "different", key=f"{who} {at}")
                        acknowledged.append(f"{who} {at}")
                        break
                    except SidelightError:
                        time.sleep(0.05)  # sent again under its key, as the page does
                    except Exception as error:
                        bare.append(repr(error))
                        return

        writers = [threading.Thread(target=answer, args=(who,)) for who in range(WRITERS)]
        for writer in writers:
            writer.start()
        for _ in range(STOPS):
            time.sleep(float(rng.uniform(0.2, 1.0)))
            server.stop()
            time.sleep(float(rng.uniform(0.1, 1.5)))
            server.start()
            studio.store.hold_claim()
        time.sleep(1.0)
        over.set()
        for writer in writers:
            writer.join()
        try:
            kept = [event.key for event in studio.store.events(project.project.id)]
            version = project.model.snapshot(wait=60).version
            return _judged(acknowledged, kept, bare, version, project)
        finally:
            studio.close()


def _judged(acknowledged: list[str], kept: list[str], bare: list[str], version: int, project: object) -> str:
    if bare:
        return f"a bare error: {bare[0]}"
    if len(kept) != len(set(kept)) or not set(acknowledged) <= set(kept):
        return f"{len(acknowledged)} acknowledged, {len(kept)} kept, {len(set(kept))} different"
    failure = project.model.failure
    if failure or version != len(kept):
        return f"the model knows {version} of {len(kept)} answers: {failure}"
    return ACCEPTED
