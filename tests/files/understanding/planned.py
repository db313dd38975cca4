"""A small table of words, and what its columns are taken for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sidelight.files.roles.choosing import plan_roles
from sidelight.files.roles.columns import Coded, MemorySource
from sidelight.files.roles.plan import Plan, asked

Columns = dict[str, Any]


def amounts(n: int, step: int = 7) -> list[str]:
    """Return measurements: neither whole nor in order."""
    return [f"{i * step % 1009}.5" for i in range(n)]


def each(*names: object, times: int) -> list[str]:
    """Return every name so many times, one name after the other."""
    return [str(name) for name in names for _ in range(times)]


def turns(*names: object, times: int) -> list[str]:
    """Return all names in turn, so many times."""
    return [str(name) for name in names] * times


def plan_of(columns: Columns, **said: Any) -> Plan:
    """Plan a table whose columns are lists of cells, or cells between blanks."""
    cells = [c.split() if isinstance(c, str) else [str(cell) for cell in c] for c in columns.values()]
    return plan_roles(MemorySource(Path("a.csv"), "a table", tuple(columns), list(map(Coded.of, cells))), asked(**said))


def beside(columns: Columns, **said: Any) -> Plan:
    """Plan a table that has two columns of measurements beside these, in front."""
    first = next(iter(columns.values()))
    n = len(first.split()) if isinstance(first, str) else len(first)
    return plan_of({"width": amounts(n), "height": amounts(n, 11)} | columns, **said)


def roles(plan: Plan) -> dict[str, str]:
    """Return the role of every column, by its name."""
    return {role.name: role.role for role in plan.roles()}


def sure(plan: Plan, name: str) -> float:
    """Return how sure the role of a column is."""
    return next(role.sure for role in plan.roles() if role.name == name)
