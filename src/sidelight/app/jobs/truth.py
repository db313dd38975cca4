"""How clusters agree with a truth that no fit saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._core.contingency import contingency, encode
from sidelight.app.jobs.result import Columns
from sidelight.metrics import adjusted_rand_index, clustering_accuracy, normalized_mutual_information

_MOST_KINDS = 500  # a cross table with more columns than this is no longer read by anyone


@dataclass(frozen=True, eq=False)
class Truth:
    """Clusters against a column of the truth.

    Attributes
    ----------
    column : str
        Where the truth comes from.
    n_rows, n_kinds, n_clusters : int
        How many rows (or bags) have a truth, how many kinds there are, and in how many clusters they are.
    information : float
        Normalised mutual information: 1 when each determines the other, 0 when they have nothing to do with each other.
    agreement : float
        Adjusted Rand index: 1 for the same partition, 0 for chance.
    accuracy : float
        Share of rows in the right place, after clusters are matched with kinds one to one as well as possible.
    same_names : float or None
        Share of rows whose cluster bears the name of its kind; None where clusters are not called like kinds.
    what : str
        What was compared: "row" or "bag".
    was_used : bool
        Whether the fit learned from the same column.
    """

    column: str
    n_rows: int
    n_kinds: int
    n_clusters: int
    information: float
    agreement: float
    accuracy: float
    same_names: float | None = None
    what: str = "row"
    was_used: bool = False

    @classmethod
    def of(
        cls,
        truth: Sequence[Any],
        clusters: Sequence[Any],
        column: str,
        what: str = "row",
        *,
        named: bool = True,
        used: bool = False,
    ) -> Truth:
        """Compare two labellings of the same rows; rows whose truth is empty do not count.

        ``named`` says whether clusters bear names of kinds (else a number is no name), ``used`` whether the fit saw
        these kinds.
        """
        names = np.array([str(name) for name in truth], dtype=object)
        found = np.array([str(name) for name in clusters], dtype=object)
        is_said = names != ""
        names, found = names[is_said], found[is_said]
        kinds, groups = set(names.tolist()), set(found.tolist())
        return cls(
            column,
            len(names),
            len(kinds),
            len(groups),
            float(normalized_mutual_information(names, found)),
            float(adjusted_rand_index(names, found)),
            float(clustering_accuracy(names, found)),
            float(np.mean(names == found)) if named and kinds & groups else None,
            what,
            used,
        )


def cross_table(truth: Sequence[Any], clusters: Sequence[Any]) -> Columns:
    """Count how often each cluster (a line) meets each kind (a column), the largest first on both sides."""
    pairs = [(str(kind), str(name)) for kind, name in zip(truth, clusters) if str(kind) != ""]
    kinds, kind_names = encode([kind for kind, _ in pairs], what="truth")
    groups, group_names = encode([name for _, name in pairs], what="clusters")
    table = contingency(groups, kinds, (len(group_names), len(kind_names))).dense()
    lines, order = np.argsort(-table.sum(axis=1), kind="stable"), np.argsort(-table.sum(axis=0), kind="stable")
    columns: dict[str, list[Any]] = {"cluster": [group_names[k] for k in lines]}
    for j in order[:_MOST_KINDS]:
        name = str(kind_names[j])
        while name in columns:
            name = f"kind {name}"
        columns[name] = table[lines, j].tolist()
    return columns
