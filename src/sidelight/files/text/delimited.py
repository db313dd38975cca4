"""Delimited text of any size: cut into blocks of whole rows, each parsed by polars, so that memory stays bounded.

Two parsers take turns. The quick one reads numbers as numbers. When it stumbles (a gap written ``NA``, blanks around
cells, a word among numbers) the careful one reads the block as text, strips it and looks at every cell, and either
succeeds or knows the line and column to blame. A small file needs neither: Python has read it before polars is
imported.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from sidelight.errors import UnreadableFile
from sidelight.files.limits import need
from sidelight.files.problems import forgive, header_only, not_a_number, ragged, skipped, unclosed_quote
from sidelight.files.roles.cells import MISSING, Writing, is_gap, is_number, writing_of
from sidelight.files.roles.columns import Coded, Coder, Loaded
from sidelight.files.source import Source
from sidelight.files.text.blocks import Block, count_byte, rows_with_lines, text_blocks, without_bad_lines
from sidelight.files.text.dialect import Dialect, sniff
from sidelight.progress import report
from sidelight.words import Setting

_WIDE = 20_000  # columns beyond which polars is slower than a loop


_SMALL = 1 << 18  # bytes of text that a loop reads in less time than the import of polars takes


class DelimitedSource:
    """A delimited text file as a table."""

    declares_words = False

    def __init__(
        self,
        file: Source | Path,
        *,
        separator: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> None:
        self._file = Source.of(file)
        self.path = self._file.path
        self._skipped = skipped()
        self.dialect: Dialect = sniff(self._file, separator=separator, encoding=encoding, header=header)
        self._encoding_was_given = encoding is not None
        self.names, self.title = self.dialect.names, self.dialect.title
        self._writings = self._find_writings()
        told = (
            f"{self.names[j]!r}: {writing.example!r} is read as {writing.plain(writing.example)}"
            for j, writing in self._writings.items()
        )
        self.notes = (*self.dialect.notes, *told)
        if not self.dialect.rows:
            raise header_only(self.path, self.names)

    def sample(self) -> Sequence[Sequence[str]]:
        """Return the first rows as text, cut or filled to the width of the table."""
        width = len(self.names)
        rows = [[*row[:width], *[""] * (width - len(row))] for row in self.dialect.rows[:1000]]
        for j, writing in self._writings.items():
            for row in rows:
                row[j] = writing.plain(row[j])
        if self.dialect.decimal_comma:
            rows = [[self.dialect.with_point(cell) for cell in row] for row in rows]
        return rows

    def _find_writings(self) -> dict[int, Writing]:
        """Find the columns whose numbers are not written plainly: 1.234,56 or 10 %."""
        found = {}
        for j in range(len(self.names)):
            cells = list(dict.fromkeys(row[j] for row in self.dialect.rows[:1000] if j < len(row)))
            writing = writing_of(cells, decimal_comma=self.dialect.decimal_comma)
            if writing is not None:
                found[j] = writing
        return found

    def load(self, numbers: Sequence[int], texts: Sequence[int]) -> Loaded:
        """Return some columns as numbers and some as text; the others are never kept."""
        size = self.path.stat().st_size
        self._need(size, len(numbers), len(texts))
        if self.is_small():
            return self._load_small(numbers, texts)
        buffer, n_rows = _Rows(self.path, len(numbers)), 0
        coders = {j: Coder() for j in texts}
        seen = 0
        for block in self._blocks():
            frame = self._parse(block, numbers, texts)
            buffer.add(frame, [f"column_{j + 1}" for j in numbers])
            for j, coder in coders.items():
                coder.add(frame[f"column_{j + 1}"])
            n_rows += len(frame)
            seen += len(block.data)
            report("reading", seen, max(size, seen), self.path.name)
        if not n_rows:
            raise header_only(self.path, self.names)
        return Loaded(buffer.result(n_rows), {j: coder.result() for j, coder in coders.items()})

    def is_small(self) -> bool:
        """Say whether a loop reads the file sooner than polars is imported."""
        return len(self._file.head(_SMALL)) < _SMALL

    def _load_small(self, numbers: Sequence[int], texts: Sequence[int]) -> Loaded:
        cells: dict[int, list[Any]] = {j: [] for j in (*numbers, *texts, len(self.names) - 1)}
        for piece in self._small_pieces(list(cells), numbers):
            for j, column in piece.items():
                cells[j] += column
        n_rows = len(cells[len(self.names) - 1])
        if not n_rows:
            raise header_only(self.path, self.names)
        X = np.empty((n_rows, len(numbers)))
        for place, j in enumerate(numbers):
            X[:, place] = cells[j]  # None becomes NaN
        return Loaded(X, {j: Coded.of(cells[j]) for j in texts})

    def _small_pieces(self, wanted: Sequence[int], numbers: Sequence[int]) -> Iterator[dict[int, Column]]:
        for block in self._blocks():
            self._check_width(block, *self._cleaned(block))
            yield plain_columns(self.path, block, self.dialect, wanted, numbers, self._writings)

    def _need(self, size: int, n_numbers: int, n_texts: int) -> None:
        """Estimate the rows by the length of the first ones; a packed file is watched while it grows."""
        rows = self.dialect.rows[:1000]
        mean = sum(sum(map(len, row)) + len(row) for row in rows) / len(rows)
        n_rows = int(size / max(mean, 1))
        what = f"about {n_rows} rows with {n_numbers} columns of numbers and {n_texts} of text"
        need(self.path, 8 * n_rows * (n_numbers + n_texts + 1), what)

    def frames(self, columns: Sequence[int], weight: int | None) -> Iterator[Any]:
        """Yield the columns block by block, as polars frames (or, of a small file, lists) by the table's own names."""
        numbers = [] if weight is None else [weight]
        if self.is_small():
            for piece in self._small_pieces([*columns, *numbers], numbers):
                yield {self.names[j]: cells for j, cells in piece.items()}
            return
        for block in self._blocks():
            frame = self._parse(block, numbers, columns)
            chosen = [*columns, *numbers]
            yield frame.select(f"column_{j + 1}" for j in chosen).rename(
                {f"column_{j + 1}": self.names[j] for j in chosen}
            )

    def pieces(self, numbers: Sequence[int], texts: Sequence[int]) -> Iterator[Any]:
        """Yield polars frames of some rows each, ``column_<j>`` as Float64 (gaps NaN) or String."""
        import polars as pl

        chosen = [*numbers, *texts]
        for block in self._blocks():
            frame = self._parse(block, numbers, texts).select(f"column_{j + 1}" for j in chosen)
            yield frame.with_columns(pl.col(f"column_{j + 1}").fill_null(float("nan")) for j in numbers)

    def _blocks(self) -> Iterator[Block]:
        blocks = text_blocks(self._file, self.dialect, strict=self._encoding_was_given)
        if self._skipped is None:
            return blocks
        return (without_bad_lines(block, self.dialect, self._skipped) for block in blocks)

    def location(self, row: int) -> str:
        """Find the line of a row; only errors ask, so the file is simply read again."""
        for block in self._blocks():
            for line, _ in rows_with_lines(block, self.dialect):
                if row == 0:
                    return f"line {line}"
                row -= 1
        return "its end"

    # ---- parsing

    def _parse(self, block: Block, numbers: Sequence[int], texts: Sequence[int]) -> Any:
        """Return a polars frame with ``column_<j>`` as Float64 or String (gaps null in numbers, "" in texts)."""
        import polars as pl

        data, quoted = self._cleaned(block)
        self._check_width(block, data, quoted)
        wanted = sorted({*numbers, *texts, len(self.names) - 1})
        as_number = set(numbers)
        if len(self.names) > _WIDE or (quoted and self._has_blanks_before_quotes(data)):
            return self._wide(pl, block, wanted, as_number)
        if not self.dialect.has_padding and as_number.isdisjoint(self._writings):
            try:
                return self._quick(pl, data, wanted, as_number, quoted).with_columns(
                    pl.col(f"column_{j + 1}").fill_null("") for j in texts if j not in as_number
                )
            except pl.exceptions.PolarsError:
                pass
        return self._careful(pl, block, data, wanted, as_number, quoted)

    def _has_blanks_before_quotes(self, data: bytes) -> bool:
        """Say whether a quoted cell begins with a blank: polars would take its quotation marks for letters."""
        return (
            self.dialect.has_padding
            and re.search(re.escape(self.dialect.separator.encode()) + b' +"', data) is not None
        )

    def _cleaned(self, block: Block) -> tuple[bytes, bool]:
        """Return the block without blank lines and doubled blanks, and whether some cell is quoted."""
        data = _single_blanks(block.data) if self.dialect.separator == " " else block.data
        if b"\n\n" in data or data.startswith(b"\n"):
            data = re.sub(rb"\n{2,}", b"\n", data).lstrip(b"\n")
        return data, b'"' in data and self.dialect.separator != " "

    def _quick(self, pl: Any, data: bytes, wanted: list[int], as_number: set[int], quoted: bool) -> Any:
        schema = {f"column_{j + 1}": pl.Float64 if j in as_number else pl.String for j in range(len(self.names))}
        return pl.read_csv(
            io.BytesIO(data),
            has_header=False,
            separator=self.dialect.separator,
            quote_char='"' if quoted else None,
            schema=schema,
            columns=[f"column_{j + 1}" for j in wanted],
            decimal_comma=self.dialect.decimal_comma,
        )

    def _careful(self, pl: Any, block: Block, data: bytes, wanted: list[int], as_number: set[int], quoted: bool) -> Any:
        try:
            frame = self._quick(pl, data, wanted, set(), quoted)
        except pl.exceptions.PolarsError as error:
            self._explain(block, str(error))
        stripped = frame.with_columns(pl.all().str.strip_chars().fill_null(""))
        names = [f"column_{j + 1}" for j in sorted(as_number)]
        if not names:
            return stripped
        cells = pl.col(names)  # one expression for all columns: a loop over them is slow in wide tables
        text = cells.str.replace(",", ".", literal=True) if self.dialect.decimal_comma else cells
        plain = stripped.with_columns(text)
        marked = {f"column_{j + 1}": self._writings[j] for j in sorted(as_number) if j in self._writings}
        for name, writing in marked.items():
            plain = plain.with_columns(stripped[name].map_elements(writing.plain, return_dtype=pl.String).alias(name))
        gaps = cells.str.to_lowercase().is_in(MISSING)
        out = plain.with_columns(pl.when(~gaps).then(cells).otherwise(None).cast(pl.Float64, strict=False))
        lost = out.select(cells.is_null()).to_numpy() & ~stripped.select(gaps).to_numpy()
        if lost.any():  # the loop says which cells they are, or is told to take them for gaps
            return self._wide(pl, block, wanted, as_number)
        return out

    def _wide(self, pl: Any, block: Block, wanted: list[int], as_number: set[int]) -> Any:
        """Read rows one by one: polars takes minutes for very many columns, and does not know blanks before quotes."""
        columns = plain_columns(self.path, block, self.dialect, wanted, as_number, self._writings)
        schema = {f"column_{j + 1}": pl.Float64 if j in as_number else pl.String for j in wanted}
        return pl.DataFrame([columns[j] for j in wanted], schema=schema, orient="col")

    def _check_width(self, block: Block, data: bytes, quoted: bool) -> None:
        """Find short rows, which polars would fill with gaps: separators must come out even."""
        width, separator = len(self.names), self.dialect.separator.encode()
        if not quoted:
            n_lines = count_byte(data, b"\n") + (not data.endswith(b"\n"))
            if count_byte(data, separator) == n_lines * (width - 1):
                return
        for line, row in rows_with_lines(block, self.dialect):
            if len(row) != width:
                if quoted and data.count(b'"') % 2:
                    raise unclosed_quote(self.path, line)
                raise ragged(self.path, line, width, len(row))
        if data.count(b'"') % 2 and any("\n" in cell for cell in row):
            raise unclosed_quote(self.path, line)  # the last row holds all that follows

    def _explain(self, block: Block, found: str) -> NoReturn:
        if block.data.count(b'"') % 2:
            raise unclosed_quote(self.path, block.line + block.data.count(b"\n", 0, block.data.rindex(b'"')))
        for line, row in rows_with_lines(block, self.dialect):
            if len(row) != len(self.names):
                raise ragged(self.path, line, len(self.names), len(row))
        reason = found.splitlines()[0] if found else "no reason given"
        last = block.line + block.data.count(b"\n")
        raise UnreadableFile(
            f"{self.path}, lines {block.line} to {last}: cannot be cut into {len(self.names)} columns ({reason}).",
            do=["Pass ", Setting("separator"), " or ", Setting("encoding"), " if one of them was guessed wrong."],
        )


class _Rows:
    """A float64 matrix that grows in place, so that a large table is never in memory twice."""

    def __init__(self, path: Path, width: int) -> None:
        self._path = path
        self._array = np.empty((0, width))
        self._used = 0

    def add(self, frame: Any, columns: list[str]) -> None:
        n = len(frame)
        if self._used + n > len(self._array):
            room = max(self._used + n, int(len(self._array) * 1.3))
            need(self._path, 8 * room * (self._array.shape[1] + 1), f"more than {self._used} rows")
            self._array.resize((room, self._array.shape[1]), refcheck=False)
        if columns:
            numbers = frame.select(columns).fill_null(float("nan"))
            self._array[self._used : self._used + n] = numbers.to_numpy()
        self._used += n

    def result(self, n_rows: int) -> Any:
        self._array.resize((n_rows, self._array.shape[1]), refcheck=False)
        return self._array


def _single_blanks(data: bytes) -> bytes:
    return re.sub(rb"(?m)^ | $", b"", re.sub(rb"[ \t]+", b" ", data))


# A block of text cut into columns with Python alone: for small files, and for tables too wide for polars.


Column = list[float | None] | list[str]


def plain_columns(
    path: Path,
    block: Block,
    dialect: Dialect,
    wanted: Sequence[int],
    numbers: Collection[int],
    writings: Mapping[int, Writing] = MappingProxyType({}),
) -> dict[int, Column]:
    """Return the wanted columns, those of ``numbers`` as floats (None for a gap), the others as stripped text.

    ``writings`` says how the numbers of a column are written, where that is not plainly.
    """
    lines, rows = zip(*rows_with_lines(block, dialect))
    for line, row in zip(lines, rows):
        if len(row) != len(dialect.names):  # a short and a long row have an even number of separators between them
            raise ragged(path, line, len(dialect.names), len(row))
    columns: dict[int, Column] = {}
    for j in wanted:
        cells = [row[j].strip() for row in rows]
        columns[j] = _numbers(path, dialect, lines, cells, j, writings.get(j)) if j in numbers else cells
    return columns


def _numbers(
    path: Path, dialect: Dialect, lines: Sequence[int], cells: Sequence[str], column: int, writing: Writing | None
) -> list[float | None]:
    values: list[float | None] = []
    for line, cell in zip(lines, cells):
        text = dialect.with_point(cell) if writing is None else writing.plain(cell)
        if is_gap(cell):
            values.append(None)
        elif is_number(text):
            values.append(float(text))
        elif forgive(f"line {line}", dialect.names[column], cell):
            values.append(None)
        else:
            raise not_a_number(path, f"line {line}", dialect.names[column], cell)
    return values
