"""What is typed for a value of each kind, and how typed words are read: one is the inverse of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from sidelight.app.jobs.options import Field, Kind

_TAB = ("tab", "\\t")
_NONE = "none"  # what is typed for "no column"


def read_words(field: Field, words: Sequence[str]) -> Any:
    """Turn words into the kind of value that a field keeps; what cannot be is left for the field to refuse."""
    kind, word = field.kind, words[0]
    if field.can_be_none and list(words) == [_NONE]:
        return False
    if kind is Kind.COLUMNS:
        return list(words)
    if kind is Kind.CHANNELS:
        return _pairs(field, words)
    if word in field.choices or kind in (Kind.CHOICE, Kind.TEXT, Kind.PATH, Kind.COLUMN):
        return word
    if kind is Kind.MARK:
        return "\t" if word in _TAB else word
    if kind is Kind.COUNTS and "=" in word:
        return _pairs(field, word.split(","))
    if kind in (Kind.RANGE, Kind.WHOLES):
        return [_number(part) for part in word.split(":" if kind is Kind.RANGE else ",")]
    return _number(word)


def words_for(field: Field, value: Any) -> list[str]:
    """Return what to type for a value, a word for each time that the option is typed."""
    if value is False:
        return [_NONE]
    if field.kind is Kind.MARK and value == "\t":
        return [_TAB[0]]
    if isinstance(value, dict):
        pairs = [
            f"{name}={','.join(part) if isinstance(part, (list, tuple)) else part}" for name, part in value.items()
        ]
        return pairs if field.kind.is_repeated else [",".join(pairs)]
    if isinstance(value, (list, tuple)):
        words = [str(item) for item in value]
        return words if field.kind.is_repeated else [(":" if field.kind is Kind.RANGE else ",").join(words)]
    return [as_word(value)]


def as_word(value: Any) -> str:
    """Return what to type for one number or text."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _pairs(field: Field, words: Sequence[str]) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    is_channel = field.kind is Kind.CHANNELS
    for word in words:
        name, mark, value = word.partition("=") if is_channel else word.rpartition("=")
        name = name.strip()
        if not mark or not name or not value:
            raise click.BadParameter(f"{field.metavar} expected. Got {word!r} instead.", param_hint=f"--{field.word}")
        if name in pairs:
            raise click.BadParameter(
                f"{name!r} is named twice. Give each a name of its own; several columns go into one word: "
                f"--{field.word} {name}=a_*,b.",
                param_hint=f"--{field.word}",
            )
        columns = [part.strip() for part in value.split(",") if part.strip()]
        pairs[name] = columns if is_channel else _number(value.strip())
    return pairs


def _number(word: str) -> Any:
    """Return a whole number, a number, or the word."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
