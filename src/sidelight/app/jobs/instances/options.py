"""Options of the instances job, method by method; a new method is one class here and one line in the catalogue."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.app.jobs.options.model import Kind, Options, at_least, option
from sidelight.app.jobs.options.shared import Engine, Memory, Scale, Scheduler, Scratch

_METHOD = (
    "coverage: name every row by the lists of the bags; spectral: clusters of the rows, read by the lists; dmnl: "
    "labels that no list names, by the structure of the rows; fast-miml: labels ranked for bags and rows, fast."
)
Count = Annotated[int, at_least(1)] | Literal["auto"]
Lists = Annotated[
    Literal["complete", "partial"],
    option("Whether a bag's list names everything in it, or others may be there too."),
]
Empty = Annotated[
    Literal["unlabelled", "none"],
    option("What an empty list means: nobody looked, or none of the known labels is there (needs {n_novel})."),
]
Names = Annotated[
    dict[str, list[str] | str],
    option(
        "The name of a novel cluster, which the model keeps: novel-1=cuckoo.", kind=Kind.CHANNELS, word="name",
        shown="CLUSTER=NAME",
    ),
]  # fmt: skip


class Coverage(Options, frozen=True):
    """Every row carries a label of its bag's list, and every label of the list is carried by a row."""

    method: Annotated[Literal["coverage"], option(_METHOD)] = "coverage"
    n_subclusters: Annotated[
        Count | dict[str, Count],
        option(
            "Clusters for each label: one number, a list, or 'auto': asks held-out bags, in up to a hundred fits.",
            word="subclusters",
            shown="N|auto|wren=2,owl=3",
        ),
    ] = 1
    n_novel: Annotated[
        Annotated[int, at_least(0)] | Literal["auto"],
        option("Clusters for kinds that no list names.", word="novel"),
    ] = 0
    lists: Lists = "complete"
    empty: Empty = "unlabelled"
    rows: Annotated[
        Literal["no", "known"],
        option(
            "'known' believes the label column row by row where it is filled; else it only says what the bag holds."
        ),
    ] = "no"
    wrong: Annotated[float, option("Probability that a listed label is not in the bag.", ge=0, lt=1)] = 0.0
    forgotten: Annotated[
        float, option("Probability that the label of a row is missing from its bag's list.", ge=0, lt=1)
    ] = 0.0
    penalty: Annotated[
        Annotated[float, at_least(0)] | Literal["auto"],
        option(
            "Weight of |W|^2 / 2; smaller is sharper. 'auto' asks held-out bags, and takes some 20 times as long.",
        ),
    ] = 1.5
    information: Annotated[
        float, option("Weight of clear and even clusters; helps rows, and most of all novel clusters.", ge=0)
    ] = 0.3
    boundary: Annotated[
        Literal["auto", "straight", "curved"],
        option("Whether boundaries between clusters may bend; auto asks held-out bags."),
    ] = "auto"
    corrections: Annotated[
        str | None,
        option("The check.csv of an earlier run with right labels filled in.", kind=Kind.PATH),
    ] = None
    names: Names = {}
    n_init: Annotated[int, option("Starts, where sub-clusters or novel clusters need them.", word="starts", ge=1)] = 12
    scale: Scale = "standard"
    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None
    memory: Memory = None


class Dmnl(Options, frozen=True):
    """Known labels from the lists of the bags, novel labels from the structure of the rows."""

    method: Annotated[Literal["dmnl"], option(_METHOD)] = "dmnl"
    n_novel: Annotated[
        Annotated[int, at_least(0)] | Literal["auto"],
        option("Labels for kinds that no list names.", word="novel"),
    ] = "auto"
    structure: Annotated[
        Literal["clusters", "manifold"], option("Compact clusters, or the same label for near rows.")
    ] = "clusters"
    lam: Annotated[float, option("Weight of the structure of the rows.", ge=0)] = 0.1
    lists: Lists = "complete"
    empty: Empty = "unlabelled"
    names: Names = {}
    n_init: Annotated[int, option("Starts.", word="starts", ge=1)] = 5


class Spectral(Options, frozen=True):
    """Clusters of rows by their similarities and their bags."""

    method: Annotated[Literal["spectral"], option(_METHOD)] = "spectral"
    n_clusters: Annotated[
        Annotated[int, at_least(1)] | Literal["auto"] | None,
        option(
            "Number of clusters; more than classes to find kinds within them; auto takes what other rows confirm. "
            "Default: one per class, auto where there are no labels.",
            word="clusters",
            letter="k",
        ),
    ] = None
    alpha: Annotated[
        Annotated[float, at_least(0)] | Literal["auto"],
        option("Weight of the bags against the features; auto tries seven."),
    ] = "auto"
    constraints: Annotated[
        Literal["all", "ambiguous"], option("ambiguous leaves out what bags with a single label say.")
    ] = "all"
    metric: Annotated[Literal["euclidean", "cosine"], option("Distance between rows.")] = "euclidean"
    scale: Scale = "standard"
    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None
    memory: Memory = None


class FastMiml(Options, frozen=True):
    """Labels ranked for bags and rows in a space that all of them share; rows that no label wants may be novel."""

    method: Annotated[Literal["fast-miml"], option(_METHOD)] = "fast-miml"
    n_novel: Annotated[int, option("Clusters of the rows that no known label wants.", word="novel", ge=0)] = 0
    names: Names = {}
