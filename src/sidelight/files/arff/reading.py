"""ARFF files: dense or sparse rows, label attributes (Mulan, MEKA), a label hierarchy (CLUS), relational bags."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.arff.header import Attribute, Header, parse_header, split_values
from sidelight.files.arff.labels import LabelNames, find_label_names, with_hierarchy
from sidelight.files.limits import need_sparse
from sidelight.files.problems import not_a_number, ragged, shown
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.cells import as_number, is_number
from sidelight.files.roles.choosing import match_columns
from sidelight.files.roles.columns import Coded, MemorySource
from sidelight.files.roles.labels import tick
from sidelight.files.roles.names import LABELS, is_called, is_label_name, key_of
from sidelight.files.roles.plan import SAID, RoleRequest
from sidelight.files.roles.tables import read_table
from sidelight.files.source import text_lines

Row = tuple[int, str]


def read_arff(path: Path, wanted: RoleRequest, label_file: Path | None = None, encoding: str | None = None) -> Dataset:
    """Read an ARFF file of any kind."""
    lines = text_lines(path, encoding)
    header = parse_header(path, lines)
    rows = _rows(path, lines)
    labels = find_label_names(path, header, label_file)
    hints: dict[str, tuple[Any, str]] = {}
    if labels is not None:
        hints["label"] = (labels.names, labels.why)
    hierarchical = [j for j, a in enumerate(header.attributes) if a.kind == "hierarchical"]
    if any(a.kind == "relational" for a in header.attributes):
        source, more = relational_source(path, header, rows, None if labels is None else labels.names)
        data = read_table(source, wanted.over(**{**more, **hints}))
    elif rows[0][1].lstrip().startswith("{"):
        return read_sparse(path, header, rows, wanted, labels)
    else:
        source = dense_source(path, header, rows)
        if hierarchical:
            hints["label"] = (header.attributes[hierarchical[0]].name, "declared as hierarchical")
            hints["label_separator"] = ("@", "")
        elif not hints:
            hints.update(_class_hint(header))
        hints.setdefault("id", (False, ""))
        nominal = tuple(a.name for a in header.attributes if a.kind in ("numeric", "nominal"))
        label = wanted.label if wanted.label is not None else hints.get("label", ((), ""))[0]
        taken = {label} if isinstance(label, str) else set(label or ())
        hints["features"] = (tuple(n for n in nominal if n not in taken), "declared in the header")
        data = read_table(source, wanted.over(**hints))
    return with_hierarchy(path, header, data, labels, hierarchical)


def dense_source(path: Path, header: Header, rows: list[Row]) -> MemorySource:
    """Return the columns of dense rows."""
    attributes = header.attributes
    cut = [split_values(path, number, text) for number, text in rows]
    numbers = [number for number, _ in rows]
    notes = []
    if all(len(row) == len(attributes) + 1 and row[-1].startswith("{") for row in cut):
        cut = [row[:-1] for row in cut]
        notes.append("instance weights at the end of the rows were left out")
    for number, row in zip(numbers, cut):
        if len(row) != len(attributes):
            raise ragged(path, number, len(attributes), len(row))
    columns = [as_column(path, attribute, [row[j] for row in cut], numbers) for j, attribute in enumerate(attributes)]
    return MemorySource(path, "ARFF", [a.name for a in attributes], columns, numbers, notes)


def as_column(path: Path, attribute: Attribute, cells: list[str], numbers: list[int]) -> NDArray[np.float64] | Coded:
    """Return a column of numbers, or of text where the attribute is nominal, a string or a date."""
    if attribute.kind != "numeric":
        if attribute.kind == "nominal":
            _check_nominal(path, attribute, cells, numbers)
            made = Coded.of(("" if cell == "?" else cell for cell in cells), declared=attribute.values)
            return Coded(made.values, made.codes, frozenset(attribute.values))
        return Coded.of("" if cell == "?" else cell for cell in cells)
    try:
        return np.array([np.nan if cell == "?" else as_number(cell) for cell in cells], dtype=np.float64)
    except ValueError:
        for number, cell in zip(numbers, cells):
            try:
                as_number("nan" if cell == "?" else cell)
            except ValueError:
                raise not_a_number(path, f"line {number}", attribute.name, cell) from None
        raise


def _check_nominal(path: Path, attribute: Attribute, cells: list[str], numbers: list[int]) -> None:
    known = {*attribute.values, "?"}
    strangers = set(cells) - known
    if strangers:
        number, cell = next((n, c) for n, c in zip(numbers, cells) if c in strangers)
        from sidelight.errors import nearest

        raise UnreadableFile(
            f"{path}, line {number}, attribute {attribute.name!r}: expected a declared value, found {shown(cell)}. "
            f"{nearest(cell, attribute.values)} Correct the cell, or add the value to the header."
        )


def _class_hint(header: Header) -> dict[str, tuple[Any, str]]:
    """Take a nominal attribute called class, else a nominal last one, for the label."""
    nominal = [a.name for a in header.attributes if a.kind == "nominal"]
    named = [name for name in nominal if name.lower() in ("class", "label", "target")]
    named = named or [name for name in nominal if is_label_name(name)]
    if named:
        return {"label": (named[0], "nominal, and its name")}
    if nominal and nominal[-1] == header.attributes[-1].name:
        return {"label": (nominal[-1], "the last attribute, and nominal")}
    called = [name for name in nominal if is_called(key_of(name), name, LABELS)]
    if len(called) == 1:
        return {"label": (called[0], "nominal, and a word of its name")}
    return {}


def _rows(path: Path, lines: Iterator[Row]) -> list[Row]:
    rows = [(n, text) for n, line in lines if (text := line.strip()) and not text.startswith("%")]
    if not rows:
        raise UnreadableFile(f"{path}: expected rows after @data, found none. Was the file cut off? Fetch it again.")
    return rows


def relational_source(
    path: Path, header: Header, rows: list[tuple[int, str]], labels: tuple[str, ...] | None
) -> tuple[MemorySource, dict[str, tuple[Any, str]]]:
    """Unfold bags into rows: the columns of the bag are repeated beside each of its rows."""
    outer = header.attributes
    where = next(j for j, a in enumerate(outer) if a.kind == "relational")
    relation = outer[where]
    if not relation.inner:
        raise UnreadableFile(f"{path}: the relational attribute {relation.name!r} declares no attributes of its own.")
    if any(a.kind == "relational" for a in relation.inner):
        raise UnreadableFile(f"{path}: attribute {relation.name!r} holds another relation; bags of rows are read.")
    bags, unfolded, of_bag, lines = _unfold(path, rows, len(outer), where, relation.inner)
    if not unfolded:
        raise UnreadableFile(f"{path}: expected rows inside {relation.name!r}, found only empty bags.")
    inner_columns = [
        as_column(path, attribute, [row[j] for row in unfolded], lines) for j, attribute in enumerate(relation.inner)
    ]
    others = [j for j in range(len(outer)) if j != where]
    id_at = _id_attribute(outer, others, len(bags), bags, labels)
    names = ["bag" if id_at is None else outer[id_at].name]
    columns: list[Any] = [_bag_column(bags, id_at, of_bag)]
    for j in others:
        if j != id_at:
            as_column(path, outer[j], [bag[j] for bag in bags], [number for number, _ in rows])  # checks the values
            names.append(outer[j].name)
            columns.append(_repeat([bag[j] for bag in bags], of_bag))
    label_names = [name for name in names[1:] if labels is None or name in labels]
    names = [*names, *_fresh([a.name for a in relation.inner], names)]
    n_empty = len(bags) - len(set(of_bag))
    notes = [f"{n_empty} bags without rows were left out"] if n_empty else []
    source = MemorySource(path, "ARFF, relational bags", names, [*columns, *inner_columns], lines, notes)
    hints: dict[str, tuple[Any, str]] = {
        "bag": (names[0], "one line of the file"),
        "label_level": ("bag", "they stand beside the bag"),
        "features": (tuple(names[len(columns) :]), f"inside the relational attribute {relation.name!r}"),
        "id": (False, ""),
    }
    hints["label"] = (tuple(label_names), "beside the bag") if label_names else (False, "")
    return source, hints


class _Unfolded(NamedTuple):
    bags: list[list[str]]  # the values of each bag
    rows: list[list[str]]  # the values of each row inside them
    of_bag: list[int]  # the bag of each row
    lines: list[int]  # and the line it stands in


def _unfold(
    path: Path, rows: list[tuple[int, str]], n_values: int, where: int, inner: tuple[Attribute, ...]
) -> _Unfolded:
    """Split the lines of the file into bags, and value ``where`` of each bag into its rows."""
    found = _Unfolded([], [], [], [])
    for number, text in rows:
        values = split_values(path, number, text)
        if len(values) != n_values:
            raise ragged(path, number, n_values, len(values))
        for line in values[where].replace("\\n", "\n").split("\n"):
            if line.strip():
                found.rows.append(_inner_row(path, number, line.strip(), inner))
                found.of_bag.append(len(found.bags))
                found.lines.append(number)
        found.bags.append(values)
    return found


def _inner_row(path: Path, number: int, line: str, inner: tuple[Attribute, ...]) -> list[str]:
    if not line.startswith("{"):
        row = split_values(path, number, line)
        if len(row) != len(inner):
            raise ragged(path, number, len(inner), len(row))
        return row

    row = [a.values[0] if a.kind == "nominal" and a.values else "0" for a in inner]
    for j, value in sparse_pairs(path, number, line, len(inner)):
        row[j] = value
    return row


def _id_attribute(
    outer: tuple[Attribute, ...],
    others: list[int],
    n_bags: int,
    bags: list[list[str]],
    labels: tuple[str, ...] | None,
) -> int | None:
    """Find the attribute that names the bags: different in every line, and not a label."""
    for j in others:
        is_label = labels is not None and outer[j].name in labels
        if not is_label and outer[j].kind != "numeric" and len({bag[j] for bag in bags}) == n_bags and n_bags > 1:
            return j
    first = others[0] if others else None
    if first is not None and outer[first].name.lower().replace("_", "") in ("id", "bagid", "bag", "moleculename"):
        return first
    return None


def _bag_column(bags: list[list[str]], id_at: int | None, of_bag: list[int]) -> Coded:
    names = [str(k + 1) if id_at is None else bag[id_at] for k, bag in enumerate(bags)]
    return _repeat(names, of_bag)


def _repeat(cells: list[str], of_bag: list[int]) -> Coded:
    return Coded.of("" if cells[bag] == "?" else cells[bag] for bag in of_bag)


def _fresh(names: list[str], taken: list[str]) -> list[str]:
    """Give inner attributes names that differ from the outer ones."""
    out: list[str] = []
    for name in names:
        new = name
        while new in taken or new in out:
            new = f"{new}_"
        out.append(new)
    return out


# Sparse ARFF rows, ``{index value, index value}``: what is left out is zero, or a nominal's first value.


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
    left_out = {j: value for j in features if (value := _left_out(attributes[j]))}
    n_cells = len(rows) * len(left_out)
    need_sparse(path, len(rows), len(features), n_cells)
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
        for j in left_out.keys() - named:
            indices.append(place[j])
            values.append(left_out[j])
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


def _left_out(attribute: Attribute) -> float:
    """Return the number that a feature has where a sparse row leaves it out: 0, or the first declared value."""
    if attribute.kind != "nominal" or not attribute.values:
        return 0.0
    first = attribute.values[0]
    return as_number(first) if is_number(first) else float(tick(first) == 1)


def _number(path: Path, number: int, name: str, cell: str) -> float:
    if cell == "?":
        return float("nan")
    try:
        return as_number(cell)
    except ValueError:
        mark = tick(cell)
        if mark in (0, 1):
            return float(mark)
        raise not_a_number(path, f"line {number}", name, cell) from None


def _role(j: int, label_at: list[int], place: dict[int, int], why: str) -> tuple[str, str]:
    if j in label_at:
        return "label", why
    return ("feature", "numbers") if j in place else ("ignored", "not a number")
