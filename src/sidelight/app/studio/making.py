"""Projects made from the command line, of a table or a folder, with or without labels, and ready ones to try."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.output import MANIFEST, write_csv
from sidelight.app.jobs.roles import Roles
from sidelight.app.jobs.run import run
from sidelight.app.jobs.samples import write_folder
from sidelight.app.store.studio_store import Project
from sidelight.app.studio.run.results import open_results
from sidelight.app.studio.sources import Source, from_images, from_table
from sidelight.app.studio.studio import Studio
from sidelight.errors import InvalidData, InvalidParameter, UnknownName, UnreadableFile, nearest
from sidelight.files.material.listing import Listing
from sidelight.words import Setting


def make_project(
    source: str, name: str | None, folder: str, database: str | None, roles: Roles, settings: dict[str, Any]
) -> tuple[str, list[str]]:
    """Make a project; return its name and notes about what could not be shown."""
    if roles.label_file is not None and Path(source).is_dir():
        return _of_labelled_folder(source, name or Path(source).resolve().name, folder, database, roles, settings)
    rows = read_source(source, roles)
    if settings["questions"] is not None:
        settings = settings | {"questions": read_questions(settings["questions"], rows, settings["kind"])}
    studio = Studio(folder, database)
    try:
        made = studio.add(name or Path(source).stem, rows, settings)
    finally:
        studio.close()
    return made.name, list(made.settings["notes"])


_USUAL = {"kind": "pair", "strategy": "rows", "questions": None, "overlap": False, "clusters": None}


def _of_labelled_folder(
    source: str, name: str, folder: str, database: str | None, roles: Roles, settings: Mapping[str, Any]
) -> tuple[str, list[str]]:
    """Run instances on a folder whose files have labels, in the studio's folder, and open what it found."""
    if roles.whole:
        raise InvalidParameter(
            "A project with labels of files looks for what each label means within the files, so that whole ones "
            "cannot be taken.",
            do=["Leave out ", Setting("whole", True), " or ", Setting("label_file", roles.label_file), "."],
        )
    other = next((key for key, usual in _USUAL.items() if settings[key] != usual), None)
    if other is not None:
        raise InvalidParameter(
            f"A project with labels of files asks what doubtful rows are: {other!r} is about other questions.",
            do=["Leave it out, or leave out ", Setting("label_file", roles.label_file), "."],
        )
    studio = Studio(folder, database)
    try:
        studio.check_free(name)
        home = studio.folder / "runs" / (re.sub(r"[^\w.-]+", "_", name).strip("._") or "run")
        done = run(RunConfig("instances", source, roles, seed=settings["seed"]), home)
        made = open_results(studio, str(home), name)
        return made.name, [*done.sentences, *made.settings["notes"]]
    finally:
        studio.close()


def read_source(source: str, roles: Roles) -> Source:
    """Return the rows of a table, of a folder of images, or of a folder of recordings or texts, which is cut."""
    path = Path(source)
    if not path.exists():
        raise UnreadableFile(f"There is no table and no folder {source!r}.")
    if not path.is_dir() or Listing.of(path).kind() != "pictures":
        return from_table(source, roles)  # a table, or a folder that is cut into one
    return from_images(source, roles.embed)


def read_questions(path: str, rows: Source, kind: str) -> list[list[int]]:
    """Read a fixed list of questions: two or three columns of row names, in the order in which they are asked."""
    table = Columns(path)
    width = 2 if kind == "pair" else 3
    if len(table.names) < width:
        raise InvalidData(f"{path!r} has {len(table.names)} columns; questions about a {kind} need {width}.")
    place = {name: row for row, name in enumerate(rows.ids)}
    columns = [table.cells(name) for name in table.names[:width]]
    for cell in (cell for column in columns for cell in column):
        if cell not in place:
            raise UnknownName(
                f"{path!r} asks about a row {cell!r:.80}, which the table has not. {nearest(cell, place)}"
            )
    questions = [[place[cell] for cell in cells] for cells in zip(*columns)]
    if any(len(set(question)) < width for question in questions):
        raise InvalidData(f"A question of {path!r} names the same row twice.")
    return questions


_NOBODY_NAMED = {"sounds": "wren", "pictures": ""}  # a kind that is struck from every list, so that the run finds it
_TITLES = {"sounds": "birds in recordings", "pictures": "things in photographs"}


def demo_projects(studio: Studio) -> list[Project]:
    """Return the project of the digits, and one of a run on sounds and one on pictures; make them the first time."""
    return [studio.demo(), *(_of_run(studio, kind) for kind in _TITLES)]


def _of_run(studio: Studio, kind: str) -> Project:
    home = studio.folder / "demo" / _TITLES[kind]
    if not (home / MANIFEST).is_file():
        material = studio.folder / "demo" / kind
        if not material.is_dir():
            write_folder(kind, str(material))
        labels = next(path for path in material.iterdir() if path.suffix == ".csv")
        struck = _without(labels, material.with_suffix(".csv"), _NOBODY_NAMED[kind])
        options = {"n_novel": 1, "empty": "none"} if _NOBODY_NAMED[kind] else {}
        run(RunConfig("instances", str(material), {"label_file": str(struck)}, options), home)
    return open_results(studio, str(home))


def _without(labels: Path, out: Path, label: str) -> Path:
    """Write a table of labels without one of them."""
    table = Columns(str(labels))
    first, second = table.names[:2]
    lists = ["|".join(name for name in cell.split("|") if name != label) for cell in table.cells(second)]
    write_csv(out, {first: table.cells(first), second: lists})
    return out
