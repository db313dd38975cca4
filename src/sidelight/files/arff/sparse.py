"""Sparse ARFF rows, ``{index value, index value}``: what is left out is zero, or a nominal's first value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.arff.header import Attribute, Header
from sidelight.files.arff.mulan import LabelNames
from sidelight.files.problems import not_a_number, shown
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.cells import is_number
from sidelight.files.roles.choosing import match_columns
from sidelight.files.roles.labels import tick
from sidelight.files.roles.plan import SAID, RoleRequest


def read_sparse(
    path: Path, header: Header, rows: list[tuple[int, str]], wanted: RoleRequest, labels: LabelNames | None
) -> Dataset:
    """Read sparse rows into a CSR matrix; label attributes become label sets or classes."""
    attributes = header.attributes
    names = [a.name for a in attributes]
    label_at, why = _label_attributes(path, names, attributes, wanted, labels)
    ignored = set(match_columns(path, names, wanted.ignore or (), "ignore"))
    if wanted.features is not None:
        chosen = match_columns(path, names, wanted.features, "features")
    else:
        chosen = [j for j, a in enumerate(attributes) if _is_feature(a)]
    features = [j for j in chosen if j not in label_at and j not in ignored]
    place = {j: k for k, j in enumerate(features)}
    indptr, indices, values = [0], [], []
    cells_of_row: list[dict[int, str]] = []
    for number, text in rows:
        mine: dict[int, str] = {}
        named: set[int] = set()
        for j, cell in sparse_pairs(path, number, text, len(attributes)):
            if j in named:
                raise UnreadableFile(f"{path}, line {number}: attribute {j} comes twice. Keep one of its values.")
            named.add(j)
            if j in place:
                indices.append(place[j])
                values.append(_number(path, number, names[j], cell))
            elif j in label_at:
                mine[j] = cell
        indptr.append(len(indices))
        cells_of_row.append(mine)
    X = sp.csr_array((np.array(values), np.array(indices, dtype=np.int64), indptr), shape=(len(rows), len(features)))
    data = Builder(path, "ARFF, sparse" + (" with label names" if labels else ""))
    data.features(X, [names[j] for j in features])
    data.y, data.Y, data.label_names = _labels(path, rows, attributes, label_at, cells_of_row)
    for j, name in enumerate(names):
        data.role(name, *_role(j, label_at, place, why))
    return data.build()


def sparse_pairs(path: Path, number: int, text: str, width: int) -> Iterator[tuple[int, str]]:
    """Yield (attribute number, value) of one sparse row."""
    body = text.strip()
    end = body.rfind("}")
    if not body.startswith("{") or end < 0:
        raise UnreadableFile(
            f"{path}, line {number}: expected {{index value, ...}}, found {shown(body[:40])}. Cut off?"
        )
    inside = body[1:end].strip()
    for pair in _split_pairs(path, number, inside):
        index, _, value = pair.strip().partition(" ")
        if not index.isdecimal() or int(index) >= width or not value.strip():
            raise UnreadableFile(
                f"{path}, line {number}: expected an attribute number below {width} and a value, found {shown(pair)}."
            )
        yield int(index), value.strip().strip("'\"")


def _split_pairs(path: Path, number: int, inside: str) -> list[str]:
    if not inside:
        return []
    return inside.split(",") if "'" not in inside and '"' not in inside else _quoted_pairs(path, number, inside)


def _quoted_pairs(path: Path, number: int, inside: str) -> list[str]:
    pairs, at, depth = [], 0, ""
    for k, c in enumerate(inside):
        if depth:
            depth = "" if c == depth and inside[k - 1] != "\\" else depth
        elif c in "'\"":
            depth = c
        elif c == ",":
            pairs.append(inside[at:k])
            at = k + 1
    if depth:
        raise UnreadableFile(f"{path}, line {number}: a quotation mark that is not closed.")
    return [*pairs, inside[at:]]


def _label_attributes(
    path: Path, names: list[str], attributes: tuple[Attribute, ...], wanted: RoleRequest, labels: LabelNames | None
) -> tuple[list[int], str]:
    if wanted.label is False:
        return [], ""
    if wanted.label is not None:
        return match_columns(path, names, wanted.label, "label"), SAID
    if labels is not None:
        return match_columns(path, names, labels.names, "label"), labels.why
    last = attributes[-1]
    if last.kind == "nominal":
        return [len(names) - 1], "the last attribute, and nominal"
    return [], ""


def _labels(
    path: Path,
    rows: list[tuple[int, str]],
    attributes: tuple[Attribute, ...],
    label_at: list[int],
    said: list[dict[int, str]],
) -> tuple[Any, Any, tuple[str, ...]]:
    if not label_at:
        return None, None, ()
    if len(label_at) == 1:
        (j,) = label_at
        default = attributes[j].values[0] if attributes[j].values else "0"
        y = np.empty(len(rows), dtype=object)
        y[:] = ["" if (value := mine.get(j, default)) == "?" else value for mine in said]
        return y, None, attributes[j].values or tuple(sorted(set(y.tolist()) - {""}))
    Y = np.zeros((len(rows), len(label_at)), dtype=np.int8)
    for i, mine in enumerate(said):
        for k, j in enumerate(label_at):
            if j in mine:
                mark = tick(mine[j])
                if mark == 2:
                    raise InvalidData(
                        f"{path}, line {rows[i][0]}, attribute {attributes[j].name!r}: expected 0 or 1, "
                        f"found {shown(mine[j])}."
                    )
                Y[i, k] = mark
    return None, Y, tuple(attributes[j].name for j in label_at)


def _is_feature(attribute: Attribute) -> bool:
    """Say whether an attribute is of numbers, or of yes and no."""
    if attribute.kind != "nominal":
        return attribute.kind == "numeric"
    ticks = sorted(tick(value) for value in attribute.values)
    return ticks == [0, 1] or (set(ticks) <= {0, 1} and all(map(is_number, attribute.values)))


def _number(path: Path, number: int, name: str, cell: str) -> float:
    if cell == "?":
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        mark = tick(cell)
        if mark in (0, 1):
            return float(mark)
        raise not_a_number(path, f"line {number}", name, cell) from None


def _role(j: int, label_at: list[int], place: dict[int, int], why: str) -> tuple[str, str]:
    if j in label_at:
        return "label", why
    return ("feature", "numbers") if j in place else ("ignored", "not a number")
