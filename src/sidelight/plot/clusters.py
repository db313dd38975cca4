"""Pictures of clusters of rows: a map of the rows, and typical rows as images."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.errors import InvalidData
from sidelight.plot._axes import axes, colour, figure, plain, tidy
from sidelight.plot.layout import cluster_map

_MOST_POINTS = 5000  # more dots than this hide each other and slow every viewer down


class ClusterScatterDisplay:
    """Rows on a map of their clusters, coloured by cluster: alike clusters lie near each other, doubtful rows between.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, 2)
        Where each row is drawn.
    labels : ndarray of shape (n_rows,)
        Cluster of each row; -1 is drawn in grey.
    names : sequence of str, optional
        Name of each cluster.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, coordinates: np.ndarray, labels: np.ndarray, names: Any = None) -> None:
        self.coordinates = np.asarray(coordinates)
        self.labels = np.asarray(labels)
        count = int(self.labels.max(initial=-1)) + 1
        self.names = [str(n) for n in (names if names is not None else range(count))]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, names: Any = None) -> ClusterScatterDisplay:
        """Draw the clusters that a fitted estimator published for its training rows X."""
        labels = np.asarray(estimator.labels_)
        if X.shape[0] != len(labels):
            raise InvalidData(
                f"ClusterScatterDisplay got {X.shape[0]} rows for an estimator fitted on {len(labels)}. "
                "Pass the rows that fit saw."
            )
        return cls(cluster_map(X, labels), labels, names)

    def plot(self, ax: Any = None) -> ClusterScatterDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(6.4, 4.6)))
        self.figure_ = self.ax_.figure
        chosen = np.arange(len(self.labels))
        if len(chosen) > _MOST_POINTS:
            chosen = np.random.default_rng(0).choice(chosen, _MOST_POINTS, replace=False)
        colours = np.array(["#bbbbbb" if k < 0 else colour(int(k)) for k in self.labels[chosen]])
        self.ax_.scatter(*self.coordinates[chosen].T, c=colours, s=9, linewidths=0, alpha=0.75)
        for k, name in enumerate(self.names):
            inside = self.labels == k
            if inside.any():
                x, y = np.median(self.coordinates[inside], axis=0)
                box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": colour(k), "alpha": 0.85}
                self.ax_.annotate(plain(name), (x, y), ha="center", va="center", fontsize=8, bbox=box)
        self.ax_.set(xticks=[], yticks=[])
        return self


class TypicalImagesDisplay:
    """The surest rows of each cluster, one line of small images per cluster.

    Parameters
    ----------
    images : ndarray of shape (n_clusters, n_shown, height, width)
        The images, surest first.
    names : sequence of str, optional
        Name of each cluster.

    Attributes
    ----------
    figure_ : matplotlib figure
        Set by :meth:`plot`.
    """

    def __init__(self, images: list[np.ndarray], names: Any = None) -> None:
        self.images = images
        self.names = [str(n) for n in (names if names is not None else range(len(images)))]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, images: np.ndarray, *, n_shown: int = 12, names: Any = None
    ) -> TypicalImagesDisplay:
        """Show the rows with the highest posterior in each cluster of a fitted estimator."""
        P = estimator.predict_proba(X)
        labels = np.argmax(P, axis=1)
        shown = []
        for k in range(P.shape[1]):
            rows = np.flatnonzero(labels == k)
            shown.append(images[rows[np.argsort(-P[rows, k], kind="stable")][:n_shown]])
        return cls(shown, names)

    def plot(self, ax: Any = None) -> TypicalImagesDisplay:
        """Draw on a new figure, or inside ``ax`` as one mosaic."""
        height, width = next((group.shape[1:] for group in self.images if len(group)), (1, 1))
        columns = max((len(group) for group in self.images), default=1) or 1
        mosaic = np.full((len(self.images) * (height + 2), columns * (width + 2)), np.nan)
        for k, group in enumerate(self.images):
            for i, image in enumerate(group):
                top, left = k * (height + 2) + 1, i * (width + 2) + 1
                mosaic[top : top + height, left : left + width] = image
        self.ax_ = ax if ax is not None else figure((6.4, 5.5 * mosaic.shape[0] / mosaic.shape[1] + 0.2)).subplots()
        self.figure_ = self.ax_.figure
        self.ax_.imshow(mosaic, cmap="gray_r", interpolation="nearest")
        centres = np.arange(len(self.images)) * (height + 2) + (height + 1) / 2
        self.ax_.set_yticks(centres, [plain(f"cluster {name}") for name in self.names], fontsize=8)
        self.ax_.set_xticks([])
        self.ax_.spines[:].set_visible(False)
        self.ax_.tick_params(length=0)
        return self
