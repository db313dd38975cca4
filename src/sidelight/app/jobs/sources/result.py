"""What the sources job found: clusters of several channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sidelight.app.jobs.result import Blocks, Curve, Map, Result, big

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, eq=False)
class Judged:
    """What the clusters make of a second table."""

    path: str
    n_rows: int
    n_new: int
    new_sequences: Sequence[Any]
    left_out: Sequence[Any] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class SourcesResult(Result):
    """Clusters of several channels."""

    channels: Sequence[str]
    primary: str
    partner: str
    bits_shared: float
    sizes: Sequence[int]
    n_asked: int
    followed_sequences: bool
    torn: Sequence[Any] | None
    n_sequences: int
    curve: Curve
    method: str = "annealed"
    why: str = ""
    judged: Judged | None = None
    blocks: Blocks = big()
    map: Map = big()

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.sources.page import page

        return page(self)
