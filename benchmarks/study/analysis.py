"""What a study found: tables 3.6 to 3.9 and figures 3.9 and 3.10 of [P17], by those who finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.store.studio_store import Event
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidData, ignore_warnings
from sidelight.estimators.relations.discriminative import DiscriminativeClustering
from sidelight.metrics import pair_precision_recall_f
from sidelight.progress import report
from study.design import KINDS
from study.study import CHOICES, FACTORS, OpenStudy

STEPS = (0.2, 0.4, 0.6, 0.8, 1.0)  # [P17] 3.5.2.3: five parts of the answers, or of the time
WORDS = {"pair": ("different", "same"), "triplet": ("none", "c", "b", "a")}  # the order of tables 3.8 and 3.9
_TITLES = {"performance": "Better performance", "effort_query": "Less effort per question",
           "effort_all": "Less effort for all questions", "frustration": "Less frustration",
           "preference": "Overall preference"}  # fmt: skip
_METHODS = ("P", "R", "R-C")  # pairs, triplets, triplets without "none"

Answers = dict[tuple[int, int, str], list[Event]]  # (participant, set, kind) -> answers in their order


def answers_of(study: OpenStudy) -> Answers:
    """Return the answers of participants who finished."""
    events = study.events()
    finished = {event.person for event in events if event.kind == "questionnaire"}
    answers: Answers = {}
    for event in events:
        if event.kind == "study answer" and event.person in finished:
            answers.setdefault((event.person, event.content["set"], event.content["kind"]), []).append(event)
    return answers


def tables(study: OpenStudy) -> dict[str, Any]:
    """Return the numbers of tables 3.6 to 3.9, and who took part."""
    answers = answers_of(study)
    people = {person.id: person for person in study.store.people(study.project.id)}
    finished = sorted({person for person, _, _ in answers})
    surveys = [event for event in study.events() if event.kind == "questionnaire"]
    return {
        "participants": len(finished),
        "simulated": sum(people[number].is_simulated for number in finished),
        "times": [_times(answers, number, name) for number, name in enumerate(study.set_names)],
        "survey": [
            {"factor": _TITLES[name], **{word: sum(s.content[name] == word for s in surveys) for word in CHOICES}}
            for name in FACTORS
        ],
        "confusions": [_confusions(answers, number, name) for number, name in enumerate(study.set_names)],
        "counts": [_counts(answers, number, name) for number, name in enumerate(study.set_names)],
        "comments": [
            s.content["comment"] for s in surveys if s.content["comment"] and not people[s.person].is_simulated
        ],
        "difficulty": [_difficulty(answers, number, name) for number, name in enumerate(study.set_names)],
    }


def _times(answers: Answers, number: int, name: str) -> dict[str, Any]:
    """Mean and deviation over participants of the mean seconds of an answer, by the true answer (table 3.6)."""
    line: dict[str, Any] = {"set": name}
    cells: dict[str, dict[str, tuple[str, ...] | None]] = {
        "pair": {"all": None, "same": ("same",), "different": ("different",)},
        "triplet": {"all": None, "odd": ("a", "b", "c"), "none": ("none",)},
    }
    for kind in KINDS:
        for title, words in cells[kind].items():
            means = [
                float(np.nanmean(seconds))
                for (_, of_set, of_kind), events in answers.items()
                if of_set == number and of_kind == kind
                and (seconds := [e.seconds for e in events if words is None or e.content["right"] in words])
            ]  # fmt: skip
            line[f"{kind} {title}"] = [float(np.mean(means)), float(np.std(means))] if means else [float("nan")] * 2
    return line


def _confusions(answers: Answers, number: int, name: str) -> dict[str, Any]:
    """Average counts of answers against the truth, and the accuracy (tables 3.8 and 3.9)."""
    told: dict[str, Any] = {"set": name}
    for kind in KINDS:
        words = WORDS[kind]
        mine = [events for (_, of_set, of_kind), events in answers.items() if (of_set, of_kind) == (number, kind)]
        table = np.zeros((len(words), len(words)))
        for event in (event for events in mine for event in events):
            if event.content["answer"] in words:
                table[words.index(event.content["right"]), words.index(event.content["answer"])] += 1
        total = table.sum()
        told[kind] = {
            "words": list(words),
            "table": (table / max(len(mine), 1)).tolist(),
            "accuracy": float(np.trace(table) / total) if total else float("nan"),
        }
    return told


def _difficulty(answers: Answers, number: int, name: str) -> dict[str, Any]:
    """Share of right answers to easy and to difficult questions."""
    line: dict[str, Any] = {"set": name}
    for kind in KINDS:
        mine = [e for (_, s, k), events in answers.items() if (s, k) == (number, kind) for e in events]
        for title, hard in (("easy", False), ("difficult", True)):
            some = [e.content["answer"] == e.content["right"] for e in mine if e.content["difficult"] == hard]
            line[f"{kind} {title}"] = float(np.mean(some)) if some else float("nan")
    return line


def _counts(answers: Answers, number: int, name: str) -> dict[str, Any]:
    """Numbers of answers, and of right ones, at equal rows and at equal time, on average (figure 3.10)."""
    people = sorted({person for person, of_set, _ in answers if of_set == number})
    told: dict[str, Any] = {"set": name}
    for setting in ("rows", "time"):
        for method in _METHODS:
            parts = [[_part(answers, p, number, method, setting, step) for step in STEPS] for p in people]
            n_all = [[len(part) for part in of_person] for of_person in parts]
            n_right = [[sum(e.content["answer"] == e.content["right"] for e in part) for part in own] for own in parts]
            told[f"{setting} {method} all"] = np.mean(n_all, axis=0).tolist() if parts else []
            told[f"{setting} {method} correct"] = np.mean(n_right, axis=0).tolist() if parts else []
    return told


def _part(answers: Answers, person: int, number: int, method: str, setting: str, step: float) -> list[Event]:
    """Return the answers of a person within a share of the questions, or of the shorter treatment's time."""
    both = {kind: answers.get((person, number, kind), []) for kind in KINDS}
    events = both["pair" if method == "P" else "triplet"]
    if setting == "rows":
        some = events[: round(step * len(events))]
    else:
        total = min(float(np.nansum([event.seconds for event in part])) for part in both.values())
        spent = np.nancumsum([event.seconds for event in events])
        some = [event for event, at in zip(events, spent) if at <= step * total]
    return [event for event in some if event.content["answer"] != "none"] if method == "R-C" else some


def clusterings(study: OpenStudy, n_people: int) -> dict[str, Any]:
    """Cluster by the answers of some participants and score against the key: figure 3.9.

    [P17] uses its own method with eps = 0.15; this is :class:`DiscriminativeClustering` with the same eps.
    """
    answers = answers_of(study)
    people = sorted({person for person, _, _ in answers})[:n_people]
    if not people:
        raise InvalidData("No participant has finished the study yet, so there is nothing to cluster by.")
    told: dict[str, Any] = {"participants": len(people), "steps": list(STEPS), "sets": []}
    total, done = len(study.sets) * 2 * len(_METHODS) * len(STEPS) * len(people), 0
    for number, name in enumerate(study.set_names):
        of_set: dict[str, Any] = {"set": name}
        for setting in ("rows", "time"):
            for method in _METHODS:
                scores = []
                for step in STEPS:
                    scores.append(
                        [_score(study, number, _part(answers, p, number, method, setting, step)) for p in people]
                    )
                    done += len(people)
                    report("clustering by the answers", done, total)
                spread = [1.96 * float(np.std(some)) / len(some) ** 0.5 for some in scores]  # 1.96: 95 % of a normal
                of_set[f"{setting} {method}"] = {"mean": [float(np.mean(some)) for some in scores], "error": spread}
        told["sets"].append(of_set)
    return told


def _score(study: OpenStudy, number: int, events: Sequence[Event]) -> float:
    """Return the pairwise F-measure of a clustering by some answers."""
    rows = study.sets[number]
    assert rows.truth is not None  # a study knows the right answers
    sides: dict[str, Any] = {}
    if events:
        kind = events[0].content["kind"]
        columns: list[Any] = [[e.content["rows"][i] for e in events] for i in range(2 if kind == "pair" else 3)]
        columns.append([e.content["answer"] for e in events])
        sides = {f"{kind}s": (Pairs if kind == "pair" else Triplets)(*columns, n_rows=rows.n)}
    model = DiscriminativeClustering(
        int(rows.truth.max()) + 1, eps=0.15, n_init=1, max_iter=60, random_state=study.seed
    )
    with ignore_warnings():
        labels = model.fit(rows.Z, **sides).labels_
    return float(pair_precision_recall_f(rows.truth, labels).f)
