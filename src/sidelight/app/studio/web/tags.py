"""Tags: the page on which tags of photographs are confirmed and refused, for the owner and for people with a link."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, Field

from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.tags import keep_tags, tags_shown, tags_since, tags_table, with_tags
from sidelight.app.studio.web.files import csv_file
from sidelight.app.studio.web.pages import LinkPart, ProjectPart, page
from sidelight.app.studio.web.security import cookie_of

router = APIRouter()
Label = Annotated[str, Field(max_length=200)]
Start = Annotated[int, Query(ge=0, le=10**6)]
After = Annotated[int, Query(ge=0, le=2**62, description="the last event that the page knows")]


class NewTags(BaseModel):
    """What is said of tags of a photograph: true is there, false is not, null is open again; "": these are all."""

    bag: Annotated[str, Field(min_length=1, max_length=2000)]
    said: Annotated[dict[Label, bool | None], Field(min_length=1, max_length=200)]


@router.get("/p/{number}/tags", include_in_schema=False)
def tags_page(project: ProjectPart) -> HTMLResponse:
    """Show photographs with their tags and suggestions, to the owner and to who may look."""
    return _page(with_tags(project), f"/api/projects/{project.project.id}/tags")


@router.get("/a/{token}/tags", include_in_schema=False)
def tags_page_of(link: LinkPart) -> HTMLResponse:
    """Show photographs with their tags and suggestions to a person with a link."""
    project, person = link
    shown = _page(with_tags(project), f"/api/a/{person.token}/tags", person)
    shown.set_cookie(cookie_of(person.project), person.token, httponly=True, samesite="lax")
    return shown


@router.get("/api/projects/{number}/tags", tags=["tags"])
def tags(project: ProjectPart, start: Start = 0, without: bool = False) -> dict[str, Any]:
    """Return photographs with their tags and suggestions, twelve at a time; ``without``: those that had none."""
    return tags_shown(with_tags(project), is_open=without, start=start)


@router.get("/api/a/{token}/tags", tags=["tags"])
def tags_of(link: LinkPart, start: Start = 0, without: bool = False) -> dict[str, Any]:
    """Return photographs with their tags and suggestions to a person with a link."""
    return tags_shown(with_tags(link[0]), is_open=without, start=start)


@router.get("/api/projects/{number}/tags/news", tags=["tags"])
def news(project: ProjectPart, after: After = 0) -> dict[str, Any]:
    """Return the photographs of which anybody said something after an event."""
    return tags_since(with_tags(project), after)


@router.get("/api/a/{token}/tags/news", tags=["tags"])
def news_of(link: LinkPart, after: After = 0) -> dict[str, Any]:
    """Return the photographs of which anybody said something after an event, to a person with a link."""
    return tags_since(with_tags(link[0]), after)


@router.post("/api/projects/{number}/tags", tags=["tags"])
def say(project: ProjectPart, new: NewTags, after: After = 0) -> dict[str, Any]:
    """Keep which tags a photograph has; what others said meanwhile comes with the answer."""
    found = with_tags(project)
    keep_tags(found, found.owner(), new.bag, new.said)
    return tags_since(found, after)


@router.post("/api/a/{token}/tags", tags=["tags"])
def say_of(link: LinkPart, new: NewTags, after: After = 0) -> dict[str, Any]:
    """Keep which tags a photograph has by a person with a link."""
    found = with_tags(link[0])
    keep_tags(found, link[1], new.bag, new.said)
    return tags_since(found, after)


@router.get("/p/{number}/tags.csv", tags=["tags"])
def tags_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return the tags of every file, as a table of labels that every job takes; ``disarm`` as for the answers."""
    found = with_tags(project)
    found.events()
    return csv_file(tags_table(found), "tags.csv", disarm)


def _page(project: RunProject, base: str, person: Any = None) -> HTMLResponse:
    return page(
        "tags.html", project=project.project, person=person, status=project.status(), tab="tags", base=base,
        vocabulary=[label for label in project.vocabulary() if not label.startswith("novel-")],
    )  # fmt: skip
