"""``sidelight sources``: cluster several channels through what occurs together in them."""

from __future__ import annotations

from typing import Any

import click

from sidelight.cli.options import curve_option, gap_options, out_options, roles_of, seed_option, table_argument
from sidelight.cli.terminal import progress_bar, show_outcome

YOU_HAVE = "several measurements of the same moments (a face, a jacket, a height), maybe in sequences"
RUN = "sidelight sources TABLE --channel face='face_*' --channel upper='upper_*' --sequence session -k 10 --out results"


@click.command("sources", short_help="Cluster several channels recorded together.")
@table_argument
@click.option("-k", "--clusters", "n_clusters", type=click.IntRange(min=1), required=True, help="Clusters per channel.")
@click.option(
    "--channel", "channel", metavar="NAME=COLUMNS", multiple=True, required=True,
    help="A channel and its columns, as in face='face_*,nose'; * stands for anything; repeat for every channel.",
)  # fmt: skip
@click.option(
    "--sequence", metavar="COLUMN",
    help="Column that says which recording or session a row is from; by default a column that is called so (session, "
    "sequence, video, ...) and whose equal values stand together; none: there are no sequences.",
)  # fmt: skip
@click.option("--id", "id_column", metavar="COLUMN", help="Column that names each row.")
@click.option("--primary", metavar="NAME", help="The channel whose clusters are wanted; the first by default.")
@click.option(
    "--method", type=click.Choice(["annealed", "information", "spectral", "weights"]), default="annealed",
    show_default=True, help="What clusters the table of co-occurrences.",
)  # fmt: skip
@click.option(
    "--combine", type=click.Choice(["interleaved", "joint"]),
    help="Pairs of channels in turn, or all channels in one table; joint by default for annealed, if it fits.",
)  # fmt: skip
@click.option("--codes", "n_codes", type=click.IntRange(min=2), help="Codes per channel when there are no sequences.")
@click.option(
    "--reassign/--no-reassign", default=True, show_default=True,
    help="Let every row follow the majority of its sequence.",
)  # fmt: skip
@curve_option
@click.option(
    "--judge", metavar="TABLE", type=click.Path(),
    help="A second table with the same columns: new.csv says the cluster of its rows, and which fit none (new people).",
)  # fmt: skip
@gap_options
@seed_option
@out_options
def command(
    table: str,
    out: str,
    overwrite: bool,
    channel: tuple[str, ...],
    sequence: str | None,
    id_column: str | None,
    ignore: tuple[str, ...],
    missing: str,
    seed: int,
    **options: Any,
) -> None:
    """Cluster the channels of TABLE through how often their codes occur together.

    Writes assignments (.parquet, .csv), clusters.csv, channels.csv, curve.csv, sequences.csv, new.csv (with --judge),
    model.sidelight, run.toml and report.html into the output folder.
    """
    from sidelight.jobs.config import RunConfig
    from sidelight.jobs.run import run
    from sidelight.jobs.sources import channels_of

    roles = roles_of(id_column=id_column, ignore=ignore, missing=missing, sequence=sequence)
    roles["channels"] = channels_of(channel)
    said = {name: value for name, value in options.items() if value is not None}
    with progress_bar():
        outcome = run(RunConfig("sources", table, roles, said, seed), out, overwrite=overwrite)
    show_outcome(outcome)
