"""Guesses about the columns that the user said nothing about: names and values, each with its reason and strength.

A guess that a careful person would not make without asking is made all the same, and
comes with a question: ``plan.ask``. Decision 39 says which guesses are strong enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sidelight.files.roles.label_guesses import (
    Rows,
    determines,
    guess_bag_of_lists,
    guess_label,
    guess_truth,
    is_label_name,
    is_name,
    is_truth_name,
    prefer_lists,
)
from sidelight.files.roles.looks import (
    BAGS,
    COUNTS,
    IDS,
    LABELS,
    LATITUDES,
    LONGITUDES,
    SEQUENCES,
    SHOWN,
    TIMES,
    Look,
    words_of,
)
from sidelight.files.roles.plan import ASKED, LIKELY, Plan, RoleRequest
from sidelight.words import counted

__all__ = ["guess_events", "guess_rest", "is_label_name"]


# Channels hidden in the names of columns: face_1, face_2, upper_1, upper_2 are two channels of two columns.


_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9 ]*?)[_.:\-](.+)")


def guess_channels(names: Sequence[str]) -> dict[str, list[str]] | None:
    """Return channel -> columns when every column has one of 2 to 20 prefixes, with two columns each on average."""
    groups: dict[str, list[str]] = {}
    for name in names:
        match = _PARTS.fullmatch(name)
        if match is None:
            return None
        groups.setdefault(match.group(1), []).append(name)
    enough = 2 <= len(groups) <= 20 and len(names) >= 2 * len(groups)
    return groups if enough else None


_SURELY_RUNNING = 25  # rows of 1, 2, 3, ... that are no measurement
_CLASS_SIZE = 20  # rows of each value from which on a running number looks like sorted classes


def guess_rest(plan: Plan, looks: Sequence[Look], wanted: RoleRequest, rows: Rows) -> None:
    """Fill in the roles that are still open."""
    if wanted.id is None:
        _guess_id(plan, looks)
    if wanted.bag is None:
        _guess_bag(plan, looks)
        if plan.bag is None:
            guess_bag_of_lists(plan, looks, rows)
    if wanted.sequence is None:
        _guess_sequence(plan, looks)
    if wanted.bag is None and plan.bag is None:
        _guess_bag_by_values(plan, looks, wanted, rows)
    if wanted.id is None:
        for j, look in _free(plan, looks):
            if look.key in IDS and look.is_whole and not look.is_unique:
                plan.take(j, "ignored", "called like an id, but its values come back; it may be the bag")
    if wanted.bag_label is None and plan.bag is not None:
        _guess_bag_label(plan, looks)
    if wanted.show is None:
        _show_names_of_files(plan, looks)
    _pass_over_times(plan, looks, wanted)
    if wanted.label is None and plan.candidates is None:
        guess_label(plan, looks, rows)
        prefer_lists(plan, looks, rows, truth_is_open=wanted.truth is None)
    if wanted.truth is None:
        guess_truth(plan, looks, rows)
    if wanted.show is None and not plan.show:
        _guess_show(plan, looks)
    if plan.labels and plan.label_separator is None and len(plan.labels) == 1:
        plan.label_separator = looks[plan.labels[0]].separator
    _features(plan, looks, explicit=wanted.features is not None or bool(plan.texts))


def guess_events(plan: Plan, looks: Sequence[Look]) -> bool:
    """Take two columns of names that come back, maybe with a count, a time and a truth, for a table of events."""
    weight = [j for j, look in enumerate(looks) if look.key in COUNTS and look.kind in ("number", "0/1")]
    truth = [j for j, look in enumerate(looks) if j == plan.truth or is_truth_name(look)]
    times = [j for j, look in enumerate(looks) if look.is_time and j not in weight]
    axes = [j for j in range(len(looks)) if j not in (*weight, *truth, *times)]
    grades = [j for j in axes if looks[j].is_whole and looks[j].n_distinct <= 10 and looks[j].high <= 10]
    if times and len(axes) == 3 and len(grades) == 1:
        axes = [j for j in axes if j not in grades]
    else:
        grades = []
    if len(axes) != 2 or len(weight) > 1 or len(truth) > 1:
        return False
    a, b = (looks[j] for j in axes)
    is_id = [look.is_whole and (look.key.endswith("id") or (bool(times) and look.n_distinct > 10)) for look in (a, b)]
    names = all(look.kind == "text" or whole for look, whole in zip((a, b), is_id))
    short = a.mean_length <= 40 and b.mean_length <= 40 and not a.is_media and not b.is_media
    if not names or not short or a.separator or b.separator or a.n_seen < 4:
        return False
    if a.is_unique or (b.is_unique and b.n_seen > 10):
        return False
    plan.item_and_label = b.key in LABELS and not weight and not times
    for j, other in ((axes[0], b), (axes[1], a)):
        what = "names that come back beside those of " + repr(other.name)
        plan.take(j, "event", what)
    if plan.item_and_label:
        plan.take(axes[0], "id", "the item of a long table of (item, label)")
        plan.take(axes[1], "label", f"called {b.name!r}, beside an item that comes back")
    plan.events = axes
    if weight:
        plan.weight = weight[0]
        plan.take(weight[0], "weight", "what each row counts for: its name")
    for j in times:
        plan.take(j, "ignored", "times: when an event was, not what")
    for j in grades:
        plan.take(j, "ignored", "grades of events; name it as the weight to count by them")
    return True


def _guess_id(plan: Plan, looks: Sequence[Look]) -> None:
    free = _free(plan, looks)
    for j, look in free:
        if not _is_called_id(look) and not (j == 0 and look.name == "column_1" and look.kind == "text"):
            continue
        if look.is_unique and look.n_seen > 1 and (look.kind == "text" or look.is_whole) and not look.is_prose:
            plan.id = j
            plan.take(j, "id", "different in every row" + (" and called so" if _is_called_id(look) else ""))
            return
    others = [j for j, look in free if look.kind in ("number", "0/1")]
    for j, look in free:
        enough = look.n_seen >= _SURELY_RUNNING or not look.has_name
        if look.is_consecutive and look.n_seen > 3 and enough and len(others) > 1:
            plan.id = j
            plan.take(j, "id", "1, 2, 3, ... in the order of the rows")
            return
    for j, look in free:
        is_whole_column = look.is_unique and look.n_seen == look.n_rows > 3
        if look.is_media and is_whole_column:
            plan.id = j
            plan.take(j, "id", "a file of its own for every row")
            return
    for j, look in free:
        is_plain = look.kind == "text" and look.mean_length <= 40 and not look.is_prose and not look.separator
        if not look.is_unique or look.n_seen < max(5, look.n_rows) or not is_plain or look.is_time or look.dressed:
            continue
        if not look.is_called(SHOWN | LABELS) and not look.odd:
            plan.id = j
            plan.take(j, "id", "a name of its own for every row", LIKELY)
            return


def _is_called_id(look: Look) -> bool:
    return look.key in IDS or look.key.endswith("id") or bool(words_of(look.name) & {"id", "nr", "uid", "nummer"})


def _guess_bag(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        is_bag_name = look.is_called(BAGS)
        named = is_bag_name or (look.key.endswith("id") and look.key not in IDS)
        if look.is_prose or look.is_time or (look.separator and not is_bag_name):
            continue
        if named and not look.is_unique and look.n_distinct > 1 and (look.kind == "text" or look.is_whole):
            if look.is_tick or (
                look.n_distinct < 4 and look.n_seen > _CLASS_SIZE * look.n_distinct and look.key not in BAGS
            ):
                continue  # a few large groups are classes
            if is_bag_name or look.is_sorted_run:
                plan.bag = j
                plan.take(j, "bag", f"its name, and its {look.n_distinct} values come back {_where(look)}".strip())
                return
    for j, look in _free(plan, looks):
        if look.is_media and 1 < look.n_distinct < look.n_seen:
            plan.bag = j
            plan.take(j, "bag", f"names of {look.n_distinct} files that come back {_where(look)}".strip(), LIKELY)
            return


def _guess_bag_by_values(plan: Plan, looks: Sequence[Look], wanted: RoleRequest, rows: Rows) -> None:
    """Take running numbers, or names that determine a class, for the bag."""
    free = _free(plan, looks)
    for j, look in free:
        if not look.is_running or look.n_distinct < 3:
            continue
        is_small = look.n_seen < _CLASS_SIZE * look.n_distinct
        shares = [k for k, other in free if k != j and _is_class(other) and _decides(rows, j, k)]
        if not is_small and not shares:
            continue  # sorted classes: the label looks at it
        plan.bag = j
        plan.take(j, "bag", f"running numbers: {look.n_distinct} groups of rows {_where(look)}".strip(), LIKELY)
        if look.n_distinct < 8 and not shares and not look.is_called(BAGS | IDS):
            plan.take(j, "bag", plan.why[j][1], ASKED)
            plan.ask(
                f"Does {look.name!r} (1, 1, ..., 2, 2, ...) say which rows belong together, or what they are?",
                ("the rows of a number are a bag", {"bag": look.name}),
                ("it is the class of the row", {"bag": False, "label": look.name}),
            )
        return
    if wanted.label is not None:
        return
    names = [(j, look) for j, look in free if look.kind == "text" and is_name(look) and not look.is_tick]
    for j, look in sorted(names, key=lambda one: -one[1].n_distinct):
        told = [k for k, other in free if k != j and _is_class(other) and other.n_distinct < look.n_distinct]
        told = [k for k in told if _decides(rows, j, k)]
        if not told or look.n_distinct < 3 or look.is_called(LABELS):
            continue
        plan.bag = j
        sure = LIKELY if look.is_sorted_run else ASKED
        plan.take(j, "bag", f"rows that share one of its {look.n_distinct} values share {plan.names[told[0]]!r}", sure)
        if sure < LIKELY:
            plan.ask(
                f"Is {look.name!r} a bag (a recording, an image) whose rows share {plan.names[told[0]]!r}?",
                ("it is the bag of the row", {"bag": look.name, "label": plan.names[told[0]]}),
                ("it is not", {"bag": False}),
            )
        return


def _is_class(look: Look) -> bool:
    """Say whether cells may be classes: words, ticks or a few whole numbers that come back."""
    few = 2 <= look.n_distinct <= max(2, min(30, look.n_seen // 3))
    return few and (look.kind == "text" or look.is_tick or look.is_whole) and not look.is_time and not look.is_prose


def _decides(rows: Rows, names: int, cells: int) -> bool:
    """Say whether a name decides a cell, seen on at least three names that come back."""
    times: dict[str, int] = {}
    for row in rows:
        times[row[names]] = times.get(row[names], 0) + 1
    return sum(n > 1 for n in times.values()) >= 3 and determines(rows, names, cells)


def _guess_sequence(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        if look.key in SEQUENCES and look.is_sorted_run and (look.kind == "text" or look.is_whole):
            plan.sequence = j
            plan.take(j, "sequence", "its name, and equal values stand together")
            return


def _guess_bag_label(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        if look.key in ("baglabel", "baglabels"):
            plan.bag_label = j
            plan.take(j, "bag label", "its name")
            return


def _show_names_of_files(plan: Plan, looks: Sequence[Look]) -> None:
    """Show the files that name rows or bags: a column may be both."""
    for j in (plan.id, plan.bag):
        if j is not None and looks[j].is_media and not plan.show:
            plan.show = [j]
            role, why = plan.why[j]
            plan.take(j, role, f"{why}; the files are shown", plan.sure.get(j, LIKELY))


def _pass_over_times(plan: Plan, looks: Sequence[Look], wanted: RoleRequest) -> None:
    """Leave times out: they say when a row was, not what it is."""
    if wanted.features is not None:
        return
    for j, look in _free(plan, looks):
        if look.is_time:
            plan.take(j, "ignored", "times: when a row was, not what it is")
        elif look.kind == "number" and plan.bag is not None and look.is_called(TIMES):
            plan.take(
                j, "ignored", "called like the time of a row within its bag: where it was, not what it is", LIKELY
            )


def _guess_show(plan: Plan, looks: Sequence[Look]) -> None:
    free = [(j, look) for j, look in _free(plan, looks) if look.kind == "text"]
    for j, look in free:
        if look.is_media:
            plan.show = [j]
            plan.take(j, "show", "its cells are names of files to show")
            return
    for j, look in free:
        if look.is_prose or look.is_called(SHOWN):
            plan.show = [j]
            why = "texts; name it as the text to make features of its words" if look.is_prose else "its name"
            plan.take(j, "show", why)
            return


def _features(plan: Plan, looks: Sequence[Look], *, explicit: bool) -> None:
    for j, look in _free(plan, looks):
        if explicit or plan.channels:
            plan.take(j, "ignored", "not among the features you named")
        elif look.kind in ("number", "0/1"):
            plan.features.append(j)
            plan.take(j, "feature", _numbers_of(look))
        elif look.is_tick:
            plan.features.append(j)
            plan.take(j, "feature", "yes and no")
        elif look.kind == "empty":
            plan.take(j, "ignored", "empty in the first rows")
        elif look.dressed:
            plan.take(j, "ignored", f"numbers written as {look.dressed!r}; write them plainly to use them as a feature")
        elif look.odd:
            plan.take(j, "ignored", f"numbers and words mixed, such as {look.odd[:30]!r}; correct it to use it")
        elif look.is_prose:
            plan.take(j, "ignored", "texts; name it as the text to make features of its words")
        else:
            told = f"text with {counted(look.n_distinct, 'value')} {_where(look)}".strip()
            plan.take(j, "ignored", f"{told}; it may be a bag, a label or shown")


def _numbers_of(look: Look) -> str:
    is_latitude = look.key in LATITUDES and look.low >= -90 and look.high <= 90
    is_longitude = look.key in LONGITUDES and look.low >= -180 and look.high <= 360
    return (
        "coordinates: where a row was; leave them out if that is not what counts"
        if is_latitude or is_longitude
        else "numbers"
    )


def _where(look: Look) -> str:
    """Say of which rows a count speaks where the table may have more."""
    return f"in the first {look.n_rows} rows" if look.n_rows >= 100 else ""


def _free(plan: Plan, looks: Sequence[Look]) -> list[tuple[int, Look]]:
    return [(j, look) for j, look in enumerate(looks) if j not in plan.why]
