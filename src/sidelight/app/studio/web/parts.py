"""What routes need of a request: the studio, a project, a person."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.exceptions import HTTPException

from sidelight.app.store.studio_store import Person
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.studio import Studio
from sidelight.errors import InvalidData

_MOST = 2**31 - 1  # the largest number that both databases keep


def studio_of(request: Request) -> Studio:
    """Return the studio that this server serves."""
    studio: Studio = request.app.state.studio
    return studio


def project_of(request: Request, number: Annotated[int, Path(ge=1, le=_MOST)]) -> OpenProject:
    """Return the project of the address."""
    return studio_of(request).project(number)


StudioPart = Annotated[Studio, Depends(studio_of)]
ProjectPart = Annotated[OpenProject, Depends(project_of)]


def run_of(project: ProjectPart) -> RunProject:
    """Return the project of the address, which has to be one of a run."""
    if not isinstance(project, RunProject):
        raise InvalidData("This project was not made from the results of a run, so there is no run to repeat.")
    return project


def link_of(request: Request, token: Annotated[str, Path(min_length=8, max_length=64)]) -> tuple[OpenProject, Person]:
    """Return the project and the person of a link; who may only look changes nothing by it."""
    project, person = studio_of(request).of(token)
    if person.role == "viewer" and request.method not in ("GET", "HEAD"):
        raise HTTPException(403, "Your link lets you look at this project, not change it.")
    return project, person


RunPart = Annotated[RunProject, Depends(run_of)]
LinkPart = Annotated[tuple[OpenProject, Person], Depends(link_of)]
Number = Annotated[int, Path(ge=0, le=_MOST)]
