"""Making a project or a study from the command line: of tables, or folders of images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidelight.app.jobs.roles import Roles
from sidelight.app.studio.sources import Source, from_images, from_table
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.study.question_file import read_pool, read_questions
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.words import Setting


def make_project(
    source: str, name: str | None, folder: str, database: str | None, roles: Roles, settings: dict[str, Any]
) -> tuple[str, list[str]]:
    """Make a project; return its name and notes about what could not be shown."""
    rows = _read(source, roles)
    if settings["questions"] is not None:
        settings = settings | {"questions": read_questions(settings["questions"], rows, settings["kind"])}
    studio = Studio(folder, database)
    try:
        made = studio.add(name or Path(source).stem, rows, settings)
    finally:
        studio.close()
    return made.name, list(made.settings["notes"])


def make_study(
    sources: tuple[str, str], name: str | None, folder: str, database: str | None, roles: Roles,
    *, counts: dict[str, int], questions: Sequence[tuple[int, str, str]], has_unsure: bool, seed: int,
) -> str:  # fmt: skip
    """Make a study of two sets; return its name. ``questions`` are files for the first or second set and a kind."""
    sets = [(Path(path).stem, _read(path, roles)) for path in sources]
    for path, (_, rows) in zip(sources, sets):
        if rows.y is None or "" in rows.y or len(set(rows.y)) < 2:
            raise InvalidData(
                f"A study knows the right answers, but not every row of {path!r} has a label, or all have the same.",
                do=["Say which column holds the labels with ", Setting("label"), "."],
            )
    if sets[0][0] == sets[1][0]:
        sets = [(path, rows) for path, (_, rows) in zip(sources, sets)]
    pools = {}
    for number, kind, path in questions:
        if (number - 1, kind) in pools:
            raise InvalidData(f"There are two lists of questions about a {kind} of set {number}; give one.")
        pools[number - 1, kind] = read_pool(path, sets[number - 1][1], kind, counts[kind])
    studio = Studio(folder, database)
    try:
        title = name or f"{sets[0][0]} and {sets[1][0]}"
        return studio.add_study(title, counts, seed=seed, sets=sets, pools=pools, has_unsure=has_unsure).name
    finally:
        studio.close()


def _read(source: str, roles: Roles) -> Source:
    path = Path(source)
    if not path.exists():
        raise UnreadableFile(f"There is no table and no folder {source!r}.")
    return from_images(source) if path.is_dir() else from_table(source, roles)
