"""What people said about the rows of a run, written into its folder in the words that its job understands.

``names.csv`` has the clusters with their names, ``answers.csv`` the answers about two rows, ``corrections.csv`` what
the job takes back: labels of rows, or pairs where the job learns from pairs. Corrections that were typed into
``check.csv``, or that the run was given, are among them; what people said in the studio is the last word.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.active.questions import UNSURE
from sidelight.app.jobs.checking import RIGHT
from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.output import disarmed_cells, write_csv, write_text
from sidelight.app.studio.answers import Answer, as_table
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.run.results import config_of
from sidelight.errors import InvalidData, UnreadableFile

CORRECTIONS = "corrections.csv"
_EARLIER = "earlier.json"  # beside the rows
_NAMED_BY = 5  # rows of a novel cluster that carry its name to the next run
_LIKELY = 0.7  # probability from which the other label of a struck row is told
_ANCHORS = 2  # rows of a cluster that a labelled row is tied to, where a job learns from pairs


def home_of(project: OpenProject) -> Path:
    """Return the results folder of a project."""
    place = project.project.settings.get("results")
    if not place:
        raise InvalidData("This project was not made from the results of a run, so there is no folder to write to.")
    home = Path(str(place))
    if not home.is_dir():
        raise UnreadableFile(f"The results folder {str(home)!r} is no longer there.")
    return home


def write_back(project: OpenProject) -> list[str]:
    """Write names, answers and corrections of people into the results folder; return the files."""
    home = home_of(project)
    snapshot = project.model.snapshot()
    names = project.names(snapshot.labels)
    people = project.people()
    said = [answer for answer in project.counted() if answer.person not in project.of_run]
    called = {number: person.name for number, person in people.items()}
    sizes = np.bincount(snapshot.labels, minlength=len(names))
    used = [k for k in range(len(names)) if sizes[k]]
    write_csv(
        home / "names.csv",
        {"cluster": used, "name": disarmed_cells(names[k] for k in used), "rows": [int(sizes[k]) for k in used]},
    )
    write_csv(home / "answers.csv", as_table(said, project.rows.ids, called))
    files = ["names.csv", "answers.csv"]
    if not isinstance(project, RunProject) or project.start.takes not in ("labels", "pairs"):
        return files
    if project.start.takes == "pairs":
        columns = _as_pairs(project, said)
    else:
        columns = _as_labels(project, said, home)
    write_csv(home / CORRECTIONS, columns)
    return [*files, CORRECTIONS]


def labels_said(project: RunProject, said: list[Answer]) -> dict[int, str]:
    """Return what people call rows: the label of the cluster that the answers about each give it.

    Of a row that was only struck from a cluster, nothing is told unless one other is likely: no job takes "not".
    """
    snapshot, labels = project.model.snapshot(), project.label_names()
    spoken = [a for a in said if len(a.rows) == 1 and a.answer != UNSURE]
    named = {a.rows[0] for a in spoken if not a.is_not}
    rows = [row for row in dict.fromkeys(a.rows[0] for a in spoken) if row in named or snapshot.sure[row] >= _LIKELY]
    return {row: labels[int(snapshot.labels[row])] for row in rows}


def _as_labels(project: RunProject, said: list[Answer], home: Path) -> dict[str, list[Any]]:
    ids, start = project.rows.ids, project.start
    right = {**earlier(project, home), **{ids[row]: label for row, label in labels_said(project, said).items()}}
    for cluster, name in project.cluster_names().items():
        if cluster in start.names and cluster.startswith("novel-"):  # a name is told by the cluster's surest rows
            of = start.names.index(cluster)
            rows = np.flatnonzero(start.labels == of)
            for row in rows[np.argsort(-start.sure[rows], kind="stable")][:_NAMED_BY].tolist():
                right.setdefault(ids[row], name)
    return {"row": list(right), RIGHT: list(right.values())}


def _as_pairs(project: RunProject, said: list[Answer]) -> dict[str, list[Any]]:
    """Return answers about two rows; a labelled row is the same as the surest rows of its cluster, or different."""
    start, lines = project.start, dict[frozenset[int], tuple[int, int, str]]()
    for answer in said:
        if len(answer.rows) == 2 and answer.answer != UNSURE:
            lines[frozenset(answer.rows)] = (*answer.rows, answer.answer)
    for answer in said:
        if len(answer.rows) != 1 or answer.answer == UNSURE or answer.answer not in start.label_of:
            continue
        row, of = answer.rows[0], start.label_of.index(answer.answer)
        members = np.flatnonzero((start.labels == of) & (np.arange(len(start.labels)) != row))
        surest = members[np.argsort(-start.sure[members], kind="stable")][:_ANCHORS]
        for other in surest.tolist():
            lines.setdefault(frozenset((row, other)), (row, other, "different" if answer.is_not else "same"))
    ids = project.rows.ids
    table = [[ids[a] for a, _, _ in lines.values()], [ids[b] for _, b, _ in lines.values()]]
    return {"left": table[0], "right": table[1], "answer": [word for _, _, word in lines.values()]}


def earlier(project: OpenProject, home: Path) -> dict[str, str]:
    """Return corrections of before: those that the run was given, then what was typed into check.csv."""
    right = _kept(project)
    given = getattr(config_of(home).options, "corrections", None)
    for path in (given, home / "check.csv"):
        if path and Path(path).is_file() and Path(path).resolve() != (home / CORRECTIONS).resolve():
            table = Columns(str(path))
            if RIGHT in table.names:
                cells = zip(table.cells(table.names[0]), table.cells(RIGHT))
                right |= {row: label.strip() for row, label in cells if label.strip()}
    return right


def keep_earlier(project: OpenProject, home: Path) -> None:
    """Remember the corrections that were typed by hand: the next run writes a new check.csv."""
    write_text(project.rows.folder / _EARLIER, json.dumps(earlier(project, home)))


def _kept(project: OpenProject) -> dict[str, str]:
    path = project.rows.folder / _EARLIER
    if not path.is_file():
        return {}
    try:
        return {str(row): str(label) for row, label in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise UnreadableFile(f"The corrections kept in {str(path)!r} cannot be read: {error}.") from error
