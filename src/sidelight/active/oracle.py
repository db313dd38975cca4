"""A simulated person who knows the truth, for experiments: answers any question, wrongly now and then."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.params import as_generator, check_number
from sidelight.active.questions import Question
from sidelight.data.names import encode
from sidelight.data.relations import Labeller, Pairs, Triplets
from sidelight.errors import InvalidData, InvalidParameter, WrongKind


class Oracle:
    """Answers questions from the true class of each row.

    Parameters
    ----------
    y_true : sequence
        The true class of each row.
    noise : float, default=0.0
        The probability of a wrong answer; all wrong answers are equally likely.
    labeller : Labeller, default=None
        A simulated person with a confusion and seconds of its own, instead of ``noise``.
    random_state : int, RandomState, Generator or None
        Decides the mistakes. A question asked twice is answered anew.

    Attributes
    ----------
    seconds : float
        How long all answers took together; NaN where the labeller has no times.

    Examples
    --------
    >>> import sidelight as sl
    >>> oracle = sl.Oracle(["ant", "ant", "bee"])
    >>> oracle(sl.active.Question((0, 1), 0)), oracle(sl.active.Question((0, 2), 1))
    ('same', 'different')
    """

    def __init__(
        self, y_true: Any, *, noise: float = 0.0, labeller: Labeller | None = None, random_state: Any = None
    ) -> None:
        check_number(self, "noise", noise, low=0, high=1)
        if labeller is not None and not isinstance(labeller, Labeller):
            raise InvalidParameter(
                f"The 'labeller' parameter of Oracle must be a Labeller or None. Got {labeller!r:.80} instead. Give "
                "Labeller(noise=0.1) for one, or noise=0.1 alone."
            )
        _, self.classes = encode(y_true, "true class")
        self.noise = noise
        self.labeller = Labeller(noise=noise) if labeller is None else labeller
        self.seconds = 0.0
        self._generator = as_generator(random_state)

    def __call__(self, question: Question) -> str:
        """Return one of ``question.words``."""
        if not isinstance(question, Question):
            raise WrongKind(f"An Oracle answers a Question, as ActiveSession.ask returns it. Got {question!r:.80}.")
        if max(question.rows) >= len(self.classes):
            raise InvalidData(
                f"The Oracle knows {len(self.classes)} rows, and was asked about row {max(question.rows)}. "
                "Give it the true class of every row."
            )
        kind = Pairs if len(question.rows) == 2 else Triplets
        truth = kind._truth(self.classes[np.array([question.rows])])
        codes, seconds = self.labeller.answer(truth, len(kind.WORDS), self._generator)
        self.seconds += float(seconds[0])
        return kind.WORDS[int(codes[0])]
