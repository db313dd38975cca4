"""Who answered: how much, how fast, how right where a key exists, and how far people agree beyond chance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.active.people import PersonSoFar
from sidelight.active.questions import UNSURE
from sidelight.active.screens import SCREEN
from sidelight.app.studio.answers import Answer, said_whatever_the_order, true_answer
from sidelight.app.studio.project import OpenProject
from sidelight.data.relations import Pairs, Triplets


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


FAIR_SAMPLE = 20  # questions that several people answered, below which nothing is said about agreement
_ENOUGH_TESTED = 5  # answers that others test, below which nothing is said about a person
_EXAMPLES = 5


def people_table(project: OpenProject) -> list[dict[str, Any]]:
    """Return a line for each person."""
    every = project.answers()
    answers = [answer for answer in every if not answer.correction]
    with project.lock:
        acts = list(project.standing.acts.values())
    rated = {line.person: line for line in project.model.people}
    aside = project.aside
    table = []
    for person in project.people().values():
        mine = [answer for answer in answers if answer.person == person.id]
        seconds = [answer.seconds for answer in mine if answer.seconds == answer.seconds]
        table.append(
            {
                "id": person.id,
                "name": person.name,
                "is_simulated": person.is_simulated,
                "role": person.role,
                "alpha": _fair(*alpha(every, person.id)),
                "token": person.token,
                "answers": len(mine),
                "placed": sum(len(d.act.rows) for d in acts if d.person == person.id and d.act.kind == SCREEN),
                "unsure": sum(answer.answer == "unsure" for answer in mine),
                "seconds": round(float(np.median(seconds)), 2) if seconds else None,
                "accuracy": accuracy(mine, project.rows.truth),
                "is_aside": person.id in aside,
                **_rate(rated.get(person.id), project),
            }
        )
    return table


def agreement_of_all(project: OpenProject) -> dict[str, Any]:
    """Return Krippendorff's alpha over all people, how many questions it rests on, and what it means in words."""
    value, n_shared = alpha(project.answers())
    words = (
        f"Nothing can be said about agreement before several people have answered {FAIR_SAMPLE} of the same questions. "
        "Those that come to a second person by themselves are the surprising ones: ask for a share of all, below."
    )
    value = _fair(value, n_shared)
    if value is not None:
        how = "well" if value >= 0.8 else "tolerably" if value >= 0.667 else "little"
        words = f"Beyond chance, people agree {how}: Krippendorff's alpha is {value:.2f} (1 is perfect, 0 is chance)."
    return {"alpha": value, "questions": n_shared, "words": words}


def _fair(value: float | None, n_shared: int) -> float | None:
    """Return alpha rounded, or None where too few questions stand behind it."""
    return None if value is None or n_shared < FAIR_SAMPLE else round(value, 3)


def _rate(line: PersonSoFar | None, project: OpenProject) -> dict[str, Any]:
    """Return how often a person seems to be wrong, by the answers of all; nothing while few answers were tested."""
    if line is None or line.n_tested < _ENOUGH_TESTED:
        return {"rate": None, "low": None, "high": None, "disagree": []}
    examples = [
        {
            "rows": [int(row) for row in rows],
            "ids": [project.rows.ids[row] for row in rows],
            "answer": answer,
            "chance": round(chance, 3),
        }
        for rows, answer, chance in line.disagree[:_EXAMPLES]
    ]
    return {
        "rate": round(line.rate, 3), "low": round(line.low, 3), "high": round(line.high, 3), "disagree": examples
    }  # fmt: skip


def accuracy(answers: list[Answer], truth: Any) -> float | None:
    """Return the share of answers that are right by the key; None without one."""
    sure = [answer for answer in answers if answer.answer != "unsure"]
    if truth is None or not sure:
        return None
    return round(float(np.mean([answer.answer == true_answer(answer.rows, truth) for answer in sure])), 4)


def agreement_table(project: OpenProject) -> list[dict[str, Any]]:
    """Return how far every two people agree on the questions that both answered."""
    names = {number: person.name for number, person in project.people().items()}
    lines = []
    for kind in (Pairs, Triplets):
        width = 2 if kind is Pairs else 3
        said = [a for a in project.answers() if len(a.rows) == width and a.answer != "unsure" and not a.correction]
        if not said:
            continue
        columns: list[Any] = [[answer.rows[i] for answer in said] for i in range(width)]
        columns.append([answer.answer for answer in said])
        people = [names[answer.person] for answer in said]
        for line in kind(*columns, n_rows=project.rows.n, annotators=people).agreement():
            kappa = None if line.kappa != line.kappa or line.n_common < FAIR_SAMPLE else round(line.kappa, 3)
            about = {"first": line.first, "second": line.second, "questions": line.n_common}
            lines.append(about | {"share": line.share, "kappa": kappa})
    return lines
