"""Pictures of clustered bags: the rows that decided, how sure they were, and what the balance does to the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidData, ignore_warnings
from sidelight.plot._axes import axes, colour, tidy
from sidelight.plot.layout import main_directions

_MOST_POINTS = 4000  # more grey dots than this only slow the viewer down
_MOST_BAGS = 1500  # the same for lines from witnesses to their bags


class BagWitnessDisplay:
    """Bags by cluster: the witness of each bag as a coloured dot, tied to the other rows of its bag.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, 2)
        Where each row is drawn.
    witnesses : ndarray of shape (n_bags,)
        The deciding row of each bag.
    bag_labels : ndarray of shape (n_bags,)
        Cluster of each bag.
    codes : ndarray of shape (n_rows,)
        The bag of each row.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, coordinates: Any, witnesses: Any, bag_labels: Any, codes: Any) -> None:
        self.coordinates = np.asarray(coordinates)
        self.witnesses = np.asarray(witnesses)
        self.bag_labels = np.asarray(bag_labels)
        self.codes = np.asarray(codes)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, bags: Any = None) -> BagWitnessDisplay:
        """Draw the bags that a fitted estimator with ``witnesses_`` saw.

        Parameters
        ----------
        estimator : MaxMarginBagClustering or MaxMarginBagClusteringCV
            Fitted on these rows.
        X : array or CSR matrix of shape (n_rows, n_features)
            The rows; scale them as you want to see them.
        bags : Bags or sequence of bag ids, optional
            The bag of each row.
        """
        found = as_bags(bags, n_rows=X.shape[0])
        if found.n_bags != len(estimator.witnesses_):
            raise InvalidData(
                f"BagWitnessDisplay got {found.n_bags} bags for an estimator fitted on {len(estimator.witnesses_)}. "
                "Pass the rows and bags that fit saw."
            )
        return cls(main_directions(X), estimator.witnesses_, estimator.bag_labels_, found.codes)

    def plot(self, ax: Any = None) -> BagWitnessDisplay:
        """Draw on ``ax``, or on a new figure."""
        from matplotlib.collections import LineCollection

        self.ax_ = tidy(axes(ax, size=(6.4, 4.8)))
        self.figure_ = self.ax_.figure
        generator = np.random.default_rng(0)
        rows = np.arange(len(self.coordinates))
        rows = rows if len(rows) <= _MOST_POINTS else generator.choice(rows, _MOST_POINTS, replace=False)
        shown = np.unique(self.codes[rows])
        shown = shown if len(shown) <= _MOST_BAGS else generator.choice(shown, _MOST_BAGS, replace=False)
        tied = rows[np.isin(self.codes[rows], shown)]
        ties = np.stack([self.coordinates[tied], self.coordinates[self.witnesses[self.codes[tied]]]], axis=1)
        self.ax_.add_collection(LineCollection(list(ties), colors="#dddddd", linewidths=0.4, zorder=1))
        self.ax_.scatter(*self.coordinates[rows].T, c="#b5b5b5", s=5, linewidths=0, zorder=2, label="other rows")
        for k in range(int(self.bag_labels.max()) + 1):
            at = self.coordinates[self.witnesses[shown][self.bag_labels[shown] == k]]
            if len(at):
                name = f"witnesses of cluster {k}"
                self.ax_.scatter(*at.T, color=colour(k), s=22, linewidths=0.3, edgecolors="white", zorder=3, label=name)
        self.ax_.legend(fontsize=7, frameon=False, loc="best", markerscale=1.3)
        self.ax_.set(xlabel="first main direction", ylabel="second main direction")
        return self


class BagMarginDisplay:
    """How many bags reach which margin, stacked by cluster; left of 1 the bags were paid for.

    Parameters
    ----------
    margins : ndarray of shape (n_bags,)
        The margin of each bag's witness.
    bag_labels : ndarray of shape (n_bags,)
        Cluster of each bag.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, margins: Any, bag_labels: Any) -> None:
        self.margins = np.asarray(margins)
        self.bag_labels = np.asarray(bag_labels)

    @classmethod
    def from_estimator(cls, estimator: Any) -> BagMarginDisplay:
        """Draw the margins of the bags that a fitted estimator saw."""
        return cls(estimator.bag_margins_, estimator.bag_labels_)

    def plot(self, ax: Any = None) -> BagMarginDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(6.0, 3.4)))
        self.figure_ = self.ax_.figure
        clusters = np.unique(self.bag_labels)
        groups = [self.margins[self.bag_labels == k] for k in clusters]
        high = max(1.2, float(self.margins.max()))
        bins = np.linspace(min(0.0, float(self.margins.min())), high, 31)
        names, colours = [f"cluster {k}" for k in clusters], [colour(int(k)) for k in clusters]
        self.ax_.hist(groups, bins=bins, stacked=True, color=colours, label=names)
        self.ax_.axvline(1.0, color="#333333", linewidth=1, linestyle="--")
        low, high = self.ax_.get_ylim()
        self.ax_.set_ylim(low, 1.12 * high)  # room for the words above the bars
        self.ax_.annotate(" margin of 1", (1.0, 0.99), xycoords=("data", "axes fraction"), fontsize=8, va="top")
        self.ax_.yaxis.get_major_locator().set_params(integer=True)
        self.ax_.legend(fontsize=7, frameon=False)
        self.ax_.set(xlabel="margin of the bag", ylabel="bags")
        return self


class BalanceSizesDisplay:
    """Cluster sizes over ``balance``: how far it may loosen before one cluster takes everything.

    Parameters
    ----------
    balances : sequence of float
        The values tried.
    sizes : ndarray of shape (n_balances, n_clusters)
        Number of bags in each cluster, largest first.
    chosen : float, optional
        The value in use, marked in the picture.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, balances: Sequence[float], sizes: Any, chosen: float | None = None) -> None:
        self.balances = [float(balance) for balance in balances]
        self.sizes = np.asarray(sizes)
        self.chosen = chosen

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, bags: Any = None, balances: Sequence[float] = (0.0, 0.1, 1.0, 10.0, 100.0)
    ) -> BalanceSizesDisplay:
        """Fit a copy of ``estimator`` with the paper's margin for each balance and count its bags by cluster.

        Parameters
        ----------
        estimator : MaxMarginBagClustering
            Fitted or not; it is left alone.
        X, bags
            The rows and their bags.
        balances : sequence of float
            The values to try.
        """
        sizes = []
        for balance in balances:
            with ignore_warnings():  # a loose balance is drawn to show what it does
                fitted = clone(estimator).set_params(margin="paper", balance=balance).fit(X, bags=bags)
            sizes.append(np.sort(np.bincount(fitted.bag_labels_, minlength=fitted.n_clusters))[::-1])
        return cls(balances, np.array(sizes), estimator.balance)

    def plot(self, ax: Any = None) -> BalanceSizesDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(6.0, 3.2)))
        self.figure_ = self.ax_.figure
        places = np.arange(len(self.balances))
        below = np.zeros(len(places))
        for rank, sizes in enumerate(self.sizes.T):
            self.ax_.bar(places, sizes, bottom=below, width=0.7, color=colour(rank), edgecolor="white", linewidth=0.8)
            below += sizes
        names = [f"{b:g}" + ("\n(in use)" if b == self.chosen else "") for b in self.balances]
        self.ax_.set_xticks(places, names)
        self.ax_.set(xlabel="balance", ylabel="bags, largest cluster first")
        return self


class StabilityDisplay:
    """How a number of clusters was chosen: agreement of the clusters that two halves of the code books give.

    Parameters
    ----------
    tried : sequence of int
        The numbers tried.
    scores, errors : sequence of float
        Mean adjusted Rand index (1: the same clusters, 0: chance), and its standard error.
    chosen : int
        The number taken.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, tried: Sequence[int], scores: Sequence[float], errors: Sequence[float], chosen: int) -> None:
        self.tried, self.scores, self.errors, self.chosen = list(tried), list(scores), list(errors), int(chosen)

    @classmethod
    def from_estimator(cls, estimator: Any) -> StabilityDisplay:
        """Show the choice of a ``BagWordClustering`` that was fitted without ``n_clusters``."""
        if not estimator.choice_:
            raise InvalidData("StabilityDisplay needs a model that chose its number of clusters: n_clusters=None.")
        return cls(**estimator.choice_)

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.0, 3.2)))
        self.figure_ = self.ax_.figure
        self.ax_.errorbar(self.tried, self.scores, self.errors, fmt="o-", color=colour(0), capsize=3)
        at = (self.chosen, self.scores[self.tried.index(self.chosen)])
        self.ax_.plot(*at, "o", markersize=12, fillstyle="none", color=colour(1))
        self.ax_.annotate(f"chosen: {self.chosen}", at, (8, 6), textcoords="offset points", fontsize=8)
        self.ax_.set_xticks(self.tried)
        self.ax_.set(xlabel="clusters", ylabel="agreement of two halves")
        return self
