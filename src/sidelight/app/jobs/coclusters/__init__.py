"""The co-clusters job: a table of counts or of events becomes clusters of its rows and of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sidelight.app.jobs.job import Fit, Job, Method
from sidelight.app.jobs.options import Options as Options
from sidelight.app.jobs.options import at_least, non_empty, option
from sidelight.app.jobs.roles import Curve, InParts, TableMethod, check_curve
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset


class Coclusters(InParts, frozen=True):
    """Clusters of every axis of a table of counts."""

    n_clusters: Annotated[
        Annotated[list[Annotated[int, at_least(1)]], non_empty()] | Literal["auto"],
        option(
            "Clusters of each axis; one number means all axes; auto takes what half of the counts confirms.",
            word="clusters",
            letter="k",
            shown="ROWS,COLUMNS|auto",
        ),
    ] = "auto"
    method: Annotated[
        TableMethod | None,
        option(
            "What clusters the table; by default information or spectral, by held-out counts; annealed for more axes."
        ),
    ] = None
    n_init: Annotated[Annotated[int, at_least(1)] | None, option("Number of starts.", word="starts")] = None
    curve: Curve = None

    def __post_init__(self) -> None:
        """Refuse a curve that runs backwards."""
        check_curve(self.curve)


_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    from sidelight.app.jobs.fitting import has_rows, looks_like_counts

    if data.counts is not None:
        used = {name: value for name, value in roles.items() if name in ("events", "weight", "truth", "missing")}
        return Fit("coclusters", "counts of things seen together", used)
    if has_rows(data) and looks_like_counts(data.X):
        return Fit("coclusters", "a table of counts, rows by columns", roles)
    return None


JOB = Job(
    name="coclusters",
    summary="Cluster rows and columns of a table of counts.",
    text="Cluster the rows and the columns of TABLE, so that the clusters keep as much of its information as they can."
    "\n\nTABLE is a matrix of counts (a row each, a numeric column each) or a list of events. Writes assignments "
    "(.parquet, .csv) of the first axis, columns.csv for a matrix or axis2.csv, axis3.csv, ... for events, "
    "cells.csv, curve.csv, model.sidelight, run.toml and report.html.",
    you_have="counts of things that occur together (documents x words, users x items), as a matrix or as events",
    example={},
    methods={"": Method(Coclusters, _here("work.work"), in_parts=True)},
    fits=_fits,
    files={
        "cells": "which clusters occur together",
        "columns": "the cluster of each column",
        **{f"axis{number}": f"the clusters of column {number} of the events" for number in range(2, 7)},
        "curve": "information kept by numbers of clusters",
    },
    demos={"coclusters": _here("demo.visits")},
    shown=(
        "n_clusters", "method", "curve", "id", "events", "weight", "truth", "features", "ignore", "missing",
    ),
)  # fmt: skip
