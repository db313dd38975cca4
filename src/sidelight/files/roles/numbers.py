"""Numbers as people and spreadsheets write them: ``1.234,56``, ``1 234.5``, ``10 %``, ``$ 12.50``.

One cell may be read in two ways (``1.234`` is a thousand or a little more than one), a column seldom: how its numbers
are written is decided for the column as a whole, by cells that can be read in one way only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.files.roles.cells import is_gap, is_number

_MOST = 0.9  # share of the cells that must be such numbers
_BLANKS = "\u00a0\u202f\u2009"  # blanks that typographers put between thousands
_SHAPE = re.compile(rf"([$€£]?)\s*([-+\u2212]?)([\d.,' {_BLANKS}’]*\d)\s*([%$€£]?)")


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
    marks = {mark for _, match in found for mark in (match[1], match[4])} - {""}
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
