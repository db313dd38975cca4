"""Asking: the page of an annotator's link, and the same for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from sidelight.active.screens import SCREEN
from sidelight.app.studio.answers import words_of
from sidelight.app.studio.history import Done
from sidelight.app.studio.sorting import can_sort, said_of, way_of
from sidelight.app.studio.web.pages import LinkPart, page
from sidelight.app.studio.web.security import cookie_of

router = APIRouter()
Row = Annotated[int, Field(ge=0, le=2**31 - 1)]
Start = Annotated[int, Query(ge=0, le=10**7)]
_LINES = 60  # answers of the history on one page
_SHOWN = 10  # rows of a screen in the history
_FRESH = 0.06  # seconds to wait for a question that knows of the answer; then the page shows the one it has
_SECOND = 0.02  # seconds to wait for the one that is loaded behind it


class NewAnswer(BaseModel):
    """An answer to a question about two or three rows, or the label of one."""

    rows: Annotated[list[Row], Field(min_length=1, max_length=3)]
    answer: Annotated[str, Field(max_length=200)]
    seconds: Annotated[float | None, Field(ge=0)] = None
    key: Annotated[str, Field(max_length=64, description="sent again, the same key is the same answer")] = ""


class Edit(BaseModel):
    """A new answer for one of the history; null takes it back."""

    answer: Annotated[str | None, Field(max_length=200)] = None


class Later(BaseModel):
    """A question that is put off."""

    rows: Annotated[list[Row], Field(min_length=1, max_length=3)]


class NewNote(BaseModel):
    """A note on a row."""

    row: Row
    text: Annotated[str, Field(min_length=1, max_length=1000)]


@router.get("/a/{token}", include_in_schema=False)
def ask_page(link: LinkPart, by: str | None = None) -> Response:
    """Show the page that asks, by piles or by pairs; who may look or owns the project goes to its overview."""
    project, person = link
    if person.role != "annotator":
        answer = RedirectResponse(f"/p/{person.project}", status_code=303)
        answer.set_cookie(cookie_of(person.project), person.token, httponly=True, samesite="lax")
        return answer
    way = way_of(project, person, by)
    about: dict[str, Any] = {
        "project": project.project, "person": person, "tab": "ask", "status": project.status(), "way": way,
        "by": by or str(project.project.settings.get("by", "pairs")), "can_sort": can_sort(project),
        "of_run": project.is_run, "labels": project.vocabulary(),
    }  # fmt: skip
    if way == "piles":
        shown = page("sort.html", **about)
    else:
        reference = [(name, project.cards([row])[0]) for name, row in project.rows.examples]
        shown = page("ask.html", kind=project.model.kind, reference=reference, **about)
    shown.set_cookie(cookie_of(person.project), person.token, httponly=True, samesite="lax")
    return shown


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
        "status": project.status(is_read=True),
    }


@router.post("/api/a/{token}/later", tags=["asking"])
def later(link: LinkPart, put_off: Later) -> dict[str, Any]:
    """Put a question off; it is asked again when nothing else is left."""
    project, person = link
    project.put_off(person, put_off.rows)
    return {"put_off": put_off.rows, "questions": project.questions(person), "status": project.status()}


@router.post("/api/a/{token}/notes", tags=["asking"])
def note(link: LinkPart, new: NewNote) -> dict[str, Any]:
    """Keep a note on a row."""
    link[0].note(link[1], new.row, new.text)
    return {"row": new.row}


@router.post("/api/a/{token}/undo", tags=["asking"])
def undo(link: LinkPart) -> dict[str, Any]:
    """Take the last answer back; it is asked again."""
    project, person = link
    taken = project.undo(person)
    if isinstance(taken, Done) and taken.act.kind == SCREEN:
        with project.lock:
            piles = [pile if pile in project.standing.piles.names else None for pile in taken.act.piles]
        words, about = said_of(project, taken), {"rows": list(taken.act.rows), "placements": piles}
    else:
        words, about = said_of(project, taken) if isinstance(taken, Done) else taken.answer, {}
    asked = [] if about else project.questions(person)
    return {"undone": taken.id, "answer": words, "questions": asked, "status": project.status(), **about}


@router.get("/a/{token}/history", include_in_schema=False)
def history_page(link: LinkPart, start: Start = 0) -> HTMLResponse:
    """Show a person's own answers, to edit."""
    project, person = link
    return page(
        "history.html", project=project.project, person=person, status=project.status(), tab="history",
        **with_cards(project, part_of(lines_of(project, person.id), start)), n_contradictions=0,
        base=f"/api/a/{person.token}", is_owner=False,
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


def with_cards(project: Any, part: dict[str, Any]) -> dict[str, Any]:
    """Add what there is to see or hear of the rows to the answers of a page."""
    return part | {"lines": [line | {"cards": project.cards(line["rows"])} for line in part["lines"]]}


def lines_of(project: Any, person: int | None = None) -> list[dict[str, Any]]:
    """Return the history, of all people or of one, as lines of a table, the last answer first."""
    people = project.people()
    answers = project.answers()
    with project.lock:
        done = list(project.standing.acts.values())
    every = sorted([*answers, *done], key=lambda one: -one.id) if done else answers[::-1]
    said = [kept for kept in every if person is None or kept.person == person]
    return [
        _line_of_act(project, kept, people[kept.person].name, place // _LINES * _LINES)
        if isinstance(kept, Done)
        else {
            "id": kept.id, "person_id": kept.person, "person": people[kept.person].name, "rows": list(kept.rows),
            "ids": [project.rows.ids[row] for row in kept.rows], "answer": said_by(project, kept), "at": kept.at,
            "seconds": None if kept.seconds != kept.seconds else kept.seconds, "correction": kept.correction,
            "is_edited": kept.is_edited, "words": choices_of(project, kept), "start": place // _LINES * _LINES,
        }
        for place, kept in enumerate(said)
    ]  # fmt: skip


def _line_of_act(project: Any, kept: Done, who: str, start: int) -> dict[str, Any]:
    """Return what a person did with piles as a line of the history: it can be taken back."""
    rows = list(kept.act.rows[:_SHOWN])
    return {
        "id": kept.id, "person_id": kept.person, "person": who, "rows": rows,
        "ids": [project.rows.ids[row] for row in rows], "answer": said_of(project, kept), "at": kept.at,
        "seconds": None if kept.seconds != kept.seconds else kept.seconds, "correction": False, "is_edited": False,
        "words": [], "start": start,
    }  # fmt: skip


def said_by(project: Any, kept: Any) -> str:
    """Return what an answer says, a label as people call it."""
    called = project.cluster_names() if len(kept.rows) == 1 else {}
    name = str(called.get(kept.answer, kept.answer))
    return f"not {name}" if kept.is_not else name


def choices_of(project: Any, kept: Any) -> list[str]:
    """Return the other answers that were possible."""
    return [*project.words_of_row(kept.rows[0]), "unsure"] if len(kept.rows) == 1 else list(words_of(len(kept.rows)))
