"""Seeing: clusters with their members, corrections, the map, the history with its contradictions, and downloads."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, Field

from sidelight.app.studio.answers import as_table
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.seeing import (
    MOST_TOGETHER,
    clusters_of,
    clusters_table,
    found_so_far,
    moved_rows,
    packed_map,
    presence_table,
    row_with_neighbours,
    say_together,
)
from sidelight.app.studio.sorting import placements_table
from sidelight.app.studio.web.asking import Edit, Row, Start, lines_of, part_of, with_cards
from sidelight.app.studio.web.files import csv_file
from sidelight.app.studio.web.pages import Number, ProjectPart, page
from sidelight.errors import InvalidData

router = APIRouter()
_PAGE = 60  # members of a cluster at a time
_DOUBT, _MOST_DOUBTFUL = 0.9, 30  # probability below which a member is doubtful, and how many stand beside typical ones
_KEYS = "1234567890abdefghijklmnoqrstuvw"  # of the clusters to move to; c, p, x, y and z do something else
Place = Annotated[int, Query(ge=0, le=10**6)]


class NewName(BaseModel):
    """What a cluster is called."""

    name: Annotated[str, Field(max_length=200)]


class Correction(BaseModel):
    """A row, and whether it belongs to a cluster."""

    row: Row
    cluster: Row
    is_member: bool
    is_confirmation: bool = False


class Group(BaseModel):
    """Rows that belong together, and perhaps what they are called."""

    rows: Annotated[list[Row], Field(min_length=2, max_length=MOST_TOGETHER)]
    name: Annotated[str, Field(max_length=200)] = ""


class Decision(BaseModel):
    """What a row is, by the owner."""

    row: Row
    label: Annotated[str, Field(min_length=1, max_length=200)]


class Wall(BaseModel):
    """Rows that a person saw side by side: those that are wrong in a cluster, and those that are right."""

    struck: Annotated[list[Row], Field(max_length=100)] = []
    right: Annotated[list[Row], Field(max_length=100)] = []


@router.get("/p/{number}/clusters", include_in_schema=False)
def clusters_page(project: ProjectPart) -> HTMLResponse:
    """Show the clusters so far, with typical and doubtful members."""
    snapshot = project.model.snapshot()
    return page(
        "clusters.html", project=project.project, status=project.status(), tab="clusters",
        clusters=found_so_far(project, snapshot),
        moved=moved_rows(project, snapshot), saved=project.saved_sentence(project.status()),
        has_bags=isinstance(project, RunProject) and bool(project.start.bag_names),
    )  # fmt: skip


@router.get("/api/projects/{number}/clusters", tags=["seeing"])
def clusters(project: ProjectPart) -> dict[str, Any]:
    """Return the clusters so far, the cluster and probability of every row, and what the last answer changed."""
    snapshot = project.model.snapshot()
    return {
        "version": snapshot.version, "clusters": clusters_of(project, snapshot),
        "rows": clusters_table(project, snapshot), "moved": moved_rows(project, snapshot),
    }  # fmt: skip


@router.get("/p/{number}/clusters/{cluster}", include_in_schema=False)
def cluster_page(project: ProjectPart, cluster: Number, start: Place = 0) -> HTMLResponse:
    """Show one cluster to be finished: the most doubtful members first."""
    rows = project.members(cluster, doubtful_first=True)
    return _wall(project, cluster, [("", rows[start : start + _PAGE])], len(rows), start, is_all=True)


@router.get("/p/{number}/clusters/{cluster}/wall", include_in_schema=False)
def wall_page(project: ProjectPart, cluster: Number, start: Place = 0) -> HTMLResponse:
    """Show the rows of a cluster that nobody looked at side by side, doubtful and typical ones."""
    snapshot, seen = project.model.snapshot(), project.confirmed()
    rows = [row for row in project.members(cluster, snapshot) if row not in seen]
    shown = rows[start : start + _PAGE]
    doubtful = [row for row in rows[start:][::-1] if snapshot.sure[row] < _DOUBT][:_MOST_DOUBTFUL] if not start else []
    groups = [("Doubtful", doubtful), ("Typical" if doubtful else "", [row for row in shown if row not in doubtful])]
    return _wall(project, cluster, groups, len(rows), start, is_all=False)


def _wall(
    project: OpenProject, cluster: int, groups: list[tuple[str, list[int]]], n: int, start: int, *, is_all: bool
) -> HTMLResponse:
    """Show groups of rows of a cluster as tiles, and the clusters that they can be moved to."""
    snapshot, status = project.model.snapshot(), project.status()
    names = project.names(snapshot.labels, snapshot.n_known)
    shown = [
        (title, [card | {"sure": snapshot.sure_of(card["row"])} for card in project.cards(rows)])
        for title, rows in groups
        if rows
    ]
    places = [k for k in range(snapshot.n_known) if k != cluster]
    keys = _KEYS[: len(places)].ljust(len(places))
    others = [{"cluster": k, "name": names[k], "key": key.strip()} for k, key in zip(places, keys)]
    return page(
        "wall.html", project=project.project, status=status, tab="clusters", cluster=cluster, name=names[cluster],
        n=n, start=start, step=_PAGE, groups=shown, n_shown=sum(len(cards) for _, cards in shown), others=others,
        is_nameless=names[cluster].startswith(("novel-", "cluster ")), is_all=is_all,
        saved=project.saved_sentence(status),
    )  # fmt: skip


@router.get("/api/projects/{number}/clusters/{cluster}", tags=["seeing"])
def members(project: ProjectPart, cluster: Number, start: Place = 0) -> dict[str, Any]:
    """Return the members of a cluster, the most doubtful first, sixty at a time."""
    snapshot = project.model.snapshot()
    rows = project.members(cluster, snapshot, doubtful_first=True)
    cards = [card | {"sure": snapshot.sure_of(card["row"])} for card in project.cards(rows[start : start + _PAGE])]
    names = project.names(snapshot.labels, snapshot.n_known)
    others = [{"cluster": k, "name": names[k]} for k in range(snapshot.n_known)]
    return {"name": names[cluster], "n": len(rows), "start": start, "members": cards, "others": others}


@router.post("/api/projects/{number}/clusters/{cluster}/name", tags=["seeing"])
def name(project: ProjectPart, cluster: Number, new: NewName) -> dict[str, Any]:
    """Name a cluster."""
    project.name(project.owner(), cluster, new.name)
    return {"cluster": cluster, "name": new.name.strip()}


@router.post("/api/projects/{number}/corrections", tags=["seeing"])
def correct(project: ProjectPart, correction: Correction) -> dict[str, Any]:
    """Place a row in a cluster, strike it out, or confirm that it is right there."""
    project.correct(
        project.owner(), correction.row, correction.cluster, is_member=correction.is_member,
        is_confirmation=correction.is_confirmation,
    )  # fmt: skip
    status = project.status()
    return {"status": status, "sentence": project.saved_sentence(status)}


@router.post("/api/projects/{number}/clusters/{cluster}/wall", tags=["seeing"])
def wall(project: ProjectPart, cluster: Number, seen: Wall) -> dict[str, Any]:
    """Strike some rows of a cluster and confirm others, in one step."""
    person, both = project.owner(), set(seen.struck) & set(seen.right)
    if both:
        raise InvalidData(f"Row {min(both)} is struck and right at once.")
    for rows, is_member in ((seen.struck, False), (seen.right, True)):
        for row in rows:
            project.correct(person, row, cluster, is_member=is_member, is_confirmation=is_member)
    return {"struck": len(seen.struck), "right": len(seen.right)}


@router.get("/p/{number}/presence", include_in_schema=False)
def presence_page(project: ProjectPart) -> HTMLResponse:
    """Show which kind is in which recording or photograph, and on which date, as one table."""
    table = presence_table(_in_bags(project), project.model.snapshot())
    return page(
        "presence.html", project=project.project, status=project.status(), tab="clusters", names=list(table),
        lines=list(zip(*table.values())),
    )  # fmt: skip


@router.get("/p/{number}/presence.csv", tags=["seeing"])
def presence_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return how many rows of each bag are of each kind, with the date in its name; ``disarm`` as for the answers."""
    return csv_file(presence_table(_in_bags(project), project.model.snapshot()), "presence.csv", disarm)


def _in_bags(project: OpenProject) -> RunProject:
    if not isinstance(project, RunProject) or not project.start.bag_names:
        raise InvalidData("This project has no recordings, photographs or other bags of rows.")
    return project


@router.get("/p/{number}/map", include_in_schema=False)
def map_page(project: ProjectPart) -> HTMLResponse:
    """Show a map of all rows."""
    status = project.status(fresh=True)
    return page("map.html", project=project.project, status={"clusters": "?"} | status, tab="map")


@router.get("/api/projects/{number}/map", tags=["seeing"])
def map_numbers(project: ProjectPart, packed: bool = False) -> dict[str, Any]:
    """Return where each row lies on the map; ``packed``: with its cluster and certainty, in few bytes."""
    if packed:
        return packed_map(project)
    return {"ids": list(project.rows.ids), "coordinates": np.round(project.coordinates, 4).tolist()}


@router.get("/api/projects/{number}/rows/{row}", tags=["seeing"])
def one_row(project: ProjectPart, row: Number) -> dict[str, Any]:
    """Return a row as a page shows it, and the rows nearest to it."""
    return row_with_neighbours(project, row)


@router.post("/api/projects/{number}/together", tags=["seeing"])
def together(project: ProjectPart, group: Group) -> dict[str, Any]:
    """Say that rows belong together, and what they are called."""
    return {"said": say_together(project, project.owner(), group.rows, group.name.strip())}


@router.get("/p/{number}/history", include_in_schema=False)
def history_page(project: ProjectPart, start: Start = 0) -> HTMLResponse:
    """Show the answers of all people, and those that cannot all be true."""
    return page(
        "history.html", project=project.project, status=project.status(), tab="history",
        **with_cards(project, part_of(lines_of(project), start)), n_contradictions=len(project.model.contradictions()),
        base=f"/api/projects/{project.project.id}", is_owner=True,
    )  # fmt: skip


@router.get("/api/projects/{number}/history", tags=["seeing"])
def history(project: ProjectPart) -> dict[str, Any]:
    """Return the answers that stand, the last one first."""
    return {"answers": lines_of(project)}


@router.post("/api/projects/{number}/history/{event}", tags=["seeing"])
def edit(project: ProjectPart, event: Number, change: Edit) -> dict[str, Any]:
    """Change anybody's answer, or take it back."""
    project.edit(project.owner(), event, change.answer, is_owner=True)
    return {"changed": event}


@router.get("/p/{number}/contradictions", include_in_schema=False)
def contradictions_page(project: ProjectPart, at: Annotated[int, Query(ge=0, le=10**4)] = 0) -> HTMLResponse:
    """Show answers that cannot all be true, one contradiction at a time, the most damaging first."""
    found = contradictions(project)["contradictions"]
    shown = found[at] if at < len(found) else None
    if shown is not None:
        for line in [*shown["together"], *shown["apart"]]:
            line["cards"] = project.cards(line["rows"])
        shown["cards"] = project.cards(shown["rows"])
        shown["choices"] = sorted({line["answer"] for line in [*shown["together"], *shown["apart"]]})
    return page(
        "contradictions.html", project=project.project, status=project.status(), tab="history", at=at, n=len(found),
        one=shown, base=f"/api/projects/{project.project.id}",
    )  # fmt: skip


@router.post("/api/projects/{number}/settle", tags=["seeing"])
def settle(project: ProjectPart, decision: Decision) -> dict[str, Any]:
    """Decide what a row is that people call differently."""
    project.settle(decision.row, decision.label)
    return {"row": decision.row, "label": decision.label}


@router.get("/api/projects/{number}/contradictions", tags=["seeing"])
def contradictions(project: ProjectPart) -> dict[str, Any]:
    """Return rows that must and cannot belong together, with the answers behind it."""
    lines = {line["id"]: line for line in lines_of(project)}
    told = [
        {
            "rows": list(rows), "ids": [project.rows.ids[row] for row in rows],
            "together": [lines[answer.id] for answer in chain if answer.id in lines],
            "apart": [lines[answer.id] for answer in against if answer.id in lines],
        }
        for rows, chain, against in project.model.contradictions()
    ]  # fmt: skip
    return {"contradictions": told}


@router.get("/p/{number}/answers.csv", tags=["seeing"])
def answers_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return the answers about two rows as a table that the relations job takes; those about three if there are none.

    What people typed never begins a formula; with ``disarm`` names of rows do not either, and then differ from the
    table's.
    """
    people = {number: person.name for number, person in project.people().items()}
    return csv_file(as_table(project.answers(), project.rows.ids, people), "answers.csv", disarm)


@router.get("/p/{number}/triplets.csv", tags=["seeing"])
def triplets_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return the answers about three rows as a table that the relations job takes; ``disarm`` as for the answers."""
    people = {number: person.name for number, person in project.people().items()}
    return csv_file(as_table(project.answers(), project.rows.ids, people, of_three=True), "triplets.csv", disarm)


@router.get("/p/{number}/placements.csv", tags=["seeing"])
def placements_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return the pile of every row that was sorted, a line for each person; ``disarm`` as for the answers."""
    people = {number: person.name for number, person in project.people().items()}
    project.answers()  # those of other processes are read, too
    with project.lock:
        table = placements_table(project.standing, project.rows.ids, people)
    return csv_file(table, "placements.csv", disarm)


@router.get("/p/{number}/clusters.csv", tags=["seeing"])
def clusters_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return the cluster of every row; ``disarm`` as for the answers."""
    return csv_file(clusters_table(project, project.model.snapshot()), "clusters.csv", disarm)
