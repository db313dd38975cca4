"""Output folders that appear whole or not at all, and the files inside them."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sidelight.errors import MissingExtra, OutputExists, UnreadableFile

Columns = Mapping[str, Sequence[Any]]


def check_free(out: Path, overwrite: bool) -> None:
    """Raise unless ``out`` may be written: it is new, empty, or an earlier run that may be overwritten."""
    if out.is_file():
        raise OutputExists(f"The output folder {str(out)!r} is a file. Choose another --out.")
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not overwrite:
        raise OutputExists(f"The output folder {str(out)!r} is not empty. Choose another --out, or add --overwrite.")
    if not (out / "run.toml").is_file():
        raise OutputExists(
            f"The output folder {str(out)!r} holds files but no run.toml, so no run of Sidelight made it and it will "
            "not be overwritten. Choose another --out."
        )


@contextmanager
def output_folder(out: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder beside ``out``; it takes the name of ``out`` when the block ends without an error."""
    check_free(out, overwrite)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    except OSError as error:
        raise UnreadableFile(f"Cannot write beside {str(out)!r}: {error.strerror}. Choose another --out.") from error
    try:
        yield work
        check_free(out, overwrite)
        work.chmod(0o755)  # mkdtemp makes folders private; a result is an ordinary folder
        if out.is_dir():
            shutil.rmtree(out)
        work.rename(out)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def write_csv(path: Path, columns: Columns) -> None:
    """Write columns of equal length as UTF-8 CSV."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(columns.keys())
        writer.writerows(zip(*columns.values()))


def write_parquet(path: Path, columns: Columns) -> None:
    """Write columns of equal length as Parquet."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "jobs", "Writing Parquet") from error
    polars.DataFrame(dict(columns), strict=False).write_parquet(path)
