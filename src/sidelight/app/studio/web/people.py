"""People: who answers, with a link each, and how they agree."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from sidelight.app.studio.people import agreement_of_all, agreement_table, people_table
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.web.pages import page
from sidelight.app.studio.web.parts import ProjectPart, StudioPart

router = APIRouter()


class NewPerson(BaseModel):
    """A person who will answer."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    role: Literal["annotator", "viewer", "owner"] = "annotator"


class Share(BaseModel):
    """The share of questions that go to a second person."""

    share: Annotated[float, Field(ge=0, le=1)]


class Aside(BaseModel):
    """Whether the answers of a person are left out."""

    is_aside: bool


@router.get("/p/{number}/people", include_in_schema=False)
def people_page(project: ProjectPart) -> HTMLResponse:
    """Show all people with their link, their pace and their agreement."""
    return page(
        "people.html", project=project.project, status=project.status(), tab="people", **people(project),
        has_key=project.rows.truth is not None, share=project.model.second_share,
        can_share=project.model.kind != "triplet", shown=_shown(project),
    )  # fmt: skip


@router.get("/api/projects/{number}/people", tags=["people"])
def people(project: ProjectPart) -> dict[str, Any]:
    """Return all people, and how far every two of them agree."""
    return {
        "people": people_table(project), "agreement": agreement_table(project), "together": agreement_of_all(project)
    }  # fmt: skip


def _shown(project: OpenProject) -> dict[int, list[dict[str, Any]]]:
    """Return the answers of each person that the others do not share, with what there is to see of their rows."""
    found = {}
    for line in people_table(project):
        found[line["id"]] = [one | {"cards": project.cards(one["rows"])} for one in line["disagree"]]
    return found


@router.post("/api/projects/{number}/second-share", tags=["people"])
def second_share(project: ProjectPart, change: Share) -> dict[str, Any]:
    """Choose the share of questions that go to a second person."""
    project.set_second_share(change.share)
    return {"share": change.share}


@router.post("/api/projects/{number}/people", tags=["people"])
def new_person(studio: StudioPart, project: ProjectPart, new: NewPerson) -> dict[str, Any]:
    """Add a person; return their link."""
    person = studio.add_person(project.project.id, new.name, new.role)
    return {"name": person.name, "role": person.role, "token": person.token, "link": f"/a/{person.token}"}


@router.post("/api/projects/{number}/people/{person}/aside", tags=["people"])
def set_aside(project: ProjectPart, person: Annotated[int, Path(ge=0, le=2**31 - 1)], change: Aside) -> dict[str, Any]:
    """Leave the answers of a person out, or let them count again; they are kept either way."""
    project.set_aside(person, change.is_aside)
    return {"person": person, "is_aside": change.is_aside}
