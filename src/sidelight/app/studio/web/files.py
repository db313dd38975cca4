"""Files: the one style and script of all pages, the studio's own, and pictures and sounds of rows by number."""

from __future__ import annotations

from functools import cache
from importlib.resources import files as package_files
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from sidelight.app.report.page import asset
from sidelight.app.studio.rows import type_of
from sidelight.app.studio.web.guesses import Guesses
from sidelight.app.studio.web.parts import Number, ProjectPart, StudioPart
from sidelight.app.studio.web.security import OWNER_COOKIE, Access, cookie_of, cookies
from sidelight.errors import UnknownName

router = APIRouter()
_STATIC = {
    "page.css": "text/css", "page.js": "text/javascript", "studio.css": "text/css", "studio.js": "text/javascript",
    "ask.js": "text/javascript", "map.js": "text/javascript", "new.js": "text/javascript",
}  # fmt: skip


@router.get("/static/{name}", include_in_schema=False)
async def static(name: str) -> Response:
    """Return one of a few files; any other name is not there. It takes no thread, so it never waits for one."""
    if name not in _STATIC:
        raise UnknownName("There is no such file.")
    return Response(_text(name), media_type=_STATIC[name], headers={"cache-control": "no-cache"})


@router.get("/media/{number}/{row}/{part}", include_in_schema=False)
def media(request: Request, project: ProjectPart, studio: StudioPart, row: Number, part: str) -> Response:
    """Return the picture, sound or spectrogram of a row, to the owner and to people with a link to the project."""
    headers = dict(request.scope["headers"])
    access: Access = request.app.state.access
    if not access.is_owner(headers):
        person = studio.person_of(cookies(headers).get(cookie_of(project.project.id), ""))
        if person.project != project.project.id:
            raise UnknownName("There is no such picture.")
    return picture(request, *project.rows.file(row, part))


def picture(request: Request, path: Path, kind: str | None = None) -> Response:
    """Return a file of a project; a browser keeps it, and asks by its ETag whether it is still the same."""
    try:
        seen = path.stat()
    except OSError as error:
        raise UnknownName("There is no such picture.") from error
    headers = {"cache-control": "private, max-age=3600", "etag": f'"{seen.st_mtime_ns:x}-{seen.st_size:x}"'}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=kind or type_of(path.name), headers=headers, stat_result=seen)


@router.get("/begin", include_in_schema=False)
def begin(request: Request) -> Response:
    """Go to the page to begin with."""
    return RedirectResponse(request.app.state.begin, status_code=303)


@router.get("/enter", include_in_schema=False)
def enter(request: Request, token: str = "") -> Response:
    """Take the owner's token from the link that the studio printed, and keep it in a cookie."""
    answer = RedirectResponse(request.app.state.begin, status_code=303)
    access: Access = request.app.state.access
    if access.token:
        guesses: Guesses = request.app.state.guesses
        client = request.client.host if request.client else ""
        if guesses.are_too_many(client):
            raise HTTPException(429, "Too many wrong tokens came from here. Wait a minute, then open the printed link.")
        if not access.is_owner({b"authorization": f"Bearer {token}".encode("latin-1", "replace")}):
            guesses.note(client)
            raise UnknownName("This is not the token of this studio.")
        answer.set_cookie(OWNER_COOKIE, token, httponly=True, samesite="lax")
    return answer


@cache
def _text(name: str) -> str:
    if name.startswith("page"):
        return asset(name)
    return (package_files("sidelight.app.studio.web") / "static" / name).read_text(encoding="utf-8")
