"""Random questions about rows, no two alike, and the mistakes of a person who answers them."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_generator, check_number
from sidelight.data.relations.questions import question_codes
from sidelight.errors import InvalidData

Ints = NDArray[np.intp]


def draw_questions(n_rows: int, width: int, n: Any, random_state: Any, who: str) -> tuple[Ints, np.random.Generator]:
    """Draw ``n`` different sets of ``width`` rows, each in random order; return them and the generator."""
    check_number(who, "n", n, integer=True, low=0)
    rng = as_generator(random_state)
    total = comb(n_rows, width)
    if n > total:
        raise InvalidData(f"{who}: {n_rows} rows allow {total} different questions, but n={n} were wanted.")
    if total <= 4 * n:  # drawing until n are different would take long
        every = np.array(list(combinations(range(n_rows), width)), dtype=np.intp).reshape(-1, width)
        questions = every[rng.choice(total, size=n, replace=False)]
    else:
        questions = _draw_until_different(n_rows, width, n, rng)
    return rng.permuted(questions, axis=1), rng


def with_mistakes(codes: Ints, noise: Any, n_words: int, rng: np.random.Generator, who: str) -> Ints:
    """Replace each code with probability ``noise`` by one of the others, all equally likely."""
    check_number(who, "noise", noise, low=0, high=1)
    wrong = rng.random(len(codes)) < noise
    shift = rng.integers(1, n_words, size=len(codes))
    return np.where(wrong, (codes + shift) % n_words, codes)


def _draw_until_different(n_rows: int, width: int, n: int, rng: np.random.Generator) -> Ints:
    found = np.zeros((0, width), dtype=np.intp)
    while len(found) < n:
        more = np.sort(rng.integers(n_rows, size=(2 * (n - len(found)) + 8, width)), axis=1)
        more = more[(np.diff(more, axis=1) > 0).all(axis=1)]
        found = np.concatenate([found, more])
        _, first = np.unique(question_codes(found, n_rows), return_index=True)
        found = found[np.sort(first)]
    return found[:n]
