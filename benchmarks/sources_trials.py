"""What [B04] prints, mentions or proposes and we do otherwise: a schedule, weights in an RKHS, paired mixtures.

They are tried on generated people and live with the benchmarks: none is better than what the library has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.cluster import KMeans

from sidelight._solvers.descent import descend
from sidelight.estimators.sources._coclusterer import table_to_fit
from sidelight.estimators.sources._sweeps.cluster_state import OBJECTIVES, State, metropolis
from sidelight.estimators.sources.annealed import AnnealedCoclustering, _proposals

HOT, COLD, COOLING, SWEEPS = 5.0, 0.005, 0.98, 5  # [B04] 4.3.3


def printed_schedule(table: Any, n_clusters: int, seed: int) -> tuple[np.ndarray, float, float]:
    """Anneal from T = 5 to 0.005 by 0.98, as printed; return face labels, the objective at the end and its best."""
    joint = table_to_fit(AnnealedCoclustering(), table)
    cells, rng = joint.sorted_cells(), np.random.default_rng(seed)
    clusters = tuple(n_clusters for _ in table.shape)
    state = State(cells, clusters, [rng.integers(n_clusters, size=n).astype(np.intp) for n in table.shape])
    temperature, best = HOT, -np.inf
    while temperature >= COLD:
        metropolis(state.arrays, *_proposals(state, SWEEPS, rng), temperature, OBJECTIVES["information"])
        best = max(best, state.value(OBJECTIVES["information"]))
        temperature *= COOLING
    state.refresh()
    return state.by_axis()[0], float(state.value(OBJECTIVES["information"])), best


def kernel_weights(
    P: np.ndarray, kernels: tuple[np.ndarray, np.ndarray], n_clusters: int, lam: float, seed: int
) -> tuple[np.ndarray, float]:
    """Maximise (5.1) in its factored form over an RKHS; return row labels and the information that hard labels keep.

    h_row(x^, x) = softmax over x^ of sum_x' c[x', x^] K(x', x), which meets the constraint that a point has one
    cluster in all; the penalty is lam (tr c' K c) for rows and columns.
    """
    rng = np.random.default_rng(seed)
    sizes = [len(kernel) for kernel in kernels]
    start = 3.0 * rng.standard_normal(sum(sizes) * n_clusters)  # even weights are a saddle, whatever the table

    def objective(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c = [part.reshape(-1, n_clusters) for part in np.split(theta, [sizes[0] * n_clusters])]
        scores = [K @ one for K, one in zip(kernels, c)]
        R, S = (softmax(score, axis=1) for score in scores)
        Q = R.T @ P @ S
        G = np.log(np.maximum(Q, 1e-300)) - np.log(np.maximum(np.outer(Q.sum(1), Q.sum(0)), 1e-300))
        value = -(Q * G).sum() + lam * sum(float((one * score).sum()) for one, score in zip(c, scores))
        slopes = [_through(R, P @ S @ G.T), _through(S, P.T @ R @ G)]  # the margins of Q add constants, which drop out
        gradient = [K @ (2 * lam * one - slope) for K, one, slope in zip(kernels, c, slopes)]
        return np.asarray(value), np.concatenate([g.ravel() for g in gradient])

    theta = descend(objective, start, max_iter=300, tol=1e-9).parameters
    c = [part.reshape(-1, n_clusters) for part in np.split(theta, [sizes[0] * n_clusters])]
    rows, columns = (np.argmax(K @ one, axis=1) for K, one in zip(kernels, c))
    Q = np.eye(n_clusters)[rows].T @ P @ np.eye(n_clusters)[columns]
    kept = Q * (np.log(np.maximum(Q, 1e-300)) - np.log(np.maximum(np.outer(Q.sum(1), Q.sum(0)), 1e-300)))
    return rows, float(kept.sum())


def _through(R: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Pull a gradient back through a softmax over clusters."""
    return np.asarray(R * (G - (R * G).sum(axis=1, keepdims=True)))


def gaussian_kernel(centres: np.ndarray) -> np.ndarray:
    """Similarity of codes by the places of their prototypes; the width is the median distance."""
    d2 = ((centres[:, None] - centres[None]) ** 2).sum(axis=-1)
    return np.asarray(np.exp(-d2 / np.median(d2[d2 > 0])))


def paired_mixtures(channels: list[np.ndarray], n_clusters: int, beta: float, seed: int) -> list[np.ndarray]:
    """EM of one mixture a channel, whose posteriors are a Boltzmann distribution over pairings with the other's.

    r[i, k] ~ p(k) p(x_i | k) r_other[i, k]^beta: beta = 0 is each channel alone. Clusters are paired by number: the
    second mixture starts from the labels of the first.
    """
    start = KMeans(n_clusters, n_init=4, random_state=seed).fit_predict(channels[0])
    own = [start if beta else KMeans(n_clusters, n_init=4, random_state=seed).fit_predict(X) for X in channels]
    posteriors = [np.eye(n_clusters)[labels] for labels in own]
    for _ in range(50):
        densities = [_log_densities(X, r) for X, r in zip(channels, posteriors)]
        logs = [np.log(np.maximum(r, 1e-12)) for r in posteriors]
        for at, (density, other) in enumerate(zip(densities, reversed(logs))):
            together = density + beta * other
            posteriors[at] = np.exp(together - logsumexp(together, axis=1, keepdims=True))
    return [r.argmax(axis=1) for r in posteriors]


def _log_densities(X: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return log p(k) + log p(x_i | k) of Gaussians with one variance a feature and cluster, fitted to r."""
    total = r.sum(axis=0) + 1e-9
    means = r.T @ X / total[:, None]
    variances = np.maximum(r.T @ X**2 / total[:, None] - means**2, 1e-3 * X.var(axis=0))
    out = np.empty_like(r)
    for k in range(r.shape[1]):
        out[:, k] = -0.5 * (np.log(variances[k]).sum() + ((X - means[k]) ** 2 / variances[k]).sum(axis=1))
    return out + np.log(total / total.sum())
