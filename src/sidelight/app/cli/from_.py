"""``sidelight from``: cut a folder of recordings, pictures or texts into a table of rows."""

from __future__ import annotations

from typing import Any

import click

from sidelight.app.cli.options import shown_options
from sidelight.app.cli.terminal import progress_bar, show_sentences

YOU_HAVE = "a folder of recordings, photographs or letters"
RUN = "sidelight from FOLDER --labels lists.csv --out rows.parquet"


@click.command("from", short_help="Cut a folder of recordings, pictures or texts into a table.")
@click.argument("folder", type=click.Path())
@click.option("--out", required=True, type=click.Path(), help="The table to write; ends with .parquet.")
@click.option("--labels", type=click.Path(), help="A table that says which labels each file has, or selections.")
@click.option("--kind", type=click.Choice(["sounds", "pictures", "texts"]), help="What to cut in a mixed folder.")
@click.option(
    "--cut", type=click.Choice(["time", "masks"]), help="Sounds: pieces of time, or patches of pitch and time."
)
@click.option("--rate", type=click.IntRange(min=1000), help="Sounds: samples a second that pitch is heard up to.")
@click.option("--regions", type=click.IntRange(min=1, max=200), help="Pictures: regions of each.  [default: 6]")
@click.option("--whole", is_flag=True, help="Pictures: one row each, with its quarters, instead of regions.")
@click.option("--by", type=click.Choice(["file", "paragraph"]), help="Texts: what is a row.  [default: file]")
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="Selections below this are left out.")
@click.option("--extractor", default="", metavar="MODULE:FUNCTION", help="Your own function, from a file to rows.")
@click.option("--jobs", "n_jobs", type=click.IntRange(min=1), help="Processes; as many as there are cores by default.")
@click.option("--overwrite", is_flag=True, help="Replace OUT even if it was made by something else.")
@shown_options
def command(
    folder: str, out: str, labels: str | None, kind: str | None, min_confidence: float, extractor: str,
    n_jobs: int | None, overwrite: bool, as_json: bool, quiet: bool, **settings: Any,
) -> None:  # fmt: skip
    """Cut FOLDER into one table: a row for each sound of a recording, region of a picture, or text.

    Every row has the file it comes from, where it lies there, readable features and what to show. Labels of files come
    from a table beside the folder, from selection tables of Raven, Audacity or BirdNET, or from the folders they lie
    in. A file that cannot be read is named and left out. Running again cuts only what is new or has changed.
    """
    from sidelight.app.jobs.cutting import cut_folder

    said = {name: value for name, value in settings.items() if value is not None and value is not False}
    with progress_bar(quiet):
        told, numbers = cut_folder(
            folder, out, labels=labels, kind=kind, extractor=extractor, n_jobs=n_jobs,
            min_confidence=min_confidence, overwrite=overwrite, settings=said,
        )  # fmt: skip
    show_sentences(told, numbers, as_json=as_json, quiet=quiet)
