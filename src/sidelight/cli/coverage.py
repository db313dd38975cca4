"""``sidelight coverage``: explain every row by the labels of its bag."""

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

YOU_HAVE = "rows in bags, and a list of labels for each bag (which birds are in which recording)"
RUN = "sidelight coverage TABLE --bag recording --label species --out results"


@click.command("coverage", short_help="Name and cluster the rows of labelled bags.")
@table_argument
@bag_options
@row_options
@gap_options
@click.option(
    "--subclusters",
    "n_subclusters",
    default="1",
    show_default=True,
    metavar="N|auto|wren=2,owl=3",
    help="Clusters for each label: one number, a list, or 'auto': asks held-out bags, in up to a hundred fits.",
)
@click.option(
    "--novel",
    "n_novel",
    default="0",
    show_default=True,
    metavar="N|auto",
    help="Clusters for kinds that no list names.",
)
@click.option(
    "--lists",
    type=click.Choice(["complete", "partial"]),
    default="complete",
    show_default=True,
    help="Whether a bag's list names everything in it, or others may be there too.",
)
@click.option(
    "--empty",
    type=click.Choice(["unlabelled", "none"]),
    default="unlabelled",
    show_default=True,
    help="What an empty list means: nobody looked, or none of the known labels is there (needs --novel).",
)
@click.option(
    "--rows",
    type=click.Choice(["no", "known"]),
    default="no",
    show_default=True,
    help="'known' believes the label column row by row where it is filled; by default it only says what the bag holds.",
)
@click.option(
    "--wrong",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Probability that a listed label is not in the bag.",
)
@click.option(
    "--forgotten",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Probability that the label of a row is missing from its bag's list.",
)
@click.option(
    "--penalty",
    default="1.5",
    show_default=True,
    metavar="NUMBER|auto",
    help="Weight of |W|^2 / 2; smaller is sharper. 'auto' asks held-out bags, and takes some 20 times as long.",
)
@click.option(
    "--information",
    type=click.FloatRange(min=0),
    default=0.3,
    show_default=True,
    help="Weight of clear and even clusters; helps rows, and most of all novel clusters.",
)
@click.option(
    "--starts",
    "n_init",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Starts, where sub-clusters or novel clusters need them.",
)
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
    """Name and cluster the rows of TABLE by the labels of their bags: no row carries a label outside its bag's list,
    and every label on the list is carried by a row.

    Writes assignments (.parquet, .csv), clusters.csv, bags.csv, model.sidelight, run.toml and report.html into the
    output folder.
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
        outcome = run(RunConfig("coverage", table, roles, options, seed), out, overwrite=overwrite)
    show_outcome(outcome)
