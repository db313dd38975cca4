"""A new project from the page: what was sent is described as a form, then made, both in a process with limits."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute

from sidelight.app.studio.uploads import (
    IMAGE_ENDINGS,
    MATERIAL_ENDINGS,
    TABLE_ENDINGS,
    describe_sent,
    write_sent,
)
from sidelight.app.studio.web.pages import StudioPart, page
from sidelight.errors import CannotWrite, InvalidData, SidelightError
from sidelight.files.limited import limited
from sidelight.words import Setting

_MOST_FILES = 5000  # of one upload
_MOST_FIELDS = 100  # of a form beside them
_MOST_SAID = 20_000  # characters of what is said about columns
_WORDS = {
    "id": "choose “names each row” for a column",
    "show": "choose “shown to people” for a column",
    "label": "choose “known class” for a column",
    "ignore": "choose “not used” for the column",
    "features": "choose “number that is used” for a column",
    "yes": "answer the question in the form",
}  # what the form calls the settings of a table
_GAPS = {"mean": "“take the mean of the column”", "drop": "“leave the row out”", "error": "“stop”"}


def in_form(setting: Setting) -> str:
    """Return what the form calls a setting."""
    if setting.name == "missing":
        return f"choose {_GAPS.get(str(setting.value), 'what to do')} for empty cells"
    words = _WORDS.get(setting.name)
    if words is None:
        return f"make the project with `sidelight studio new`, which has a setting for it ({setting.name})"
    return words if setting.value in (None, True) else f"{words} ({setting.value})" if setting.value else words


class _LargeForm(Request):
    """A request whose form may have as many files as a project takes; by default it would be a thousand."""

    def form(self, **limits: Any) -> Any:
        """Read the form."""
        return super().form(max_files=_MOST_FILES + 10, max_fields=_MOST_FIELDS)


class _UploadRoute(APIRoute):
    """A route that takes large forms."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer = super().get_route_handler()

        async def answer_large(request: Request) -> Response:
            return await answer(_LargeForm(request.scope, request.receive))

        return answer_large


router = APIRouter(route_class=_UploadRoute)


@router.get("/new", include_in_schema=False)
def new_page() -> HTMLResponse:
    """Show how to make a project."""
    return page(
        "new.html", tables=",".join(TABLE_ENDINGS), images=",".join(IMAGE_ENDINGS), others=",".join(MATERIAL_ENDINGS),
    )  # fmt: skip


@router.post("/api/describe", tags=["projects"])
def describe_table(table: Annotated[UploadFile, File()]) -> dict[str, Any]:
    """Say what a table is understood as, as the fields of a form; nothing is kept."""
    with in_words_of_the_form(), _kept(table, [], []) as sent:
        found: dict[str, Any] = limited(describe_sent, sent.table)
        return found


@router.post("/api/projects", tags=["projects"])
def new_project(
    studio: StudioPart,
    name: Annotated[str, Form(min_length=1, max_length=80)],
    table: Annotated[UploadFile | None, File()] = None,
    images: Annotated[list[UploadFile] | None, File()] = None,
    material: Annotated[list[UploadFile] | None, File(description="recordings or texts, to be cut into rows")] = None,
    kind: Annotated[Literal["pair", "triplet"], Form()] = "pair",
    strategy: Annotated[Literal["rows", "pairs", "info", "uncertain", "random"], Form()] = "rows",
    clusters: Annotated[str, Form(max_length=6)] = "",
    columns: Annotated[str, Form(max_length=400, description="columns to show, separated by commas")] = "",
    roles: Annotated[str, Form(max_length=_MOST_SAID, description="what the columns are, as JSON")] = "",
) -> dict[str, Any]:
    """Make a project from a table, from pictures, recordings or texts, or from a table that names pictures."""
    if clusters and not (clusters.isascii() and clusters.isdigit()):
        raise InvalidData(f"The number of clusters is a whole number, or left empty. Got {clusters!r}.")
    pictures, others = ([upload for upload in some or [] if upload.filename] for some in (images, material))
    if len(pictures) + len(others) > _MOST_FILES:
        raise InvalidData(f"At most {_MOST_FILES} images can be sent at once. Use `sidelight studio new` for more.")
    said = _said(roles, [c.strip() for c in columns.split(",") if c.strip()])
    settings = {"by": "auto", "kind": kind, "strategy": strategy, "clusters": int(clusters) if clusters else None}
    with in_words_of_the_form(), _kept(table, pictures, others) as sent:
        made = studio.add_written(
            name, settings, lambda place: limited(write_sent, place, sent.table, sent.images, sent.material, said)
        )
    return {"id": made.id, "name": made.name, "notes": made.settings["notes"], "go": f"/p/{made.id}"}


@contextmanager
def in_words_of_the_form() -> Iterator[None]:
    """Let errors about a table advise in the words of the form."""
    try:
        yield
    except SidelightError as error:
        if not error.do:
            raise
        raise type(error)(error.told(in_form), who="") from error


def _said(roles: str, columns: list[str]) -> dict[str, Any]:
    """Read what the form says about columns."""
    try:
        said = json.loads(roles) if roles else {}
    except ValueError as error:
        raise InvalidData(f"What is said about the columns is no JSON: {error}.") from error
    if not isinstance(said, dict):
        raise InvalidData('What is said about the columns is a mapping, such as {"id": "segment"}.')
    for name in ("label_file", "max_memory", "format", "encoding"):
        if name in said:
            raise InvalidData(f"The form has no field {name!r}.")
    return said | ({"show": columns} if columns else {})


@dataclass
class Sent:
    """Where the files of an upload are kept while they are read."""

    table: Path | None = None
    images: dict[str, Path] = field(default_factory=dict)
    material: Path | None = None


@contextmanager
def _kept(table: UploadFile | None, images: list[UploadFile], material: list[UploadFile]) -> Iterator[Sent]:
    """Write uploads into a folder of their own, under numbers; what they are called stays a key."""
    sent = Sent()
    with tempfile.TemporaryDirectory(prefix="sidelight-upload-") as folder:
        try:
            if table is not None and table.filename:
                ending = _ending(table, TABLE_ENDINGS, "A table")
                sent.table = Path(folder) / "table" / f"table{ending}"  # alone: it finds nothing beside it
                _copy(table, sent.table)
            for number, upload in enumerate(images):
                called = (upload.filename or "").replace("\\", "/")
                ending = _ending(upload, IMAGE_ENDINGS, "An image")
                if called in sent.images:
                    raise InvalidData(f"Two images are called {called!r:.80}; names must differ. Nothing was made.")
                sent.images[called] = Path(folder) / f"{number}{ending}"
                _copy(upload, sent.images[called])
            if material:
                sent.material = Path(folder) / "material" / "files"
                for upload in material:
                    _copy(upload, _plain_place(sent.material, upload))
        except OSError as error:
            raise CannotWrite(f"Cannot keep what was sent: {error.strerror}. Nothing was made.") from error
        yield sent


def _ending(upload: UploadFile, known: tuple[str, ...], what: str) -> str:
    """Return the ending of a file's name, if it is a known one."""
    called = (upload.filename or "").replace("\\", "/")
    ending = PurePosixPath(called).suffix.lower()
    if ending not in known:
        raise InvalidData(f"{what} is one of {', '.join(known)}. Got {called!r:.80}.")
    return ending


def _plain_place(folder: Path, upload: UploadFile) -> Path:
    """Return where a recording or text goes: rows are named by it, so it keeps its plain letters, and no folder."""
    ending = _ending(upload, MATERIAL_ENDINGS, "A recording or text")
    stem = re.sub(r"[^\w-]+", "_", PurePosixPath((upload.filename or "").replace("\\", "/")).stem)[:60].strip("_.")
    place = folder / f"{stem or 'file'}{ending}"
    number = 2
    while place.exists():
        place = folder / f"{stem or 'file'}_{number}{ending}"
        number += 1
    return place


def _copy(upload: UploadFile, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place, "wb") as handle:
        shutil.copyfileobj(upload.file, handle)
