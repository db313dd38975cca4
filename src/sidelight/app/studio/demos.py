"""Ready projects to try the studio on: digits to be asked about, and runs on made-up recordings and photographs."""

from __future__ import annotations

from pathlib import Path

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.output import MANIFEST, write_csv
from sidelight.app.jobs.run import run
from sidelight.app.jobs.samples import write_folder
from sidelight.app.store.studio_store import Project
from sidelight.app.studio.run.results import open_results
from sidelight.app.studio.studio import Studio

_NOBODY_NAMED = {"sounds": "wren", "pictures": ""}  # a kind that is struck from every list, so that the run finds it
_TITLES = {"sounds": "birds in recordings", "pictures": "things in photographs"}


def demo_projects(studio: Studio) -> list[Project]:
    """Return the project of the digits, and one of a run on sounds and one on pictures; make them the first time."""
    return [studio.demo(), *(_of_run(studio, kind) for kind in _TITLES)]


def _of_run(studio: Studio, kind: str) -> Project:
    home = studio.folder / "demo" / _TITLES[kind]
    if not (home / MANIFEST).is_file():
        material = studio.folder / "demo" / kind
        if not material.is_dir():
            write_folder(kind, str(material))
        labels = next(path for path in material.iterdir() if path.suffix == ".csv")
        struck = _without(labels, material.with_suffix(".csv"), _NOBODY_NAMED[kind])
        options = {"n_novel": 1, "empty": "none"} if _NOBODY_NAMED[kind] else {}
        run(RunConfig("instances", str(material), {"label_file": str(struck)}, options), home)
    return open_results(studio, str(home))


def _without(labels: Path, out: Path, label: str) -> Path:
    """Write a table of labels without one of them."""
    table = Columns(str(labels))
    first, second = table.names[:2]
    lists = ["|".join(name for name in cell.split("|") if name != label) for cell in table.cells(second)]
    write_csv(out, {first: table.cells(first), second: lists})
    return out
