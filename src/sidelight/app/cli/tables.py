"""Where tables come from: samples, folders that are cut into rows, files of other formats; and a demo of every job."""

from __future__ import annotations

from typing import Any

import click

from sidelight.app.cli.options import Grouped, as_flag, role_options, roles_from, seed_option, shown_options
from sidelight.app.cli.terminal import progress_bar, show_json, show_outcome, show_sentences
from sidelight.words import render

OVERVIEW = {  # what somebody has who needs a command, and how it is called
    "sample": ("no data yet, and want to try", "sidelight sample birds birds.csv"),
    "from": (
        "a folder of recordings, photographs or letters",
        "sidelight from FOLDER --labels lists.csv --out rows.parquet",
    ),
    "embeddings": ("photographs or sounds, and want the best description of them", "sidelight embeddings"),
    "demo": ("two minutes", "sidelight demo"),
}


@click.command("sample", short_help="Write a file to try the commands on.")
@click.argument("name", required=False)
@click.argument("out", type=click.Path(), required=False)
@seed_option
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@shown_options
def sample_command(name: str | None, out: str | None, seed: int, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Write the sample NAME to OUT: a file (.csv, .csv.gz, .parquet, .npz), or a folder of sounds, pictures or letters.

    Without a name, list the samples.
    """
    from sidelight.app.jobs.samples import FOLDERS, SAMPLES, write_folder, write_sample

    listed = {key: sample.what for key, sample in SAMPLES.items()}
    listed |= {key: sample.what for key, sample in FOLDERS.items()}
    if name is None and as_json:
        show_json(listed)
        return
    if name is None:
        width = max(map(len, listed))
        for key, what in listed.items():
            click.echo(f"  {key.ljust(width)}  {what}")
        click.echo("\nsidelight sample NAME OUT writes one.")
        return
    if out is None:
        raise click.UsageError("Say where to write it: sidelight sample NAME OUT, for example birds.csv.")
    writes = write_folder if name in FOLDERS else write_sample
    sentences = [render(told, as_flag) for told in writes(name, out, seed=seed, overwrite=overwrite)]
    show_sentences(sentences, {"out": out, "sentences": sentences}, as_json=as_json, quiet=quiet)


# ``sidelight from``: cut a folder of recordings, pictures or texts into a table of rows.


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
@click.option("--whole", is_flag=True, help="One row a picture or recording, instead of regions or sounds.")
@click.option("--by", type=click.Choice(["file", "paragraph"]), help="Texts: what is a row.  [default: file]")
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="Selections below this are left out.")
@click.option("--extractor", default="", metavar="MODULE:FUNCTION", help="Your own function, from a file to rows.")
@click.option(
    "--embed", metavar="CARD", help="Pretrained network: a card, FILE.onnx, FILE.tflite, none.  [default: auto]"
)
@click.option("--jobs", "n_jobs", type=click.IntRange(min=1), help="Processes; as many as there are cores by default.")
@click.option("--overwrite", is_flag=True, help="Replace OUT even if it was made by something else.")
@shown_options
def from_command(
    folder: str, out: str, labels: str | None, kind: str | None, min_confidence: float, extractor: str,
    embed: str | None, n_jobs: int | None, overwrite: bool, as_json: bool, quiet: bool, **settings: Any,
) -> None:  # fmt: skip
    """Cut FOLDER into one table: a row for each sound of a recording, region of a picture, or text.

    Every row has the file it comes from, where it lies there, readable features and what to show. Labels of files come
    from a table beside the folder, from selection tables of Raven, Audacity or BirdNET, or from the folders they lie
    in. A file that cannot be read is named and left out. Running again cuts only what is new or has changed.
    """
    from sidelight.app.jobs.convert import cut_folder

    said = {name: value for name, value in settings.items() if value is not None and value is not False}
    with progress_bar(quiet):
        told, numbers = cut_folder(
            folder, out, labels=labels, kind=kind, extractor=extractor, embed=embed, n_jobs=n_jobs,
            min_confidence=min_confidence, overwrite=overwrite, settings=said,
        )  # fmt: skip
    show_sentences(told, numbers, as_json=as_json, quiet=quiet)


# ``sidelight embeddings``: the pretrained networks that can describe a folder.


@click.command("embeddings", short_help="List the pretrained networks that can describe a folder.")
@shown_options
def embeddings_command(as_json: bool, quiet: bool) -> None:
    """List the cards of pretrained networks: what each describes, its licence, and how to get it.

    `sidelight from FOLDER --embed NAME` describes a folder by one; so does every job that takes a folder. Also a file
    that ends with .onnx, .tflite or .toml (a card of your own), or a function of yours, MODULE:FUNCTION.
    """
    from sidelight.files.cards.choosing import listed

    cards = [card.as_dict() for card in listed()]
    if as_json:
        show_json({"cards": cards})
        return
    widths = {key: max(len(card[key]) for card in cards) for key in cards[0]}
    for card in cards:
        click.echo("  " + "  ".join(card[key].ljust(widths[key]) for key in card).rstrip())
    if not quiet:
        click.echo("\nOr a file of yours (.onnx, .tflite, .toml), a function (MODULE:FUNCTION), or none.")


# ``sidelight convert``: rewrite a file of any known format as CSV, Parquet or NPZ.


@click.command("convert", cls=Grouped, short_help="Rewrite a file as CSV, Parquet or NPZ.")
@click.argument("file", type=click.Path())
@click.argument("out", type=click.Path())
@role_options
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@shown_options
def convert_command(file: str, out: str, overwrite: bool, as_json: bool, quiet: bool, **typed: Any) -> None:
    """Read FILE and write it to OUT, whose ending decides: .csv, .csv.gz, .parquet or .npz."""
    from sidelight.app.jobs.convert import convert

    with progress_bar(quiet):
        sentences = convert(file, out, roles_from(typed), overwrite=overwrite)
    show_sentences(sentences, {"out": out, "sentences": sentences}, as_json=as_json, quiet=quiet)


# ``sidelight demo``: every job on data that needs no download.


@click.command("demo", short_help="Run every job on built-in data and show the reports.")
@click.option("--out", default="sidelight-demo", show_default=True, type=click.Path(), help="Folder for the pages.")
@click.option("--only", metavar="NAME", help="Run one demo only.")
@click.option("--overwrite", is_flag=True, help="Replace the output of an earlier demo.")
@seed_option
@shown_options
def demo_command(out: str, only: str | None, overwrite: bool, seed: int, as_json: bool, quiet: bool) -> None:
    """Run every job on data that needs no download, and write one report page each."""
    from sidelight.app.jobs.demo import run_demo

    with progress_bar(quiet):
        outcome = run_demo(out, only=only, seed=seed, overwrite=overwrite, spell=as_flag)
    if as_json:
        show_json({**outcome.as_dict(), "sentences": list(outcome.sentences)})
    elif not quiet:
        show_outcome(outcome, open_first="index.html")
