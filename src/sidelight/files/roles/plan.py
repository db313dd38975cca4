"""What the user wants of the columns, and what each one is for in the end, always with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sidelight.data.dataset import ColumnRole, Doubt
from sidelight.errors import InvalidParameter

SAID = "you said so"
CLEAR, LIKELY, ASKED = 0.9, 0.75, 0.5  # how sure a guess is; below WEAK it comes with a question


@dataclass(frozen=True)
class RoleRequest:
    """What the user said about columns; None leaves it to the guess, ``()`` or False forbids it."""

    id: str | bool | None = None
    bag: str | bool | None = None
    label: Any = None
    features: Any = None
    ignore: Any = ()
    show: Any = None
    keep: Any = ()
    sequence: str | bool | None = None
    channels: Mapping[str, Any] | None = None
    events: Sequence[str] | bool | None = None
    weight: str | None = None
    label_separator: str | Sequence[str] | None = None
    label_level: str | None = None
    label_numbers: str | None = None
    bag_label: str | bool | None = None
    truth: str | bool | None = None
    text: Any = None
    missing_words: Any = None
    transpose: Any = ()
    candidates: str | bool | None = None
    components: Any = None
    embed: str | None = None
    whole: bool | None = None
    same: Mapping[str, str] | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)  # role -> why, where a format and not the user says so
    knows_features: bool = False  # whether those of the format were made as such; others only have types

    def why(self, role: str) -> str:
        """Return the reason for a role that was not guessed."""
        return self.reasons.get(role, SAID)

    def over(self, **hints: Any) -> RoleRequest:
        """Fill what the user left open with what the format says: ``hint=(value, why)``."""
        open_ = {name: hint for name, hint in hints.items() if getattr(self, name) in (None, ())}
        reasons = {name.replace("_", " "): why for name, (_, why) in open_.items()}
        return replace(self, **{name: value for name, (value, _) in open_.items()}, reasons=reasons)


_ONE_COLUMN = ("id", "bag", "sequence", "bag_label", "truth", "weight", "candidates")
_COLUMNS = ("label", "features", "ignore", "show", "keep", "events", "text", "missing_words", "transpose", "components")
_FORBID: tuple[str, ...] = (
    "id",
    "bag",
    "sequence",
    "bag_label",
    "truth",
    "label",
    "show",
    "events",
    "text",
    "missing_words",
)
_FORBID += ("candidates", "components")  # False is an answer


def asked(**wishes: Any) -> RoleRequest:
    """Return what the user said; what names no column is refused by the name of its parameter."""
    for name, value in wishes.items():
        if value is None or (value is False and name in _FORBID):
            continue
        if name in _ONE_COLUMN and not isinstance(value, str):
            raise _no_columns(name, "a column" + (", or False for none" if name in _FORBID else ""), value)
        if name in _COLUMNS:
            wishes[name] = _columns(name, value)
        if name == "channels":
            if not isinstance(value, Mapping) or not all(isinstance(channel, str) for channel in value):
                raise _no_columns(name, "a mapping of names to columns", value)
            wishes[name] = {channel: _columns(name, columns) for channel, columns in value.items()}
        if name == "same":
            wishes[name] = _names(name, value)
        if name == "label_separator" and not (isinstance(value, str) and value):
            raise _no_columns(name, "a text that is not empty", value)
    return RoleRequest(**wishes)


def _columns(name: str, value: Any) -> Any:
    """Return a name, or a list of names."""
    if isinstance(value, str):
        return value
    is_list = isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping))
    names = list(value) if is_list else [None]
    if not all(isinstance(part, str) for part in names):
        raise _no_columns(name, "a column, or a list of columns", value)
    return tuple(str(part) for part in names)


def _names(name: str, value: Any) -> dict[str, str] | None:
    """Return names and what they are called instead; a command line that cut a name at its commas is mended."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _no_columns(name, "a mapping of labels to labels", value)
    return {
        key: other if isinstance(other, str) else ", ".join(map(str, other)) for key, other in value.items()
    } or None


def _no_columns(name: str, expected: str, value: Any) -> InvalidParameter:
    return InvalidParameter(f"The {name!r} parameter of sidelight.read must be {expected}. Got {value!r:.80} instead.")


@dataclass
class Plan:
    """Column numbers by role, and the reason for each."""

    names: tuple[str, ...]
    id: int | None = None
    bag: int | None = None
    sequence: int | None = None
    labels: list[int] = field(default_factory=list)
    bag_label: int | None = None
    truth: int | None = None
    candidates: int | None = None
    show: list[int] = field(default_factory=list)
    keep: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    weight: int | None = None
    label_separator: str | Sequence[str] | None = None
    item_and_label: bool = False
    channels: dict[str, list[int]] = field(default_factory=dict)
    why: dict[int, tuple[str, str]] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)
    said: set[int] = field(default_factory=set)  # columns whose role was said, not guessed
    texts: list[int] = field(default_factory=list)  # columns whose words are the features
    sure: dict[int, float] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)
    kind: str = ""  # what the table is where it holds no rows with features
    kind_why: str = ""
    votes: dict[int, dict[str, list[tuple[float, str, str]]]] = field(default_factory=dict)  # what the rules said

    def take(self, j: int, role: str, why: str, sure: float = CLEAR) -> None:
        """Write down what column ``j`` is for, and how sure that is."""
        self.why[j], self.sure[j] = (role, why), sure

    def ask(self, question: str, *readings: tuple[str, Mapping[str, Any]]) -> None:
        """Write down a question; the first reading is the one that was taken."""
        self.doubts.append(Doubt(question, readings))

    def taken(self) -> set[int]:
        """Return the columns that have a role."""
        return set(self.why)

    def roles(self) -> tuple[ColumnRole, ...]:
        """Return what each column was taken for, in the file's order."""
        unused = ("ignored", "not asked for")
        return tuple(
            ColumnRole(
                name,
                *self.why.get(j, unused),
                self.kinds.get(j, "text"),
                j not in self.said,
                1.0 if j in self.said else self.sure.get(j, CLEAR),
            )
            for j, name in enumerate(self.names)
        )
