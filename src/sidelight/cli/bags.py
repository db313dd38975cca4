"""``sidelight bags``: cluster bags whose labels nobody knows."""

from __future__ import annotations

from typing import Any

import click

from sidelight.cli.options import gap_options, out_options, roles_of, row_options, seed_option, table_argument
from sidelight.cli.terminal import progress_bar, show_outcome

YOU_HAVE = "rows in bags (regions of images, passages of documents), and no labels"
RUN = "sidelight bags TABLE --bag COLUMN -k 5 --out results"


@click.command("bags", short_help="Cluster bags of rows when only some unknown row of each matters.")
@table_argument
@click.option("--bag", metavar="COLUMN", help="Column that names the bag of each row. Default: guessed.")
@click.option("-k", "--clusters", "n_clusters", type=click.IntRange(min=1), required=True, help="Number of clusters.")
@click.option(
    "--method",
    type=click.Choice(["margin", "medoids"]),
    default="margin",
    show_default=True,
    help="margin: by one deciding row of each bag; medoids: by the distances between bags.",
)
@click.option(
    "--price", "C", type=float, default=4.0, show_default=True, help="C, the price of a bag without a clear row."
)
@click.option(
    "--balance",
    type=float,
    default=1.0,
    show_default=True,
    help="How uneven clusters may be; 0 ties them, large values let one take everything.",
)
@click.option("--search", is_flag=True, help="Choose --price and --balance without labels, by stability; slower.")
@click.option(
    "--distance",
    type=click.Choice(["average", "minimal", "maximal"]),
    default="average",
    show_default=True,
    help="Hausdorff distance between bags, for --method medoids.",
)
@click.option(
    "--scale",
    type=click.Choice(["standard", "unit", "none"]),
    default="standard",
    show_default=True,
    help="Give every feature mean 0 and the same variance; unit: then every row length 1 (margin only).",
)
@click.option("--starts", "n_init", type=click.IntRange(min=1), default=5, show_default=True, help="Number of starts.")
@row_options
@gap_options
@seed_option
@out_options
def command(
    table: str,
    bag: str | None,
    out: str,
    overwrite: bool,
    id_column: str | None,
    features: tuple[str, ...],
    ignore: tuple[str, ...],
    missing: str,
    seed: int,
    **options: Any,
) -> None:
    """Cluster the bags of TABLE (any file that `sidelight describe` understands) into K clusters.

    A bag is several rows with the same name in the column --bag. Writes bags.csv (cluster, margin and deciding row of
    each bag), assignments (.parquet, .csv), clusters.csv, model.sidelight, run.toml and report.html into the folder.
    """
    from sidelight.jobs.config import RunConfig
    from sidelight.jobs.run import run

    roles = roles_of(id_column=id_column, features=features, ignore=ignore, missing=missing, bag=bag)
    with progress_bar():
        outcome = run(RunConfig("bags", table, roles, options, seed), out, overwrite=overwrite)
    show_outcome(outcome)
