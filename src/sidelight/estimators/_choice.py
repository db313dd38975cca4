"""The record of a parameter that was "auto": what was tried, how it scored, and what was taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np


class Choice(TypedDict):
    """One score (higher is better) and its standard error for each value tried, in the order of trying.

    ``note`` says why nothing else was tried, where that is so.
    """

    tried: list[Any]
    scores: list[float]
    errors: list[float]
    chosen: Any
    note: NotRequired[str]


def choose_best(tried: Sequence[Any], values: Sequence[np.ndarray], *, simplest_within_error: bool = False) -> Choice:
    """Take the value of the best mean score.

    Parameters
    ----------
    tried : sequence
        The values, the simplest first.
    values : sequence of arrays
        The scores of each value, one for each thing that was held out.
    simplest_within_error : bool
        Take the first value within one standard error of the best mean (Breiman's rule).
    """
    scores = [float(np.mean(value)) for value in values]
    errors = [float(np.std(value) / np.sqrt(np.size(value))) for value in values]
    best = int(np.argmax(scores))
    slack = errors[best] if simplest_within_error else 0.0
    chosen = next(value for value, score in zip(tried, scores) if score >= scores[best] - slack)
    return {"tried": list(tried), "scores": scores, "errors": errors, "chosen": chosen}


def is_as_good(values: Sequence[np.ndarray]) -> list[bool]:
    """Say of each value whether it falls short of the best by at most one standard error of the shortfall.

    Breiman's rule for scores of the same things: what makes all values good or bad on one of them cancels.

    Parameters
    ----------
    values : sequence of arrays
        The scores of each value, one for each thing that was held out, in the same order.
    """
    best = values[int(np.argmax([np.mean(value) for value in values]))]
    short = [best - value for value in values]
    return [bool(np.mean(gap) <= np.std(gap, ddof=1) / np.sqrt(np.size(gap))) for gap in short]
