"""``sidelight predict``: what a saved model says about the rows of another table."""

from __future__ import annotations

from typing import Any

import click

from sidelight.app.cli.options import (
    Dated,
    Grouped,
    as_flag,
    role_options,
    roles_from,
    shown_options,
    table_argument,
    where_from,
    where_options,
)
from sidelight.app.cli.terminal import progress_bar, show_json

OVERVIEW = {
    "predict": ("a model from an earlier run, and new rows", "sidelight predict results TABLE --out placed.csv")
}


@click.command("predict", cls=Grouped, short_help="Apply a saved model to the rows of another table.")
@click.argument("model", type=click.Path())
@table_argument
@role_options
@where_options
@click.option("--out", required=True, type=Dated(), help="A folder, or a file that ends with .csv or .parquet.")
@click.option("--overwrite", is_flag=True, help="Replace what an earlier call wrote.")
@click.option(
    "--coverage", default=0.9, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of the truth that sets of names hold: one_of of a row, may_hold of a bag.",
)  # fmt: skip
@shown_options
def predict_command(
    model: str, table: str, out: str, overwrite: bool, coverage: float, as_json: bool, quiet: bool, **typed: Any
) -> None:
    """Say where each row of TABLE belongs, by MODEL: a model.sidelight, or the folder of the run that wrote it.

    Columns are found by name, in any order; further ones are not used. Bags, lists of labels and sequences are used
    when they are there: the columns are those of the run, unless options say otherwise. Delimited text and Parquet of
    any length are read in blocks. Writes one line a row (.csv or .parquet), or a folder with assignments (.parquet,
    .csv), bags.csv where bags are judged, and run.toml; of a pattern of Parquet files folders of Parquet parts.
    """
    from pathlib import Path

    from sidelight.app.jobs.first_look import check_prediction
    from sidelight.files.source import Source

    roles, where, source = roles_from(typed), where_from(typed), Source(table)
    check_prediction(model, source, Path(out), roles, overwrite=overwrite)
    from sidelight.app.jobs.predict import predict

    with progress_bar(quiet):
        done = predict(model, source, out, roles, overwrite=overwrite, spell=as_flag, where=where, coverage=coverage)
    if as_json:
        show_json(done.as_dict())
    elif not quiet:
        for sentence in done.sentences:
            click.echo(sentence)
        click.echo(
            f"Wrote {', '.join(done.files)}" + ("" if [done.out.name] == list(done.files) else f" to {done.out}/")
        )
