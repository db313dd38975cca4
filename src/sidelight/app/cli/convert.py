"""``sidelight convert``: rewrite a file of any known format as CSV, Parquet or NPZ."""

from __future__ import annotations

from typing import Any

import click

from sidelight.app.cli.options import Grouped, role_options, roles_from, shown_options
from sidelight.app.cli.terminal import progress_bar, show_sentences


@click.command("convert", cls=Grouped, short_help="Rewrite a file as CSV, Parquet or NPZ.")
@click.argument("file", type=click.Path())
@click.argument("out", type=click.Path())
@role_options
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@shown_options
def command(file: str, out: str, overwrite: bool, as_json: bool, quiet: bool, **typed: Any) -> None:
    """Read FILE and write it to OUT, whose ending decides: .csv, .csv.gz, .parquet or .npz."""
    from sidelight.app.jobs.convert import convert

    with progress_bar(quiet):
        sentences = convert(file, out, roles_from(typed), overwrite=overwrite)
    show_sentences(sentences, {"out": out, "sentences": sentences}, as_json=as_json, quiet=quiet)
