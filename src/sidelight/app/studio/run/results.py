"""The results of a run: a project begins exactly where the run ended, and what people say is written back.

Clusters, names and probabilities are those that the run wrote. The lists of bags stay what each row may be; answers
that the run was given are kept as answers of "the run", so that they are not asked again.

Back go ``names.csv`` with the clusters and their names, ``answers.csv`` with the answers about two rows, and
``corrections.csv`` with what the job takes back: labels of rows, or pairs where the job learns from pairs. Corrections
that were typed into ``check.csv``, or that the run was given, are among them; what people said is the last word.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.active.questions import UNSURE
from sidelight.app.jobs.checking import RIGHT
from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.export import TAGS_FILE
from sidelight.app.jobs.instances import Coverage
from sidelight.app.jobs.options import fields_of
from sidelight.app.jobs.output import MANIFEST, disarmed_cells, write_csv, write_text
from sidelight.app.jobs.reading import read_rows
from sidelight.app.store.studio_store import Project
from sidelight.app.studio.answers import Answer, as_table
from sidelight.app.studio.project import THE_RUN, OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.run.start import Found, Start, write_start
from sidelight.app.studio.sources import of_dataset
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.tags import tags_table
from sidelight.data.dataset import Dataset
from sidelight.data.relations import Pairs
from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.answers import read_answers

MOST_CLUSTERS = 200  # of a run that is opened
_MOST_ANSWERS = 20_000  # of those that the run was given


def open_results(studio: Studio, folder: str, called: str = "") -> Project:
    """Return the project of a results folder; make it the first time, ``called`` so or like the folder."""
    home = Path(folder).resolve()
    known = {str(project.settings.get("results")): project for project in studio.store.projects()}
    if str(home) in known:
        return known[str(home)]
    config = config_of(home)
    data = read_rows(config.table, config.roles)
    start = start_of(home, config, data)
    taken = {project.name for project in studio.store.projects()}
    called = called or home.name
    name = next(n for n in (called, *(f"{called} {i}" for i in range(2, 1000))) if n not in taken)
    settings = {
        "results": str(home), "clusters": None, "job": config.job, "has_tags": bool(start.found),
        "material": data.material and json.loads(data.material)["kind"],
    }  # fmt: skip
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
        bags, bag_names, lists, _one_of(table), _found(home, config, data),
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


def _one_of(table: Columns) -> tuple[tuple[str, ...], ...]:
    if "one of" not in table.names:
        return ()
    return tuple(tuple(name for name in cell.split("|") if name) for cell in table.cells("one of"))


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


MODEL = "model.sidelight"
_SEEN = 0.2  # probability from which a label that no list has is shown
_MOST_SEEN = 8  # of them
_SHOWS = 0.5  # probability of a row from which it shows the label of its bag


def _found(home: Path, config: RunConfig, data: Dataset) -> tuple[tuple[Found, ...], ...]:
    """Return what each bag carries by its list, or by its rows as held-out lists correct them; the surest first."""
    if not isinstance(config.options, Coverage) or data.bags is None or not (home / MODEL).is_file():
        return ()
    if data.bags.n_bags * 2 > data.n_rows:  # nearly every row is a bag of its own: the rows are what is asked about
        return ()
    import sidelight

    model = sidelight.load(home / MODEL)
    names = [str(name) for name in model.classes_]
    inner = getattr(model, "estimator_", model)
    is_corrected = inner.bag_slope_ != 1.0 or bool(inner.bag_offsets_.any())
    chance = model.predict_bags_proba(data.X, data.bags, labels=model.classes_)
    P = (model.predict_proba(data.X) @ inner.layout.to_labels())[:, : len(names)]
    order, found = np.argsort(data.bags.codes, kind="stable"), []
    for b, rows in enumerate(np.split(order, np.cumsum(data.bags.sizes)[:-1])):
        listed = data.bags.labels[data.bags.names[b]] or ()
        known = {names.index(str(label)) for label in listed if str(label) in names}
        likely = [c for c in np.argsort(-chance[b]).tolist() if c not in known and chance[b, c] >= _SEEN]
        some = []
        for c in [*sorted(known), *likely[:_MOST_SEEN]]:
            shows = rows[P[rows, c] >= _SHOWS] if P[rows, c].max() >= _SHOWS else rows[[P[rows, c].argmax()]]
            sure = None if c in known or not is_corrected else round(float(chance[b, c]), 4)
            some.append(Found(names[c], sure, c in known, tuple(shows.tolist())))
        found.append(tuple(some))
    return tuple(found)


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


CORRECTIONS = "corrections.csv"
_EARLIER = "earlier.json"  # beside the rows
_NAMED_BY = 5  # rows of a novel cluster that carry its name to the next run
_LIKELY = 0.7  # probability from which the other label of a struck row is told
_ANCHORS = 2  # rows of a cluster that a labelled row is tied to, where a job learns from pairs


def home_of(project: OpenProject) -> Path:
    """Return the results folder of a project."""
    place = project.project.settings.get("results")
    if not place:
        raise InvalidData("This project was not made from the results of a run, so there is no folder to write to.")
    home = Path(str(place))
    if not home.is_dir():
        raise UnreadableFile(f"The results folder {str(home)!r} is no longer there.")
    return home


def write_back(project: OpenProject) -> list[str]:
    """Write names, answers and corrections of people into the results folder; return the files."""
    home = home_of(project)
    snapshot = project.model.snapshot()
    names = project.names(snapshot.labels)
    people = project.people()
    said = [answer for answer in project.counted() if answer.person not in project.of_run]
    called = {number: person.name for number, person in people.items()}
    sizes = np.bincount(snapshot.labels, minlength=len(names))
    used = [k for k in range(len(names)) if sizes[k]]
    write_csv(
        home / "names.csv",
        {"cluster": used, "name": disarmed_cells(names[k] for k in used), "rows": [int(sizes[k]) for k in used]},
    )
    write_csv(home / "answers.csv", as_table(said, project.rows.ids, called))
    files = ["names.csv", "answers.csv"]
    if isinstance(project, RunProject) and project.start.found and project.standing.tagged:
        write_csv(home / TAGS_FILE, tags_table(project))
        files.append(TAGS_FILE)
    if not isinstance(project, RunProject) or project.start.takes not in ("labels", "pairs"):
        return files
    if project.start.takes == "pairs":
        columns = _as_pairs(project, said)
    else:
        columns = _as_labels(project, said, home)
    write_csv(home / CORRECTIONS, columns)
    return [*files, CORRECTIONS]


def has_rows(path: Path) -> bool:
    """Whether a table that was written here has a line below its header."""
    with open(path, encoding="utf-8") as lines:
        return next(lines, None) is not None and next(lines, None) is not None


def labels_said(project: RunProject, said: list[Answer]) -> dict[int, str]:
    """Return what people call rows: the label of the cluster that the answers about each give it.

    Of a row that was only struck from a cluster, nothing is told unless one other is likely: no job takes "not".
    """
    snapshot, labels = project.model.snapshot(), project.label_names()
    spoken = [a for a in said if len(a.rows) == 1 and a.answer != UNSURE]
    named = {a.rows[0] for a in spoken if not a.is_not}
    rows = [row for row in dict.fromkeys(a.rows[0] for a in spoken) if row in named or snapshot.sure[row] >= _LIKELY]
    return {row: labels[int(snapshot.labels[row])] for row in rows}


def _as_labels(project: RunProject, said: list[Answer], home: Path) -> dict[str, list[Any]]:
    ids, start = project.rows.ids, project.start
    right = {**earlier(project, home), **{ids[row]: label for row, label in labels_said(project, said).items()}}
    for cluster, name in project.cluster_names().items():
        if cluster in start.names and cluster.startswith("novel-"):  # a name is told by the cluster's surest rows
            of = start.names.index(cluster)
            rows = np.flatnonzero(start.labels == of)
            for row in rows[np.argsort(-start.sure[rows], kind="stable")][:_NAMED_BY].tolist():
                right.setdefault(ids[row], name)
    return {"row": list(right), RIGHT: list(right.values())}


def _as_pairs(project: RunProject, said: list[Answer]) -> dict[str, list[Any]]:
    """Return answers about two rows; a labelled row is the same as the surest rows of its cluster, or different."""
    start, lines = project.start, dict[frozenset[int], tuple[int, int, str]]()
    for answer in said:
        if len(answer.rows) == 2 and answer.answer != UNSURE:
            lines[frozenset(answer.rows)] = (*answer.rows, answer.answer)
    for answer in said:
        if len(answer.rows) != 1 or answer.answer == UNSURE or answer.answer not in start.label_of:
            continue
        row, of = answer.rows[0], start.label_of.index(answer.answer)
        members = np.flatnonzero((start.labels == of) & (np.arange(len(start.labels)) != row))
        surest = members[np.argsort(-start.sure[members], kind="stable")][:_ANCHORS]
        for other in surest.tolist():
            lines.setdefault(frozenset((row, other)), (row, other, "different" if answer.is_not else "same"))
    ids = project.rows.ids
    table = [[ids[a] for a, _, _ in lines.values()], [ids[b] for _, b, _ in lines.values()]]
    return {"left": table[0], "right": table[1], "answer": [word for _, _, word in lines.values()]}


def earlier(project: OpenProject, home: Path) -> dict[str, str]:
    """Return corrections of before: those that the run was given, then what was typed into check.csv."""
    right = _kept(project)
    given = getattr(config_of(home).options, "corrections", None)
    for path in (given, home / "check.csv"):
        if path and Path(path).is_file() and Path(path).resolve() != (home / CORRECTIONS).resolve():
            table = Columns(str(path))
            if RIGHT in table.names:
                cells = zip(table.cells(table.names[0]), table.cells(RIGHT))
                right |= {row: label.strip() for row, label in cells if label.strip()}
    return right


def keep_earlier(project: OpenProject, home: Path) -> None:
    """Remember the corrections that were typed by hand: the next run writes a new check.csv."""
    write_text(project.rows.folder / _EARLIER, json.dumps(earlier(project, home)))


def _kept(project: OpenProject) -> dict[str, str]:
    path = project.rows.folder / _EARLIER
    if not path.is_file():
        return {}
    try:
        return {str(row): str(label) for row, label in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise UnreadableFile(f"The corrections kept in {str(path)!r} cannot be read: {error}.") from error
