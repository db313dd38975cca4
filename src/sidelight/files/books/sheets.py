"""Lines of a sheet that are no rows: titles above the names, second lines of names, units, notes and totals below."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sidelight.files.books.columns import as_text, table_of
from sidelight.files.roles.cells import DECIMAL_COMMA, is_gap, is_number
from sidelight.files.roles.columns import MemorySource
from sidelight.files.source import Source
from sidelight.files.text.dialect import SAMPLE, counts_up, sniff, with_corner
from sidelight.words import counted, some_of

_LOOKED_AT = 20  # lines at the top among which the names of the columns are sought
_TITLE = 0.34  # share of the usual cells that a line of text above a table fills at most
_TYPES = {"c", "d", "s", "m", "t", "continuous", "discrete", "string", "meta", "time", "numeric", "nominal"}
_FLAGS = {"class", "meta", "i", "ignore", "input"}
_TOTAL = re.compile(
    r"(grand |sub)?(total|totals|sum|summe|gesamt|insgesamt|average|mean|mittelwert|durchschnitt|somme|moyenne|suma|"
    r"promedio|media|totale)\b.{0,12}",
    re.IGNORECASE,
)
_NOTE = re.compile(r"[*†‡].*|\(?\w{1,2}[).].+|.*:.*|\S+\s+\S+\s+\S.*")


@dataclass
class Body:
    """The rows of a sheet, with the number of the line of each, and what else stood around them."""

    names: list[str]
    rows: list[list[Any]]
    lines: list[int]
    notes: list[str] = field(default_factory=list)
    label: str | None = None  # the column that a line of flags calls the class


def body_of(cells: Sequence[Sequence[Any]]) -> Body:
    """Find the table among the lines of a sheet.

    Parameters
    ----------
    cells : sequence of sequences
        Every line, cell by cell; empty lines too.
    """
    counted_first = _counts_the_rest(cells)
    cells = [[], *cells[1:]] if counted_first else cells
    width = max(map(len, cells))
    rows = [[*row, *[None] * (width - len(row))] for row in cells]
    top = _header(rows)
    below = [row for row in rows[top + 1 :] if _filled(row)]
    has_names = not _is_row(rows[top], below)
    names = [as_text(cell).strip() for cell in rows[top]] if has_names else [""] * width
    made = Body(names, [], [])
    if counted_first or any(_filled(row) for row in rows[:top]):
        made.notes.append(f"{counted(max(top, 1), 'line')} above the table: skipped")
    first = top + has_names
    first += _more_names(made, rows[first : first + 12]) if has_names else 0
    numbered = [(i + 1, row) for i, row in enumerate(rows) if i >= first]
    numbered = _until_next_table(made, numbered) if has_names else numbered
    again = [line for line, row in numbered if has_names and row == rows[top]]
    if again:
        made.notes.append(f"the names of the columns come again in {counted(len(again), 'line')}, which were left out")
    numbered = [(line, row) for line, row in numbered if _filled(row) and line not in again]
    numbered = _without_foot(made, numbered)
    made.lines, made.rows = [line for line, _ in numbered], [row for _, row in numbered]
    return made


def read_sheet(source: Source) -> MemorySource | None:
    """Read a small text whose table stands among lines that are no rows; None where every line is one."""
    if len(source.head(SAMPLE)) >= SAMPLE:
        return None
    dialect = sniff(source)
    text = source.head(SAMPLE).decode(dialect.encoding, errors="replace").lstrip("\ufeff")
    is_quoted = dialect.separator == " " and '"' in text  # blanks inside quotation marks
    if dialect.separator == " " and not is_quoted:
        lines = [line.split() for line in text.splitlines()]
    else:
        try:
            lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator, skipinitialspace=True))
        except csv.Error:
            return None
    cells = [[cell.strip() for cell in row] for row in lines[dialect.skip :]]
    if len(cells) < 4 or max(map(len, cells)) < 2:
        return None
    made = body_of(with_corner([row for row in cells if row]) if is_quoted else cells)
    if not (made.notes or is_quoted) or not made.rows:
        return None
    rows = [[dialect.with_point(cell or "") for cell in row] for row in made.rows]
    used = [j for j, name in enumerate(made.names) if name or any(row[j] for row in rows)]
    columns = [[row[j] for row in rows] for j in used]
    names = [made.names[j] or f"column_{j + 1}" for j in used]
    table = table_of(source.path, dialect.title, names, columns, notes=made.notes)
    table.lines = [line + dialect.skip for line in made.lines]
    table.hints = {} if made.label is None else {"label": (made.label, "the line below the names says so")}
    return table


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return is_number(cell) or DECIMAL_COMMA.fullmatch(cell) is not None
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _filled(row: Sequence[Any]) -> int:
    return sum(not (cell is None or (isinstance(cell, str) and not cell.strip())) for cell in row)


def _header(rows: Sequence[Sequence[Any]]) -> int:
    """Return the line that names the columns: the first that fills about as many cells as the lines below it do."""
    filled = [_filled(row) for row in rows[: _LOOKED_AT + 5]]
    usual = sorted(filled[1:] or filled)[len(filled[1:] or filled) // 2]
    top = next((i for i, n in enumerate(filled[:_LOOKED_AT]) if n >= max(1, 0.8 * usual)), 0)
    is_title = all(n <= max(1, _TITLE * usual) for n in filled[:top])
    is_title = is_title and (usual > 2 or all(_filled(row[:1]) or not _filled(row) for row in rows[:top]))
    measured = any(_is_number(cell) for row in rows[top:] for cell in row)  # else nothing tells names from cells
    return top if is_title or not measured else next(i for i, n in enumerate(filled) if n)


def _counts_the_rest(cells: Sequence[Sequence[Any]]) -> bool:
    """Say whether the first line says how many rows and columns follow."""
    told = [str(cell) for cell in cells[0] if _filled([cell])]
    n_rows = sum(map(bool, map(_filled, cells))) - 1
    if len(told) < 2 or not (told[0].isdecimal() and told[1].isdecimal()) or (len(told) > 2 and is_number(told[2])):
        return False
    width = max(map(len, cells[1:]), default=0)
    return int(told[0]) in (n_rows, n_rows - 1) and int(told[1]) in (width, width - 1)


def _is_row(line: Sequence[Any], below: Sequence[Sequence[Any]]) -> bool:
    """Say whether the first line is a row itself: numbers above numbers, that neither count up nor name years."""
    told = [cell for cell in line if _filled([cell])]
    if len(told) < 2 or not all(map(_is_number, told)) or not below:
        return False
    texts = [as_text(cell) for cell in told]
    years = all(cell.isdecimal() and 1800 <= int(cell) <= 2100 for cell in texts)
    return not years and not counts_up(texts) and all(_is_number(c) for row in below[:50] for c in row if _filled([c]))


def _more_names(made: Body, rows: Sequence[Sequence[Any]]) -> int:
    """Take lines of units, types or further names below the names; return how many there are."""
    if len(rows) < 4:
        return 0
    line, body = rows[0], [row for row in rows[2:] if _filled(row)]
    measured = [j for j in range(len(line)) if (told := [row[j] for row in body if _filled([row[j]])])
                and all(_is_number(cell) or is_gap(str(cell)) for cell in told)]  # fmt: skip
    words = [j for j in measured if _filled([line[j]]) and not is_gap(str(line[j])) and not _is_number(line[j])]
    kinds = {as_text(cell).strip().lower() for cell in line if _filled([cell])}
    flags = {as_text(cell).strip().lower().partition("=")[0] for cell in rows[1] if _filled([cell])}
    if kinds & _TYPES and flags <= _FLAGS and len(words) == len(measured):
        marked = [j for j, cell in enumerate(rows[1]) if as_text(cell).strip().lower() == "class"]
        made.label = made.names[marked[0]] if len(marked) == 1 else None
        made.notes.append("two lines below the names say what kind each column is")
        return 2
    if not measured or 2 * len(words) < len(measured):
        return 0
    parts = [as_text(cell).strip() for cell in line]
    named = [name for name in made.names if name]
    if len(set(named)) < len(named) or any(part and not name for part, name in zip(parts, made.names)):
        before = ""
        for j, name in enumerate(made.names):
            before = name or before
            made.names[j] = f"{before} {parts[j]}".strip()
        made.notes.append("two lines of names were read as one")
    else:
        seen = some_of([parts[j] for j in words], 3)
        made.notes.append(f"the line below the names ({seen}) holds units or further names, and was left out")
    return 1


def _until_next_table(made: Body, numbered: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Cut a sheet before a second table: an empty line, then words in the columns of numbers."""
    for k in range(2, len(numbered) - 1):
        line, row = numbered[k + 1]
        if _filled(numbered[k][1]) or _filled(row) < 2 or any(_is_number(cell) for cell in row):
            continue
        above = [other for _, other in numbered[:k] if _filled(other)]
        if any(_filled([row[j]]) and all(_is_number(other[j]) for other in above) for j in range(len(row))):
            made.notes.append(f"another table begins in line {line} and was left out: keep each in a file of its own")
            return numbered[:k]
    return numbered


def _without_foot(made: Body, numbered: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Leave out notes and totals at the end."""
    usual = sorted(_filled(row) for _, row in numbered)[len(numbered) // 2] if numbered else 0
    foot: list[str] = []
    while len(numbered) > 3 and usual > 2:
        row = numbered[-1][1]
        told = next((as_text(cell).strip() for cell in row if _filled([cell])), "")
        is_note = _filled(row) == 1 and _NOTE.fullmatch(told) is not None
        if not (is_note or (_TOTAL.fullmatch(told) and any(map(_is_number, row)))):
            break
        foot.append(told)
        numbered = numbered[:-1]
    if foot:
        named = some_of([repr(word[:30]) for word in reversed(foot)], 3)
        made.notes.append(f"{counted(len(foot), 'line')} at the end (totals, notes) were left out: {named}")
    return numbered
