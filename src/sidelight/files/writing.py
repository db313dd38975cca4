"""Write a data set in an open form that :func:`sidelight.read` understands again: CSV, Parquet or NPZ."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from sidelight._core.atomic import replacing
from sidelight._core.params import is_sparse
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, InvalidParameter, WrongKind
from sidelight.files.roles.labels import EMPTY_SET
from sidelight.files.roles.said import columns_of_bags, exact_cell
from sidelight.files.roles.tables import as_written
from sidelight.files.source import as_path

ENDINGS = (".csv", ".csv.gz", ".parquet", ".npz")
_WIDEST = 1 << 28  # cells of a sparse matrix that are written one by one
_CHUNK = 10_000


def write(data: Dataset, path: Any, *, called: Mapping[str, str] = MappingProxyType({})) -> tuple[str, ...]:
    """Write a data set as CSV, Parquet or NPZ, by the ending of ``path``; return what was written, in sentences.

    Parameters
    ----------
    data : Dataset
        What to write.
    path : str or path
        Ends with ``.csv``, ``.csv.gz``, ``.parquet`` or ``.npz``. The file appears whole or not at all.
    called : mapping of str to str, optional
        What tables call ``id``, ``bag``, ``sequence``, ``label`` and ``bag_labels``: ``{"bag": "recording"}``;
        ``label_`` is what stands before the names of labels that have columns.
    """
    if not isinstance(data, Dataset):
        raise WrongKind(f"sidelight.write writes a Dataset, such as sidelight.read returns. Got {type(data).__name__}.")
    out = as_path(path, "sidelight.write")
    ending = ending_of(out)
    with replacing(out) as handle:
        if ending == ".npz":
            np.savez_compressed(handle, **_arrays(data))
        elif ending == ".parquet":
            _write_parquet(data, handle, called)
        else:
            _write_csv(data, handle, called, packed=ending == ".csv.gz")
    size = out.stat().st_size
    return (f"Wrote {data.n_rows} rows x {data.n_features} features to {out} ({size:,} bytes).",)


def ending_of(out: Path) -> str:
    """Return the ending that decides how a data set is written, or raise."""
    ending = next((e for e in sorted(ENDINGS, key=len, reverse=True) if out.name.lower().endswith(e)), None)
    if ending is None:
        raise InvalidParameter(f"{out}: expected a name that ends with {', '.join(ENDINGS)}, found {out.name!r}.")
    return ending


def _arrays(data: Dataset) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    if is_sparse(data.X):
        X = data.X.tocsr()
        arrays |= {
            "data": X.data,
            "indices": X.indices,
            "indptr": X.indptr,
            "shape": np.array(X.shape),
            "format": "csr",
        }
    else:
        arrays["X"] = data.X
    arrays["feature_names"] = np.array(data.feature_names, dtype=str)
    if data.row_ids is not None:
        arrays["ids"] = _plain(data.row_ids)
    if data.bags is not None:
        names = np.array([str(name) for name in data.bags.names])
        arrays["bags"] = names[data.bags.codes]
        if data.bags.is_labelled.any():
            arrays["bag_labels"] = np.array(_bag_cells(data))[data.bags.codes]
    if data.y is not None:
        arrays["y"] = data.y.astype(str)
    if data.Y is not None:
        arrays["Y"] = data.Y
        arrays["label_names"] = np.array(data.label_names, dtype=str)
    if data.sequence is not None:
        arrays["sequence"] = _plain(data.sequence)
    return arrays


def _side_columns(data: Dataset, called: Mapping[str, str]) -> dict[str, list[Any]]:
    """Everything but the features, as columns that the readers recognise by name."""
    columns: dict[str, list[Any]] = {}
    if data.row_ids is not None:
        columns["id"] = data.row_ids.tolist()
    if data.bags is not None:
        columns["bag"] = [data.bags.names[code] for code in data.bags.codes.tolist()]
    if data.sequence is not None:
        columns["sequence"] = data.sequence.tolist()
    if data.y is not None:
        columns["label"] = data.y.tolist()
    if data.truth is not None:
        columns["truth"] = data.truth.tolist()
    if data.bags is not None and data.bags.is_labelled.any():
        numbers = columns_of_bags(data.bags) if data.y is None and data.Y is None else None
        if numbers is None:
            cells = _bag_cells(data)
            columns["bag_labels"] = [cells[code] for code in data.bags.codes.tolist()]
        else:
            rows = as_written(numbers)[data.bags.codes]
            prefix = called.get("label_", "label_")
            for k, name in enumerate(data.bags.classes):
                columns[f"{prefix}{name}"] = [None if v != v else v for v in rows[:, k].tolist()]
    if data.Y is not None:
        for k, name in enumerate(data.label_names):
            columns[f"label_{name}"] = [None if v < 0 else v for v in data.Y[:, k].tolist()]
    columns |= {name: part.tolist() for name, part in data.show.items() if name not in columns}
    return {called.get(name, name): cells for name, cells in columns.items()}


def _bag_cells(data: Dataset) -> list[str]:
    """Return what each bag says as one cell: ``{}`` is the empty set, nothing is an unlabelled bag."""
    assert data.bags is not None  # the caller looked
    if data.bags.demands is not None:
        return [exact_cell(data.bags, b) if known else "" for b, known in enumerate(data.bags.is_labelled.tolist())]
    names = [str(c) for c in data.bags.classes]
    mark = next((m for m in ("|", ";", "&", "@") if not any(m in name for name in names)), None)
    if mark is None:
        raise InvalidData("No mark is free to stand between the labels of a bag. Write .npz instead.")
    sets = [data.bags.labels[name] for name in data.bags.names]
    return ["" if s is None else mark.join(sorted(map(str, s))) or EMPTY_SET for s in sets]


def _dense(data: Dataset) -> Any:
    if is_sparse(data.X) and data.n_rows * data.n_features > _WIDEST:
        raise InvalidData(
            f"{data.path}: {data.n_rows} x {data.n_features} cells, nearly all zero, are too many to write one by one. "
            "Write .npz instead, which keeps them sparse."
        )
    return data.X


def _feature_names(data: Dataset, taken: dict[str, Any]) -> list[str]:
    return [f"feature_{name}" if name in taken else name for name in data.feature_names]


def _write_csv(data: Dataset, handle: Any, called: Mapping[str, str], *, packed: bool) -> None:
    stream = gzip.GzipFile(fileobj=handle, mode="wb", mtime=0) if packed else handle
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text)
    side, X = _side_columns(data, called), _dense(data)
    if data.counts is not None and not data.n_features and not side:
        raise InvalidData(f"{data.path}: only tables with two axes can be written; this one has {data.counts.n_axes}.")
    writer.writerow([*side, *_feature_names(data, side)])
    columns = list(side.values())
    for start in range(0, data.n_rows, _CHUNK):
        block = X[start : start + _CHUNK]
        rows = (block.toarray() if is_sparse(block) else block).tolist()
        for i, row in enumerate(rows):
            writer.writerow([*(c[start + i] for c in columns), *("" if v != v else v for v in row)])
    text.flush()
    text.detach()
    if packed:
        stream.close()


def _write_parquet(data: Dataset, handle: Any, called: Mapping[str, str]) -> None:
    import polars as pl

    side, X = _side_columns(data, called), _dense(data)
    frame = {name: pl.Series(name, cells, strict=False) for name, cells in side.items()}
    for k, name in enumerate(_feature_names(data, side)):
        column = X[:, [k]].toarray().ravel() if is_sparse(X) else X[:, k]
        frame[name] = pl.Series(name, column)
    buffer = io.BytesIO()  # polars writes to descriptors on its own, and says in its own words when the disk is full
    pl.DataFrame(frame).write_parquet(buffer)
    handle.write(buffer.getbuffer())


def _plain(values: Any) -> Any:
    return values if values.dtype.kind in "iu" else np.array([str(v) for v in values.tolist()])
