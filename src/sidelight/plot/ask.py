"""Pictures of a conversation: where it is still unsure, and what was asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.errors import InvalidData
from sidelight.plot._axes import axes, colour, tidy
from sidelight.plot.layout import cluster_map

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
