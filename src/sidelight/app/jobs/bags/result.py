"""What the methods of the bags job found: clusters of bags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.app.jobs.result import Columns, Map, Result, big

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, kw_only=True, eq=False)
class WordsResult(Result):
    """Clusters of bags by what they hold, and the row that speaks loudest in each."""

    n_bags: int
    sizes: Sequence[int]
    share_sure: float
    bag_proba: np.ndarray = big()
    bag_labels: np.ndarray = big()
    witnesses: np.ndarray = big()
    map: Map = big()

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.bags.pages.words import page

        return page(self)


@dataclass(frozen=True, eq=False)
class BalanceSizes:
    """Sizes of the clusters, largest first, for other values of the balance."""

    balances: Sequence[float]
    sizes: np.ndarray
    chosen: float


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginResult(Result):
    """Clusters of bags, and the row that decided each."""

    n_bags: int
    sizes: Sequence[int]
    share_at_margin: float
    n_with_second_cluster: int
    membership_threshold: float
    status: str
    C: float
    balance: float
    search_score: float | None = None
    search: Columns = field(default_factory=dict)
    balance_sizes: BalanceSizes | None = None
    margins: np.ndarray = big()
    bag_labels: np.ndarray = big()
    witnesses: np.ndarray = big()
    bag_of_row: np.ndarray = big()
    coordinates: np.ndarray = big()
    row_names: Sequence[Any] | np.ndarray = big(default=())
    bag_names: Sequence[Any] = big(default=())

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.bags.pages.margin import page

        return page(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class MedoidsResult(Result):
    """Clusters of bags around one bag each."""

    n_bags: int
    sizes: Sequence[int]
    distance: str
    mean_distance: float
    map: Map = big()

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.bags.pages.medoids import page

        return page(self)
