"""Clusters of rows: the relations job, by answers about pairs and triplets of them, and the cluster job, without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from sidelight.app.jobs.job import Fit, Job, Method, Shown
from sidelight.app.jobs.options import Kind, Options, at_least, option
from sidelight.app.jobs.roles import Clusters, InParts, Scale, Starts
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset


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
PlacementsFile = Annotated[
    str | None,
    option("Table of rows that somebody sorted onto piles: a row name, then the name of its pile.", kind=Kind.PATH),
]
Words = Annotated[
    dict[str, list[str] | str],
    option(
        "What a word among the answers about pairs means, same, different or unsure: skip=unsure.",
        kind=Kind.CHANNELS, shown="WORD=MEANING",
    ),
]  # fmt: skip
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


Ways = Literal["best", "k-means", "mixture", "graph", "discriminative"]


class Relations(InParts, frozen=True):
    """Clusters of rows that respect answers about pairs and triplets of them."""

    n_clusters: Clusters = "auto"
    method: Annotated[Literal["discriminative"], option(_METHOD)] = "discriminative"
    pairs: PairsFile = None
    words: Words = {}
    triplets: TripletsFile = None
    placements: PlacementsFile = None
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


class Cluster(InParts, frozen=True):
    """Clusters of rows about which nothing else is known."""

    n_clusters: Clusters = "auto"
    method: Annotated[
        Ways,
        option("The way to cluster; best tries all, and takes the clusters that other rows tell best."),
    ] = "best"
    scale: Scale = "standard"


class Peer(Options, frozen=True):
    """Clusters of rows by a method of another paper, with its defaults."""

    method: Annotated[Peers, option(_METHOD)]
    n_clusters: Clusters = "auto"
    pairs: PairsFile = None
    words: Words = {}
    triplets: TripletsFile = None
    placements: PlacementsFile = None
    corrections: Corrections = None
    scale: Scale = "standard"


_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, n_kinds

    if not has_rows(data) or data.counts is not None:
        return None
    used = ("id", "truth", "features", "ignore", "text", "missing_words", "missing")
    return Fit("cluster", "rows with features", {k: v for k, v in roles.items() if k in used}, n_kinds(data))


_WAYS_FILE = {"ways": "the ways to cluster, and how well each did"}
JOB = Job(
    name="relations",
    summary="Cluster the rows of a table by answers about pairs and triplets of them.",
    text="Cluster the rows of TABLE (any file that `sidelight describe` understands) into clusters that respect what "
    "people said: these two are the same, these two are different; of these three this one is the odd one out. "
    "Answers may be wrong now and then; without any the rows alone decide.\n\nWrites assignments (.parquet, "
    ".csv), clusters.csv, broken_answers.csv (answers that do not fit), people.csv (how often each person is wrong), "
    "model.sidelight, run.toml and report.html into the output folder.",
    you_have="a table of rows, and maybe answers about which of them belong together",
    example={},
    methods={
        "discriminative": Method(Relations, _here("work.work"), in_parts=True),
        **dict.fromkeys(get_args(Peers), Method(Peer, _here("work.work"))),
    },
    fits=lambda data, roles: None,  # without answers `cluster` fits; with answers `describe` turns it into this
    files={
        "broken_answers": "answers that the clusters break",
        "people": "how often each person is wrong",
        **_WAYS_FILE,
    },
    demos={"relations": _here("demo.digits")},
    shows=dict.fromkeys(
        (
            "COPKMeans",
            "ConstrainedGaussianMixture",
            "ConstraintPropagation",
            "DiscriminativeClustering",
            "MPCKMeans",
            "MetricKMeans",
            "PCKMeans",
            "SSSVaD",
        ),
        Shown("answers", _here("work.shown_result")),
    ),
    shown=(
        "n_clusters", "method", "pairs", "triplets", "corrections", "eps", "boundary", "id", "truth",
        "features", "ignore", "text", "missing",
    ),
)  # fmt: skip

CLUSTER = Job(
    name="cluster",
    summary="Cluster the rows of a table, in the best of four ways.",
    text="Cluster the rows of TABLE (any file that `sidelight describe` understands) about which nothing else is "
    "known. K-means, a mixture of clouds, the graph of nearest rows and a discriminative fit are tried; which clusters "
    "are best told by other rows decides, and is said.\n\nWrites assignments (.parquet, .csv), clusters.csv, "
    "ways.csv (how well each way did), model.sidelight, run.toml and report.html into the output folder.",
    you_have="a table of rows, and nothing else",
    example={},
    methods=dict.fromkeys(get_args(Ways), Method(Cluster, _here("work.work"), in_parts=True)),
    fits=_fits,
    files=_WAYS_FILE,
    shows={"RowClustering": Shown("answers", _here("work.shown_result"))},
    shown=(
        "n_clusters",
        "method",
        "scale",
        "id",
        "truth",
        "features",
        "ignore",
        "text",
        "missing",
        "components",
        "embed",
    ),
)
