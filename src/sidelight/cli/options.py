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
    function = click.option("--id", "id_column", metavar="COLUMN", help="Column that names each row.")(function)
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
        "--label", metavar="PATTERN", multiple=True, help="Column with the labels; several columns of 0 and 1 are fine."
    )(function)
    return click.option("--bag", metavar="COLUMN", help="Column that names the bag of each row.")(function)


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
) -> dict[str, Any]:
    """Return the roles of a run from the options above; what was not said is left to the guess."""
    said = {
        "id": id_column,
        "features": list(features),
        "ignore": list(ignore),
        "missing": missing,
        "bag": bag,
        "label": label[0] if len(label) == 1 and "*" not in label[0] else list(label),
        "label_file": label_file,
        "label_separator": label_separator,
    }
    return {name: value for name, value in said.items() if value}


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
