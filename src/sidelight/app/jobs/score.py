"""How assignments agree: with a truth, and several runs with each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig, as_toml
from sidelight.app.jobs.output import MANIFEST, output_folder, without_blanks, write_csv, write_text
from sidelight.app.jobs.result import Columns as Lines
from sidelight.app.jobs.run import NUMBERS, versions_in_use
from sidelight.app.report import Page, Section, to_html
from sidelight.app.report.components import heat, table
from sidelight.errors import InvalidData
from sidelight.files.roles.names import is_label_name
from sidelight.metrics import adjusted_rand_index
from sidelight.words import Setting, counted, some_of

if TYPE_CHECKING:
    from sidelight.app.jobs.checking import Truth
    from sidelight.app.jobs.result import (
        Columns as Table,  # brings compiled loops, which are slow to import
    )


_CLUSTERS = ("label", "cluster", "labels")  # what our assignments call what was found


@dataclass(frozen=True)
class Score:
    """The figures, the cross table, rows that only one side has, and whether rows were told apart by their place."""

    truth: Truth
    table: Table
    compared: str
    n_only_assigned: int
    n_only_true: int
    is_by_place: bool = False

    @property
    def sentences(self) -> list[str]:
        """What a person wants to know."""
        from sidelight.app.jobs.page import about_truth  # as above

        told = [about_truth(self.truth, used="")]
        if self.is_by_place:
            told.append(
                "The truth does not name its rows as the assignments do, so rows were joined by their place: the first "
                "line is row 1. In another order the figures mean nothing."
            )
        if self.n_only_assigned:
            told.append(f"{counted(self.n_only_assigned, 'row')} of the assignments have no truth.")
        if self.n_only_true:
            told.append(f"{counted(self.n_only_true, 'row')} of the truth were not assigned.")
        return told

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that can be written as JSON."""
        numbers = {**asdict(self.truth), "compared": self.compared}
        return {
            **numbers,
            "n_only_assigned": self.n_only_assigned,
            "n_only_true": self.n_only_true,
            "is_by_place": self.is_by_place,
            "table": {name: list(cells) for name, cells in self.table.items()},
        }


def score(
    assignments: str, truth: str, *, column: str | None = None, truth_column: str | None = None, by: str | None = None
) -> Score:
    """Join two tables by the names of their rows and compare what they say.

    Parameters
    ----------
    assignments : str
        A table that a job or ``predict`` wrote, or the folder of a run.
    truth : str
        A table with the right kind of each row.
    column : str, optional
        The column of the assignments to judge; by default "label" where it has names of the truth, else "cluster".
    truth_column : str, optional
        The column of the truth; by default the one that is called like labels, or the only one left.
    by : str, optional
        The column with the names of the rows, in both tables; by default the first column of the assignments.
    """
    found, right = Columns(assignments), Columns(truth)
    key = by or found.names[0]
    found.need(key, *({column} if column else {name for name in _CLUSTERS if name in found.names}))
    keys = found.cells(key)
    is_by_place = by is None and key not in right.names
    if is_by_place and not (key == "row" and found.has_numbers_only(key)):
        raise InvalidData(
            f"{right.path!r} has no column {key!r}, which names the rows of {found.path!r}. It has "
            f"{some_of(map(repr, right.names))}.",
            do=["Name a column that both have: ", Setting("by"), "."],
        )
    name = truth_column or _truth_column(right, key)
    right.need(name, *(() if is_by_place else (key,)))
    true_keys = _places(found, right, len(right.cells(name))) if is_by_place else right.cells(key)
    kinds = dict(zip(true_keys, right.cells(name)))
    _refuse_twins(true_keys, right.path, key)
    _refuse_twins(keys, found.path, key)
    chosen = column or _found_column(found, set(kinds.values()))
    groups = found.cells(chosen)
    both = [(kinds[row], group) for row, group in zip(keys, groups) if kinds.get(row, "") != ""]
    if not any(kinds.values()):
        raise InvalidData(f"The column {name!r} of {right.path!r} is empty: it says of no row what it is.")
    if not both:
        raise InvalidData(
            f"No row of {found.path!r} has a truth in {right.path!r}: rows are called like {some_of(keys, 3)} "
            f"there and like {some_of(true_keys, 3)} here.",
            do=["Name the column with the names of rows: ", Setting("by"), "."],
        )
    from sidelight.app.jobs.checking import (
        Truth,
        cross_table,  # as above
    )

    truths, clusters = [kind for kind, _ in both], [group for _, group in both]
    return Score(
        Truth.of(truths, clusters, name),
        cross_table(truths, clusters),
        chosen,
        len(keys) - len(both),
        len(set(kinds) - set(keys)),
        is_by_place,
    )


def _places(found: Columns, right: Columns, n_rows: int) -> list[str]:
    """Return the numbers of the rows of the truth, unless rows can be joined by names or cannot be the same ones."""
    for name in found.names:
        if name in right.names and name not in _CLUSTERS:
            cells, others = found.cells(name), right.cells(name)
            if len(set(cells)) == len(cells) and len(set(others)) == len(others) and set(cells) <= set(others):
                raise InvalidData(
                    f"{right.path!r} does not number its rows, and both tables name them in {name!r}.",
                    do=["Join them by it: ", Setting("by", name), "."],
                )
    last = max((int(cell) for cell in found.cells(found.names[0]) if cell.isdecimal()), default=0)
    if last > n_rows:
        raise InvalidData(
            f"{found.path!r} speaks of row {last}, and {right.path!r} has {counted(n_rows, 'row')} without such names.",
            do=["Name a column that both have: ", Setting("by"), "."],
        )
    return [str(number) for number in range(1, n_rows + 1)]


def _truth_column(right: Columns, key: str) -> str:
    others = [name for name in right.names if name != key]
    named = [name for name in others if is_label_name(name)]
    if len(named) == 1 or len(others) == 1:
        return (named if len(named) == 1 else others)[0]
    raise InvalidData(
        f"{right.path!r} has several columns that may hold the truth: {some_of(map(repr, named or others))}.",
        do=["Name one: ", Setting("truth_column"), "."],
    )


def _found_column(found: Columns, kinds: set[str]) -> str:
    there = [name for name in _CLUSTERS if name in found.names]
    if not there:
        raise InvalidData(
            f"{found.path!r} has no column {_CLUSTERS[1]!r}. It has {some_of(map(repr, found.names))}.",
            do=["Name the column to judge: ", Setting("column"), "."],
        )
    return next(
        (name for name in there if kinds & set(found.cells(name))), "cluster" if "cluster" in there else there[0]
    )


def _refuse_twins(keys: Sequence[str], path: str, key: str) -> None:
    twice = [name for name, times in Counter(keys).items() if times > 1]
    if twice:
        raise InvalidData(f"{path!r}: several rows are called {twice[0]!r} in {key!r}, so rows cannot be told apart.")


_Two = tuple[float, int, int]  # the agreement of two runs, and their numbers
_FIGURES = ("share_sure", "n_pairs", "n_triplets", "eps")  # what else is worth a column where runs have it


@dataclass(frozen=True)
class Comparison:
    """One line a run, and the agreement of every two."""

    names: Sequence[str]
    table: Lines
    agreement: np.ndarray
    sources: Sequence[str] = ()  # the tables that the runs are about, each once

    @property
    def sentences(self) -> list[str]:
        """What a person wants to know."""
        told = [f"{counted(len(self.names), 'run')} side by side."]
        if len(self.sources) > 1:
            tables = some_of(map(repr, self.sources))
            told.append(f"They are about different tables ({tables}): rows are matched by their names.")
        n = len(self.names)
        pairs = [(self.agreement[i, j], i, j) for i in range(n) for j in range(i) if np.isfinite(self.agreement[i, j])]
        if pairs:
            told.append(self._about_agreement(max(pairs), min(pairs), n_pairs=len(pairs)))
        truths = [(value, name) for name, value in zip(self.names, self.table.get("nmi with truth", ())) if value != ""]
        if len(truths) > 1:
            best = max(truths)
            told.append(f"{best[1]} is nearest to the truth (normalised mutual information {best[0]:.3f}).")
        return told

    def _about_agreement(self, most: _Two, least: _Two, *, n_pairs: int) -> str:
        if least[0] == 1.0:
            return "All of them found the same clusters." if n_pairs > 1 else "Both found the same clusters."
        if n_pairs == 1:
            return f"Their clusters agree with an adjusted Rand index of {most[0]:.2f} (1: the same, 0: chance)."
        return (
            f"{self._pair(most)} agree most (adjusted Rand index {most[0]:.2f}), {self._pair(least)} least "
            f"({least[0]:.2f})."
        )

    def _pair(self, found: _Two) -> str:
        return f"{self.names[found[2]]} and {self.names[found[1]]}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that can be written as JSON."""
        square = [[None if np.isnan(value) else float(value) for value in line] for line in self.agreement]
        return {"runs": {name: list(cells) for name, cells in self.table.items()}, "agreement": square}


def compare(folders: Sequence[str]) -> Comparison:
    """Read the folders of several runs and put them side by side."""
    if len(folders) < 2:
        raise InvalidData(f"Comparing takes at least two folders of runs. Got {len(folders)}.")
    names = _short_names(folders)
    configs = [RunConfig.from_toml(Path(folder) / MANIFEST) for folder in folders]
    numbers = [_numbers(Path(folder)) for folder in folders]
    assigned = [_assigned(folder) for folder in folders]
    told = [{"seed": c.seed, **c.options.settings()} for c in configs]
    table: dict[str, list[Any]] = {"run": list(names), "job": [config.job for config in configs]}
    table["rows"] = [len(rows) for rows in assigned]
    table["clusters"] = [len(set(rows.values())) for rows in assigned]
    for key in _FIGURES:
        if any(isinstance(one.get(key), (int, float)) for one in numbers):
            table[key.replace("_", " ")] = [one.get(key, "") for one in numbers]
    if any(one.get("truth") for one in numbers):
        for title, key in (("nmi with truth", "information"), ("accuracy", "accuracy")):
            table[title] = [round(one["truth"][key], 4) if one.get("truth") else "" for one in numbers]
    for key in _differing(told):
        table[f"{key} (asked)" if key in table else key] = [one.get(key, "") for one in told]
    sources = list(dict.fromkeys(str(Path(config.table).resolve()) for config in configs))
    return Comparison(names, table, _agreement(assigned), [Path(source).name for source in sources])


def _differing(told: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the settings that differ between runs; a setting that one run alone has says little."""
    keys = list(dict.fromkeys(key for one in told for key in one))
    shared = [key for key in keys if sum(key in one for one in told) > 1]
    return [key for key in shared if len({repr(one.get(key)) for one in told}) > 1]


def write_comparison(found: Comparison, out: str | Path, *, overwrite: bool = False) -> list[str]:
    """Write the table, the agreement and a page with its picture into a folder; return the names of the files."""
    square = {"run": list(found.names)}
    square |= {name: found.agreement[:, j].round(4).tolist() for j, name in enumerate(found.names)}
    drawn = heat(
        np.clip(found.agreement, 0, 1),
        found.names,
        found.names,
        "Adjusted Rand index of every two runs, in percent: 100 is the same partition of the rows they share.",
        row_title="run",
    )
    page = Page(
        "Runs side by side",
        found.sentences,
        [
            Section(
                "The runs", parts=[table(found.table, "What they were told, and what they found.", file="runs.csv")]
            ),
            Section("How much they agree", parts=[drawn]),
        ],
    )
    keys = {"job": "compare", "table": "runs"}

    def manifest(files: Sequence[str]) -> str:
        return as_toml({**keys, "files": list(files)}, {"versions": versions_in_use()})

    with output_folder(Path(out), manifest, overwrite=overwrite) as folder:
        write_csv(folder / "runs.csv", {without_blanks(title): cells for title, cells in found.table.items()})
        write_csv(folder / "agreement.csv", square)
        write_text(folder / "report.html", to_html(page))
        return sorted([*(path.name for path in folder.iterdir()), MANIFEST])


def _numbers(folder: Path) -> Mapping[str, Any]:
    """Return what a run found in numbers; runs of version 0.1 wrote none."""
    try:
        content = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _assigned(folder: str) -> dict[str, str]:
    """Return the cluster of every row, by its name."""
    table = Columns(folder)
    column = next((name for name in ("cluster", "labels") if name in table.names), table.names[-1])
    return dict(zip(table.cells(table.names[0]), table.cells(column)))


def _agreement(assigned: Sequence[Mapping[str, str]]) -> np.ndarray:
    square = np.ones((len(assigned), len(assigned)))
    for i, one in enumerate(assigned):
        for j in range(i):
            shared = [row for row in one if row in assigned[j]]
            value = np.nan
            if shared:
                value = adjusted_rand_index([one[row] for row in shared], [assigned[j][row] for row in shared])
            square[i, j] = square[j, i] = value
    return square


def _short_names(folders: Sequence[str]) -> list[str]:
    """Call runs by their folders, with as much of the path as tells them apart."""
    paths = [Path(folder).resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise InvalidData("A run was named twice. Name each folder once.")
    depth = 1
    while len({path.parts[-depth:] for path in paths}) < len(paths):
        depth += 1
    return ["/".join(path.parts[-depth:]) for path in paths]
