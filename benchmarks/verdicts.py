"""How a table, a figure or a claim of a document is compared with what our benchmarks measured.

The document's side is typed in once, beside the number of its table and page. Our side is always read from a page of
docs/benchmarks: a verdict cannot say more than that page. Decision 47 has the rules.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
sys.path.insert(0, str(DOCS))

from measured import PAGES, quote  # noqa: E402 # lies with the docs, whose role quotes by the same address

REPRODUCED, BEATEN, NOT = "reproduced", "beaten", "**not reproduced**"
CANNOT, NOT_YET = "cannot be run here", "not run yet"
VERDICTS = (REPRODUCED, BEATEN, NOT, CANNOT, NOT_YET)
LEVEL = 0.02  # how far apart two scores may lie that a document calls comparable, and gives no number for


@dataclass(frozen=True)
class Cell:
    """One cell of a page of benchmarks; ``part`` picks one of several figures that are parted by " / "."""

    page: str
    section: str
    row: str
    column: str
    part: int | None = None

    def text(self, *, whole: bool = False) -> str:
        """What the cell says, without what it has in brackets unless ``whole``."""
        found = quote(self.page, self.section, self.row, self.column, whole=whole).replace("●", "").strip()
        return found if self.part is None else found.split(" / ")[self.part]

    def number(self) -> float:
        """The first number of the cell."""
        return first_number(self.text())

    def is_there(self) -> bool:
        """Whether the cell has a number: a page that is not finished leaves cells empty."""
        return bool(re.search(r"\d", self.text()))


@dataclass(frozen=True)
class Said:
    """Words of a page of benchmarks outside its tables: the first group of a pattern."""

    page: str
    pattern: str
    section: str = ""

    def text(self) -> str:
        """What the page says there."""
        found = re.search(self.pattern, (PAGES / f"{self.page}.md").read_text(encoding="utf-8"))
        if found is None:
            raise KeyError(f"{self.page}: nothing like {self.pattern!r}")
        return found[1]


Source = Cell | Said
MISSING = (KeyError, ValueError, OSError)  # no such section or row, no such column, no such page
Draws = tuple[Source, object]  # how many there are, and how many the document has


@dataclass(frozen=True)
class Outcome:
    """What we have to say about an item."""

    ours: str
    verdict: str


@dataclass(frozen=True)
class Item:
    """A row of a page: what the document prints, where ours lies, and how they are compared."""

    what: str
    printed: str
    sources: tuple[Source, ...]
    judge: Callable[[], Outcome]
    draws: Draws | None = None

    def outcome(self) -> Outcome:
        """Compare them; where a page of benchmarks is older than this item, nothing was run yet."""
        try:
            return self.judge()
        except MISSING as error:
            return Outcome("", f"{NOT_YET}: {error.args[0] if error.args else error}")


@dataclass(frozen=True)
class Drawing:
    """A figure of a document that is drawn from cells: panels by title, in each the cells of a line by its name."""

    file: str
    caption: str
    ticks: Sequence[str]
    along: str
    panels: dict[str, dict[str, Sequence[Cell]]]
    bars: bool = False


@dataclass(frozen=True)
class Part:
    """A table, figure or section of a document, with its items; pictures lie beside pages of benchmarks."""

    title: str
    items: Sequence[Item]
    text: str = ""
    pictures: Sequence[tuple[str, str]] = ()
    drawings: Sequence[Drawing] = ()


@dataclass(frozen=True)
class Document:
    """A document: its parts, what is wrong in it, and what our own method reaches on the same protocol."""

    key: str
    title: str
    about: str
    benchmarks: Sequence[str]
    parts: Sequence[Part]
    wrong: Sequence[str]
    own: Sequence[tuple[str, Source]] = ()
    remarks: Sequence[str] = field(default_factory=tuple)
    plain: Sequence[tuple[str, str]] = ()  # tables and figures without results, and where ours has what they say

    @property
    def items(self) -> list[Item]:
        """All items, in order."""
        return [item for part in self.parts for item in part.items]


def figure(what: str, printed: str, ours: Cell, *, lower: bool = False, draws: Draws | None = None) -> Item:
    """Compare two figures: level within the larger of their spreads, else beaten or not reproduced.

    Where neither has a spread, half a unit of the last printed digit is level. ``lower`` means lower is better.
    """

    def judge() -> Outcome:
        text = ours.text()
        if not re.search(r"\d", text):
            return Outcome("", NOT_YET)
        ahead = first_number(text) - first_number(printed)
        ahead = -ahead if lower else ahead
        room = max(spread_of(printed), spread_of(text), last_digit(printed) / 2) + 1e-9
        return Outcome(ours.text(whole=True), REPRODUCED if abs(ahead) <= room else BEATEN if ahead > 0 else NOT)

    return Item(what, printed, (ours,), judge, draws)


Comparison = tuple[str, Cell, Sequence[Cell]]  # its name, what should be ahead, and of what


def claim(
    what: str,
    comparisons: Sequence[Comparison],
    *,
    most: bool = False,
    within: float = 0.0,
    level: bool = False,
    lower: bool = False,
    draws: Draws | None = None,
) -> Item:
    """Check that one cell is ahead of others on every comparison, or on most of them.

    ``within`` is by how much it may be behind; ``level`` asks that it is not further ahead than that, either.
    """

    def judge() -> Outcome:
        missed, absent = [], []
        for name, left, rights in comparisons:
            if not all(cell.is_there() for cell in (left, *rights)):
                absent.append(name)
                continue
            gaps = [(left.number() - right.number()) * (-1 if lower else 1) for right in rights]
            worst = max(gaps, key=abs) if level else min(gaps)
            if (abs(worst) if level else -worst) > within + 1e-9 or (not level and within == 0 and worst <= 0):
                missed.append(f"{name} ({worst:+.3g})")
        return counted("holds on", len(comparisons), missed, absent, most=most)

    sources = tuple(cell for _, left, rights in comparisons for cell in (left, *rights))
    return Item(what, "claim", sources, judge, draws)


def counted(holds: str, n: int, missed: Sequence[str], absent: Sequence[str] = (), *, most: bool = False) -> Outcome:
    """Say how many of ``n`` comparisons hold, which do not and which were not run; those that were are judged."""
    tried = n - len(absent)
    not_run = f"not run: {', '.join(absent)}" if absent else ""
    if not tried:
        return Outcome("", f"{NOT_YET}: the page has no figures of it")
    told = [f"{holds} {tried - len(missed)} of {tried}", f"not on {', '.join(missed)}" if missed else "", not_run]
    good = 2 * len(missed) < tried if most else not missed
    return Outcome("; ".join(filter(None, told)), REPRODUCED if good else NOT)


def judged(what: str, page: str, row: str, *, draws: Draws | None = None) -> Item:
    """Take over the verdict that the benchmark itself reached in the table at the top of its page."""
    measured, met = Cell(page, "", row, "measured"), Cell(page, "", row, "met")

    def judge() -> Outcome:
        return Outcome(measured.text(whole=True), REPRODUCED if met.text() == "yes" else NOT)

    return Item(what, "claim", (measured,), judge, draws)


def exactly(what: str, printed: str, ours: Source, *, draws: Draws | None = None) -> Item:
    """Compare words or counts that are right or wrong."""

    def judge() -> Outcome:
        return Outcome(ours.text(), REPRODUCED if ours.text() == printed else NOT)

    return Item(what, printed, (ours,), judge, draws)


def cannot(what: str, printed: str, why: str, *stand_in: Source, draws: Draws | None = None) -> Item:
    """Say why something cannot be run here; what a stand-in gave is shown and not judged."""

    def judge() -> Outcome:
        shown = ", ".join(source.text() for source in stand_in)
        return Outcome(f"on a stand-in: {shown}" if shown else "", f"{CANNOT}: {why}")

    return Item(what, printed, stand_in, judge, draws)


def not_yet(what: str, printed: str, missing: str, *nearest: Source) -> Item:
    """Say what nobody has run yet; the nearest that there is may be shown and is not judged."""

    def judge() -> Outcome:
        return Outcome(", ".join(source.text() for source in nearest), f"{NOT_YET}: {missing}")

    return Item(what, printed, nearest, judge)


def kind_of(verdict: str) -> str:
    """Return which of the five verdicts a text begins with."""
    return next(kind for kind in VERDICTS if verdict.startswith(kind))


def first_number(text: str) -> float:
    """Return the first number of a text."""
    found = re.search(r"-?\d[\d,]*\.?\d*", text)
    if found is None:
        raise ValueError(f"no number in {text!r}")
    return float(found[0].replace(",", ""))


def spread_of(text: str) -> float:
    """Return what follows the first ± of a text, or 0."""
    found = re.search(r"± ?([\d.]*\d)", text)
    return float(found[1]) if found else 0.0


def last_digit(text: str) -> float:
    """Return the unit of the last digit of the first number of a text: 0.01 for 0.22."""
    found = re.search(r"\d\.(\d+)", text)
    return 10.0 ** -len(found[1]) if found else 1.0
