"""Nested columns of Parquet and Arrow: structs become a column a field, lists of as many numbers a column each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sidelight.words import some_of

_WIDEST = 1_024  # numbers of a list that become columns
_DEEPEST = 6


def opened(scan: Any, schema: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a lazy frame without nested columns, and what was left out because it cannot be opened.

    Parameters
    ----------
    scan : LazyFrame
        The table.
    schema : mapping of str to data type
        Its columns.
    """
    import polars as pl

    plain = (pl.Struct, pl.List, pl.Array, pl.Binary, pl.Object, pl.Map) if hasattr(pl, "Map") else (
        pl.Struct, pl.List, pl.Array, pl.Binary, pl.Object)  # fmt: skip
    if not any(isinstance(kind, plain) or kind in (pl.Binary, pl.Object) for kind in schema.values()):
        return scan, ()
    notes: list[str] = []
    chosen = [
        column for name, kind in schema.items() for column in _columns(scan, pl.col(name), name, kind, notes, _DEEPEST)
    ]
    structs = [name for name, kind in schema.items() if isinstance(kind, pl.Struct)]
    if structs:
        notes.insert(0, f"nested columns were opened, a column a field: {some_of(structs, 3)}")
    return scan.select(chosen), tuple(notes)


def _columns(scan: Any, cell: Any, name: str, kind: Any, notes: list[str], depth: int) -> Iterator[Any]:
    import polars as pl

    if isinstance(kind, pl.Struct) and depth:
        for field in kind.fields:
            yield from _columns(scan, cell.struct.field(field.name), f"{name}.{field.name}", field.dtype, notes,
                                depth - 1)  # fmt: skip
        return
    if kind == pl.Binary:
        yield cell.cast(pl.String, strict=False).alias(name)
        return
    if isinstance(kind, (pl.List, pl.Array)) and kind.inner == pl.String:
        yield (cell if isinstance(kind, pl.List) else cell.arr.to_list()).alias(name)
        return
    if isinstance(kind, (pl.List, pl.Array)) and kind.inner.is_numeric():
        listed = cell if isinstance(kind, pl.List) else cell.arr.to_list()
        lengths = scan.select(listed.list.len().min().alias("low"), listed.list.len().max().alias("high")).collect()
        low, high = lengths.row(0)
        if low == high and 0 < (high or 0) <= _WIDEST:
            for k in range(high):
                yield listed.list.get(k).alias(f"{name}.{k}")
            return
    if isinstance(kind, (pl.Struct, pl.List, pl.Array, pl.Object)) or kind.is_nested():
        notes.append(f"{name!r} is nested ({kind}) and was left out"[:200])
        return
    yield cell.alias(name)
