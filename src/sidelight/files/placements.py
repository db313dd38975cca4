"""Rows that somebody sorted onto piles, from a table on disk, as answers about pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidelight.data.relations import Pairs
from sidelight.errors import UnknownName, UnreadableFile, nearest, warn
from sidelight.files.answer_tables import opened
from sidelight.words import Setting, some_of

ASIDE = ("aside", "unsure", "?", "")  # such lines place nothing


def read_placements(path: str | Path, names: Sequence[Any]) -> Pairs:
    """Read piles of rows that go by ``names``, as each row against one row of every pile.

    A row that was placed several times is where it was placed most often, and first.

    Parameters
    ----------
    path : str or path
        A delimited or Parquet file: the name of a row, then that of its pile. A header is welcome.
    names : sequence
        The name of each row of the table that the piles are of.
    """
    row_of = {str(name): row for row, name in enumerate(names)}
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    unknown = []
    for number, (name, pile) in enumerate(_lines(path)):
        if name in row_of:
            if pile.lower() not in ASIDE:
                votes[row_of[name]][pile] += 1
        elif number:  # the first line may be a header
            unknown.append(name)
    if unknown and len(unknown) >= len(votes):
        raise UnknownName(
            f"{str(path)!r}: no row of the table is called {unknown[0]!r}. {nearest(unknown[0], row_of)}",
            do=["If another column names the rows, say which: ", Setting("id", "COLUMN"), "."],
        )
    if unknown:
        which = some_of(map(repr, unknown), 3)
        warn(f"{str(path)!r}: {len(unknown)} placements were left out: no row of the table is called {which}.")
    return _as_pairs({row: counts.most_common(1)[0][0] for row, counts in votes.items()}, len(names))


def placed_names(path: Path) -> set[str]:
    """Return the names of the rows that were placed, and perhaps a word of a header that is none."""
    return {name for name, _ in _lines(path)}


def _lines(path: str | Path) -> list[tuple[str, str]]:
    columns, cells = opened(Path(path))
    if len(columns) < 2:
        raise UnreadableFile(
            f"{str(path)!r} has {len(columns)} column, but placements need two: the name of a row, then its pile."
        )
    lines = [(name.strip(), pile.strip()) for name, pile in zip(*cells[:2])]
    return [(str(columns[0]).strip(), str(columns[1]).strip()), *lines]


def _as_pairs(pile_of: dict[int, str], n_rows: int) -> Pairs:
    """Compare each row with one of every pile, its own among them: the next one in turn."""
    members: dict[str, list[int]] = defaultdict(list)
    for row, pile in pile_of.items():
        members[pile].append(row)
    told: dict[frozenset[int], tuple[int, int, str]] = {}
    for own, rows in members.items():
        for at, row in enumerate(rows):
            for pile, others in members.items():
                other = others[(at + (pile == own)) % len(others)]
                if other != row:
                    word = "same" if pile == own else "different"
                    told.setdefault(frozenset((row, other)), (row, other, word))
    return Pairs.from_table(list(told.values()), n_rows=n_rows) if told else Pairs.empty(n_rows)
