"""Answers about pairs or triplets from a table on disk: rows by name, what was said, and who said it when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sidelight.data.names import Names
from sidelight.data.relations import Pairs, Triplets
from sidelight.data.relations.reading import EXTRAS, column_of
from sidelight.errors import (
    InvalidParameter,
    SidelightError,
    SidelightWarning,
    UnknownName,
    UnreadableFile,
    nearest,
    warn,
)
from sidelight.files.answer_tables import NO, UNSURE, YES, arranged, name_their_rows, opened, person_in
from sidelight.files.reading import label_table
from sidelight.files.roles.cells import as_number
from sidelight.words import Sentence, Setting, some_of

ODD = {"a": "a", "b": "b", "c": "c", "none": "none", "0": "a", "1": "b", "2": "c", "-1": "none"}
SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".json", ".jsonl", ".xlsx")
MOST_FILES, MOST_BYTES = 20, 20_000_000  # looked at beside a table, and how large one may be
MOST_FURTHER = 8  # columns behind the answer: weight, annotator, time, and some that are not used
_KINDS: dict[str, type[Pairs] | type[Triplets]] = {
    "triplets": Triplets,
    "pairs": Pairs,
}  # three numbers pass for a pair
_SAID = dict.fromkeys(YES, "same") | dict.fromkeys(NO, "different")
_SILENT = ("unsure", "?", "")  # such lines say nothing and are left out
_MOST_COLUMNS = 40  # of an export of another tool


def read_answers(
    path: str | Path,
    kind: type[Pairs] | type[Triplets],
    names: Sequence[Any],
    words: Mapping[str, Any] = MappingProxyType({}),
) -> Pairs | Triplets:
    """Read answers about rows that go by ``names``; about pairs also from the exports of other tools.

    Parameters
    ----------
    path : str or path
        A delimited or Parquet file: two (or three) columns of row names, a column of answers, and optionally columns
        called weight, annotator (or person, rater, ...) and time. A header is welcome.
    kind : type
        Pairs or Triplets.
    names : sequence
        The name of each row of the table that the answers are about.
    words : mapping of str to str
        What further words for answers mean: same, different or unsure.
    """
    meant = {word.strip().lower(): str(said).strip().lower() for word, said in words.items()}
    if wrong := next((said for said in meant.values() if said not in ("same", "different", "unsure")), None):
        raise InvalidParameter(f"A word for an answer means same, different or unsure. Got {wrong!r}.")
    return _answers(path, *opened(Path(path)), kind, names, meant)


def names_in(path: Path, kind: type[Pairs] | type[Triplets]) -> set[str]:
    """Return the names of the rows that answers are about, and perhaps words of a header that are none."""
    columns, cells = opened(path)
    if kind is Pairs:
        columns, cells = arranged(columns, cells) or (columns, cells)
    named = {name.strip() for column in cells[: kind.WIDTH] for name in column}
    return named | {str(name).strip() for name in columns[: kind.WIDTH]}


def _answers(
    path: str | Path,
    columns: Names,
    cells: list[list[str]],
    kind: type[Pairs] | type[Triplets],
    names: Sequence[Any],
    meant: Mapping[str, str] = MappingProxyType({}),
) -> Pairs | Triplets:
    width = kind.WIDTH
    row_of = {str(name): row for row, name in enumerate(names)}
    words = {**_SAID, **meant} if kind is Pairs else ODD
    if kind is Pairs and not (_is_plain(cells, row_of, words) and (len(cells) == width + 1 or columns[0] in row_of)):
        columns, cells = arranged(columns, cells, row_of, meant) or (columns, cells)
    if len(columns) < width + 1:
        raise UnreadableFile(
            f"{str(path)!r} has {len(columns)} columns, but answers about {'pairs' if width == 2 else 'triplets'} need "
            f"{width + 1}: {width} names of rows, then the answer."
        )
    silent = UNSURE if kind is Pairs else _SILENT
    first = [column[0] for column in cells]
    if first[width].strip().lower() not in (*words, *silent) and not any(name in row_of for name in first[:width]):
        columns, cells = tuple(first), [column[1:] for column in cells]  # all words: it was taken for a line
    header = _as_line(columns, width)
    if all(name in row_of for name in header[:width]) and header[width].lower() in (*words, *silent, *header[:width]):
        cells = [[name, *column] for name, column in zip(header, cells)]  # an answer: it was taken for a header
    further = [str(name) for name in columns[width + 1 :]]
    named = {name: column_of(name, further) for name in EXTRAS}
    named["annotator"] = named["annotator"] or (person_in(further) if kind is Pairs else None)
    extra = {name: width + 1 + further.index(column) for name, column in named.items() if column is not None}
    told = []
    slips: dict[str, dict[str, int]] = {"say": {}, "name": {}}  # what no answer can be, and its first answer
    n_slips = 0
    lines = list(zip(*cells))
    by_name = kind is Triplets and _name_the_odd_row(lines)
    for number, line in enumerate(lines, start=1):
        said = _place_of_odd(line) if by_name else line[width].strip().lower()
        if (said in silent and said not in meant) or meant.get(said) == "unsure":
            continue
        names_there = [cell.strip() for cell in line[:width]]
        unknown = [name for name in names_there if name not in row_of]
        is_twice = len(set(names_there)) < width
        if said in words and not unknown and not is_twice:
            told.append(
                (*(row_of[name] for name in names_there), words[said], *(_extra(line, extra, name) for name in EXTRAS))
            )
            continue
        n_slips += 1
        if unknown or is_twice:
            slips["name"].setdefault(unknown[0] if unknown else f"{names_there[0]} twice", number)
        else:
            slips["say"].setdefault(line[width].strip(), number)
    if n_slips and n_slips >= len(told):  # no slips: the words are others, or another column names the rows
        raise _no_answers(path, kind, slips, row_of)
    if n_slips:
        which = [f"{verb} {some_of(map(repr, there), 3)}" for verb, there in slips.items() if there]
        at = min(min(there.values()) for there in slips.values() if there)
        told_of = (
            f"{str(path)!r}: {n_slips} of {len(told) + n_slips} answers were left out: they {' or '.join(which)}, "
            f"which is no answer or no other row of the table (the first is answer {at})."
        )
        warn(SidelightWarning(told_of, do=_words_to_say(slips["say"]) if kind is Pairs else ()))
    return kind.from_table(told, n_rows=len(names)) if told else kind.empty(len(names))


def _is_plain(cells: Sequence[Sequence[str]], row_of: Mapping[str, int], words: Mapping[str, str]) -> bool:
    """Say whether the first two columns name rows, and the third holds answers."""
    if len(cells) < Pairs.WIDTH + 1:
        return False
    rows = (sum(cell.strip() in row_of for cell in column) for column in cells[: Pairs.WIDTH])
    said = sum(cell.strip().lower() in words or cell.strip().lower() in UNSURE for cell in cells[Pairs.WIDTH])
    return 2 * min(said, *rows) >= len(cells[0])


def _words_to_say(unknown: Mapping[str, int]) -> Sentence:
    """Ask what the words mean that are no answers."""
    if not unknown:
        return ()
    return ["Say what such words mean: ", Setting("words", dict.fromkeys(list(unknown)[:3], "unsure")), "."]


def _as_line(columns: Names, width: int) -> list[str]:
    """Return a header as the line that it may be: a name that came twice bears a number there, as in "bee_2"."""
    header = [str(name).strip() for name in columns]
    twice = re.fullmatch(r"(.+)_2", header[width])
    return [*header[:width], twice[1] if twice and twice[1] in header[:width] else header[width], *header[width + 1 :]]


def _name_the_odd_row(lines: Sequence[Sequence[str]]) -> bool:
    """Say whether every line of triplets names its odd row, and at least one in a way that no word of ours is."""
    odd = [line[3].strip() for line in lines]
    named = [any(cell == name.strip() for name in line[:3]) for cell, line in zip(odd, lines)]
    words = [cell.lower() for cell in odd]
    return all(is_named or word in (*_SILENT, "none") for is_named, word in zip(named, words)) and any(
        word not in (*ODD, *_SILENT) for word in words
    )


def _place_of_odd(line: Sequence[str]) -> str:
    """Return a, b or c for the row that a line names as the odd one; none and unsure stay."""
    cells = [cell.strip() for cell in line[:4]]
    return "abc"[cells.index(cells[3])] if cells[3] in cells[:3] else cells[3].lower()


def find_answers(path: str | Path, names: Sequence[Any]) -> dict[str, tuple[Path, int]]:
    """Look for answers beside a table: for "pairs" and "triplets" the first such file and its number of answers.

    Parameters
    ----------
    path : str or path
        The table that the answers would be about.
    names : sequence
        The names of its rows.
    """
    found: dict[str, tuple[Path, int]] = {}
    for candidate, word in possible_answers(path):
        if word not in found and candidate not in {file for file, _ in found.values()}:
            kind = _KINDS[word]
            try:
                answers = _answers(candidate, *opened(candidate), kind, names)
            except (SidelightError, OSError, IndexError):
                continue
            if answers.n_answers:
                found[word] = (candidate, answers.n_answers)
    return found


def possible_answers(path: str | Path) -> list[tuple[Path, str]]:
    """List the files beside a table that could hold answers by their first lines: (file, "pairs" or "triplets")."""
    own = Path(path)
    if not own.is_file():
        return []
    beside = [p for p in sorted(own.parent.iterdir()) if p != own and p.suffix.lower() in SUFFIXES and p.is_file()]
    possible = []
    for candidate in beside[:MOST_FILES]:
        if candidate.stat().st_size <= MOST_BYTES:
            for word, kind in _KINDS.items():
                with suppress(SidelightError, OSError, IndexError):
                    if _could_hold(label_table(candidate), kind):
                        possible.append((candidate, word))
    return possible


def kind_of_answers(path: str | Path) -> str | None:
    """Say whether a file itself looks like answers, by its first lines: "pairs", "triplets" or None."""
    for word, kind in _KINDS.items():
        try:
            table = label_table(Path(path))
            if len(table.sample()) > 1 and _could_hold(table, kind):
                return word
        except (SidelightError, OSError, IndexError):
            return None
    return None


def are_pairs(path: str | Path) -> bool:
    """Say whether a table calls itself one of answers about pairs, by the names of its columns and what they hold."""
    try:
        if Path(path).suffix.lower() == ".json" and Path(path).stat().st_size <= MOST_BYTES:
            columns, cells = opened(Path(path))
        else:
            source = label_table(Path(path))
            columns, cells = source.names, [list(map(str, column)) for column in zip(*source.sample())]
        return name_their_rows(columns) and arranged(columns, cells) is not None
    except (SidelightError, OSError, IndexError):
        return False


def _no_answers(
    path: Any, kind: type[Pairs] | type[Triplets], slips: dict[str, dict[str, int]], row_of: dict[str, int]
) -> SidelightError:
    """Return the error that most lines are no answers, by the first of them."""
    number, verb, what = min((number, verb, what) for verb, found in slips.items() for what, number in found.items())
    where = f"{str(path)!r}, answer {number}:"
    if what.endswith(" twice") and what not in row_of:
        return UnreadableFile(f"{where} its rows must all differ; it names {what}.")
    if verb == "say":
        return UnreadableFile(
            f"{where} {what!r} is none of {', '.join(map(repr, kind.WORDS))}"
            + ("." if kind is Pairs else ", and not in every line the name of one of its rows."),
            do=_words_to_say(slips["say"]) if kind is Pairs else (),
        )
    return UnknownName(
        f"{where} no row of the table is called {what!r}. {nearest(what, row_of)}",
        do=["If another column names the rows, say which: ", Setting("id", "COLUMN"), "."],
    )


def _extra(line: tuple[str, ...], extra: dict[str, int], name: str) -> Any:
    if name not in extra:
        return None
    cell = line[extra[name]].strip()
    if name == "annotator":
        return cell or None
    try:
        return as_number(cell) if cell else None
    except ValueError:
        return cell  # a time may be written as a date


def _could_hold(source: Any, kind: type[Pairs] | type[Triplets]) -> bool:
    """Say, by its first lines, whether a table could hold answers: large tables of other things are not read."""
    width = kind.WIDTH
    lines = source.sample()[1:20]  # the first may be a header that was taken for a line
    if kind is Pairs and lines and 3 <= len(source.names) <= _MOST_COLUMNS:
        cells = [list(map(str, column)) for column in zip(*source.sample())]
        if arranged(source.names, cells) is not None:
            return True
    if not width < len(source.names) <= width + 1 + MOST_FURTHER:
        return False
    words = (*_SAID, *UNSURE) if kind is Pairs else (*ODD, *_SILENT)
    if kind is Triplets and _name_the_odd_row(lines):
        return True
    return all(str(line[width]).strip().lower() in words for line in lines)
