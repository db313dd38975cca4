"""Which column is the label: by its name, by what the rows of a bag share, by its place in the table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sidelight.files.roles.cells import is_gap
from sidelight.files.roles.looks import LABELS, TRUE_WORDS, TRUTHS, WEAK_LABELS, Look, key_of, words_of
from sidelight.files.roles.plan import ASKED, CLEAR, LIKELY, Plan
from sidelight.words import some_of

# What a column of lists tells about its neighbours: which column names the bags, and which one is the truth of rows.
#
# A cell that lists several names (``wren;owl``) is a list of a bag when another column determines it. A column of
# single names beside such lists says what each row is: jobs compare with it and learn nothing from it.


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


_PREFIX = re.compile(r"(labels?|class|classe|klasse|clase|tag|target|y|art|label)[_:.\- ].+", re.IGNORECASE)
_MOST_CLASSES = 30
Free = list[tuple[int, Look]]


def is_label_name(name: str) -> bool:
    """Say whether a column is called like a label."""
    return key_of(name) in LABELS


def guess_label(plan: Plan, looks: Sequence[Look], rows: Rows) -> None:
    """Find the label, or the columns of yes and no that are one together."""
    free = [
        (j, look)
        for j, look in enumerate(looks)
        if j not in plan.why and (plan.bag_label is None or not is_truth_name(look)) and look.kind != "empty"
    ]
    _ = (
        _ticks_by_name(plan, free)
        or _ticks_of_bags(plan, free, rows)
        or _by_name(plan, free, looks, rows)
        or _of_bags(plan, free, rows)
        or _lists_of_bags(plan, free, rows)
        or _by_weak_name(plan, free)
        or _block_of_ticks(plan, free, looks)
        or _words(plan, free, looks, at_end_only=True)
        or _coded(plan, free, looks)
        or _words(plan, free, looks)
    )


def _take(plan: Plan, columns: Sequence[int], why: str, sure: float = CLEAR) -> bool:
    plan.labels = list(columns)
    for j in columns:
        plan.take(j, "label", why, sure)
    return True


def _ask_class(plan: Plan, look: Look, what: str) -> None:
    plan.ask(
        f"Is {look.name!r} ({what}) what the rows are, or one of their features?",
        ("it is the label", {"label": look.name}),
        ("it is no label" if look.kind == "text" else "it is a feature", {"label": False}),
    )


def _ticks_by_name(plan: Plan, free: Free) -> bool:
    ticks = [j for j, look in free if (look.kind == "0/1" or look.is_tick) and _PREFIX.fullmatch(look.name)]
    return len(ticks) >= 2 and _take(plan, ticks, "its name, and every value is yes or no")


def _ticks_of_bags(plan: Plan, free: Free, rows: Rows) -> bool:
    """Take columns of yes and no that the rows of a bag share for labels, where other columns tell its rows apart."""
    if plan.bag is None or plan.bag_label is not None or not _has_pairs(rows, plan.bag):
        return False
    bag = plan.bag
    measured = {_stem(look.name) for _, look in free if look.kind == "number"}
    ticks = [j for j, look in free if look.is_tick and _stem(look.name) not in measured]
    shared = [j for j in ticks if determines(rows, bag, j) and _is_shared(rows, bag, j)]
    others = [j for j, look in free if look.kind == "number" and not determines(rows, bag, j)]
    if len(shared) < 2 or not others or any(_is_label(look) for j, look in free if j not in shared):
        return False
    return _take(plan, shared, "yes or no, and the rows of a bag share it")


def _by_name(plan: Plan, free: Free, looks: Sequence[Look], rows: Rows) -> bool:
    has_x = any(look.key == "x" for look in looks)  # x and y are places, not a target
    named = [(j, look) for j, look in free if look.key in LABELS and not (look.key == "y" and has_x)]
    named += [(j, look) for j, look in free if look.kind == "text" and look.is_called(LABELS)]
    named += [(j, look) for j, look in free if is_truth_name(look)]
    named = [(j, look) for j, look in named if not look.is_prose and not look.is_media and not look.is_time]
    for j, look in sorted(named, key=lambda one: is_truth_name(one[1])):  # a truth is the label where there is no other
        if look.kind == "text" or look.is_whole:
            many = look.kind != "text" and look.n_distinct > max(_MOST_CLASSES, 0.2 * look.n_seen)
            _take(plan, [j], "its name", ASKED if many else CLEAR)
            if many:
                plan.ask(
                    f"{look.name!r} holds {look.n_distinct} different numbers: are these classes?",
                    ("they are the labels", {"label": look.name}),
                    ("they are amounts to leave out", {"ignore": [look.name], "label": False}),
                    ("they are a feature", {"label": False}),
                )
            return True
    for j, look in named:
        plan.take(j, "ignored", "called like the answer, and holds amounts: no feature", ASKED)
        plan.ask(
            f"Is {look.name!r} the amount that is to be explained, or a feature?",
            ("leave it out", {"ignore": [look.name]}),
            ("it is a feature", {"label": False}),
        )
    return False


def _of_bags(plan: Plan, free: Free, rows: Rows) -> bool:
    """Take the class that the rows of a bag share for the label of the bag."""
    if plan.bag is None or not _has_pairs(rows, plan.bag):
        return False
    bag = plan.bag
    measured = {_stem(look.name) for _, look in free if look.kind == "number" and look.name != _stem(look.name)}
    few = [(j, look) for j, look in free if _is_few(look) and determines(rows, bag, j) and not look.separator]
    few = [(j, look) for j, look in few if look.kind == "text" or not look.has_name or _stem(look.name) not in measured]
    apart = [j for j, look in free if look.kind == "number" and not determines(rows, bag, j)]
    words = [(j, look) for j, look in few if look.kind == "text"] or (few if apart else [])
    if not words:
        return False
    j = words[-1][0]
    if len(words) == 1:
        return _take(plan, [j], "the rows of a bag share it", LIKELY)
    _take(plan, [j], "the rows of a bag share it", ASKED)
    plan.ask(
        f"The rows of a bag share {some_of(repr(one.name) for _, one in words)}: which one is the label?",
        *((f"{one.name!r} is", {"label": one.name}) for _, one in reversed(words[-3:])),
    )
    return True


def _lists_of_bags(plan: Plan, free: Free, rows: Rows) -> bool:
    """Take the only column of lists that the rows of a bag share."""
    lists = [j for j, look in free if look.separator and not look.is_prose]
    if plan.bag is None or len(lists) != 1 or not determines(rows, plan.bag, lists[0]):
        return False
    return _take(plan, lists, "lists of names that the rows of a bag share", LIKELY)


def _by_weak_name(plan: Plan, free: Free) -> bool:
    """Take a few values under a name that classes often have, wherever the column stands."""
    named = [(j, look) for j, look in free if look.is_called(WEAK_LABELS) and _is_few(look)]
    if not named:
        return False
    j, look = named[-1]
    if len(named) == 1:
        is_last = j == free[-1][0]
        _take(plan, [j], f"its name, and its {look.n_distinct} values", LIKELY)
        rival = free[-1][1]
        if not is_last and rival.kind == "0/1" and rival.is_called(WEAK_LABELS | LABELS):
            _ask_class(plan, look, "called so, and not the last column")
        return True
    _take(plan, [j], f"its name, and its {look.n_distinct} values", ASKED)
    plan.ask(
        f"Which of {some_of(repr(one.name) for _, one in named)} says what the rows are?",
        *((f"{one.name!r} does", {"label": one.name}) for _, one in reversed(named[-2:])),
        ("none of them", {"label": False}),
    )
    return True


def _block_of_ticks(plan: Plan, free: Free, looks: Sequence[Look]) -> bool:
    """Ask about three or more columns of yes and no at the end of a table of other numbers."""
    block: list[int] = []
    for j, look in reversed(free):
        if (look.kind != "0/1" and not look.is_tick) or j != len(looks) - 1 - len(block):
            break
        block.insert(0, j)
    others = [look for j, look in free if j not in block]
    if len(block) < 3 or len(others) < 3 or any(look.kind == "0/1" or look.is_tick for look in others):
        return False
    if any(_is_in_series(plan, j, looks) and looks[j - 1].kind == "number" for j in block[:1]):
        return False
    _take(plan, block, "the last columns, all of yes and no", ASKED)
    names = [plan.names[j] for j in block]
    plan.ask(
        f"Are the last {len(block)} columns ({some_of(names, 3)}) labels that a row has or has not, or features?",
        ("they are labels", {"label": names}),
        ("they are features", {"label": False}),
    )
    return True


def _words(plan: Plan, free: Free, looks: Sequence[Look], *, at_end_only: bool = False) -> bool:
    text = [(j, k) for j, k in free if k.kind == "text" and not k.is_media and not k.dressed and not k.is_time]
    words = [(j, k) for j, k in text if k.mean_length <= 40 and not k.is_prose and not (k.is_tick and len(text) > 1)]
    few = [(j, k) for j, k in words if 2 <= k.n_distinct <= max(2, k.n_seen // 2)]
    if not few or not (few[-1][0] == len(looks) - 1 or len(words) == 1 or few[0][0] == 0):
        return False
    at_end = few[-1][0] == len(looks) - 1
    if at_end_only and not at_end:
        return False
    j, look = few[-1] if at_end or len(words) == 1 else few[0]
    if len(words) > 1 and not at_end and look.n_distinct > _MOST_CLASSES:
        return False
    where = "the last column" if at_end else "the only column of text" if len(words) == 1 else "the first column"
    has_numbers = any(one.kind == "number" for _, one in free)
    has_rival = len(few) > 1 or (j not in (0, len(looks) - 1)) or (look.is_tick and not at_end)
    _take(plan, [j], f"{where}, with {look.n_distinct} different words", ASKED if has_rival else LIKELY)
    if has_rival and has_numbers:  # without numbers there is nothing that a job could do with the answer
        readings = [("it is the label", {"label": look.name})]
        readings += [(f"{one.name!r} is", {"label": one.name}) for k, one in few if k != j][:1]
        plan.ask(f"Is {look.name!r} ({where}) what the rows are?", *readings, ("no column is", {"label": False}))
    return True


def _coded(plan: Plan, free: Free, looks: Sequence[Look]) -> bool:
    """Take whole numbers 0..k or 1..k in the last or first column for a class when the others take many more values."""
    if len(free) < 3:
        return False
    for at in (-1, 0):
        j, look = free[at]
        stands = len(looks) - 1 if at else 0
        before = set(range(j)) <= {plan.id, plan.bag} if not at else False
        if j != stands and not before:
            continue
        counts_up = look.is_whole and look.low in (0, 1) and look.n_distinct == int(look.high - look.low) + 1
        is_sign = look.is_whole and (look.low, look.high, look.n_distinct) == (-1, 1, 2)
        others = sorted(other.n_distinct for k, other in free if k != j)
        fewer = others[len(others) // 2] > 1.5 * look.n_distinct
        if (
            not (counts_up or is_sign)
            or not 2 <= look.n_distinct <= _MOST_CLASSES
            or look.n_distinct > look.n_seen // 2
        ):
            continue
        if not fewer or (look.has_name and _is_in_series(plan, j, looks)):
            continue
        where = "last" if at else "first"
        reason = f"the {where} column: whole numbers from {int(look.low)} on, fewer different ones than elsewhere"
        _take(plan, [j], reason, ASKED if look.has_name else LIKELY)
        if look.has_name:
            _ask_class(plan, look, f"the {where} column, {look.n_distinct} different whole numbers")
        return True
    return False


def _is_in_series(plan: Plan, j: int, looks: Sequence[Look]) -> bool:
    """Say whether a neighbour has the same name up to the number at its end: f8, f9."""
    stem = _stem(looks[j].name)
    near = [looks[k].name for k in (j - 1, j + 1) if 0 <= k < len(looks)]
    return stem != looks[j].name and any(_stem(name) == stem for name in near)


def _stem(name: str) -> str:
    """Return a name without the number at its end: columns with the same are a series."""
    return re.sub(r"[_\- .]?\d+$", "", name)


def _is_few(look: Look) -> bool:
    few = 2 <= look.n_distinct <= max(2, min(_MOST_CLASSES, look.n_seen // 2))
    plain = not (look.is_time or look.is_prose or look.is_media or look.dressed)
    return few and plain and (look.kind == "text" or look.is_whole) and look.mean_length <= 40


def _is_label(look: Look) -> bool:
    return look.key in LABELS or (look.is_called(LABELS) and look.kind == "text" and not look.is_tick)


def _is_shared(rows: Rows, bag: int, j: int) -> bool:
    """Say whether each of two values is met in at least two bags of several rows: once is chance."""
    times: dict[tuple[str, str], int] = {}
    for row in rows:
        times[row[bag], row[j]] = times.get((row[bag], row[j]), 0) + 1
    bags: dict[str, int] = {}
    for (_, value), n in times.items():
        bags[value] = bags.get(value, 0) + (n > 1)
    return min(bags.values()) > 1


def _has_pairs(rows: Rows, bag: int) -> bool:
    """Say whether at least three bags have several rows."""
    times: dict[str, int] = {}
    for row in rows:
        times[row[bag]] = times.get(row[bag], 0) + 1
    return sum(n > 1 for n in times.values()) >= 3
