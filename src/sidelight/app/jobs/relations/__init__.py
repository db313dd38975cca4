"""The relations job: clusters of rows, by their features and by answers about pairs and triplets of them."""

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


class Relations(InParts, frozen=True):
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


class Peer(Options, frozen=True):
    """Clusters of rows by a method of another paper, with its defaults."""

    method: Annotated[Peers, option(_METHOD)]
    n_clusters: Clusters = "auto"
    pairs: PairsFile = None
    triplets: TripletsFile = None
    corrections: Corrections = None
    scale: Scale = "standard"


_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, n_kinds

    if not has_rows(data) or data.counts is not None:
        return None
    used = ("id", "truth", "features", "ignore", "text", "missing_words", "missing")
    return Fit("relations", "rows with features", {k: v for k, v in roles.items() if k in used}, n_kinds(data))


JOB = Job(
    name="relations",
    summary="Cluster the rows of a table by answers about pairs and triplets of them.",
    text="Cluster the rows of TABLE (any file that `sidelight describe` understands) into clusters that respect what "
    "people said: these two are the same, these two are different; of these three this one is the odd one out. "
    "Answers may be wrong now and then; without any the rows alone decide.\n\nWrites assignments (.parquet, "
    ".csv), clusters.csv, broken_answers.csv (answers that do not fit), model.sidelight, run.toml and report.html "
    "into the output folder.",
    you_have="a table of rows, and maybe answers about which of them belong together",
    example={},
    methods={
        "discriminative": Method(Relations, _here("work.work"), in_parts=True),
        **dict.fromkeys(get_args(Peers), Method(Peer, _here("work.work"))),
    },
    fits=_fits,
    files={"broken_answers": "answers that the clusters break"},
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
        "n_clusters", "method", "pairs", "triplets", "corrections", "eps", "boundary", "id", "truth", "features",
        "ignore", "text", "missing",
    ),
)  # fmt: skip
