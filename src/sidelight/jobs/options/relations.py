"""Options of the relations job."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.jobs.options.model import Options, from_, says
from sidelight.jobs.options.shared import Clusters, Scale, Starts


class Relations(Options, frozen=True):
    """Clusters of rows that respect answers about pairs and triplets of them."""

    n_clusters: Clusters
    pairs: Annotated[
        str | None,
        says("Table of answers about pairs: two row names, then same or different.", shown="PATH"),
    ] = None
    triplets: Annotated[
        str | None,
        says("Table of answers about triplets: three row names, then the odd one out (a, b, c or none).", shown="PATH"),
    ] = None
    eps: Annotated[
        Annotated[float, from_(0)] | Literal["auto"],
        says("Share of wrong answers; auto finds out from the answers."),
    ] = "auto"
    boundary: Annotated[Literal["curved", "straight"], says("Whether boundaries between clusters may bend.")] = "curved"
    scale: Scale = "standard"
    penalty: Annotated[
        Annotated[float, from_(0)] | None, says("Weight of |W|^2 / 2; smaller is sharper. Default: from the rows.")
    ] = None
    n_init: Starts = 2
