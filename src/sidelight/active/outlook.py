"""When to stop asking: the clusters hardly change any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import beta

from sidelight.metrics import adjusted_rand_index

CALM = 3  # comparisons in a row that must show little change: with two, wrong answers were often still being found out
LITTLE = 0.02  # change of the partition (1 - adjusted Rand index) over ten questions that counts as none
FEW_UNSURE = 0.02  # share of rows that may be unsure when it is enough
MOST_DRAWN, DRAWN_ENOUGH = 20, 10  # rows drawn at random that count, and those that a promise needs
MOST_ELSEWHERE = 0.2  # upper end of the share that goes elsewhere than expected, for that promise
UNSURE_BELOW = 0.7  # probability of its cluster below which a row counts as unsure


@dataclass(frozen=True, slots=True)
class Outlook:
    """What further questions promise.

    Attributes
    ----------
    enough : bool
        Whether the clusters changed by less than 0.02 (1 - adjusted Rand index) over ten questions, three times in a
        row, no row looks so unlike the cluster that answers give it that these may well be wrong, and hardly a row is
        unsure (one in fifty). Where rows were sorted, ten of them drawn at random have to say so, too: at most one of
        five rows may be elsewhere than expected, with 95 in 100.
    change : float
        That change over the last ten questions; NaN before there were twenty.
    share_unsure : float
        The share of rows that have no cluster with a probability of at least 0.7; NaN where too few rows have answers
        to tell how sure a row may be.
    sentence : str
        All of it in plain words.
    wrong, wrong_before : float
        The share of rows that are probably not on the pile of their kind, now and thirty placements ago; NaN where
        nobody sorted.
    n_drawn, n_elsewhere : int
        Rows drawn at random that somebody placed, of the last twenty, and how many went elsewhere than expected.
    low, high : float
        The range that holds the share of rows that would go elsewhere nine times of ten; slips of people count, too.
    """

    enough: bool
    change: float
    share_unsure: float
    sentence: str
    wrong: float = float("nan")
    wrong_before: float = float("nan")
    n_drawn: int = 0
    n_elsewhere: int = 0
    low: float = 0.0
    high: float = 1.0


class PartitionHistory:
    """The partitions shown after every ten questions."""

    EVERY: ClassVar[int] = 10

    def __init__(self) -> None:
        self.changes: list[float] = []
        self.wrong: list[float] = []
        self._last: np.ndarray | None = None

    def add(self, labels: np.ndarray, wrong: float = float("nan")) -> None:
        """Compare with the partition of ten questions ago; note which share of rows is probably wrong."""
        self.wrong.append(wrong)
        if self._last is not None:
            self.changes.append(1.0 - float(adjusted_rand_index(self._last, labels)))
        self._last = labels

    def outlook(
        self,
        n_answers: int,
        P: Any,
        n_unlike: int = 0,
        wrong: float = float("nan"),
        drawn: Sequence[bool] | None = None,
        *,
        is_measured: bool = True,
    ) -> Outlook:
        """Say whether to go on.

        ``n_unlike`` rows look unlike the cluster that answers give them; of sorted rows ``wrong`` is the share that is
        probably elsewhere, and ``drawn`` says of rows drawn at random whether they went where they were expected.
        ``is_measured`` says whether rows are as sure as P has it; else no share of unsure rows is told.
        """
        unsure = float(np.mean(np.asarray(P).max(axis=1) < UNSURE_BELOW))
        enough = len(self.changes) >= CALM and max(self.changes[-CALM:]) < LITTLE
        change = self.changes[-1] if self.changes else float("nan")
        if enough and n_unlike:
            enough = False
            rows = "One row looks" if n_unlike == 1 else f"{n_unlike} rows look"
            sentence = f"{rows} unlike the cluster that answers give: look at the most doubtful rows before you stop."
        elif enough and unsure > FEW_UNSURE:
            enough = False
            doubtful = f"{unsure:.0%} of the rows are unsure" if is_measured else "some rows lie between clusters"
            sentence = (
                f"The clusters hardly changed over the last 30 questions, but {doubtful}: "
                "look at the most doubtful rows before you stop."
            )
        elif enough:
            sentence = "The clusters hardly changed over the last 30 questions: look through them."
        elif not self.changes:
            told = f"{n_answers or 'No'} question{' was' if n_answers < 2 else 's were'} answered"
            sentence = f"{told}; from 40 answers on, this line says whether to go on."
        elif change < LITTLE:
            sentence = "The last ten questions changed little."
        else:
            doubtful = f", and {unsure:.0%} of the rows are unsure" if is_measured else ""
            sentence = (
                f"The last ten questions changed {min(change, 1.0):.0%} of the clustering{doubtful}: it pays to go on."
            )
        if drawn is None:
            return Outlook(enough, change, unsure if is_measured else float("nan"), sentence)
        unsure = unsure if is_measured else float("nan")
        return self._of_sorted(enough, change, unsure, wrong, drawn[-MOST_DRAWN:])

    def _of_sorted(self, is_calm: bool, change: float, unsure: float, wrong: float, drawn: Sequence[bool]) -> Outlook:
        """Say how many rows are probably wrong now, how that fell, and what rows drawn at random say of it."""
        n, n_elsewhere = len(drawn), len(drawn) - sum(drawn)
        low = float(beta.ppf(0.05, n_elsewhere + 0.5, n - n_elsewhere + 0.5)) if n_elsewhere else 0.0
        high = float(beta.ppf(0.95, n_elsewhere + 0.5, n - n_elsewhere + 0.5)) if n_elsewhere < n else 1.0
        known = [share for share in self.wrong if share == share]
        before = known[-1 - CALM] if len(known) > CALM else float("nan")
        sentence = f"By what is known, {wrong:.0%} of the rows are probably not on the pile of their kind"
        sentence += f" ({before:.0%} thirty placements ago)." if before == before else "."
        if n:
            sentence += (
                f" Of {n} {'row' if n == 1 else 'rows'} drawn at random, {n_elsewhere} went elsewhere than expected:"
                f" between {low:.0%} and {high:.0%} of all."
            )
        enough = is_calm and n >= DRAWN_ENOUGH and high <= MOST_ELSEWHERE
        sentence += " More screens will change little: look through the clusters." if enough else ""
        return Outlook(enough, change, unsure, sentence, wrong, before, n, n_elsewhere, low, high)
