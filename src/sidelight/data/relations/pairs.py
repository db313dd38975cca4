"""Answers to "are these two rows of the same kind?"."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import check_number
from sidelight.data.names import as_row_index
from sidelight.data.relations.answers import Answers, Ints
from sidelight.data.relations.facts import UNKNOWN, Contradiction, Facts

LIMIT = 10_000_000  # answers in a closure: 400 MB


class Pairs(Answers):
    """Which pairs of rows were called the same, and which different.

    Parameters
    ----------
    left, right : sequence of int
        The two rows of each answer.
    answers : sequence of str or bool
        ``"same"`` or ``"different"``; True means the same.
    n_rows : int
        The number of rows that could be asked about: as long as X.
    weights : sequence of float, default=None
        How much each answer counts; 1 by default.
    annotators : sequence, default=None
        Who gave each answer.
    times : sequence of float or datetime, default=None
        When, or how long it took, in seconds.

    Attributes
    ----------
    n_answers, n_rows : int
        How many there are.
    rows : ndarray of shape (n_answers, 2)
        The two rows of each answer; also as ``left`` and ``right``.
    same : ndarray of bool
        True where the answer was "same".
    answers : tuple of Answer
        Each answer with ``rows``, ``answer``, ``weight``, ``annotator`` and ``time``.
    weights, times : ndarray of float
        One for each answer; an unknown time is NaN.
    annotators : tuple
        One for each answer; None when unknown.

    Notes
    -----
    ``pairs[rows]`` selects rows, each once: the rows are numbered anew and answers about other rows vanish.
    ``np.asarray(pairs)`` is :meth:`groups`. Answers may repeat or contradict; see :meth:`contradictions`.

    Examples
    --------
    >>> import sidelight as sl
    >>> pairs = sl.Pairs.from_table([(0, 1, "same"), (1, 2, "same"), (2, 3, "different")], n_rows=5)
    >>> pairs
    Pairs(3 answers about 4 of 5 rows: 1 different, 2 same)
    >>> pairs.implies(0, 3)
    'different'
    >>> [answer.rows for answer in pairs.implied().answers]
    [(0, 2), (0, 3), (1, 3)]
    """

    WORDS = ("different", "same")
    ALIASES = {False: "different", True: "same"}
    WIDTH = 2

    def __init__(
        self,
        left: Any,
        right: Any,
        answers: Any,
        *,
        n_rows: int,
        weights: Any = None,
        annotators: Any = None,
        times: Any = None,
    ) -> None:
        self._with_state([left, right], answers, n_rows, weights, annotators, times)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        n_rows: int | None = None,
        ids: Any = None,
        a: str | None = None,
        b: str | None = None,
        answer: str | None = None,
        weight: str | None = None,
        annotator: str | None = None,
        time: str | None = None,
    ) -> Self:
        """Read answers from a list of tuples or a data frame.

        Parameters
        ----------
        table : data frame or list of tuples
            (row, row, "same" or "different"), optionally followed by weight, annotator and time.
        n_rows : int, default=None
            The number of rows; not needed with ``ids``.
        ids : sequence, default=None
            The id of each row, all different; the table then speaks of ids. By default of row numbers.
        a, b, answer : str, default=None
            Columns of a data frame; by default the first three.
        weight, annotator, time : str, default=None
            Columns of a data frame; by default those with these names, if there are any. A column called person, rater,
            labeller, coder or worker is one of annotators, too.
        """
        extra = {"weight": weight, "annotator": annotator, "time": time}
        return cls._from_table(table, n_rows, ids, (a, b, answer), extra)

    @classmethod
    def _truth(cls, classes: Ints) -> Ints:
        return (classes[:, 0] == classes[:, 1]).astype(np.intp)

    @property
    def left(self) -> Ints:
        """The first row of each answer."""
        return self.rows[:, 0]

    @property
    def right(self) -> Ints:
        """The second row of each answer."""
        return self.rows[:, 1]

    @property
    def same(self) -> NDArray[np.bool_]:
        """True where the answer was "same"."""
        return self.codes == 1

    @cached_property
    def _facts(self) -> Facts:
        return Facts(self.left, self.right, self.same, self.n_rows, self.weights > 0)

    def groups(self) -> Ints:
        """Return a group number for each row; rows that must be alike, by whatever chain, share one."""
        return self._facts.groups.copy()

    def implies(self, one: int, other: int) -> str | None:
        """Return what the answers say about two rows, directly or not: "same", "different" or None."""
        ends = as_row_index([one, other], self.n_rows, "Pairs.implies")
        known = int(self._facts.relation(ends[:1], ends[1:])[0])
        return None if known == UNKNOWN else self.WORDS[known]

    def implied(self, *, limit: int = LIMIT) -> Self:
        """Return the answers that follow from these but were not given, each with weight 1.

        Parameters
        ----------
        limit : int
            Refuse to list more than this many; a group of n rows has n (n - 1) / 2 pairs.
        """
        self.check_consistent()
        low, high, same = self._facts.closure(limit)
        given = np.sort(self.rows, axis=1) @ [self.n_rows, 1]
        new = ~np.isin(low * self.n_rows + high, given)
        return type(self)(low[new], high[new], same[new], n_rows=self.n_rows)

    def closure(self, *, limit: int = LIMIT) -> Self:
        """Return these answers and all that follow from them; :class:`ConflictingAnswers` if they contradict."""
        return self + self.implied(limit=limit)

    def contradictions(self, *, limit: int | None = None) -> tuple[Contradiction, ...]:
        """Return every contradiction: two rows, the chain of answers that links them, and the answer against it.

        Parameters
        ----------
        limit : int, default=None
            Stop after this many.
        """
        check_number("Pairs.contradictions", "limit", limit, integer=True, low=0, none=True)
        facts = self._facts
        contradictions = []
        for answer in facts.conflicts[:limit].tolist():
            left, right = int(self.left[answer]), int(self.right[answer])
            contradictions.append(Contradiction((left, right), tuple(facts.chain(left, right)), (answer,)))
        return tuple(contradictions)
