"""Spectral clustering with bag constraints, [PF14] algorithm 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sidelight._affinity.similarities import Similarities, alpha_scale
from sidelight._affinity.spectral import NormalisedSum, unit_rows
from sidelight._core.params import check_choice, check_flag, check_number
from sidelight.data.bags import Bags
from sidelight.estimators.instances._spectral import Embedded, SpectralFamily
from sidelight.estimators.instances.bag_constraint import BagConstraint
from sidelight.estimators.instances.class_shares import bag_agreement, class_shares
from sidelight.estimators.instances.rounding import round_embedding
from sidelight.progress import report

CONSTRAINTS = ("all", "ambiguous")
GRID = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)  # around the 0.5 to 1 that [PF14] recommends, a factor of about 1.4 apart


class BagSpectralClustering(SpectralFamily):
    r"""Cluster the rows of labelled bags so that clusters match or refine the classes, [PF14] algorithm 1.

    The leading eigenvectors of D^-1/2 (W + alpha Q) D^-1/2 are rounded to clusters; Q rewards pairs of rows whose bags
    share labels. ``alpha=0`` is unconstrained spectral clustering with the same similarities.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K; the number of classes to recover them, more to find kinds within classes.
    alpha : float or "auto", default=0.7
        Weight of the bag constraints, as on dense similarities; on a neighbour graph it is rescaled (``alpha_``).
        "auto" tries seven weights and keeps the one whose clusters carry the bags' label sets best; no label of a row
        is needed for that.
    constraints : {"all", "ambiguous"}, default="all"
        "ambiguous" leaves out what must-links could say ([PF14]'s "w.o.clml").
    centred : bool, default=False
        Subtract the mean of the constraints from all pairs of rows, as [PF14] eq. (9) implies, instead of from pairs
        inside one bag, as it prints.
    affinity : {"auto", "dense", "neighbours", "precomputed"} or callable, default="auto"
        Self-tuning similarities of all pairs ("dense") or of nearest neighbours; "auto" is dense up to 10,000 rows.
        "precomputed": X holds similarities. A callable is called with X, and in ``predict`` with (X_new, X).
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between rows.
    n_neighbors : int, default=20
        Neighbours of a row in the graph.
    scale_neighbor : int, default=7
        A row's scale is its distance to this neighbour.
    rounding : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How eigenvectors become clusters.
    n_init : int, default=10
        Number of k-means starts.
    eigen_tol : float, default=1e-4
        Relative accuracy of the eigenvalues.
    random_state : int, RandomState, Generator or None, default=None
        Seed of starts and samples.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    landmark_labels_ : ndarray
        The same for the rows that were fitted: all of them, or the sample of Parts.
    embedding_ : ndarray of shape (n_rows, n_clusters)
        Unit rows whose directions were rounded.
    centres_ : ndarray of shape (n_clusters, n_clusters)
        Mean embedding of each cluster.
    eigenvalues_ : ndarray of shape (n_clusters,)
        The leading eigenvalues, descending.
    class_shares_ : ndarray of shape (n_clusters, n_classes)
        Each cluster's share of each class, estimated from bag labels alone.
    alpha_ : float
        The weight that was used; differs from ``alpha`` on a neighbour graph only.
    alpha_search_ : dict
        With ``alpha="auto"``: the weights tried ("alpha"), their "agreement" with the label sets, and the one "chosen".
    affinity_ : str
        "dense", "neighbours" or "given".
    recall_ : float
        Share of true neighbours in the graph, measured on a sample.
    n_parts_ : int
        Number of connected parts of the similarities.
    notes_ : list of str
        What there is to say about duplicates, isolated rows, parts and neighbours.
    bags_ : Bags
        The bags seen by ``fit``.
    rows_, scales_, coordinates_, label_pull_ : ndarray
        What ``predict`` needs for new rows.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    See Also
    --------
    CoverageClustering : Names each row by an exact likelihood of the lists; usually ahead.
    sidelight.estimators.BagDiscriminativeClustering : A rule for new rows from the same constraints.
    sidelight.peers.SpectralLearning : Must-links and cannot-links only.

    Notes
    -----
    The clusters are rounded from the leading eigenvectors of

    .. math::

        D^{-1/2} (W + \alpha Q) D^{-1/2}, \qquad Q = B (Y^\top Y - \mu I) B^\top, \qquad
        \mu = \tfrac{1}{M^2} \lVert \textstyle\sum_i y_i \rVert^2 ,

    [PF14] algorithm 1 and eq. (12): W are self-tuning similarities with degrees D, B holds the bag of each row, and
    column i of Y is :math:`1 / |\mathbb{Y}_i|` on the labels of bag i. Q is never formed.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [0.2], [5.2]])
    >>> bags = sl.Bags(["a", "b", "b", "c", "c", "c"], labels={"a": {"wren"}, "b": {"wren", "owl"}})
    >>> sl.BagSpectralClustering(2, random_state=0).fit(X, bags=bags).labels_.tolist() in (
    ...     [0, 0, 1, 1, 0, 1], [1, 1, 0, 0, 1, 0])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float | str = 0.7,
        constraints: str = "all",
        centred: bool = False,
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
        self.alpha = alpha
        self.constraints = constraints
        self.centred = centred
        self.affinity = affinity
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.scale_neighbor = scale_neighbor
        self.rounding = rounding
        self.n_init = n_init
        self.eigen_tol = eigen_tol
        self.random_state = random_state

    def _embed(self, X: Any, bags: Bags, similar: Similarities, generator: np.random.Generator) -> Embedded:
        constraint = BagConstraint.from_bags(
            bags, ambiguous_only=self.constraints == "ambiguous", centred=self.centred, dtype=similar.W.dtype
        )
        self.alpha_search_: dict[str, Any] = {}
        if self.alpha == 0 or constraint.is_empty:
            self.alpha_ = 0.0
            return self._solve(NormalisedSum.of(similar.W, d=similar.d), similar.parts, generator)
        scale = alpha_scale(similar, X, self.n_clusters, metric=self.metric, t=self.scale_neighbor, generator=generator)

        def solve(alpha: float) -> Embedded:
            operator = NormalisedSum.of(similar.W, alpha=alpha * scale, extra=constraint, d=similar.d)
            return self._solve(operator, similar.parts, generator)

        if self.alpha != "auto":
            self.alpha_ = float(self.alpha) * scale
            return solve(float(self.alpha))
        best, self.alpha_search_ = self._search(solve, bags, generator)
        self.alpha_ = self.alpha_search_["chosen"] * scale
        return best

    def _search(
        self, solve: Callable[[float], Embedded], bags: Bags, generator: np.random.Generator
    ) -> tuple[Embedded, dict[str, Any]]:
        """Try the weights of ``GRID`` and keep the one whose clusters carry the bags' label sets best."""
        best, chosen, agreements = None, 0.0, []
        for number, alpha in enumerate(GRID):
            report("alpha", number, len(GRID), f"alpha {alpha:g}")
            embedded = solve(alpha)
            labels = round_embedding(
                unit_rows(embedded.V), self.rounding, self.n_clusters, generator=generator, n_init=min(self.n_init, 4)
            )
            rows = np.zeros(bags.n_rows, dtype=np.intp)  # the few rows set aside do not decide
            rows[embedded.kept] = labels
            agreements.append(bag_agreement(rows, bags, class_shares(rows, bags, self.n_clusters)))
            if best is None or agreements[-1] > max(agreements[:-1]):
                best, chosen = embedded, alpha
        assert best is not None
        return best, {"alpha": list(GRID), "agreement": agreements, "chosen": chosen}

    def _label_pull(self, bags: Bags, coordinates: np.ndarray) -> np.ndarray:
        """Return alpha Y B' D^-1/2 V: what the labels of a row's bag add to its coordinates."""
        constraint = BagConstraint.from_bags(bags)
        return np.asarray(self.alpha_ * (constraint.Y @ (constraint.gather @ coordinates)))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            check_number(self, "alpha", self.alpha, low=0, advice="alpha=0 ignores the bags; alpha='auto' chooses.")
        check_choice(self, "constraints", self.constraints, CONSTRAINTS)
        check_flag(self, "centred", self.centred)
