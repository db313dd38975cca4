"""The bags job: clusters of bags whose labels nobody knows, by one of several methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sidelight.app.jobs.job import Fit, Job, Method, Shown
from sidelight.app.jobs.options import Options, option
from sidelight.app.jobs.roles import Clusters, InParts, Scale, Starts
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset


_METHOD = "words: by what the bags hold; margin: by one deciding row of each; medoids: by the distances between bags."


class Words(InParts, frozen=True):
    """Clusters of bags by the words of several code books that their rows are."""

    method: Annotated[Literal["words"], option(_METHOD)] = "words"
    n_clusters: Clusters = "auto"
    scale: Annotated[
        Literal["both", "standard", "whitened"],
        option("Code books of standardised rows, of whitened rows (correlated features), or of both."),
    ] = "both"
    n_init: Starts = 10


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
        "words": Method(Words, _here("work.work"), in_parts=True),
        "margin": Method(Margin, _here("work.work")),
        "medoids": Method(Medoids, _here("work.work")),
    },
    fits=_fits,
    demos={"bags": _here("demo.films")},
    shows={"BagWordClustering": Shown("bags", _here("work.words_found"))},
    retired={"BagWordClustering": ("max_clusters",)},
    shown=(
        "method", "n_clusters", "margin", "distance", "scale", "id", "bag", "truth", "features", "ignore", "show",
        "text", "missing",
    ),
)  # fmt: skip
