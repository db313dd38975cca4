"""Lists of questions in a file: two or three columns of row names and, for a study, how difficult each question is."""

from __future__ import annotations

import numpy as np

from sidelight.app.jobs.columns import Columns
from sidelight.app.studio.rows import standardised
from sidelight.app.studio.sources import Source
from sidelight.app.studio.study.design import DIFFICULT, Pool, are_difficult, margins
from sidelight.errors import InvalidData, UnknownName, nearest

DIFFICULTY = "difficulty"
_WORDS = {"easy": False, "difficult": True}


def read_questions(path: str, rows: Source, kind: str) -> list[list[int]]:
    """Read a fixed list of questions: two or three columns of row names, in the order in which they are asked."""
    table = Columns(path)
    width = 2 if kind == "pair" else 3
    if len(table.names) < width:
        raise InvalidData(f"{path!r} has {len(table.names)} columns; questions about a {kind} need {width}.")
    place = {name: row for row, name in enumerate(rows.ids)}
    columns = [table.cells(name) for name in table.names[:width]]
    for cell in (cell for column in columns for cell in column):
        if cell not in place:
            raise UnknownName(
                f"{path!r} asks about a row {cell!r:.80}, which the table has not. {nearest(cell, place)}"
            )
    questions = [[place[cell] for cell in cells] for cells in zip(*columns)]
    if any(len(set(question)) < width for question in questions):
        raise InvalidData(f"A question of {path!r} names the same row twice.")
    return questions


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
    return Pool(questions, are_difficult(margins(standardised(rows.X), truth), questions))


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
