"""``sidelight sample``: files to try every command on, without any download."""

from __future__ import annotations

import click

from sidelight.app.cli.options import seed_option, shown_options
from sidelight.app.cli.terminal import show_json, show_sentences
from sidelight.app.cli.wording import as_flag
from sidelight.words import render

YOU_HAVE = "no data yet, and want to try"
RUN = "sidelight sample birds birds.csv"


@click.command("sample", short_help="Write a file to try the commands on.")
@click.argument("name", required=False)
@click.argument("out", type=click.Path(), required=False)
@seed_option
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@shown_options
def command(name: str | None, out: str | None, seed: int, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Write the sample NAME to OUT: a file (.csv, .csv.gz, .parquet, .npz), or a folder of sounds, pictures or letters.

    Without a name, list the samples.
    """
    from sidelight.app.jobs.folder_samples import FOLDERS, write_folder
    from sidelight.app.jobs.samples import SAMPLES, write_sample

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
