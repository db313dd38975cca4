"""What the methods of the instances job found: rows named by the lists of their bags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.app.jobs.result import Map, Result, big

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, eq=False)
class Contents:
    """Clusters with their surest rows, and the bags that hold most of their rows."""

    names: Sequence[str]
    sizes: Sequence[int]
    typical: Sequence[Sequence[Any]]
    bags: Sequence[Sequence[Any]]
    n_bags: Sequence[int]


@dataclass(frozen=True, eq=False)
class Moved:
    """The rows that the labels of their bags moved most, and how many changed their name at all."""

    rows: Sequence[Any]
    before: Sequence[Any]
    after: Sequence[Any]
    moved: Sequence[float]
    n_moved: int
    n_rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class CoverageResult(Result):
    """Rows named by the lists of their bags."""

    n_bags: int
    n_labelled: int
    n_labels: int
    n_labels_found: int
    n_clusters_used: int
    n_novel_allowed: int
    n_novel_used: int
    n_bags_novel: int
    share_sure: float
    choice: Mapping[str, Mapping[str, Any]]
    uncovered: Sequence[tuple[Any, Sequence[Any]]]
    contents: Contents
    moved: Moved
    label_shares: np.ndarray
    labels: Sequence[Any]
    own_labels: Sequence[int]  # the label of each cluster, -1 for novel ones
    nearest: Mapping[str, Sequence[tuple[Any, str, float]]]  # of each novel cluster: rows, their names, distances
    novelty: Mapping[str, np.ndarray] = big()  # by features alone, of the rows that end in known and in novel clusters
    map: Map = big()
    unlisted: float | None = None  # the p-value of "every row is of a listed kind", where it was asked

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.instances.pages.coverage import page

        return page(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class NovelResult(CoverageResult):
    """Rows named by the lists of their bags and, where no list names them, by their structure."""

    noise: Sequence[str]
    objective: Sequence[float]  # before the first round and after the last; empty where there is none

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.instances.pages.novel import page

        return page(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectralResult(Result):
    """Clusters of the rows of labelled bags, read by the labels."""

    n_bags: int
    n_labelled: int
    classes: Sequence[Any]
    names: Sequence[str]
    sizes: Sequence[int]
    shares: np.ndarray
    clusters_of: Mapping[Any, Sequence[int]]
    n_mixed: int
    disagreeing: Sequence[tuple[Any, int]]
    share_in_one_cluster: float | None
    alpha: float
    alpha_search: Mapping[str, Any]
    notes: Sequence[str] = ()
    map: Map = big()

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.instances.pages.spectral import page

        return page(self)
