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
