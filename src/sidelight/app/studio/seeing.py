"""What a project's clusters look like: sizes, names, members to look at, and what the last answer changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.app.jobs.output import disarmed_cells
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.project import OpenProject

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
