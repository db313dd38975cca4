"""A simulated person who knows the truth, for experiments: answers any question, wrongly now and then."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.params import as_generator, check_number
from sidelight.active.questions import Question
from sidelight.active.screens import Screen, checked_pace
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
        A simulated person with a confusion and seconds of its own, instead of ``noise``; rows of a screen are placed
        wrongly by the ``noise`` of the labeller.
    pace : tuple of three float, default=(2.5, 3.0, 1.4)
        Seconds of a question about two rows, where the labeller has no times; of a screen; and of each of its rows.
    random_state : int, RandomState, Generator or None
        Decides the mistakes. A question asked twice is answered anew.

    Attributes
    ----------
    seconds : float
        How long all answers took together.

    Examples
    --------
    >>> import sidelight as sl
    >>> oracle = sl.Oracle(["ant", "ant", "bee"])
    >>> oracle(sl.active.Question((0, 1), 0)), oracle(sl.active.Question((0, 2), 1))
    ('same', 'different')
    """

    def __init__(
        self,
        y_true: Any,
        *,
        noise: float = 0.0,
        labeller: Labeller | None = None,
        pace: tuple[float, float, float] = (2.5, 3.0, 1.4),
        random_state: Any = None,
    ) -> None:
        check_number(self, "noise", noise, low=0, high=1)
        if labeller is not None and not isinstance(labeller, Labeller):
            raise InvalidParameter(
                f"The 'labeller' parameter of Oracle must be a Labeller or None. Got {labeller!r:.80} instead. Give "
                "Labeller(noise=0.1) for one, or noise=0.1 alone."
            )
        _, self.classes = encode(y_true, "true class")
        self.noise, self.pace = noise, checked_pace(self, pace)
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
        self.seconds += float(seconds[0]) if np.isfinite(seconds[0]) else self.pace[0]
        return kind.WORDS[int(codes[0])]

    def seconds_of(self, n_rows: int) -> float:
        """Return how long a screen of so many rows takes."""
        check_number("Oracle.seconds_of", "n_rows", n_rows, integer=True, low=0)
        return self.pace[1] + n_rows * self.pace[2]

    def sort(self, screen: Screen) -> list[int]:
        """Return where each row of a screen goes: the pile of its class, or a new one.

        A wrong placement is another pile or a needless new one, all equally likely. A pile is of the class of its first
        row, as the person who began it remembers.
        """
        if not isinstance(screen, Screen):
            raise WrongKind(f"An Oracle sorts a Screen, as ActiveSession.ask_screen returns it. Got {screen!r:.80}.")
        if max(screen.rows) >= len(self.classes):
            raise InvalidData(
                f"The Oracle knows {len(self.classes)} rows, and was shown row {max(screen.rows)}. Give it the true "
                "class of every row."
            )
        kinds = {pile.number: int(self.classes[pile.rows[0]]) for pile in screen.piles if pile.rows}
        placements: list[int] = []
        for row in screen.rows:
            kind = int(self.classes[row])
            own = next((pile for pile, other in kinds.items() if other == kind), None)
            is_wrong = self._generator.random() < self.labeller.noise
            if is_wrong:
                others = [pile for pile, other in kinds.items() if other != kind]
                at = int(self._generator.integers(len(others) + 1))
                own = others[at] if at < len(others) else None
            if own is None:
                own = 1 + max(kinds, default=-1)
                kinds[own] = kind
            placements.append(own)
        self.seconds += self.seconds_of(len(screen.rows))
        return placements
