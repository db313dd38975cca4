"""Features of rows on their neighbour graph: rows joined by many short paths lie close together.

With A = D^-1/2 W D^-1/2 of a self-tuned graph of nearest rows and (lambda, V) its leading eigenvectors, the features
are the rows of D^-1/2 V (1 - lambda + delta)^-1/2, scaled to unit length: a regularised commute-time embedding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._affinity.components import degrees, similarity_components
from sidelight._affinity.local_scaling import graph_local_scaling
from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.operators import NormalisedSum
from sidelight._affinity.spectral import leading_eigenvectors, unit_rows

Floats = npt.NDArray[np.float64]

DELTA = 0.02  # keeps components, whose lambda is 1, from counting without bound
FAINT = 1e-6  # similarity that is added to every edge, so that no row is left without any
TOLERANCE = 1e-3  # relative accuracy of the eigenvalues; the features are coordinates, not results


def graph_features(
    X: Any, n_features: int, *, generator: np.random.Generator, n_neighbours: int = 10, sharp: bool = False
) -> Floats:
    """Return at most ``n_features`` features of every row of X from its graph of nearest rows.

    ``sharp`` squares the similarities and leaves out those of rows with themselves: near rows count for more.
    """
    W, _ = graph_local_scaling(nearest_rows(X, n_neighbours, generator=generator))
    if sharp:
        W.setdiag(0.0)
        W.eliminate_zeros()
        W.data = W.data**2 + W.dtype.type(FAINT)
    operator = NormalisedSum.of(W)
    k = min(n_features, X.shape[0])
    parts = similarity_components(W)
    values, V = leading_eigenvectors(operator, k, parts=parts, generator=generator, tol=TOLERANCE, dtype=W.dtype)
    weights = 1.0 / np.sqrt(np.maximum(1.0 - values, 0.0) + DELTA)
    return np.asarray(unit_rows(V.astype(np.float64) * weights / np.sqrt(degrees(W))[:, None]))
