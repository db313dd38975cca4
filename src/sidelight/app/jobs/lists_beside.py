"""Which table lists what is in the files of a folder, and which folder holds the files that a table lists."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from sidelight.app.jobs.job import Fit
from sidelight.data.dataset import Dataset
from sidelight.errors import SidelightError
from sidelight.files.material.labels import Labels, key_of, labels_from_table
from sidelight.files.material.listing import KINDS, Listing
from sidelight.words import Sentence, Setting

_TABLES = (".csv", ".tsv", ".xlsx", ".ods")  # what people type lists into; a Parquet file is rather what was cut
_MOST_TABLES, _MOST_BYTES = 20, 20_000_000  # looked at beside a folder, and how large one may be
_MOST_FOLDERS, _MOST_NAMES = 20, 5000  # looked at beside a table, and names read in each
_WHY = "the label of each row"


def lists_inside(path: Path, kind: str, listing: Listing) -> list[tuple[str, Sentence]]:
    """Suggest the job that names rows, where a table among the files of a folder lists what is in them."""
    files = listing.files[kind]
    for name in listing.files.get("tables", ())[:5]:
        said = _lists(path / name, files)
        if said is None:
            continue
        where, labels = shlex.quote(str(path)), Setting("label_file", os.path.join(path, name))
        why = f"the lists in {name} name its {'folders of ' if said.are_of_folders else ''}{kind}: {_WHY}"
        if kind == "texts" and not said.are_of_folders:  # a row a text: its labels are its own
            return [(why, [f"sidelight from {where} ", Setting("labels", os.path.join(path, name)), " ",
                           Setting("out", "rows.parquet")])]  # fmt: skip
        return [(why, [f"sidelight instances {where} ", labels, " ", Setting("out", "results")])]
    return []


def fit_of_folder(path: Path, data: Dataset) -> list[Fit]:
    """Suggest the lists that a table beside a folder of recordings or pictures has of its files, or say what to bring.

    Parameters
    ----------
    path : Path
        The folder.
    data : Dataset
        Its rows; where they have labels already, nothing is suggested.
    """
    if data.bags is None or data.bags.is_labelled.any():
        return []
    files = [str(name) for name in data.bags.names]
    beside = sorted(place for place in path.absolute().parent.iterdir() if place.suffix.lower() in _TABLES)
    found: dict[Path, int] = {}
    for table in beside[:_MOST_TABLES]:
        said = _lists(table, files) if table.is_file() and table.stat().st_size <= _MOST_BYTES else None
        if said is not None:
            found[table] = len(said.lists)
    if found:
        best = max(found, key=found.__getitem__)
        return [Fit("instances", f"the lists in {best.name} name its files: {_WHY}", _given(best))]
    why = f"with a table that lists the labels of each file, a line a file: {_WHY}"
    return [Fit("instances", why, {"label_file": "TABLE"})]


def fit_of_lists(path: Path, data: Dataset) -> list[Fit]:
    """Suggest the folder beside a table whose files the table lists."""
    if data.n_features or data.row_ids is None or not path.is_file() or not (data.label_names or data.y is not None):
        return []
    listed = {key_of(str(name)) for name in data.row_ids}
    folders = sorted(place for place in path.absolute().parent.iterdir() if place.is_dir())
    for folder in itertools.islice((f for f in folders if not f.name.startswith(".")), _MOST_FOLDERS):
        known = {key_of(name) for name in itertools.islice(_material_in(folder), _MOST_NAMES)}
        if len(listed & known) > 1 and 2 * len(listed & known) >= min(len(listed), len(known)):
            why = f"lists of what is in the files of {folder.name}: {_WHY}"
            return [Fit("instances", why, _given(path), table=os.path.relpath(folder))]
    return []


def _given(table: Path) -> dict[str, str]:
    return {"label_file": os.path.relpath(table)}


def _lists(table: Path, files: Sequence[str]) -> Labels | None:
    """Return what a table says about files, where it speaks of half of them; None for a table about something else."""
    try:
        said = labels_from_table(table, files)
    except (SidelightError, OSError):
        return None
    return said if 2 * len(said.lists) >= len(files) else None


def _material_in(folder: Path) -> Iterable[str]:
    endings = (*KINDS["sounds"], *KINDS["pictures"])
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if entry.name.lower().endswith(endings))
    except OSError:
        return
