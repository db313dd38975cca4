"""What each column of a table is for: what the user says, then what names and values suggest, always with a reason."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

from sidelight.data.readers.columns import Source
from sidelight.data.readers.dataset import ColumnRole
from sidelight.data.readers.dialect import is_gap, is_number
from sidelight.data.readers.problems import no_such_column
from sidelight.errors import InvalidParameter

SAID = "you said so"
_CELLS = 100_000  # enough to see what columns are; wide tables are judged by fewer rows
_ID = {"id", "rowid", "index", "uid", "uuid", "key", "instance", "instanceid", "segmentid", "sampleid", "unnamed0"}
_BAG = {"bag", "bagid", "recording", "recordingid", "image", "imageid", "img", "molecule", "moleculename", "document"}
_BAG |= {"documentid", "doc", "docid", "patient", "patientid", "slide", "slideid", "group", "groupid", "scene", "file"}
_LABEL = {"label", "labels", "class", "classes", "target", "targets", "y", "category", "categories", "species", "tag"}
_LABEL |= {"tags", "genre", "genres", "topic", "topics", "outcome", "diagnosis", "classlabel", "digit", "kind"}
_SEQUENCE = {"sequence", "sequenceid", "seq", "session", "sessionid", "video", "trial", "take", "utterance"}
_SHOW = {"image", "imagepath", "picture", "photo", "thumbnail", "file", "filename", "path", "url", "audio", "sound"}
_SHOW |= {"wav", "text", "title", "caption", "sentence", "name", "description", "comment"}
_COUNT = {"count", "counts", "n", "weight", "weights", "freq", "frequency", "times", "number", "value", "amount"}
_MEDIA = re.compile(r".*\.(png|jpe?g|gif|webp|bmp|tiff?|svg|wav|mp3|ogg|flac|txt|html?)$", re.IGNORECASE)
_LABEL_PREFIX = re.compile(r"(labels?|class|tag|target|y)[_:.\- ].+", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """What the user said about columns; None leaves it to the guess, ``()`` or False forbids it."""

    row_id: str | bool | None = None
    bag: str | bool | None = None
    label: Any = None
    features: Any = None
    ignore: Any = ()
    show: Any = None
    sequence: str | bool | None = None
    channels: Mapping[str, Any] | None = None
    events: Sequence[str] | bool | None = None
    weight: str | None = None
    label_separator: str | None = None
    label_level: str | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)  # role -> why, where a format and not the user says so

    def why(self, role: str) -> str:
        """Return the reason for a role that was not guessed."""
        return self.reasons.get(role, SAID)

    def over(self, **hints: Any) -> Wanted:
        """Fill what the user left open with what the format says: ``hint=(value, why)``."""
        open_ = {name: hint for name, hint in hints.items() if getattr(self, name) in (None, ())}
        reasons = {name.replace("_", " "): why for name, (_, why) in open_.items()}
        return replace(self, **{name: value for name, (value, _) in open_.items()}, reasons=reasons)


@dataclass
class Plan:
    """Column numbers by role, and the reason for each."""

    names: tuple[str, ...]
    row_id: int | None = None
    bag: int | None = None
    sequence: int | None = None
    labels: list[int] = field(default_factory=list)
    show: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    weight: int | None = None
    label_separator: str | None = None
    item_and_label: bool = False
    channels: dict[str, list[int]] = field(default_factory=dict)
    why: dict[int, tuple[str, str]] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)

    def take(self, j: int, role: str, why: str) -> None:
        """Write down what column ``j`` is for."""
        self.why[j] = (role, why)

    def taken(self) -> set[int]:
        """Return the columns that have a role."""
        return set(self.why)

    def roles(self) -> tuple[ColumnRole, ...]:
        """Return what each column was taken for, in the file's order."""
        unused = ("ignored", "not asked for")
        return tuple(
            ColumnRole(name, *self.why.get(j, unused), self.kinds.get(j, "text")) for j, name in enumerate(self.names)
        )


@dataclass(frozen=True)
class Look:
    """What the first rows say about one column."""

    name: str
    kind: str  # "number", "0/1", "text" or "empty"
    n_seen: int
    n_distinct: int
    is_whole: bool
    is_sorted_run: bool  # equal values stand together
    mean_length: float
    separator: str | None  # cells hold several names between these
    is_media: bool
    low: float = 0.0
    high: float = 0.0

    @property
    def key(self) -> str:
        """The name without case, blanks and punctuation."""
        return re.sub(r"[^a-z0-9]", "", self.name.lower())

    @property
    def is_unique(self) -> bool:
        """Say whether no value was seen twice."""
        return self.n_distinct == self.n_seen


def plan_roles(source: Source, wanted: Wanted) -> Plan:
    """Decide what each column is for."""
    rows = source.sample()
    rows = rows[: max(100, _CELLS // max(len(source.names), 1))]
    looks = [look_at(name, [row[j] for row in rows]) for j, name in enumerate(source.names)]
    plan = Plan(source.names, kinds={j: look.kind for j, look in enumerate(looks)})
    _obey(plan, source.path, wanted)
    if wanted.events is None and not plan.taken() and wanted.features is None and _guess_events(plan, looks):
        return plan
    if plan.events:
        return plan
    if wanted.row_id is None:
        _guess_row_id(plan, looks)
    if wanted.bag is None:
        _guess_bag(plan, looks)
    if wanted.sequence is None:
        _guess_sequence(plan, looks)
    if wanted.label is None:
        _guess_label(plan, looks)
    if wanted.show is None:
        _guess_show(plan, looks)
    if plan.labels and plan.label_separator is None and len(plan.labels) == 1:
        plan.label_separator = looks[plan.labels[0]].separator
    _features(plan, looks, explicit=wanted.features is not None)
    return plan


def look_at(name: str, cells: Sequence[str]) -> Look:
    """Summarise the first cells of a column."""
    seen = [cell for cell in cells if not is_gap(cell)]
    distinct = set(seen)
    numbers = [cell for cell in seen if is_number(cell)]
    if not seen:
        return Look(name, "empty", 0, 0, False, False, 0.0, None, False)
    is_numeric = len(numbers) >= 0.9 * len(seen)
    values = [float(cell) for cell in numbers] if is_numeric else []
    whole = is_numeric and all(v == v and abs(v) < 1e15 and v == int(v) for v in values)
    kind = ("0/1" if {float(v) for v in values} <= {0.0, 1.0} else "number") if is_numeric else "text"
    changes = sum(1 for a, b in pairwise(seen) if a != b)
    finite = [v for v in values if v == v and abs(v) != float("inf")]
    return Look(
        name,
        kind,
        len(seen),
        len(distinct),
        whole,
        changes == len(distinct) - 1,
        sum(map(len, seen)) / len(seen),
        None if is_numeric else _inner_separator(seen),
        sum(bool(_MEDIA.match(cell)) for cell in seen) > 0.8 * len(seen),
        min(finite, default=0.0),
        max(finite, default=0.0),
    )


def match_columns(path: Path, names: Sequence[str], wanted: Any, role: str) -> list[int]:
    """Return the columns that names or patterns (``f*``) stand for; a name that matches nothing is an error."""
    given = [wanted] if isinstance(wanted, str) else list(wanted)
    found: list[int] = []
    for name in given:
        if not isinstance(name, str):
            raise InvalidParameter(f"{path}: {role} takes column names or patterns, got {name!r}.")
        hits = [j for j, n in enumerate(names) if n == name] or [j for j, n in enumerate(names) if fnmatchcase(n, name)]
        if not hits:
            raise no_such_column(path, name, role, names)
        found.extend(j for j in hits if j not in found)
    return found


def is_label_name(name: str) -> bool:
    """Say whether a column is called like a label."""
    return re.sub(r"[^a-z0-9]", "", name.lower()) in _LABEL


def _obey(plan: Plan, path: Path, wanted: Wanted) -> None:
    for role, name in (("row id", wanted.row_id), ("bag", wanted.bag), ("sequence", wanted.sequence)):
        if isinstance(name, str):
            j = match_columns(path, plan.names, [name], role)[0]
            setattr(plan, role.replace(" ", "_"), j)
            plan.take(j, role, wanted.why(role))
    if wanted.label not in (None, False):
        plan.labels = match_columns(path, plan.names, wanted.label, "label")
        for j in plan.labels:
            plan.take(j, "label", wanted.why("label"))
    plan.label_separator = wanted.label_separator
    if wanted.show not in (None, False):
        plan.show = match_columns(path, plan.names, wanted.show, "show")
        for j in plan.show:
            plan.why.setdefault(j, ("show", wanted.why("show")))
    if wanted.events not in (None, False):
        plan.events = match_columns(path, plan.names, wanted.events, "events")
        for j in plan.events:
            plan.take(j, "event", wanted.why("events"))
    if wanted.weight is not None:
        plan.weight = match_columns(path, plan.names, [wanted.weight], "weight")[0]
        plan.take(plan.weight, "event", "what each row counts for: you said so")
    for j in match_columns(path, plan.names, wanted.ignore or (), "ignore"):
        plan.take(j, "ignored", wanted.why("ignore"))
    for channel, columns in (wanted.channels or {}).items():
        hits = match_columns(path, plan.names, columns, f"channel {channel!r}")
        plan.channels[channel] = [j for j in hits if plan.why.get(j, ("feature", ""))[0] == "feature"]
        for j in plan.channels[channel]:
            plan.take(j, "feature", f"channel {channel!r}")
        plan.features.extend(j for j in plan.channels[channel] if j not in plan.features)
    if wanted.features is not None:
        for j in match_columns(path, plan.names, wanted.features, "features"):
            if j not in plan.features and plan.why.get(j, ("",))[0] != "ignored":
                plan.features.append(j)
                plan.why.setdefault(j, ("feature", wanted.why("features")))


def _guess_events(plan: Plan, looks: Sequence[Look]) -> bool:
    """Take two columns of names that come back again and again, maybe with a count, for a table of events."""
    if not 2 <= len(looks) <= 3:
        return False
    weight = [j for j, look in enumerate(looks) if look.key in _COUNT and look.kind in ("number", "0/1")]
    axes = [j for j in range(len(looks)) if j not in weight]
    if len(axes) != 2 or len(weight) != len(looks) - 2:
        return False
    a, b = (looks[j] for j in axes)
    names = all(look.kind == "text" or look.is_whole for look in (a, b)) and "text" in (a.kind, b.kind)
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
        plan.take(axes[0], "row id", "the item of a long table of (item, label)")
        plan.take(axes[1], "label", f"called {b.name!r}, beside an item that comes back")
    plan.events = axes
    if weight:
        plan.weight = weight[0]
        plan.take(weight[0], "event", "what each row counts for: its name")
    return True


def _guess_row_id(plan: Plan, looks: Sequence[Look]) -> None:
    for j, look in _free(plan, looks):
        if look.key not in _ID and not (j == 0 and look.name == "column_1" and look.kind == "text"):
            continue
        if look.is_unique and look.n_seen > 1 and (look.kind == "text" or look.is_whole):
            plan.row_id = j
            plan.take(j, "row id", "different in every row" + (" and called so" if look.key in _ID else ""))
            return
        if look.key in ("index", "unnamed0") and look.is_whole:
            plan.take(j, "ignored", "called like a row number, but its values come back")


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


def _guess_label(plan: Plan, looks: Sequence[Look]) -> None:
    free = list(_free(plan, looks))
    ticks = [j for j, look in free if look.kind == "0/1" and _LABEL_PREFIX.fullmatch(look.name)]
    if len(ticks) >= 2:
        plan.labels = ticks
        for j in ticks:
            plan.take(j, "label", "its name, and every value is 0 or 1")
        return
    named = [(j, look) for j, look in free if look.key in _LABEL and look.kind != "empty"]
    for j, look in named:
        if look.kind == "text" or look.is_whole:
            plan.labels = [j]
            plan.take(j, "label", "its name")
            return
    words = [(j, look) for j, look in free if look.kind == "text" and not look.is_media and look.mean_length <= 40]
    few = [(j, look) for j, look in words if look.n_distinct <= max(2, look.n_seen // 2)]
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
        else:
            hint = f"text with {look.n_distinct} different values; use it with label= or show="
            plan.take(j, "ignored", hint)


def _free(plan: Plan, looks: Sequence[Look]) -> list[tuple[int, Look]]:
    return [(j, look) for j, look in enumerate(looks) if j not in plan.why]


def _inner_separator(cells: Sequence[str]) -> str | None:
    """Find the mark between several names in one cell: the parts come back in other cells."""
    for mark in ("|", ";", ",", "@", "&"):
        split = [cell for cell in cells if mark in cell]
        if not split:
            continue
        parts = [part.strip() for cell in split for part in cell.split(mark)]
        singles = {cell for cell in cells if mark not in cell}
        again = (
            sum(1 for part in parts if part in singles or parts.count(part) > 1) if len(parts) < 2000 else len(parts)
        )
        if parts and all(0 < len(part) <= 30 for part in parts) and again >= 0.5 * len(parts):
            return mark
    return None
