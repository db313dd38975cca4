"""``sidelight run``: repeat a run from its run.toml."""

from __future__ import annotations

import os

import click

from sidelight.app.cli.options import out_options
from sidelight.app.cli.terminal import progress_bar, show_json, show_outcome
from sidelight.app.cli.wording import as_flag

YOU_HAVE = "the run.toml of an earlier run"
RUN = "sidelight run results/run.toml --out again"


@click.command("run", short_help="Repeat a run from its run.toml.")
@click.argument("config", type=click.Path())
@out_options
def command(config: str, out: str, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Run what CONFIG (a run.toml, or the folder it lies in) describes, from any folder.

    Paths in it are seen from where it lies. A table that has changed since then is said.
    """
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.run import run, what_changed

    if os.path.isdir(config):
        config = os.path.join(config, "run.toml")
    what = RunConfig.from_toml(config)
    changed = what_changed(config, what)
    if changed and not quiet:
        click.echo(f"sidelight: note: {changed}", err=True)
    with progress_bar(quiet):
        outcome = run(what, out, overwrite=overwrite, spell=as_flag)
    if as_json:
        show_json({**outcome.as_dict(), "table_changed": changed is not None})
    elif not quiet:
        show_outcome(outcome)
