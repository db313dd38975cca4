"""One command for each job of the catalogue, and command lines that fit a file: what does not parse is never shown."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import click

from sidelight.app.cli.app import Commands
from sidelight.app.cli.options import (
    FieldOption,
    Grouped,
    as_flag,
    job_options,
    options_from,
    out_options,
    roles_from,
    seed_option,
    table_argument,
    words_for,
)
from sidelight.app.cli.terminal import progress_bar, show_json, show_outcome
from sidelight.app.jobs.catalogue import find_job


def job_command(name: str, *, called: str | None = None, hidden: bool = False) -> click.Command:
    """Make the command of the job ``name``; ``called`` is what people type when that is something else."""
    job = find_job(name)

    @click.command(called or name, cls=Grouped, short_help=job.summary, help=job.text, hidden=hidden)
    @table_argument
    @job_options(job)
    @seed_option
    @out_options
    def command(table: str, out: str, overwrite: bool, as_json: bool, quiet: bool, seed: int, **typed: Any) -> None:
        from sidelight.app.jobs.config import RunConfig
        from sidelight.app.jobs.run import run

        config = RunConfig(name, table, roles_from(typed), job.options(options_from(job, typed)), seed)
        with progress_bar(quiet):
            outcome = run(config, out, overwrite=overwrite, spell=as_flag)
        if as_json:
            show_json(outcome.as_dict())
        elif not quiet:
            show_outcome(outcome)

    return command


# Command lines that fit a file, made from the typed options: what does not parse is never shown.


def command_line(job: str, path: str, settings: Mapping[str, Any], *, n_clusters: int | None = None) -> str | None:
    """Return a line ready to paste, or None when there is no such command or it needs an option that cannot be guessed.

    Parameters
    ----------
    job : str
        The command.
    path : str
        The table.
    settings : mapping
        Roles and options by name.
    n_clusters : int, optional
        The number of clusters, where a command takes one.
    """
    commands = Commands()
    command = commands.get_command(click.Context(commands), job)
    if command is None:
        return None
    words = [path]
    for parameter in command.params:
        if not isinstance(parameter, FieldOption):
            continue
        value = settings.get(parameter.field.name)
        if value is None and parameter.field.name == "n_clusters":
            value = n_clusters
        if value is not None and value != [] and value != {}:
            words += _typed(parameter, value)
        elif parameter.required:
            return None
    words += ["--out", "results"]
    return shlex.join(["sidelight", job, *words]) if _is_accepted(command, words) else None


def _typed(parameter: FieldOption, value: Any) -> list[str]:
    flag = parameter.opts[0] if parameter.field.letter else max(parameter.opts, key=len)
    if parameter.is_flag:
        return [flag if value else parameter.secondary_opts[0]]
    return [word for item in words_for(parameter.field, value) for word in (flag, item)]


def _is_accepted(command: click.Command, words: list[str]) -> bool:
    try:
        command.make_context(str(command.name), list(words)).close()
    except (click.ClickException, click.exceptions.Exit):
        return False
    return True
