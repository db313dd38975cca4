"""Bundles of arrays as the multi-view and partial-label fields pass them around: ``X1 .. Xn``, cells of views, ``gt``.

What counts is what fits together: a vector of whole numbers says how many rows there are, a matrix with as many rows
(or columns: then it lies on its side) is a view of them, a 0/1 matrix of that length is a matrix of labels, and of two
such matrices, one inside the other, the larger one lists candidates and the smaller one is the truth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData
from sidelight.files.limits import need_dense
from sidelight.files.problems import listing, no_such_column, notice
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.columns import Coded
from sidelight.files.roles.labels import from_cells, from_marks
from sidelight.files.roles.plan import ASKED, LIKELY, SAID, RoleRequest

_LABEL = re.compile(
    r"y|gt|gnd|truth|true_?labels?|labels?|targets?|class(es)?|cls|ground_?truth|y_?true|label_?s|clase|klasse", re.I
)
_OTHER_ROWS = re.compile(r"(^|_)(te|test|val|valid|validation)($|_|\d)", re.I)
_MOST_VIEWS = 50
_MOST_LABELS = 1000


@dataclass
class _Parts:
    """The arrays of a file by what they may be."""

    matrices: dict[str, Any] = field(default_factory=dict)  # more than one row and column
    vectors: dict[str, Any] = field(default_factory=dict)  # whole numbers or words, one after the other
    cells: dict[str, list[str]] = field(default_factory=dict)  # cell array -> the matrices it held

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> _Parts:
        parts = cls()
        for name, value in arrays.items():
            members = _members(value)
            if members is not None and _are_matrices(members):
                parts.cells[name] = [f"{name}{k + 1}" for k in range(len(members))]
                parts.matrices |= dict(zip(parts.cells[name], members))
            elif members is not None and _are_the_same(members):
                parts.vectors[name] = np.asarray(members[0]).reshape(-1)
            elif _is_matrix(value):
                parts.matrices[name] = value
            elif _is_vector(value):
                parts.vectors[name] = np.asarray(value).reshape(-1)
        return parts


def read_bundle(path: Path, title: str, arrays: Mapping[str, Any], wanted: RoleRequest) -> Dataset | None:
    """Read several arrays as views, labels and candidates; None where there is one matrix the right way up.

    Parameters
    ----------
    path, title : Path and str
        The file, and what it was recognised as.
    arrays : mapping of str to array
        What it holds: full and sparse matrices, vectors, cell arrays.
    wanted : RoleRequest
        What the user said; names of arrays are names of columns.
    """
    parts = _Parts.of(arrays)
    said = [name for name in (wanted.label, wanted.truth, wanted.candidates) if isinstance(name, str)]
    for name in said:
        if name not in arrays:
            raise no_such_column(path, name, "a variable", list(arrays))
    n, why = _n_rows(parts, wanted, said)
    if n is None:
        return None
    marks = {
        name: m for name, m in parts.matrices.items() if name in said or _is_label_matrix(name, m, n, parts, wanted)
    }
    views = _views(path, parts, wanted, n, {*marks, *said})
    flat = {name: _lies_on_side(name, parts.matrices[name], n, wanted) for group in views.values() for name in group}
    is_plain = len(flat) == 1 and not any(flat.values()) and not marks and not wanted.channels and not wanted.candidates
    if not flat or is_plain:
        return None
    data = Builder(path, title)
    channels = _stack(path, data, parts, views, flat, n, why)
    _ask_about_views(data, parts, views, wanted)
    more = _place_labels(path, data, parts, marks, n, wanted, several=len(views) > 1)
    for name, members in parts.cells.items():
        if set(members) & set(flat):
            data.role(name, "feature", f"a cell array of {len(members)} matrices with the same {n} rows: views")
    data.unused({name: value for name, value in arrays.items() if name not in parts.cells})
    data.notes.append(f"{n} rows, by {why}")
    return data.build(channels=channels if len(views) > 1 else None, **more)


def _n_rows(parts: _Parts, wanted: RoleRequest, said: list[str]) -> tuple[int | None, str]:
    """Return how many rows there are, by the vector that says what they are, else by what matrices share."""
    sizes = {len(vector) for vector in parts.vectors.values()}
    fits = {
        name: len(vector)
        for name, vector in parts.vectors.items()
        if any(len(vector) in m.shape for m in parts.matrices.values())
    }
    named = [name for name in fits if name in said] or [name for name in fits if _LABEL.fullmatch(name)]
    if named:
        return fits[named[0]], f"the length of {named[0]!r}"
    if len({*fits.values()}) == 1:
        return next(iter(fits.values())), f"the length of {next(iter(fits))!r}"
    matrices = {k: m for k, m in parts.matrices.items() if not _OTHER_ROWS.search(k)}
    if len(matrices) < 2 or (sizes and not fits):
        return None, ""
    shapes = [m.shape for m in matrices.values()]
    of_cells = [name for members in parts.cells.values() for name in members]
    if len(of_cells) > 6 and not any(_is_marks(m) for m in matrices.values()):
        return None, ""  # many matrices without a label for each row: bags
    counts = {len(members) for members in parts.cells.values()}
    if any(c in m.shape for c in counts for k, m in matrices.items() if k not in of_cells):
        return None, ""  # something has one entry for each matrix: they are bags
    shared = set(shapes[0]).intersection(*map(set, shapes[1:]))
    return (int(shared.pop()), f"what {listing(list(matrices), 3)} share") if len(shared) == 1 else (None, "")


def _views(path: Path, parts: _Parts, wanted: RoleRequest, n: int, taken: set[str]) -> dict[str, list[str]]:
    """Return channel -> matrices."""
    if wanted.channels:
        return {
            channel: _matched(path, [columns] if isinstance(columns, str) else list(columns), parts, channel)
            for channel, columns in wanted.channels.items()
        }
    if wanted.features:
        given = [wanted.features] if isinstance(wanted.features, str) else list(wanted.features)
        return {name: [name] for name in _matched(path, given, parts, "features")}
    ignored = [wanted.ignore] if isinstance(wanted.ignore, str) else list(wanted.ignore or ())
    fit = [
        name
        for name, m in parts.matrices.items()
        if n in m.shape
        and name not in taken
        and not _OTHER_ROWS.search(name)
        and not any(fnmatchcase(name, g) for g in ignored)
    ]
    tall = [name for name in fit if parts.matrices[name].shape != (n, n)]  # n x n: how alike rows are
    masks = _masks({name: parts.matrices[name] for name in tall}, n)
    if masks:
        notice(f"{listing(masks, 3)} say which views a row lacks (0/1, a column a view): no views themselves")
        tall = [name for name in tall if name not in masks]
    return {name: [name] for name in tall or fit[:1]}


def _masks(matrices: Mapping[str, Any], n: int) -> list[str]:
    """Return the matrices of 0 and 1 that have a column for each of the others: which views of a row are there."""
    small = [name for name, m in matrices.items() if sorted(m.shape)[0] <= _MOST_VIEWS and _is_marks(m)]
    n_views = len(matrices) - len(small)
    masks = [name for name in small if n_views > 1 and sorted(matrices[name].shape) == sorted((n, n_views))]
    return masks if len(masks) == len(small) else []


def _matched(path: Path, patterns: list[str], parts: _Parts, role: str) -> list[str]:
    found = []
    for pattern in patterns:
        hits = parts.cells.get(pattern) or [name for name in parts.matrices if name == pattern]
        hits = hits or [name for name in parts.matrices if fnmatchcase(name, pattern)]
        if not hits:
            raise no_such_column(path, pattern, role, list(parts.matrices))
        found += hits
    return found


def _lies_on_side(name: str, matrix: Any, n: int, wanted: RoleRequest) -> bool:
    given = [wanted.transpose] if isinstance(wanted.transpose, str) else list(wanted.transpose or ())
    return any(fnmatchcase(name, pattern) for pattern in given) or (matrix.shape[0] != n and matrix.shape[1] == n)


def _stack(
    path: Path, data: Builder, parts: _Parts, views: dict[str, list[str]], flat: dict[str, bool], n: int, why: str
) -> dict[str, slice]:
    """Put the views side by side, the right way up, and say which lay on its side."""
    blocks: list[Any] = []
    names: list[str] = []
    channels: dict[str, slice] = {}
    for channel, members in views.items():
        begin = len(names)
        for name in members:
            m = parts.matrices[name]
            m = m.T if flat[name] else m
            if m.shape[0] != n:
                raise InvalidData(
                    f"{path}, {name!r}: expected {n} rows ({why}), found {' x '.join(map(str, m.shape))}."
                )
            blocks.append(m)
            names += [f"{name}_{j + 1}" for j in range(m.shape[1])]
            turned = ", lying on its side: turned, features x rows" if flat[name] else ""
            data.role(name, "feature", f"{m.shape[0]} x {m.shape[1]}, as long as {why.split(' ', 3)[-1]}{turned}")
            data.sure[name] = LIKELY if flat[name] else data.sure.get(name, 0.9)
        channels[channel] = slice(begin, len(names))
    if any(sp.issparse(b) for b in blocks):
        X: Any = sp.csr_array(sp.hstack([sp.csr_array(b, dtype=np.float64) for b in blocks]))
    else:
        need_dense(path, n, len(names))
        X = np.ascontiguousarray(np.hstack([np.asarray(b, dtype=np.float64) for b in blocks]))
    data.features(X, names)
    return channels


def _ask_about_views(data: Builder, parts: _Parts, views: dict[str, list[str]], wanted: RoleRequest) -> None:
    """Ask where matrices of different names lie beside each other: views, or one table and something else."""
    names = [name for members in views.values() for name in members]
    in_cell = any(set(names) <= set(members) for members in parts.cells.values())
    stems = {re.sub(r"\d+$", "", name).lower() for name in names}
    if len(names) < 2 or wanted.channels or wanted.features:
        return
    if in_cell and not parts.vectors and len(parts.matrices) == len(names):
        cell = next(name for name, members in parts.cells.items() if set(names) <= set(members))
        data.ask(
            f"Are the matrices of {cell!r} views of the same rows, or bags?",
            ("each is a channel", {"channels": {name: [name] for name in names}}),
            ("each is a bag", {"features": cell}),
        )
        return
    if in_cell or len(stems) == 1:
        return
    largest = max(names, key=lambda name: int(np.prod(parts.matrices[name].shape)))
    for name in names:
        data.sure[name] = ASKED
    data.ask(
        f"Are {listing(names, 4)} views of the same rows?",
        ("each is a channel", {"channels": {name: [name] for name in names}}),
        (f"only {largest!r} holds the features", {"features": largest}),
    )


def _place_labels(
    path: Path,
    data: Builder,
    parts: _Parts,
    marks: dict[str, Any],
    n: int,
    wanted: RoleRequest,
    *,
    several: bool,
) -> dict[str, Any]:
    more: dict[str, Any] = {}
    upright = {name: _as_marks(m, n) for name, m in marks.items()}
    candidates, truth = _candidates(upright, wanted)
    if candidates is not None:
        more["candidates"] = upright[candidates]
        data.label_names = tuple(str(k + 1) for k in range(upright[candidates].shape[1]))
        why = SAID if wanted.candidates else "0/1 for each row and label, and several in a row"
        data.role(candidates, "candidates", why, "0/1")
    if truth is not None:
        more["truth"] = _classes(upright[truth])
        data.role(truth, "truth", f"0/1, inside {candidates!r}: what each row is", "0/1")
    rest = [name for name in upright if name not in (candidates, truth)]
    if rest and wanted.label is not False:
        name = wanted.label if wanted.label in rest else rest[0]
        labels = from_marks(upright[name])
        is_hot = bool((upright[name].sum(axis=1) == 1).all())
        if is_hot and several:
            more["truth"] = _classes(upright[name])
        else:
            data.label_rows(labels)
        data.role(name, "truth" if is_hot and several else "label", "0/1 for each row and label", "0/1")
    vectors = [
        name for name, v in parts.vectors.items() if len(v) == n and (_LABEL.fullmatch(name) or name in _said(wanted))
    ]
    vectors = vectors or [name for name, v in parts.vectors.items() if len(v) == n][:1]
    vectors.sort(key=lambda name: name not in _said(wanted))
    if vectors and wanted.label is not False and "truth" not in more:
        name = vectors[0]
        column = Coded.of(_words(parts.vectors[name]))
        said_label = wanted.label == name
        if (several or candidates is not None or data.label_names) and not said_label:
            more["truth"] = column.objects()
            data.role(name, "truth", "one entry for each row: compared with, not learned from")
        else:
            data.label_rows(from_cells(column, None))
            data.role(name, "label", SAID if said_label else "one entry for each row")
    return more


def _said(wanted: RoleRequest) -> list[Any]:
    return [wanted.label, wanted.truth]


def _candidates(marks: dict[str, Any], wanted: RoleRequest) -> tuple[str | None, str | None]:
    """Return the matrix of candidates and the matrix of the truth: the second is inside the first."""
    if isinstance(wanted.candidates, str) and wanted.candidates in marks:
        inside = [k for k, m in marks.items() if k != wanted.candidates and m.shape == marks[wanted.candidates].shape]
        return wanted.candidates, wanted.truth if wanted.truth in marks else next(iter(inside), None)
    if wanted.candidates is False:
        return None, None
    for outer, large in marks.items():
        for inner, small in marks.items():
            is_inside = inner != outer and large.shape == small.shape and bool((large >= small).all())
            if is_inside and large.sum() > small.sum() and (small.sum(axis=1) <= 1).all():
                return outer, inner
    return None, None


def _members(value: Any) -> list[Any] | None:
    """Return the arrays of a cell array."""
    if not isinstance(value, np.ndarray) or value.dtype != object or not 2 <= value.size <= _MOST_VIEWS:
        return None
    return list(value.reshape(-1))


def _are_matrices(members: list[Any]) -> bool:
    return all(_is_matrix(part) for part in members)


def _are_the_same(members: list[Any]) -> bool:
    first = members[0]
    return all(_is_vector(part) and np.size(part) == np.size(first) for part in members) and all(
        np.array_equal(np.reshape(part, -1), np.reshape(first, -1)) for part in members
    )


def _is_matrix(value: Any) -> bool:
    known = sp.issparse(value) or isinstance(value, np.ndarray)
    return bool(known and value.dtype.kind in "iufb" and value.ndim == 2 and min(value.shape) > 1)


def _is_vector(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or value.size < 2 or max(value.shape) != value.size:
        return False
    if value.dtype.kind in "US":
        return True
    return bool(
        value.dtype.kind in "iub"
        or (value.dtype.kind == "f" and np.isfinite(value).all() and (value == np.round(value)).all())
    )


def _is_marks(matrix: Any) -> bool:
    values = np.unique(matrix.data if sp.issparse(matrix) else matrix[: 1 << 16])
    return set(values.tolist()) <= {-1, 0, 1}


def _is_label_matrix(name: str, matrix: Any, n: int, parts: _Parts, wanted: RoleRequest) -> bool:
    """Say whether a 0/1 matrix holds labels: called so, or beside a matrix of other numbers and no vector of labels."""
    if n not in matrix.shape or not _is_marks(matrix) or min(matrix.shape) > _MOST_LABELS:
        return False
    if any(
        fnmatchcase(name, str(g))
        for g in ([wanted.features] if isinstance(wanted.features, str) else wanted.features or ())
    ):
        return False
    others = [m for k, m in parts.matrices.items() if k != name and n in m.shape and not _is_marks(m)]
    named = bool(_LABEL.fullmatch(name) or re.search("target|label|candidate|partial", name, re.I))
    has_vector = any(len(v) == n for v in parts.vectors.values())
    return named or (bool(others) and not has_vector)


def _as_marks(matrix: Any, n: int) -> Any:
    full = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
    return ((full if full.shape[0] == n else full.T) > 0).astype(np.int8)


def _classes(marks: Any) -> Any:
    names = np.array([str(k + 1) for k in range(marks.shape[1])], dtype=object)
    out = names[marks.argmax(axis=1)]
    out[~marks.any(axis=1)] = ""
    return out


def _words(vector: Any) -> list[str]:
    if vector.dtype.kind in "US":
        return [v.decode("utf-8", errors="replace") if isinstance(v, bytes) else str(v) for v in vector.tolist()]
    return [str(int(v)) for v in vector.tolist()]
