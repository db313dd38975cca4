"""Projects: cards of all of them, the overview of one, its run, and the people who answer, with a link each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from sidelight.app.report.components import lines
from sidelight.app.studio.people import agreement_of_all, agreement_table, people_table
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.run.results import write_back
from sidelight.app.studio.seeing import overview_of
from sidelight.app.studio.studio import cards_of
from sidelight.app.studio.web.files import picture
from sidelight.app.studio.web.pages import Number, ProjectPart, RunPart, StudioPart, page
from sidelight.errors import InvalidData, UnknownName

router = APIRouter()


class NewName(BaseModel):
    """What a project is called."""

    name: Annotated[str, Field(min_length=1, max_length=80)]


class Archive(BaseModel):
    """Whether a project is out of sight."""

    is_archived: bool


class Deletion(BaseModel):
    """The name of a project, typed once more."""

    name: Annotated[str, Field(max_length=80)]


class Simulation(BaseModel):
    """How many questions a simulated person answers."""

    n: Annotated[int, Field(ge=1, le=100)] = 20


@router.get("/", include_in_schema=False)
def home(studio: StudioPart, archived: bool = False) -> HTMLResponse:
    """Show every project as a card."""
    cards = cards_of(studio)
    shown = [card for card in cards if card["is_archived"] == archived]
    return page(
        "home.html", projects=shown, is_archive=archived, n_archived=sum(card["is_archived"] for card in cards),
        preparing=studio.preparing,
    )  # fmt: skip


@router.get("/api/projects", tags=["projects"])
def projects(studio: StudioPart) -> dict[str, Any]:
    """Return every project."""
    return {"projects": cards_of(studio)}


@router.get("/cover/{number}/{place}", include_in_schema=False)
def cover(request: Request, studio: StudioPart, number: Number, place: Number) -> Response:
    """Return one of the pictures that show a project on its card."""
    project = studio.store.project(number)
    settings, names = project.settings, studio.cover_of(project).get("pictures", [])
    if place >= len(names) or "/" in names[place] or "\\" in names[place]:
        raise UnknownName("There is no such picture.")
    return picture(request, studio.folder / "projects" / str(settings["place"]) / "media" / names[place])


@router.post("/api/projects/{number}/name", tags=["projects"])
def rename(studio: StudioPart, number: Number, new: NewName) -> dict[str, Any]:
    """Call a project something else."""
    return {"id": number, "name": studio.rename(number, new.name).name}


@router.post("/api/projects/{number}/archive", tags=["projects"])
def archive(studio: StudioPart, number: Number, change: Archive) -> dict[str, Any]:
    """Put a project out of sight, or bring it back."""
    studio.archive(number, change.is_archived)
    return {"id": number, "is_archived": change.is_archived}


@router.get("/p/{number}/delete", include_in_schema=False)
def delete_page(studio: StudioPart, number: Number) -> HTMLResponse:
    """Ask whether a project is to go, and for its name."""
    card = next((card for card in cards_of(studio) if card["id"] == number), None)
    if card is None:
        raise UnknownName(f"There is no project {number}.")
    return page("delete.html", card=card)


@router.post("/api/projects/{number}/delete", tags=["projects"])
def delete(studio: StudioPart, number: Number, sure: Deletion) -> dict[str, Any]:
    """Remove a project whose name is given; everything that people did in it is written to a folder first."""
    name = studio.store.project(number).name
    if sure.name.strip() != name:
        raise InvalidData(f"Type the name of the project, {name!r}, to delete it. Nothing was deleted.")
    kept = studio.delete(number)
    return {"deleted": number, "kept": f"deleted/{kept.name}", "go": "/"}


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
def ask_as_owner(project: ProjectPart, by: Literal["auto", "piles", "pairs"] | None = None) -> Response:
    """Go to the owner's own link."""
    return RedirectResponse(f"/a/{project.owner().token}" + (f"?by={by}" if by else ""), status_code=303)


@router.post("/api/projects/{number}/simulate", tags=["projects"])
def simulate(project: ProjectPart, simulation: Simulation) -> dict[str, Any]:
    """Let a simulated person, who knows the key, answer questions."""
    return {"answered": project.simulate(simulation.n), "status": project.status(fresh=True)}


@router.post("/api/projects/{number}/write-back", tags=["projects"])
def back(project: ProjectPart) -> dict[str, Any]:
    """Write names, answers and corrections into the results folder that the project was made from."""
    return {"files": write_back(project)}


@router.get("/api/projects/{number}/run", tags=["projects"])
def run_state(project: RunPart) -> dict[str, Any]:
    """Return how far a run is that was started from the page, and what the last one changed."""
    return project.again.as_dict()


@router.post("/api/projects/{number}/run", tags=["projects"])
def run_again(project: RunPart) -> dict[str, Any]:
    """Run the job of the project's results again, with everything that people said."""
    project.again.begin(project, project.owner())
    return project.again.as_dict()


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
