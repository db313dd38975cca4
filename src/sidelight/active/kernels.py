"""Several views of how alike rows are, each as explicit features: inner products of the features are the kernel.

Which view suits is not known beforehand: straight or curved, along the raw or the whitened directions, or along the
graph of nearest rows. A belief weighs them by the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._affinity.graph_features import graph_features
from sidelight._affinity.neighbours import nearest_of
from sidelight._affinity.spectral import unit_rows
from sidelight._core.threads import one_blas_thread
from sidelight._models.feature_map import FeatureMap

Floats = npt.NDArray[np.floating[Any]]

MOST_COLUMNS = 200  # wider rows are looked at along their leading directions
LANDMARKS = 300
N_GRAPH = 100
NEIGHBOURS = 5  # known rows whose graph features a new row takes the mean of
SMALLEST = 1e-5  # directions with a smaller share of the largest spread are rounding, and are not whitened
CONSTANT = 0.3  # of the straight views: a bias that rows share
TIGHT = 0.25  # width of the second curved view, of the median squared distance: half the length scale


@dataclass(frozen=True, slots=True, eq=False)
class RowKernels:
    """The features of every row in each view, float32, rows of about unit length; and how to get those of new rows."""

    views: dict[str, Floats]
    straight: FeatureMap
    whitening: Floats
    curved: dict[str, FeatureMap]
    known: Floats

    @classmethod
    def of(cls, X: Any, generator: np.random.Generator) -> RowKernels:
        """Look at the rows of X."""
        with one_blas_thread():
            straight = FeatureMap.learn(X, generator=generator, n_landmarks=0, most_columns=MOST_COLUMNS)
            rows = straight(X)
            whitening = _whitening(rows)
            white = rows @ whitening
            curved = {
                "curved": _map(rows, 1.0, generator),
                "tightly curved": _map(rows, TIGHT, generator),
                "whitened curved": _map(white, 1.0, generator),
            }
            graphs = {}
            if len(rows) > NEIGHBOURS:
                graphs = {
                    "graph": graph_features(rows, N_GRAPH, generator=generator, sharp=True),
                    "whitened graph": graph_features(white, N_GRAPH, generator=generator, sharp=True),
                }
            kernels = cls({}, straight, whitening, curved, rows)
            kernels.views.update(kernels._explicit(rows, white))
            kernels.views.update({name: graph.astype(np.float32) for name, graph in graphs.items()})
        return kernels

    def of_new(self, X: Any) -> dict[str, Floats]:
        """Return the features of new rows; on the graph they take the mean of their nearest known rows."""
        rows = self.straight(X)
        white = rows @ self.whitening
        views = self._explicit(rows, white)
        for name, new, known in (("graph", rows, self.known), ("whitened graph", white, self.known @ self.whitening)):
            if name in self.views:
                near, _ = nearest_of(known, new, NEIGHBOURS)
                views[name] = unit_rows(self.views[name][near].mean(axis=1))
        return views

    def _explicit(self, rows: Floats, white: Floats) -> dict[str, Floats]:
        views = {"straight": _with_constant(rows), "whitened": _with_constant(white)}
        for name, bend in self.curved.items():
            if len(bend.landmarks):
                views[name] = unit_rows(bend.curved(white if name.startswith("whitened") else rows))
        return {name: np.ascontiguousarray(view, dtype=np.float32) for name, view in views.items()}


def _whitening(rows: Floats) -> Floats:
    _, spreads, directions = np.linalg.svd(rows, full_matrices=False)
    kept = spreads > SMALLEST * max(float(spreads[0]), np.finfo(float).tiny)
    if not kept.any():
        return np.zeros((rows.shape[1], 1))
    return np.asarray(directions[kept].T / spreads[kept] * np.sqrt(len(rows) / kept.sum()))


def _with_constant(rows: Floats) -> Floats:
    return np.column_stack([rows, np.full(len(rows), CONSTANT)])


def _map(rows: Floats, width: float, generator: np.random.Generator) -> FeatureMap:
    return FeatureMap.learn(
        rows, generator=generator, n_landmarks=LANDMARKS, width=width, rank=None, unit_rows=False, most_columns=None
    )
