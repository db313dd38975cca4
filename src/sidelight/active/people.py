"""How often each person is wrong, by the answers that other answers test.

Rows whose classes overlap surprise the belief, and honest people would be accused of it. So only an answer that others
test counts for or against who gave it: one on a cycle of "same", one of several between the same two groups, or one
that contradicts others. The belief says how likely each of these is wrong, and a rate is a mean under a prior:
each person is taken to have given ``SHARED`` tested answers before, as right as those of all (Dawid and Skene 1979).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import beta

from sidelight.active.chains import ERRORS
from sidelight.active.consequences import bridges_of

Floats = npt.NDArray[np.float64]
SHARED = 10.0  # tested answers' worth of the common rate in the rate of one person: three answers prove nothing
LEAST, MOST = 0.005, 0.45  # rates are kept off certainty and off a coin toss
LIGHTEST, HEAVIEST = 0.1, 2.0  # weights of one answer, in answers of an average person
WRONG = 0.5  # chance of being wrong from which an answer disagrees with the others

SUSPECT = 0.12  # chance of being wrong from which another person is asked
SURPRISING = 0.5  # what was likelier than not is not asked again, not even of a careless person: that costs too much
SLOPES = np.linspace(0.25, 2.0, 15)
SPREAD = 0.5  # standard deviation of the slope around 1 before anything was foretold
SUREST = 1e-3  # no answer is foretold with more certainty
ENOUGH = 3  # answers to one question, at most

EVERY, TESTS, FEW_TESTS = 8, 6, 3  # questions between tests of a team, tests of each, and those before fewer do
CARELESS, DIFFERS = 0.1, 0.4  # share of people who are careless, and how often they differ in a test


@dataclass(frozen=True, slots=True)
class PersonSoFar:
    """What the answers say about one person.

    Attributes
    ----------
    person : hashable
        Who.
    n_answers, n_unsure, n_tested : int
        Answers so far, those that were "unsure", and those that other answers test.
    rate, low, high : float
        The share of wrong answers to expect, and an interval that holds it with a probability of 90 %.
    disagree : tuple of (rows, answer, chance)
        Answers that are probably wrong by all others, with the chance of that; the surest first.
    """

    person: Hashable
    n_answers: int
    n_unsure: int
    n_tested: int
    rate: float
    low: float
    high: float
    disagree: tuple[tuple[tuple[int, ...], str, float], ...]


def is_tested(links: Sequence[tuple[int, int, int]], n_rows: int) -> npt.NDArray[np.bool_]:
    """Say of each answer about two rows whether others would contradict it if it were wrong.

    >>> is_tested([(0, 1, 1), (1, 2, 1), (0, 2, 1), (2, 3, 1), (4, 3, 0)], 5).tolist()
    [True, True, True, False, False]
    """
    tested = np.zeros(len(links), dtype=bool)
    if not len(links):
        return tested
    ends = np.array(links, dtype=np.intp)
    alike = ends[ends[:, 2] == 1]
    graph = coo_array((np.ones(len(alike)), (alike[:, 0], alike[:, 1])), shape=(n_rows, n_rows))
    group = connected_components(graph)[1]
    sides = np.sort(group[ends[:, :2]], axis=1)
    inside = sides[:, 0] == sides[:, 1]
    near: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number in np.flatnonzero(inside).tolist():
        a, b, _ = links[number]
        near[a].append((b, number))
        near[b].append((a, number))
    tested[inside] = True
    tested[list(bridges_of(near, list(near)))] = False
    between = Counter(map(tuple, sides[~inside].tolist()))
    tested[~inside] = [between[a, b] > 1 for a, b in sides[~inside].tolist()]
    return tested


@dataclass(frozen=True, slots=True)
class Rates:
    """How often people are wrong: (wrong, right) tested answers of all and of each, as the parameters of a Beta."""

    common: float
    counts: dict[Hashable, tuple[float, float]]

    @classmethod
    def of(cls, wrong: Floats, tested: npt.NDArray[np.bool_], people: Sequence[Hashable]) -> Rates:
        """Count tested answers; ``wrong`` is the chance of each answer to be wrong."""
        common = (ERRORS[0] + wrong[tested].sum()) / (sum(ERRORS) + tested.sum())
        counts = {}
        for person in dict.fromkeys(people):
            mine = np.array([other == person for other in people], dtype=bool) & tested
            n_wrong = float(wrong[mine].sum())
            counts[person] = (SHARED * common + n_wrong, SHARED * (1.0 - common) + int(mine.sum()) - n_wrong)
        return cls(float(common), counts)

    def rate(self, person: Hashable) -> float:
        """Return the share of wrong answers to expect of a person."""
        wrong, right = self.counts.get(person, (self.common, 1.0 - self.common))
        return float(np.clip(wrong / (wrong + right), LEAST, MOST))

    def interval(self, person: Hashable) -> tuple[float, float]:
        """Return what holds the share with a probability of 90 %."""
        wrong, right = self.counts.get(person, (SHARED * self.common, SHARED * (1.0 - self.common)))
        low, high = beta.ppf([0.05, 0.95], wrong, right)
        return float(low), float(high)

    def weight(self, person: Hashable) -> float:
        """Return what an answer of a person weighs, in answers of an average person: the ratio of log odds."""
        common = float(np.clip(self.common, LEAST, MOST))
        return float(np.clip(_log_odds(self.rate(person)) / _log_odds(common), LIGHTEST, HEAVIEST))


def _log_odds(rate: float) -> float:
    return float(np.log((1.0 - rate) / rate))


def report_people(
    told: Sequence[Any],
    sources: Sequence[int],
    wrong: Floats,
    rates: Rates,
    tested: Any,
    placed: Sequence[Hashable] = (),
) -> list[Any]:
    """Return a line for each person.

    ``sources`` has the answer behind each link, ``placed`` who gave each placement that others test.
    """
    lines = []
    for person in dict.fromkeys(given.person for given in told):
        mine = [given for given in told if given.person == person]
        links = [number for number, source in enumerate(sources) if told[source].person == person]
        doubted = sorted((number for number in links if wrong[number] > WRONG), key=lambda number: -wrong[number])
        disagree = {sources[number]: float(wrong[number]) for number in reversed(doubted)}
        shown = sorted(disagree.items(), key=lambda item: -item[1])
        lines.append(
            PersonSoFar(
                person,
                len(mine),
                sum(given.answer == "unsure" for given in mine),
                (int(tested[links].sum()) if links else 0) + sum(who == person for who in placed),
                rates.rate(person),
                *rates.interval(person),
                tuple((told[source].rows, told[source].answer, chance) for source, chance in shown),
            )
        )
    return lines


class SecondLooks:
    """Questions that were answered surprisingly, so that another person should look at them.

    An answer that the belief gave a chance p of being right, by a person who errs with rate e, is wrong with
    probability e (1 - p) / (e (1 - p) + (1 - e) p). Above ``SUSPECT`` the same question goes to another person; if the
    two differ, a third decides. p is sharpened or flattened by how well answers were foretold so far. The same person
    would repeat the same mistake, so a conversation with one person has no second looks.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self._foretold: list[float] = []

    @property
    def slope(self) -> float:
        """How much to trust what the belief foretells, 1 for as it is: by the answers so far."""
        odds = np.array(self._foretold)
        fit = -np.log1p(np.exp(-np.outer(SLOPES, odds))).sum(axis=1) - (SLOPES - 1.0) ** 2 / (2.0 * SPREAD**2)
        return float(SLOPES[fit.argmax()])

    def note(self, rows: tuple[int, ...], chance: float, rate: float) -> None:
        """Take note of an answer that had this chance of being right, by a person who errs with this rate."""
        odds = float(np.log(np.clip(chance, SUREST, 1 - SUREST) / np.clip(1 - chance, SUREST, 1.0)))
        p = 1.0 / (1.0 + np.exp(-self.slope * odds))
        self._foretold.append(odds)
        if p < SURPRISING and rate * (1.0 - p) > SUSPECT * (rate * (1.0 - p) + (1.0 - rate) * p):
            self.rows.append(rows)

    def note_again(self, rows: tuple[int, ...], answer: str, given: Sequence[Any]) -> None:
        """Take note of another answer to a question: where the two differ, a third person decides."""
        if rows not in self.rows and any(one.answer not in (answer, "unsure") for one in given):
            self.rows.append(rows)

    def due_for(self, person: Hashable, said: Any, being_asked: Collection[frozenset[int]]) -> tuple[int, ...] | None:
        """Return the oldest question that a person may look at."""
        for rows in self.rows:
            given = said.given(rows)
            if frozenset(rows) not in being_asked and person not in [one.person for one in given] and _is_open(given):
                return rows
        return None


@dataclass(frozen=True, slots=True)
class Tests:
    """Questions about two rows that a team answered: ``given`` has the answers to each that say something."""

    given: dict[tuple[int, ...], list[Any]]

    @classmethod
    def of(cls, said: Any) -> Tests:
        """Take the answers of named people."""
        return cls(
            {
                answers[0].rows: [one for one in answers if one.person is not None and one.answer != "unsure"]
                for answers in said.by_question
                if len(answers[0].rows) == 2
            }
        )

    @property
    def answers(self) -> Counter[Hashable]:
        """How many answers each person gave."""
        return Counter(one.person for answers in self.given.values() for one in answers)

    @property
    def twice(self) -> list[list[Any]]:
        """The questions that several answered."""
        return [answers for answers in self.given.values() if len(answers) > 1]

    @property
    def counts(self) -> Counter[Hashable]:
        """How often each person answered such a question."""
        return Counter(one.person for answers in self.twice for one in answers)

    @property
    def differed(self) -> set[Hashable]:
        """Who answered one otherwise than somebody else."""
        return {one.person for answers in self.twice for one in answers if len({other.answer for other in answers}) > 1}


def test_due(person: Hashable, said: Any, being_asked: Collection[frozenset[int]], seed: int) -> tuple[int, ...] | None:
    """Return an answered question to ask again of ``person``, where it is time to test a team.

    Every eighth question is one until everybody was tested six times by questions that two people answered; every
    sixteenth, once all were tested thrice and nobody differed. Somebody careless who comes first is otherwise believed.
    """
    n_told = len(said.told)
    if n_told % EVERY != EVERY - 1:
        return None
    tests = Tests.of(said)
    people, counts = {*tests.answers, person}, tests.counts
    least = min(counts[one] for one in people)
    is_seldom = least >= FEW_TESTS and not tests.differed
    if len(people) < 2 or least >= TESTS or (is_seldom and n_told % (2 * EVERY) != 2 * EVERY - 1):
        return None
    open_ones = [
        (counts[given[0].person], rows)
        for rows, given in tests.given.items()
        if len(given) == 1
        and frozenset(rows) not in being_asked
        and said.may_answer(rows, person)
        and min(counts[given[0].person], counts[person]) < TESTS
    ]
    fewest = [rows for count, rows in open_ones if count == min(open_ones)[0]]
    return fewest[int(np.random.default_rng([seed, 6, n_told]).integers(len(fewest)))] if fewest else None


def doubt_of_untested(said: Any) -> float:
    """Return the share of a team's answers that may come from somebody careless whom no test has shown yet.

    ``CARELESS`` of all people are, and differ in a test with a probability of ``DIFFERS``. Who differed is weighed.
    """
    tests = Tests.of(said)
    answers, counts, differed = tests.answers, tests.counts, tests.differed
    if len(answers) < 2:
        return 0.0
    agreed = {one: CARELESS * (1.0 - DIFFERS) ** counts[one] for one in answers if one not in differed}
    careless = sum(answers[one] * likely / (likely + 1.0 - CARELESS) for one, likely in agreed.items())
    return float(careless / answers.total())


def _is_open(given: Sequence[Any]) -> bool:
    """Whether one answer stands alone, or two differ."""
    words = [one.answer for one in given if one.answer != "unsure"]
    return len(given) < ENOUGH and (len(words) == 1 or len(set(words)) > 1)
