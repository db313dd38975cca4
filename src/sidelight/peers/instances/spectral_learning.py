"""Spectral learning: must-links become similarity 1 and cannot-links 0 (Kamvar, Klein and Manning 2003)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._affinity.links import BagLinks, MustBlocks, degrees, similarity_components
from sidelight._affinity.similarities import Similarities
from sidelight._affinity.spectral import AdditiveSum, NormalisedSum
from sidelight._core.params import check_choice
from sidelight.data.bags import Bags
from sidelight.estimators.instances._spectral import Embedded, SpectralFamily

NORMALIZATIONS = ("symmetric", "additive")


class SpectralLearning(SpectralFamily):
    """Cluster rows after writing the links that bag labels imply into the similarities ([PF14]'s SpLearn).

    Rows of bags with one and the same single label must link, rows of bags without a common label cannot link ([PF14]
    table 1). With more clusters than classes must-links do not hold and are left out.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    normalization : {"symmetric", "additive"}, default="symmetric"
        By the degrees on both sides, as the other methods here; or (A + d_max I - D) / d_max, as the paper of 2003.
    affinity, metric, n_neighbors, scale_neighbor, rounding, n_init, eigen_tol, random_state : see there
        As in :class:`BagSpectralClustering`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_must_, n_cannot_ : int
        How many pairs of rows the labels link.
    embedding_, centres_, eigenvalues_, class_shares_, affinity_, recall_, n_parts_, notes_, bags_ : see there
        As in :class:`BagSpectralClustering`.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> bags = sl.Bags(["a", "a", "b", "b"], labels={"a": {"wren"}, "b": {"owl"}})
    >>> model = sl.peers.SpectralLearning(2, random_state=0).fit(X, bags=bags)
    >>> model.n_must_, model.n_cannot_
    (2, 4)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        normalization: str = "symmetric",
        affinity: Any = "auto",
        metric: str = "euclidean",
        n_neighbors: int = 20,
        scale_neighbor: int = 7,
        rounding: str = "kmeans",
        n_init: int = 10,
        eigen_tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.normalization = normalization
        self.affinity = affinity
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor
        self.rounding = rounding
        self.n_init = n_init
        self.eigen_tol = eigen_tol
        self.random_state = random_state

    def _embed(self, X: Any, bags: Bags, similar: Similarities, generator: np.random.Generator) -> Embedded:
        links = BagLinks.from_bags(bags)
        must = self.n_clusters <= max(bags.n_classes, 1)
        self.n_must_, self.n_cannot_ = links.n_must() if must else 0, links.n_cannot()
        W = similar.W if self.n_must_ + self.n_cannot_ == 0 else links.without(similar.W, must=must)
        single = links.single_rows if must else np.full(X.shape[0], -1)
        blocks = MustBlocks.of(single, dtype=W.dtype)
        d = degrees(W) + blocks.sizes
        parts = similarity_components(W)  # cannot-links may cut what was connected
        if self.normalization == "additive":
            return self._solve(AdditiveSum.of(W, extra=blocks, d=d), parts, generator)
        return self._solve(NormalisedSum.of(W, alpha=1.0, extra=blocks, d=d), parts, generator)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "normalization", self.normalization, NORMALIZATIONS)
