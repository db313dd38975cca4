"""Rewrite a file in an open form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidelight.data.readers import read
from sidelight.errors import OutputExists
from sidelight.jobs.tables import ROLES


def convert(path: str, out: str, roles: Mapping[str, Any], *, overwrite: bool = False) -> list[str]:
    """Read ``path`` with the roles of a run and write it to ``out``; return what was done, in sentences."""
    check_file_free(Path(out), overwrite=overwrite)
    data = read(path, **{ROLES[name]: value for name, value in roles.items() if name in ROLES})
    return list(data.write(out))


def check_file_free(out: Path, *, overwrite: bool) -> None:
    """Raise unless the file ``out`` may be written."""
    if out.is_dir():
        raise OutputExists(f"{str(out)!r} is a folder. Name a file, such as {str(out / 'table.csv')!r}.")
    if out.exists() and not overwrite:
        raise OutputExists(f"{str(out)!r} exists. Choose another name, or add --overwrite.")
