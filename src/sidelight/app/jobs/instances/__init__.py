"""The instances job: the rows of labelled bags, named and clustered by one of several methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sidelight.app.jobs.job import Fit, Job, Method, Shown
from sidelight.app.jobs.options import Kind, Options, at_least, option
from sidelight.app.jobs.roles import InParts, Scale
from sidelight.lazy import functions_of
from sidelight.words import counted

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset


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


class Coverage(InParts, frozen=True):
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


class Spectral(InParts, frozen=True):
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


class FastMiml(Options, frozen=True):
    """Labels ranked for bags and rows in a space that all of them share; rows that no label wants may be novel."""

    method: Annotated[Literal["fast-miml"], option(_METHOD)] = "fast-miml"
    n_novel: Annotated[int, option("Clusters of the rows that no known label wants.", word="novel", ge=0)] = 0
    names: Names = {}


_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, is_labelled, n_kinds

    if has_rows(data) and data.candidates is not None:
        return Fit("instances", "rows with candidates: which of its labels each row has", roles)
    if data.bags is None and data.material and {"id", "label"} <= roles.keys() and n_kinds(data):
        named = {name: value for name, value in roles.items() if name != "id"}
        return Fit(
            "instances",
            "a label on every row, by its folder or list: what names new ones",
            {**named, "bag": roles["id"]},
        )
    if not has_rows(data) or not is_labelled(data):
        return None
    why = "rows in bags, label sets on bags: the label of each row"
    assert data.bags is not None  # is_labelled looked
    if data.bags.counts_rows:
        why = (
            f"rows in bags that say {'which share' if data.bags.how_counted == 'shares' else 'how many'} of them carry "
        )
        return Fit("instances", f"{why}each label: the label of each row", roles)
    n_none = int((data.bags.is_labelled & (data.bags.n_labels == 0)).sum())
    if n_none:
        none = counted(n_none, "list says that none of them is there", "lists say that none of them is there")
        return Fit("instances", f"{why}, and kinds that nobody named: {none}", {**roles, "n_novel": "auto"})
    n_silent = int((~data.bags.is_labelled).sum()) if len(data.bags.classes) > 1 else 0
    if 0 < n_silent < data.bags.n_bags / 2:
        silent = counted(n_silent, "bag has", "bags have")
        why += f", and kinds that nobody named: {silent} an empty list beside others that have one"
        return Fit("instances", why, {**roles, "n_novel": "auto", "empty": "none"})
    return Fit("instances", f"{why}; allow novel clusters where rows may be of kinds that no list names", roles)


JOB = Job(
    name="instances",
    summary="Name and cluster the rows of labelled bags.",
    text="Name and cluster the rows of TABLE by the labels of their bags.\n\nA bag (a recording, an image, a document) "
    "has several rows and a list of labels; nobody labelled a row. With the method coverage no row carries a label "
    "outside its bag's list, and every label on the list is carried by a row. The method spectral clusters the "
    "rows and reads the clusters by the lists; dmnl finds labels that no list names by the structure of the rows; "
    "fast-miml ranks labels for bags and rows."
    "\n\nWrites assignments (.parquet, .csv), clusters.csv, bags.csv (all but spectral) or class_shares.csv "
    "(spectral), model.sidelight, run.toml and report.html into the output folder.",
    you_have="rows in bags, and a list of labels for each bag (which birds are in which recording)",
    example={"bag": "recording", "label": "species"},
    methods={
        "coverage": Method(Coverage, _here("coverage.work"), in_parts=True),
        "spectral": Method(Spectral, _here("spectral.work"), in_parts=True),
        "dmnl": Method(Dmnl, _here("novel.work")),
        "fast-miml": Method(FastMiml, _here("novel.work")),
    },
    fits=_fits,
    files={"class_shares": "the share of each class in each cluster"},
    demos={
        "photographs": _here("demo_photographs.tagged_photographs"),  # the leading card
        "instances": _here("demo.digits_in_bags"),
        "instances-spectral": _here("demo.ways_of_writing"),
        "novel": _here("demo.rectangles"),
        "sounds": _here("demo.calls_in_recordings"),
    },
    shows={
        **dict.fromkeys(
            ("CoverageClustering", "OredLogisticRegression", "NovelClassLogisticRegression"),
            Shown("bags", _here("coverage.result_of")),
        ),
        **dict.fromkeys(("DMNL", "DMNLCV", "FastMIML", "NovelLabels"), Shown("bags", _here("novel.result_of"))),
        "BagSpectralClustering": Shown("bags", _here("spectral.result_of")),
    },
    retired={
        "CoverageClustering": ("solver", "neighbours", "cap", "cv", "max_subclusters", "max_novel"),
        "BagSpectralClustering": ("affinity", "rounding"),
        "DMNL": ("rho", "ridge"),
        "FastMIML": ("n_dimensions", "n_subconcepts", "max_iter"),
    },
    shown=(
        "method", "n_novel", "n_clusters", "corrections", "id", "bag", "label", "label_file", "truth",
        "features", "ignore", "missing", "embed",
    ),
)  # fmt: skip
