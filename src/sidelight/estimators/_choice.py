"""A parameter that was "auto": one loop over its candidates, and the record of what was tried and taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

Values = Sequence[np.ndarray]  # the scores of each candidate, one for each thing that was held out, in the same order
Rule = Callable[[Values], int]  # the place of the candidate to take


class Choice(TypedDict):
    """One score (higher is better) and its standard error for each value tried, in the order of trying.

    ``note`` says why nothing else was tried, where that is so.
    """

    tried: list[Any]
    scores: list[float]
    errors: list[float]
    chosen: Any
    note: NotRequired[str]


def highest(values: Values) -> int:
    """Return the place of the best mean."""
    return int(np.argmax([np.mean(value) for value in values]))


def simplest_within_error(values: Values) -> int:
    """Return the first place within one standard error of the best mean (Breiman's rule)."""
    means = [np.mean(value) for value in values]
    top = highest(values)
    least = means[top] - _error(values[top])
    return next(place for place, mean in enumerate(means) if mean >= least)


def as_good(values: Values) -> list[int]:
    """Return the places that fall short of the best by at most one standard error of the shortfall.

    Breiman's rule for scores of the same things: what makes all values good or bad on one of them cancels.
    """
    short = [values[highest(values)] - value for value in values]
    errors = [np.std(gap, ddof=1) / np.sqrt(np.size(gap)) for gap in short]
    return [place for place, (gap, error) in enumerate(zip(short, errors)) if np.mean(gap) <= error]


def choose(tried: Sequence[Any], values: Values, rule: Rule = highest) -> Choice:
    """Record candidates whose scores are known, the simplest first, and the one that a rule takes."""
    scores = [float(np.mean(value)) for value in values]
    errors = [_error(value) for value in values]
    return {"tried": list(tried), "scores": scores, "errors": errors, "chosen": tried[rule(values)]}


def try_in_turn(
    candidates: Iterable[Any],
    score: Callable[[Any], np.ndarray],
    rule: Rule = highest,
    *,
    patience: int | None = None,
    peak: Rule = highest,
) -> Choice:
    """Score one candidate after the other, and take one.

    Parameters
    ----------
    candidates : iterable
        The simplest first.
    score : callable
        The scores of a candidate, one for each thing that was held out.
    rule : callable
        Which one is taken.
    patience : int, optional
        How many candidates are tried in vain after the peak; all of them by default.
    peak : callable
        What counts as the peak.
    """
    tried: list[Any] = []
    values: list[np.ndarray] = []
    for candidate in candidates:
        tried.append(candidate)
        values.append(score(candidate))
        if patience is not None and len(tried) - 1 - peak(values) >= patience:
            break
    return choose(tried, values, rule)


def _error(value: np.ndarray) -> float:
    return float(np.std(value) / np.sqrt(np.size(value)))
