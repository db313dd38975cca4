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

METHOD, RIVAL, TIME, FACT = "its method", "a rival", "a time", "a fact"  # whose figure an item is
REPRODUCED, ABOVE, NOT, OPEN = "reproduced", "above print", "**not reproduced**", "open"
CANNOT, NOT_YET = "cannot be run here", "not run yet"
AGREES, DIFFERS = "agrees", "differs"  # of rivals, times and facts: they are no verdict on the document's method
VERDICTS = (REPRODUCED, ABOVE, NOT, OPEN, CANNOT, NOT_YET)
BESIDE = (AGREES, DIFFERS, OPEN, CANNOT, NOT_YET)
FEW = 5  # runs below which a verdict says how many it rests on
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


@dataclass(frozen=True)
class Curve:
    """The mean of several cells of one row: a whole curve in one figure, with the mean of their spreads."""

    page: str
    section: str
    row: str
    columns: tuple[str, ...]

    def cells(self) -> list[Cell]:
        """Its points."""
        return [Cell(self.page, self.section, self.row, column) for column in self.columns]

    def text(self, *, whole: bool = False) -> str:
        """The mean, and the mean of what follows ±; nothing where a cell is empty."""
        cells = self.cells()
        if not all(cell.is_there() for cell in cells):
            return ""
        values, spreads = [cell.number() for cell in cells], [spread_of(cell.text()) for cell in cells]
        return f"{sum(values) / len(cells):.3f} ± {sum(spreads) / len(cells):.3f}"

    def number(self) -> float:
        """The mean."""
        return first_number(self.text())

    def is_there(self) -> bool:
        """Whether all of its cells are means of several runs: one run of a curve is not finished."""
        return all(cell.is_there() and "±" in cell.text() for cell in self.cells())


@dataclass(frozen=True)
class Counts:
    """How many runs several cells rest on: "5", or "1 to 5" where they differ."""

    page: str
    sources: tuple[Cell | Said, ...]
    section: str = ""

    def text(self, *, whole: bool = False) -> str:
        """The fewest and the most."""
        counts = sorted({int(first_number(source.text())) for source in self.sources})
        return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))


Source = Cell | Said | Curve | Counts
Figures = Cell | Curve
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
    whose: str = METHOD

    def outcome(self) -> Outcome:
        """Compare them; where a page of benchmarks is older than this item, nothing was run yet.

        A figure of somebody else, a time or a fact agrees or differs; a verdict on few runs says on how many.
        """
        try:
            found, runs = self.judge(), self.runs()
        except MISSING as error:
            return Outcome("", f"{NOT_YET}: {error.args[0] if error.args else error}")
        if found.verdict not in (REPRODUCED, ABOVE, NOT):
            return found
        if runs == 1 and "±" in self.printed:
            return Outcome(found.ours, f"{OPEN}: one run against a spread")
        beside = AGREES if found.verdict == REPRODUCED else f"{DIFFERS}: {self.side(found.verdict)}"
        verdict = found.verdict if self.whose == METHOD else beside
        return Outcome(found.ours, verdict + (f", on {said_runs(runs)}" if 0 < runs < FEW else ""))

    def side(self, verdict: str) -> str:
        """Say on which side of the printed figure ours lies."""
        above, below = {TIME: ("quicker", "slower"), FACT: ("not as printed",) * 2}.get(
            self.whose, ("above print", "below print")
        )
        return above if verdict == ABOVE else below

    def runs(self) -> int:
        """The fewest runs it rests on; 0 where it does not say, as of what has no chance in it."""
        if self.draws is None:
            return 0
        text = self.draws[0].text()
        counts = [int(word) for word in re.findall(r"\d+", text)] or [{"five": 5, "ten": 10}.get(text, 0)]
        return min((count for count in counts if count), default=0)


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
    story: str = (
        ""  # what it claims, what holds and on which condition, what does not, and what our default does; {0} ...
    )
    quoted: Sequence[Source] = ()  # the figures that the story names
    picture: tuple[str, str] | None = None  # the one that shows it, and its caption

    @property
    def items(self) -> list[Item]:
        """All items, in order."""
        return [item for part in self.parts for item in part.items]


def said_runs(runs: int) -> str:
    """Say how many runs there were."""
    return "one run" if runs == 1 else f"{runs} runs"


def figure(
    what: str, printed: str, ours: Cell, *, lower: bool = False, draws: Draws | None = None, whose: str = METHOD
) -> Item:
    """Compare two figures: level within the larger of their spreads, else above print or not reproduced.

    Where neither has a spread, half a unit of the last printed digit is level. ``lower`` means lower is better.
    """

    def judge() -> Outcome:
        text = ours.text()
        if not re.search(r"\d", text):
            return Outcome("", NOT_YET)
        ahead = first_number(text) - first_number(printed)
        ahead = -ahead if lower else ahead
        room = max(spread_of(printed), spread_of(text), last_digit(printed) / 2) + 1e-9
        return Outcome(ours.text(whole=True), REPRODUCED if abs(ahead) <= room else ABOVE if ahead > 0 else NOT)

    return Item(what, printed, (ours,), judge, draws, whose)


Comparison = tuple[str, Figures, Sequence[Figures]]  # its name, what should be ahead, and of what


def claim(
    what: str,
    comparisons: Sequence[Comparison],
    *,
    most: bool = False,
    within: float = 0.0,
    level: bool = False,
    lower: bool = False,
    draws: Draws | None = None,
    whose: str = METHOD,
) -> Item:
    """Check that one cell is ahead of others on every comparison, or on most of them.

    A difference within the larger of both spreads, or half a unit of the last digit, is level: it neither carries a
    claim nor refutes it. ``within`` is by how much more a cell may be behind; ``level`` asks that it is not further
    ahead than that, either.
    """

    def judge() -> Outcome:
        ahead, even, missed, absent = 0, 0, [], []
        for name, left, rights in comparisons:
            if not all(cell.is_there() for cell in (left, *rights)):
                absent.append(name)
                continue
            gaps = [(gap_of(left, right) * (-1 if lower else 1), room_of(left, right)) for right in rights]
            gap, room = max(gaps, key=lambda g: abs(g[0]) - g[1]) if level else min(gaps, key=lambda g: g[0] + g[1])
            least = min(gaps, key=lambda g: g[0] - g[1])
            if (abs(gap) if level else -gap) > within + room:
                missed.append(f"{name} ({gap:+.3g})")
            elif level or within or least[0] > least[1]:
                ahead += 1
            else:
                even += 1
        return weighed(len(comparisons), ahead, even, missed, absent, most=most)

    sources = tuple(cell for _, left, rights in comparisons for cell in (left, *rights))
    return Item(what, "claim", sources, judge, draws, whose)


def apart(what: str, differences: Sequence[tuple[str, Cell]], *, draws: Draws | None = None) -> Item:
    """Check that differences, measured draw by draw, are below 0 by more than two standard errors."""

    def judge() -> Outcome:
        told = [(name, cell.number(), 2 * spread_of(cell.text())) for name, cell in differences]
        missed = [f"{name} ({gap:+.1f})" for name, gap, room in told if gap > room]
        ahead = sum(gap < -room for _, gap, room in told)
        return weighed(len(told), ahead, len(told) - ahead - len(missed), missed, (), most=False)

    return Item(what, "claim", tuple(cell for _, cell in differences), judge, draws)


def gap_of(left: Figures, right: Figures) -> float:
    """By how much one figure is above another."""
    return left.number() - right.number()


def room_of(left: Figures, right: Figures) -> float:
    """How far two figures may lie apart and be called level."""
    texts = left.text(), right.text()
    return max(*map(spread_of, texts), max(map(last_digit, texts)) / 2) + 1e-9


def weighed(n: int, ahead: int, even: int, missed: Sequence[str], absent: Sequence[str], *, most: bool) -> Outcome:
    """Say on how many of ``n`` comparisons a claim holds, is level, fails or was not run; those that were are judged.

    Where no comparison fails (or few do, of a claim on most) and yet fewer than half hold, the figures do not say.
    """
    tried = n - len(absent)
    if not tried:
        return Outcome("", f"{NOT_YET}: the page has no figures of it")
    told = [
        f"holds on {ahead} of {tried}",
        f"level on {even}" if even else "",
        f"not on {', '.join(missed)}" if missed else "",
    ]
    told.append(f"not run: {', '.join(absent)}" if absent else "")
    fails = 2 * len(missed) >= tried if most else bool(missed)
    verdict = NOT if fails else REPRODUCED if 2 * ahead >= tried + most else f"{OPEN}: mostly level"
    return Outcome("; ".join(filter(None, told)), verdict)


def counted(holds: str, n: int, missed: Sequence[str], absent: Sequence[str] = ()) -> Outcome:
    """Say how many of ``n`` checks hold, which do not and which were not run; those that were are judged."""
    tried = n - len(absent)
    not_run = f"not run: {', '.join(absent)}" if absent else ""
    if not tried:
        return Outcome("", f"{NOT_YET}: the page has no figures of it")
    told = [f"{holds} {tried - len(missed)} of {tried}", f"not on {', '.join(missed)}" if missed else "", not_run]
    return Outcome("; ".join(filter(None, told)), NOT if missed else REPRODUCED)


def judged(what: str, page: str, row: str, *, draws: Draws | None = None, whose: str = METHOD) -> Item:
    """Take over the verdict that the benchmark itself reached in the table at the top of its page."""
    measured, met = Cell(page, "", row, "measured"), Cell(page, "", row, "met")

    def judge() -> Outcome:
        return Outcome(measured.text(whole=True), REPRODUCED if met.text() == "yes" else NOT)

    return Item(what, "claim", (measured,), judge, draws, whose)


def exactly(what: str, printed: str, ours: Source, *, draws: Draws | None = None, whose: str = FACT) -> Item:
    """Compare words or counts that are right or wrong."""

    def judge() -> Outcome:
        return Outcome(ours.text(), REPRODUCED if ours.text() == printed else NOT)

    return Item(what, printed, (ours,), judge, draws, whose)


def cannot(
    what: str, printed: str, why: str, *stand_in: Source, draws: Draws | None = None, whose: str = METHOD
) -> Item:
    """Say why something cannot be run here; what a stand-in gave is shown and not judged."""

    def judge() -> Outcome:
        shown = ", ".join(source.text() for source in stand_in)
        return Outcome(f"on a stand-in: {shown}" if shown else "", f"{CANNOT}: {why}")

    return Item(what, printed, stand_in, judge, draws, whose)


def kind_of(verdict: str) -> str:
    """Return which of the verdicts a text begins with."""
    return next(kind for kind in (*VERDICTS, *BESIDE) if verdict.startswith(kind))


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
