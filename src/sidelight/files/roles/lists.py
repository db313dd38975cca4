"""What a column of lists tells about its neighbours: which column names the bags, and which one is the truth of rows.

A cell that lists several names (``wren;owl``) is a list of a bag when another column determines it. A column of single
names beside such lists says what each row is: jobs compare with it and learn nothing from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.files.roles.cells import is_gap
from sidelight.files.roles.looks import TRUE_WORDS, TRUTHS, Look, words_of
from sidelight.files.roles.plan import Plan

Rows = Sequence[Sequence[str]]
_FEWEST_LISTS = 3  # different ones: fewer are determined by many a column


def is_truth_name(look: Look) -> bool:
    """Say whether a column is called like a truth; words alone are evidence only where the cells are words, too."""
    return look.key in TRUTHS or (look.kind == "text" and bool(words_of(look.name) & TRUE_WORDS))


def guess_bag_of_lists(plan: Plan, looks: Sequence[Look], rows: Rows) -> None:
    """Take a column that determines the lists of another one for the bag."""
    lists = _lists(plan, looks)
    if lists is None or looks[lists].n_distinct < _FEWEST_LISTS:
        return
    finest = sorted(
        ((look.n_distinct, j) for j, look in enumerate(looks) if j not in plan.why and j != lists and is_name(look)),
        reverse=True,
    )
    for n_distinct, j in finest:
        if determines(rows, j, lists):
            plan.bag = j
            plan.take(
                j, "bag", f"rows that share one of its {n_distinct} values share the list in {plan.names[lists]!r}"
            )
            return


def prefer_lists(plan: Plan, looks: Sequence[Look], rows: Rows, *, truth_is_open: bool) -> None:
    """Take lists that the rows of a bag share for the labels; a label that they do not share is the truth of rows."""
    lists = _lists(plan, looks) if plan.bag_label is None else None
    if lists is None or plan.bag is None or len(plan.labels) > 1 or not determines(rows, plan.bag, lists):
        return
    label = plan.labels[0] if plan.labels else None
    if label == lists or (label is not None and (looks[label].separator or determines(rows, plan.bag, label))):
        return
    plan.labels = [lists]
    plan.take(lists, "label", "lists of names that the rows of a bag share")
    if label is not None:
        plan.truth = label if truth_is_open else plan.truth
        beside = f"a name a row, beside the lists in {plan.names[lists]!r}"
        plan.take(label, "truth" if truth_is_open else "ignored", beside)


def guess_truth(plan: Plan, looks: Sequence[Look], rows: Rows) -> None:
    """Find the truth of rows beside labels: by its name, or because it holds the names of the lists, one a row."""
    if plan.truth is not None or not (plan.labels or plan.bag_label is not None):
        return
    lists = _lists(plan, looks)
    free = [j for j, look in enumerate(looks) if j not in plan.why and is_name(look)]
    for j in free:
        if is_truth_name(looks[j]):
            plan.truth = j
            plan.take(j, "truth", "its name")
            return
    if lists is None or plan.bag is None:
        return
    members = _members(rows, lists, looks[lists].separator)
    for j in free:
        if _names_of(rows, j) <= members and not determines(rows, plan.bag, j):
            plan.truth = j
            plan.take(j, "truth", f"its {looks[j].n_distinct} names are those of the lists, one a row")
            return


def guess_truth_of_items(plan: Plan, looks: Sequence[Look], rows: Rows) -> None:
    """Find the truth of the first things of an event table: a column that is called so and that they determine."""
    for j, look in enumerate(looks):
        if j not in plan.why and is_truth_name(look) and is_name(look) and determines(rows, plan.events[0], j):
            plan.truth = j
            plan.take(j, "truth", f"its name, and every {plan.names[plan.events[0]]!r} has one")
            return


def _lists(plan: Plan, looks: Sequence[Look]) -> int | None:
    """Return the column of lists: the label or the bag's label when it is one, else the only one that is free."""
    told = [j for j in (plan.bag_label, *plan.labels) if j is not None and looks[j].separator]
    free = [j for j, look in enumerate(looks) if j not in plan.why and look.separator]
    return told[0] if told else free[0] if len(free) == 1 else None


def is_name(look: Look) -> bool:
    """Say whether cells are single names that come back: words or whole numbers, twice each on average."""
    is_single = look.separator is None and not look.is_media and not look.dressed and look.mean_length <= 40
    return is_single and (look.kind == "text" or look.is_whole) and 2 <= look.n_distinct <= max(2, look.n_seen // 2)


def determines(rows: Rows, names: int, cells: int) -> bool:
    """Say whether rows that share a name share the cell; gaps say nothing."""
    seen: dict[str, str] = {}
    return all(
        is_gap(row[names]) or is_gap(row[cells]) or seen.setdefault(row[names], row[cells]) == row[cells]
        for row in rows
    )


def _names_of(rows: Rows, j: int) -> set[str]:
    return {row[j].strip() for row in rows if not is_gap(row[j])}


def _members(rows: Rows, lists: int, separator: str | None) -> set[str]:
    cells = {row[lists] for row in rows}
    return {part.strip() for cell in cells for part in (cell.split(separator) if separator else [cell])}
