"""How far two annotators agree on the questions that both answered."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]


class Agreement(NamedTuple):
    """Two annotators: the questions both answered, the share answered alike, and Cohen's kappa."""

    first: Hashable
    second: Hashable
    n_common: int
    share: float
    kappa: float


def compare(
    questions: Ints, codes: Ints, annotator_codes: Ints, annotators: tuple[Hashable, ...], n_words: int
) -> tuple[Agreement, ...]:
    """Compare every two annotators with a question in common; an annotator's last answer to a question counts."""
    given = [
        dict(zip(questions[mine].tolist(), codes[mine].tolist()))
        for mine in (annotator_codes == code for code in range(len(annotators)))
    ]
    rows = []
    for i, j in combinations(range(len(annotators)), 2):
        common = given[i].keys() & given[j].keys()
        if common:
            table = np.zeros((n_words, n_words))
            for question in common:
                table[given[i][question], given[j][question]] += 1
            rows.append(Agreement(annotators[i], annotators[j], len(common), *_share_and_kappa(table)))
    return tuple(rows)


def _share_and_kappa(table: NDArray[np.float64]) -> tuple[float, float]:
    """Kappa = (share - chance) / (1 - chance), with chance the agreement of independent annotators (Cohen 1960)."""
    table = table / table.sum()
    share = float(np.trace(table))
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    return share, (share - chance) / (1 - chance) if chance < 1 else float("nan")
