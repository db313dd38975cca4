"""Options of the sources job."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.app.jobs.options.model import Kind, Options, at_least, option
from sidelight.app.jobs.options.shared import (
    Clusters,
    Curve,
    Engine,
    Memory,
    Scheduler,
    Scratch,
    TableMethod,
    check_curve,
)


class Sources(Options, frozen=True):
    """Clusters of every channel, through what occurs together."""

    n_clusters: Clusters = "auto"
    primary: Annotated[
        str | None, option("The channel whose clusters are wanted; the first by default.", shown="NAME")
    ] = None
    method: Annotated[
        Literal["auto", "graphs", "concatenated"] | TableMethod,
        option("Graphs of near rows, added up over the channels or of all side by side, or what clusters the counts."),
    ] = "auto"
    combine: Annotated[
        Literal["interleaved", "joint"] | None,
        option("Pairs of channels in turn, or all channels in one table; joint by default for annealed, if it fits."),
    ] = None
    n_codes: Annotated[
        Annotated[int, at_least(2)] | None, option("Codes per channel when there are no sequences.", word="codes")
    ] = None
    reassign: Annotated[bool, option("Let every row follow the majority of its sequence.")] = True
    curve: Curve = None
    judge: Annotated[
        str | None,
        option(
            "A second table with the same columns: new.csv says the cluster of its rows, and which fit none.",
            kind=Kind.PATH,
            shown="TABLE",
        ),
    ] = None
    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None
    memory: Memory = None

    def __post_init__(self) -> None:
        """Refuse a curve that runs backwards."""
        check_curve(self.curve)
