"""What is done with the results of runs: repeated, compared, scored, and exported for other programs."""

from __future__ import annotations

import os

import click

from sidelight.app.cli.options import as_flag, out_options, shown_options
from sidelight.app.cli.terminal import progress_bar, show_json, show_outcome, show_sentences, show_table

OVERVIEW = {  # what somebody has who needs a command, and how it is called
    "run": ("the run.toml of an earlier run", "sidelight run results/run.toml --out again"),
    "compare": ("several runs on the same rows, and wonder which to believe", "sidelight compare results again"),
    "score": ("assignments of rows, and a table that says what is right", "sidelight score results truth.csv"),
    "export": (
        "results, and a program that shows recordings (Raven, Audacity), photographs (digiKam) or labels",
        "sidelight export results --as raven --out selections",
    ),
}


@click.command("run", short_help="Repeat a run from its run.toml.")
@click.argument("config", type=click.Path())
@out_options
def run_command(config: str, out: str, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Run what CONFIG (a run.toml, or the folder it lies in) describes, from any folder.

    Paths in it are seen from where it lies. A table that has changed since then is said,
    and so are other versions of Sidelight and of the libraries that decide the numbers.
    """
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.run import run, what_changed

    if os.path.isdir(config):
        config = os.path.join(config, "run.toml")
    what = RunConfig.from_toml(config)
    changed = what_changed(config, what)
    for sentence in changed.values() if not quiet else ():
        click.echo(f"sidelight: note: {sentence}", err=True)
    with progress_bar(quiet):
        outcome = run(what, out, overwrite=overwrite, spell=as_flag)
    if as_json:
        show_json({**outcome.as_dict(), "table_changed": "table" in changed, "versions_changed": "versions" in changed})
    elif not quiet:
        show_outcome(outcome)


# ``sidelight compare``: several runs side by side.


@click.command("compare", short_help="Put several runs side by side.")
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option("--out", type=click.Path(), help="Folder for runs.csv, agreement.csv and a page with the picture.")
@click.option("--overwrite", is_flag=True, help="Replace the files of an earlier comparison in that folder.")
@shown_options
def compare_command(runs: tuple[str, ...], out: str | None, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Put the folders RUNS side by side: what they were told, what they found, and how much their clusters agree."""
    from pathlib import Path

    from sidelight.app.jobs.first_look import check_there
    from sidelight.app.jobs.output import check_free

    for folder in runs:
        check_there(folder)
    if out is not None:
        check_free(Path(out), overwrite)
    from sidelight.app.jobs.score import compare, write_comparison

    found = compare(runs)
    files = [] if out is None else write_comparison(found, out, overwrite=overwrite)
    if as_json:
        show_json({**found.as_dict(), "files": files})
    elif not quiet:
        for sentence in found.sentences:
            click.echo(sentence)
        show_table(found.table)
        if files:
            click.echo(f"Wrote {', '.join(files)} to {out}/")


# ``sidelight score``: how well assignments agree with a truth.


@click.command("score", short_help="Compare assignments with the truth.")
@click.argument("assignments", type=click.Path())
@click.argument("truth", type=click.Path())
@click.option("--column", metavar="COLUMN", help="Column of ASSIGNMENTS to judge.  [default: label or cluster]")
@click.option("--truth-column", metavar="COLUMN", help="Column of TRUTH that holds the right kind.")
@click.option("--by", metavar="COLUMN", help="Column that names the rows, in both tables.  [default: the first]")
@click.option("--out", type=click.Path(), help="File for the cross table, such as cross.csv.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@shown_options
def score_command(
    assignments: str,
    truth: str,
    column: str | None,
    truth_column: str | None,
    by: str | None,
    out: str | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Join ASSIGNMENTS (a table, or the folder of a run) with TRUTH by the names of rows, and say how they agree.

    Normalised mutual information, adjusted Rand index, accuracy after the best matching of clusters with kinds, and
    the cross table. Where rows of TRUTH have no names, they count as row 1, 2, ...
    """
    from pathlib import Path

    from sidelight.app.jobs.first_look import check_there
    from sidelight.app.jobs.output import check_file_free

    for path in (assignments, truth):
        check_there(path)
    if out is not None:
        check_file_free(Path(out), overwrite=overwrite)
    from sidelight.app.jobs.score import score

    found = score(assignments, truth, column=column, truth_column=truth_column, by=by)
    if out is not None:
        from sidelight.app.jobs.output import write_csv

        write_csv(Path(out), found.table)
    if as_json:
        show_json(found.as_dict())
    elif not quiet:
        for sentence in found.sentences:
            click.echo(sentence)
        show_table(found.table)


# ``sidelight export``: what a run found, in the files of other programs.


@click.command("export", short_help="Write results as selection tables or tasks of other programs.")
@click.argument("results", type=click.Path())
@click.option(
    "--as", "form", required=True,
    type=click.Choice(["raven", "audacity", "birdnet", "label-studio", "digikam", "lightroom"]),
    help="The program that will open it.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(),
    help="A folder; for label-studio a file that ends with .json; for digikam and lightroom by default beside the "
    "photographs.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace what an earlier call wrote.")
@click.option("--write-originals", is_flag=True, help="Write keywords into the photographs (JPEG), too.")
@shown_options
def export_command(
    results: str, form: str, out: str | None, overwrite: bool, write_originals: bool, as_json: bool, quiet: bool
) -> None:
    """Write the rows of RESULTS, the folder of a run, for another program.

    Raven, Audacity and BirdNET get one selection table for each recording, with our names; they need the rows of
    `sidelight from`. Label Studio gets one task for each row, with its label as a prediction. digiKam and Lightroom
    get the labels of each photograph as keywords: a file beside it (photo.jpg.xmp, photo.xmp), added to what such a
    file holds already. Photographs themselves are not touched unless you say so.
    """
    from sidelight.app.jobs.export import export

    told = export(results, out, form, overwrite=overwrite, write_originals=write_originals)
    show_sentences(told, {"out": out, "sentences": told}, as_json=as_json, quiet=quiet)
