"""The results of a run, opened in the studio: the project begins exactly where the run ended.

Clusters, names and probabilities are those that the run wrote. The lists of bags stay what each row may be; answers
that the run was given are kept as answers of "the run", so that they are not asked again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.options import fields_of
from sidelight.app.jobs.output import MANIFEST
from sidelight.app.jobs.reading import read_rows
from sidelight.app.store.studio_store import Project
from sidelight.app.studio.project import THE_RUN
from sidelight.app.studio.run.start import Start, write_start
from sidelight.app.studio.sources import of_dataset
from sidelight.app.studio.studio import Studio
from sidelight.data.dataset import Dataset
from sidelight.data.relations import Pairs
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.answers import read_answers

MOST_CLUSTERS = 200  # of a run that is opened
_MOST_ANSWERS = 20_000  # of those that the run was given


def open_results(studio: Studio, folder: str) -> Project:
    """Return the project of a results folder; make it the first time."""
    home = Path(folder).resolve()
    known = {str(project.settings.get("results")): project for project in studio.store.projects()}
    if str(home) in known:
        return known[str(home)]
    config = config_of(home)
    data = read_rows(config.table, config.roles)
    start = start_of(home, config, data)
    taken = {project.name for project in studio.store.projects()}
    name = next(n for n in (home.name, *(f"{home.name} {i}" for i in range(2, 1000))) if n not in taken)
    settings = {"results": str(home), "clusters": None, "job": config.job}
    project = studio.add(name, of_dataset(data), settings, also=lambda place: write_start(place, 0, start))
    _tell_earlier_answers(studio, project, config, data)
    return project


def config_of(home: Path) -> RunConfig:
    """Return what the run in a folder was told."""
    if not (home / MANIFEST).is_file():
        raise UnreadableFile(f"{str(home)!r} is not the folder of a run: it has no {MANIFEST}.")
    return RunConfig.from_toml(home / MANIFEST)


def start_of(home: Path, config: RunConfig, data: Dataset) -> Start:
    """Read where a run ended."""
    table = Columns(str(home))
    by = next((name for name in ("cluster", "label") if name in table.names), None)
    if by is None:
        raise InvalidData(
            f"The assignments in {str(home)!r} have neither clusters nor labels of rows: the studio opens the results "
            "of instances, relations and sources."
        )
    table.need(*(name for name in (table.names[0], by, "label", "name", "probability") if name in table.names))
    rows = table.cells(table.names[0])
    if rows != [str(name) for name in data.row_names.tolist()]:
        raise InvalidData(
            f"The assignments in {str(home)!r} are not about the rows of {config.table!r} as they are now. Run the "
            "job again, then open its results."
        )
    cells = table.cells(by)
    keys = sorted(set(cells), key=lambda cell: (not cell.isdigit(), int(cell) if cell.isdigit() else 0, cell))
    if len(keys) > MOST_CLUSTERS:
        raise InvalidData(f"The run has {len(keys)} clusters; the studio opens at most {MOST_CLUSTERS}.")
    code = {key: k for k, key in enumerate(keys)}
    labels = np.array([code[cell] for cell in cells])
    names = _names(table, keys, labels)
    label_of = _label_of(table, names, labels)
    bags, bag_names, lists = _bags(data)
    return Start(
        config.job, takes(config), tuple(names), tuple(label_of), labels, _probabilities(home, table, len(rows)),
        bags, bag_names, lists,
    )  # fmt: skip


def takes(config: RunConfig) -> str:
    """Return what a run can be told about rows: labels, pairs, names of its novel clusters, or nothing."""
    known = {field.name for field in fields_of(type(config.options))}
    if "corrections" in known:
        return "pairs" if config.job == "relations" else "labels"
    return "names" if "names" in known else ""


def _names(table: Columns, keys: list[str], labels: np.ndarray) -> list[str]:
    """Return what the clusters are called: by a column of names where every cluster has one of its own."""
    if "name" in table.names:
        cells = np.array(table.cells("name"), dtype=object)
        found = [str(cells[np.flatnonzero(labels == k)[0]]) for k in range(len(keys))]
        if len(set(found)) == len(found):
            return found
    return [f"cluster {key}" if key.isdigit() else key for key in keys]


def _label_of(table: Columns, names: list[str], labels: np.ndarray) -> list[str]:
    """Return the label of most rows of each cluster; without labels a cluster is one itself."""
    if "label" not in table.names:
        return names
    cells = np.array(table.cells("label"), dtype=object).astype(str)
    found = []
    for k in range(len(names)):
        kinds, counts = np.unique(cells[labels == k], return_counts=True)
        found.append(str(kinds[counts.argmax()]))
    return found


def _probabilities(home: Path, table: Columns, n: int) -> np.ndarray:
    """Return the probabilities as the run had them: Parquet keeps every digit."""
    if "probability" not in table.names:
        return np.ones(n)
    if table.path.endswith(".parquet"):
        import polars

        read = polars.read_parquet(table.path, columns=["probability"])["probability"].to_numpy()
    else:
        read = np.array([float(cell or 0) for cell in table.cells("probability")])
    return np.clip(np.nan_to_num(np.asarray(read, dtype=np.float64)), 0.0, 1.0)


def _bags(data: Dataset) -> tuple[np.ndarray, tuple[str, ...], tuple[tuple[str, ...] | None, ...]]:
    if data.bags is None:
        return np.full(data.n_rows, -1), (), ()
    lists: list[tuple[str, ...] | None] = []
    for name in data.bags.names:
        listed = data.bags.labels[name]
        lists.append(None if listed is None else tuple(sorted(str(label) for label in listed)))
    return np.asarray(data.bags.codes), tuple(str(name) for name in data.bags.names), tuple(lists)


def _tell_earlier_answers(studio: Studio, project: Project, config: RunConfig, data: Dataset) -> None:
    """Keep the answers that the run was given: they stay known, and are not asked again."""
    person = studio.store.add_person(project.id, THE_RUN, is_simulated=True)
    path = getattr(config.options, "pairs", None)
    if not path:
        return
    pairs: Any = read_answers(path, Pairs, data.row_names.tolist())
    said = [answer for answer in pairs.answers if answer.answer in ("same", "different")][:_MOST_ANSWERS]
    contents = [{"rows": [int(row) for row in one.rows], "answer": one.answer} for one in said]
    studio.store.append_all(person, [("answer", content, float("nan")) for content in contents])
