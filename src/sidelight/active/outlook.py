"""When to stop asking: the clusters hardly change any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sidelight.metrics import adjusted_rand_index

CALM = 3  # comparisons in a row that must show little change: with two, wrong answers were often still being found out
LITTLE = 0.02  # change of the partition (1 - adjusted Rand index) over ten questions that counts as none
FEW_UNSURE = 0.02  # share of rows that may be unsure when it is enough
UNSURE_BELOW = 0.7  # probability of its cluster below which a row counts as unsure


@dataclass(frozen=True, slots=True)
class Outlook:
    """What further questions promise.

    Attributes
    ----------
    enough : bool
        Whether the clusters changed by less than 0.02 (1 - adjusted Rand index) over ten questions, three times in a
        row, no row looks so unlike the cluster that answers give it that these may well be wrong, and hardly a row is
        unsure (one in fifty).
    change : float
        That change over the last ten questions; NaN before there were twenty.
    share_unsure : float
        The share of rows that have no cluster with a probability of at least 0.7.
    sentence : str
        All of it in plain words.
    """

    enough: bool
    change: float
    share_unsure: float
    sentence: str


class PartitionHistory:
    """The partitions shown after every ten questions."""

    EVERY: ClassVar[int] = 10

    def __init__(self) -> None:
        self.changes: list[float] = []
        self._last: np.ndarray | None = None

    def add(self, labels: np.ndarray) -> None:
        """Compare with the partition of ten questions ago."""
        if self._last is not None:
            self.changes.append(1.0 - float(adjusted_rand_index(self._last, labels)))
        self._last = labels

    def outlook(self, n_answers: int, P: Any, n_unlike: int = 0) -> Outlook:
        """Say whether to go on; ``n_unlike`` rows look unlike the cluster that answers give them."""
        unsure = float(np.mean(np.asarray(P).max(axis=1) < UNSURE_BELOW))
        enough = len(self.changes) >= CALM and max(self.changes[-CALM:]) < LITTLE
        change = self.changes[-1] if self.changes else float("nan")
        if enough and n_unlike:
            enough = False
            rows = "One row looks" if n_unlike == 1 else f"{n_unlike} rows look"
            sentence = f"{rows} unlike the cluster that answers give: look at the most doubtful rows before you stop."
        elif enough and unsure > FEW_UNSURE:
            enough = False
            sentence = (
                f"The clusters hardly changed over the last 30 questions, but {unsure:.0%} of the rows are unsure: "
                "look at the most doubtful rows before you stop."
            )
        elif enough:
            sentence = "The clusters hardly changed over the last 30 questions: you may stop, and look through them."
        elif not self.changes:
            told = f"{n_answers or 'No'} question{' was' if n_answers < 2 else 's were'} answered"
            sentence = f"{told}; from 40 answers on, this line says whether to go on."
        elif change < LITTLE:
            sentence = "The last ten questions changed little: if the next twenty change as little, you may stop."
        else:
            sentence = (
                f"The last ten questions changed {min(change, 1.0):.0%} of the clustering, and {unsure:.0%} of the "
                "rows are unsure: it pays to go on."
            )
        return Outlook(enough, change, unsure, sentence)
