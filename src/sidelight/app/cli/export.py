"""``sidelight export``: what a run found, in the files of other programs."""

from __future__ import annotations

import click

from sidelight.app.cli.options import shown_options
from sidelight.app.cli.terminal import show_sentences

YOU_HAVE = "results, and a program that shows recordings (Raven, Audacity) or labels (Label Studio)"
RUN = "sidelight export results --as raven --out selections"


@click.command("export", short_help="Write results as selection tables or tasks of other programs.")
@click.argument("results", type=click.Path())
@click.option(
    "--as", "form", required=True, type=click.Choice(["raven", "audacity", "birdnet", "label-studio"]),
    help="The program that will open it.",
)  # fmt: skip
@click.option("--out", required=True, type=click.Path(), help="A folder; for label-studio a file that ends with .json.")
@click.option("--overwrite", is_flag=True, help="Replace what an earlier call wrote.")
@shown_options
def command(results: str, form: str, out: str, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Write the rows of RESULTS, the folder of a run, for another program.

    Raven, Audacity and BirdNET get one selection table for each recording, with our names; they need the rows of
    `sidelight from`. Label Studio gets one task for each row, with its label as a prediction.
    """
    from sidelight.app.jobs.export import export

    told = export(results, out, form, overwrite=overwrite)
    show_sentences(told, {"out": out, "sentences": told}, as_json=as_json, quiet=quiet)
