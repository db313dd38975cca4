"""Files: the style and script of all pages, pictures and sounds of rows by number, and what a project hands over."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from sidelight.app.jobs.output import csv_text
from sidelight.app.report.page import asset
from sidelight.app.studio.rows import type_of
from sidelight.app.studio.studio import RESERVED
from sidelight.app.studio.taking import bring_pairs, label_studio, labels_table, merged_table, notes_table
from sidelight.app.studio.web.pages import Number, ProjectPart, StudioPart
from sidelight.app.studio.web.security import OWNER_COOKIE, Access, Guesses, cookie_of, cookies
from sidelight.errors import CannotWrite, InvalidData, TooLarge, UnknownName

router = APIRouter()
_STATIC = {
    "page.css": "text/css", "page.js": "text/javascript", "studio.css": "text/css", "studio.js": "text/javascript",
    "ask.js": "text/javascript", "sort.js": "text/javascript", "map.js": "text/javascript", "new.js": "text/javascript",
    "tags.js": "text/javascript",
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


_MOST_BYTES = 20_000_000  # of answers that are brought
_BROUGHT = (".csv", ".tsv", ".txt", ".parquet", ".json")


@router.get("/p/{number}/merged.csv", tags=["seeing"])
def merged_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return one table with a line for each row: cluster, probability, what people said, notes."""
    return csv_file(merged_table(project), "merged.csv", disarm)


@router.get("/p/{number}/notes.csv", tags=["seeing"])
def notes_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return every note on a row."""
    return csv_file(notes_table(project), "notes.csv", disarm)


@router.get("/p/{number}/labels.csv", tags=["seeing"])
def labels_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return every label that people gave rows."""
    return csv_file(labels_table(project), "labels.csv", disarm)


@router.get("/p/{number}/label-studio.json", tags=["seeing"])
def label_studio_file(project: ProjectPart) -> Response:
    """Return rows and answers as tasks of Label Studio."""
    return Response(
        json.dumps(label_studio(project), ensure_ascii=False),
        media_type="application/json",
        headers={"content-disposition": 'attachment; filename="label-studio.json"'},
    )


@router.post("/api/projects/{number}/import", tags=["projects"])
def bring(
    project: ProjectPart,
    answers: Annotated[UploadFile, File(description="pairs as a table, or tasks of Label Studio as JSON")],
    name: Annotated[str, Form(min_length=1, max_length=80, description="whose answers they are")] = "brought",
) -> dict[str, Any]:
    """Take answers about two rows that were given elsewhere."""
    ending = PurePosixPath((answers.filename or "").replace("\\", "/")).suffix.lower()
    if ending not in _BROUGHT:
        raise InvalidData(f"Answers come as one of {', '.join(_BROUGHT)}. Got {answers.filename!r:.80}.")
    if name.strip().casefold() in RESERVED:
        raise InvalidData(f"{name.strip()!r} is a name that the studio uses itself. Choose another one.")
    if answers.size is None or answers.size > _MOST_BYTES:
        raise TooLarge(f"At most {_MOST_BYTES / 1e6:g} MB of answers can be sent at once.")
    with tempfile.TemporaryDirectory(prefix="sidelight-upload-") as folder:
        place = Path(folder) / f"answers{ending}"
        try:
            with open(place, "wb") as handle:
                shutil.copyfileobj(answers.file, handle)
        except OSError as error:
            raise CannotWrite(f"Cannot keep what was sent: {error.strerror}. Nothing was changed.") from error
        return {"new": bring_pairs(project, place, name)}


def csv_file(columns: dict[str, list[Any]], name: str, disarm: bool) -> Response:
    """Return columns as a file to keep."""
    return Response(
        csv_text(columns, disarm=disarm),
        media_type="text/csv",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
