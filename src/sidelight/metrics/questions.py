"""What an answer is worth: the information that a pair or a triplet carries about the classes, [P17] section 3.4.

Theorem 3.4.1 gives it for exact answers: the entropy of the answer. With a share eps of wrong answers, all equally
likely, the information is the entropy of the answer minus the entropy of the mistake.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight._core.params import check_number
from sidelight._core.simplex import xlogx
from sidelight.errors import InvalidData

BITS = float(np.log(2.0))


class AnswerInformation(NamedTuple):
    """Bits that one answer about a pair and about a triplet carry, and how likely each answer is."""

    pair: float
    triplet: float
    p_same: float
    p_odd: float  # of any one row being the odd one out

    @property
    def per_row(self) -> tuple[float, float]:
        """Bits for each row that a person has to look at."""
        return self.pair / 2.0, self.triplet / 3.0


class QuestionPlan(NamedTuple):
    """Bits a minute for both kinds of question, and the kind to ask."""

    pair: float
    triplet: float
    ask: str


def answer_information(class_shares: Any, *, pair_error: float = 0.0, triplet_error: float = 0.0) -> AnswerInformation:
    """Return the bits that one answer tells about the classes of its rows, [P17] theorem 3.4.1.

    Parameters
    ----------
    class_shares : array-like of shape (n_classes,)
        The share of each class, or its number of rows.
    pair_error, triplet_error : float, default=0.0
        The share of wrong answers of each kind.

    Examples
    --------
    >>> import sidelight as sl
    >>> worth = sl.metrics.answer_information([0.25, 0.25, 0.25, 0.25])
    >>> round(worth.pair, 3), round(worth.triplet, 3)
    (0.811, 1.88)
    """
    p = _shares(class_shares)
    for name, value in (("pair_error", pair_error), ("triplet_error", triplet_error)):
        check_number("answer_information", name, value, low=0, high=1)
    same, odd = float((p**2).sum()), float((p**2 * (1.0 - p)).sum())
    pair = _information(np.array([same, 1.0 - same]), pair_error)
    triplet = _information(np.array([odd, odd, odd, 1.0 - 3.0 * odd]), triplet_error)
    return AnswerInformation(pair, triplet, same, odd)


def plan_questions(
    class_shares: Any,
    *,
    pair_seconds: float,
    triplet_seconds: float,
    pair_error: float = 0.0,
    triplet_error: float = 0.0,
) -> QuestionPlan:
    """Say which kind of question buys more information a minute.

    Parameters
    ----------
    class_shares : array-like of shape (n_classes,)
        The share of each class, or its number of rows.
    pair_seconds, triplet_seconds : float
        How long a person takes for one question of each kind.
    pair_error, triplet_error : float, default=0.0
        The share of wrong answers of each kind.
    """
    for name, value in (("pair_seconds", pair_seconds), ("triplet_seconds", triplet_seconds)):
        check_number("plan_questions", name, value, low=0, open_low=True)
    worth = answer_information(class_shares, pair_error=pair_error, triplet_error=triplet_error)
    pair, triplet = 60.0 * worth.pair / pair_seconds, 60.0 * worth.triplet / triplet_seconds
    return QuestionPlan(pair, triplet, "pairs" if pair >= triplet else "triplets")


def _information(p: np.ndarray, eps: float) -> float:
    """H[answer] - H[answer | truth] in bits, when a wrong answer is any of the others."""
    others = len(p) - 1
    answered = (1.0 - eps) * p + eps / others * (1.0 - p)
    mistakes = -float(xlogx(1.0 - eps)) - float(eps * np.log(eps / others) if eps > 0 else 0.0)
    return max(0.0, (-float(xlogx(np.clip(answered, 0.0, 1.0)).sum()) - mistakes) / BITS)


def _shares(class_shares: Any) -> np.ndarray:
    try:
        p = np.asarray(class_shares, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.zeros(0)
    if p.ndim != 1 or not p.size or not np.isfinite(p).all() or (p < 0).any() or p.sum() <= 0:
        raise InvalidData(
            f"Class shares are numbers from 0 on, not all 0, one for each class. Got {class_shares!r:.80}."
        )
    return p / p.sum()
