"""Options of the relations job, method by method."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.app.jobs.options.model import Kind, Options, at_least, option
from sidelight.app.jobs.options.shared import Clusters, Engine, Memory, Scale, Scheduler, Scratch, Starts

_METHOD = (
    "discriminative: ours, also where answers are wrong; cop-kmeans breaks no answer; pck-means and mpck-means put a "
    "price on it; itml, mmc, lsml, scml and sparse-lp learn a metric; also gaussian-mixture, sssvad and propagation."
)
PairsFile = Annotated[
    str | None,
    option("Table of answers about pairs: two row names, then same or different.", kind=Kind.PATH),
]
TripletsFile = Annotated[
    str | None,
    option(
        "Table of answers about triplets: three row names, then the odd one out (a, b, c, its name, or none).",
        kind=Kind.PATH,
    ),
]
Corrections = Annotated[str | None, option("The check.csv of an earlier run with answers filled in.", kind=Kind.PATH)]
Peers = Literal[
    "cop-kmeans",
    "pck-means",
    "mpck-means",
    "gaussian-mixture",
    "itml",
    "mmc",
    "lsml",
    "scml",
    "sparse-lp",
    "sssvad",
    "propagation",
]


class Relations(Options, frozen=True):
    """Clusters of rows that respect answers about pairs and triplets of them."""

    n_clusters: Clusters = "auto"
    method: Annotated[Literal["discriminative"], option(_METHOD)] = "discriminative"
    pairs: PairsFile = None
    triplets: TripletsFile = None
    corrections: Corrections = None
    eps: Annotated[
        Annotated[float, at_least(0)] | Literal["auto"],
        option("Share of wrong answers; auto finds out from the answers."),
    ] = "auto"
    boundary: Annotated[Literal["curved", "straight"], option("Whether boundaries between clusters may bend.")] = (
        "curved"
    )
    scale: Scale = "standard"
    penalty: Annotated[
        Annotated[float, at_least(0)] | None, option("Weight of |W|^2 / 2; smaller is sharper. Default: from the rows.")
    ] = None
    n_init: Starts = 2
    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None
    memory: Memory = None


class Peer(Options, frozen=True):
    """Clusters of rows by a method of another paper, with its defaults."""

    method: Annotated[Peers, option(_METHOD)]
    n_clusters: Clusters = "auto"
    pairs: PairsFile = None
    triplets: TripletsFile = None
    corrections: Corrections = None
    scale: Scale = "standard"
