"""Pictures of answers: what they are worth, and how clusters improve with their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.errors import InvalidData
from sidelight.metrics import answer_information
from sidelight.plot._axes import axes, colour, plain, tidy
from sidelight.plot.layout import cluster_map


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


# Pictures of a conversation: where it is still unsure, and what was asked.


_WORDS = {"same": "#228833", "different": "#ee6677"}


class UncertaintyMapDisplay:
    """Rows on a map of their clusters, coloured by how unsure their cluster is.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, 2)
        Where each row is drawn.
    doubt : ndarray of shape (n_rows,)
        1 - the probability of the row's cluster; 1 where the cluster is a guess that no question was about yet.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, coordinates: Any, doubt: Any) -> None:
        self.coordinates, self.doubt = np.asarray(coordinates), np.asarray(doubt, dtype=float)

    @classmethod
    def from_session(cls, session: Any, X: Any) -> UncertaintyMapDisplay:
        """Draw a session about the rows X."""
        P, labels = session.predict_proba(), session.labels_
        X = _checked(len(P), X, "UncertaintyMapDisplay")
        met = labels < P.shape[1]
        own = P[np.arange(len(P)), np.where(met, labels, 0)]
        return cls(cluster_map(X, labels), np.where(met, 1.0 - own, 1.0))

    def plot(self, ax: Any = None) -> UncertaintyMapDisplay:
        """Draw on ``ax``, or on a new figure; the least sure rows lie on top."""
        self.ax_ = tidy(axes(ax, size=(6.4, 4.6)))
        self.figure_ = self.ax_.figure
        order = np.argsort(self.doubt, kind="stable")
        dots = self.ax_.scatter(
            *self.coordinates[order].T, c=self.doubt[order], s=12, linewidths=0, cmap="viridis", vmin=0.0
        )
        self.figure_.colorbar(dots, ax=self.ax_, label="1 - probability of its cluster")
        self.ax_.set(xticks=[], yticks=[])
        return self


class QuestionsDisplay:
    """The questions so far as lines between rows, coloured by their answers.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, 2)
        Where each row is drawn.
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    pairs : Pairs
        The answers.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, coordinates: Any, labels: Any, pairs: Any) -> None:
        self.coordinates, self.labels, self.pairs = np.asarray(coordinates), np.asarray(labels), pairs

    @classmethod
    def from_session(cls, session: Any, X: Any) -> QuestionsDisplay:
        """Draw a session about the rows X."""
        labels = session.labels_
        X = _checked(len(labels), X, "QuestionsDisplay")
        return cls(cluster_map(X, labels), labels, session.pairs)

    def plot(self, ax: Any = None) -> QuestionsDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(6.4, 4.6)))
        self.figure_ = self.ax_.figure
        colours = [colour(int(k)) for k in self.labels]
        self.ax_.scatter(*self.coordinates.T, c=colours, s=8, linewidths=0, alpha=0.35)
        for word, shade in _WORDS.items():
            answered = self.pairs.same == (word == "same")
            ends = self.coordinates[self.pairs.rows[answered]]
            gaps = np.full((len(ends), 1, 2), np.nan)  # a line breaks where there is no number
            path = np.concatenate([ends, gaps], axis=1).reshape(-1, 2)
            self.ax_.plot(*path.T, color=shade, lw=0.9, alpha=0.8, label=f"{word} ({len(ends)})")
        self.ax_.legend(frameon=False, fontsize=8)
        self.ax_.set(xticks=[], yticks=[])
        return self


def _checked(n_rows: int, X: Any, who: str) -> Any:
    X = X if hasattr(X, "shape") else np.asarray(X)
    if X.shape[0] != n_rows:
        raise InvalidData(
            f"{who} got {X.shape[0]} rows for a session about {n_rows}. Pass the rows that the session is about."
        )
    return X
