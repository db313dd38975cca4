"""A table of distances between its rows as rows with features: coordinates whose distances are those of the table.

Classical scaling: of the doubly centred squares -J D^2 J / 2 the largest eigenvalues and their vectors. Where distances
are no straight ones (driving times, edit distances) some eigenvalues are negative; they are left out, and it is said
how much of the table the coordinates keep.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData
from sidelight.files.limits import need
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.cells import is_gap, is_number
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import Source

_KEPT, _MOST = 0.98, 50  # share of the positive eigenvalues, and number of coordinates


def read_distances(path: Path, wanted: RoleRequest, encoding: str | None = None) -> Dataset:
    """Read a square table of distances; a first column of words names the rows.

    Parameters
    ----------
    path : Path
        A table in any format with columns.
    wanted : RoleRequest
        Only ``id`` is looked at.
    encoding : str, optional
        How a text file is written.
    """
    from sidelight.files.reading import open_book, open_table
    from sidelight.files.recognise import recognise

    source = Source(path)
    name = recognise(source).format
    how = {"encoding": encoding} if name == "delimited" else {}
    table: Any = open_table(source, name, **how) or open_book(source, name)
    if table is None:
        raise InvalidData(f"{path}: distances are read from tables with columns, found {name}.")
    rows = table.sample()
    words = [j for j in range(len(table.names)) if not all(is_number(r[j]) or is_gap(r[j]) for r in rows)]
    numbers = [j for j in range(len(table.names)) if j not in words[:1]]
    n = len(table.load([], [0]).texts[0].codes)
    if len(numbers) == n + 1:  # a first column that counts the rows
        numbers = numbers[1:]
    if len(numbers) != n:
        raise InvalidData(f"{path}: expected as many columns of distances as rows, found {len(numbers)} and {n}.")
    need(path, 40.0 * n * n, f"the distances of {n} rows")
    loaded = table.load(numbers, words[:1])
    data = Builder(path, f"{table.title}: distances between {n} rows")
    X, kept = coordinates(_checked(path, loaded.X))
    data.features(X, [f"coordinate {k + 1}" for k in range(X.shape[1])])
    for j, column in enumerate(table.names):
        data.role(
            column, "id" if j in words[:1] else "feature", "the name of the row" if j in words[:1] else "distances"
        )
    data.notes.append(f"{X.shape[1]} coordinates keep {kept:.0%} of the distances (classical scaling)")
    made = data.build(table.location, row_ids=loaded.texts[words[0]].names() if words else None)
    return replace(made, kind="rows")


def _checked(path: Path, D: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return distances without gaps; a table that is filled on one side of its diagonal is mirrored."""
    lower, upper = np.isnan(np.tril(D, -1)).any(), np.isnan(np.triu(D, 1)).any()
    D = np.nan_to_num(D, nan=0.0) if lower != upper else D
    D = D + D.T if lower != upper or (not np.triu(D, 1).any()) != (not np.tril(D, -1).any()) else D
    np.fill_diagonal(D, np.nan_to_num(np.diagonal(D), nan=0.0))
    if not np.isfinite(D).all() or (D < 0).any() or not np.allclose(D, D.T, rtol=1e-6) or np.diagonal(D).any():
        raise InvalidData(
            f"{path}: expected distances (a symmetric table without gaps, zeros on its diagonal, nothing below zero)."
        )
    return D


def coordinates(D: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return coordinates of rows with these distances, and the share of the distances that they keep.

    Parameters
    ----------
    D : ndarray, shape (n, n)
        Symmetric, zeros on the diagonal.
    """
    squares = D**2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (squares - means - means[:, None] + means.mean()))
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = np.maximum(values, 0.0)
    share = np.cumsum(positive) / max(positive.sum(), np.finfo(float).tiny)
    k = min(_MOST, int(np.searchsorted(share, _KEPT)) + 1, max(1, int((positive > 0).sum())))
    kept = float(positive[:k].sum() / max(np.abs(values).sum(), np.finfo(float).tiny))
    return np.ascontiguousarray(vectors[:, :k] * np.sqrt(positive[:k])), kept
