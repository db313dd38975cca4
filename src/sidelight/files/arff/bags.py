"""Relational ARFF, as Weka and the KDIS MIML library write it: one line a bag, its rows inside quotation marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from sidelight.errors import UnreadableFile
from sidelight.files.arff.header import Attribute, Header, split_values
from sidelight.files.problems import ragged
from sidelight.files.roles.columns import Coded, MemorySource


def relational_source(
    path: Path, header: Header, rows: list[tuple[int, str]], labels: tuple[str, ...] | None
) -> tuple[MemorySource, dict[str, tuple[Any, str]]]:
    """Unfold bags into rows: the columns of the bag are repeated beside each of its rows."""
    from sidelight.files.arff.reading import as_column

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
    from sidelight.files.arff.sparse import sparse_pairs

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
