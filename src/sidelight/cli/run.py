"""``sidelight run``: repeat a run from its run.toml."""

from __future__ import annotations

import json

import click

from sidelight.cli.options import out_options
from sidelight.cli.terminal import progress_bar, show_outcome
from sidelight.cli.wording import as_flag

YOU_HAVE = "the run.toml of an earlier run"
RUN = "sidelight run results/run.toml --out again"


@click.command("run", short_help="Repeat a run from its run.toml.")
@click.argument("config", type=click.Path())
@out_options
def command(config: str, out: str, overwrite: bool, as_json: bool) -> None:
    """Run what CONFIG (a run.toml) describes."""
    from sidelight.jobs.config import RunConfig
    from sidelight.jobs.run import run

    with progress_bar():
        outcome = run(RunConfig.from_toml(config), out, overwrite=overwrite, spell=as_flag)
    if as_json:
        click.echo(json.dumps(outcome.as_dict(), ensure_ascii=False, allow_nan=False))
    else:
        show_outcome(outcome)
