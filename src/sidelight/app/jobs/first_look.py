"""A first look at what a call names, so that a misspelt file or column is told before slow libraries are imported.

Of a table it looks at the header. It refuses only what the readers would refuse, in the same words, and lets everything
pass that is not plain: a few kinds of text with a header, as most tables are. The readers have the last word.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from sidelight._core.atomic import check_folder
from sidelight.app.jobs.output import check_file_free, check_free
from sidelight.app.jobs.roles import Roles
from sidelight.errors import OutputExists, UnreadableFile, unknown_column
from sidelight.files.source import STANDARD_INPUT, Source, is_server, refuse_web, split_part
from sidelight.words import Setting

ENDINGS = (".csv", ".tsv")
SEPARATORS = (",", ";", "\t")
_LINE = 1 << 20  # characters of a line that are read at most
MODEL = "model.sidelight"
_FILES = (".csv", ".parquet")


def is_pattern(path: str) -> bool:
    """Say whether a name stands for several files, such as ``rows/*.parquet``."""
    return any(mark in path for mark in "*?") and not os.path.exists(os.path.expanduser(path))


def matching(table: str) -> list[str]:
    """Return the files of a pattern, in the order of their names; a name without a pattern stands for itself."""
    return sorted(glob.glob(os.path.expanduser(table))) or [table]


def check_there(path: str) -> None:
    """Raise unless there is something to read."""
    if path == STANDARD_INPUT or is_server(path):
        return
    refuse_web(path)
    if is_pattern(path):
        if not glob.glob(os.path.expanduser(path)):
            raise UnreadableFile(f"{path!r}: no file has such a name. Check the pattern.")
        return
    try:
        os.stat(os.path.expanduser(split_part(path)[0]))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableFile(f"{path!r}: cannot be read ({reason}). Check the path.") from None


def check_prediction(model: str, table: Source, out: Path, roles: Roles, *, overwrite: bool) -> tuple[Path, bool]:
    """Raise unless a model may be applied to a table; return the model's file and whether ``out`` is a file."""
    file = _model_file(Path(model).expanduser())
    check_there(table.given)
    is_file = out.suffix in _FILES
    if is_file:
        check_file_free(out, overwrite=overwrite)
        check_folder(out)
        if out.exists() and not table.address and os.path.samefile(out, table):
            raise OutputExists(f"{str(out)!r} is the table itself.", do=["Choose another ", Setting("out"), "."])
    else:
        check_free(out, overwrite)
    check_columns(table, roles)
    return file, is_file


def _model_file(path: Path) -> Path:
    if path.is_dir():
        if not (path / MODEL).is_file():
            raise UnreadableFile(f"{str(path)!r} is a folder without a {MODEL}. Name the folder of a run, or the file.")
        return path / MODEL
    check_there(str(path))
    return path


def check_columns(file: Source, roles: Roles) -> None:
    """Raise when a column that was asked for is not in the header."""
    names = _header(file) if roles.settings().keys().isdisjoint(_FILE) else None
    if names is None:
        return
    for role, wanted in _asked_for(roles):
        if not any(name == wanted or fnmatchcase(name, wanted) for name in names):
            raise unknown_column(Path(file.given), wanted, role, names)


_FILE = {"format", "separator", "encoding", "header"}  # who sets these knows better than a first look


def _asked_for(roles: Roles) -> Iterator[tuple[str, str]]:
    for role in (
        "id",
        "bag",
        "sequence",
        "bag_label",
        "truth",
        "label",
        "show",
        "weight",
        "ignore",
        "features",
        "keep",
        "text",
    ):
        value = getattr(roles, role)
        for name in [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else ():
            yield role.replace("_", " "), name
    for name in roles.events if isinstance(roles.events, (list, tuple)) else ():
        yield "events", name
    for channel, columns in (roles.channels or {}).items():
        for name in [columns] if isinstance(columns, str) else columns:
            yield f"channel {channel!r}", name


def _header(file: Source) -> list[str] | None:
    """Return the names of the columns, or None where that takes more than a look."""
    if not file.given.lower().endswith(ENDINGS):
        return None
    try:
        with io.TextIOWrapper(io.BytesIO(file.head(_LINE)), encoding="utf-8-sig", newline="") as text:
            lines = [text.readline(_LINE).rstrip("\r\n") for _ in range(2)]
    except (OSError, ValueError, UnreadableFile):
        return None
    if any(len(line) >= _LINE - 2 or not line or '"' in line or "#" in line[:1] for line in lines):
        return None
    separator = max(SEPARATORS, key=lines[0].count)
    names, cells = (line.split(separator) for line in lines)
    is_plain = len(names) > 1 and len(names) == len(cells) and len(set(names)) == len(names)
    clean = is_plain and all(name and name == name.strip() and not _is_number(name) for name in names)
    return names if clean else None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
