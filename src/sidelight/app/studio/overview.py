"""The first look at a project: what was found so far, what to do next, how people agree, and what a run changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sidelight.app.jobs.gallery import of_many_bags
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.seeing import clusters_of
from sidelight.words import counted

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
                "doubts": _doubtful(project, snapshot, rows), "sure": float(np.mean(sure)), "is_nameless": is_nameless,
                "doubtful": int((sure < _UNSURE).sum()),
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
    return [card | {"sure": float(snapshot.sure[card["row"]])} for card in cards]


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
