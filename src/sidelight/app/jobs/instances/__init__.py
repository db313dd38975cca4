"""The instances job: the rows of labelled bags, named and clustered by one of several methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sidelight.app.jobs.instances.options import Coverage, Dmnl, FastMiml, Spectral
from sidelight.app.jobs.job import Fit, Job, Method, Shown
from sidelight.lazy import functions_of
from sidelight.words import counted

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset

_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, is_labelled

    if has_rows(data) and data.candidates is not None:
        return Fit("instances", "rows with candidates: which of its labels each row has", roles)
    if not has_rows(data) or not is_labelled(data):
        return None
    why = "rows in bags, label sets on bags: the label of each row"
    assert data.bags is not None  # is_labelled looked
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
        "coverage": Method(Coverage, _here("coverage.work"), _here("in_parts.coverage")),
        "spectral": Method(Spectral, _here("spectral.work"), _here("in_parts.spectral")),
        "dmnl": Method(Dmnl, _here("dmnl.work")),
        "fast-miml": Method(FastMiml, _here("fast_miml.work")),
    },
    fits=_fits,
    files={"class_shares": "the share of each class in each cluster"},
    demos={
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
        **dict.fromkeys(("DMNL", "DMNLCV", "FastMIML", "NovelLabels"), Shown("bags", _here("dmnl.result_of"))),
        "BagSpectralClustering": Shown("bags", _here("spectral.result_of")),
    },
    shown=(
        "method", "n_novel", "n_clusters", "corrections", "names", "id", "bag", "label", "label_file", "truth",
        "features", "ignore", "missing",
    ),
)  # fmt: skip
