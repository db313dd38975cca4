"""What routes need of a request, and from what a route found to a page: one frame, one template a page, errors too."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path, PurePath
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi import Path as PathPart
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.exceptions import HTTPException

from sidelight.app.report.components import number, percent
from sidelight.app.store.studio_store import Person
from sidelight.app.studio.project import AnsweredAlready, OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web.security import role_now
from sidelight.errors import (
    CannotWrite,
    InvalidData,
    InvalidInput,
    MissingExtra,
    OutputExists,
    SidelightError,
    TooLarge,
    UnknownName,
)
from sidelight.words import counted


@cache
def _environment(more: Path | None) -> Environment:
    folders = [package_files("sidelight.app.studio.web") / "templates", *([more] if more else [])]
    items = [item for folder in folders for item in folder.iterdir() if item.name.endswith(".html")]
    texts = {item.name: item.read_text(encoding="utf-8") for item in items}
    made = Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters.update(number=number, percent=percent, rows=_in_rows, bag=_bag_word)
    return made


_WORDS = {"pictures": ("region", "photograph"), "sounds": ("sound", "recording"), "texts": ("text", "file")}


def _words(project: Any) -> tuple[str, str]:
    """Return what a row and a bag of a project are called, where it knows what they are."""
    return _WORDS.get(str(project.settings.get("material", "")), ("row", "bag"))


def _in_rows(n: int, project: Any) -> str:
    """Return a number of rows in the words of the material: 3 sounds."""
    return counted(n, _words(project)[0])


def _bag_word(project: Any) -> str:
    return _words(project)[1]


def page(template: str, *, code: int = 200, folder: Path | None = None, **content: Any) -> HTMLResponse:
    """Return a page made from a template, of the studio or of a ``folder``; whatever data says is escaped."""
    given: dict[str, Any] = {"project": None, "status": None, "person": None, "tab": "", "role": role_now.get()}
    return HTMLResponse(_environment(folder).get_template(template).render(given | content), status_code=code)


def status_of(error: Exception) -> int:
    """Return the status code of an error, by its class."""
    if isinstance(error, UnknownName):
        return 404
    if isinstance(error, (OutputExists, AnsweredAlready)):
        return 409
    if isinstance(error, TooLarge):
        return 413
    if isinstance(error, InvalidInput):
        return 422
    if isinstance(error, (CannotWrite, MissingExtra)):
        return 503
    return 500


def without_paths(words: str, studio: Studio) -> str:
    """Return a message without the places of files on the server, which do not belong in a browser."""
    where = studio.store.where
    words = words.replace(f" {where!r}", "").replace(where, "its database")
    for folder in (str(studio.folder.resolve()), str(studio.folder), tempfile.gettempdir()):
        if folder in (".", "/", ""):
            continue
        words = re.sub(re.escape(folder) + r"[^'\"\s,;:]*", lambda found: PurePath(found[0]).name, words)
    return words


def told(request: Request, error: SidelightError) -> Response:
    """Return an error as JSON for programs and scripts, as a page for people."""
    words, code = without_paths(error.told(str), request.app.state.studio), status_of(error)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": words}, status_code=code)
    return page("error.html", code=code, title="This did not work", words=words)


_MOST = 2**31 - 1  # the largest number that both databases keep


def studio_of(request: Request) -> Studio:
    """Return the studio that this server serves."""
    studio: Studio = request.app.state.studio
    return studio


def project_of(request: Request, number: Annotated[int, PathPart(ge=1, le=_MOST)]) -> OpenProject:
    """Return the project of the address."""
    return studio_of(request).project(number)


StudioPart = Annotated[Studio, Depends(studio_of)]
ProjectPart = Annotated[OpenProject, Depends(project_of)]


def run_of(project: ProjectPart) -> RunProject:
    """Return the project of the address, which has to be one of a run."""
    if not isinstance(project, RunProject):
        raise InvalidData("This project was not made from the results of a run, so there is no run to repeat.")
    return project


def link_of(
    request: Request, token: Annotated[str, PathPart(min_length=8, max_length=64)]
) -> tuple[OpenProject, Person]:
    """Return the project and the person of a link; who may only look changes nothing by it."""
    project, person = studio_of(request).of(token)
    if person.role == "viewer" and request.method not in ("GET", "HEAD"):
        raise HTTPException(403, "Your link lets you look at this project, not change it.")
    return project, person


RunPart = Annotated[RunProject, Depends(run_of)]
LinkPart = Annotated[tuple[OpenProject, Person], Depends(link_of)]
Number = Annotated[int, PathPart(ge=0, le=_MOST)]
