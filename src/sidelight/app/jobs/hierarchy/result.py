"""What the hierarchy job found: the tree behind the labels, and the gaps filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sidelight.app.jobs.result import Result, big
from sidelight.data.hierarchy import LabelTree

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, kw_only=True, eq=False)
class HierarchyResult(Result):
    """The tree behind labels with gaps, and the gaps filled."""

    n_labels: int
    n_seen: int
    n_unlabelled: int
    n_unknown: int
    n_added: int
    n_rows_changed: int
    used_features: bool
    alpha: float
    label_alphas: Sequence[float]
    source: str
    depth: int
    n_linked: int
    n_weak: int
    n_tested: int
    n_not_random: int
    extra_parents: Sequence[tuple[str, str, float]]
    obeys_extra_parents: bool
    tree: LabelTree = big()
    declared: LabelTree | None = big(default=None)
    follows_declared: bool = False
    evidence: np.ndarray = big()
    counts: np.ndarray = big()
    gap_p_values: np.ndarray = big()
    completed: np.ndarray = big()

    def page(self) -> Page:
        """Say what was found."""
        from sidelight.app.jobs.hierarchy.page import page

        return page(self)
