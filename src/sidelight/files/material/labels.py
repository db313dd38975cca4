"""What is said about the files of a folder: a table of lists, selection tables, or the folders they lie in."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sidelight.data.dataset import TOLD, Note
from sidelight.errors import InvalidData
from sidelight.files.material.selections import Selection, is_selection_table, read_selections
from sidelight.files.reading import label_table
from sidelight.files.roles.cells import find_separator, is_gap, is_number
from sidelight.files.roles.labels import are_ticks, from_cells, from_ticks
from sidelight.words import counted, some_of

Lists = dict[str, frozenset[str]]
_SUFFIXES = (".table.1.selections", ".selections", ".birdnet.selection.table", ".birdnet.results", ".labels", "_labels")


def key_of(name: str) -> str:
    """Return a file's name for comparing: without folder, ending and case."""
    return os.path.splitext(os.path.basename(name.replace("\\", "/").strip()))[0].casefold()


def folder_key_of(name: str) -> str:
    """Return the folder of a file for comparing: its own name, without case; empty for a file at the top."""
    return os.path.basename(os.path.dirname(name)).casefold()


@dataclass(frozen=True, slots=True)
class Labels:
    """What is said about files: the list of each, what is worth a word, and whether folders of files are meant."""

    lists: Lists = field(default_factory=dict)
    notes: Sequence[str] = ()
    are_of_folders: bool = False


def labels_from_table(
    path: Path, files: Sequence[str], *, min_confidence: float = 0.0, separator: Any = None
) -> Labels:
    """Return the list of each file, or of each folder of files, that a table speaks of.

    Parameters
    ----------
    path : Path
        A line a file (or folder) with its labels in one cell or a column of 0 and 1 for each; a line for each label of
        a file; or a selection table, whose labels become the list of its recording.
    files : sequence of str
        The files of the folder.
    min_confidence : float
        Selections below this are left out.
    separator : str, optional
        What stands between the labels of a cell; found by default.
    """
    if path.is_file() and is_selection_table(path):
        return _lists_of_selections(read_selections(path, min_confidence=min_confidence), path, files)
    table = label_table(path)
    loaded = table.load([], range(len(table.names)))
    columns = [loaded.texts[j] for j in range(len(table.names))]
    ways = ((key_of, key_of), (folder_key_of, _last_part))
    hits = {
        (way, j): sum(written(value) in known for value in column.values)
        for way, (of_file, written) in enumerate(ways)
        for known in [{of_file(name) for name in files} - {""}]
        for j, column in enumerate(columns)
    }
    way, key = max(hits, key=hits.__getitem__)
    of_file, written = ways[way]
    if not hits[way, key]:
        raise InvalidData(
            f"{path} names none of the {len(files)} files: its first column holds {some_of(columns[0].values, 3)}, "
            f"the folder {some_of([os.path.basename(name) for name in files], 3)}. Names are compared without folder, "
            "ending and case."
        )
    others = [j for j in range(len(columns)) if j != key]
    if not others:
        raise InvalidData(f"{path} has a single column: expected the files, and their labels beside them.")
    if are_ticks([columns[j] for j in others]):
        said = from_ticks([columns[j] for j in others], [table.names[j] for j in others], path, table.location)
    else:
        label = _label_column(table.names, columns, others)
        mark = separator or find_separator(columns[label].values[:1000])
        said = from_cells(columns[label], mark, guesses=separator is None)
    lists: dict[str, set[str]] = {}
    unions = said.of_bags(columns[key].codes, len(columns[key].values))
    for value, labels in zip(columns[key].values, unions):
        if labels is not None:
            lists.setdefault(written(value), set()).update(labels)
    return _matched(lists, path, files, of_file, {written(value): value for value in columns[key].values})


def _last_part(value: str) -> str:
    return os.path.basename(value.replace("\\", "/").strip().rstrip("/")).casefold()


def _label_column(names: Sequence[str], columns: Sequence[object], others: Sequence[int]) -> int:
    from sidelight.files.roles.names import is_label_name

    named = [j for j in others if is_label_name(names[j]) or names[j].lower() in ("tags", "tag", "species", "list")]
    if named:
        return named[0]
    texts = [j for j in others if any(not _is_number(value) for value in columns[j].values)]  # type: ignore[attr-defined]  # Coded
    return (texts or list(others))[0]


def _is_number(value: str) -> bool:
    return is_gap(value) or is_number(value.strip())


def labels_from_folders(files: Sequence[str]) -> Lists:
    """Return the folder of each file as its label, where files lie in folders of their own; else nothing."""
    folders = {name: os.path.dirname(name) for name in files}
    counts = Counter(folder for folder in folders.values() if folder)
    if len(counts) < 2 or sum(counts.values()) < 0.9 * len(files):
        return {}
    return {name: frozenset([os.path.basename(folder)]) for name, folder in folders.items() if folder}


def selections_beside(tables: Sequence[str], folder: Path, files: Sequence[str]) -> dict[str, list[Selection]]:
    """Return the selections of each recording whose selection table lies beside it, by the names of the tables."""
    known = {key_of(name): name for name in files}
    found: dict[str, list[Selection]] = {}
    for table in tables:
        if not is_selection_table(folder / table):
            continue
        stem = key_of(table)
        stem = next((stem[: -len(end)] for end in _SUFFIXES if stem.endswith(end)), stem)
        for one in read_selections(folder / table):
            name = known.get(key_of(one.file) if one.file else stem)
            if name is not None:
                found.setdefault(name, []).append(one)
    return found


def _lists_of_selections(found: Sequence[Selection], path: Path, files: Sequence[str]) -> Labels:
    lists: dict[str, set[str]] = {}
    for one in found:
        name = key_of(one.file) if one.file else key_of(path.name).partition(".")[0]
        lists.setdefault(name, set()).add(one.label)
    return _matched(lists, path, files)


def _matched(
    lists: Mapping[str, set[str]],
    path: Path,
    files: Sequence[str],
    of_file: Callable[[str], str] = key_of,
    as_written: Mapping[str, str] = MappingProxyType({}),
) -> Labels:
    matched = {name: frozenset(lists[of_file(name)]) for name in files if of_file(name) in lists}
    if not matched:
        raise InvalidData(
            f"{path} names none of the {len(files)} files: it speaks of {some_of(list(lists), 3)}, the folder holds "
            f"{some_of([os.path.basename(name) for name in files], 3)}. Names are compared without folder, ending and "
            "case."
        )
    are_of_folders = of_file is folder_key_of
    notes = [f"{path.name} speaks of folders: the files of a folder are a bag"] if are_of_folders else []
    if len(matched) < len(files):
        silent = [name for name in files if name not in matched]
        told = f"{path.name} says nothing about {len(silent)} of {len(files)} files ({some_of(silent, 3)})"
        notes.append(Note(told, TOLD))
    known = {of_file(name) for name in files}
    unknown = [as_written.get(key, key) for key in lists if key not in known]
    if unknown:
        what = "folder" if are_of_folders else "file"
        there = "is not there" if len(unknown) == 1 else "are not there"
        told = f"{path.name} speaks of {counted(len(unknown), what)} that {there} ({some_of(unknown, 3)})"
        notes.append(Note(told, TOLD))
    return Labels(matched, notes, are_of_folders)
