"""What the co-clusters job found: clusters of every axis of a table of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sidelight.app.jobs.result import Blocks, Columns, Curve, Result, big

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, kw_only=True, eq=False)
class CoclustersResult(Result):
    """Clusters of every axis of a table of counts."""

    axes: Mapping[str, int]
    n_asked: Mapping[str, int]
    n_found: Mapping[str, int]
    n_empty: Mapping[str, int]
    nats_kept: float
    nats_total: float
    is_of_pairs: bool
    total: float
    preferred: str | None = None  # why this method, in a sentence
    curve: Curve | None = None
    members: Mapping[str, Columns] = big()
    blocks: Blocks | None = big(default=None)

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.coclusters.page import page

        return page(self)
