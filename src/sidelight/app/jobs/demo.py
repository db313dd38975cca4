"""The demo: every job on data that needs no download, one folder each, and a page that links them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sidelight.app.jobs.catalogue import DEMOS
from sidelight.app.jobs.config import as_toml
from sidelight.app.jobs.output import check_free, output_folder, write_text
from sidelight.app.jobs.run import Outcome, versions_in_use
from sidelight.errors import UnknownName, nearest
from sidelight.progress import report
from sidelight.words import Setting, Spell, render

if TYPE_CHECKING:
    from sidelight.app.report.components import Markup


def run_demo(
    out: str | Path, *, only: str | None = None, seed: int = 0, overwrite: bool = False, spell: Spell = str
) -> Outcome:
    """Run every demo (or ``only`` one) into ``out``; nothing appears unless all of it does."""
    out = Path(out)
    if only is not None and only not in DEMOS:
        raise UnknownName(f"There is no demo called {only!r}. {nearest(only, DEMOS)}")
    check_free(out, overwrite)
    from sidelight.app.jobs.demonstration import demo_card, index_page, with_story
    from sidelight.app.jobs.page import page_of  # seconds, which a refusal need not take

    chosen = [only] if only else list(DEMOS)
    sentences: list[str] = []
    made: list[Markup] = []

    def manifest(files: object) -> str:
        keys = {"job": "demo", "table": "built-in samples", "seed": seed, "files": files}
        return as_toml(keys, {"versions": versions_in_use()})

    with output_folder(out, manifest, overwrite=overwrite) as folder:
        for number, name in enumerate(chosen):
            report("demo", number, len(chosen), name)
            demo = DEMOS[name](seed)
            command = f"sidelight demo {spell(Setting('only', name))}"
            page = with_story(page_of(demo.result), demo.story)
            demo.write(folder / name, spell=spell, page=page, command=command)
            sentences += [f"{name}: {render(sentence, spell)}" for sentence in page.told[:2]]
            made.append(demo_card(name, demo.story, command, page.thumbnail))
        write_text(folder / "index.html", index_page(made))
    return Outcome(out, ["index.html", *(f"{name}/report.html" for name in chosen)], sentences)
