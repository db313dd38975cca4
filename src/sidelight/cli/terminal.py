"""What a person sees while work goes on, and when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

import sidelight
from sidelight.progress import Step


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show a bar on a terminal's standard error; stay silent in scripts."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(step: Step) -> None:
            if step.stage not in tasks:
                tasks[step.stage] = bar.add_task(step.stage, note="")
            bar.update(tasks[step.stage], completed=step.done, total=step.total, note=step.note)

        with sidelight.progress(show):
            yield


def show_outcome(outcome: Any, *, open_first: str = "report.html") -> None:
    """Print what was found and where the files are."""
    for sentence in outcome.sentences:
        click.echo(sentence)
    click.echo(f"Wrote {', '.join(outcome.files)} to {outcome.folder}/")
    click.echo(f"Open {outcome.folder / open_first} in a browser.")
