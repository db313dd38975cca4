"""Answers to "which of these three rows is the odd one out?".

[P17] eq. (3.2): "c" says that a and b are of one kind and c of another; "none" says that all three are alike or that
no two are. So what follows from triplets is a set of pairs, and "none" joins in once one of its pairs is known. What
could only be found by trying out both meanings of several "none" is not looked for.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import check_number
from sidelight.data.names import as_list, as_row_index
from sidelight.data.relations.answers import Answers, Ints
from sidelight.data.relations.facts import SAME, UNKNOWN, Contradiction, Facts
from sidelight.data.relations.pairs import LIMIT, Pairs
from sidelight.errors import InvalidData


def comparisons(rankings: Any, n_alike: Any) -> list[tuple[Any, Any, Any]]:
    """Return (first, closer, farther) for the lists; with a line after ``n_alike`` only those that it separates."""
    check_number("Triplets.from_ranking", "n_alike", n_alike, integer=True, low=1, none=True)
    compared = []
    if isinstance(rankings, np.ndarray) and rankings.ndim == 2:
        rankings = rankings.tolist()
    for number, ranking in enumerate(as_list(rankings, "ranking", "question")):
        try:
            anchor, *others = as_list(ranking, "row")
            repeated = len({anchor, *others}) <= len(others)
        except (ValueError, TypeError, InvalidData) as error:
            raise InvalidData(
                f"Triplets.from_ranking: ranking {number} must be a list of rows. Got {ranking!r}."
            ) from error
        if repeated:
            raise InvalidData(f"Triplets.from_ranking: ranking {number} names a row twice: {ranking!r}.")
        if n_alike is None:
            compared += [(anchor, closer, farther) for closer, farther in combinations(others, 2)]
        else:
            compared += [(anchor, closer, farther) for closer, farther in product(others[:n_alike], others[n_alike:])]
    return compared


NONE = 3


SIDES = np.array([[0, 1], [0, 2], [1, 2]])  # the three pairs of a triplet


OPPOSITE = np.array([2, 1, 0])  # SIDES[OPPOSITE[odd]] are the two rows that are alike


class Triplets(Answers):
    """Which row of each triplet was called the odd one out.

    Parameters
    ----------
    a, b, c : sequence of int
        The three rows of each answer.
    answers : sequence of str or int
        ``"a"``, ``"b"`` or ``"c"``: that one is odd, the other two are of one kind. ``"none"``: all three are alike, or
        no two are. As numbers: 0, 1, 2 and -1.
    n_rows : int
        The number of rows that could be asked about: as long as X.
    weights, annotators, times : sequence, default=None
        As in :class:`Pairs`.

    Attributes
    ----------
    n_answers, n_rows : int
        How many there are.
    rows : ndarray of shape (n_answers, 3)
        The three rows of each answer.
    odd : ndarray of int
        The column of ``rows`` that holds the odd one out; -1 for "none".
    answers, weights, times, annotators
        As in :class:`Pairs`.

    Notes
    -----
    ``triplets[rows]`` selects rows, each once, as for :class:`Pairs`.

    Examples
    --------
    >>> import sidelight as sl
    >>> triplets = sl.Triplets.from_table([(0, 1, 2, "c"), (0, 1, 3, "none")], n_rows=4)
    >>> triplets.implies(0, 3)
    'same'
    >>> triplets.to_pairs()
    Pairs(3 answers about 3 of 4 rows: 2 different, 1 same)
    """

    WORDS = ("a", "b", "c", "none")
    ALIASES = {0: "a", 1: "b", 2: "c", -1: "none"}
    WIDTH = 3

    def __init__(
        self,
        a: Any,
        b: Any,
        c: Any,
        answers: Any,
        *,
        n_rows: int,
        weights: Any = None,
        annotators: Any = None,
        times: Any = None,
    ) -> None:
        self._with_state([a, b, c], answers, n_rows, weights, annotators, times)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        n_rows: int | None = None,
        ids: Any = None,
        a: str | None = None,
        b: str | None = None,
        c: str | None = None,
        answer: str | None = None,
        weight: str | None = None,
        annotator: str | None = None,
        time: str | None = None,
    ) -> Self:
        """Read answers from a list of tuples or a data frame.

        Parameters
        ----------
        table : data frame or list of tuples
            (row, row, row, "a", "b", "c" or "none"), optionally followed by weight, annotator and time.
        n_rows, ids, a, b, c, answer, weight, annotator, time
            As in :meth:`Pairs.from_table`; by default the first four columns of a data frame.
        """
        extra = {"weight": weight, "annotator": annotator, "time": time}
        return cls._from_table(table, n_rows, ids, (a, b, c, answer), extra)

    @classmethod
    def from_ranking(
        cls,
        rankings: Any,
        *,
        n_rows: int | None = None,
        ids: Any = None,
        n_alike: int | None = None,
        annotator: Any = None,
    ) -> Self:
        """Read sorted lists of rows, the richer answer that [P17] 6.2 asks for.

        Parameters
        ----------
        rankings : list of lists
            Each starts with the row in question; the others follow from the most to the least like it.
        n_rows, ids
            As in :meth:`Pairs.from_table`.
        n_alike : int, default=None
            How many of the others are of its kind: the line that the person drew in the list. Each row above the line
            then gives a triplet with each row below it, and all of them can be true. Without a line, each two of
            the others give a triplet that calls the later one odd. That is only a comparison: a list of four or more
            then contradicts itself as a statement about clusters, so it can only be fitted softly.
        annotator : hashable, default=None
            Who sorted the lists.
        """
        told = [(*rows, "c", None, annotator) for rows in comparisons(rankings, n_alike)]
        none: dict[str, Any] = {"weight": None, "annotator": None, "time": None}
        return cls._from_table(told, n_rows, ids, (None,) * 4, none)

    @classmethod
    def _truth(cls, classes: Ints) -> Ints:
        alike = classes[:, SIDES[:, 0]] == classes[:, SIDES[:, 1]]
        return np.where(alike.sum(axis=1) == 1, OPPOSITE[alike.argmax(axis=1)], NONE)

    @property
    def odd(self) -> Ints:
        """The column of ``rows`` that holds the odd one out; -1 for "none"."""
        return np.where(self.codes == NONE, -1, self.codes)

    def _comparable_codes(self) -> Ints:
        place = np.argsort(np.argsort(self.rows, axis=1), axis=1)
        column = np.minimum(self.codes, NONE - 1)
        return np.where(self.codes == NONE, NONE, place[np.arange(self.n_answers), column])

    def to_pairs(self) -> Pairs:
        """Return what each answer but "none" says about its three pairs, with its weight, annotator and time."""
        triplet, ends, same = _decided(self.rows, self.codes)
        return Pairs._make(
            rows=ends,
            codes=same.astype(np.intp),
            n_rows=self.n_rows,
            weights=self.weights[triplet],
            times=self.times[triplet],
            annotator_names=self.annotator_names,
            annotator_codes=self.annotator_codes[triplet],
        )

    def groups(self) -> Ints:
        """Return a group number for each row; rows that must be alike, by whatever chain, share one."""
        return self._derived.facts.groups.copy()

    def implies(self, one: int, other: int) -> str | None:
        """Return what the answers say about two rows, directly or not: "same", "different" or None."""
        ends = as_row_index([one, other], self.n_rows, "Triplets.implies")
        known = int(self._derived.facts.relation(ends[:1], ends[1:])[0])
        return None if known == UNKNOWN else Pairs.WORDS[known]

    def closure(self, *, limit: int = LIMIT) -> Pairs:
        """Return every pair whose relation follows, each once; :class:`ConflictingAnswers` if answers contradict.

        Parameters
        ----------
        limit : int
            Refuse to list more than this many.
        """
        self.check_consistent()
        low, high, same = self._derived.facts.closure(limit)
        return Pairs(low, high, same, n_rows=self.n_rows)

    def implied(self, *, limit: int = LIMIT) -> Pairs:
        """Return the pairs of :meth:`closure` that no single answer says by itself."""
        found = self.closure(limit=limit)
        said = np.sort(_decided(self.rows, self.codes)[1], axis=1) @ [self.n_rows, 1]
        return found.only(~np.isin(found.rows @ [self.n_rows, 1], said))

    def contradictions(self, *, limit: int | None = None) -> tuple[Contradiction, ...]:
        """Return every contradiction: two rows, the chain of answers that links them, and the answers against it.

        Parameters
        ----------
        limit : int, default=None
            Stop after this many.
        """
        check_number("Triplets.contradictions", "limit", limit, integer=True, low=0, none=True)
        derived = self._derived
        found: dict[frozenset[int], Contradiction] = {}
        for fact in derived.facts.conflicts.tolist():
            one, other = int(derived.facts.left[fact]), int(derived.facts.right[fact])
            chain = derived.answers_behind(derived.facts.chain(one, other))
            against = derived.answers_behind([fact])
            found.setdefault(frozenset(chain + against), Contradiction((one, other), chain, against))
            if len(found) == limit:
                break
        return tuple(found.values())

    @cached_property
    def _derived(self) -> Derived:
        """Add what "none" says to the other answers, until nothing new follows."""
        counts = self.weights > 0
        triplet, ends, same = _decided(self.rows, np.where(counts, self.codes, NONE))
        reasons = np.full((len(triplet), 3), -1, dtype=np.intp)
        waiting = np.flatnonzero((self.codes == NONE) & counts)
        stages: dict[int, Facts] = {}
        while True:
            facts = stages[len(same)] = Facts(ends[:, 0], ends[:, 1], same, self.n_rows)
            sides = self.rows[waiting][:, SIDES]
            known = facts.relation(*sides.reshape(-1, 2).T).reshape(-1, 3)
            settled = (known != UNKNOWN).any(axis=1)
            if not settled.any():
                return Derived(facts, triplet, reasons, stages)
            which = (known[settled] != UNKNOWN).argmax(axis=1)  # one known pair decides the other two
            rest = np.array([[1, 2], [0, 2], [0, 1]])[which]
            value = known[settled][np.arange(len(which)), which]
            new = sides[settled]
            every = np.arange(len(which))
            because = np.column_stack([new[every, which], np.full(len(which), len(same))])
            ends = np.concatenate([ends, new[every[:, None], rest].reshape(-1, 2)])
            same = np.concatenate([same, np.repeat(value == SAME, 2)])
            triplet = np.concatenate([triplet, np.repeat(waiting[settled], 2)])
            reasons = np.concatenate([reasons, np.repeat(because, 2, axis=0)])
            waiting = waiting[~settled]


class Derived(NamedTuple):
    """Facts about pairs, the triplet behind each, and for a "none" the known pair that settled it.

    ``reasons[m]`` is (row, row, number of facts at that time), or -1 when the triplet speaks for itself; ``stages`` are
    the facts at those times.
    """

    facts: Facts
    triplet: Ints
    reasons: Ints
    stages: dict[int, Facts]

    def answers_behind(self, facts: list[int]) -> tuple[int, ...]:
        """Return the triplets that these facts rest on, in their order along the chain."""
        answers: dict[int, None] = {}
        todo = list(reversed(facts))
        seen: set[int] = set()
        while todo:
            fact = todo.pop()
            if fact in seen:
                continue
            seen.add(fact)
            left, right, n_then = self.reasons[fact].tolist()
            if left >= 0:
                todo.extend(reversed(self.stages[n_then].explain(left, right)))
            answers.setdefault(int(self.triplet[fact]))
        return tuple(answers)


def _decided(rows: Ints, codes: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the pairs that answers other than "none" speak of: which answer, the two rows, alike or not."""
    decided = np.flatnonzero(codes != NONE)
    ends = rows[decided][:, SIDES].reshape(-1, 2)
    same = (np.arange(3) == OPPOSITE[codes[decided]][:, None]).reshape(-1)
    return np.repeat(decided, 3), ends, same
