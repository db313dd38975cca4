"""How options are declared: a typed field says its type, its limits, its default and one sentence for people.

::

    class Relations(Options, frozen=True):
        n_clusters: Annotated[int, option("Number of clusters.", word="clusters", letter="k", ge=1)]
        scale: Annotated[Literal["standard", "none"], option("Give every feature mean 0 and variance 1.")] = "standard"

An option has a kind (:class:`Kind`), which follows from its type where that says enough and is stated where it does not
(a text may be a path). How it is typed, read, shown and rewritten follows from the kind. ``word`` is what people type
where the field has a name from the code, ``letter`` its short form, ``also`` another word for it, ``shown`` a word for
the value where its kind does not say enough. A sentence may speak of other fields as ``{n_novel}``: who shows it spells
it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from sidelight.errors import InvalidParameter, UnknownName, nearest
from sidelight.words import Setting, in_words


class Kind(StrEnum):
    """What sort of value an option takes; the value of a member is the word for it in the help."""

    FLAG = ""  # on or off
    CHOICE = "[...]"  # one of some words
    WHOLE = "N"
    NUMBER = "NUMBER"
    TEXT = "TEXT"
    MARK = "MARK"  # a separator, which may be a tab
    PATH = "PATH"  # of a file, written into run.toml as it looks from there
    COLUMN = "COLUMN"
    COLUMNS = "PATTERN"  # said once for each
    CHANNELS = "NAME=COLUMNS"  # said once for each
    WHOLES = "N,N"
    COUNTS = "NAME=N,NAME=N"  # one number for all names, or one for each
    RANGE = "FROM:TO"

    @property
    def is_repeated(self) -> bool:
        """Whether the option is said once for each of several values."""
        return self in (Kind.COLUMNS, Kind.CHANNELS)


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one method of one job can be told; subclasses add the fields."""

    def settings(self) -> dict[str, Any]:
        """Return every field that has a value, by name."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not None and value != [] and value != {}}

    def without(self, *names: str) -> dict[str, Any]:
        """Return the settings but those; what is left is often what an estimator takes."""
        return {name: value for name, value in self.settings().items() if name not in names}

    def paths(self) -> dict[str, str]:
        """Return the files that the options name."""
        files = [field.name for field in fields_of(type(self)) if field.kind is Kind.PATH]
        return {name: value for name, value in self.settings().items() if name in files}


def option(
    text: str,
    *,
    kind: Kind | None = None,
    word: str = "",
    letter: str = "",
    shown: str = "",
    group: str = "",
    also: str = "",
    ge: float | None = None,
    lt: float | None = None,
) -> msgspec.Meta:
    """Describe a field: one sentence, its kind where the type does not say it, names, and limits (from, below)."""
    every: dict[str, Any] = {"ge": ge, "lt": lt}
    limits = {name: limit for name, limit in every.items() if limit is not None}
    return msgspec.Meta(
        description=text,
        extra={"kind": kind, "word": word, "letter": letter, "shown": shown, "group": group, "also": also},
        **limits,
    )


def at_least(low: float) -> msgspec.Meta:
    """Limit a number inside a union, such as ``Annotated[int, at_least(0)] | Literal["auto"]``."""
    return msgspec.Meta(ge=low)


def non_empty() -> msgspec.Meta:
    """Refuse an empty list inside a union."""
    return msgspec.Meta(min_length=1)


@dataclass(frozen=True, slots=True)
class Field:
    """One option, as a shell sees it.

    Attributes
    ----------
    name : str
        What run.toml and the code call it.
    type : type
        Its type, with limits.
    kind : Kind
        What sort of value it takes.
    default : object
        Its value when it is not given; None for nothing.
    is_required : bool
        Whether it must be given.
    text : str
        One sentence; ``{name}`` stands for another field.
    word, letter, metavar, group, also : str
        What people type, its short form, a word for the value, the heading it belongs under, and another word for it.
    """

    name: str
    type: Any
    kind: Kind
    default: Any
    is_required: bool
    text: str
    word: str
    letter: str = ""
    metavar: str = ""
    group: str = ""
    also: str = ""

    @property
    def can_be_none(self) -> bool:
        """Whether False says that no column is meant."""
        return self.kind is not Kind.FLAG and bool in _bare_types(self.type)

    @property
    def choices(self) -> list[str]:
        """The words that are taken as they are, such as auto."""
        return _choices(self.type)

    def takes(self, value: Any) -> Any:
        """Return ``value`` as this field keeps it, or raise :class:`InvalidParameter`."""
        try:
            kept = msgspec.convert(value, self.type)
        except (msgspec.ValidationError, RecursionError):
            raise self.refusal(value) from None
        if isinstance(kept, float) and not math.isfinite(kept):
            raise self.refusal(value)
        return kept

    def refusal(self, value: Any) -> InvalidParameter:
        """Say what was expected."""
        return InvalidParameter(f"{self.name} takes {self.expected}. Got {value!r:.80} instead.")

    @property
    def expected(self) -> str:
        """What a value may be, in words."""
        return " or ".join(dict.fromkeys(_in_words(one) for one in types_of(self.type)))


@cache
def fields_of(model: type[msgspec.Struct]) -> tuple[Field, ...]:
    """Return the options of a model, in the order they were written."""
    fields = []
    for field in msgspec.structs.fields(model):
        meta = next((m for m in getattr(field.type, "__metadata__", ()) if isinstance(m, msgspec.Meta)), msgspec.Meta())
        extra = meta.extra or {}
        default = None if field.default is msgspec.NODEFAULT else field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory()
        fields.append(
            Field(
                field.name,
                field.type,
                kind := extra.get("kind") or _kind_of(field.type),
                default,
                field.required,
                meta.description or "",
                extra.get("word") or field.name.replace("_", "-"),
                extra.get("letter", ""),
                extra.get("shown") or _metavar(kind, _choices(field.type)),
                extra.get("group", ""),
                extra.get("also", ""),
            )
        )
    return tuple(fields)


M = TypeVar("M", bound=msgspec.Struct)


def build(model: type[M], content: Any, what: str) -> M:
    """Make ``model`` of names and values; whatever does not fit is refused by name.

    Parameters
    ----------
    model : type of Struct
        The options or roles wanted.
    content : mapping
        Names and values; None means "not said".
    what : str
        What the names are, for messages: "option" or "role".
    """
    if not isinstance(content, Mapping):
        raise InvalidParameter(f"The {what}s of a run are names and values. Got {content!r:.80} instead.")
    fields = {field.name: field for field in fields_of(model)}
    for name in content:
        if name not in fields:
            raise UnknownName(f"There is no {what} {name!r:.80} here. {nearest(name, fields)}")
    values = {name: fields[name].takes(value) for name, value in content.items() if value is not None}
    for field in fields.values():
        if field.is_required and field.name not in values:
            raise InvalidParameter(f"{field.text}", do=["Say it with ", Setting(field.name), f" ({field.expected})."])
    return model(**values)


def types_of(kind: Any) -> tuple[Any, ...]:
    """Take a union apart, without None; limits stay with their type."""
    inner = _bare(kind)
    if get_origin(inner) in (Union, UnionType):
        return tuple(part for one in get_args(inner) if one is not NoneType for part in types_of(one))
    return (kind,)


def _kind_of(kind: Any) -> Kind:
    """Return the kind of an option whose type says it all."""
    there = [one for one in _bare_types(kind) if get_origin(one) is not Literal]
    if not there:
        return Kind.CHOICE
    origins = {get_origin(one) or one for one in there}
    if dict in origins:
        return Kind.COUNTS if origins - {dict} else Kind.CHANNELS
    if list in origins:
        return Kind.COLUMNS if list[str] in there else Kind.WHOLES
    if origins == {str, bool}:
        return Kind.COLUMN
    return {tuple: Kind.RANGE, bool: Kind.FLAG, int: Kind.WHOLE, float: Kind.NUMBER, str: Kind.TEXT}[origins.pop()]


def _metavar(kind: Kind, choices: Sequence[str]) -> str:
    """Return the word for a value in the help: ``N|auto``, ``[row|bag]``, ``PATH``."""
    if kind is Kind.CHOICE:
        return f"[{'|'.join(choices)}]"
    return "|".join([kind.value, *choices])


def _choices(kind: Any) -> list[str]:
    return [word for one in _bare_types(kind) if get_origin(one) is Literal for word in get_args(one)]


def _bare_types(kind: Any) -> list[Any]:
    return [_bare(one) for one in types_of(kind)]


def _bare(kind: Any) -> Any:
    """Take the limits off a type."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _in_words(kind: Any) -> str:
    low: Any = None
    below: Any = None
    if get_origin(kind) is Annotated:
        kind, *metas = get_args(kind)
        low = next((m.ge for m in metas if isinstance(m, msgspec.Meta) and m.ge is not None), None)
        below = next((m.lt for m in metas if isinstance(m, msgspec.Meta) and m.lt is not None), None)
    origin = get_origin(kind)
    if origin is Literal:
        return " or ".join(repr(value) for value in get_args(kind))
    if origin in (list, Sequence):
        return f"a list, each {_in_words(get_args(kind)[0])}"
    if origin is tuple:
        return f"{len(get_args(kind))} numbers: " + in_words([_in_words(part) for part in get_args(kind)])
    if origin is dict:
        return f"names with {' or '.join(_in_words(part) for part in types_of(get_args(kind)[1]))} each"
    word = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}.get(kind, str(kind))
    limits = ("" if low is None else f" from {low:g} on") + ("" if below is None else f" below {below:g}")
    return word + limits
