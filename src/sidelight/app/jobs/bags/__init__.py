"""The bags job: clusters of bags whose labels nobody knows, by one of several methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sidelight.app.jobs.bags.options import Margin, Medoids, Words
from sidelight.app.jobs.job import Fit, Job, Method, Shown
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset

_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, is_labelled

    if not has_rows(data) or data.bags is None or data.bags.n_bags == data.n_rows:
        return None
    why = "rows in bags: cluster whole bags" + (", without their labels" if is_labelled(data) else "")
    return Fit("bags", why, {name: value for name, value in roles.items() if not name.startswith("label")})


JOB = Job(
    name="bags",
    summary="Cluster bags of rows that nobody labelled.",
    text="Cluster the bags of TABLE (any file that `sidelight describe` understands).\n\nA bag is several rows with "
    "the same name in the bag column. Writes bags.csv (cluster of each bag, how sure it is, and its witness: the row "
    "that speaks loudest), assignments (.parquet, .csv), clusters.csv, model.sidelight, run.toml and report.html "
    "into the output folder; stability.csv when the number of clusters was chosen.",
    you_have="rows in bags (regions of images, passages of documents), and no labels",
    example={"bag": "COLUMN"},
    methods={
        "words": Method(Words, _here("words.work"), _here("in_parts.words")),
        "margin": Method(Margin, _here("margin.work")),
        "medoids": Method(Medoids, _here("medoids.work")),
    },
    fits=_fits,
    demos={"bags": _here("demo.films")},
    shows={"BagWordClustering": Shown("bags", _here("words.result_of"))},
    shown=(
        "method", "n_clusters", "margin", "distance", "scale", "id", "bag", "truth", "features", "ignore", "show",
        "text", "missing",
    ),
)  # fmt: skip
