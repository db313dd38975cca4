"""The within-subject design of [P17] 3.5.1: two kinds of question on two sets of rows, every participant does all four.

Everything about a participant follows from the study's seed and the participant's number: the order of the tasks, the
questions of each (with the same number of easy and difficult ones for all) and their order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.app.jobs.columns import Columns
from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.making import read_questions
from sidelight.app.studio.rows import Rows, prepared
from sidelight.app.studio.sources import Source
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidData

KINDS = ("pair", "triplet")
PAIRS, TRIPLETS = 195, 130  # [P17] 3.5.1.1: as many rows to look at in either treatment, 390
DIFFICULT = 1 / 3  # share of difficult questions in every set
_POOL = 6  # questions of the pool for each question of a set
PRACTICE = 3  # questions of either kind before the tasks
DIFFICULTY = "difficulty"  # the column of a list that says how difficult each question is
_WORDS = {"easy": False, "difficult": True}


@dataclass(frozen=True, slots=True)
class Task:
    """One kind of question on one set of rows."""

    set: int
    kind: str
    questions: tuple[tuple[int, ...], ...]
    difficult: tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """Random questions of one kind about one set, each easy or difficult."""

    questions: np.ndarray
    difficult: np.ndarray

    def draw(self, n: int, rng: np.random.Generator) -> tuple[tuple[tuple[int, ...], ...], tuple[bool, ...]]:
        """Draw a set of ``n`` questions with a fixed share of difficult ones, in random order."""
        n_easy = int((~self.difficult).sum())
        n_difficult = max(min(round(n * DIFFICULT), len(self.difficult) - n_easy), n - n_easy)
        hard = rng.choice(np.flatnonzero(self.difficult), n_difficult, replace=False)
        easy = rng.choice(np.flatnonzero(~self.difficult), n - n_difficult, replace=False)
        order = rng.permutation(np.concatenate([hard, easy]))
        rows = tuple(tuple(int(row) for row in self.questions[i]) for i in order)
        return rows, tuple(bool(self.difficult[i]) for i in order)


def make_pool(rows: Rows, kind: str, n: int, rng: np.random.Generator) -> Pool:
    """Draw a pool; a question is difficult when one of its rows lies near the border of a reference clustering."""
    assert rows.truth is not None  # a study knows the right answers
    maker = Pairs if kind == "pair" else Triplets
    drawn = maker.sample(rows.truth, _POOL * n, random_state=rng)
    return Pool(np.asarray(drawn.rows), are_difficult(margins(rows.Z, rows.truth), drawn.rows))


def check_size(name: str, n_rows: int, kind: str, n: int) -> None:
    """Raise when a set has too few rows to draw ``n`` questions and those of the practice from a pool."""
    n_possible = math.comb(n_rows, 2 if kind == "pair" else 3)
    if n_possible < max(n, 10) * _POOL:  # 10: questions from which those of the practice are drawn
        raise InvalidData(
            f"The set {name!r:.80} has {n_rows} rows, too few to draw {max(n, 10)} questions about a {kind}. "
            "Bring more rows, or ask fewer questions."
        )


def are_difficult(margin: np.ndarray, questions: np.ndarray) -> np.ndarray:
    """Return which questions are in the third with the smallest margin of a row."""
    smallest = margin[questions].min(axis=1)
    return np.asarray(smallest <= np.quantile(smallest, DIFFICULT))


def margins(Z: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return how much nearer each row is to the nearest centre than to the next, from 0 to 1, by class means."""
    centres = np.stack([Z[truth == k].mean(axis=0) for k in range(int(truth.max()) + 1)])
    squares = ((Z**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * Z @ centres.T).clip(min=0)
    near = np.sort(np.sqrt(squares), axis=1)
    return np.asarray((near[:, 1] - near[:, 0]) / np.maximum(near[:, 1], 1e-12))  # 1e-12: a row on two centres at once


def tasks_of(
    sets: list[Rows], counts: dict[str, int], seed: int, participant: int, pools: Mapping[tuple[int, str], Pool] = {}
) -> list[Task]:
    """Return a participant's four tasks in their random order; ``pools`` are questions that were brought."""
    rng = np.random.default_rng([seed, participant])
    made = []
    for number, rows in enumerate(sets):
        for kind in KINDS:
            pool = pools.get((number, kind))
            if pool is None:
                pool = make_pool(rows, kind, counts[kind], np.random.default_rng([seed, 7, number, KINDS.index(kind)]))
            made.append(Task(number, kind, *pool.draw(counts[kind], rng)))
    return [made[i] for i in rng.permutation(len(made))]


def practice_of(rows: Rows, seed: int) -> list[tuple[int, ...]]:
    """Return a few easy questions of either kind, the same for all."""
    rng = np.random.default_rng([seed, 8])
    pools = [make_pool(rows, kind, 10, rng) for kind in KINDS]
    return [tuple(int(r) for r in q) for pool in pools for q in pool.questions[~pool.difficult][:PRACTICE]]


def right(rows: Rows, question: Any) -> str:
    """Return the right answer."""
    return true_answer(question, rows.truth)


def read_pool(path: str, rows: Source, kind: str, n: int) -> Pool:
    """Read questions of a study, of which each participant is asked ``n``.

    A column called "difficulty" says easy or difficult, or a number, of which the largest third is difficult. Without
    it a question is difficult when one of its rows lies near the border between the class means.
    """
    questions = np.array(read_questions(path, rows, kind), dtype=int)
    if len({frozenset(question) for question in questions.tolist()}) < len(questions):
        raise InvalidData(f"{path!r} has the same question twice.")
    if len(questions) < n:
        raise InvalidData(f"{path!r} has {len(questions)} questions; the study asks {n} about a {kind}. Ask fewer.")
    table = Columns(path)
    if DIFFICULTY in table.names:
        return Pool(questions, _said(path, table.cells(DIFFICULTY)))
    truth = np.unique(np.array(rows.y, dtype=object).astype(str), return_inverse=True)[1]
    return Pool(questions, are_difficult(margins(prepared(rows.X, rows.features), truth), questions))


def _said(path: str, cells: list[str]) -> np.ndarray:
    words = [cell.strip().lower() for cell in cells]
    if all(word in _WORDS for word in words):
        return np.array([_WORDS[word] for word in words])
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        values = np.full(len(words), np.nan)
    if not np.isfinite(values).all():
        wrong = next(cell for cell, word in zip(cells, words) if word not in _WORDS)
        raise InvalidData(
            f"The column {DIFFICULTY!r} of {path!r} says easy or difficult in every row, or a number in every row. "
            f"Got {wrong!r:.40}."
        )
    hardest = np.argsort(-values, kind="stable")[: round(len(values) * DIFFICULT)]
    return np.isin(np.arange(len(values)), hardest)
