"""What a person is asked about two rows or three, what may be answered, and what answers say about pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np

from sidelight._core.simplex import entropy
from sidelight.data.names import as_row_index
from sidelight.errors import InvalidData, UnknownName, nearest

PAIR_WORDS = ("same", "different")
TRIPLET_WORDS = ("a", "b", "c", "none")
SURE = 0.9  # probability of their clusters from which two rows of different clusters count as different
UNSURE = "unsure"  # costs a question, says nothing, and is not asked again


@dataclass(frozen=True, slots=True)
class Question:
    """A question about two rows ("are they alike?") or three ("which is the odd one out?").

    Attributes
    ----------
    rows : tuple of int
        The rows it is about.
    number : int
        Its number in the session.
    gain : float
        What the strategy expects of it; only comparable within one strategy.
    """

    rows: tuple[int, ...]
    number: int
    gain: float = float("nan")

    @property
    def kind(self) -> str:
        """Either "pair" or "triplet"."""
        return "pair" if len(self.rows) == 2 else "triplet"

    @property
    def words(self) -> tuple[str, ...]:
        """The answers that it takes."""
        return (*(PAIR_WORDS if len(self.rows) == 2 else TRIPLET_WORDS), UNSURE)


def rows_of(question: Any, n_rows: int, who: str = "ActiveSession.tell") -> tuple[int, ...]:
    """Return the rows that a question of ``ask``, or a tuple of two or three rows, is about."""
    rows = question.rows if isinstance(question, Question) else question
    try:
        few = list(islice(iter(rows), 4))  # a range of a billion numbers is no question either
        rows = tuple(int(row) for row in as_row_index(few, n_rows, who)) if len(few) < 4 else tuple(few)
    except TypeError:
        raise InvalidData(f"{who} takes a question of ask(), or two or three rows. Got {question!r:.80}.") from None
    if len(rows) not in (2, 3) or len(set(rows)) < len(rows):
        raise InvalidData(f"{who} takes a question about two or three different rows. Got {rows!r:.80}.")
    return rows


def checked_answer(question: Any, answer: Any, n_rows: int) -> tuple[tuple[int, ...], str]:
    """Return the rows of a question and its answer, if that is one of its words."""
    rows = rows_of(question, n_rows)
    words = Question(rows, 0).words
    if not isinstance(answer, str) or answer not in words:
        count = "two" if len(rows) == 2 else "three"
        raise UnknownName(f"{answer!r} is no answer to a question about {count} rows. {nearest(answer, words)}")
    return rows, answer


def checked_answers(answers: Any, n_rows: int) -> list[tuple[tuple[int, ...], str, Any]]:
    """Return the rows, the answer, and who gave it, of each of several questions."""
    told = []
    for one in _each(answers, "ActiveSession.tell_all takes a list of (question, answer)"):
        is_rows = isinstance(one, (tuple, list)) and len(one) == 3 and isinstance(one[0], Integral)  # (3, 17, "same")
        if not isinstance(one, (tuple, list)) or len(one) not in (2, 3) or is_rows:
            raise InvalidData(
                "ActiveSession.tell_all takes a list of (question, answer), like ((3, 17), 'same'), or (question, "
                f"answer, person). Got {one!r:.80}."
            )
        told.append((*checked_answer(one[0], one[1], n_rows), one[2] if len(one) == 3 else None))
    return told


def busy_questions(busy: Any, n_rows: int) -> list[tuple[int, ...]]:
    """Return the rows of each question that is open elsewhere."""
    wanted = "ActiveSession.ask: busy is a list of questions, like [(3, 17), (5, 8)]"
    return [rows_of(question, n_rows, "ActiveSession.ask, busy,") for question in _each(busy, wanted)]


def _each(items: Any, wanted: str) -> Iterable[Any]:
    try:
        return iter(items)
    except TypeError:
        raise InvalidData(f"{wanted}. Got {items!r:.80}.") from None


def better_triplet(
    belief: Any, pair: tuple[int, ...], asked: Any, differ: Any, seconds: tuple[float, float]
) -> tuple[int, ...] | None:
    """Return three rows to ask about instead of ``pair``, or None where two rows buy more information a second.

    These are the row to be placed and one of each of its two likeliest clusters. The known rows differ, so every answer
    places the first: in one cluster, in the other, or, by "none", in neither.

    Parameters
    ----------
    belief : object with ``places``, ``place``, ``n_known`` and ``representative``
        What is known.
    pair : tuple of int
        The row to be placed, and a row of its likeliest cluster.
    asked, differ : callable
        Whether two rows were asked about, and whether they are known to differ.
    seconds : tuple of float
        How long a person takes for two and for three rows.
    """
    row, first = pair
    if belief.n_known < 2 or belief.position[row] < 0:
        return None
    chances = np.asarray(belief.places()[belief.position[row]], dtype=float)
    for cluster in np.argsort(-chances[:-1], kind="stable")[:2]:
        second = belief.representative(row, int(cluster), asked)
        if second is None or second == first or not differ(first, second):
            continue
        other = _cluster_of(belief, first)
        if other in (-1, cluster):
            continue
        p, q = float(chances[other]), float(chances[cluster])
        two = float(entropy(np.clip([p, 1.0 - p], 1e-12, 1.0))) / seconds[0]
        three = float(entropy(np.clip([p, q, 1.0 - p - q], 1e-12, 1.0))) / seconds[1]
        return (row, first, int(second)) if three > two else None
    return None


def are_apart(belief: Any, a: int, b: int) -> bool:
    """Whether two rows are sure of different clusters."""
    if any(row not in belief.rows or belief.position[row] < 0 or belief.certainty(row) < SURE for row in (a, b)):
        return False
    return _cluster_of(belief, a) != _cluster_of(belief, b)


def _cluster_of(belief: Any, row: int) -> int:
    return int(np.argmax(belief.places()[belief.position[row]][:-1])) if belief.position[row] >= 0 else -1


def pairs_of(rows: tuple[int, ...], answer: str, relation: str | None) -> list[tuple[int, int, str]]:
    """Return what the odd one out of three rows says about pairs.

    ``relation`` is what is known of the last two rows: with it "none" (all alike, or all different) says something.

    >>> pairs_of((0, 1, 2), "c", None)
    [(0, 1, 'same'), (0, 2, 'different')]
    >>> pairs_of((0, 1, 2), "none", "different")
    [(0, 1, 'different'), (0, 2, 'different')]
    >>> pairs_of((0, 1, 2), "none", None)
    []
    """
    a, b, c = rows
    if answer == "a":
        return [(b, c, "same"), (a, b, "different")]
    if answer == "b":
        return [(a, c, "same"), (a, b, "different")]
    if answer == "c":
        return [(a, b, "same"), (a, c, "different")]
    if relation == "different":
        return [(a, b, "different"), (a, c, "different")]
    return [(a, b, "same")] if relation == "same" else []
