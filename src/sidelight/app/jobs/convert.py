"""Rewrite a file in an open form."""

from __future__ import annotations

from pathlib import Path

from sidelight.app.jobs.first_look import check_columns, check_there
from sidelight.app.jobs.options import Roles
from sidelight.app.jobs.output import check_file_free
from sidelight.files.source import Source


def convert(path: str, out: str, roles: Roles, *, overwrite: bool = False) -> list[str]:
    """Read ``path`` with the roles of a run and write it to ``out``; return what was done, in sentences."""
    check_file_free(Path(out), overwrite=overwrite)
    check_there(path)
    source = Source(path)
    check_columns(source, roles)
    from sidelight.files.reading import read
    from sidelight.files.writing import ending_of, write

    ending_of(Path(out))  # before anything is read
    from sidelight.app.jobs.doubts import check_doubts

    data = read(source, **roles.for_read())
    check_doubts(data, roles)
    return list(write(data, out))
