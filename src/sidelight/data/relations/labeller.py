"""A simulated person: answers from the truth, with mistakes and seconds."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_generator, check_number
from sidelight.data.relations.facts import question_codes
from sidelight.errors import InvalidData, UnknownName, nearest

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


# A simulated person: answers from the truth, with mistakes and seconds.


Floats = NDArray[np.float64]


SPREAD = 0.4  # standard deviation of the time of an answer, as a share of its mean: between 0.34 and 0.51 in table 3.6


# [P17] tables 3.6, 3.8 and 3.9: means over 24 people. Answers in our order: different, same; a, b, c odd, none.
_STUDIES: dict[str, dict[str, Any]] = {
    "birdsong": {
        "pair_confusion": [[142.42, 6.50], [8.92, 37.15]],
        "triplet_confusion": [
            [15.88, 0.42, 0.31, 3.62],
            [0.38, 17.00, 0.31, 3.65],
            [0.62, 0.12, 14.73, 2.62],
            [3.62, 3.38, 3.46, 59.88],
        ],
        "pair_seconds": [2.84, 3.95],
        "triplet_seconds": [6.44, 6.44, 6.44, 5.98],
    },
    "flower": {
        "pair_confusion": [[158.54, 4.54], [2.00, 29.92]],
        "triplet_confusion": [
            [17.31, 0.04, 0.08, 1.23],
            [0.15, 13.42, 0.12, 1.19],
            [0.15, 0.08, 14.12, 0.88],
            [2.15, 1.73, 1.46, 75.88],
        ],
        "pair_seconds": [2.04, 2.41],
        "triplet_seconds": [4.02, 4.02, 4.02, 4.09],
    },
}


class Labeller:
    """Answers questions about pairs and triplets, wrongly now and then, in a time that it tells.

    Parameters
    ----------
    noise : float, default=0.0
        The probability of a wrong answer where no confusion is given; all wrong answers are equally likely.
    pair_confusion : array-like of shape (2, 2), default=None
        Rows are the truth, columns the answer: (different, same). Rows are scaled to sum to 1.
    triplet_confusion : array-like of shape (4, 4), default=None
        The same for triplets: (a, b, c odd, none).
    pair_seconds, triplet_seconds : float or sequence, default=None
        Mean seconds of an answer, one number or one for each true answer. None: times are not known.
    name : hashable, default=None
        Who answers.

    Examples
    --------
    >>> import sidelight as sl
    >>> person = sl.data.Labeller(pair_confusion=[[0.95, 0.05], [0.3, 0.7]], pair_seconds=3)
    >>> pairs = sl.Pairs.sample([0, 1] * 50, 100, labeller=person, random_state=0)
    >>> bool(1 < pairs.times.mean() < 5)
    True
    """

    def __init__(
        self,
        *,
        noise: float = 0.0,
        pair_confusion: Any = None,
        triplet_confusion: Any = None,
        pair_seconds: Any = None,
        triplet_seconds: Any = None,
        name: Any = None,
    ) -> None:
        check_number(self, "noise", noise, low=0, high=1)
        self.noise = float(noise)
        self.pair_confusion = _as_confusion(pair_confusion, 2, "pair_confusion")
        self.triplet_confusion = _as_confusion(triplet_confusion, 4, "triplet_confusion")
        self.pair_seconds = _as_seconds(pair_seconds, 2, "pair_seconds")
        self.triplet_seconds = _as_seconds(triplet_seconds, 4, "triplet_seconds")
        self.name = name

    @classmethod
    def of_study(cls, name: str) -> Self:
        """Return the average person of the thesis' study, with birdsong or flowers.

        Parameters
        ----------
        name : {"birdsong", "flower"}
            Confusion and seconds of [P17] tables 3.6, 3.8 and 3.9.
        """
        if not isinstance(name, str) or name not in _STUDIES:
            raise UnknownName(f"Labeller.of_study: there is no study {name!r:.80}. {nearest(name, _STUDIES)}")
        return cls(**_STUDIES[name], name=name)

    def answer(self, truth: Ints, n_words: int, generator: np.random.Generator) -> tuple[Ints, Floats]:
        """Return the codes of the answers and their seconds (NaN where they are not known).

        Parameters
        ----------
        truth : array of int
            The codes of the true answers.
        n_words : int
            How many answers there are: 2 for pairs, 4 for triplets.
        generator : numpy.random.Generator
            Decides the mistakes and the times.
        """
        confusion, means = (
            (self.pair_confusion, self.pair_seconds) if n_words == 2 else (self.triplet_confusion, self.triplet_seconds)
        )
        if confusion is None:
            codes = with_mistakes(truth, self.noise, n_words, generator, "Labeller")
        else:
            below = generator.random(len(truth))[:, None] >= np.cumsum(confusion, axis=1)[truth]
            codes = np.minimum(below.sum(axis=1), n_words - 1).astype(np.intp)
        if means is None:
            return codes, np.full(len(truth), np.nan)
        shape = 1.0 / SPREAD**2
        return codes, generator.gamma(shape, means[truth] / shape)

    def error(self, shares: Any, n_words: int) -> float:
        """Return the share of wrong answers when true answers come with ``shares``.

        Parameters
        ----------
        shares : array-like of shape (n_words,)
            How often each true answer comes.
        n_words : int
            How many answers there are: 2 for pairs, 4 for triplets.
        """
        confusion = self.pair_confusion if n_words == 2 else self.triplet_confusion
        if confusion is None:
            return self.noise
        shares = np.asarray(shares, dtype=float)
        return float(1.0 - (shares / shares.sum()) @ np.diag(confusion))

    def __repr__(self) -> str:
        kinds = [kind for kind in ("pair", "triplet") if getattr(self, f"{kind}_confusion") is not None]
        by = f"confusion of {' and '.join(kinds)}s" if kinds else f"{self.noise:.0%} wrong"
        return f"Labeller({by}{'' if self.name is None else f', {self.name!r}'})"


def _as_confusion(confusion: Any, n_words: int, name: str) -> Floats | None:
    if confusion is None:
        return None
    try:
        table = np.array(confusion, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    valid = table.shape == (n_words, n_words) and np.isfinite(table).all() and (table >= 0).all()
    if not valid or not (table.sum(axis=1) > 0).all():
        raise InvalidData(
            f"Labeller: {name} takes {n_words} rows of {n_words} numbers from 0 on, none of the rows all 0: the truth "
            f"by rows, the answers by columns. Got {confusion!r:.80}."
        )
    return table / table.sum(axis=1, keepdims=True)


def _as_seconds(seconds: Any, n_words: int, name: str) -> Floats | None:
    if seconds is None:
        return None
    try:
        means = np.broadcast_to(np.asarray(seconds, dtype=float), (n_words,)).copy()
    except (TypeError, ValueError):
        means = np.zeros(n_words)
    if not (np.isfinite(means).all() and (means > 0).all()):
        raise InvalidData(f"Labeller: {name} takes seconds above 0, one number or {n_words}. Got {seconds!r:.80}.")
    return means
