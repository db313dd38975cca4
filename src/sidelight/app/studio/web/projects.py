"""Projects: the list, a new one from a table or from images, and the overview of one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from sidelight.app.report.components import lines
from sidelight.app.studio.overview import overview_of
from sidelight.app.studio.run.writing import write_back
from sidelight.app.studio.settings import STRATEGIES
from sidelight.app.studio.uploads import IMAGE_ENDINGS, TABLE_ENDINGS, source_of
from sidelight.app.studio.web.pages import page
from sidelight.app.studio.web.parts import ProjectPart, StudioPart
from sidelight.errors import CannotWrite, InvalidData

_MOST_FILES = 5000  # of one upload
_MOST_FIELDS = 100  # of a form beside them


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


class Simulation(BaseModel):
    """How many questions a simulated person answers."""

    n: Annotated[int, Field(ge=1, le=100)] = 20


@router.get("/", include_in_schema=False)
def home(studio: StudioPart) -> HTMLResponse:
    """Show every project, and how to make one."""
    listed = projects(studio)["projects"]
    return page(
        "home.html", projects=listed, strategies=[name for name in STRATEGIES if name != "fixed"],
        tables=", ".join(TABLE_ENDINGS), images=",".join(IMAGE_ENDINGS),
    )  # fmt: skip


@router.get("/api/projects", tags=["projects"])
def projects(studio: StudioPart) -> dict[str, Any]:
    """Return every project."""
    return {
        "projects": [
            {"id": p.id, "name": p.name, "made_at": p.made_at, "is_study": bool(p.settings.get("is_study"))}
            for p in studio.store.projects()
        ]
    }


@router.post("/api/projects", tags=["projects"])
def new_project(
    studio: StudioPart,
    name: Annotated[str, Form(min_length=1, max_length=80)],
    table: Annotated[UploadFile | None, File()] = None,
    images: Annotated[list[UploadFile] | None, File()] = None,
    kind: Annotated[Literal["pair", "triplet"], Form()] = "pair",
    strategy: Annotated[Literal["rows", "pairs", "info", "uncertain", "random"], Form()] = "rows",
    clusters: Annotated[str, Form(max_length=6)] = "",
    columns: Annotated[str, Form(max_length=400, description="columns to show, separated by commas")] = "",
) -> dict[str, Any]:
    """Make a project from a table, from images, or from a table that names images."""
    if clusters and not (clusters.isascii() and clusters.isdigit()):
        raise InvalidData(f"The number of clusters is a whole number, or left empty. Got {clusters!r}.")
    named = [upload for upload in images or [] if upload.filename]
    if len(named) > _MOST_FILES:
        raise InvalidData(f"At most {_MOST_FILES} images can be sent at once. Use `sidelight studio new` for more.")
    settings = {"kind": kind, "strategy": strategy, "clusters": int(clusters) if clusters else None}
    with _kept(table, named) as (table_path, image_paths):
        source = source_of(table_path, image_paths, [c.strip() for c in columns.split(",") if c.strip()])
        made = studio.add(name, source, settings)
    return {"id": made.id, "name": made.name, "notes": made.settings["notes"], "go": f"/p/{made.id}"}


@router.get("/p/{number}", include_in_schema=False)
def project_page(project: ProjectPart) -> HTMLResponse:
    """Show how far a project is."""
    status = project.status(fresh=True)
    seen = overview_of(project, status)
    curve = project.model.curve
    drawn = None
    if len(curve) > 1:
        drawn = lines(
            [n for n, _ in curve], {"agreement": [value for _, value in curve]},
            "Agreement with the key (adjusted Rand index: 1 is perfect, 0 is chance) as answers came in.",
            alt=f"After {curve[-1][0]} answers the agreement is {curve[-1][1]:.2f}.", x_title="answers",
            y_title="agreement", is_share=False,
        )  # fmt: skip
    return page(
        "project.html", project=project.project, status=status, curve=drawn, tab="project",
        notes=project.project.settings.get("notes", []), saved=project.saved_sentence(status),
        can_simulate=bool(project.project.settings.get("is_demo")) and project.rows.truth is not None, **seen,
    )  # fmt: skip


@router.get("/api/projects/{number}", tags=["projects"])
def overview(project: ProjectPart) -> dict[str, Any]:
    """Return how far a project is, and the agreement with its key so far."""
    return {"status": project.status(), "curve": project.model.curve, "settings": dict(project.project.settings)}


@router.get("/p/{number}/ask", include_in_schema=False)
def ask_as_owner(project: ProjectPart) -> Response:
    """Go to the owner's own link."""
    return RedirectResponse(f"/a/{project.owner().token}", status_code=303)


@router.post("/api/projects/{number}/simulate", tags=["projects"])
def simulate(project: ProjectPart, simulation: Simulation) -> dict[str, Any]:
    """Let a simulated person, who knows the key, answer questions."""
    return {"answered": project.simulate(simulation.n), "status": project.status(fresh=True)}


@router.post("/api/projects/{number}/write-back", tags=["projects"])
def back(project: ProjectPart) -> dict[str, Any]:
    """Write names, answers and corrections into the results folder that the project was made from."""
    return {"files": write_back(project)}


@router.get("/api/projects/{number}/run", tags=["projects"])
def run_state(project: ProjectPart) -> dict[str, Any]:
    """Return how far a run is that was started from the page, and what the last one changed."""
    return project.again.as_dict()


@router.post("/api/projects/{number}/run", tags=["projects"])
def run_again(project: ProjectPart) -> dict[str, Any]:
    """Run the job of the project's results again, with everything that people said."""
    project.again.begin(project, project.owner())
    return project.again.as_dict()


@contextmanager
def _kept(table: UploadFile | None, images: list[UploadFile]) -> Iterator[tuple[Path | None, dict[str, Path]]]:
    """Write uploads into a folder of their own, under numbers; what they are called stays a key."""
    with tempfile.TemporaryDirectory(prefix="sidelight-upload-") as folder:
        try:
            table_path = None
            if table is not None and table.filename:
                ending = PurePosixPath(table.filename.replace("\\", "/")).suffix.lower()
                if ending not in TABLE_ENDINGS:
                    raise InvalidData(f"A table is one of {', '.join(TABLE_ENDINGS)}. Got {table.filename!r:.80}.")
                table_path = Path(folder) / "table" / f"table{ending}"  # alone: it finds nothing beside it
                table_path.parent.mkdir()
                with open(table_path, "wb") as handle:
                    shutil.copyfileobj(table.file, handle)
            paths = {}
            for number, upload in enumerate(images):
                called = (upload.filename or "").replace("\\", "/")
                ending = PurePosixPath(called).suffix.lower()
                if ending not in IMAGE_ENDINGS:
                    raise InvalidData(f"An image is one of {', '.join(IMAGE_ENDINGS)}. Got {called!r:.80}.")
                if called in paths:
                    raise InvalidData(f"Two images are called {called!r:.80}; names must differ. Nothing was made.")
                paths[called] = Path(folder) / f"{number}{ending}"
                with open(paths[called], "wb") as handle:
                    shutil.copyfileobj(upload.file, handle)
        except OSError as error:
            raise CannotWrite(f"Cannot keep what was sent: {error.strerror}. Nothing was made.") from error
        yield table_path, paths
