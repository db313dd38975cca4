"""Pictures of clusters of rows in labelled bags: the embedding, clusters against classes, and a curve over alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.errors import InvalidData
from sidelight.estimators.instances.class_shares import ClusterReading
from sidelight.plot._axes import axes, colour, plain, tidy
from sidelight.plot.clusters import ClusterScatterDisplay
from sidelight.plot.layout import cluster_map


class EmbeddingDisplay(ClusterScatterDisplay):
    """The rows in a spectral embedding, on a map of their clusters.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, 2)
        Where each row is drawn.
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    names : sequence of str, optional
        Name of each cluster.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, names: Any = None) -> EmbeddingDisplay:
        """Draw the embedding that a fitted spectral method published; X is not needed."""
        if not hasattr(estimator, "embedding_"):
            raise InvalidData(f"{type(estimator).__name__} has no embedding_ to draw. Fit a spectral method first.")
        return cls(cluster_map(estimator.embedding_, estimator.labels_), np.asarray(estimator.labels_), names)

    def plot(self, ax: Any = None) -> EmbeddingDisplay:
        """Draw on ``ax``, or on a new figure."""
        super().plot(ax)
        self.ax_.set(xlabel="first direction of the embedding", ylabel="second direction of the embedding")
        return self


class ClusterClassDisplay:
    """What each cluster is made of: clusters down, classes across, shares as shades.

    Parameters
    ----------
    shares : ndarray of shape (n_clusters, n_classes)
        Share of each class in each cluster.
    classes : sequence
        Names of the classes.
    names : sequence of str, optional
        Names of the clusters.
    sizes : sequence of int, optional
        Rows of each cluster, shown beside the names.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, shares: np.ndarray, classes: Sequence[Any], names: Any = None, sizes: Any = None) -> None:
        self.shares = np.asarray(shares, dtype=float)
        self.classes = [str(c) for c in classes]
        self.names = [str(n) for n in (names if names is not None else range(len(self.shares)))]
        self.sizes = None if sizes is None else [int(s) for s in sizes]

    @classmethod
    def from_estimator(cls, estimator: Any, *, bags: Any = None) -> ClusterClassDisplay:
        """Read the clusters of a fitted estimator by the labels of its bags."""
        return cls.from_reading(ClusterReading.from_estimator(estimator, bags=bags))

    @classmethod
    def from_reading(cls, reading: ClusterReading) -> ClusterClassDisplay:
        """Draw a reading that was made already."""
        return cls(reading.shares, reading.classes, reading.names, reading.sizes)

    def plot(self, ax: Any = None) -> ClusterClassDisplay:
        """Draw on ``ax``, or on a new figure; clusters of one class come together."""
        K, C = self.shares.shape
        size = (min(2.6 + 0.42 * C, 14), min(1.4 + 0.27 * K, 14))
        self.ax_ = axes(ax, size=size)
        self.figure_ = self.ax_.figure
        order = np.lexsort((-self.shares.max(axis=1, initial=0), self.shares.argmax(axis=1) if C else np.zeros(K)))
        drawn = self.ax_.imshow(self.shares[order], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        labels = [self.names[k] + (f"  ({self.sizes[k]})" if self.sizes else "") for k in order]
        self.ax_.set_yticks(range(K), [plain(label) for label in labels], fontsize=8)
        classes = [plain(name) for name in self.classes]
        self.ax_.set_xticks(range(C), classes, fontsize=8, rotation=45, ha="right", rotation_mode="anchor")
        if K * C <= 600:
            for row, k in enumerate(order):
                for c in np.flatnonzero(self.shares[k] >= 0.05):
                    shade = "white" if self.shares[k, c] > 0.6 else "black"
                    self.ax_.text(
                        c, row, f"{100 * self.shares[k, c]:.0f}", ha="center", va="center", fontsize=7, color=shade
                    )
        self.ax_.set(xlabel="class (from bag labels)", ylabel="cluster (rows)" if self.sizes else "cluster")
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)
        bar = self.figure_.colorbar(drawn, ax=self.ax_, fraction=0.03, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8)
        bar.set_label("share of the cluster", fontsize=8)
        return self


class AlphaCurveDisplay:
    """Something measured over alpha, the weight of the bag constraints ([PF14] figure 1).

    Parameters
    ----------
    alphas : sequence of float
        The weights.
    curves : mapping of str to sequence of float
        What was measured at each of them, by name.
    chosen : float, optional
        The weight that was chosen.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(
        self, alphas: Sequence[float], curves: Mapping[str, Sequence[float]], chosen: float | None = None
    ) -> None:
        self.alphas = list(alphas)
        self.curves = {name: list(values) for name, values in curves.items()}
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, estimator: Any) -> AlphaCurveDisplay:
        """Draw what a fit with ``alpha="auto"`` measured: how well clusters carry the label sets of bags."""
        search = getattr(estimator, "alpha_search_", None)
        if not search:
            raise InvalidData('There is no search over alpha to draw. Fit BagSpectralClustering with alpha="auto".')
        return cls(search["alpha"], {"agreement with bag labels": search["agreement"]}, search["chosen"])

    @classmethod
    def from_truth(cls, estimator: Any, X: Any, y: Any, *, bags: Any, alphas: Sequence[float]) -> AlphaCurveDisplay:
        """Fit at every weight and measure purity against true classes ``y``, and how many bags ended in one cluster."""
        from sklearn.base import clone

        from sidelight.metrics import purity, single_cluster_share

        fits = [clone(estimator).set_params(alpha=alpha).fit(X, bags=bags).labels_ for alpha in alphas]
        curves = {
            "purity": [purity(y, labels) for labels in fits],
            "multi-label bags in one cluster": [single_cluster_share(labels, bags) for labels in fits],
        }
        return cls(alphas, curves)

    def plot(self, ax: Any = None) -> AlphaCurveDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.2, 3.2)))
        self.figure_ = self.ax_.figure
        for number, (name, values) in enumerate(self.curves.items()):
            self.ax_.plot(self.alphas, values, "o-", ms=4, color=colour(number), label=plain(name))
        if all(0 <= v <= 1 for values in self.curves.values() for v in values):
            self.ax_.set_ylim(0, 1.05)  # shares: differences should look as small as they are
        if self.chosen is not None:
            self.ax_.axvline(self.chosen, color="#999999", lw=1, ls="--")
            self.ax_.annotate(f"chosen: {self.chosen:g}", (self.chosen, self.ax_.get_ylim()[0]), fontsize=8,
                              xytext=(4, 4), textcoords="offset points")  # fmt: skip
        self.ax_.set(xlabel="alpha, the weight of the bags")
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(fontsize=8, frameon=False)
        return self
