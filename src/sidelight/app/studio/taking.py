"""What a project hands over: tables, notes, tasks of Label Studio, all before it is deleted; and pairs from there."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.active.questions import PAIR_WORDS, UNSURE
from sidelight.active.screens import ASIDE
from sidelight.app.jobs.output import disarmed_cells, write_csv, write_text
from sidelight.app.store.studio_store import NewEvent, Project, StudioStore
from sidelight.app.studio.answers import Answer, as_table
from sidelight.app.studio.history import Replay
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.rows import read_rows
from sidelight.app.studio.sorting import placed, placements_table
from sidelight.data.relations import Pairs
from sidelight.errors import CannotWrite, InvalidData, SidelightError, UnreadableFile
from sidelight.files.answers import read_answers

_MOST = 200_000  # answers of a file that is brought
_YES, _NO = ("same", "yes", "1", "true", "must-link"), ("different", "no", "0", "false", "cannot-link")


def merged_table(project: OpenProject) -> dict[str, list[Any]]:
    """Return one line for each row: its cluster, how sure, what people said of it, how often it was asked, notes."""
    snapshot, ids, people = project.model.snapshot(), project.rows.ids, project.people()
    names = project.names(snapshot.labels)
    said, asked, notes = (defaultdict(list) for _ in range(3))
    for answer in project.answers():
        for row in answer.rows:
            asked[row].append(answer.person)
        if len(answer.rows) == 1 and answer.answer != UNSURE:
            said[answer.rows[0]].append(f"{people[answer.person].name}: {answer.words}")
    with project.lock:
        sorted_out = placed(project.standing)
    for row, pile, person, _ in sorted_out:
        asked[row].append(person)
        if pile != ASIDE:
            said[row].append(f"{people[person].name}: {pile}")
    for note in project.notes():
        notes[int(note.content["row"])].append(f"{people[note.person].name}: {note.content['text']}")
    rows = range(project.rows.n)
    return {
        "row": list(ids),
        "cluster": snapshot.labels.tolist(),
        "name": disarmed_cells(names[k] for k in snapshot.labels.tolist()),
        "probability": np.round(snapshot.sure, 4).tolist(),
        "answers": [len(asked[row]) for row in rows],
        "people": [len(set(asked[row])) for row in rows],
        "said": disarmed_cells(" | ".join(said[row]) for row in rows),
        "notes": disarmed_cells(" | ".join(notes[row]) for row in rows),
    }


def notes_table(project: OpenProject) -> dict[str, list[Any]]:
    """Return every note on a row."""
    notes, people = project.notes(), project.people()
    return {
        "row": [project.rows.ids[int(note.content["row"])] for note in notes],
        "note": disarmed_cells(str(note.content["text"]) for note in notes),
        "person": disarmed_cells(people[note.person].name for note in notes),
        "at": [round(note.at, 3) for note in notes],
    }


def labels_table(project: OpenProject) -> dict[str, list[Any]]:
    """Return every label that people gave rows."""
    people = project.people()
    labels = [answer for answer in project.answers() if len(answer.rows) == 1]
    return {
        "row": [project.rows.ids[answer.rows[0]] for answer in labels],
        "label": disarmed_cells(answer.words for answer in labels),
        "person": disarmed_cells(people[answer.person].name for answer in labels),
        "seconds": ["" if a.seconds != a.seconds else round(a.seconds, 3) for a in labels],
    }


def label_studio(project: OpenProject) -> list[dict[str, Any]]:
    """Return tasks of Label Studio: a row each with its cluster as prediction and labels of people as annotations.

    Answers about two rows follow as tasks with ``left`` and ``right``, annotated by the same choices.
    """
    snapshot, ids, people = project.model.snapshot(), project.rows.ids, project.people()
    names = project.names(snapshot.labels)
    labels: dict[int, list[tuple[str, int]]] = defaultdict(list)
    pairs: dict[tuple[int, ...], list[Answer]] = defaultdict(list)
    for answer in project.answers():
        if answer.answer != UNSURE and not answer.is_not and len(answer.rows) < 3:
            if len(answer.rows) == 1:
                labels[answer.rows[0]].append((answer.answer, answer.person))
            else:
                pairs[answer.rows].append(answer)
    with project.lock:
        for row, pile, who, _ in placed(project.standing):
            labels[row] += [(pile, who)] if pile != ASIDE else []

    def made(choice: str, score: float | None = None, person: int | None = None) -> dict[str, Any]:
        result = {"from_name": "label", "to_name": "row", "type": "choices", "value": {"choices": [choice]}}
        about = {} if person is None else {"completed_by": {"first_name": people[person].name}}
        return {"result": [result], **about, **({} if score is None else {"score": score})}

    tasks = [
        {
            "data": {"row": ids[row], "text": project.rows.texts[row]},
            "predictions": [made(names[int(snapshot.labels[row])], round(float(snapshot.sure[row]), 4))],
            "annotations": [made(choice, person=person) for choice, person in labels[row]],
        }
        for row in range(project.rows.n)
    ]
    return tasks + [
        {
            "data": {"left": ids[rows[0]], "right": ids[rows[1]]},
            "annotations": [made(answer.answer, person=answer.person) for answer in said],
        }
        for rows, said in pairs.items()
    ]


def bring_pairs(project: OpenProject, path: Path, person_name: str) -> int:
    """Take answers about two rows from a table or from Label Studio; return how many are new."""
    found = _from_label_studio(path, project) if path.suffix == ".json" else _from_table(path, project)
    if len(found) > _MOST:
        raise InvalidData(f"At most {_MOST:,} answers can be brought at once. Got {len(found):,}.")
    person = project.store.add_person(project.project.id, person_name)
    kept = {frozenset(answer.rows) for answer in project.answers() if answer.person == person.id}
    new = [(rows, word) for rows, word in found if frozenset(rows) not in kept]
    events = [NewEvent("answer", {"rows": list(rows), "answer": word, "brought": True}) for rows, word in new]
    project.keep_all(person, events)
    return len(events)


def _from_table(path: Path, project: OpenProject) -> list[tuple[tuple[int, ...], str]]:
    pairs: Any = read_answers(path, Pairs, project.rows.ids)
    return [(tuple(int(row) for row in one.rows), one.answer) for one in pairs.answers if one.answer in PAIR_WORDS]


def _from_label_studio(path: Path, project: OpenProject) -> list[tuple[tuple[int, ...], str]]:
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableFile(f"This is no JSON of Label Studio: {error}.") from error
    if not isinstance(tasks, list):
        raise InvalidData("A file of Label Studio is a list of tasks.")
    row_of = {name: row for row, name in enumerate(project.rows.ids)}
    found: list[tuple[tuple[int, ...], str]] = []
    for task in tasks:
        data = task.get("data", {}) if isinstance(task, dict) else {}
        left, right = (row_of.get(str(data.get(end))) for end in ("left", "right")) if data else (None, None)
        words = [word for word in map(_word, task.get("annotations", [])) if word] if data else []
        if left is not None and right is not None and left != right and words:
            found.append(((left, right), max(PAIR_WORDS, key=words.count)))
    if not found:
        raise InvalidData(
            "No task of this file names two rows of the project as left and right, with the choice same or different."
        )
    return found


def _word(annotation: Any) -> str:
    """Return what an annotation of Label Studio says about two rows; nothing where it says nothing."""
    for result in annotation.get("result", []) if isinstance(annotation, dict) else []:
        value = result.get("value", {}) if isinstance(result, dict) else {}
        choices = value.get("choices", []) if isinstance(value, dict) else []
        said = str(choices[0]).strip().lower() if isinstance(choices, list) and choices else ""
        if said in _YES or said in _NO:
            return PAIR_WORDS[0] if said in _YES else PAIR_WORDS[1]
    return ""


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
    standing = Replay(store.events(project.id)).standing
    said = list(standing.answers.values())
    write_csv(out / "answers.csv", as_table(said, rows.ids, called))
    if {len(answer.rows) for answer in said} >= {2, 3}:
        write_csv(out / "triplets.csv", as_table(said, rows.ids, called, of_three=True))
    if standing.heard:
        write_csv(out / "placements.csv", placements_table(standing, rows.ids, called))
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
