"""Options that several jobs have, so that they are called and described the same everywhere."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.app.jobs.options.model import Kind, Options, at_least, option
from sidelight.errors import InvalidParameter

Clusters = Annotated[
    Annotated[int, at_least(1)] | Literal["auto"],
    option(
        "Number of clusters; auto takes what comes back from other rows, sequences or counts.",
        word="clusters",
        letter="k",
    ),
]
Starts = Annotated[int, option("Number of starts.", word="starts", ge=1)]
Scale = Annotated[
    Literal["standard", "none"],
    option("Give every feature mean 0 and variance 1 first; the saved model remembers it."),
]
TableMethod = Literal["annealed", "information", "spectral", "weights"]  # what clusters a table of co-occurrences
Curve = Annotated[
    tuple[Annotated[int, at_least(1)], Annotated[int, at_least(1)]] | None,
    option("Numbers of clusters for the curve of preserved information, such as 2:10."),
]
ENGINE = ("engine", "scheduler", "scratch", "memory")  # options of who goes over the rows
_MANY = "More rows than memory"  # heading of the help and of forms
Engine = Annotated[
    Literal["auto", "memory", "disk", "dask"],
    option(
        "Who goes over the rows of Parquet files: this process with all rows, or with a copy on disk, or a cluster.",
        group=_MANY,
    ),
]
Scheduler = Annotated[
    str | None, option("Address of a Dask scheduler, such as tcp://host:8786.", shown="ADDRESS", group=_MANY)
]
Scratch = Annotated[
    str | None,
    option("Folder for copies on disk, removed afterwards; workers must see it, too.", kind=Kind.PATH, group=_MANY),
]
Memory = Annotated[
    str | None,
    option("What rows may take before they go to disk, such as 4GB; half of the memory.", shown="SIZE", group=_MANY),
]


class Where(Options, frozen=True):
    """Who places the rows of Parquet files."""

    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None


def check_curve(curve: tuple[int, int] | None) -> None:
    """Refuse a curve that runs backwards."""
    if curve is not None and curve[0] > curve[1]:
        raise InvalidParameter(f"curve takes two whole numbers, the smaller first. Got {list(curve)} instead.")
