"""What pages show of a project: its overview, its clusters and what the last answers moved, and the map of all rows."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.app.jobs.gallery import of_many_bags
from sidelight.app.jobs.output import disarmed_cells
from sidelight.app.store.studio_store import Person
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.errors import InvalidData
from sidelight.words import counted

_MOST_MOVED = 24  # rows that moved with the last answer, to show


def clusters_of(project: OpenProject, snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return number, name and size of every cluster, and whether it was asked about; the largest first."""
    names = project.names(snapshot.labels)
    sizes = np.bincount(snapshot.labels, minlength=len(names))
    order = np.argsort(-sizes, kind="stable")
    n_known = snapshot.n_known if project.is_run or project.n_told else 0  # before an answer all are guesses
    return [
        {"cluster": int(k), "name": names[k], "size": int(sizes[k]), "is_known": bool(k < n_known)}
        for k in order
        if sizes[k]
    ]


def clusters_table(project: OpenProject, snapshot: Snapshot) -> dict[str, list[Any]]:
    """Return the columns of the file of clusters."""
    names = project.names(snapshot.labels)
    return {
        "row": list(project.rows.ids),
        "cluster": snapshot.labels.tolist(),
        "name": disarmed_cells(names[k] for k in snapshot.labels.tolist()),
        "probability": np.round(snapshot.sure, 4).tolist(),
    }


def moved_rows(project: OpenProject, snapshot: Snapshot) -> dict[str, Any]:
    """Return how many rows the last answers moved to another cluster, how many answers, and some of the rows."""
    names = project.names(snapshot.labels)
    some = [int(row) for row in snapshot.moved[:_MOST_MOVED]]
    to = [names[int(snapshot.labels[row])] for row in some]
    ids = [project.rows.ids[row] for row in some]
    return {"n": int(snapshot.moved.size), "by": snapshot.moved_by, "rows": some, "ids": ids, "to": to}


_SHOWN = 6  # rows of a cluster
_MOST_CLUSTERS = 40  # that the overview shows
_DOUBT, _MOST_DOUBTFUL = 0.9, 5  # probability below which a member is shown as doubtful, and how many are
_UNSURE = 0.7  # probability below which a row is doubtful


def overview_of(project: OpenProject, status: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that the overview of a project shows beside its status."""
    if not status["ready"]:
        return {"found": [], "steps": [], "run": None, "changed": None, "people": None}
    snapshot = project.model.snapshot(fresh=False)
    found = found_so_far(project, snapshot)
    return {
        "found": found,
        "steps": next_steps(project, snapshot, found, status),
        "run": project.progress() if isinstance(project, RunProject) else None,
        "changed": _with_cards(project, project.again.changed) if isinstance(project, RunProject) else None,
        "people": people_sentence(project),
    }


def found_so_far(project: OpenProject, snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return the clusters, the largest first, each with its surest rows and how sure all of its rows are."""
    shown = []
    for cluster in clusters_of(project, snapshot)[:_MOST_CLUSTERS]:
        rows = project.members(cluster["cluster"], snapshot)
        sure = snapshot.sure[rows]
        is_nameless = cluster["name"].startswith(("novel-", "cluster "))
        shown.append(
            cluster
            | {
                "cards": project.cards(_surest(project, snapshot, rows)),
                "doubts": _doubtful(project, snapshot, rows), "is_nameless": is_nameless,
                "sure": float(np.mean(sure)) if snapshot.is_judged else None,
                "doubtful": int((sure < _UNSURE).sum()) if snapshot.is_judged else 0,
            }
        )  # fmt: skip
    return shown


def _surest(project: OpenProject, snapshot: Snapshot, rows: list[int]) -> list[int]:
    """Return the rows of a cluster to show: the surest, and of different bags where the rows are in bags."""
    if not isinstance(project, RunProject):
        return rows[:_SHOWN]
    chosen = of_many_bags(np.array(rows), snapshot.sure, np.asarray(project.start.bags), _SHOWN)
    return [int(row) for row in chosen]


def _doubtful(project: OpenProject, snapshot: Snapshot, rows: list[int]) -> list[dict[str, Any]]:
    """Return the rows of a cluster that are least sure, where any is doubtful."""
    least = [row for row in rows[_SHOWN:][::-1] if snapshot.sure[row] < _DOUBT][:_MOST_DOUBTFUL]
    cards = project.cards(least) if least else []
    return [card | {"sure": snapshot.sure_of(card["row"])} for card in cards]


def next_steps(
    project: OpenProject, snapshot: Snapshot, found: list[dict[str, Any]], status: Mapping[str, Any]
) -> list[dict[str, str]]:
    """Return what is worth doing now, the most useful first: words, and where to go."""
    base, steps = f"/p/{project.project.id}", []
    n_torn = len(project.model.contradictions())
    if n_torn:
        steps.append((counted(n_torn, "contradiction") + " to settle", f"{base}/contradictions"))
    n_doubtful = int((snapshot.sure < _UNSURE).sum())
    if project.is_run and n_doubtful:
        steps.append((f"Look at {counted(n_doubtful, 'doubtful row')}", f"{base}/ask"))
    elif not status["enough"]:
        steps.append(("Answer questions", f"{base}/ask"))
    nameless = [cluster for cluster in found if cluster["is_nameless"]]
    if nameless and (status["enough"] or project.is_run):
        place = f"{base}/clusters/{nameless[0]['cluster']}/wall"
        steps.append(
            (f"Name {nameless[0]['name']}" + (f" and {len(nameless) - 1} more" if nameless[1:] else ""), place)
        )
    if status["enough"]:
        steps.append(("Look through the clusters, then take them with you", f"{base}/clusters"))
    return [{"words": words, "go": go} for words, go in steps]


def people_sentence(project: OpenProject) -> str:
    """Say how many people answered; how they agree is on their page."""
    answered = {answer.person for answer in project.answers()} - project.of_run
    people = [person for number, person in project.people().items() if number in answered and not person.is_simulated]
    return f"{counted(len(people), 'person', 'people')} answered so far." if people else ""


def _with_cards(project: OpenProject, changed: Mapping[str, Any]) -> dict[str, Any] | None:
    if not changed:
        return None
    rows = [line["row"] for line in changed["moved"]]
    cards = {card["row"]: card["html"] for card in (project.cards(rows) if rows else [])}
    return {**changed, "moved": [line | {"html": cards[line["row"]]} for line in changed["moved"]]}


_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")


def presence_table(project: RunProject, snapshot: Snapshot) -> dict[str, list[Any]]:
    """Return how many rows of each bag carry each label now, in the order of dates that the names of bags have."""
    start = project.start
    labels = np.array(project.label_names(), dtype=object)[snapshot.labels]
    dates = ["-".join(found.groups()) if (found := _DATE.search(name)) else "" for name in start.bag_names]
    order = sorted(range(len(dates)), key=lambda b: (not dates[b], dates[b], b))
    names = sorted(set(labels.tolist()))
    counts = {name: np.bincount(start.bags[labels == name], minlength=len(dates)) for name in names}
    table: dict[str, list[Any]] = {"bag": [start.bag_names[b] for b in order]}
    if any(dates):
        table["date"] = [dates[b] for b in order]
    return table | {name: [int(counts[name][b]) for b in order] for name in names if name not in table}


_GRID = 65_535  # steps of a coordinate
_NEIGHBOURS = 8
MOST_TOGETHER = 500  # rows of which something is said at once


def packed_map(project: OpenProject) -> dict[str, Any]:
    """Return place, cluster, certainty and person of every row as base64 of whole numbers, little end first."""
    snapshot = project.model.snapshot()
    names, people = project.names(snapshot.labels), project.people()
    spoken = np.zeros(project.rows.n, dtype=int)
    order = [number for number in people if number not in project.of_run]
    for answer in project.answers():
        if answer.person in order:
            spoken[list(answer.rows)] = order.index(answer.person) + 1
    with project.lock:
        for done in project.standing.heard.values():
            if done.person in order:
                spoken[list(done.act.rows)] = order.index(done.person) + 1
    points = project.coordinates
    return {
        "n": project.rows.n,
        "x": _packed(_scaled(points[:, 0]), "<u2"),
        "y": _packed(_GRID - _scaled(points[:, 1]), "<u2"),
        "k": _packed(snapshot.labels, "<u2"),
        "sure": _packed(np.rint(255 * snapshot.sure), "u1"),
        "who": _packed(spoken, "<u2"),
        "names": names,
        "sizes": np.bincount(snapshot.labels, minlength=len(names)).tolist(),
        "people": [people[number].name for number in order],
        "moved": [int(row) for row in snapshot.moved[:2000]],
    }


def row_with_neighbours(project: OpenProject, row: int) -> dict[str, Any]:
    """Return one row as a page shows it, what is believed of it, and the rows nearest to it."""
    project.rows.check(row)
    snapshot, Z = project.model.snapshot(fresh=False), project.rows.Z
    names = project.names(snapshot.labels)
    squares = ((Z - Z[row]) ** 2).sum(axis=1)
    squares[row] = np.inf
    n = min(_NEIGHBOURS, project.rows.n - 1)
    near = np.argpartition(squares, n - 1)[:n]
    near = near[np.argsort(squares[near], kind="stable")]

    def found(card: dict[str, Any]) -> dict[str, Any]:
        label = int(snapshot.labels[card["row"]])
        return card | {"cluster": label, "name": names[label], "sure": snapshot.sure_of(card["row"])}

    shown = [found(card) for card in project.cards([row, *near.tolist()])]
    notes = [str(note.content["text"]) for note in project.notes() if int(note.content["row"]) == row]
    return {"row": shown[0], "near": shown[1:], "notes": notes}


def say_together(project: OpenProject, person: Person, rows: Sequence[int], name: str = "") -> int:
    """Keep that rows belong together, and what they are called; return how many things were said."""
    rows = [project.rows.check(int(row)) for row in dict.fromkeys(rows)]
    if not 2 <= len(rows) <= MOST_TOGETHER:
        raise InvalidData(f"Choose 2 to {MOST_TOGETHER} rows. Got {len(rows)}.")
    said = project.together(person, rows, name, project.model.snapshot())
    project.keep_all(person, said)
    return len(said)


def _scaled(values: np.ndarray) -> np.ndarray:
    low, high = float(values.min()), float(values.max())
    return np.rint((values - low) / (high - low) * _GRID) if high > low else np.full(values.shape, _GRID / 2)


def _packed(values: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode("ascii")
