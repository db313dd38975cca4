"""Options of the relations job."""

from __future__ import annotations

from typing import Annotated

from sidelight.jobs.options.model import Options, from_, says
from sidelight.jobs.options.shared import Clusters, Scale, Starts


class Relations(Options, frozen=True):
    """Clusters of rows by information maximisation."""

    n_clusters: Clusters
    scale: Scale = "standard"
    penalty: Annotated[
        Annotated[float, from_(0)] | None, says("Weight of |W|^2 / 2; smaller is sharper. Default: from the rows.")
    ] = None
    n_init: Starts = 2
