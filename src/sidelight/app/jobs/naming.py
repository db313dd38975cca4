"""Columns of text that no role was found for: names that answers call the rows by, and names that come back."""

from __future__ import annotations

from pathlib import Path

from sidelight.app.jobs.columns import Columns
from sidelight.data.dataset import Dataset
from sidelight.errors import SidelightError, UnknownName
from sidelight.files.answers import find_answers
from sidelight.files.source import Source
from sidelight.words import Sentence, Setting

_MOST_COLUMNS = 5  # of text that are read again in search of names
_READ_AGAIN = ("delimited", "parquet")  # formats whose columns can be read by name


def answers_by_column(data: Dataset, source: Source) -> tuple[str, dict[str, tuple[Path, int]]] | None:
    """Return a column and the answers beside the table that call the rows by its cells; None where there are none."""
    candidates = _candidates(data)
    table = _read(source, candidates)
    for column in candidates:
        cells = table.cells(column)
        beside = find_answers(data.path, cells) if len(set(cells)) == len(cells) else {}
        if beside:
            return column, beside
    return None


def with_column(error: UnknownName, answers: str, data: Dataset) -> UnknownName:
    """Return the error about an unknown row with the column to name the rows by, where one holds such names.

    Parameters
    ----------
    error : UnknownName
        What reading the answers said.
    answers : str
        The file of answers; its first column holds names of rows.
    data : Dataset
        The table.
    """
    try:
        speaks = Columns(answers)
        asked = set(speaks.cells(speaks.names[0]))
        candidates = _candidates(data)
        table = _read(Source(data.path), candidates)
        for column in candidates:
            if 2 * len(asked.intersection(table.cells(column))) > len(asked):
                do: Sentence = [
                    f"The column {column!r} has such names: name the rows by it, ",
                    Setting("id", column),
                    ".",
                ]
                return UnknownName(error.what, who=error.who, do=do)
    except SidelightError:
        pass  # the first error says more
    return error


def columns_that_repeat(data: Dataset, source: Source) -> list[str]:
    """Return the columns of text whose names come back at least twice on average, those with most names first."""
    candidates = _candidates(data)
    table = _read(source, candidates)
    counts = {column: len(set(table.cells(column))) for column in candidates}
    repeated = [column for column, n_names in counts.items() if 2 <= n_names <= data.n_rows / 2]
    return sorted(repeated, key=lambda column: -counts[column])


def _read(source: Source, names: list[str]) -> Columns:
    table = Columns(source)
    table.need(*names)
    return table


def _candidates(data: Dataset) -> list[str]:
    if data.reader not in _READ_AGAIN:
        return []
    texts = [role.name for role in data.roles if role.kind == "text" and role.role != "id"]
    return texts[:_MOST_COLUMNS]
