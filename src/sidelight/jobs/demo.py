"""The demo: every job on data that needs no download, one folder each, and a page that links them."""

from __future__ import annotations

from html import escape
from importlib import import_module
from pathlib import Path

from sidelight.jobs.config import RunConfig
from sidelight.jobs.output import check_free, output_folder
from sidelight.jobs.run import Outcome
from sidelight.progress import report

# Jobs whose module has ``demo(folder, seed) -> Outcome``. A new demo page is one line here.
DEMOS = [
    "instances",
    "coverage",
    "bags",
    "relations",
    "sources",
]


def run_demo(out: str | Path, *, only: str | None = None, seed: int = 0, overwrite: bool = False) -> Outcome:
    """Run the demo of every job (or of ``only`` one) into ``out``; nothing appears unless all of it does."""
    out = Path(out)
    check_free(out, overwrite)
    chosen = [only] if only else DEMOS
    sentences: list[str] = []
    links: list[str] = []
    with output_folder(out, overwrite=overwrite) as folder:
        for number, job in enumerate(chosen):
            report("demo", number, len(chosen), job)
            outcome = import_module(f"sidelight.jobs.{job}").demo(folder / job, seed)
            sentences += [f"{job}: {sentence}" for sentence in outcome.sentences[:2]]
            links.append(f'<li><a href="{job}/report.html">{job}</a>: {escape(outcome.sentences[0])}</li>')
        (folder / "index.html").write_text(_page(links), encoding="utf-8")
        (folder / "run.toml").write_text(RunConfig("demo", "built-in samples", seed=seed).to_toml(), encoding="utf-8")
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("report.html"))
    return Outcome(out, ["index.html", *names], sentences)


def _page(links: list[str]) -> str:
    style = "body { font: 16px/1.6 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Sidelight demo</title>'
        f"<style>{style}</style></head><body><h1>Sidelight demo</h1>"
        f"<p>One page per job.</p><ul>{''.join(links)}</ul></body></html>\n"
    )
