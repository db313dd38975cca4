"""Everything that people did in a project, written to a folder before the project is removed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from sidelight.app.jobs.output import write_csv, write_text
from sidelight.app.store.studio_store import Project, StudioStore
from sidelight.app.studio.answers import as_table
from sidelight.app.studio.history import Replay
from sidelight.app.studio.rows import read_rows
from sidelight.errors import CannotWrite, SidelightError


def export_all(store: StudioStore, project: Project, places: Path, out: Path) -> None:
    """Write settings, people, every event, and the answers by the names of their rows."""
    events, people = store.events(project.id), store.people(project.id)
    about = {"name": project.name, "made_at": project.made_at, "settings": dict(project.settings)}
    called = {person.id: person.name for person in people}
    lines = [
        {"id": e.id, "person": called.get(e.person, ""), "kind": e.kind, "content": dict(e.content), "at": e.at,
         "seconds": None if e.seconds != e.seconds else e.seconds}
        for e in events
    ]  # fmt: skip
    try:
        out.mkdir(parents=True)
        write_text(out / "project.json", json.dumps(about, ensure_ascii=False, indent=1))
        write_text(out / "events.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        place = project.settings.get("place")
        if place:
            _answers(places / str(place), store, project, called, out)
    except OSError as error:
        shutil.rmtree(out, ignore_errors=True)
        raise CannotWrite(f"Cannot write the answers first: {error.strerror}. The project was not deleted.") from error


def _answers(folder: Path, store: StudioStore, project: Project, called: dict[int, str], out: Path) -> None:
    try:
        rows = read_rows(folder)
    except SidelightError:
        return  # the events are written all the same
    said = list(Replay(store.events(project.id)).standing.answers.values())
    write_csv(out / "answers.csv", as_table(said, rows.ids, called))
    labels = [answer for answer in said if len(answer.rows) == 1]
    if labels:
        write_csv(
            out / "labels.csv",
            {
                "row": [rows.ids[a.rows[0]] for a in labels],
                "label": [a.words for a in labels],
                "person": [called.get(a.person, "") for a in labels],
            },
        )
