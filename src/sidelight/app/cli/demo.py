"""``sidelight demo``: every job on data that needs no download."""

from __future__ import annotations

import click

from sidelight.app.cli.options import seed_option, shown_options
from sidelight.app.cli.terminal import progress_bar, show_json, show_outcome
from sidelight.app.cli.wording import as_flag

YOU_HAVE = "two minutes"
RUN = "sidelight demo"


@click.command("demo", short_help="Run every job on built-in data and show the reports.")
@click.option("--out", default="sidelight-demo", show_default=True, type=click.Path(), help="Folder for the pages.")
@click.option("--only", metavar="NAME", help="Run one demo only.")
@click.option("--overwrite", is_flag=True, help="Replace the output of an earlier demo.")
@seed_option
@shown_options
def command(out: str, only: str | None, overwrite: bool, seed: int, as_json: bool, quiet: bool) -> None:
    """Run every job on data that needs no download, and write one report page each."""
    from sidelight.app.jobs.demo import run_demo

    with progress_bar(quiet):
        outcome = run_demo(out, only=only, seed=seed, overwrite=overwrite, spell=as_flag)
    if as_json:
        show_json({**outcome.as_dict(), "sentences": list(outcome.sentences)})
    elif not quiet:
        show_outcome(outcome, open_first="index.html")
