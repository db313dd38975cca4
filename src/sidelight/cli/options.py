"""Options that several commands share, so that they are called the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def table_argument(function: F) -> F:
    """The table to read."""
    return click.argument("table", type=click.Path())(function)


def out_options(function: F) -> F:
    """Where the files go."""
    function = click.option("--overwrite", is_flag=True, help="Replace the output of an earlier run.")(function)
    return click.option("--out", required=True, type=click.Path(), help="Folder for the results; made if missing.")(
        function
    )


def row_options(function: F) -> F:
    """Which columns are what."""
    function = click.option(
        "--id", "id_column", metavar="COLUMN", help="Column that names each row; none: no column does."
    )(function)
    return click.option(
        "--features",
        metavar="PATTERN",
        multiple=True,
        help="Column to use as a feature; * stands for anything; repeat for more. Default: every numeric column.",
    )(function)


def gap_options(function: F) -> F:
    """Which columns to leave out, and what to do about gaps."""
    function = click.option(
        "--missing",
        type=click.Choice(["error", "mean", "drop"]),
        default="error",
        show_default=True,
        help="What to do about missing cells: stop, take the column's mean, or leave the row out.",
    )(function)
    return click.option(
        "--ignore",
        metavar="PATTERN",
        multiple=True,
        help="Column to leave out; * stands for anything; repeat for more.",
    )(function)


def bag_options(function: F) -> F:
    """Which column names the bag, and where the labels of bags are."""
    function = click.option(
        "--label-separator", metavar="MARK", help="What stands between several labels in one cell, such as '|'."
    )(function)
    function = click.option(
        "--label-file",
        type=click.Path(),
        help="Second table with the labels: bag and label, or a column for each label.",
    )(function)
    function = click.option(
        "--label",
        metavar="PATTERN",
        multiple=True,
        help="Column with the labels; several columns of 0 and 1 are fine; none: no column has them.",
    )(function)
    return click.option("--bag", metavar="COLUMN", help="Column that names the bag of each row; none: no column does.")(
        function
    )


def reading_options(function: F) -> F:
    """What describe and convert can be told about a file; jobs read what convert wrote."""
    for option in (
        click.option("--format", metavar="NAME", help="Skip the recognition: delimited, matlab, arff, ..."),
        click.option("--separator", metavar="MARK", help="What stands between the columns of a text file."),
        click.option("--encoding", metavar="NAME", help="Encoding of a text file, such as latin-1."),
        click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
        click.option(
            "--event", "events", metavar="COLUMN", multiple=True, help="Count these columns together; repeat."
        ),
        click.option("--weight", metavar="COLUMN", help="What each row of an event table counts for."),
        click.option(
            "--sequence",
            metavar="COLUMN",
            help="Column that names the recording or session of each row; none: no column does.",
        ),
        click.option(
            "--show", metavar="COLUMN", multiple=True, help="Column with texts or paths to show beside a row."
        ),
        click.option("--bag-label", metavar="COLUMN", help="Column with the labels of the bag (not of the row)."),
        click.option("--ignore", metavar="PATTERN", multiple=True, help="Column to leave out; repeat for more."),
    ):
        function = option(function)
    return function


def roles_of(
    *,
    id_column: str | None = None,
    features: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    missing: str | None = None,
    bag: str | None = None,
    label: tuple[str, ...] = (),
    label_file: str | None = None,
    label_separator: str | None = None,
    bag_label: str | None = None,
    sequence: str | None = None,
    show: tuple[str, ...] = (),
    events: tuple[str, ...] = (),
    weight: str | None = None,
    format: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> dict[str, Any]:
    """Return the roles of a run from the options above; what was not said is left to the guess.

    ``none`` for the id, the bag, the label or the sequence says that no column is one.
    """
    said = {
        "id": _column_or_none(id_column),
        "features": list(features),
        "ignore": list(ignore),
        "missing": missing,
        "bag": _column_or_none(bag),
        "label": _column_or_none(label[0]) if len(label) == 1 and "*" not in label[0] else list(label),
        "label_file": label_file,
        "label_separator": label_separator,
        "bag_label": bag_label,
        "sequence": _column_or_none(sequence),
        "show": list(show),
        "events": list(events),
        "weight": weight,
        "format": format,
        "separator": "\t" if separator in ("tab", "\\t") else separator,
        "encoding": encoding,
        "header": header,
    }
    return {name: value for name, value in said.items() if value or value is False}


def _column_or_none(said: str | None) -> str | bool | None:
    return False if said == "none" else said


def curve_option(function: F) -> F:
    """Over which numbers of clusters the curve of preserved information runs."""

    def bounds(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int] | None:
        if value is None:
            return None
        low, _, high = value.partition(":")
        if not (low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
            raise click.BadParameter(
                f"two whole numbers, the smaller first, as in 2:10. Got {value!r} instead.", ctx, param
            )
        return [int(low), int(high)]

    return click.option(
        "--curve", metavar="FROM:TO", callback=bounds,
        help="Numbers of clusters for the curve of preserved information (curve.csv and the report), such as 2:10.",
    )(function)  # fmt: skip


def scale_option(function: F) -> F:
    """Whether features are standardised."""
    return click.option(
        "--scale",
        type=click.Choice(["standard", "none"]),
        default="standard",
        show_default=True,
        help="Give every feature mean 0 and variance 1 first; the saved model remembers it.",
    )(function)


def seed_option(function: F) -> F:
    """The one seed of a run."""
    return click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the run.")(
        function
    )
