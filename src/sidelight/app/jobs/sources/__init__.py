"""The sources job: several channels recorded together become clusters of every channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sidelight.app.jobs.job import Fit, Job, Method
from sidelight.app.jobs.sources.options import Sources
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset

_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, n_kinds
    from sidelight.files.roles.guesses import guess_channels

    channels = data.channels or guess_channels(data.feature_names)
    if not has_rows(data) or not channels:
        return None
    named = {name: f"{name}*" for name in channels} if data.channels is None else {}
    why = f"several channels ({', '.join(list(channels)[:4])})"
    return Fit("sources", why, {**roles, "channels": named}, n_kinds(data))


JOB = Job(
    name="sources",
    summary="Cluster several channels recorded together.",
    text="Cluster the channels of TABLE through how often their codes occur together.\n\nWrites assignments (.parquet, "
    ".csv), clusters.csv, channels.csv, curve.csv, sequences.csv, new.csv (for a second table), model.sidelight, "
    "run.toml and report.html into the output folder.",
    you_have="several measurements of the same moments (a face, a jacket, a height), maybe in sequences",
    example={"channels": {"face": "face_*", "upper": "upper_*"}, "sequence": "session"},
    methods={"": Method(Sources, _here("work.work"), _here("in_parts.work"))},
    fits=_fits,
    files={
        "channels": "what each channel shares with the primary one",
        "curve": "information kept by numbers of clusters",
        "new": "which rows of the second table fit no cluster",
        "sequences": "one line for each sequence",
    },
    demos={"sources": _here("demo.people")},
    shown=(
        "n_clusters", "primary", "method", "reassign", "curve", "judge", "id", "sequence", "channels", "truth",
        "features", "ignore", "missing",
    ),
)  # fmt: skip
