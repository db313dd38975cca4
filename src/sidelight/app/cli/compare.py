"""``sidelight compare``: several runs side by side."""

from __future__ import annotations

import click

from sidelight.app.cli.options import shown_options
from sidelight.app.cli.terminal import show_json, show_table

YOU_HAVE = "several runs on the same rows, and wonder which to believe"
RUN = "sidelight compare results again"


@click.command("compare", short_help="Put several runs side by side.")
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option("--out", type=click.Path(), help="Folder for runs.csv, agreement.csv and a page with the picture.")
@click.option("--overwrite", is_flag=True, help="Replace the files of an earlier comparison in that folder.")
@shown_options
def command(runs: tuple[str, ...], out: str | None, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Put the folders RUNS side by side: what they were told, what they found, and how much their clusters agree."""
    from pathlib import Path

    from sidelight.app.jobs.first_look import check_there
    from sidelight.app.jobs.output import check_free

    for folder in runs:
        check_there(folder)
    if out is not None:
        check_free(Path(out), overwrite)
    from sidelight.app.jobs.compare import compare, write_comparison

    found = compare(runs)
    files = [] if out is None else write_comparison(found, out, overwrite=overwrite)
    if as_json:
        show_json({**found.as_dict(), "files": files})
    elif not quiet:
        for sentence in found.sentences:
            click.echo(sentence)
        show_table(found.table)
        if files:
            click.echo(f"Wrote {', '.join(files)} to {out}/")
