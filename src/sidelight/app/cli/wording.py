"""How the command line spells a setting: as the option to type."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from typing import Any

from sidelight.app.jobs.catalogue import JOBS
from sidelight.app.jobs.options import Field, Roles, fields_of
from sidelight.words import Setting


def flag_of(field: Field) -> str:
    """Return the long option of a field: ``--clusters`` for ``n_clusters``."""
    return f"--{field.word}"


def as_flag(setting: Setting) -> str:
    """Return ``--ignore note`` for ``ignore="note"``, ``--id none`` for ``id=False``, ``-k`` for ``n_clusters``."""
    field = _fields().get(setting.name)
    flag = f"--{setting.name.replace('_', '-')}" if field is None else flag_of(field)
    if field is not None and field.letter:
        flag = f"-{field.letter}"
    if setting.value is None or (field is None and setting.value is True):
        return flag
    if field is not None and field.kinds == (bool,):
        return flag if setting.value else flag.replace("--", "--no-", 1)
    return " ".join(shlex.quote(word) for word in (flag, *as_words(setting.value)))


def as_words(value: Any) -> list[str]:
    """Return what to type for a value, a word for each time that the option is typed."""
    if value is False:
        return ["none"]
    if isinstance(value, Mapping):
        return [f"{name}={','.join(part) if isinstance(part, (list, tuple)) else part}" for name, part in value.items()]
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    return [f"{value:g}" if isinstance(value, float) else str(value)]


def with_flags(text: str) -> str:
    """Spell the fields that a description speaks of: ``{n_novel}`` becomes ``--novel``."""
    return text.format_map(_Flags()) if "{" in text else text


class _Flags(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return as_flag(Setting(name))


@cache
def _fields() -> dict[str, Field]:
    models = [Roles, *(model for job in JOBS.values() for model in job.models.values())]
    return {field.name: field for model in reversed(models) for field in fields_of(model)}
