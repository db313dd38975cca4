"""Spectral clustering with a penalty on must-links that are cut (Ji and Xu 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._affinity.links import BagLinks
from sidelight._affinity.similarities import Similarities
from sidelight._affinity.spectral import NormalisedSum, PenalisedCut
from sidelight._core.params import check_number
from sidelight.data.bags import Bags
from sidelight.errors import SidelightWarning, warn
from sidelight.estimators.instances._spectral import Embedded, SpectralFamily


class RegularizedSpectralClustering(SpectralFamily):
    """Cluster rows by the normalised cut plus a penalty on must-links ([PF14]'s SpReg).

    Only the must-links that bag labels imply are used (rows of bags with one and the same single label); cannot-links
    have no place in the penalty. With more clusters than classes no must-link holds, and the result is that of the
    unconstrained method, which a warning says.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    beta : float, default=20.0
        Weight of the penalty; the papers use 20.
    affinity, metric, n_neighbors, scale_neighbor, rounding, n_init, eigen_tol, random_state : see there
        As in :class:`BagSpectralClustering`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_must_ : int
        How many pairs of rows must link.
    embedding_, centres_, eigenvalues_, class_shares_, affinity_, recall_, n_parts_, notes_, bags_ : see there
        As in :class:`BagSpectralClustering`.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> bags = sl.Bags(["a", "a", "b", "b"], labels={"a": {"wren"}, "b": {"owl"}})
    >>> sl.peers.RegularizedSpectralClustering(2, random_state=0).fit(X, bags=bags).n_must_
    2
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        beta: float = 20.0,
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
        self.beta = beta
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
        self.n_must_ = links.n_must()
        if self.n_must_ and self.n_clusters > bags.n_classes:
            warn(
                f"RegularizedSpectralClustering: with {self.n_clusters} clusters for {bags.n_classes} classes no "
                "must-link holds, and the result is that of the unconstrained method. Use BagSpectralClustering.",
                SidelightWarning,
                stacklevel=4,
            )
            self.n_must_ = 0
        if self.n_must_ == 0 or self.beta == 0:
            return self._solve(NormalisedSum.of(similar.W, d=similar.d), similar.parts, generator)
        penalised = PenalisedCut.of(similar.W, beta=float(self.beta), single=links.single_rows)
        return self._solve(penalised, similar.parts, generator)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "beta", self.beta, low=0)
