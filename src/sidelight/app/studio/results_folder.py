"""The results of a run, opened in the studio, and what people said there, written back beside them.

The project begins where the run ended: the surest rows of every cluster are told to the model as answers of "the run",
and the clusters have the run's names. Back go ``names.csv``, ``answers.csv`` (a pairs or triplets file) and, where the
job takes corrections of rows, the ``right label`` column of ``check.csv``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.app.jobs.checking import RIGHT
from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.output import MANIFEST, disarmed_cells, write_csv
from sidelight.app.jobs.reading import read_rows
from sidelight.app.store.studio_store import Person, Project
from sidelight.app.studio.answers import as_table
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.sources import of_dataset
from sidelight.app.studio.studio import THE_RUN, Studio
from sidelight.errors import InvalidData, UnreadableFile

_SURE = 3  # rows of every cluster that the model is told
_MOST_CLUSTERS = 40  # of a run that is opened


def open_results(studio: Studio, folder: str) -> Project:
    """Return the project of a results folder; make it the first time."""
    home = Path(folder).resolve()
    known = {str(project.settings.get("results")): project for project in studio.store.projects()}
    if str(home) in known:
        return known[str(home)]
    if not (home / MANIFEST).is_file():
        raise UnreadableFile(f"{folder!r} is not the folder of a run: it has no {MANIFEST}.")
    config = RunConfig.from_toml(home / MANIFEST)
    data = read_rows(config.table, config.roles)
    source = of_dataset(data)
    labels, names, sure = _assignments(home, source.ids)
    taken = {project.name for project in studio.store.projects()}
    name = next(n for n in (home.name, *(f"{home.name} {i}" for i in range(2, 1000))) if n not in taken)
    settings = {"results": str(home), "clusters": None, "job": config.job}
    project = studio.add(name, source, settings)
    person = studio.store.add_person(project.id, THE_RUN, is_simulated=True)
    _tell(studio, person, labels, names, sure)
    return project


def write_back(project: OpenProject) -> list[str]:
    """Write names, answers and corrections of people into the results folder; return the files."""
    place = project.project.settings.get("results")
    if not place:
        raise InvalidData("This project was not made from the results of a run, so there is no folder to write to.")
    home = Path(str(place))
    if not home.is_dir():
        raise UnreadableFile(f"The results folder {str(home)!r} is no longer there.")
    snapshot = project.model.snapshot()
    names = project.names(snapshot.labels)
    people = project.people()
    runs = {number for number, person in people.items() if person.name == THE_RUN and person.is_simulated}
    said = [answer for answer in project.answers() if answer.person not in runs]
    called = {number: person.name for number, person in people.items()}
    sizes = np.bincount(snapshot.labels, minlength=len(names))
    used = [k for k in range(len(names)) if sizes[k]]
    write_csv(
        home / "names.csv",
        {"cluster": used, "name": disarmed_cells(names[k] for k in used), "rows": [int(sizes[k]) for k in used]},
    )
    write_csv(home / "answers.csv", as_table(said, project.rows.ids, called))
    files = ["names.csv", "answers.csv"]
    corrected = {answer.rows[0]: names[int(snapshot.labels[answer.rows[0]])] for answer in said if answer.correction}
    if corrected and (home / "check.csv").is_file() and RIGHT in Columns(str(home / "check.csv")).names:
        _correct_check(home / "check.csv", {project.rows.ids[row]: name for row, name in corrected.items()})
        files.append("check.csv")
    return files


def _correct_check(path: Path, right: Mapping[str, str]) -> None:
    """Fill in the corrections, and add lines for rows that were not among those worth a look."""
    table = Columns(str(path))
    columns: dict[str, list[Any]] = {name: list(table.cells(name)) for name in table.names}
    first = table.names[0]
    at = {name: i for i, name in enumerate(columns[first])}
    for row, name in right.items():
        if row not in at:
            for title in columns:
                columns[title].append(row if title == first else "")
            at[row] = len(columns[first]) - 1
        columns[RIGHT][at[row]] = name
    write_csv(path, columns)


def _assignments(home: Path, ids: list[str]) -> tuple[np.ndarray, list[str], np.ndarray]:
    table = Columns(str(home))
    by = next((name for name in ("cluster", "label") if name in table.names), None)
    if by is None:
        raise InvalidData(f"The assignments in {str(home)!r} have neither clusters nor labels of rows.")
    place = {name: row for row, name in enumerate(ids)}
    rows = table.cells(table.names[0])
    if any(name not in place for name in rows):
        raise InvalidData(f"The assignments in {str(home)!r} are not about the rows of the run's table.")
    names = sorted(set(table.cells(by)))
    if len(names) > _MOST_CLUSTERS:
        raise InvalidData(f"The run has {len(names)} clusters; the studio opens at most {_MOST_CLUSTERS}.")
    labels = np.full(len(ids), -1)
    labels[[place[name] for name in rows]] = [names.index(label) for label in table.cells(by)]
    sure = np.ones(len(ids))
    if "probability" in table.names:
        sure[[place[name] for name in rows]] = [float(cell or 0) for cell in table.cells("probability")]
    return labels, [f"cluster {name}" if name.isdigit() else name for name in names], sure


def _tell(studio: Studio, person: Person, labels: np.ndarray, names: list[str], sure: np.ndarray) -> None:
    """Tell the model the surest rows of every cluster, and what the clusters are called."""
    surest = [
        np.flatnonzero(labels == k)[np.argsort(-sure[labels == k], kind="stable")][:_SURE] for k in range(len(names))
    ]
    events: list[tuple[str, Mapping[str, Any], float]] = []
    for k, rows in enumerate(surest):
        apart = [{"rows": [int(other[0]), int(rows[0])], "answer": "different"} for other in surest[:k]]
        alike = [{"rows": [int(rows[0]), int(row)], "answer": "same"} for row in rows[1:]]
        events.extend(("answer", content, float("nan")) for content in (*apart, *alike))
        events.append(("name", {"row": int(rows[0]), "name": names[k]}, float("nan")))
    studio.store.append_all(person, events)
