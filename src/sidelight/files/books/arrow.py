"""Arrow (Feather) files through polars."""

from __future__ import annotations

from pathlib import Path

from sidelight.errors import UnreadableFile
from sidelight.files.books.columns import table_of
from sidelight.files.limits import need
from sidelight.files.roles.columns import MemorySource


def read_feather(path: Path, part: str | None = None) -> MemorySource:
    """Read an Arrow file as a table; a list of texts in a cell is a set of labels."""
    import polars as pl

    need(path, 6.0 * path.stat().st_size, f"{path.stat().st_size} bytes of Arrow")
    try:
        frame = pl.read_ipc(path)
    except (Exception, pl.exceptions.PanicException) as error:  # on damaged files polars panics, too
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableFile(f"{path}: an Arrow file that cannot be read ({reason}). Write it again.") from None
    lists = [name for name, kind in frame.schema.items() if kind == pl.List(pl.String)]
    frame = frame.with_columns(pl.col(name).list.join("|") for name in lists)
    return table_of(path, "Arrow", frame.columns, [frame[name].to_list() for name in frame.columns])
