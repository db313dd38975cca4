"""Tables out of other things: a file of any known format rewritten, and a folder cut into rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidelight.app.jobs.first_look import check_columns, check_there
from sidelight.app.jobs.output import check_file_free
from sidelight.app.jobs.roles import Roles
from sidelight.errors import InvalidParameter
from sidelight.files.source import Source
from sidelight.words import counted


def convert(path: str, out: str, roles: Roles, *, overwrite: bool = False) -> list[str]:
    """Read ``path`` with the roles of a run and write it to ``out``; return what was done, in sentences."""
    check_file_free(Path(out), overwrite=overwrite)
    check_there(path)
    source = Source(path)
    check_columns(source, roles)
    from sidelight.files.reading import read
    from sidelight.files.writing import ending_of, write

    ending_of(Path(out))  # before anything is read
    from sidelight.app.jobs.reading import check_doubts

    data = read(source, **roles.for_read())
    check_doubts(data, roles)
    return list(write(data, out))


def cut_folder(
    folder: str,
    out: str,
    *,
    labels: str | None = None,
    kind: str | None = None,
    extractor: str = "",
    n_jobs: int | None = None,
    min_confidence: float = 0.0,
    overwrite: bool = False,
    embed: str | None = None,
    settings: Mapping[str, Any],
) -> tuple[list[str], dict[str, Any]]:
    """Cut a folder into the Parquet file ``out``; return what was done in sentences, and in numbers."""
    place = Path(out).expanduser()
    if place.suffix.lower() != ".parquet":
        raise InvalidParameter(f"{out!r}: expected a name that ends with .parquet.")
    for path in (folder, *([labels] if labels is not None else [])):
        check_there(path)
    if place.exists() and not _is_ours(place):
        check_file_free(place, overwrite=overwrite)
    from sidelight.files.material.rows import make_table  # slow to load, which a refusal need not wait for

    made, notes = make_table(
        Path(folder).expanduser(), place, labels=None if labels is None else Path(labels).expanduser(), kind=kind,
        extractor=extractor, n_jobs=n_jobs, min_confidence=min_confidence, embed=embed, settings=settings,
    )  # fmt: skip
    import polars as pl

    n_rows = int(pl.scan_parquet(place).select(pl.len()).collect().item())
    n_files = len(made.files) - len(made.omitted)
    what = {"sounds": "sound", "pictures": "region", "texts": "text"}.get(made.kind, "row")
    what = {"sounds": "recording", "pictures": "picture"}.get(made.kind, what) if made.recipe.get("whole") else what
    told = [f"{counted(n_files, 'file')} became {counted(n_rows, what)} in {out}."]
    told += [_as_sentence(note, labels) for note in notes]
    told.append(f"Next: sidelight describe {out}")
    return told, {"out": out, "kind": made.kind, "rows": n_rows, "files": n_files, "omitted": dict(made.omitted)}


def _as_sentence(note: str, labels: str | None) -> str:
    """Return a note with a capital and a stop; a sentence that begins with the name of a file keeps it."""
    is_name = labels is not None and note.startswith(Path(labels).name)
    return (note if is_name else note[:1].upper() + note[1:]).rstrip(".") + "."


def _is_ours(place: Path) -> bool:
    """Say whether a table was cut from a folder: then it is brought up to date, not replaced."""
    from sidelight.files.material.rows import material_of

    return material_of(place) is not None
