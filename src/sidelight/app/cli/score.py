"""``sidelight score``: how well assignments agree with a truth."""

from __future__ import annotations

import click

from sidelight.app.cli.options import shown_options
from sidelight.app.cli.terminal import show_json, show_table

YOU_HAVE = "assignments of rows, and a table that says what is right"
RUN = "sidelight score results truth.csv"


@click.command("score", short_help="Compare assignments with the truth.")
@click.argument("assignments", type=click.Path())
@click.argument("truth", type=click.Path())
@click.option("--column", metavar="COLUMN", help="Column of ASSIGNMENTS to judge.  [default: label or cluster]")
@click.option("--truth-column", metavar="COLUMN", help="Column of TRUTH that holds the right kind.")
@click.option("--by", metavar="COLUMN", help="Column that names the rows, in both tables.  [default: the first]")
@click.option("--out", type=click.Path(), help="File for the cross table, such as cross.csv.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@shown_options
def command(
    assignments: str,
    truth: str,
    column: str | None,
    truth_column: str | None,
    by: str | None,
    out: str | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Join ASSIGNMENTS (a table, or the folder of a run) with TRUTH by the names of rows, and say how they agree.

    Normalised mutual information, adjusted Rand index, accuracy after the best matching of clusters with kinds, and
    the cross table. Where rows of TRUTH have no names, they count as row 1, 2, ...
    """
    from pathlib import Path

    from sidelight.app.jobs.first_look import check_there
    from sidelight.app.jobs.output import check_file_free

    for path in (assignments, truth):
        check_there(path)
    if out is not None:
        check_file_free(Path(out), overwrite=overwrite)
    from sidelight.app.jobs.score import score

    found = score(assignments, truth, column=column, truth_column=truth_column, by=by)
    if out is not None:
        from sidelight.app.jobs.output import write_csv

        write_csv(Path(out), found.table)
    if as_json:
        show_json(found.as_dict())
    elif not quiet:
        for sentence in found.sentences:
            click.echo(sentence)
        show_table(found.table)
