"""``sidelight relations``: cluster rows; answers about pairs and triplets will join it."""

from __future__ import annotations

from typing import Any

import click

from sidelight.cli.options import (
    gap_options,
    out_options,
    roles_of,
    row_options,
    scale_option,
    seed_option,
    table_argument,
)
from sidelight.cli.terminal import progress_bar, show_outcome

YOU_HAVE = "a table of rows, and nothing else"
RUN = "sidelight relations TABLE -k 10 --out results"


@click.command("relations", short_help="Cluster the rows of a table.")
@table_argument
@click.option("-k", "--clusters", "n_clusters", type=click.IntRange(min=1), required=True, help="Number of clusters.")
@row_options
@gap_options
@scale_option
@click.option(
    "--penalty", type=float, default=2.0**-5, show_default=True, help="Weight of |W|^2 / 2; smaller is sharper."
)
@click.option("--starts", "n_init", type=click.IntRange(min=1), default=4, show_default=True, help="Number of starts.")
@seed_option
@out_options
def command(
    table: str,
    out: str,
    overwrite: bool,
    id_column: str | None,
    features: tuple[str, ...],
    ignore: tuple[str, ...],
    missing: str,
    seed: int,
    **options: Any,
) -> None:
    """Cluster the rows of TABLE (any file that `sidelight describe` understands) into K clusters.

    Writes assignments (.parquet, .csv), clusters.csv, model.sidelight, run.toml and report.html into the output folder.
    """
    from sidelight.jobs.config import RunConfig
    from sidelight.jobs.run import run

    roles = roles_of(id_column=id_column, features=features, ignore=ignore, missing=missing)
    with progress_bar():
        outcome = run(RunConfig("relations", table, roles, options, seed), out, overwrite=overwrite)
    show_outcome(outcome)
