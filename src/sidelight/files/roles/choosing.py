"""What each column of a table is for: what the user says, then what names and values suggest."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sidelight.errors import InvalidParameter
from sidelight.files.problems import no_such_column
from sidelight.files.roles.columns import TableSource
from sidelight.files.roles.deciding import decide, review
from sidelight.files.roles.looks import Facts, inspect_column
from sidelight.files.roles.plan import Plan, RoleRequest
from sidelight.files.roles.readings import best_reading, take

_CELLS = 100_000  # enough to see what columns are; wide tables are judged by fewer rows


def plan_roles(source: TableSource, wanted: RoleRequest) -> Plan:
    """Decide what each column is for."""
    rows = source.sample()
    rows = rows[: max(100, _CELLS // max(len(source.names), 1))]
    looks = [inspect_column(name, [row[j] for row in rows]) for j, name in enumerate(source.names)]
    plan = Plan(source.names, kinds={j: look.kind for j, look in enumerate(looks)})
    _obey(plan, source.path, wanted)
    plan.said = plan.taken()
    plan.keep = match_columns(source.path, source.names, wanted.keep or (), "keep")
    facts = Facts(
        looks, rows, bag_hint=getattr(source, "bag_hint", None), declared=getattr(source, "declared_kind", "")
    )
    is_open = wanted.events is None and wanted.features is None and not plan.texts and plan.taken() <= {plan.truth}
    reading = best_reading(plan, facts) if is_open and not plan.events else None
    if reading is not None:
        take(plan, facts, reading)
        if reading.settled_by:
            plan.ask(
                f"Is this {reading.why}, or rows with features?",
                (reading.why.partition(" (")[0], reading.settled_by),
                ("rows with features", {"events": False}),
            )
    if plan.events:
        if wanted.truth is None:
            _truth_of_items(plan, facts)
    elif reading is None:
        if "features" in wanted.reasons and not wanted.knows_features:
            review(plan, facts)
        decide(plan, facts, wanted)
    return plan


def _truth_of_items(plan: Plan, t: Facts) -> None:
    """Find the truth of the first things of an event table: a column that is called so and that they determine."""
    for j, look in enumerate(t.looks):
        if j not in plan.why and look.is_truth and look.is_name and t.determines(plan.events[0], j):
            plan.truth = j
            plan.take(j, "truth", f"its name, and every {plan.names[plan.events[0]]!r} has one")
            return


def match_columns(path: Path, names: Sequence[str], wanted: Any, role: str) -> list[int]:
    """Return the columns that names or patterns (``f*``) stand for; a name that matches nothing is an error."""
    given = [wanted] if isinstance(wanted, str) else list(wanted)
    matched: list[int] = []
    for name in given:
        if not isinstance(name, str):
            raise InvalidParameter(f"{path}: {role} takes column names or patterns, got {name!r}.")
        hits = [j for j, n in enumerate(names) if n == name] or [j for j, n in enumerate(names) if fnmatchcase(n, name)]
        if not hits:
            raise no_such_column(path, name, role, names)
        matched.extend(j for j in hits if j not in matched)
    return matched


def _obey(plan: Plan, path: Path, wanted: RoleRequest) -> None:
    """Give columns the roles that the user named."""
    for role in ("id", "bag", "sequence", "bag label", "truth", "candidates"):
        name = getattr(wanted, role.replace(" ", "_"))
        if isinstance(name, str):
            j = match_columns(path, plan.names, [name], role)[0]
            setattr(plan, role.replace(" ", "_"), j)
            plan.take(j, role, wanted.why(role))
    if wanted.label not in (None, False):
        plan.labels = match_columns(path, plan.names, wanted.label, "label")
        for j in plan.labels:
            plan.take(j, "label", wanted.why("label"))
    plan.label_separator = wanted.label_separator
    if wanted.text not in (None, False):
        plan.texts = match_columns(path, plan.names, wanted.text, "text")
        for j in plan.texts:
            plan.take(j, "feature", "its words, counted")
    if wanted.show not in (None, False):
        plan.show = match_columns(path, plan.names, wanted.show, "show")
        for j in plan.show:
            plan.why.setdefault(j, ("show", wanted.why("show")))
    _take_events(plan, path, wanted)
    for j in match_columns(path, plan.names, wanted.ignore or (), "ignore"):
        plan.take(j, "ignored", wanted.why("ignore"))
    for channel, columns in (wanted.channels or {}).items():
        _take_channel(plan, path, channel, match_columns(path, plan.names, columns, f"channel {channel!r}"))
    if wanted.features is not None:
        for j in match_columns(path, plan.names, wanted.features, "features"):
            if j not in plan.features and plan.why.get(j, ("",))[0] != "ignored":
                plan.features.append(j)
                plan.why.setdefault(j, ("feature", wanted.why("features")))


def _take_events(plan: Plan, path: Path, wanted: RoleRequest) -> None:
    if wanted.events not in (None, False):
        given = list(wanted.events) if isinstance(wanted.events, (list, tuple)) else [wanted.events]
        twice = [name for i, name in enumerate(given) if name in given[:i]]
        if twice:
            raise InvalidParameter(
                f"{path}: the column {twice[0]!r} is named twice among the events. Things occur together in different "
                "columns: name each once."
            )
        plan.events = match_columns(path, plan.names, wanted.events, "events")
        for j in plan.events:
            plan.take(j, "event", wanted.why("events"))
    if wanted.weight is not None:
        plan.weight = match_columns(path, plan.names, [wanted.weight], "weight")[0]
        plan.take(plan.weight, "weight", "what each row counts for: you said so")


def _take_channel(plan: Plan, path: Path, channel: str, columns: list[int]) -> None:
    for other, taken in plan.channels.items():
        shared = [plan.names[j] for j in columns if j in taken]
        if shared:
            raise InvalidParameter(
                f"{path}: the channels {other!r} and {channel!r} share the column {shared[0]!r}, so they would "
                "occur together whatever was recorded. Give every channel columns of its own."
            )
    plan.channels[channel] = [j for j in columns if plan.why.get(j, ("feature", ""))[0] == "feature"]
    for j in plan.channels[channel]:
        plan.take(j, "feature", f"channel {channel!r}")
    plan.features.extend(j for j in plan.channels[channel] if j not in plan.features)
