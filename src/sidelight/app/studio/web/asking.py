"""Asking: the page of an annotator's link, and the same for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from sidelight.app.studio.answers import words_of
from sidelight.app.studio.web.pages import page
from sidelight.app.studio.web.parts import LinkPart
from sidelight.app.studio.web.security import cookie_of

router = APIRouter()
Row = Annotated[int, Field(ge=0, le=2**31 - 1)]
Start = Annotated[int, Query(ge=0, le=10**7)]
_LINES = 200  # answers of the history on one page
_FRESH = 0.06  # seconds to wait for a question that knows of the answer; then the page shows the one it has
_SECOND = 0.02  # seconds to wait for the one that is loaded behind it


class NewAnswer(BaseModel):
    """An answer to a question about two or three rows."""

    rows: Annotated[list[Row], Field(min_length=2, max_length=3)]
    answer: Annotated[str, Field(max_length=20)]
    seconds: Annotated[float | None, Field(ge=0)] = None
    key: Annotated[str, Field(max_length=64, description="sent again, the same key is the same answer")] = ""


class Edit(BaseModel):
    """A new answer for one of the history; null takes it back."""

    answer: Annotated[str | None, Field(max_length=20)] = None


@router.get("/a/{token}", include_in_schema=False)
def ask_page(link: LinkPart) -> HTMLResponse:
    """Show the page that asks."""
    project, person = link
    sheet = project.reference_sheet() if project.reference else []
    reference = [(name, project.cards([row])[0]) for name, row in sheet]
    answer = page(
        "ask.html", project=project.project, person=person, kind=project.model.kind, reference=reference, tab="ask",
        status=project.status(), words=words_of(2 if project.model.kind == "pair" else 3),
        has_unsure=not project.project.settings.get("no_unsure"), is_demo=bool(project.project.settings.get("is_demo")),
    )  # fmt: skip
    answer.set_cookie(cookie_of(person.project), person.token, httponly=True, samesite="lax")
    return answer


@router.get("/api/a/{token}", tags=["asking"])
def questions(link: LinkPart) -> dict[str, Any]:
    """Return the open questions of a person, the next one first, and how far the project is."""
    project, person = link
    return {"questions": project.questions(person, wait_more=0.5), "status": project.status()}


@router.get("/api/a/{token}/status", tags=["asking"])
def status(link: LinkPart) -> dict[str, Any]:
    """Return how far the project is."""
    return link[0].status()


@router.post("/api/a/{token}/answers", tags=["asking"])
def answer(link: LinkPart, new: NewAnswer) -> dict[str, Any]:
    """Keep an answer; when this returns it is on the disk. The open questions come with it."""
    project, person = link
    seconds = float("nan") if new.seconds is None else new.seconds
    kept = project.answer(person, new.rows, new.answer, seconds=seconds, key=new.key, wait=_FRESH)
    return {
        "saved": kept.id,
        "questions": project.questions(person, wait=0.0, wait_more=_SECOND),
        "status": project.status(),
    }


@router.post("/api/a/{token}/undo", tags=["asking"])
def undo(link: LinkPart) -> dict[str, Any]:
    """Take the last answer back; it is asked again."""
    project, person = link
    taken = project.undo(person)
    return {
        "undone": taken.id, "answer": taken.answer, "questions": project.questions(person), "status": project.status()
    }  # fmt: skip


@router.get("/a/{token}/history", include_in_schema=False)
def history_page(link: LinkPart, start: Start = 0) -> HTMLResponse:
    """Show a person's own answers, to edit."""
    project, person = link
    return page(
        "history.html", project=project.project, person=person, status=project.status(), tab="history",
        **part_of(lines_of(project, person.id), start), contradictions=[], base=f"/api/a/{person.token}",
        is_owner=False,
    )  # fmt: skip


@router.get("/api/a/{token}/history", tags=["asking"])
def history(link: LinkPart) -> dict[str, Any]:
    """Return a person's own answers that stand, the last one first."""
    return {"answers": lines_of(link[0], link[1].id)}


@router.post("/api/a/{token}/history/{event}", tags=["asking"])
def edit(link: LinkPart, event: Annotated[int, Field(ge=0, le=2**31 - 1)], change: Edit) -> dict[str, Any]:
    """Change an answer of one's own, or take it back."""
    link[0].edit(link[1], event, change.answer)
    return {"changed": event}


def part_of(lines: list[dict[str, Any]], start: int) -> dict[str, Any]:
    """Return what one page shows of a long history."""
    return {"lines": lines[start : start + _LINES], "start": start, "n": len(lines), "step": _LINES}


def lines_of(project: Any, person: int | None = None) -> list[dict[str, Any]]:
    """Return the history, of everybody or of one person, as lines of a table, the last answer first."""
    people = project.people()
    said = [kept for kept in reversed(project.answers()) if person is None or kept.person == person]
    return [
        {
            "id": kept.id, "person_id": kept.person, "person": people[kept.person].name, "rows": list(kept.rows),
            "ids": [project.rows.ids[row] for row in kept.rows], "answer": kept.answer, "at": kept.at,
            "seconds": None if kept.seconds != kept.seconds else kept.seconds, "correction": kept.correction,
            "is_edited": kept.is_edited, "words": list(words_of(len(kept.rows))), "start": place // _LINES * _LINES,
        }
        for place, kept in enumerate(said)
    ]  # fmt: skip
