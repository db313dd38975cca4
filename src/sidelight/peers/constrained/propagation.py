"""Constraint propagation on a neighbour graph: E2CP (Lu and Ip 2010), without a matrix of rows by rows.

Z holds 1 for alike and -1 for differing pairs. With S = D^-1/2 W D^-1/2 of a neighbour graph, the paper spreads Z along
the rows and along the columns, F = (1 - a)^2 (I - a S)^-1 Z (I - a S)^-1, and raises or lowers the similarities:

    w <- 1 - (1 - F)(1 - w)  where F >= 0,      w <- (1 + F) w  where F < 0.

Here S = V diag(s) V' with its leading eigenvectors, so F_ij = u_i' B u_j with U = V (1 - a) / (1 - a s) and B = V' Z V:
two thin matrices. F is needed only along the edges of the graph and at the answered pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight._affinity.links import similarity_components
from sidelight._affinity.neighbours import nearest_of, nearest_rows
from sidelight._affinity.similarities import graph_local_scaling
from sidelight._affinity.spectral import NormalisedSum, leading_eigenvectors, unit_rows
from sidelight._core.params import as_seed, check_number
from sidelight._core.process import one_blas_thread
from sidelight._core.prototypes import round_by_kmeans
from sidelight.data.relations import Pairs, Triplets
from sidelight.peers._clusterer import AnswerClusterer
from sidelight.peers._links import Links
from sidelight.progress import report

TOLERANCE = 1e-4  # relative accuracy of the eigenvalues
KMEANS_STARTS = 10  # of the rounding


class ConstraintPropagation(AnswerClusterer):
    """Cluster rows on a neighbour graph whose similarities follow the answers, spread to the neighbours.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_neighbors : int, default=10
        Neighbours of a row in the graph.
    alpha : float, default=0.8
        How far answers spread, in (0, 1).
    n_vectors : int, default=100
        Eigenvectors that answers are spread by.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the eigenvectors and of the rounding.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    rows_ : array or CSR matrix
        The rows of ``fit``: ``predict`` lets the neighbours of a row vote.
    strength_ : float
        The factor that makes F 1 at the median answered pair.
    violated_ : dict
        ``"pairs"`` and ``"triplets"``: the numbers of the answers that ``labels_`` breaks.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    References
    ----------
    Z. Lu and H. H. S. Ip, "Constrained spectral clustering via exhaustive and efficient constraint propagation",
    ECCV 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 4 * np.repeat([[0, 0], [1, 1]], 20, axis=0)
    >>> labels = sl.peers.ConstraintPropagation(2, random_state=0).fit(X, pairs=[(0, 39, "different")]).labels_
    >>> bool(labels[0] != labels[39])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 10,
        alpha: float = 0.8,
        n_vectors: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_vectors = n_vectors
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self, "alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        for name in ("n_neighbors", "n_vectors"):
            check_number(self, name, getattr(self, name), integer=True, low=1)

    def _learn(self, X: Any, pairs: Pairs, triplets: Triplets, generator: np.random.Generator) -> None:
        links, K = Links.of(pairs, triplets), self.n_clusters
        report("neighbour graph", 0, 3)
        if X.shape[0] > 1:
            W, _ = graph_local_scaling(nearest_rows(X, self.n_neighbors, generator=generator))
            W = sp.csr_array(W, dtype=np.float64)
        else:
            W = sp.csr_array((1, 1))
        self.strength_ = 0.0
        if len(links.rows) and X.shape[0] > 2:
            report("spreading the answers", 1, 3)
            W = self._adjusted(W, links, generator)
        report("spectral clusters", 2, 3)
        k = min(K, X.shape[0])
        _, V = _eigenvectors(W, k, generator)
        with one_blas_thread():
            self.labels_ = round_by_kmeans(unit_rows(V), K, seed=as_seed(generator), n_init=KMEANS_STARTS)
        self.rows_ = X

    def _adjusted(self, W: Any, links: Links, generator: np.random.Generator) -> Any:
        """Return the similarities after the answers were spread."""
        values, V = _eigenvectors(W, min(self.n_vectors, W.shape[0]), generator)
        left, U = spread(values, V, links, self.alpha)
        at_answers = (left[links.rows[:, 0]] * U[links.rows[:, 1]]).sum(axis=1)
        self.strength_ = 1.0 / max(float(np.median(np.abs(at_answers))), np.finfo(float).tiny)
        rows = np.concatenate([links.rows, links.rows[:, ::-1]])
        joined = sp.csr_array((np.full(len(rows), np.finfo(float).tiny), (rows[:, 0], rows[:, 1])), shape=W.shape)
        edges = (W + joined).tocoo()
        F = np.clip(self.strength_ * (left[edges.row] * U[edges.col]).sum(axis=1), -1.0, 1.0)
        w = np.clip(edges.data, 0.0, 1.0)
        raised = np.where(F >= 0, 1.0 - (1.0 - F) * (1.0 - w), (1.0 + F) * w)
        changed = sp.csr_array((raised, (edges.row, edges.col)), shape=W.shape)
        changed = (changed + changed.T) / 2.0
        changed.eliminate_zeros()
        return sp.csr_array(changed)

    def _distances(self, X: Any) -> np.ndarray:
        """Minus the share of the neighbours' votes; nearer rows count more."""
        indices, distances = nearest_of(self.rows_, X, min(self.n_neighbors, self.rows_.shape[0]))
        scale = np.maximum(distances.mean(axis=1, keepdims=True), np.finfo(float).tiny)
        weights = np.exp(-((distances / scale) ** 2))
        votes = np.zeros((X.shape[0], self.n_clusters))
        np.add.at(votes, (np.arange(len(votes))[:, None], self.labels_[indices]), weights)
        return -votes / votes.sum(axis=1, keepdims=True)


def spread(values: np.ndarray, V: np.ndarray, links: Links, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two thin matrices whose product, the second transposed, is F."""
    signs = links.weights * np.where(links.same, 1.0, -1.0)
    B = V[links.rows[:, 0]].T @ (signs[:, None] * V[links.rows[:, 1]])
    U = V * ((1.0 - alpha) / (1.0 - alpha * np.minimum(values, 1.0)))
    return U @ (B + B.T), U


def _eigenvectors(W: Any, k: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return leading eigenvalues and eigenvectors of the normalised similarities."""
    operator, parts = NormalisedSum.of(W), similarity_components(W)
    values, V = leading_eigenvectors(operator, k, parts=parts, generator=generator, tol=TOLERANCE, dtype=np.float64)
    return values, np.asarray(V)
