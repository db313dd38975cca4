"""What alpha must become on a neighbour graph to mean what it means on dense similarities.

Rows of Q sum to class sizes whatever W is; degrees of a neighbour graph stay near k while those of dense similarities
grow with the rows, and the normalised graph has K eigenvalues near 1 where the dense matrix has them near 0.1. With
alpha left alone the constraints take over and every bag ends in one cluster. The scale keeps the balance that alpha
strikes on the dense similarities S of a sample of rows:

    scale = (n_S mean(1 / d_S)) / (n mean(1 / d)) / median_K(eigenvalues of D_S^-1/2 S D_S^-1/2)

The first ratio compares the traces of the normalised Q, label-free; the divisor the K eigenvalues that Q competes
with, which on the graph are taken as 1. No label enters, and the number of rows drops out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._affinity.components import degrees, similarity_components
from sidelight._affinity.local_scaling import dense_local_scaling
from sidelight._affinity.operators import NormalisedSum
from sidelight._affinity.spectral import leading_eigenvectors

SAMPLE = 2_000  # dense similarities of that many rows cost 0.1 s; 1,000 give the same alpha within 15 %
_TOL = 1e-2  # the median of eigenvalues needs no more


def graph_alpha_scale(
    X: Any, d: np.ndarray, n_clusters: int, *, t: int, generator: np.random.Generator, sample: int = SAMPLE
) -> float:
    """Return the factor for alpha on a graph with degrees ``d`` over the rows ``X`` (Euclidean distances)."""
    n_rows = X.shape[0]
    rows = np.sort(generator.choice(n_rows, size=min(n_rows, max(sample, 4 * n_clusters)), replace=False))
    S, _ = dense_local_scaling(X[rows], t)
    d_S = degrees(S)
    operator = NormalisedSum.of(S, d=d_S)
    k = min(n_clusters, len(rows))
    values, _ = leading_eigenvectors(
        operator, k, parts=similarity_components(S), generator=generator, tol=_TOL, dtype=S.dtype
    )
    middle = max(float(np.median(values)), np.finfo(np.float32).eps)
    return float(len(rows) * np.mean(1 / d_S) / (n_rows * np.mean(1 / d)) / middle)
