"""Words for numbers, lists and advice, so that every sentence says the same thing the same way.

Advice names a parameter by a :class:`Setting`, never by a flag: who shows the sentence spells it. Python writes
``bag="recording"``, the command line writes an option, a form points at its field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter that a sentence speaks of, with the value it should get, if there is one.

    >>> str(Setting("bag")), str(Setting("id", False)), str(Setting("ignore", "note"))
    ('bag=', 'id=False', "ignore='note'")
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return f"{self.name}=" if self.value is None else f"{self.name}={self.value!r}"


Sentence = str | Sequence[str | Setting]  # what a page or a message says: text, or text with settings in it
Spell = Callable[[Setting], str]


def render(sentence: Sentence, spell: Spell = str) -> str:
    """Return a sentence as text, with every setting spelled as its reader would type it.

    >>> render(["Leave it out with ", Setting("ignore", "note"), "."])
    "Leave it out with ignore='note'."
    """
    if isinstance(sentence, str):
        return sentence
    return "".join(part if isinstance(part, str) else spell(part) for part in sentence)


class Note(str):
    """What a fit warned about: a text, with what to do about it."""

    __slots__ = ("do",)
    do: Sentence

    def __new__(cls, text: str, do: Sentence = ()) -> Self:
        """Make a text with advice."""
        heard = super().__new__(cls, text)
        heard.do = do
        return heard


class MessageWithAdvice:
    """A message in two parts: what happened, and what to do about it."""

    args: tuple[object, ...]
    who: str = ""
    do: Sentence = ()

    def __init__(self, *args: object, who: str = "", do: Sentence = ()) -> None:
        super().__init__(*args)
        self.who, self.do = who, do

    @property
    def what(self) -> str:
        """What happened, without who says it and what to do."""
        return " ".join(str(arg) for arg in self.args)

    def told(self, spell: Spell = str) -> str:
        """Return the whole message, with the parameters in its advice spelled by ``spell``."""
        what = f"{self.who}: {self.what}" if self.who else self.what
        return f"{what} {render(self.do, spell)}" if self.do else what

    def __str__(self) -> str:
        """Return the whole message in Python's words."""
        return self.told()


def present(*parts: T | None) -> list[T]:
    """Return the parts that are there; a sentence or a section that does not apply is None."""
    return [part for part in parts if part is not None]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return "1 row" or "2 rows"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def in_words(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def some_of(names: Iterable[Any], limit: int = 5) -> str:
    """Name a few of many: "a, b and c", or "a, b and 7 more"."""
    shown = [str(name) for name in names]
    return in_words([*shown[:limit], f"{len(shown) - limit} more"] if len(shown) > limit else shown)


def sizes_in_words(sizes: Iterable[int], one: str = "row") -> str:
    """Return " of 30 rows each" or " of 12 to 48 rows", leaving empty clusters out."""
    held = [int(size) for size in sizes if size > 0]
    if min(held) == max(held):
        return f" of {counted(held[0], one)}{' each' if len(held) > 1 else ''}"
    return f" of {min(held)} to {max(held)} {one}s"
