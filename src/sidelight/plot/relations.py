"""Pictures of answers: what they are worth, and how clusters improve with their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.errors import InvalidData
from sidelight.metrics import answer_information
from sidelight.plot._axes import axes, colour, plain, tidy


class AnswerInformationDisplay:
    """Bits that answers about pairs and triplets carry, over the number of classes: [P17] figure 3.6.

    Parameters
    ----------
    n_classes : sequence of int
        Numbers of classes.
    pair, triplet : sequence of float
        Bits of one answer of each kind.
    equal_rows : bool, default=False
        Draw three pairs against two triplets, which are about six rows each.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(
        self, n_classes: Sequence[int], pair: Sequence[float], triplet: Sequence[float], *, equal_rows: bool = False
    ) -> None:
        self.n_classes, self.pair, self.triplet = list(n_classes), np.asarray(pair), np.asarray(triplet)
        self.equal_rows = equal_rows

    @classmethod
    def from_class_counts(
        cls,
        n_classes: Sequence[int] = range(2, 31),
        *,
        equal_rows: bool = False,
        pair_error: float = 0.0,
        triplet_error: float = 0.0,
    ) -> AnswerInformationDisplay:
        """Compute the bits for classes of equal size.

        Parameters
        ----------
        n_classes : sequence of int
            Numbers of classes.
        equal_rows : bool
            Draw three pairs against two triplets.
        pair_error, triplet_error : float
            The share of wrong answers of each kind.
        """
        worth = [answer_information(np.ones(K), pair_error=pair_error, triplet_error=triplet_error) for K in n_classes]
        return cls(n_classes, [w.pair for w in worth], [w.triplet for w in worth], equal_rows=equal_rows)

    def plot(self, ax: Any = None) -> AnswerInformationDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.0, 3.4)))
        self.figure_ = self.ax_.figure
        pairs, triplets = (3, 2) if self.equal_rows else (1, 1)
        names = ("three pairs", "two triplets") if self.equal_rows else ("one pair", "one triplet")
        self.ax_.plot(self.n_classes, pairs * self.pair, "o-", ms=3, color=colour(0), label=names[0])
        self.ax_.plot(self.n_classes, triplets * self.triplet, "s-", ms=3, color=colour(1), label=names[1])
        self.ax_.set(xlabel="classes of equal size", ylabel="information, bits")
        self.ax_.legend(frameon=False)
        return self


class ScoreCurveDisplay:
    """Scores over the number of answers, with a band of 95 % over draws: [P17] figures 3.2, 3.3 and 3.8.

    Parameters
    ----------
    n_answers : sequence of float
        Numbers of answers (or shares of the rows).
    scores : mapping of str to array of shape (n_numbers, n_draws)
        Scores of each method; NaN where a draw is missing.
    score_name, answers_name : str
        Names of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.

    Examples
    --------
    >>> import sidelight as sl
    >>> curve = sl.plot.ScoreCurveDisplay([10, 20], {"ours": [[0.5, 0.6], [0.8, 0.9]]})
    >>> curve.means["ours"].round(2).tolist()
    [0.55, 0.85]
    """

    def __init__(
        self,
        n_answers: Sequence[float],
        scores: Mapping[str, Any],
        *,
        score_name: str = "adjusted Rand index",
        answers_name: str = "answers",
    ) -> None:
        self.n_answers = np.asarray(n_answers, dtype=float)
        self.scores = {name: np.atleast_2d(np.asarray(table, dtype=float)) for name, table in scores.items()}
        self.score_name, self.answers_name = score_name, answers_name
        for name, table in self.scores.items():
            if len(table) != len(self.n_answers):
                raise InvalidData(
                    f"ScoreCurveDisplay: {name!r:.80} has {len(table)} rows of scores, but there are "
                    f"{len(self.n_answers)} numbers of answers. Give one row of draws for each."
                )

    @property
    def means(self) -> dict[str, np.ndarray]:
        """Mean over the draws of each method."""
        return {name: self._moments(table)[0] for name, table in self.scores.items()}

    @staticmethod
    def _moments(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and half the width of the band; NaN and 0 where draws are missing."""
        known = np.isfinite(table)
        n = known.sum(axis=1)
        mean = np.where(n > 0, np.where(known, table, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)
        squares = np.where(known, (table - mean[:, None]) ** 2, 0.0).sum(axis=1)
        error = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
        return mean, np.where(n > 1, 1.96 * error, 0.0)

    def plot(self, ax: Any = None) -> ScoreCurveDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.5, 3.6)))
        self.figure_ = self.ax_.figure
        for number, (name, table) in enumerate(self.scores.items()):
            mean, half = self._moments(table)
            self.ax_.plot(self.n_answers, mean, "o-", ms=3, color=colour(number), label=plain(name))
            self.ax_.fill_between(self.n_answers, mean - half, mean + half, color=colour(number), alpha=0.15, lw=0)
        self.ax_.set(xlabel=plain(self.answers_name), ylabel=plain(self.score_name))
        if self.scores:
            self.ax_.legend(frameon=False, fontsize=8)
        return self
