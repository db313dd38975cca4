"""Numbers as people read them: percentages, thousands, and ticks of an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def percent(share: float, digits: int | None = None) -> str:
    """Return a share as a percentage, without claiming all or nothing when a little is missing.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    digits : int, optional
        Decimals, for a column in which all should have as many; by default as many as matter.

    >>> percent(0.0991), percent(1), percent(0.996), percent(0.99996), percent(0.00002)
    ('9.9%', '100%', '99.6%', '>99.9%', '<0.1%')
    """
    if not math.isfinite(share):
        return "–"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    if digits is not None:
        return f"{100 * share:.{digits}f}%"
    needs_more = abs(share) < 0.1 or 0.995 <= share < 1
    text = f"{100 * share:.1f}" if needs_more else f"{100 * share:.0f}"
    return f"{text.removesuffix('.0')}%"


def number(value: Any) -> str:
    """Return a number with three digits that matter, or with thousands apart.

    >>> number(1797), number(0.12345), number(12345.6), number(True)
    ('1,797', '0.123', '12,346', 'yes')
    """
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}".replace("-", "−")
    if isinstance(value, (float, np.floating)):
        value = float(value)
        if not math.isfinite(value):
            return "–"
        if value.is_integer() and abs(value) < 1e15:
            return number(int(value))
        return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", "−")
    return str(value)


def is_number(value: Any) -> bool:
    """Say whether a cell is a number; truth values are words."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from ``low`` to ``high``.

    >>> ticks(0, 1)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    rough = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)  # 1e-9 of a step: rounding of the division
    last = math.floor(high / step + 1e-9)  # the same
    return [round(i * step, 12) for i in range(first, last + 1)]
