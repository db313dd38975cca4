"""Which of several tables in one file is meant: the one with most rows of features is proposed, and asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sidelight.data.dataset import Doubt
from sidelight.words import some_of

_CLEARLY = 50  # times as much as any other table: no question
_OFFERED = 4


def choose(sizes: Mapping[str, float]) -> str:
    """Return the table that holds most; the first of equal ones."""
    return max(sizes, key=lambda name: sizes[name])


def worth(n_rows: int, columns: Mapping[str, Sequence[Any]]) -> float:
    """Return how much a table holds: its rows times its columns of measurements, by their first cells.

    Parameters
    ----------
    n_rows : int
        How many rows it has.
    columns : mapping of str to sequence
        The first cells of each column; names of things (``...ID``) are no measurements.
    """
    measured = 0
    for name, cells in columns.items():
        told = [cell for cell in cells if cell is not None and cell != ""]
        numbers = sum(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in told)
        is_key = name.lower().endswith("id") or name.lower().startswith("id_") or len(set(map(str, told))) < 2
        measured += bool(told) and numbers > 0.9 * len(told) and not is_key
    return n_rows * (measured + 0.1)


def which_table(path: Path, chosen: str, sizes: Mapping[str, float], what: str) -> list[Doubt]:
    """Return the question which table is meant, where no table is much larger than all others.

    Parameters
    ----------
    path : Path
        The file.
    chosen : str
        The table that was read.
    sizes : mapping of str to float
        How much each table holds: rows times columns of numbers.
    what : str
        What they are: sheets, tables, lists of records.
    """
    others = sorted((name for name in sizes if name != chosen), key=lambda name: -sizes[name])
    if not others or sizes[chosen] > _CLEARLY * sizes[others[0]]:
        return []
    offered = [chosen, *others[: _OFFERED - 1]]
    question = f"{path.name} holds {len(sizes)} {what} ({some_of(list(sizes), 5)}): which of them is meant?"
    return [Doubt(question, tuple((f"table {name!r}", {"part": name}) for name in offered))]
