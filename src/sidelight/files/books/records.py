"""JSON: a record a line, or one array of records; fields of fields are named by dots."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.books.columns import table_of
from sidelight.files.limits import need
from sidelight.files.roles.columns import MemorySource
from sidelight.files.source import Source

_MOST_FIELDS = 5_000
_DEEPEST = 6  # levels of fields in fields
_GROWS = 12  # times that JSON grows while it is Python values


def read_records(path: Path, part: str | None = None) -> MemorySource:
    """Read JSON lines, or an array of records, as a table; ``part`` names the field that holds the records."""
    with Source(path).open() as file:
        content = file.read()
    need(path, float(_GROWS * len(content)), f"{len(content)} bytes of JSON")
    decoder = msgspec.json.Decoder()
    records: list[Any]
    try:
        if content.lstrip()[:1] == b"[":
            records = decoder.decode(content)
            lines = None
        else:
            numbered = [(n, line) for n, line in enumerate(content.splitlines(), start=1) if line.strip()]
            lines = [n for n, _ in numbered]
            records = [_line(path, decoder, n, line) for n, line in numbered]
            if len(records) == 1 and isinstance(records[0], dict):
                records, lines = _inner_records(records[0], part) or records, None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(f"{path}: JSON that cannot be read ({error}).") from None
    columns: dict[str, list[Any]] = {}
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            where = f"line {lines[row]}" if lines else f"record {row + 1}"
            raise InvalidData(f"{path}, {where}: expected a record of names and values, found {record!r:.60}.")
        for name, value in _flat(record):
            column = columns.setdefault(name, [])
            column.extend([None] * (row - len(column)))
            column[row:] = [value]
        if len(columns) > _MOST_FIELDS:
            raise InvalidData(f"{path}: more than {_MOST_FIELDS} different fields: expected records of one kind.")
    for column in columns.values():
        column.extend([None] * (len(records) - len(column)))
    return table_of(path, "JSON records", list(columns), list(columns.values()))


def _line(path: Path, decoder: Any, number: int, line: bytes) -> Any:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(
            f"{path}, line {number}: expected one JSON record, found {line[:40]!r} ({error})."
        ) from None


def _inner_records(record: Mapping[str, Any], part: str | None) -> list[Any] | None:
    """Return the records inside ``{"data": [...]}``, where one field, or the one that is named, is a list of them."""
    inside = record.values() if part is None else [record.get(part)]
    lists = [value for value in inside if isinstance(value, list) and value and isinstance(value[0], dict)]
    return lists[0] if len(lists) == 1 else None


def _flat(record: Mapping[str, Any], before: str = "", depth: int = 0) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in record.items():
        own = f"{before}{name}"
        if isinstance(value, dict) and depth < _DEEPEST:
            found += _flat(value, f"{own}.", depth + 1)
        elif isinstance(value, list):
            found.append((own, "|".join(str(part) for part in value if not isinstance(part, (dict, list)))))
        else:
            found.append((own, value))
    return found
