"""Co-clustering by simulated annealing, for any number of axes: [B04] Algorithm 2.

Where we leave the thesis: its temperatures 5 to 0.005 do not fit the scale of the objective (a move of one of 200 rows
changes it by far less than 0.005, so the end state is still random). Clusters form where what they gain in information
balances what they cost in freedom, at T = gain / sum_a n_codes[a] log n_clusters[a]; the gain is measured by a greedy
descent from the same start, and the temperature falls from just above that point to well below it. Greedy moves and
merge-and-split repairs finish the descent.

All random numbers come in as arrays, so a compiled sweep and its plain version take the same road.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from sidelight.estimators.sources._sweeps.alternating import add_profiles, assign, log_shares
from sidelight.estimators.sources._sweeps.cluster_state import (
    OBJECTIVES,
    TINY,
    Cells,
    State,
    descend,
    margin,
    metropolis,
    slice_values,
)
from sidelight.progress import report

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


# Repairing co-clusters by merging two clusters and splitting a third, which no sequence of single moves dares.
#
# A bad start of a large table ends with two true clusters in one and a third cut in half. Every single move out of that
# state loses information, and the barrier grows with the number of codes, so annealing does not climb it. On the small
# cluster table the repair is cheap: the loss of merging two slices and the gain of splitting one are exact sums.


Floats = NDArray[np.float64]


def repair(state: State, objective: int, rng: np.random.Generator, max_rounds: int = 30) -> int:
    """Apply the best merge-and-split of any axis, descend, and repeat while the objective rises; count the repairs."""
    n_repairs = 0
    for _ in range(max_rounds):
        before, labels = state.value(objective), state.labels.copy()
        candidates = [_best_swap(state, axis, objective, rng) for axis in range(len(state.n_clusters))]
        gain, axis, proposal = max(candidates, key=lambda c: c[0])
        if gain <= 0.0:
            break
        start = state.base[axis]
        state.labels[start : start + proposal.size] = proposal
        state.refresh()
        descend(state, objective)
        if state.value(objective) <= before + 1e-12:  # rounding of a sum of some hundred cells
            state.labels[:] = labels
            state.refresh()
            break
        n_repairs += 1
    return n_repairs


def _best_swap(state: State, axis: int, objective: int, rng: np.random.Generator) -> tuple[float, int, Ints]:
    """Return (gain, axis, labels) of the best split of one cluster paid for by the cheapest merge of two others."""
    k, width = state.n_clusters[axis], int(state.width[axis])
    n = state.cells.shape[axis]
    labels = state.labels[state.base[axis] : state.base[axis] + n]
    if k < 3:
        return 0.0, axis, labels.copy()
    profiles = state.slabs[state.slab[axis] : state.slab[axis] + n * width].reshape(n, width)
    slices = np.moveaxis(state.table.reshape(state.n_clusters), axis, 0).reshape(k, width)
    weights = _independent(state, axis)
    worth = slice_values(slices, weights, objective)
    merged = slice_values(slices[:, None, :] + slices[None, :, :], weights, objective)
    loss = worth[:, None] + worth[None, :] - merged
    loss[np.tril_indices(k)] = np.inf
    best: tuple[float, int, Ints] = (0.0, axis, labels.copy())
    for r in range(k):
        members = np.flatnonzero((labels == r) & (profiles.sum(axis=1) > 0.0))
        if members.size < 2:
            continue
        half, gain = _split(profiles[members], worth[r], weights, objective, rng)
        cost = loss.copy()
        cost[r, :], cost[:, r] = np.inf, np.inf
        p, q = np.unravel_index(np.argmin(cost), cost.shape)
        if gain - cost[p, q] > best[0]:
            proposal = labels.copy()
            proposal[labels == q] = p
            proposal[members[half == 1]] = q
            best = (float(gain - cost[p, q]), axis, proposal)
    return best


def _split(
    profiles: Floats, worth: float, weights: Floats, objective: int, rng: np.random.Generator, n_rounds: int = 8
) -> tuple[Ints, float]:
    """Cut profiles in two by KL divergence, from the two ends of a random profile's ranking; return halves and gain."""
    pivot = int(rng.integers(len(profiles)))
    nearness = profiles @ log_shares(profiles[pivot : pivot + 1])[0] / np.maximum(profiles.sum(axis=1), TINY)
    half = (nearness < np.median(nearness)).astype(np.intp)
    profiles = np.ascontiguousarray(profiles)
    two = np.zeros((2, profiles.shape[1]))
    for _ in range(n_rounds):
        two[:] = 0.0
        add_profiles(profiles, half, two)
        if assign(profiles, log_shares(two), half) == 0:
            break
    two[:] = 0.0
    add_profiles(profiles, half, two)
    return half, float(slice_values(two, weights, objective).sum() - worth)


def _independent(state: State, axis: int) -> Floats:
    """Return the product of the other axes' margins, in the order of the slices' cells."""
    table = state.table.reshape(state.n_clusters)
    product = np.ones(1)
    for other in range(table.ndim):
        if other != axis:
            product = np.multiply.outer(product, margin(table, other)).ravel()
    return product


HOT, WARM, COLD = 1.2, 0.5, 0.15  # of the temperature at which clusters form: all melted, edges melted, frozen


@dataclass(frozen=True, slots=True)
class Annealed:
    """Labels per axis, the objective they reach, the objective after every temperature, and both temperatures."""

    labels: list[Ints]
    value: float
    trace: list[float]
    temperatures: tuple[float, float]


def anneal(
    cells: Cells,
    n_clusters: tuple[int, ...],
    labels: list[Ints],
    rng: np.random.Generator,
    *,
    objective: int,
    sweeps: int,
    cooling: float,
    warm: bool,
    stage: str = "annealing",
) -> Annealed:
    """Anneal from ``labels`` down to a state that no single move and no merge-and-split improves.

    Parameters
    ----------
    cells, n_clusters : Cells, tuple of int
        The table, and how many clusters each axis gets.
    labels : list of intp arrays
        One start per axis.
    objective : int
        One of ``cluster_state.OBJECTIVES``.
    sweeps : int
        Visits of every code per temperature ([B04]: 3 to 10).
    cooling : float
        The factor between temperatures.
    warm : bool
        Start cool enough to keep what is good about ``labels``.
    """
    state = State(cells, n_clusters, labels)
    hot, cold = calibrate(state, objective, warm=warm)
    n_steps = 1 + int(np.ceil(np.log(cold / hot) / np.log(cooling))) if hot > 0.0 else 0
    trace = [state.value(objective)]
    for step in range(n_steps):
        report(stage, step, n_steps)
        metropolis(state.arrays, *_proposals(state, sweeps, rng), hot * cooling**step, objective)
        trace.append(state.value(objective))
    state.refresh()
    descend(state, objective)
    repair(state, objective, rng)
    trace.append(state.value(objective))
    return Annealed(state.by_axis(), trace[-1], trace, (hot, cold))


def calibrate(state: State, objective: int, *, warm: bool = False) -> tuple[float, float]:
    """Measure the temperature at which clusters form, and return where to begin and where to stop."""
    probe = State(state.cells, state.n_clusters, state.by_axis())
    descend(probe, objective)
    freedom = float(sum(n * np.log(k) for n, k in zip(state.cells.shape, state.n_clusters)))
    forming = max(0.0, probe.value(objective)) / freedom if freedom > 0.0 else 0.0
    return (WARM if warm else HOT) * forming, COLD * forming


def _proposals(state: State, sweeps: int, rng: np.random.Generator) -> tuple[Ints, Ints, Floats]:
    """Draw codes of any axis, a cluster for each, and the exponential thresholds of the Metropolis rule."""
    n = state.labels.size * sweeps
    codes = rng.integers(state.labels.size, size=n).astype(np.intp)
    axis = np.searchsorted(state.base, codes, side="right") - 1
    targets = (rng.random(n) * state.ks[axis]).astype(np.intp)
    return codes, targets, rng.standard_exponential(n)
