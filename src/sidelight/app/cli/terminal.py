"""What a person sees while work goes on, and when it is done."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

import sidelight
from sidelight.progress import Step


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[None]:
    """Show a bar on a terminal's standard error; elsewhere one plain line for each stage."""
    if quiet:
        yield
        return
    with _bars() if sys.stderr.isatty() else _lines():
        yield


@contextmanager
def _lines() -> Iterator[None]:
    """Write one line when a stage begins."""
    begun: set[str] = set()

    def show(step: Step) -> None:
        stage = _NUMBERED.split(step.stage)[0]
        if stage not in begun:
            begun.add(stage)
            click.echo(f"sidelight: {stage} ...", err=True)

    with sidelight.progress(show):
        yield


@contextmanager
def _bars() -> Iterator[None]:
    """Show the stage that goes on, and end it when the next one begins."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(step: Step) -> None:
            for stage, task in tasks.items():
                if stage != step.stage and not bar.tasks[bar.task_ids.index(task)].finished:
                    bar.update(task, total=1, completed=1, note="")
            if step.stage not in tasks:
                tasks[step.stage] = bar.add_task(step.stage, note="")
            bar.update(tasks[step.stage], completed=step.done, total=step.total, note=step.note)

        with sidelight.progress(show):
            yield


_NUMBERED = re.compile(r":| \d")  # "start 3 of 5", "trying a start: rows 2": one line for all starts


def show_json(content: Any) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))


def show_sentences(sentences: Sequence[str], content: Any, *, as_json: bool, quiet: bool) -> None:
    """Print sentences for a person, one JSON object for a program, or nothing."""
    if as_json:
        show_json(content)
    elif not quiet:
        for sentence in sentences:
            click.echo(sentence)


def show_table(columns: Mapping[str, Sequence[Any]], *, most: int = 25, width: int = 12) -> None:
    """Print columns under their names, cut to what a terminal can hold."""
    names = list(columns)[:width]
    rows = [[_cell(value) for value in row] for row in zip(*(columns[name] for name in names))]
    widths = [max(len(str(name)), *(len(row[k]) for row in rows[:most]), 1) for k, name in enumerate(names)]
    for line in [list(map(str, names)), *rows[:most]]:
        click.echo(
            "  "
            + "  ".join(cell.rjust(size) if k else cell.ljust(size) for k, (cell, size) in enumerate(zip(line, widths)))
        )
    if len(rows) > most or len(columns) > width:
        click.echo(f"  ... {len(rows)} lines, {len(columns)} columns in all")


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def show_outcome(outcome: Any, *, open_first: str = "report.html") -> None:
    """Print what was found and where the files are."""
    for sentence in outcome.sentences:
        click.echo(sentence)
    click.echo(f"Wrote {', '.join(outcome.files)} to {outcome.folder}/")
    click.echo(f"Open {outcome.folder / open_first} in a browser.")
    if outcome.result is not None:
        from sidelight.app.jobs.page import is_for_studio

        if is_for_studio(outcome.result):
            click.echo(f"Correct rows in a browser: sidelight studio open {shlex.quote(str(outcome.folder))}")
