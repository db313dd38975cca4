"""``sidelight instances``: cluster the rows of labelled bags."""

from __future__ import annotations

from typing import Any

import click

from sidelight.cli.options import (
    bag_options,
    gap_options,
    out_options,
    roles_of,
    row_options,
    scale_option,
    seed_option,
    table_argument,
)
from sidelight.cli.terminal import progress_bar, show_outcome

YOU_HAVE = "rows in bags, and label sets on the bags (recordings of syllables, the species heard in each)"
RUN = "sidelight instances TABLE --bag COLUMN --label COLUMN --out results"


class Alpha(click.ParamType):  # type: ignore[type-arg] # generic in newer versions of click only
    """A number, or "auto"."""

    name = "NUMBER|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Turn what was typed into a number, or leave "auto"."""
        if value == "auto" or isinstance(value, float):
            return value
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor auto.", param, ctx)
        if not number >= 0:
            self.fail(f"{value} is negative; 0 ignores the bags.", param, ctx)
        return number


@click.command("instances", short_help="Cluster the rows of labelled bags.")
@table_argument
@bag_options
@click.option(
    "-k",
    "--clusters",
    "n_clusters",
    type=click.IntRange(min=1),
    help="Number of clusters; more than classes to find kinds within them. Default: one per class.",
)
@click.option(
    "--alpha",
    type=Alpha(),
    default="auto",
    show_default=True,
    help="Weight of the bags against the features; auto tries seven.",
)
@click.option(
    "--constraints",
    type=click.Choice(["all", "ambiguous"]),
    default="all",
    show_default=True,
    help="ambiguous leaves out what bags with a single label say.",
)
@click.option(
    "--affinity",
    type=click.Choice(["auto", "dense", "neighbours"]),
    default="auto",
    show_default=True,
    help="All similarities, or those of nearest neighbours (auto: above 10,000 rows).",
)
@click.option(
    "--metric",
    type=click.Choice(["euclidean", "cosine"]),
    default="euclidean",
    show_default=True,
    help="Distance between rows.",
)
@click.option(
    "--rounding",
    type=click.Choice(["kmeans", "discretize", "cluster_qr"]),
    default="kmeans",
    show_default=True,
    help="How eigenvectors become clusters.",
)
@row_options
@gap_options
@scale_option
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
    bag: str | None,
    label: tuple[str, ...],
    label_file: str | None,
    label_separator: str | None,
    seed: int,
    **options: Any,
) -> None:
    """Cluster the rows of TABLE so that clusters match or refine the labels of their bags.

    A bag (a recording, an image, a document) has several rows and a set of labels; nobody labelled a row. Writes
    assignments (.parquet, .csv), clusters.csv, class_shares.csv, model.sidelight, run.toml and report.html.
    """
    from sidelight.jobs.config import RunConfig
    from sidelight.jobs.run import run

    roles = roles_of(
        id_column=id_column,
        features=features,
        ignore=ignore,
        missing=missing,
        bag=bag,
        label=label,
        label_file=label_file,
        label_separator=label_separator,
    )
    with progress_bar():
        outcome = run(RunConfig("instances", table, roles, options, seed), out, overwrite=overwrite)
    show_outcome(outcome)
