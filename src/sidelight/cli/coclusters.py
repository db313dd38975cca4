"""``sidelight coclusters``: cluster rows and columns of a table of counts, or of events."""

from __future__ import annotations

from typing import Any

import click

from sidelight.cli.options import (
    curve_option,
    gap_options,
    out_options,
    roles_of,
    row_options,
    seed_option,
    table_argument,
)
from sidelight.cli.terminal import progress_bar, show_outcome

YOU_HAVE = "counts of things that occur together (documents x words, users x items), as a matrix or as events"
RUN = "sidelight coclusters TABLE -k 20,10 --out results"


def _numbers(ctx: click.Context, param: click.Parameter, value: str) -> list[int]:
    try:
        numbers = [int(word) for word in value.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(f"one number, or one per axis, as in 20,10. Got {value!r} instead.", ctx, param)
    return numbers


@click.command("coclusters", short_help="Cluster rows and columns of a table of counts.")
@table_argument
@click.option(
    "-k", "--clusters", "n_clusters", required=True, callback=_numbers, metavar="ROWS,COLUMNS",
    help="Clusters of each axis; one number means all axes.",
)  # fmt: skip
@click.option(
    "--event", "events", metavar="COLUMN", multiple=True,
    help="TABLE is a list of events: count these columns together; repeat for each axis.",
)  # fmt: skip
@click.option("--weight", metavar="COLUMN", help="Column that says how often an event happened.")
@row_options
@click.option(
    "--method", type=click.Choice(["information", "annealed", "spectral", "weights"]),
    help="What clusters the table; information by default, annealed for three axes or more.",
)  # fmt: skip
@click.option("--starts", "n_init", type=click.IntRange(min=1), help="Number of starts.")
@curve_option
@gap_options
@seed_option
@out_options
def command(
    table: str,
    out: str,
    overwrite: bool,
    events: tuple[str, ...],
    weight: str | None,
    id_column: str | None,
    features: tuple[str, ...],
    ignore: tuple[str, ...],
    missing: str,
    seed: int,
    **options: Any,
) -> None:
    """Cluster the rows and the columns of TABLE, so that the clusters keep as much of its information as they can.

    TABLE is a matrix of counts (a row each, a numeric column each) or a list of events. Writes assignments (.parquet,
    .csv) of the first axis, one .csv for every other axis, cells.csv, curve.csv, model.sidelight, run.toml and
    report.html.
    """
    from sidelight.jobs.config import RunConfig
    from sidelight.jobs.run import run

    roles = roles_of(id_column=id_column, features=features, ignore=ignore, missing=missing)
    roles |= ({"events": list(events)} if events else {}) | ({"weight": weight} if weight else {})
    said = {name: value for name, value in options.items() if value is not None}
    with progress_bar():
        outcome = run(RunConfig("coclusters", table, roles, said, seed), out, overwrite=overwrite)
    show_outcome(outcome)
