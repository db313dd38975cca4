"""What every page says about the table that was read: rows left out, columns not used, roles guessed."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.app.jobs.result import Reading
from sidelight.app.report.components import Markup, table
from sidelight.app.report.page import Section
from sidelight.data.dataset import ColumnRole
from sidelight.words import Sentence, Setting, counted, in_words, some_of

_MOST_NAMED = 6  # unused columns that a sentence names; the page has them all


def about_left_out(reading: Reading) -> list[Sentence]:
    """Say which rows were left out and why."""
    return [f"{rows}: left out." for rows in reading.left_out]


def about_columns(reading: Reading) -> list[Sentence]:
    """Say which columns were not used and why, and what was guessed."""
    sentences: list[Sentence] = []
    if reading.unused:
        named = [f"{role.name!r} ({why_unused(role)})" for role in reading.unused]
        many = counted(len(named), "column was", "columns were")
        sentences.append(f"{many} not used: {some_of(named, _MOST_NAMED)}.")
    return [*sentences, *_guesses(reading.guessed)]


def reading_sections(reading: Reading) -> list[Section]:
    """List every column that was not used, and the rows that were left out, when there are any."""
    tables: list[Markup] = []
    if reading.unused:
        columns = {
            "column": [role.name for role in reading.unused],
            "why": [why_unused(role) for role in reading.unused],
        }
        tables.append(table(columns, "Columns of the table that were not used."))
    tables += [
        table({"row": rows.names.tolist()}, f"Rows that were left out: {rows}.", most=20) for rows in reading.left_out
    ]
    return [Section("What was not used", parts=tables)] if tables else []


def why_unused(role: ColumnRole) -> str:
    """Say why a column was not used."""
    return role.why if role.role == "ignored" else f"taken for the {role.role}, which this job does not use"


def _guesses(guessed: Sequence[ColumnRole]) -> list[Sentence]:
    """Name the columns that were guessed, and how to say otherwise."""
    names: dict[str, list[str]] = {}
    for role in guessed:
        names.setdefault(role.role, []).append(repr(role.name))
    if not names:
        return []
    told = in_words([f"the {_ROLES.get(role, role)} is {some_of(columns, 3)}" for role, columns in names.items()])
    settings: list[str | Setting] = []
    for name in names:
        settings += [Setting(_FIELDS.get(name, name.replace(" ", "_"))), ", "]
    return [[f"Guessed: {told}. Say otherwise with ", *settings[:-1], "."]]


_ROLES = {"show": "column to show"}
_FIELDS = {"event": "events"}  # what a role is called where several columns have it
