"""How the command line spells a setting: as the option to type."""

from __future__ import annotations

import shlex
from functools import cache

from sidelight.app.cli.values import as_word, words_for
from sidelight.app.jobs.catalogue import JOBS
from sidelight.app.jobs.options import Field, Kind, Roles, fields_of
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
    if field is not None and field.kind is Kind.FLAG:
        return flag if setting.value else flag.replace("--", "--no-", 1)
    words = [as_word(setting.value)] if field is None else words_for(field, setting.value)
    return " ".join(f"{flag} {shlex.quote(word)}" for word in words)


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
