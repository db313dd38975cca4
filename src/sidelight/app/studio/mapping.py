"""The map of a project: every row as a dot in few bytes, one row with its neighbours, and what is said of a group."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.store.studio_store import Person
from sidelight.app.studio.project import OpenProject
from sidelight.errors import InvalidData

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
        label, sure = int(snapshot.labels[card["row"]]), float(snapshot.sure[card["row"]])
        return card | {"cluster": label, "name": names[label], "sure": round(sure, 4)}

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
