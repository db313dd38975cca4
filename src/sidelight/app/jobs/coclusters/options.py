"""Options of the co-clusters job."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.app.jobs.options.model import Options, at_least, non_empty, option
from sidelight.app.jobs.options.shared import Curve, Engine, Memory, Scheduler, Scratch, TableMethod, check_curve


class Coclusters(Options, frozen=True):
    """Clusters of every axis of a table of counts."""

    n_clusters: Annotated[
        Annotated[list[Annotated[int, at_least(1)]], non_empty()] | Literal["auto"],
        option(
            "Clusters of each axis; one number means all axes; auto takes what half of the counts confirms.",
            word="clusters",
            letter="k",
            shown="ROWS,COLUMNS|auto",
        ),
    ] = "auto"
    method: Annotated[
        TableMethod | None,
        option(
            "What clusters the table; by default information or spectral, by held-out counts; annealed for more axes."
        ),
    ] = None
    n_init: Annotated[Annotated[int, at_least(1)] | None, option("Number of starts.", word="starts")] = None
    curve: Curve = None
    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None
    memory: Memory = None

    def __post_init__(self) -> None:
        """Refuse a curve that runs backwards."""
        check_curve(self.curve)
