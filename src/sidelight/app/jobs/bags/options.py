"""Options of the bags job, method by method."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.app.jobs.options.model import Options, option
from sidelight.app.jobs.options.shared import Clusters, Engine, Memory, Scale, Scheduler, Scratch, Starts

_METHOD = "words: by what the bags hold; margin: by one deciding row of each; medoids: by the distances between bags."


class Words(Options, frozen=True):
    """Clusters of bags by the words of several code books that their rows are."""

    method: Annotated[Literal["words"], option(_METHOD)] = "words"
    n_clusters: Clusters = "auto"
    scale: Annotated[
        Literal["both", "standard", "whitened"],
        option("Code books of standardised rows, of whitened rows (correlated features), or of both."),
    ] = "both"
    n_init: Starts = 10
    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None
    memory: Memory = None


class Margin(Options, frozen=True):
    """Clusters of bags with the largest margin: one row decides for its bag."""

    n_clusters: Clusters = "auto"
    method: Annotated[Literal["margin"], option(_METHOD)] = "margin"
    margin: Annotated[
        Literal["rest", "rows", "paper"],
        option(
            "What a bag is judged by: the best row of its cluster against the best rows of the others, one row's own "
            "scores, or these as the paper has it, where bags of many rows fall into one cluster."
        ),
    ] = "rest"
    C: Annotated[float, option("C, the price of a bag without a clear row.", word="price", ge=0)] = 16.0
    balance: Annotated[
        float,
        option(
            "How uneven clusters may be as the paper has it; 0 ties them, large values let one take everything.", ge=0
        ),
    ] = 1.0
    search: Annotated[bool, option("Choose {C} and {balance} without labels, by stability; slower.")] = False
    scale: Annotated[
        Literal["whitened", "standard", "unit", "none"],
        option("Give every feature, or every direction, mean 0 and the same variance; unit: then every row length 1."),
    ] = "whitened"
    n_init: Starts = 10


class Medoids(Options, frozen=True):
    """Clusters of bags around one bag each, by the distances between bags."""

    n_clusters: Clusters = "auto"
    method: Annotated[Literal["medoids"], option(_METHOD)] = "medoids"
    distance: Annotated[Literal["average", "minimal", "maximal"], option("Hausdorff distance between bags.")] = (
        "average"
    )
    scale: Scale = "standard"
    n_init: Starts = 5
