"""JSON: records a line, an array or a document of records; what lies inside a record is opened, or said to be left out.

Fields of fields are named by dots, a list of texts is a set of labels in one cell, a list of as many numbers in every
record is as many columns. A list of records inside a record is a table of its own: a column each where one field tells
its records apart (``scores.exam``, ``scores.quiz``), else a row each, and the record is their bag.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sidelight.errors import InvalidData, UnknownName, UnreadableFile, nearest
from sidelight.files.books.columns import table_of
from sidelight.files.books.tables import choose, which_table
from sidelight.files.limits import need
from sidelight.files.problems import skip
from sidelight.files.roles.columns import MemorySource
from sidelight.files.source import Source, guess_encoding
from sidelight.words import Setting, counted, some_of

_MOST_FIELDS = 5_000
_DEEPEST = 6  # levels of fields in fields
_GROWS = 12  # times that JSON grows while it is Python values
_WIDEST = 1_024  # numbers of a list that become columns
_SPANS = ({"start", "end"}, {"begin", "end"}, {"onset", "offset"}, {"start_offset", "end_offset"}, {"from", "to"})
_LINKS = ({"source", "target"}, {"from", "to"}, {"src", "dst"})
_NAMES = ("name", "title", "label", "text", "value", "category", "type", "id")
_BOXES = ({"images", "annotations"}, {"shapes", "imagePath"})  # COCO, labelme
_POINT = ("longitude", "latitude", "elevation")
Record = Mapping[str, Any]


def read_records(path: Path, part: str | None = None) -> MemorySource:
    """Read JSON as a table; ``part`` names the field that holds the records, where several do."""
    with Source(path).open() as file:
        content = file.read()
    need(path, float(_GROWS * len(content)), f"{len(content)} bytes of JSON")
    if not content.isascii() and (code := guess_encoding(content[: 1 << 16])) not in ("utf-8", "latin-1"):
        content = content.decode(code, errors="replace").encode()
    found = _decoded(path, content)
    doubts: list[Any] = []
    table = ""
    if isinstance(found, dict):
        found, table, doubts = _records_of(path, found, part)
    records = _as_records(path, found)
    if not records:
        raise InvalidData(f"{path}: JSON without a record. Was it written completely?")
    opened = _Opened(path, records)
    title = f"JSON records{table}" + (f", a row for each of their {opened.unfolded!r}" if opened.unfolded else "")
    made = table_of(path, title, list(opened.columns), list(opened.columns.values()), notes=opened.notes)
    made.doubts, made.bag_hint = tuple(doubts), opened.record_name if opened.unfolded else None
    return made


def _decoded(path: Path, content: bytes) -> Any:
    """Return one document, or the list of what stands on each line."""
    decoder = msgspec.json.Decoder()
    content = content.strip()
    try:
        return decoder.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        whole = error
    lines = [(n, line) for n, line in enumerate(content.splitlines(), start=1) if line.strip()]
    first = _line(decoder, lines[0][1])
    while first is None and len(lines) > 1 and skip(lines[0][0], "no JSON record"):
        del lines[0]
        first = _line(decoder, lines[0][1])
    if first is None or len(lines) == 1:
        try:
            return json.loads(content)  # Python's own writes NaN and Infinity, which are no JSON
        except (ValueError, RecursionError):
            raise UnreadableFile(f"{path}: JSON that cannot be read ({whole}).") from None
    found = [first]
    for number, line in lines[1:]:
        one = _line(decoder, line)
        if one is None:
            if skip(number, "no JSON record"):
                continue
            raise UnreadableFile(
                f"{path}, line {number}: expected one JSON record, found {line[:40]!r}.",
                do=["Correct it, or leave such lines out: ", Setting("bad_lines", "skip"), "."],
            )
        if isinstance(first, dict) and not isinstance(one, dict):
            if skip(number, "no record of names and values"):
                continue
            raise InvalidData(f"{path}, line {number}: expected a record of names and values, found {one!r:.60}.")
        found.append(one)
    return found


def _line(decoder: Any, line: bytes) -> Any:
    for decode in (decoder.decode, json.loads):
        try:
            return decode(line)
        except (ValueError, msgspec.DecodeError, RecursionError):  # msgspec's is no ValueError in its older versions
            continue
    return None


def _records_of(path: Path, document: Record, part: str | None) -> tuple[Any, str, list[Any]]:
    """Return the records in a document, the table that was chosen in words, and the question which one is meant."""
    kind = document.get("type")
    if kind == "Topology":
        raise UnreadableFile(f"{path}: TopoJSON, which holds outlines and no rows. Export the properties as CSV.")
    if kind == "FeatureCollection" and isinstance(document.get("features"), list) and part is None:
        return [_feature(one) for one in document["features"]], ", features of GeoJSON", []
    for needed in _BOXES:
        if needed <= document.keys() and part is None:
            raise UnreadableFile(
                f"{path}: annotations of pictures (boxes or outlines with names): a label track and no rows.",
                do=["Cut the pictures into rows with `sidelight from FOLDER`, and give the names that each one has as "
                    "a table: ", Setting("labels", "TABLE"), "."],
            )  # fmt: skip
    lists = dict(_lists(document))
    if part is not None:
        if part not in lists:
            raise UnknownName(f"{path} has no list of records {part!r}. {nearest(part, list(lists))}")
        return lists[part], f", table {part!r}", []
    if len(lists) == 1:
        return next(iter(lists.values())), "", []
    if lists:
        sizes = {name: _worth(rows) for name, rows in lists.items()}
        chosen = choose(sizes)
        return lists[chosen], f", table {chosen!r}", which_table(path, chosen, sizes, "lists of records")
    return _by_columns(document) or [document], "", []


def _lists(document: Record, before: str = "", depth: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of records in a document, by their names."""
    for name, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{before}{name}", value
        elif isinstance(value, dict) and depth < 2:
            yield from _lists(value, f"{before}{name}.", depth + 1)


def _worth(rows: Sequence[Any]) -> float:
    """Return how much of a table a list of records is: its rows times its fields of numbers."""
    first = [row for row in rows[:50] if isinstance(row, dict)]
    if first and any(pair <= {name.lower() for name in first[0]} for pair in _LINKS):
        return 0.02 * len(rows)  # links between what another list holds
    fields = Counter(name for row in first for name, value in row.items() if isinstance(value, (int, float, str)))
    return len(rows) * max(1, len(fields))


def _by_columns(document: Record) -> list[Any] | None:
    """Return the records of a document that holds columns, or records under their names, as data frames write it."""
    if {"columns", "data"} <= document.keys() and isinstance(document["data"], list):
        names = [str(name) for name in document["columns"]]
        return [dict(zip(names, row)) for row in document["data"] if isinstance(row, list)]
    values = list(document.values())
    if values and all(isinstance(value, list) for value in values):
        n_rows = {len(value) for value in values}
        plain = not any(isinstance(cell, (list, dict)) for value in values for cell in value[:5])
        return [dict(zip(document, row)) for row in zip(*values)] if len(n_rows) == 1 and plain else None
    if len(values) < 2 or not all(isinstance(value, dict) for value in values):
        return None
    keys = [frozenset(value) for value in values]
    if len(set(keys)) == 1 and all(key.isdecimal() for key in keys[0]):  # {"a": {"0": 1, "1": 2}, "b": ...}
        return [{name: value.get(key) for name, value in document.items()} for key in values[0]]
    shared = frozenset.intersection(*keys)
    if len(values) > 2 and 2 * len(shared) >= len(keys[0]) > 0:
        return [{"key": name, **value} for name, value in document.items()]
    return None


def _feature(one: Any) -> Any:
    """Return a feature of GeoJSON as a record: its properties, and where its point is."""
    if not isinstance(one, dict) or not isinstance(one.get("properties"), dict):
        return one
    place = one.get("geometry")
    point = place.get("coordinates") if isinstance(place, dict) and place.get("type") == "Point" else None
    where = dict(zip(_POINT, point)) if isinstance(point, list) else {}
    own = {"id": one["id"]} if "id" in one and "id" not in one["properties"] else {}
    return {**own, **one["properties"], **where}


def _as_records(path: Path, found: Any) -> list[Record]:
    """Return records, whether a list holds records, rows or single values."""
    if not isinstance(found, list):
        raise InvalidData(f"{path}: expected JSON records, found {found!r:.60}.")
    if found and all(isinstance(row, list) for row in found):
        width = max(map(len, found))
        first = found[0]
        named = len(found) > 1 and all(isinstance(cell, str) for cell in first) and len(set(first)) == width
        named = named and any(not isinstance(cell, str) for row in found[1:20] for cell in row)
        names = list(map(str, first)) if named else [f"column_{j + 1}" for j in range(width)]
        return [dict(zip(names, row)) for row in found[named:]]
    if found and not any(isinstance(row, (dict, list)) for row in found):
        return [{"value": row} for row in found]
    for row, record in enumerate(found):
        if not isinstance(record, dict):
            raise InvalidData(f"{path}, record {row + 1}: expected a record of names and values, found {record!r:.60}.")
    return found


class _Opened:
    """Columns of records, with what lies inside them opened."""

    def __init__(self, path: Path, records: Sequence[Record]) -> None:
        self.path = path
        self.notes: list[str] = []
        self.unfolded = self.record_name = ""
        self.columns: dict[str, list[Any]] = {}
        flat = [dict(_flat(record)) for record in records]
        lists = dict.fromkeys(name for record in flat for name, value in record.items() if isinstance(value, list))
        tables = []
        for name in lists:
            cells = [record[name] for record in flat if isinstance(record.get(name), list)]
            inner = [one for cell in cells for one in cell if one is not None]
            if inner and all(isinstance(one, dict) for one in inner):
                if not self._as_names(name, flat, inner) and not self._is_span(name, flat, inner):
                    tables.append(name)
            else:
                self._list(name, flat, cells, inner)
        for name in list(tables):
            n_filled = sum(bool(record.get(name)) for record in flat)
            if len(tables) > 1 or 2 * n_filled < len(flat):
                self._leave_out(
                    name, flat, "a list of records" if len(tables) == 1 else "one of several lists of records"
                )
                tables.remove(name)
        if tables and not self._pivot(tables[0], flat):
            flat = self._unfold(tables[0], flat)
        for row, record in enumerate(flat):
            for name, value in record.items():
                column = self.columns.setdefault(name, [])
                column.extend([None] * (row - len(column)))
                column.append(value)
            if len(self.columns) > _MOST_FIELDS:
                raise InvalidData(f"{path}: more than {_MOST_FIELDS} different fields: expected records of one kind.")
        for column in self.columns.values():
            column.extend([None] * (len(flat) - len(column)))
        need(path, 60.0 * len(flat) * len(self.columns), f"{len(flat)} records of {len(self.columns)} fields")

    def _leave_out(self, name: str, flat: Sequence[dict[str, Any]], why: str) -> None:
        for record in flat:
            record.pop(name, None)
        self.notes.append(f"{name!r} is nested ({why}) and was left out")

    def _list(self, name: str, flat: Sequence[dict[str, Any]], cells: Sequence[Any], inner: Sequence[Any]) -> None:
        """Make a list a cell of labels, columns of numbers, or leave it out."""
        if any(isinstance(one, (list, dict)) for one in inner):
            spans = all(isinstance(one, list) and len(one) == 3 and isinstance(one[2], str) for one in inner)
            self._leave_out(name, flat, "spans: pieces of the text with names" if spans else "lists of lists")
            return
        lengths = {len(cell) for cell in cells}
        if inner and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in inner):
            if len(lengths) > 1 or not 0 < max(lengths) <= _WIDEST:
                self._leave_out(name, flat, "lists of numbers of different lengths")
                return
            for record in flat:
                numbers = record.pop(name, None)
                if isinstance(numbers, list):
                    record |= {f"{name}.{k}": number for k, number in enumerate(numbers)}
            return
        for record in flat:
            if isinstance(record.get(name), list):
                record[name] = "|".join(str(one) for one in record[name] if one is not None)

    def _as_names(self, name: str, flat: Sequence[dict[str, Any]], inner: Sequence[Record]) -> bool:
        """Make a list of records a cell of their names, where they hold no numbers."""
        if any(isinstance(v, (int, float)) and not isinstance(v, bool) for one in inner for v in one.values()):
            return False
        own = next((n for n in _NAMES if all(isinstance(one.get(n), str) for one in inner)), None)
        if own is None:
            return False
        for record in flat:
            if isinstance(record.get(name), list):
                record[name] = "|".join(one[own] for one in record[name] if one is not None)
        self.notes.append(f"of the records in {name!r} their {own!r} was read")
        return True

    def _is_span(self, name: str, flat: Sequence[dict[str, Any]], inner: Sequence[Record]) -> bool:
        """Leave out pieces of a text or a recording: where they are is no measurement of it."""
        if not any(pair <= one.keys() for pair in _SPANS for one in inner[:20]):
            return False
        self._leave_out(name, flat, "spans: pieces with a start and an end")
        return True

    def _pivot(self, name: str, flat: Sequence[dict[str, Any]]) -> bool:
        """Give records of a list a column each, where a field of words tells them apart and comes back."""
        lists = [record[name] for record in flat if isinstance(record.get(name), list)]
        for key in lists[0][0] if lists and lists[0] else ():
            keys = [[one.get(key) for one in cell if isinstance(one, dict)] for cell in lists]
            if not all(isinstance(k, str) for cell in keys for k in cell):
                continue
            every = {k for cell in keys for k in cell}
            is_name = len(every) <= 50
            if not is_name or any(len(set(cell)) < len(cell) for cell in keys) or len(keys) < 2:
                continue
            if sum(len(cell) for cell in keys) < 0.5 * len(every) * len(keys):
                continue
            for record in flat:
                for one in record.pop(name, None) or ():
                    rest = [(n, v) for n, v in one.items() if n != key]
                    own = f"{name}.{one[key]}"
                    record |= {own if len(rest) == 1 else f"{own}.{n}": v for n, v in rest}
            self.notes.append(f"the records in {name!r} became columns, one for each {key!r}")
            return True
        return False

    def _unfold(self, name: str, flat: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Give every record of a list a row of its own; the record that holds them is their bag."""
        outer = [n for n in flat[0] if n != name and not isinstance(flat[0][n], list)]
        unique = [n for n in outer if len({str(record.get(n)) for record in flat}) == len(flat)]
        self.unfolded, self.record_name = name, unique[0] if unique else "record"
        rows: list[dict[str, Any]] = []
        silent = 0
        for number, record in enumerate(flat, start=1):
            inner = [one for one in record.pop(name, None) or () if isinstance(one, dict)]
            silent += not inner
            above = record if unique else {"record": str(number), **record}
            rows += [{**above, **dict(_flat(one, f"{name}."))} for one in inner]
            need(self.path, 60.0 * len(rows) * (len(above) + 3), f"{len(rows)} records inside records")
        for row in rows:
            for n in [n for n, value in row.items() if isinstance(value, list)]:
                row[n] = "|".join(str(one) for one in row[n] if not isinstance(one, (dict, list)))
        if silent:
            self.notes.append(f"{counted(silent, 'record')} without {name!r} {'has' if silent == 1 else 'have'} no row")
        return rows


def _flat(record: Record, before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        own = f"{before}{name}"
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _flat(value, f"{own}.", depth + 1)
        else:
            yield own, value if not isinstance(value, dict) else some_of(list(value), 3)
