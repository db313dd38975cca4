"""Sorting: the screen of a person's link, where its rows were put, and piles that are named, merged and split."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from sidelight.app.studio.sorting import (
    MOST,
    ROWS,
    WAIT,
    WAIT_MORE,
    Said,
    keep_act,
    keep_screen,
    pile_shown,
    screen_of,
    way_of,
)
from sidelight.app.studio.web.asking import Row
from sidelight.app.studio.web.pages import LinkPart, Number

router = APIRouter()
Rows = Annotated[int, Query(ge=1, le=MOST, description="rows of a screen")]
Pile = Annotated[int, Field(ge=0, le=2**31 - 1)]


class NewScreen(BaseModel):
    """Where the rows of a screen were put."""

    rows: Annotated[list[Row], Field(max_length=200)]
    placements: Annotated[
        list[int | Annotated[str, Field(max_length=200)] | None],
        Field(max_length=200, description="of each row the number or name of a pile, -1 ... for new ones, or aside"),
    ]
    called: Annotated[dict[str, str], Field(max_length=200, description="names of new piles, by -1, -2 ...")] = {}
    number: Annotated[int, Field(ge=0, description="the number of the screen")] = 0
    screen: Annotated[str, Field(max_length=64, description="the key of the screen")] = ""
    seconds: Annotated[float | None, Field(ge=0)] = None
    key: Annotated[str, Field(max_length=60, description="sent again, the same key is the same answer")] = ""


class PileChange(BaseModel):
    """What is done with a pile."""

    act: Literal["rename", "merge", "apart", "split"]
    pile: Pile
    other: Pile = 0
    rows: Annotated[list[Row], Field(max_length=10_000)] = []
    name: Annotated[str | None, Field(max_length=200)] = None


@router.get("/api/a/{token}/screen", tags=["sorting"])
def screen(link: LinkPart, n: Rows = ROWS) -> dict[str, Any]:
    """Return the rows that a person sorts, the piles so far, and how far the project is."""
    project, person = link
    return {**screen_of(project, person, n, wait=WAIT), "status": project.status()}


@router.post("/api/a/{token}/screens", tags=["sorting"])
def sort(link: LinkPart, new: NewScreen, n: Rows = ROWS) -> dict[str, Any]:
    """Keep where rows were put; when this returns it is on the disk. The next screen comes with it."""
    project, person = link
    seconds = float("nan") if new.seconds is None else new.seconds
    said = Said(new.rows, new.placements, new.called, new.number, new.screen, seconds, new.key)
    kept = keep_screen(project, person, said)
    return {
        "saved": kept[0].id,
        **screen_of(project, person, n, wait=WAIT_MORE),
        "status": project.status(is_read=True),
    }


@router.get("/api/a/{token}/way", tags=["sorting"])
def way(link: LinkPart) -> dict[str, Any]:
    """Return what promises more a second for this person: piles or pairs."""
    project, person = link
    screen_of(project, person, ROWS, wait=WAIT)
    return {"way": way_of(project, person, "auto")}


@router.get("/api/a/{token}/piles/{pile}", tags=["sorting"])
def pile(link: LinkPart, pile: Number) -> dict[str, Any]:
    """Return a pile with its rows."""
    return pile_shown(link[0], pile)


@router.post("/api/a/{token}/piles", tags=["sorting"])
def change_pile(link: LinkPart, change: PileChange) -> dict[str, Any]:
    """Rename, merge, keep apart or split piles."""
    project, person = link
    keep_act(project, person, change.act, change.pile, other=change.other, rows=change.rows, name=change.name)
    return {"changed": change.pile}
