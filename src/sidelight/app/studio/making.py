"""Making a project from the command line: of a table or a folder of images, and a fixed list of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.roles import Roles
from sidelight.app.studio.sources import Source, from_images, from_table
from sidelight.app.studio.studio import Studio
from sidelight.errors import InvalidData, UnknownName, UnreadableFile, nearest


def make_project(
    source: str, name: str | None, folder: str, database: str | None, roles: Roles, settings: dict[str, Any]
) -> tuple[str, list[str]]:
    """Make a project; return its name and notes about what could not be shown."""
    rows = read_source(source, roles)
    if settings["questions"] is not None:
        settings = settings | {"questions": read_questions(settings["questions"], rows, settings["kind"])}
    studio = Studio(folder, database)
    try:
        made = studio.add(name or Path(source).stem, rows, settings)
    finally:
        studio.close()
    return made.name, list(made.settings["notes"])


def read_source(source: str, roles: Roles) -> Source:
    """Return the rows of a table or of a folder of images."""
    path = Path(source)
    if not path.exists():
        raise UnreadableFile(f"There is no table and no folder {source!r}.")
    return from_images(source) if path.is_dir() else from_table(source, roles)


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
