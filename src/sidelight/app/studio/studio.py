"""The studio: a folder with a database and the rows of every project; projects are opened when they are needed."""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sidelight.app.store.studio_store import Activity, Person, Project, StudioStore
from sidelight.app.studio.learner import check_settings
from sidelight.app.studio.project import OWNER, SIMULATED, THE_RUN, OpenProject, QuestionProject
from sidelight.app.studio.rows import cover_of, read_rows
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.run.start import path_of
from sidelight.app.studio.sources import Source, digits
from sidelight.app.studio.taking import export_all
from sidelight.errors import CannotWrite, InvalidData, OutputExists, SidelightError, UnknownName
from sidelight.words import counted

DEMO = "digits"
ROLES = ("annotator", "viewer", "owner")  # what the link of a person opens
RESERVED = (OWNER, SIMULATED, THE_RUN)
_DEFAULTS: dict[str, Any] = {"strategy": "rows", "kind": "pair", "clusters": None, "seed": 0}


class Studio:
    """Every project of one folder.

    Parameters
    ----------
    folder : str or Path
        Where rows are kept, and answers unless ``database`` says otherwise.
    database : str or None
        The address of a PostgreSQL; None keeps answers in ``studio.db`` of the folder.
    """

    def __init__(self, folder: str | Path, database: str | None = None) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(f"Cannot make the studio's folder {str(folder)!r}: {error.strerror}.") from error
        self.store = StudioStore(database or self.folder / "studio.db", key=self.folder / "studio.key")
        self._open: dict[int, OpenProject] = {}
        self._opening = threading.Lock()
        self._covers: dict[int, dict[str, Any]] = {}
        self.preparing = ""  # what is made in the background, for the first page
        self._people: dict[str, Person] = {}  # by their token; neither ever changes

    def add(
        self,
        name: str,
        source: Source,
        settings: Mapping[str, Any] | None = None,
        *,
        also: Callable[[Path], None] | None = None,
    ) -> Project:
        """Make a project: its rows are written first, so that a name in the database always has its rows.

        ``also`` writes what else belongs beside the rows.
        """
        settings = {**_DEFAULTS, **(settings or {})}
        check_settings(settings, len(source.ids))
        self.check_free(name)
        with self._places([source]) as ((place, cover),):
            settings["notes"] = source.notes()
            if also is not None:
                also(self.folder / "projects" / place)
            return self.store.add_project(name, {**settings, "place": place, "cover": cover})

    def add_written(
        self,
        name: str,
        settings: Mapping[str, Any],
        write: Callable[[Path], tuple[list[str], dict[str, Any], int]],
    ) -> Project:
        """Make a project whose rows ``write`` writes; it returns notes, what shows the project, and how many rows."""
        self.check_free(name)
        place = secrets.token_hex(8)
        folder = self.folder / "projects" / place
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            notes, cover, n_rows = write(folder)
            settings = {**_DEFAULTS, **settings, "notes": notes, "place": place, "cover": cover}
            check_settings(settings, n_rows)
            return self.store.add_project(name, settings)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError) and not isinstance(error, SidelightError):
                raise CannotWrite(f"Cannot write the project's rows: {error.strerror}.") from error
            raise

    def rename(self, number: int, name: str) -> Project:
        """Call a project something else."""
        project = self.store.update_project(number, name=name)
        if number in self._open:
            self._open[number].project = project
        return project

    def archive(self, number: int, is_archived: bool) -> None:
        """Put a project out of sight, or bring it back; it stays as it is."""
        settings = {**self.store.project(number).settings, "is_archived": is_archived}
        project = self.store.update_project(number, settings=settings)
        if number in self._open:
            self._open[number].project = project

    def delete(self, number: int) -> Path:
        """Remove a project with its rows; what people did is written to a folder first, which is returned."""
        project = self.store.project(number)
        kept = self.folder / "deleted" / f"{number}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        export_all(self.store, project, self.folder / "projects", kept)
        with self._opening:
            opened = self._open.pop(number, None)
            if opened is not None:
                opened.close()
            self._people = {token: person for token, person in self._people.items() if person.project != number}
            self.store.delete_project(number)
        for place in _places_of(project):
            shutil.rmtree(self.folder / "projects" / place, ignore_errors=True)
        return kept

    def project(self, number: int) -> OpenProject:
        """Return a project, opened."""
        with self._opening:
            if number not in self._open:
                project = self.store.project(number)
                if project.settings.get("is_study"):
                    raise UnknownName(
                        f"Project {number} is a study, which has pages of its own: run benchmarks/study/run.py of "
                        "Sidelight's sources with the same folder."
                    )
                place = str(project.settings["place"])
                self._open[number] = open_project(self.store, project, self.folder / "projects" / place)
            return self._open[number]

    def cover_of(self, project: Project) -> dict[str, Any]:
        """Return what shows a project on a card; of one that a studio of before made, its rows are read once."""
        if "cover" in project.settings or "place" not in project.settings:
            return dict(project.settings.get("cover", {}))
        if project.id not in self._covers:
            try:
                rows = read_rows(self.folder / "projects" / str(project.settings["place"]))
                self._covers[project.id] = cover_of(rows.kinds, rows.texts, rows.tiny, rows.files)
            except SidelightError:
                self._covers[project.id] = {}
        return self._covers[project.id]

    def sentence_of(self, number: int) -> str:
        """Say how far a project is, if it is open, without waiting for its model."""
        opened = self._open.get(number)
        return "" if opened is None else str(opened.status()["sentence"])

    def of(self, token: str) -> tuple[OpenProject, Person]:
        """Return the project and the person of a link."""
        person = self.person_of(token)
        return self.project(person.project), person

    def person_of(self, token: str) -> Person:
        """Return whose link carries ``token``; once known, also while the database does not answer."""
        known = self._people.get(token)
        if known is None:
            known = self._people[token] = self.store.person_of(token)
        return known

    def role_of(self, token: str, number: int) -> str:
        """Return what a token opens in a project; nothing without a token, and for people of other projects."""
        try:
            person = self.person_of(token)
        except UnknownName:
            return ""
        return person.role if person.project == number else ""

    def add_person(self, project: int, name: str, role: str = "annotator") -> Person:
        """Add a person who will answer, look or own; some names are the studio's own."""
        if role not in ROLES:
            raise InvalidData(f"A person is one of {', '.join(ROLES)}. Got {role!r:.40}.")
        if name.strip().casefold() in RESERVED or name.strip().casefold().startswith(f"{SIMULATED} "):
            raise InvalidData(f"{name.strip()!r} is a name that the studio uses itself. Choose another one.")
        return self.store.add_person(project, name, role=role)

    def demo(self) -> Project:
        """Return the project of the bundled digits; make it the first time."""
        known = {project.name: project for project in self.store.projects()}
        return known.get(DEMO) or self.add(DEMO, digits(), {"clusters": None, "is_demo": True, "by": "auto"})

    def write_back(self) -> list[str]:
        """Write what people said into the results folders of the projects that are open; say what was written."""
        from sidelight.app.studio.run.results import write_back  # it opens studios

        said = []
        for project in self._open.values():
            place = project.project.settings.get("results")
            if place and not project.model.failure:
                said.append(f"Wrote {', '.join(write_back(project))} to {place}")
        return said

    def close(self) -> None:
        """Stop every model and let go of the database."""
        for project in self._open.values():
            project.close()
        self.store.close()

    @contextmanager
    def _places(self, sources: Sequence[Source]) -> Iterator[list[tuple[str, dict[str, Any]]]]:
        """Write the rows of a project into folders of their own; they go again if the project cannot be kept.

        A folder has a random name, whatever the project is called: several can be made at once, by any process.
        """
        places: list[tuple[str, dict[str, Any]]] = []
        try:
            for source in sources:
                place = secrets.token_hex(8)
                folder = self.folder / "projects" / place
                cover = source.write(folder)
                places.append((place, cover))
            yield places
        except BaseException:
            for place, _ in places:
                shutil.rmtree(self.folder / "projects" / place, ignore_errors=True)
            raise

    def check_free(self, name: str) -> None:
        """Raise where a project has this name."""
        if any(project.name == name.strip() for project in self.store.projects()):
            raise OutputExists(
                f"There is a project called {name.strip()!r} already. Choose another name; nothing was changed."
            )


def open_project(store: StudioStore, project: Project, folder: Path) -> OpenProject:
    """Return a project at work: one of the result of a run where one lies beside its rows, else one of questions."""
    kind = RunProject if path_of(folder, 0).is_file() else QuestionProject
    return kind(store, project, read_rows(folder))


def _places_of(project: Project) -> list[str]:
    """Return the folders of a project's rows, as its settings name them."""
    sets = project.settings.get("sets", [])
    return [str(place) for place in (project.settings.get("place"), *(one["place"] for one in sets)) if place]


_STEPS = ((60.0, "minute"), (3600.0, "hour"), (86_400.0, "day"))


def cards_of(studio: Studio) -> list[dict[str, Any]]:
    """Return every project, the one in which something happened last first."""
    active = studio.store.activity()
    cards = []
    for project in studio.store.projects():
        settings = project.settings
        done = active.get(project.id, Activity(0, 0, project.made_at))
        shown = studio.cover_of(project)
        is_study = bool(settings.get("is_study"))
        cards.append(
            {
                "id": project.id,
                "name": project.name,
                "made_at": project.made_at,
                "is_study": is_study,
                "is_archived": bool(settings.get("is_archived")),
                "go": f"/p/{project.id}",
                "kind": "study" if is_study else f"run of {settings['job']}" if settings.get("job") else "questions",
                "pictures": [f"/cover/{project.id}/{i}" for i in range(len(shown.get("pictures", [])))],
                "is_tiny": bool(shown.get("is_tiny")),
                "texts": shown.get("texts", []),
                "rows": shown.get("rows"),
                "answers": done.n_answers,
                "people": done.n_people,
                "last_at": max(done.last_at, project.made_at),
                "last": ago(time.time() - max(done.last_at, project.made_at)),
                "sentence": studio.sentence_of(project.id),
            }
        )
    return sorted(cards, key=lambda card: (-card["last_at"], card["id"]))


def ago(seconds: float) -> str:
    """Say how long ago something was.

    >>> ago(30), ago(150), ago(8000), ago(200_000)
    ('just now', '2 minutes ago', '2 hours ago', '2 days ago')
    """
    words = "just now"
    for length, unit in _STEPS:
        if seconds >= length:
            words = f"{counted(int(seconds // length), unit)} ago"
    return words
