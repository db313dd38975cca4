"""One command for each job of the catalogue: parse, one call into jobs, render."""

from __future__ import annotations

from typing import Any

import click

from sidelight.app.cli.options import (
    Grouped,
    job_options,
    options_from,
    out_options,
    role_options,
    roles_from,
    seed_option,
    table_argument,
)
from sidelight.app.cli.terminal import progress_bar, show_json, show_outcome
from sidelight.app.cli.wording import as_flag
from sidelight.app.jobs.catalogue import find_job


def job_command(name: str, *, called: str | None = None, hidden: bool = False) -> click.Command:
    """Make the command of the job ``name``; ``called`` is what people type when that is something else."""
    job = find_job(name)

    @click.command(called or name, cls=Grouped, short_help=job.summary, help=job.text, hidden=hidden)
    @table_argument
    @job_options(job)
    @role_options
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
