"""How a delimited text file is written (encoding, separator, decimal mark, header), guessed from its beginning."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sidelight.errors import InvalidParameter, UnreadableFile
from sidelight.files.problems import unclosed_quote
from sidelight.files.roles.cells import DECIMAL_COMMA, is_gap, is_number
from sidelight.files.source import GUESSED, LATIN, Source, check_encoding, guess_encoding
from sidelight.words import Setting

SAMPLE = 1 << 18
_FEW = 5  # fewer lines than this do not show how a file is written
_LINES_IN_A_CELL = 1_000  # more lines than this in a name mean a quotation mark that is not closed
LONGEST_ROW = 1 << 26  # a row longer than this is an unclosed quotation mark, not a row
MAX_COLUMNS = 100_000  # wider than any table met so far; a file of separators alone would cost gigabytes
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")  # 1.234,56
_EVEN = 0.8  # share of the lines that blanks must cut into as many cells, where the cells are words
_SEPARATORS = ("\t", ";", ",", "|", " ")


@dataclass(frozen=True)
class Dialect:
    """How the text is written, the names of its columns and the first rows as text."""

    encoding: str
    separator: str  # " " stands for any run of blanks
    has_header: bool
    decimal_comma: bool
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    skip: int  # lines before the header or the first row
    has_padding: bool  # blanks around the cells
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """A few words for people."""
        names = {"\t": "tabs", " ": "blanks", ",": "commas", ";": "semicolons", "|": "bars"}
        between = names.get(self.separator, repr(self.separator))
        return f"text separated by {between}" + (", decimal commas" if self.decimal_comma else "")

    def with_point(self, cell: str) -> str:
        """Return a cell with a decimal point where the file writes a comma."""
        is_number = self.decimal_comma and DECIMAL_COMMA.fullmatch(cell)
        return cell.replace(",", ".", 1) if is_number else cell


def sniff(
    source: Source, *, separator: str | None = None, encoding: str | None = None, header: bool | None = None
) -> Dialect:
    """Look at the beginning of a file and say how it is written; what the user says is believed."""
    path, sample, size = source.path, source.head(SAMPLE), SAMPLE
    while len(sample) == size < LONGEST_ROW and sample.count(b"\n") + sample.count(b"\r") < _FEW:
        size *= 8  # the first rows are longer than that
        sample = source.head(size)
    chosen = check_encoding(path, encoding) if encoding else guess_encoding(sample)
    text, skip, notes = _body(path, sample, chosen)
    if not encoding and chosen in GUESSED:
        notes = (*notes, LATIN.format(GUESSED[chosen]))
    if separator is None:
        separator = _guess_separator(text)
    elif not isinstance(separator, str) or len(separator) != 1 or not separator.isascii() or separator in '"\n\r\0':
        raise InvalidParameter(
            f"{path}: a separator is one ASCII character, such as ',' or ';'. Got {separator!r:.80}. "
            "Replace a longer one in the file first."
        )
    if header is not None and not isinstance(header, bool):
        raise InvalidParameter(f"{path}: header is True, False or None (guess it). Got {header!r:.80}.")
    rows = split_rows(text, separator)
    if not rows:
        raise UnreadableFile(f"{path}: the file holds no rows. Was it written completely?")
    if any(cell.count("\n") > _LINES_IN_A_CELL for cell in rows[0]):
        raise unclosed_quote(path, skip + 1)
    if len(sample) == size and len(rows) > 2:
        rows.pop()  # cut in the middle by the end of the sample
    if len(rows[0]) > MAX_COLUMNS:
        raise UnreadableFile(
            f"{path}, line {skip + 1}: {len(rows[0])} columns; at most {MAX_COLUMNS} are read. "
            "Is the table lying on its side?"
        )
    rows = with_corner(rows)
    padded = any(cell != cell.strip() for row in rows[:200] for cell in row)
    rows = [[cell.strip() for cell in row] for row in rows]
    has_header, why = _guess_header(rows) if header is None else (header, "")
    names, renamed = _unique_names(rows[0]) if has_header else (_numbered(rows), ())
    body = tuple(tuple(row) for row in (rows[1:] if has_header else rows))
    decimal = separator != "," and _uses_decimal_comma(body)
    if why:
        notes = (*notes, why)
    return Dialect(chosen, separator, has_header, decimal, names, body, skip, padded, (*notes, *renamed))


def split_rows(text: str, separator: str) -> list[list[str]]:
    """Split text into rows of cells, minding quotes; blank lines are left out."""
    if separator == " ":
        return [line.split() for line in text.splitlines() if line.strip()]
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=False)
        return [row for row in reader if row and any(row)]
    except csv.Error:  # a cell beyond csv's limit, or a lone carriage return: plain splitting still shows the shape
        return [line.split(separator) for line in text.splitlines() if line.strip()]


def _body(path: Path, sample: bytes, encoding: str) -> tuple[str, int, tuple[str, ...]]:
    try:
        text = sample.decode(encoding, errors="replace")
    except UnicodeError as error:
        raise UnreadableFile(
            f"{path}: cannot be read as {encoding} text ({error}).", do=["Pass ", Setting("encoding"), "."]
        ) from None
    lines = list(io.StringIO(text, newline=""))  # a form feed ends no line
    skip = 0
    while skip < len(lines) and (not lines[skip].strip() or lines[skip].lstrip().startswith(("#", "%", "//"))):
        skip += 1
    comments = sum(1 for line in lines[:skip] if line.strip())
    notes = (f"{comments} comment lines at the top were passed over",) if comments else ()
    return "".join(lines[skip:]), skip, notes


def _guess_separator(text: str) -> str:
    """Take the separator that cuts most rows into the same number of cells; more cells win a draw."""
    best, best_score = ",", (0.0, 0.0, 0)
    for separator in _SEPARATORS:
        if separator not in text:
            continue
        rows = split_rows(text[: 1 << 16], separator)[:200]
        rows = rows[:-1] if len(rows) > 2 else rows
        widths = Counter(len(row) for row in rows)
        if not widths:
            continue
        width, share = widths.most_common(1)[0]
        if width < 2:
            continue
        numbers = sum(is_number(c.strip()) or bool(DECIMAL_COMMA.fullmatch(c.strip())) for r in rows[1:] for c in r)
        numeric = numbers / max(sum(len(row) for row in rows[1:]), 1)
        if separator == " " and share < _EVEN * len(rows) and numeric < 0.5:
            continue  # sentences, one a line
        # Blanks also separate words: they win only when nothing else cuts the rows evenly.
        score = (round(share / len(rows) - (0.3 if separator == " " else 0.0), 2), round(numeric, 1), width)
        if score > best_score:
            best, best_score = separator, score
    return best


def with_corner(rows: list[list[str]]) -> list[list[str]]:
    """Give the names of row names a place where the first line lacks it: R writes one name less than columns."""
    width = len(rows[0]) + 1
    is_short = len(rows) > 2 and width > 2 and all(len(row) == width for row in rows[1:])
    return [["", *rows[0]], *rows[1:]] if is_short and not any(is_number(cell.strip()) for cell in rows[0]) else rows


def _guess_header(rows: list[list[str]]) -> tuple[bool, str]:
    first, rest = rows[0], rows[1:201]
    plain = [cell for cell in first if cell]
    if len(rows) == 1:
        return not any(is_number(cell) for cell in plain), ""
    if counts_up(first):
        return True, f"the first line ({first[0]}, {first[1]}, {first[2]}, ...) was taken for column names"
    if any(is_number(cell) or DECIMAL_COMMA.fullmatch(cell) for cell in plain):
        return False, ""
    for j, name in enumerate(first):
        column = [row[j] for row in rest if j < len(row) and not is_gap(row[j])]
        numeric = [cell for cell in column if is_number(cell) or DECIMAL_COMMA.fullmatch(cell)]
        if column and len(numeric) * 2 > len(column) and not is_gap(name):
            return True, ""
    # Text only: names of columns are all different, and do not come back as values.
    seen = {cell for row in rest for cell in row}
    nameless = [j for j, cell in enumerate(first) if not cell]
    are_empty = not any(row[j] for row in rest for j in nameless if j < len(row))  # a comma at the end of each line
    if _is_shaped_like(first, rest):
        return False, ""
    return len(set(plain)) == len(plain) and are_empty and not seen & set(plain), ""


def _is_shaped_like(first: list[str], rest: list[list[str]]) -> bool:
    """Say whether a line has figures where the lines below have them: an address, a date, a code is no name."""
    alike = told = 0
    for j, cell in enumerate(first):
        column = [_shape(row[j]) for row in rest[:50] if j < len(row) and row[j]]
        if column and any("9" in shape for shape in column):
            told += 1
            alike += "9" in _shape(cell) and column.count(_shape(cell)) > 0.5 * len(column)
    return told > 0 and 2 * alike > told


def _shape(cell: str) -> str:
    """Return a cell with 9 for figures and a for letters, each run once."""
    return re.sub(r"9+", "9", re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", cell)))[:16]


def counts_up(first: list[str]) -> bool:
    """Say whether the first row is 0, 1, 2, ...: what a data frame without names writes. The last may be a target."""
    if len(first) < 4:
        return False
    inner = first[:-1]
    return inner in ([str(i) for i in range(len(inner))], [str(i + 1) for i in range(len(inner))])


def _uses_decimal_comma(rows: tuple[tuple[str, ...], ...]) -> bool:
    cells = [cell for row in rows[:500] for cell in row]
    commas = sum(bool(DECIMAL_COMMA.fullmatch(cell) or _THOUSANDS.fullmatch(cell)) for cell in cells)
    points = sum(bool(re.fullmatch(r"[+-]?\d*\.\d+", cell)) for cell in cells)
    return commas > points


def _unique_names(header: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    seen: dict[str, int] = {}
    taken = set(header)
    names, notes = [], []
    for j, cell in enumerate(header):
        name = cell or f"column_{j + 1}"
        if name in seen:
            base = name
            while name in seen or name in taken:
                seen[base] += 1
                name = f"{base}_{seen[base]}"
            notes.append(f"two columns are called {base!r}: column {j + 1} became {name!r}")
        seen[name] = seen.get(name, 1)
        names.append(name)
    return tuple(names), tuple(notes[:5])


def _numbered(rows: list[list[str]]) -> tuple[str, ...]:
    width = Counter(len(row) for row in rows[:200]).most_common(1)[0][0]
    return tuple(f"column_{j + 1}" for j in range(width))
