"""The studio: a folder with a database and the rows of every project; projects are opened when somebody needs them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.app.store.studio_store import Person, Project, StudioStore
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.rows import write_rows
from sidelight.app.studio.settings import check_settings
from sidelight.app.studio.sources import Source, digits, pictures
from sidelight.app.studio.study.design import KINDS, Pool, check_size
from sidelight.app.studio.study.study import OpenStudy
from sidelight.errors import CannotWrite, OutputExists, UnknownName

DEMO = "digits"
_STUDY_ROWS = 300  # rows of each set of a study
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
        self.store = StudioStore(database or self.folder / "studio.db")
        self._open: dict[int, OpenProject] = {}
        self._studies: dict[int, OpenStudy] = {}
        self._opening = threading.Lock()

    def add(self, name: str, source: Source, settings: Mapping[str, Any] | None = None) -> Project:
        """Make a project: its rows are written first, so that a name in the database always has its rows."""
        settings = {**_DEFAULTS, **(settings or {})}
        check_settings(settings, len(source.ids))
        if any(project.name == name.strip() for project in self.store.projects()):
            raise OutputExists(
                f"There is a project called {name.strip()!r} already. Choose another name; nothing was changed."
            )
        place = self._free_place()
        write_rows(self.folder / "projects" / place, source.X, source.ids, source.features, source.look, source.y)
        settings["notes"] = source.notes()
        return self.store.add_project(name, {**settings, "place": place})

    def project(self, number: int) -> OpenProject:
        """Return a project, opened."""
        with self._opening:
            if number not in self._open:
                project = self.store.project(number)
                if project.settings.get("is_study"):
                    raise UnknownName(f"Project {number} is a study, which has pages of its own.")
                place = str(project.settings["place"])
                self._open[number] = OpenProject(self.store, project, self.folder / "projects" / place)
            return self._open[number]

    def add_study(
        self, name: str, counts: Mapping[str, int], *, seed: int = 0, sets: Sequence[tuple[str, Source]] = (),
        pools: Mapping[tuple[int, str], Pool] | None = None, has_unsure: bool = False,
    ) -> Project:  # fmt: skip
        """Make a study of pairs against triplets on two sets, by default the bundled digits and generated pictures.

        ``pools`` are questions that were brought for a set (0 or 1) and kind; others are drawn.
        """
        if any(project.name == name.strip() for project in self.store.projects()):
            raise OutputExists(f"There is a project called {name.strip()!r} already. Choose another name.")
        sets = sets or [
            ("digits", _some(digits(), _STUDY_ROWS, seed)),
            ("generated pictures", pictures(_STUDY_ROWS, seed=seed)),
        ]
        for (number, (title, source)), kind in product(enumerate(sets), KINDS):
            n_drawn = 0 if (number, kind) in (pools or {}) else counts[kind]
            check_size(title, len(source.ids), kind, n_drawn)
        placed = []
        for title, source in sets:
            place = self._free_place()
            write_rows(self.folder / "projects" / place, source.X, source.ids, source.features, source.look, source.y)
            placed.append({"name": title, "place": place})
        brought = [
            [number, kind, pool.questions.tolist(), pool.difficult.tolist()]
            for (number, kind), pool in (pools or {}).items()
        ]
        settings = {"is_study": True, "sets": placed, "counts": dict(counts), "seed": seed, "pools": brought}
        return self.store.add_project(name, settings | {"unsure": has_unsure})

    def study(self, number: int) -> OpenStudy:
        """Return a study, opened."""
        with self._opening:
            if number not in self._studies:
                project = self.store.project(number)
                if not project.settings.get("is_study"):
                    raise UnknownName(f"Project {number} is no study.")
                self._studies[number] = OpenStudy(self.store, project, self.folder / "projects")
            return self._studies[number]

    def of(self, token: str) -> tuple[OpenProject, Person]:
        """Return the project and the person of a link."""
        person = self.store.person_of(token)
        return self.project(person.project), person

    def demo(self) -> Project:
        """Return the project of the bundled digits; make it the first time."""
        known = {project.name: project for project in self.store.projects()}
        return known.get(DEMO) or self.add(DEMO, digits(), {"clusters": None, "is_demo": True})

    def write_back(self) -> list[str]:
        """Write what people said into the results folders of the projects that are open; say what was written."""
        from sidelight.app.studio.results_folder import write_back  # it opens studios

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

    def _free_place(self) -> str:
        """Return the name of a folder that is not there: a number, whatever the project is called."""
        taken = {path.name for path in (self.folder / "projects").glob("*")}
        return next(str(number) for number in range(1, len(taken) + 2) if str(number) not in taken)


def _some(source: Source, n: int, seed: int) -> Source:
    """Return some rows of a source, drawn at random."""
    chosen = np.sort(np.random.default_rng(seed).choice(len(source.ids), n, replace=False))
    ids, y = [source.ids[i] for i in chosen], None if source.y is None else [source.y[i] for i in chosen]
    return Source(source.X[chosen], ids, source.features, lambda row: source.look(int(chosen[row])), y)
