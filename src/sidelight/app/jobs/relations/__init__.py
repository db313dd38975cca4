"""The relations job: clusters of rows, by their features and by answers about pairs and triplets of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from sidelight.app.jobs.job import Fit, Job, Method, Shown
from sidelight.app.jobs.relations.options import Peer, Peers, Relations
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset

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
        "discriminative": Method(Relations, _here("work.work"), _here("in_parts.work")),
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
