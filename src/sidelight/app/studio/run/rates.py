"""How often people seem to be wrong about rows of a run, by what the run and the others say of the same rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from sidelight.active.people import PersonSoFar, Rates
from sidelight.active.questions import UNSURE
from sidelight.app.studio.answers import Answer
from sidelight.app.studio.run.belief import WRONG, Belief

_DOUBTED = 0.5  # chance of being wrong above which an answer is shown as one that the others do not share
_ROUNDS = 5  # of rates and chances in turns: who is often wrong tests the others less


def people_of(belief: Belief, answers: Sequence[Answer]) -> list[PersonSoFar]:
    """Return what labels of the same rows say about each person; a row that one person labelled tests none.

    A label is probably wrong as far as the run and the labels of all others say so; people do not confirm themselves.
    """
    of_row: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        if len(answer.rows) == 1 and answer.answer != UNSURE:
            of_row[answer.rows[0]].append(answer)
    said = [answer for some in of_row.values() for answer in some]
    others = [[other for other in of_row[a.rows[0]] if other.person != a.person] for a in said]
    tested = np.array([bool(some) for some in others], dtype=bool)
    people = [answer.person for answer in said]
    rate: Callable[[int], float] = lambda _: WRONG  # noqa: E731  # until the answers say more
    for _ in range(_ROUNDS):
        wrong = np.array([belief.chance_wrong(a, some, rate) if some else 0.0 for a, some in zip(said, others)])
        rates = Rates.of(wrong, tested, people)
        rate = rates.rate
    lines = []
    for person in dict.fromkeys(answer.person for answer in answers):
        mine = [number for number, who in enumerate(people) if who == person]
        doubted = sorted((number for number in mine if wrong[number] > _DOUBTED), key=lambda number: -wrong[number])
        lines.append(
            PersonSoFar(
                person,
                sum(answer.person == person for answer in answers),
                sum(answer.person == person and answer.answer == UNSURE for answer in answers),
                int(tested[mine].sum()) if mine else 0,
                rates.rate(person),
                *rates.interval(person),
                tuple((said[number].rows, said[number].words, float(wrong[number])) for number in doubted),
            )
        )
    return lines
