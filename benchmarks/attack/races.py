"""Races in the studio: the same key, opposite answers and undos at the same moment, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED
from attack.postgres import Server

COUNT = 80
AT_ONCE = 6  # threads of one race
ROUNDS = 8


def attack(number: int, folder: Path) -> str:
    """Race over two projects of two servers' memories of one database, and look at what was kept."""
    from sidelight.app.studio.project import OpenProject
    from sidelight.app.studio.studio import Studio

    rng = np.random.default_rng([6, number])
    with ExitStack() as stack:
        database = stack.enter_context(Server()).address if number % 4 == 3 else None
        studio = Studio(folder / "studio", database)
        stack.callback(studio.close)
        project = studio.project(studio.add("rows", _rows(), {"strategy": "fixed", "questions": [[0, 1]]}).id)
        other_studio = Studio(folder / "studio", database)
        stack.callback(other_studio.close)
        other = OpenProject(other_studio.store, project.project, project.rows.folder)
        stack.callback(other.close)
        ann = project.owner()
        for race in range(ROUNDS):
            rows = tuple(int(row) for row in rng.choice(30, 2, replace=False))
            verdict = _race(int(rng.integers(4)), (project, other), ann, rows, f"{race}")
            if verdict:
                return verdict
        return _whole(studio.store.events(project.project.id))


def _race(kind: int, projects: tuple[Any, Any], ann: Any, rows: tuple[int, ...], key: str) -> str:
    """Do one thing many times at once; say what is wrong with the outcome, or nothing."""
    project = projects[0]
    before = len(project.answers())
    is_open = not any(set(answer.rows) == set(rows) for answer in project.answers())
    if kind == 0:  # the same key
        found = _at_once([lambda i=i: projects[i % 2].answer(ann, rows, "same", key=key) for i in range(AT_ONCE)])
        ids = {result.id for result in found if not isinstance(result, Exception)}
        if is_open and (len(ids) != 1 or any(isinstance(result, Exception) for result in found)):
            return f"the same key: {found}"
    elif kind == 1:  # opposite answers
        words = ("same", "different")
        found = _at_once([lambda i=i: projects[i % 2].answer(ann, rows, words[i // 2 % 2]) for i in range(AT_ONCE)])
        if sum(not isinstance(result, Exception) for result in found) != is_open:
            return f"opposite answers: {found}"
    elif kind == 2:  # undos
        found = _at_once([lambda i=i: projects[i % 2].undo(ann) for i in range(AT_ONCE)])
        taken = [result.id for result in found if not isinstance(result, Exception)]
        if len(taken) != len(set(taken)) or len(taken) != min(before, AT_ONCE):
            return f"undos: {found}"
    else:  # a key used again for something else
        others = [tuple(sorted((row + i) % 30 for row in rows)) for i in range(AT_ONCE)]
        found = _at_once([lambda i=i: project.answer(ann, others[i], "same", key=key) for i in range(AT_ONCE)])
        kept = {result.id for result in found if not isinstance(result, Exception)}
        if len(kept) > 1:
            return f"one key, several answers: {found}"
    return _unknown(found)


def _unknown(found: list[Any]) -> str:
    from sidelight.errors import SidelightError

    bare = [result for result in found if isinstance(result, Exception) and not isinstance(result, SidelightError)]
    return f"a bare error: {bare[0]!r}" if bare else ""


def _whole(events: list[Any]) -> str:
    """Look at all events: numbers grow, keys are kept once, nothing is taken back twice or answered twice."""
    from sidelight.app.studio.answers import Standing

    followed = Standing()
    for event in events:
        if event.kind == "undo" and event.content["of"] not in followed.answers:
            return f"event {event.id} takes back what did not stand"
        if event.kind == "answer" and followed.has(event.person, event.content["rows"]):
            return f"event {event.id} answers a question twice"
        followed.take(event)
    keys = Counter(event.key for event in events if event.key)
    if any(n > 1 for n in keys.values()):
        return f"keys kept more than once: {keys}"
    return ACCEPTED if [event.id for event in events] == sorted({event.id for event in events}) else "numbers repeat"


def _at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    begin, found = threading.Barrier(len(calls)), list[Any]([None] * len(calls))

    def call(place: int) -> None:
        begin.wait()
        try:
            found[place] = calls[place]()
        except Exception as error:
            found[place] = error

    threads = [threading.Thread(target=call, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _rows() -> Any:
    from sidelight.app.studio.sources import Source

    y = np.arange(30) % 3
    X = np.random.default_rng(0).normal(size=(30, 3)) + 6 * np.eye(3)[y]
    return Source(X, [f"r{i}" for i in range(30)], list("abc"), lambda row: None, [str(label) for label in y])
