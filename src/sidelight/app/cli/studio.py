"""``sidelight studio``: a page that asks people the right questions."""

from __future__ import annotations

from typing import Any

import click

from sidelight.app.cli.options import role_options, roles_from, seed_option
from sidelight.errors import InvalidParameter, MissingExtra

OVERVIEW = {"studio": ("rows, people who know them, and a browser", "sidelight studio --demo")}


def _folder_options(function: Any) -> Any:
    function = click.option(
        "--folder",
        default="sidelight-studio",
        show_default=True,
        type=click.Path(),
        help="Folder of projects and answers.",
    )(function)
    return click.option(
        "--database", metavar="URL", help="Keep answers in a PostgreSQL (postgresql://...) instead of the folder."
    )(function)


def _server() -> Any:
    """Return what serves the studio; without the extra, say what to install."""
    try:
        from sidelight.app.studio.web.serving import serve
    except ImportError as error:
        if isinstance(error, MissingExtra):
            raise
        raise MissingExtra(error.name or "fastapi", "studio", "The studio") from error
    return serve


@click.group("studio", invoke_without_command=True, short_help="Open a page that asks people about rows.")
@_folder_options
@click.option("--demo", is_flag=True, help="Begin with the bundled digit images.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; others than this machine's need a token, which is printed.",
)
@click.option(
    "--port",
    default=8321,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free one.",
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser.")
@click.pass_context
def studio_command(
    ctx: click.Context, folder: str, database: str | None, demo: bool, host: str, port: int, browser: bool
) -> None:
    """Open a page on which people answer questions chosen by the model, while the clusters improve.

    Answers are in FOLDER/studio.db, each on the disk before it is acknowledged. Ctrl-C stops the server; the next one
    goes on where it ended.
    """
    if ctx.invoked_subcommand is not None:
        return
    _server()(folder, database, host=host, port=port, demo=demo, browser=browser, say=click.echo)


@studio_command.command("demo", short_help="Open projects to try: digits, birds in recordings, things in photographs.")
@_folder_options
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser.")
def demo_command(folder: str, database: str | None, port: int, browser: bool) -> None:
    """Open the studio with three projects: digits to be asked about, and runs on recordings and photographs.

    Recordings and photographs are made up on this machine; nothing is downloaded. They are ready after a minute.
    """
    _server()(folder, database, host="127.0.0.1", port=port, browser=browser, say=click.echo, demos=True)


@studio_command.command("open", short_help="Open the results of a run; what people say goes back into them.")
@click.argument("results", type=click.Path())
@_folder_options
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535), help="Port to listen on.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser.")
def open_command(results: str, folder: str, database: str | None, port: int, browser: bool) -> None:
    """Open RESULTS, the output folder of any job that clusters rows.

    The page writes names.csv, answers.csv and the corrections of check.csv back into RESULTS when asked,
    and when it stops.
    """
    _server()(folder, database, host="127.0.0.1", port=port, browser=browser, say=click.echo, results=results)


@studio_command.command("new", short_help="Make a project from a table or a folder.")
@click.argument("source", type=click.Path())
@click.option("--name", help="What the project is called; the name of the file by default.")
@_folder_options
@click.option(
    "--kind",
    type=click.Choice(["pair", "triplet"]),
    default="pair",
    show_default=True,
    help="What a question is about.",
)
@click.option(
    "--strategy",
    type=click.Choice(["rows", "pairs", "info", "uncertain", "random", "fixed"]),
    default="rows",
    show_default=True,
    help="How questions are chosen.",
)
@click.option(
    "--questions", type=click.Path(), help="Table of questions for --strategy fixed: two or three columns of row names."
)
@click.option("--overlap", is_flag=True, help="Ask all people the whole fixed list, to see how they agree.")
@click.option("-k", "--clusters", type=click.IntRange(min=1), help="Number of clusters, if it is known.")
@role_options
@seed_option
def new(source: str, name: str | None, folder: str, database: str | None, **typed: Any) -> None:
    """Make a project of SOURCE: a table (one column names the rows), or a folder of images.

    With --labels, which says what is in each file of a folder, the job instances runs first: the project begins with
    its result, and asks about tags and doubtful rows.
    """
    from sidelight.app.studio.making import make_project

    settings = {key: typed.pop(key) for key in ("kind", "strategy", "questions", "overlap", "clusters", "seed")}
    settings["by"] = "auto"
    if settings["questions"] is not None and settings["strategy"] != "fixed":
        raise InvalidParameter("A list of questions goes with --strategy fixed.")
    made, notes = make_project(source, name, folder, database, roles_from(typed), settings)
    for note in notes:
        click.echo(note)
    click.echo(f"Made the project {made!r}. Next: sidelight studio --folder {folder}")
