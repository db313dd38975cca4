"""How far people agree beyond chance: Krippendorff's alpha over the questions that several of them answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from sidelight.active.questions import UNSURE
from sidelight.app.studio.answers import Answer, said_whatever_the_order


def alpha(answers: Sequence[Answer], person: int | None = None) -> tuple[float | None, int]:
    """Return alpha for names without an order, and how many questions several people answered.

    1 is perfect agreement, 0 is chance, below 0 is worse than chance; None where nothing can be said. Every two answers
    to a question by different people are compared, each question weighing as many answers as it has [Krippendorff
    2004]. With a ``person``, only comparisons with that person's answers count. Unsure answers say nothing, and neither
    do corrections, which are made in sight of the result.
    """
    questions: dict[frozenset[int], list[Answer]] = defaultdict(list)
    for answer in answers:
        if answer.answer != UNSURE and not answer.correction and not answer.is_not:
            questions[frozenset(answer.rows)].append(answer)
    shared = [said for said in questions.values() if len({answer.person for answer in said}) > 1]
    if person is not None:
        shared = [said for said in shared if any(answer.person == person for answer in said)]
    totals: Counter[Any] = Counter()
    differing = n = 0.0
    for said in shared:
        words = [(answer.person, said_whatever_the_order(answer)) for answer in said]
        pairs = [(a, b) for p, a in words for q, b in words
                 if p != q and (person is None or person in (p, q))]  # fmt: skip
        weight = 1.0 / (len(words) - 1)
        for a, b in pairs:
            totals[a] += weight  # type: ignore[assignment]  # a Counter adds floats too
            differing += weight * (a != b)
            n += weight
    if not differing:
        return (1.0 if shared else None), len(shared)
    by_chance = (n * n - sum(count * count for count in totals.values())) / (n * (n - 1.0))
    return 1.0 - differing / n / by_chance, len(shared)
