"""The pages of studies: a participant's way through one, and what the owner sees of it."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi import Path as PathPart
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from sidelight.app.report.components import lines
from sidelight.app.store.studio_store import Person
from sidelight.app.studio.web import files, pages
from sidelight.app.studio.web.app import make_app
from sidelight.app.studio.web.asking import NewAnswer
from sidelight.app.studio.web.pages import Number
from sidelight.app.studio.web.projects import NewPerson
from sidelight.app.studio.web.security import Access, cookie_of, cookies
from sidelight.errors import UnknownName
from study.analysis import STEPS, clusterings, tables
from study.study import CHOICES, FACTORS, OpenStudy, Studies

router = APIRouter()
page = partial(pages.page, folder=Path(__file__).parent / "templates")
_OPEN = ("/s/", "/api/s/", "/study-media/")  # paths that ask for no owner; media look for themselves
Choice = Annotated[str, Field(pattern="^(pair|triplet|none)$")]


class NewStudy(BaseModel):
    """A study of pairs against triplets on the bundled digits and on generated pictures."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    pairs: Annotated[int, Field(ge=6, le=1000)] = 195
    triplets: Annotated[int, Field(ge=6, le=1000)] = 130
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0


class Participants(BaseModel):
    """How many participants are simulated."""

    n: Annotated[int, Field(ge=1, le=48)] = 24


class Clusterings(BaseModel):
    """By how many participants' answers rows are clustered for figure 3.9."""

    participants: Annotated[int, Field(ge=1, le=48)] = 3


class Survey(BaseModel):
    """The questionnaire after the tasks."""

    performance: Choice
    effort_query: Choice
    effort_all: Choice
    frustration: Choice
    preference: Choice
    comment: Annotated[str, Field(max_length=2000)] = ""


def study_of(request: Request, number: Annotated[int, PathPart(ge=1, le=2**31 - 1)]) -> OpenStudy:
    """Return the study of the address."""
    studies: Studies = request.app.state.studio
    return studies.study(number)


def participant_of(
    request: Request, token: Annotated[str, PathPart(min_length=8, max_length=64)]
) -> tuple[OpenStudy, Person]:
    """Return the study and the participant of a link."""
    studies: Studies = request.app.state.studio
    person = studies.store.person_of(token)
    return studies.study(person.project), person


StudyPart = Annotated[OpenStudy, Depends(study_of)]
ParticipantPart = Annotated[tuple[OpenStudy, Person], Depends(participant_of)]


def app_of(studies: Studies, access: Access | None = None, *, begin: str = "/") -> Any:
    """Return the application that serves the studies of a folder."""
    return make_app(studies, access, begin=begin, routes=(router, files.router), open_to_all=_OPEN)


@router.get("/", include_in_schema=False)
def home(request: Request) -> Response:
    """Go to the study that was made last."""
    studies: Studies = request.app.state.studio
    numbers = [project.id for project in studies.store.projects() if project.settings.get("is_study")]
    if not numbers:
        raise UnknownName("There is no study in this folder yet.")
    return RedirectResponse(f"/studies/{numbers[-1]}", status_code=303)


# -- participants ------------------------------------------------------------------------------------------------------


@router.get("/s/{token}", include_in_schema=False)
def participant_page(link: ParticipantPart) -> HTMLResponse:
    """Show the part of the study at which a participant is."""
    study, person = link
    where = study.where(person)
    about: dict[str, Any] = {
        "project": study.project,
        "token": person.token,
        "counts": study.counts,
        "sets": study.set_names,
    }
    if where["step"] in ("practice", "task"):
        shown = study.shown(person)
        answer = page(
            "study_task.html", **about, where=shown["where"], kind=where["kind"], status=shown["status"],
            part=shown["part"], reference=study.reference(where["set"]),
            has_unsure=bool(study.settings.get("unsure")),
        )  # fmt: skip
    else:
        answer = page("study_step.html", **about, step=where["step"], factors=FACTORS, choices=CHOICES)
    answer.set_cookie(cookie_of(person.project), person.token, httponly=True, samesite="lax")
    return answer


@router.get("/api/s/{token}", tags=["studies"])
def participant(link: ParticipantPart) -> dict[str, Any]:
    """Return where a participant is, and the open questions."""
    return link[0].shown(link[1])


@router.post("/api/s/{token}/begin", tags=["studies"])
def begin(link: ParticipantPart) -> dict[str, Any]:
    """Take note that the introduction was read."""
    link[0].begin(link[1])
    return link[0].shown(link[1])


@router.post("/api/s/{token}/answers", tags=["studies"])
def answer(link: ParticipantPart, new: NewAnswer) -> dict[str, Any]:
    """Keep an answer with its time."""
    study, person = link
    seconds = float("nan") if new.seconds is None else min(new.seconds, 3600.0)
    words = study.answer(person, new.rows, new.answer, seconds=seconds, key=new.key)
    return {"saved": True, "words": words, **study.shown(person)}


@router.post("/api/s/{token}/questionnaire", tags=["studies"])
def questionnaire(link: ParticipantPart, survey: Survey) -> dict[str, Any]:
    """Keep the questionnaire; the study of this participant is over."""
    chosen = survey.model_dump()
    link[0].finish(link[1], chosen, chosen.pop("comment"))
    return {"go": f"/s/{link[1].token}"}


@router.get("/study-media/{number}/{which}/{row}/{part}", include_in_schema=False)
def study_media(request: Request, study: StudyPart, which: Number, row: Number, part: str) -> Response:
    """Return the picture of a row of one of the sets."""
    headers = dict(request.scope["headers"])
    access: Access = request.app.state.access
    if not access.is_owner(headers):
        person = study.store.person_of(cookies(headers).get(cookie_of(study.project.id), ""))
        if person.project != study.project.id:
            raise UnknownName("There is no such picture.")
    if which >= len(study.sets):
        raise UnknownName("There is no such set.")
    path, kind = study.sets[which].file(row, part)
    return FileResponse(path, media_type=kind, headers={"cache-control": "private, max-age=86400, immutable"})


# -- the owner ---------------------------------------------------------------------------------------------------------


@router.post("/api/studies", tags=["studies"])
def new_study(request: Request, new: NewStudy) -> dict[str, Any]:
    """Make a study."""
    studies: Studies = request.app.state.studio
    made = studies.add_study(new.name, {"pair": new.pairs, "triplet": new.triplets}, seed=new.seed)
    return {"id": made.id, "name": made.name, "go": f"/studies/{made.id}"}


@router.get("/studies/{number}", include_in_schema=False)
def study_page(study: StudyPart) -> HTMLResponse:
    """Show the participants of a study and their links."""
    return page("study.html", study=study.project, counts=study.counts, sets=study.set_names, **overview(study))


@router.get("/api/studies/{number}", tags=["studies"])
def overview(study: StudyPart) -> dict[str, Any]:
    """Return the participants of a study, and where they are."""
    people = study.store.people(study.project.id)
    finished = {event.person for event in study.events() if event.kind == "questionnaire"}
    listed = [
        {"name": p.name, "is_simulated": p.is_simulated, "link": f"/s/{p.token}", "is_done": p.id in finished}
        for p in people
    ]
    return {"participants": listed, "simulated": any(p.is_simulated for p in people)}


@router.post("/api/studies/{number}/participants", tags=["studies"])
def new_participant(request: Request, study: StudyPart, new: NewPerson) -> dict[str, Any]:
    """Add a participant; return the link."""
    person = request.app.state.studio.add_person(study.project.id, new.name)
    return {"name": person.name, "link": f"/s/{person.token}"}


@router.post("/api/studies/{number}/simulate", tags=["studies"])
def simulate(study: StudyPart, people: Participants) -> dict[str, Any]:
    """Add simulated participants, with the times and confusions of the thesis."""
    return {"added": study.simulate(people.n), "go": f"/studies/{study.project.id}/analysis"}


@router.post("/api/studies/{number}/clusterings", tags=["studies"])
def work_out(study: StudyPart, wanted: Clusterings) -> dict[str, Any]:
    """Cluster by the answers of some participants (figure 3.9), and keep the scores."""
    told = clusterings(study, wanted.participants)
    study.store.append(study.store.add_person(study.project.id, "you"), "clusterings", told)
    return told


@router.get("/api/studies/{number}/analysis", tags=["studies"])
def analysis(study: StudyPart) -> dict[str, Any]:
    """Return the numbers of tables 3.6 to 3.9 and figures 3.9 and 3.10."""
    kept = [event.content for event in study.events() if event.kind == "clusterings"]
    return _finite({**tables(study), "steps": list(STEPS), "clusterings": kept[-1] if kept else None})


@router.get("/studies/{number}/analysis", include_in_schema=False)
def analysis_page(study: StudyPart) -> Response:
    """Show tables 3.6 to 3.9 and figures 3.9 and 3.10."""
    found = analysis(study)
    if not found["participants"]:
        return RedirectResponse(f"/studies/{study.project.id}", status_code=303)
    title = f"{study.project.name}: what the study found"
    return page("analysis.html", study=study.project, figures=_figures(found), title=title, **found)


def _figures(found: dict[str, Any]) -> dict[str, Any]:
    percents = [100 * step for step in STEPS]
    called = {"rows": "answers (same number of rows looked at)", "time": "time (same time in both treatments)"}
    counts, scores = [], []
    for setting, words in called.items():
        for of_set in found["counts"]:
            series = {
                f"{m} {what}": of_set[f"{setting} {m} {what}"] for m in ("P", "R", "R-C") for what in ("all", "correct")
            }
            counts.append(
                lines(percents, series, f"{of_set['set']}: number of answers, by the share of {words}.",
                      alt=f"Numbers of answers on {of_set['set']}.", x_title="% used", y_title="answers")
            )  # fmt: skip
        for of_set in (found["clusterings"] or {"sets": []})["sets"]:
            series = {m: of_set[f"{setting} {m}"]["mean"] for m in ("P", "R", "R-C")}
            scores.append(
                lines(percents, series, f"{of_set['set']}: F-measure, by the share of {words}.",
                      alt=f"F-measure on {of_set['set']}.", x_title="% used", y_title="F-measure",
                      errors=of_set[f"{setting} P"]["error"])
            )  # fmt: skip
    return {"counts": counts, "scores": scores}


def _finite(content: Any) -> Any:
    """Return numbers that JSON has: no NaN."""
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return content
