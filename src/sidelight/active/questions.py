"""What a person is asked, and what may be answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sidelight.data.names import as_row_index
from sidelight.errors import InvalidData, UnknownName, nearest

PAIR_WORDS = ("same", "different")
TRIPLET_WORDS = ("a", "b", "c", "none")
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
        rows = tuple(int(row) for row in as_row_index(list(rows), n_rows, who))
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
