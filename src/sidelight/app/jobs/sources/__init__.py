"""The sources job: several channels recorded together become clusters of every channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sidelight.app.jobs.job import Fit, Job, Method
from sidelight.app.jobs.options import Kind, at_least, option
from sidelight.app.jobs.options import Options as Options
from sidelight.app.jobs.roles import (
    Clusters,
    Curve,
    InParts,
    TableMethod,
    check_curve,
)
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset


class Sources(InParts, frozen=True):
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

    def __post_init__(self) -> None:
        """Refuse a curve that runs backwards."""
        check_curve(self.curve)


_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, n_kinds
    from sidelight.files.roles.deciding import guess_channels

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
    methods={"": Method(Sources, _here("work.work"), in_parts=True)},
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
