"""The demo: every job on data that needs no download, one folder each, and a page that links them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sidelight.errors import UnknownName, nearest
from sidelight.jobs.config import as_toml
from sidelight.jobs.output import check_free, output_folder, write_text
from sidelight.jobs.run import Outcome, versions_in_use
from sidelight.progress import report
from sidelight.words import Setting, Spell, spoken

if TYPE_CHECKING:
    from sidelight.jobs.demos import Conversation, Demo
    from sidelight.report import Page
    from sidelight.report.components import Markup

# The name of each demo's folder, and the function of jobs/demos.py that makes it. A new demo is one line here.
DEMOS: Mapping[str, str] = {
    "instances": "instances",
    "instances-spectral": "instances_spectral",
    "novel": "novel",
    "bags": "bags",
    "relations": "relations",
    "ask": "ask",
    "hierarchy": "hierarchy",
    "sources": "sources",
    "coclusters": "coclusters",
}


def run_demo(
    out: str | Path, *, only: str | None = None, seed: int = 0, overwrite: bool = False, spell: Spell = str
) -> Outcome:
    """Run every demo (or ``only`` one) into ``out``; nothing appears unless all of it does."""
    out = Path(out)
    if only is not None and only not in DEMOS:
        raise UnknownName(f"There is no demo called {only!r}. {nearest(only, DEMOS)}")
    check_free(out, overwrite)
    from sidelight.report.pages.demos import demo_card, index_page, picture_of  # seconds, which a refusal need not take

    chosen = [only] if only else list(DEMOS)
    sentences: list[str] = []
    made: list[Markup] = []

    def manifest(files: object) -> str:
        keys = {"job": "demo", "table": "built-in samples", "seed": seed, "files": files}
        return as_toml(keys, {"versions": versions_in_use()})

    with output_folder(out, manifest, overwrite=overwrite) as folder:
        for number, name in enumerate(chosen):
            report("demo", number, len(chosen), name)
            demo = _maker(name)(seed)
            command = f"sidelight demo {spell(Setting('only', name))}"
            page = _page_of(demo)
            demo.write(folder / name, spell=spell, page=page, command=command)
            sentences += [f"{name}: {spoken(sentence, spell)}" for sentence in page.told[:2]]
            made.append(demo_card(name, demo.story, command, picture_of(demo.result)))
        write_text(folder / "index.html", index_page(made))
    return Outcome(out, ["index.html", *(f"{name}/report.html" for name in chosen)], sentences)


def _maker(name: str) -> Callable[[int], Demo | Conversation]:
    maker: Callable[[int], Demo | Conversation] = getattr(import_module("sidelight.jobs.demos"), DEMOS[name])
    return maker


def _page_of(demo: Demo | Conversation) -> Page:
    from sidelight.report.pages import page_of
    from sidelight.report.pages.demos import with_story

    return with_story(page_of(demo.result), demo.story)
