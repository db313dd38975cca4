"""Pictures of coverage: what clusters hold, which labels they go with, whom the bags moved, how counts were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidData, UnknownName, nearest
from sidelight.plot._axes import axes, colour, plain, tidy


class ClusterContentsDisplay:
    """Clusters by size, each with its most typical rows and the bags it explains.

    Parameters
    ----------
    names : sequence of str
        Name of each cluster.
    sizes : sequence of int
        Number of rows of each cluster.
    typical : sequence of sequences
        The surest rows of each cluster, as users call them.
    bags : sequence of sequences
        The bags in which the cluster has most rows.
    n_bags : sequence of int
        In how many bags the cluster has a row.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(
        self,
        names: Sequence[str],
        sizes: Sequence[int],
        typical: Sequence[Sequence[Any]],
        bags: Sequence[Sequence[Any]],
        n_bags: Sequence[int],
    ) -> None:
        self.names, self.sizes = [str(name) for name in names], [int(size) for size in sizes]
        self.typical, self.bags, self.n_bags = list(typical), list(bags), [int(n) for n in n_bags]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, bags: Any, *, row_ids: Any = None, n_shown: int = 3
    ) -> ClusterContentsDisplay:
        """Look at the training rows and bags of a fitted ``CoverageClustering``."""
        bags = as_bags(bags, n_rows=len(estimator.labels_))
        Q = estimator.predict_proba(X, bags=bags)
        return cls.from_posteriors(estimator, Q, bags, row_ids=row_ids, n_shown=n_shown)

    @classmethod
    def from_posteriors(
        cls, estimator: Any, Q: np.ndarray, bags: Any, *, row_ids: Any = None, n_shown: int = 3
    ) -> ClusterContentsDisplay:
        """Do the same with posteriors Q of the training rows that are there already."""
        labels = np.asarray(estimator.labels_)
        ids = np.arange(len(labels)) if row_ids is None else np.asarray(row_ids, dtype=object)
        typical, largest, n_bags = [], [], []
        for k in range(len(estimator.cluster_names_)):
            rows = np.flatnonzero(labels == k)
            typical.append([ids[i] for i in rows[np.argsort(-Q[rows, k], kind="stable")][:n_shown]])
            counts = np.bincount(bags.codes[rows], minlength=bags.n_bags)
            order = np.argsort(-counts, kind="stable")[:n_shown]
            largest.append([bags.names[b] for b in order if counts[b]])
            n_bags.append(int(np.count_nonzero(counts)))
        sizes = np.bincount(labels, minlength=len(estimator.cluster_names_))
        return cls(estimator.cluster_names_, sizes.tolist(), typical, largest, n_bags)

    def plot(self, ax: Any = None) -> ClusterContentsDisplay:
        """Draw on ``ax``, or on a new figure."""
        n = len(self.names)
        self.ax_ = tidy(axes(ax, size=(8.0, 0.42 * n + 1.0)))
        self.figure_ = self.ax_.figure
        self.ax_.barh(np.arange(n), self.sizes, color=[colour(k) for k in range(n)], height=0.7)
        most = max(self.sizes, default=1) or 1
        for k in range(n):
            text = f"in {self.n_bags[k]} bags ({_few(self.bags[k])}); rows {_few(self.typical[k])}"
            text = plain(text) if self.sizes[k] else "empty"
            self.ax_.text(self.sizes[k] + 0.01 * most, k, text, va="center", fontsize=7)
        self.ax_.set_yticks(np.arange(n), [plain(name) for name in self.names], fontsize=8)
        self.ax_.set(xlabel="rows", xlim=(0, 2.1 * most))
        self.ax_.invert_yaxis()
        return self


class ClusterLabelDisplay:
    """Heat map of clusters by labels: how many of a cluster's rows are in bags that list the label.

    Parameters
    ----------
    share : ndarray of shape (n_clusters, n_labels)
        Between 0 and 1.
    cluster_names, label_names : sequence of str
        What rows and columns are.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, share: np.ndarray, cluster_names: Sequence[Any], label_names: Sequence[Any]) -> None:
        self.share = np.asarray(share, dtype=float)
        self.cluster_names = [str(name) for name in cluster_names]
        self.label_names = [str(name) for name in label_names]

    @classmethod
    def from_estimator(cls, estimator: Any, bags: Any) -> ClusterLabelDisplay:
        """Cross the clusters of the training rows with the labels of their bags; unlabelled bags do not count."""
        bags = as_bags(bags, n_rows=len(estimator.labels_), classes=estimator.classes_)
        rows = np.flatnonzero(bags.is_labelled[bags.codes])
        members = np.zeros((len(estimator.cluster_names_), bags.n_bags))
        np.add.at(members, (estimator.labels_[rows], bags.codes[rows]), 1.0)
        sizes = members.sum(axis=1, keepdims=True)
        return cls((members @ bags.label_matrix) / np.maximum(sizes, 1), estimator.cluster_names_, bags.classes)

    def plot(self, ax: Any = None) -> ClusterLabelDisplay:
        """Draw on ``ax``, or on a new figure."""
        n, m = self.share.shape
        self.ax_ = axes(ax, size=(min(1.8 + 0.42 * m, 11.0), min(1.4 + 0.3 * n, 14.0)))
        self.figure_ = self.ax_.figure
        image = self.ax_.imshow(self.share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        labels, names = ([plain(name) for name in part] for part in (self.label_names, self.cluster_names))
        self.ax_.set_xticks(np.arange(m), labels, rotation=60, ha="right", fontsize=8)
        self.ax_.set_yticks(np.arange(n), names, fontsize=8)
        if n * m <= 200:
            for k, c in np.argwhere(self.share >= 0.005):
                dark = self.share[k, c] > 0.6
                text = f"{self.share[k, c]:.2f}"
                self.ax_.text(c, k, text, ha="center", va="center", fontsize=7, color="white" if dark else "#333333")
        self.ax_.tick_params(length=0)
        self.figure_.colorbar(image, ax=self.ax_, shrink=0.8, label="share of the cluster's rows")
        return self


class MovedRowsDisplay:
    """The rows whose posterior moved most when the labels of their bag were taken into account.

    Parameters
    ----------
    rows : sequence
        What users call these rows, the most moved first.
    before, after : sequence of str
        The name of each row by its features alone, and with its bag's labels.
    moved : sequence of float
        How much probability moved: half the sum of absolute differences, between 0 and 1.
    n_moved : int
        How many rows changed their name at all.
    n_rows : int
        How many rows there are.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(
        self,
        rows: Sequence[Any],
        before: Sequence[Any],
        after: Sequence[Any],
        moved: Sequence[float],
        n_moved: int,
        n_rows: int,
    ) -> None:
        self.rows, self.before, self.after = list(rows), list(before), list(after)
        self.moved, self.n_moved, self.n_rows = [float(m) for m in moved], int(n_moved), int(n_rows)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, bags: Any, *, row_ids: Any = None, n_shown: int = 20
    ) -> MovedRowsDisplay:
        """Compare the posteriors of a fitted ``CoverageClustering`` with and without the bags."""
        P, Q = estimator.predict_proba(X), estimator.predict_proba(X, bags=bags)
        before, after = estimator.predict_labels(X), estimator.predict_labels(X, bags=bags)
        return cls.from_posteriors(P, Q, before, after, row_ids=row_ids, n_shown=n_shown)

    @classmethod
    def from_posteriors(
        cls, P: np.ndarray, Q: np.ndarray, before: Any, after: Any, *, row_ids: Any = None, n_shown: int = 20
    ) -> MovedRowsDisplay:
        """Compare posteriors that are there already: P alone, Q with the bags, and what each calls the rows."""
        moved = 0.5 * np.abs(P - Q).sum(axis=1)
        ids = np.arange(len(P)) if row_ids is None else np.asarray(row_ids, dtype=object)
        order = np.argsort(-moved, kind="stable")[:n_shown]
        return cls(list(ids[order]), before[order], after[order], moved[order], (before != after).sum(), len(P))

    def plot(self, ax: Any = None) -> MovedRowsDisplay:
        """Draw on ``ax``, or on a new figure."""
        n = len(self.rows)
        self.ax_ = tidy(axes(ax, size=(6.4, 0.25 * n + 1.0)))
        self.figure_ = self.ax_.figure
        self.ax_.barh(np.arange(n), self.moved, color=colour(0), height=0.7)
        for i in range(n):
            text = f"{self.before[i]} → {self.after[i]}" if self.before[i] != self.after[i] else str(self.after[i])
            inside = {"color": "white", "ha": "right"} if self.moved[i] > 0.5 else {"ha": "left"}
            at = self.moved[i] + (-0.01 if self.moved[i] > 0.5 else 0.01)
            self.ax_.text(at, i, plain(text), va="center", fontsize=7, **inside)
        self.ax_.set_yticks(np.arange(n), [plain(f"row {row}") for row in self.rows], fontsize=7)
        self.ax_.set(xlabel="probability that moved", xlim=(0, 1.0))
        self.ax_.invert_yaxis()
        return self


class CountChoiceDisplay:
    """How a number of clusters, or the penalty, was chosen: the held-out likelihood of bags for every number tried.

    Parameters
    ----------
    name : str
        The parameter.
    tried : sequence of int or float
        The numbers tried.
    scores, errors : sequence of float
        Mean held-out log likelihood of a bag, and its standard error.
    chosen : int or float
        The number taken.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(
        self, name: str, tried: Sequence[float], scores: Sequence[float], errors: Sequence[float], chosen: float
    ) -> None:
        self.name, self.tried, self.scores, self.errors, self.chosen = name, tried, scores, errors, chosen

    @classmethod
    def from_estimator(cls, estimator: Any, name: str | None = None) -> CountChoiceDisplay:
        """Show the choice of a ``CoverageClustering`` fitted with ``"auto"``; ``name`` when it chose several."""
        numbers = [name for name in estimator.choice_ if name != "boundary"]
        if not numbers:
            raise InvalidData(
                'CountChoiceDisplay needs a model fitted with n_subclusters="auto", n_novel="auto" or penalty="auto".'
            )
        name = name or numbers[0]
        if name not in numbers:
            raise UnknownName(f"{name!r} was not chosen but given. {nearest(name, numbers)}")
        return cls(name, **estimator.choice_[name])

    def plot(self, ax: Any = None) -> CountChoiceDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.0, 3.2)))
        self.figure_ = self.ax_.figure
        self.ax_.errorbar(self.tried, self.scores, self.errors, fmt="o-", color=colour(0), capsize=3)
        if self.name == "penalty":  # the best is taken, and its values are a decade apart
            self.ax_.set_xscale("log")
            self.ax_.minorticks_off()
        else:
            best = int(np.argmax(self.scores))
            self.ax_.axhline(self.scores[best] - self.errors[best], color="#999999", linewidth=0.8, linestyle="--")
        where = list(self.tried).index(self.chosen)
        self.ax_.plot([self.chosen], [self.scores[where]], "o", markersize=12, fillstyle="none", color=colour(1))
        self.ax_.set_xticks(list(self.tried), [f"{count:g}" for count in self.tried])
        self.ax_.set(xlabel=self.name, ylabel="held-out log likelihood of a bag")
        self.ax_.annotate(
            f"chosen: {self.chosen:g}",
            (self.chosen, self.scores[where]),
            (6, -14),
            textcoords="offset points",
            fontsize=8,
        )
        return self


def _few(things: Sequence[Any], longest: int = 24) -> str:
    text = ", ".join(str(thing) for thing in things)
    return text if len(text) <= longest else text[: longest - 1] + "…"
