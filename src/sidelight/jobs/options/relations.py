"""Options of the relations job."""

from __future__ import annotations

from typing import Annotated

from sidelight.jobs.options.model import Options, says
from sidelight.jobs.options.shared import Clusters, Scale, Starts


class Relations(Options, frozen=True):
    """Clusters of rows by information maximisation."""

    n_clusters: Clusters
    scale: Scale = "standard"
    penalty: Annotated[float, says("Weight of |W|^2 / 2; smaller is sharper.", ge=0)] = 2.0**-5
    n_init: Starts = 4
