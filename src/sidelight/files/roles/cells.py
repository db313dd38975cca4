"""What one cell of text says: a number, nothing, or something else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "missing", ".")


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII)


DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def is_number(cell: str) -> bool:
    """Say whether a cell is a number with a decimal point."""
    return NUMBER.fullmatch(cell) is not None


def as_number(cell: str) -> float:
    """Return the number that a cell is, by the grammar of :data:`NUMBER`, which every reader obeys; else ValueError."""
    if not cell.isascii() or "_" in cell:  # float() takes digits of every script, and 1_000
        raise ValueError(f"{cell!r} is no number")
    return float(cell)


def is_gap(cell: str) -> bool:
    """Say whether a cell says that nothing is known."""
    return cell.lower() in MISSING


# Numbers as people and spreadsheets write them: ``1.234,56``, ``10 %``, ``$ 12.50``, ``39.1 mm``.
#
# One cell may be read in two ways (``1.234`` is a thousand or a little more than one), a column seldom: how its numbers
# are written is decided for the column as a whole, by cells that can be read in one way only.


_MOST = 0.9  # share of the cells that must be such numbers


_BLANKS = "\u00a0\u202f\u2009"  # blanks that typographers put between thousands


_UNITS = (
    "[kcmµun]?m|[kmµ]?g|[mcdµ]?l|[mµn]?s|[kMG]?Hz|m?[AV]|[kM]?W|kWh|h?Pa|mbar|bar|psi|°C|°F|°|K|sec|min|hrs?|hours?|days?|"
    "years?|yrs?|ft|in|lbs?|oz|miles?|mph|mpg|km/h|m/s|kcal|cal|kJ|J|dB|ppm|px|MB|GB|kB|USD|EUR|GBP|CHF|Euro?|m[²2]|m[³3]|"
    "mg/dl|mmHg|cc|hp|PS|cm[²2]|km[²2]|kn|cd|rpm|bpm"
)
_SHAPE = re.compile(
    rf"([$€£]?)\s*([-+\u2212]?)([\d.,' {_BLANKS}’]*\d)\s*([%$€£]|(?:(?<=\s)|(?<=\d))(?:{_UNITS}))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Writing:
    """How the numbers of a column are written: what stands between thousands, what before the fraction."""

    thousands: str = ""
    decimal: str = "."
    example: str = ""

    def plain(self, cell: str) -> str:
        """Return a number as Python writes it; any other cell as it is."""
        found = _SHAPE.fullmatch(cell.strip())
        if found is None:
            return cell
        digits = _as_blank(found[3])
        if self.thousands:
            whole, mark, fraction = digits.partition(self.decimal)
            if self.thousands in fraction or not re.fullmatch(
                rf"\d{{1,3}}({re.escape(self.thousands)}\d{{3}})+|\d*", whole
            ):
                return cell
            digits = whole.replace(self.thousands, "") + mark + fraction
        digits = digits.replace(self.decimal, ".", 1)
        text = ("-" if found[2] in "-\u2212" and found[2] else "") + digits
        return text if is_number(text) else cell


def writing_of(cells: Sequence[str], *, decimal_comma: bool = False) -> Writing | None:
    """Return how a column of numbers is written when that is not plainly; None for other columns.

    Parameters
    ----------
    cells : sequence of str
        Different cells of the column, as they are in the file.
    decimal_comma : bool
        Whether the file writes decimal commas elsewhere.
    """
    seen = [cell.strip() for cell in cells if not is_gap(cell)]
    found = [(cell, match) for cell in seen if (match := _SHAPE.fullmatch(cell))]
    marks = {mark for _, match in found for mark in (match[1], match[4])} - {"", None}
    if not found or len(marks) > 1 or len(found) < _MOST * len(seen):
        return None
    digits = [_as_blank(match[3]) for _, match in found]
    for thousands, decimal in _ways(digits, decimal_comma=decimal_comma):
        way = Writing(thousands, decimal)
        plain = [way.plain(cell) for cell, _ in found]
        if sum(map(is_number, plain)) < _MOST * len(seen):
            continue
        usual = "," if decimal_comma else "."
        odd = next((cell for cell, _ in found if not is_number(cell.replace(usual, ".", 1))), "")
        odd = odd or next((cell for cell, _ in found if thousands and thousands in cell), "")
        return Writing(thousands, decimal, odd) if odd else None
    return None


def _ways(digits: Sequence[str], *, decimal_comma: bool) -> list[tuple[str, str]]:
    """Return the ways to read the marks of a column, the likeliest first; none where its cells contradict."""
    both = [text for text in digits if "." in text and "," in text]
    if both:
        last = {max(".,", key=text.rfind) for text in both}
        return [] if len(last) > 1 else [(",", ".")] if last == {"."} else [(".", ",")]
    for mark in (" ", "'"):
        if any(mark in text for text in digits):
            decimal = "," if any("," in text for text in digits) else "."
            return [(mark, decimal)]
    dots, commas = (any(mark in text for text in digits) for mark in ".,")
    grouped = {mark: _all_in_groups(digits, mark) for mark in ".,"}
    if commas and not decimal_comma and grouped[","]:
        return [(",", ".")]
    if dots and grouped["."] and (decimal_comma or any(text.count(".") > 1 for text in digits)):
        return [(".", ",")]
    return [("", "," if decimal_comma or (commas and not dots) else ".")]


def _all_in_groups(digits: Sequence[str], mark: str) -> bool:
    """Say whether every cell with the mark has three digits after each."""
    with_mark = [text for text in digits if mark in text]
    return bool(with_mark) and all(re.fullmatch(rf"\d{{1,3}}(\{mark}\d{{3}})+", text) for text in with_mark)


def _as_blank(digits: str) -> str:
    return re.sub(rf"[{_BLANKS}]", " ", digits).replace("’", "'")


# What stands between several labels in one cell, found by what the parts share.
#
# ``wren + owl`` beside ``owl`` and ``jay + wren``: a mark separates labels when the parts that it leaves come back in
# other cells. A blank counts only as the last resort: names have blanks, too.


_MARKS = ("|", ";", ",", "@", "+", "&", "/", "\\", " and ", " und ", " et ", " y ")


_STEPS = ("/", "\\")  # also between the steps of a path, where each name has one place


_COME_BACK = 0.6  # share of the parts that must be met in another cell


def find_separator(cells: Iterable[str]) -> str | None:
    """Return the mark that separates the labels of cells, or None when every cell is one label."""
    different = sorted({" ".join(cell.split()) for cell in cells if cell.strip()})
    for mark in (*_MARKS, " "):
        split = [[part.strip() for part in cell.split(mark) if part.strip()] for cell in different if mark in cell]
        if any(split) and _come_back(split, different, mark) and not (mark in _STEPS and _are_paths(split, different)):
            return mark
    return None


def _come_back(split: list[list[str]], different: list[str], mark: str) -> bool:
    counts = Counter(part for parts in split for part in set(parts))
    alone = {cell for cell in different if mark not in cell}
    if mark in ";,":  # somebody else may have written the other
        alone |= {part.strip() for cell in alone for part in re.split("[;,]", cell)}
    parts = list(counts)
    shared = sum(counts[part] > 1 or part in alone for part in parts)
    if mark == "|":  # stands in no name
        return max(map(len, parts)) <= 40
    if mark != " ":
        return shared >= _COME_BACK * len(parts) or (len(parts) <= 2 and bool(alone & set(parts)))
    fewer = len(set(parts) | alone) < 0.75 * len(different)  # blanks also stand inside names: be sure
    return fewer and shared >= 0.8 * len(parts)


def _are_paths(split: list[list[str]], different: list[str]) -> bool:
    """Say whether every part has one place in its cells, as steps of a path do (``animal/bird``), or is a number."""
    places: dict[str, set[int]] = {}
    for parts in split:
        for place, part in enumerate(parts):
            places.setdefault(part, set()).add(place)
    alone = set(different)
    return all(part.isdecimal() for part in places) or not any(
        len(where) > 1 or part in alone for part, where in places.items()
    )


def further_marks(labels: Collection[str], used: Iterable[str]) -> tuple[str, ...]:
    """Return the marks that join labels into others: "owl; wren" beside "owl" and "wren" is no label of its own."""
    known, found = set(labels), []
    for mark in _MARKS:
        joined = {label for label in known if mark in label} if mark not in used else set()
        alone = known - joined
        parts = {label: [part.strip() for part in label.split(mark) if part.strip()] for label in joined}
        joins = [names for names in parts.values() if len(names) > 1 and _share(names, alone) >= _COME_BACK]
        if joins and len(joins) >= _COME_BACK * len(joined):
            found.append(mark)
            known = alone | {name for names in parts.values() for name in names}
    return tuple(found)


def _share(names: Sequence[str], known: Collection[str]) -> float:
    return sum(name in known for name in names) / len(names)
