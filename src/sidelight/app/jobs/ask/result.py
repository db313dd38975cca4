"""What a conversation found: clusters by the answers of a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sidelight.app.jobs.result import Map, Result, big

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, eq=False)
class Progress:
    """How a conversation went: after so many answers, the share of unsure rows and, with a truth, the agreement."""

    at: Sequence[int]
    unsure: Sequence[float]
    agreement: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class AskResult(Result):
    """Clusters by the answers of a person, and whether it pays to go on."""

    n_answers: int
    n_unsure: int
    n_broken: int
    eps: float
    sizes: Sequence[int]
    share_sure: float
    enough: bool
    outlook: str
    progress: Progress
    map: Map = big()

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.ask.page import page

        return page(self)
