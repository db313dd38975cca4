"""What the relations job found: clusters of rows, and the answers they break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sidelight.app.jobs.result import Map, Result, big

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationsResult(Result):
    """Clusters of rows, and how sure the rows are of them."""

    sizes: Sequence[int]
    share_sure: float | None
    n_pairs: int = 0
    n_triplets: int = 0
    n_broken: int = 0
    eps: float = 0.0
    eps_is_estimated: bool = False  # else it was given, or assumed because the answers are few
    n_moved: int = 0  # rows in another cluster than their features alone would put them
    annotator_errors: Mapping[str, float] = field(default_factory=dict)
    map: Map = big()

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.relations.page import page

        return page(self)
