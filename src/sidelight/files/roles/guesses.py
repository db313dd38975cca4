"""Guesses about the columns that the user said nothing about: names first, then values; each with its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sidelight.files.roles.lists import Rows, guess_bag_of_lists, guess_truth, is_truth_name, prefer_lists
from sidelight.files.roles.looks import Look
from sidelight.files.roles.plan import Plan, RoleRequest
from sidelight.words import counted

_ID = {"id", "rowid", "index", "uid", "uuid", "key", "instance", "instanceid", "segmentid", "sampleid", "unnamed0"}
_BAG = {"bag", "bagid", "recording", "recordingid", "image", "imageid", "img", "molecule", "moleculename", "document"}
_BAG |= {"documentid", "doc", "docid", "patient", "patientid", "slide", "slideid", "group", "groupid", "scene", "file"}
_LABEL = {"label", "labels", "class", "classes", "target", "targets", "y", "category", "categories", "species", "tag"}
_LABEL |= {"tags", "genre", "genres", "topic", "topics", "outcome", "diagnosis", "classlabel", "digit", "kind"}
_SEQUENCE = {"sequence", "sequenceid", "seq", "session", "sessionid", "video", "trial", "take", "utterance"}
_SHOW = {"image", "imagepath", "picture", "photo", "thumbnail", "file", "filename", "path", "url", "audio", "sound"}
_SHOW |= {"wav", "text", "title", "caption", "sentence", "name", "description", "comment"}
_COUNT = {"count", "counts", "n", "weight", "weights", "freq", "frequency", "times", "number", "value", "amount"}
_LABEL_PREFIX = re.compile(r"(labels?|class|tag|target|y)[_:.\- ].+", re.IGNORECASE)


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
    if wanted.bag_label is None and plan.bag is not None:
        _guess_bag_label(plan, looks)
    if wanted.label is None:
        _guess_label(plan, looks)
        prefer_lists(plan, looks, rows, truth_is_open=wanted.truth is None)
    if wanted.truth is None:
        guess_truth(plan, looks, rows)
    if wanted.show is None:
        _guess_show(plan, looks)
    if plan.labels and plan.label_separator is None and len(plan.labels) == 1:
        plan.label_separator = looks[plan.labels[0]].separator
    _features(plan, looks, explicit=wanted.features is not None)


def is_label_name(name: str) -> bool:
    """Say whether a column is called like a label."""
    return re.sub(r"[^a-z0-9]", "", name.lower()) in _LABEL


def guess_events(plan: Plan, looks: Sequence[Look]) -> bool:
    """Take two columns of names that come back, maybe with a count and a truth, for a table of events."""
    weight = [j for j, look in enumerate(looks) if look.key in _COUNT and look.kind in ("number", "0/1")]
    truth = [j for j, look in enumerate(looks) if j == plan.truth or is_truth_name(look)]
    axes = [j for j in range(len(looks)) if j not in (*weight, *truth)]
    if len(axes) != 2 or len(weight) > 1 or len(truth) > 1:
        return False
    a, b = (looks[j] for j in axes)
    names = all(look.kind == "text" or (look.is_whole and look.key.endswith("id")) for look in (a, b))
    short = a.mean_length <= 40 and b.mean_length <= 40 and not a.is_media and not b.is_media
    if not names or not short or a.separator or b.separator or a.n_seen < 4:
        return False
    if a.is_unique or (b.is_unique and b.n_seen > 10):
        return False
    plan.item_and_label = b.key in _LABEL and not weight
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
    return True


def _guess_id(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        if look.key not in _ID and not (j == 0 and look.name == "column_1" and look.kind == "text"):
            continue
        if look.is_unique and look.n_seen > 1 and (look.kind == "text" or look.is_whole):
            plan.id = j
            plan.take(j, "id", "different in every row" + (" and called so" if look.key in _ID else ""))
            return
        if look.key in _ID and look.is_whole:
            plan.take(j, "ignored", "called like an id, but its values come back; it may be the bag")


def _guess_bag(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        named = look.key in _BAG or (look.key.endswith("id") and look.key not in _ID)
        if named and not look.is_unique and look.n_distinct > 1 and (look.kind == "text" or look.is_whole):
            reason = f"its name, and its {look.n_distinct} values come back in the first {look.n_seen} rows"
            if look.key in _BAG or look.is_sorted_run:
                plan.bag = j
                plan.take(j, "bag", reason)
                return


def _guess_sequence(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        if look.key in _SEQUENCE and look.is_sorted_run and (look.kind == "text" or look.is_whole):
            plan.sequence = j
            plan.take(j, "sequence", "its name, and equal values stand together")
            return


def _guess_bag_label(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        if look.key in ("baglabel", "baglabels"):
            plan.bag_label = j
            plan.take(j, "bag label", "its name")
            return


def _guess_label(plan: Plan, looks: Sequence[Look]) -> None:
    free = [(j, k) for j, k in _free(plan, looks) if plan.bag_label is None or not is_truth_name(k)]
    ticks = [j for j, look in free if look.kind == "0/1" and _LABEL_PREFIX.fullmatch(look.name)]
    if len(ticks) >= 2:
        plan.labels = ticks
        for j in ticks:
            plan.take(j, "label", "its name, and every value is 0 or 1")
        return
    has_x = any(look.key == "x" for look in looks)  # x and y are places, not a target
    named = [(j, k) for j, k in free if k.key in _LABEL and k.kind != "empty" and not (k.key == "y" and has_x)]
    named += [(j, k) for j, k in free if k.kind == "text" and _LABEL & set(re.findall("[a-z]{2,}", k.name.lower()))]
    named += [(j, k) for j, k in free if is_truth_name(k)]
    for j, look in sorted(named, key=lambda one: is_truth_name(one[1])):  # a truth is the label where there is no other
        if look.kind == "text" or look.is_whole:
            plan.labels = [j]
            plan.take(j, "label", "its name")
            return
    text = [(j, look) for j, look in free if look.kind == "text" and not look.is_media and not look.dressed]
    words = [(j, look) for j, look in text if look.mean_length <= 40]
    few = [(j, look) for j, look in words if 2 <= look.n_distinct <= max(2, look.n_seen // 2)]
    if few and (few[-1][0] == len(looks) - 1 or len(words) == 1):
        j, look = few[-1]
        where = "the last column" if j == len(looks) - 1 else "the only column of text"
        plan.labels = [j]
        plan.take(j, "label", f"{where}, with {look.n_distinct} different words")
        return
    _guess_coded_label(plan, looks, free)


def _guess_coded_label(plan: Plan, looks: Sequence[Look], free: Sequence[tuple[int, Look]]) -> None:
    """Take a last column of whole numbers 0..k or 1..k for a class when the other columns take many more values."""
    if len(free) < 3 or free[-1][0] != len(looks) - 1:
        return
    j, look = free[-1]
    counts_up = look.is_whole and look.low in (0, 1) and look.n_distinct == int(look.high - look.low) + 1
    others = sorted(other.n_distinct for _, other in free[:-1])
    if counts_up and 2 <= look.n_distinct <= 30 and others[len(others) // 2] > 1.5 * look.n_distinct:
        plan.labels = [j]
        reason = f"the last column: whole numbers from {int(look.low)} on, fewer different ones than elsewhere"
        plan.take(j, "label", reason)


def _guess_show(plan: Plan, looks: Sequence[Look]) -> None:
    free = [(j, look) for j, look in _free(plan, looks) if look.kind == "text"]
    for j, look in free:
        if look.is_media:
            plan.show = [j]
            plan.take(j, "show", "its cells are names of files to show")
            return
    for j, look in free:
        if look.key in _SHOW:
            plan.show = [j]
            plan.take(j, "show", "its name")
            return


def _features(plan: Plan, looks: Sequence[Look], *, explicit: bool) -> None:
    for j, look in _free(plan, looks):
        if explicit or plan.channels:
            plan.take(j, "ignored", "not among the features you named")
        elif look.kind in ("number", "0/1"):
            plan.features.append(j)
            plan.take(j, "feature", "numbers")
        elif look.kind == "empty":
            plan.take(j, "ignored", "empty in the first rows")
        elif look.dressed:
            plan.take(j, "ignored", f"numbers written as {look.dressed!r}; write them plainly to use them as a feature")
        elif look.odd:
            plan.take(j, "ignored", f"numbers and words mixed, such as {look.odd[:30]!r}; correct it to use it")
        else:
            plan.take(j, "ignored", f"text with {counted(look.n_distinct, 'value')}; it may be a bag, a label or shown")


def _free(plan: Plan, looks: Sequence[Look]) -> list[tuple[int, Look]]:
    return [(j, look) for j, look in enumerate(looks) if j not in plan.why]
