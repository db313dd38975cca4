"""What jobs ask about a file before they suggest themselves."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._core.params import is_sparse
from sidelight.app.jobs.job import Fit
from sidelight.data.dataset import Dataset
from sidelight.errors import SidelightError
from sidelight.files.material.labels import Labels, key_of, labels_from_table
from sidelight.files.material.listing import KINDS, Listing
from sidelight.words import Sentence, Setting

if TYPE_CHECKING:
    pass


_SAMPLE = 2000  # rows that a suggestion is tried on


def has_rows(data: Dataset) -> bool:
    """Say whether there is something to cluster: rows with features."""
    return data.n_rows > 1 and data.n_features > 0


def is_labelled(data: Dataset) -> bool:
    """Say whether some bag has a list of labels."""
    return data.bags is not None and bool(data.bags.is_labelled.any())


def n_kinds(data: Dataset) -> int | None:
    """As many as there are labels of rows; where there are none the job itself asks the rows."""
    kinds = data.y if data.truth is None else data.truth
    if kinds is None:
        return None
    n_labels = len({str(label) for label in kinds.tolist() if label != ""})
    return n_labels if 2 <= n_labels <= data.n_rows // 2 else None


_FEWEST_COLUMNS = 10  # narrower tables of small whole numbers are attributes
_MANY_TICKS = 50  # columns from which on a table of 0 and 1 says which things occur together


def looks_like_counts(X: Any) -> bool:
    """Say whether X looks like counts: whole, never negative, mostly zero, in many columns that all begin at zero."""
    values = X.data if is_sparse(X) else X[:2000].ravel()
    if not values.size or X.shape[1] < 3:
        return False
    if not (np.isfinite(values).all() and (values >= 0).all() and (values == np.round(values)).all()):
        return False
    if is_sparse(X):
        return bool(X.nnz < 0.5 * X.shape[0] * X.shape[1])
    few = X.shape[1] < (_MANY_TICKS if values.max() <= 1 else _FEWEST_COLUMNS)
    begins_at_zero = np.mean(X[:2000].min(axis=0) == 0) >= 0.9
    return bool(np.count_nonzero(values) < 0.5 * values.size and not few and begins_at_zero)


def can_start(fit: Fit, data: Dataset) -> bool:
    """Try what a suggested command does before it computes, on the first rows: settings, gaps, enough rows and bags."""
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.options import fields_of
    from sidelight.app.jobs.roles import Roles

    known = {field.name for field in fields_of(Roles)}
    roles = {name: value for name, value in fit.roles.items() if name in known}
    try:
        config = RunConfig(fit.job, data.path or "table", roles, _options(fit))
    except SidelightError:
        return False
    if fit.table is not None or not has_rows(data):
        return True
    n_rows = min(data.n_rows, _SAMPLE)
    finite = is_sparse(data.X) or bool(np.isfinite(data.X[:n_rows]).all())
    if not finite and config.roles.missing == "error":
        return False
    if not is_sparse(data.X) and not (np.nanmax(data.X, axis=0) > np.nanmin(data.X, axis=0)).any():
        return False  # rows that are all the same
    return data.n_rows > max(2, fit.n_clusters or 0)


def _options(fit: Fit) -> dict[str, Any]:
    from sidelight.app.jobs.catalogue import find_job
    from sidelight.app.jobs.options import fields_of

    own = {field.name: field for field in fields_of(next(iter(find_job(fit.job).models.values())))}
    options = {name: value for name, value in fit.roles.items() if name in own}
    if fit.n_clusters is not None and "n_clusters" in own:
        options["n_clusters"] = fit.n_clusters
    return options


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
