"""The terms of DMNL ([Z17] eq. 3): the labels of bags, compact clusters or a smooth manifold, and near-disjoint labels.

H = P S^-1/2 with S the sizes of the labels, as the paper has it; sizes and shares are fixed while a term is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Valued = tuple[np.ndarray, np.ndarray]


def _each(term: Callable[[np.ndarray, np.ndarray], Valued], P: np.ndarray, log_P: np.ndarray) -> Valued:
    """Visit the leading axis one by one: sparse products have none."""
    values, gradients = zip(*(term(p, log_p) for p, log_p in zip(P, log_P)))
    return np.stack(values), np.stack(gradients)


@dataclass(frozen=True, slots=True)
class ListedLabels:
    """How far what the rows of each bag carry is from its list, for the known labels ([Z17] proposition 1).

    value = 1/2 * sum_bc told[b, c] * (Y[b, c] - sum_i shares[b, i] * P[i, c])^2        over the known labels c

    ``shares`` (bags x rows, sparse) holds 1 / (number of rows of the bag with the row's label), ``told`` is 0 where
    the list says nothing.
    """

    shares: Any
    Y: np.ndarray
    told: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        if P.ndim > 2:
            return _each(self, P, log_P)
        c = self.Y.shape[1]
        gap = self.told * (self.shares @ P[:, :c] - self.Y)
        G = np.zeros_like(P)
        G[:, :c] = P[:, :c] * (self.shares.T @ gap)
        return 0.5 * np.square(gap).sum(), G


@dataclass(frozen=True, slots=True)
class CompactClusters:
    """How little of the rows' spread lies between the labels ([Z17] proposition 2, k-means as a trace).

    value = -|A' H|^2        with A = scale * X, rows whose mean is 0

    A A' is never formed, and X is touched only by ``@``.
    """

    X: Any
    scale: float
    sizes: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        if P.ndim > 2:
            return _each(self, P, log_P)
        H = P / np.sqrt(self.sizes)
        between = self.scale * np.asarray(self.X.T @ H)
        back = self.scale * np.asarray(self.X @ between)
        return -np.square(between).sum(), -2.0 * H * back


@dataclass(frozen=True, slots=True)
class SmoothManifold:
    """How much the posteriors of neighbours differ, for a normalised symmetric adjacency ``N`` ([Z17] remark 1).

    value = Tr(P' (I - N) P)
    """

    N: Any

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        if P.ndim > 2:
            return _each(self, P, log_P)
        rough = P - self.N @ P
        return (P * rough).sum(), 2.0 * P * rough


@dataclass(frozen=True, slots=True)
class DisjointLabels:
    """How far the labels are from sharing no row: the constraint of [Z17] eq. (3) as a penalty.

    value = 1/2 * |H' H - I|^2
    """

    sizes: np.ndarray

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> Valued:
        H = P / np.sqrt(self.sizes)
        excess = np.swapaxes(H, -1, -2) @ H - np.eye(P.shape[-1])
        return 0.5 * np.square(excess).sum(axis=(-2, -1)), 2.0 * H * (H @ excess)
