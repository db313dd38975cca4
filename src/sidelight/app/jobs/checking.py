"""What every job adds to its result: how it agrees with a truth in the table, and the rows most worth a look.

``check.csv`` lists the rows (or bags, or pairs) that the result is least sure of. Where the job's estimator can learn
from a correction, the table has an empty column for it, and the job takes the filled table back as its corrections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from sidelight._core.contingency import contingency, encode
from sidelight.app.jobs.columns import Columns as Table
from sidelight.app.jobs.output import heading
from sidelight.app.jobs.result import Columns, Result
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, UnknownName, nearest
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
    n_given : int
        Of how many rows the list of their bag has one label, so that no other name could be found.
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
    n_given: int = 0

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


MOST = 50  # lines of check.csv: what a person looks through in one sitting
RIGHT = "right label"  # the empty column for corrections of rows
R = TypeVar("R", bound=Result)


def checked(result: R, data: Dataset, *, judged: str = "cluster", right: str | None = None, uses_y: bool = False) -> R:
    """Add the truth and the rows worth a look to a result whose assignments have a probability.

    Parameters
    ----------
    result : Result
        What a job found.
    data : Dataset
        The table.
    judged : str
        The column of the assignments to compare with the truth.
    right : str, optional
        The name of an empty column, where corrections of rows can be used.
    uses_y : bool
        Whether the labels of rows were used, so that they are no truth.
    """
    assigned = result.assignments
    tables = {**result.tables, "check": least_sure(assigned, assigned["probability"], right=right)}
    role, kinds = ("truth", data.truth) if data.truth is not None else ("label", None if uses_y else data.y)
    if kinds is None or not (kinds != "").any():
        return replace(result, tables=tables)
    column = next(iter(data.columns(role)), role)
    learned = role == "label" and judged == "label" and data.bags is not None and bool(data.bags.is_labelled.any())
    truth = Truth.of(kinds.tolist(), assigned[judged], column, named=judged == "label", used=learned)
    if judged == "label" and data.bags is not None:
        truth = replace(truth, n_given=int((leaves_no_choice(data.bags) & (kinds != "")).sum()))
    return replace(result, truth=truth, tables={**tables, "truth": cross_table(kinds.tolist(), assigned[judged])})


def leaves_no_choice(bags: Bags) -> np.ndarray:
    """Say of which rows the list has one label: nothing that is found can change their name."""
    n_labels = np.diff(bags.label_matrix.indptr)
    return np.asarray((bags.is_labelled & ~bags.is_partial & (n_labels == 1))[bags.codes])


def checked_bags(result: R, data: Dataset) -> R:
    """Add the truth of bags that have one kind or one label each, and the bags worth a look."""
    of_bags = result.tables["bags"]
    tables = {**result.tables, "check": least_sure(of_bags, of_bags["probability"])}
    bags = data.bags
    assert bags is not None  # the job looked
    labels = [bags.labels[name] or frozenset() for name in bags.names]
    for roles, sets in ((("truth",), _kinds_in(bags, data.truth)), (("bag label", "label"), labels)):
        single = [next(iter(names)) if len(names) == 1 else "" for names in sets]
        if sum(label != "" for label in single) < max(2, len(single) / 2):  # several kinds in a bag are none of it
            continue
        clusters = of_bags["cluster"]
        column = next((name for role in roles for name in data.columns(role)), "label")
        truth = Truth.of(single, clusters, column, "bag", named=False)
        return replace(result, truth=truth, tables={**tables, "truth": cross_table(single, clusters)})
    return replace(result, tables=tables)


def _kinds_in(bags: Bags, truth: Any) -> Sequence[Set[Any]]:
    """Return the kinds of each bag's rows; none where the table holds no truth."""
    kinds: list[set[Any]] = [set() for _ in bags.names]
    for bag, kind in zip(bags.codes.tolist(), () if truth is None else truth.tolist()):
        kinds[bag] |= {kind} - {""}
    return kinds


def least_sure(columns: Columns, sure: Any, *, right: str | None = None) -> Columns:
    """Return the lines that are least sure, with an empty column for what is right."""
    order = np.argsort(np.asarray(sure, dtype=np.float64), kind="stable")[:MOST].tolist()
    lines: dict[str, list[Any]] = {name: [cells[i] for i in order] for name, cells in columns.items()}
    return lines if right is None else {**lines, right: [""] * len(order)}


def row_corrections(path: str, data: Dataset) -> dict[int, str]:
    """Read which rows were corrected, and to what; lines that were left empty say nothing."""
    table = Table(path)
    if RIGHT not in table.names:
        raise InvalidData(
            f"{path!r} has no column {heading(RIGHT)!r}: fill in the check.csv of a run of this job. It has "
            f"{', '.join(repr(heading(name)) for name in table.names)}."
        )
    rows = row_numbers(path, table.cells(table.names[0]), data)
    return {row: label.strip() for row, label in zip(rows, table.cells(RIGHT)) if label.strip()}


def row_numbers(path: str, names: Sequence[str], data: Dataset) -> list[int]:
    """Find rows by their names."""
    known: Mapping[str, int] = {str(name): row for row, name in enumerate(data.row_names.tolist())}
    for name in names:
        if name not in known:
            raise UnknownName(f"{path!r} speaks of a row {name!r}, which the table has not. {nearest(name, known)}")
    return [known[name] for name in names]
