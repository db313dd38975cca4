"""Co-clustering by simulated annealing, for any number of axes: [B04] Algorithm 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.params import as_generator, check_choice, check_number
from sidelight.errors import InvalidParameter
from sidelight.estimators._base import all_or_nothing
from sidelight.estimators.sources._coclusterer import (
    Coclusterer,
    Ints,
    clusters_of_axes,
    labels_to_start,
    random_labels,
    table_to_fit,
)
from sidelight.estimators.sources._sweeps.annealing import Annealed, anneal
from sidelight.estimators.sources._sweeps.cluster_state import OBJECTIVES, Cells, State, descend

MOST_SUMS = 2**27  # numbers that the solver keeps (codes x cells of the other axes' clusters): one gigabyte


class AnnealedCoclustering(Coclusterer):
    r"""Cluster every axis of a table at once by simulated annealing.

    Codes move one at a time between clusters, losing moves less and less often as the temperature falls. Both
    temperatures are measured on the table. Varies less between starts than :class:`InformationCoclustering`, takes
    tables with any number of axes and other objectives, and is slower.

    Parameters
    ----------
    n_clusters : int, sequence of int or dict of axis to int, default=3
        Clusters of each axis; one number means all.
    objective : {"information", "chi-square"}, default="information"
        What the cluster table should keep: mutual information (total correlation beyond two axes), or the
        chi-square distance from independence, which weighs rare cells more.
    n_init : int, default=4
        Starts; the best wins.
    sweeps : int, default=None
        Visits of every code per temperature; the thesis takes 3 to 10. None takes 20 for up to a thousand codes and
        fewer for more, at least 5.
    cooling : float, default=0.95
        Factor between temperatures; closer to 1 is slower and better.
    random_state : int, RandomState, Generator or None, default=None
        Seed of starts and moves.

    Attributes
    ----------
    axis_labels_ : dict of str to ndarray
        Cluster of each code of each axis; -1 where the table has no mass.
    row_labels_, column_labels_, rows_, columns_ : ndarray
        The same for tables with two axes, as scikit-learn's biclustering has it.
    cluster_table_ : ndarray
        Joint probability of the clusters.
    information_, information_loss_, total_information_ : float
        Information kept and lost by the clusters, and that of the table, in nats.
    objective_ : float
        Value of the objective: nats, or phi squared.
    trace_ : ndarray
        The objective after each temperature of the best start, ending with the greedy finish.
    start_values_ : ndarray of shape (n_init,)
        The objective of each start.
    temperatures_ : tuple of float
        First and last temperature of the best start.
    axes_, margins_, n_features_in_, data_fingerprint_ : tuple, dict, int, str
        Names of the axes, mass of every code, number of columns, a short name of the table.

    See Also
    --------
    InformationCoclustering : Two axes, faster.
    sidelight.estimators.InterleavedCoclustering : Two-way margins in turn.

    Notes
    -----
    [B04] algorithm 2: single codes move between clusters, accepted with probability :math:`\min(1, e^{-\Delta J / T})`,
    where J is the total correlation that clusters lose,

    .. math::

        C(X_1, \dots, X_N) = \sum_x P(x) \log \frac{P(x)}{\prod_i P(x_i)} .

    Examples
    --------
    >>> import sidelight as sl
    >>> table = sl.CoOccurrence.from_codes({"a": [0, 1, 2, 3], "b": [0, 0, 1, 1], "c": [1, 1, 0, 0]})
    >>> labels = sl.estimators.AnnealedCoclustering(2, random_state=0).fit(table).axis_labels_["a"]
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    def __init__(
        self,
        n_clusters: Any = 3,
        *,
        objective: str = "information",
        n_init: int = 4,
        sweeps: int | None = None,
        cooling: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.objective = objective
        self.n_init = n_init
        self.sweeps = sweeps
        self.cooling = cooling
        self.random_state = random_state

    @all_or_nothing
    def fit(self, P: Any, y: Any = None, *, init: Any = None) -> AnnealedCoclustering:
        """Co-cluster a table.

        Parameters
        ----------
        P : array, CSR matrix, data frame or CoOccurrence
            Counts or weights, none negative; a CoOccurrence may have more than two axes.
        y : ignored
            Present for scikit-learn.
        init : sequence of labels or dict of axis to labels, optional
            Where to start; the annealing then begins cooler, so that what is good about them survives. An axis
            without labels first follows the others.
        """
        self._check_parameters()
        joint = table_to_fit(self, P)
        clusters = clusters_of_axes(self, joint)
        _check_size(self, joint.shape, clusters)
        start = labels_to_start(self, init, joint, clusters)
        cells, rng = joint.sorted_cells(), as_generator(self.random_state)
        roads = [
            self._anneal(cells, clusters, random_labels(joint, clusters, start, rng), start, rng, i)
            for i in range(self.n_init)
        ]
        best = max(roads, key=lambda road: road.value)
        self._publish(joint, clusters, best.labels)
        self.objective_, self.trace_, self.temperatures_ = best.value, np.array(best.trace), best.temperatures
        self.start_values_ = np.array([road.value for road in roads])
        return self

    def _anneal(
        self,
        cells: Cells,
        clusters: tuple[int, ...],
        labels: list[Ints],
        start: list[Ints | None],
        rng: np.random.Generator,
        number: int,
    ) -> Annealed:
        objective = OBJECTIVES[self.objective]
        sweeps = self.sweeps if self.sweeps is not None else min(20, max(5, 20_000_000 // sum(cells.shape) ** 2))
        free = [a for a, one in enumerate(start) if one is None]
        warm = len(free) < len(start)
        if warm and free:
            state = State(cells, clusters, labels)
            descend(state, objective, free=free)
            labels = state.by_axis()
        return anneal(
            cells, clusters, labels, rng,
            objective=objective, sweeps=sweeps, cooling=self.cooling, warm=warm, stage=f"start {number + 1}",
        )  # fmt: skip

    def _check_parameters(self) -> None:
        check_choice(self, "objective", self.objective, tuple(OBJECTIVES))
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "sweeps", self.sweeps, integer=True, low=1, none=True)
        check_number(self, "cooling", self.cooling, low=0, high=1, open_low=True, open_high=True)


def _check_size(owner: object, shape: tuple[int, ...], clusters: tuple[int, ...]) -> None:
    """Refuse a product of clusters that would not fit into memory, before anything is allocated."""
    total = float(np.prod(np.asarray(clusters, dtype=float)))
    sums = sum(n * total / k for n, k in zip(shape, clusters))
    if sums > MOST_SUMS:
        raise InvalidParameter(
            f"{type(owner).__name__} keeps the mass of every code in each cell of the other axes' clusters: {sums:.1e} "
            f"numbers for {shape} codes and {clusters} clusters, more than {MOST_SUMS:.1e}. Ask for fewer clusters or "
            "axes, or interleave the two-way margins with InterleavedCoclustering."
        )
