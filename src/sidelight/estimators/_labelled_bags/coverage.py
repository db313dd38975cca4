"""Row posteriors of all bags when every label of a bag must be carried by one of its rows.

A row picks a cluster with probability P[i, k]; a cluster belongs to a class or is novel. A bag that lists m labels says
that no row carries another known label and that each of the m is carried: a pass over the subsets covered so far
(:mod:`sidelight.estimators._labelled_bags.one_bag`), O(2^m m) for a row. What no list asks for is free: novel
clusters, sub-clusters and unlisted classes only add to a row's weights. Only a bag whose coverage is less likely than
1e-200 goes through the pass in logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel
from sidelight._core.process import for_each_in_threads, n_threads
from sidelight.estimators._labelled_bags.demands import DemandPlan, demand_bag
from sidelight.estimators._labelled_bags.one_bag import LEAST_EXACT, MOST_STEPS, log_bag, plain_bag

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

CAP = 12  # 2^12 subsets of doubles fit the second-level cache; HJA, MSRC v2 and Carroll stay below it
_WORTH_A_THREAD = 500_000  # subset steps (a few ms) below which waking threads costs more than it saves


@dataclass(frozen=True, slots=True)
class BagPlan:
    """What all bags say, as flat arrays for the kernel.

    Parameters
    ----------
    order, starts : intp arrays
        Bag b has the rows ``order[starts[b]:starts[b + 1]]``.
    label_starts, labels : intp arrays
        Bag b lists the classes ``labels[label_starts[b]:label_starts[b + 1]]``.
    required : intp array
        How many of a bag's labels must be carried: all of them, fewer where the rows do not suffice, 0 where the list
        promises nothing.
    others : float64 array
        The weight of a class that the bag does not list: 0 excludes it, 1 allows it (partial list, no list).
    row_class : intp array
        The known class of each row, -1 where it is not known.
    demands : DemandPlan, optional
        What bags say beyond lists; what stands above is then said of the other bags.
    """

    order: Ints
    starts: Ints
    label_starts: Ints
    labels: Ints
    required: Ints
    others: Floats
    row_class: Ints
    demands: DemandPlan | None = None

    @property
    def n_bags(self) -> int:
        """The number of bags."""
        return len(self.starts) - 1

    @property
    def is_arranged(self) -> bool:
        """Whether bags are runs of consecutive rows, the first bag first."""
        return bool((np.diff(self.order) == 1).all()) and (len(self.order) == 0 or self.order[0] == 0)

    def arranged(self) -> BagPlan:
        """The plan of the rows ``order``: bags become runs of consecutive rows."""
        return replace(self, order=np.arange(len(self.order)), row_class=self.row_class[self.order])

    def restrict(self, first: int, last: int) -> BagPlan:
        """The plan of the rows ``first`` to ``last`` of an arranged plan; no bag may be cut."""
        begin, end = np.searchsorted(self.starts, (first, last)).tolist()
        lists = slice(int(self.label_starts[begin]), int(self.label_starts[end]))
        return BagPlan(
            order=np.arange(last - first),
            starts=self.starts[begin : end + 1] - first,
            label_starts=self.label_starts[begin : end + 1] - lists.start,
            labels=self.labels[lists],
            required=self.required[begin:end],
            others=self.others[begin:end],
            row_class=self.row_class[first:last],
            demands=None if self.demands is None else self.demands.restrict(begin, end),
        )

    @property
    def is_told(self) -> NDArray[np.bool_]:
        """Whether anybody said anything about each row: its own label, or a list of its bag."""
        told = self.row_class >= 0
        speaks = (np.diff(self.label_starts) > 0) | (self.others == 0)
        if self.demands is not None:
            speaks |= self.demands.is_special
        told[self.order] |= np.repeat(speaks, np.diff(self.starts))
        return told


def coverage_posteriors(
    P: Floats,
    log_P: Floats,
    class_of: Ints,
    plan: BagPlan,
    *,
    wrong: float = 0.0,
    forgotten: float = 0.0,
    cap: int = CAP,
    in_threads: bool = True,
) -> tuple[Floats, Floats]:
    """Return Q (rows x clusters), the posteriors given the bags, and the log likelihood of every bag.

    Parameters
    ----------
    P, log_P : arrays of shape (n_rows, n_clusters)
        Probabilities of each row's clusters by its features alone, and their logarithms.
    class_of : intp array of shape (n_clusters,)
        The class of each cluster, -1 for novel ones.
    plan : BagPlan
        What the bags say.
    wrong : float
        The probability that a listed label is carried by no row of the bag.
    forgotten : float
        The probability that a row's label did not make it to the bag's list.
    cap : int
        Bags with more labels than this are approximated, and so are long bags with fewer.
    in_threads : bool
        Share the bags out to threads where that pays.

    Notes
    -----
    Q is also the derivative of the summed log likelihood by ``log_P`` (exactly, up to ``cap`` labels).
    """
    P = np.ascontiguousarray(P, dtype=np.float64)
    log_P = np.ascontiguousarray(log_P, dtype=np.float64)
    class_of = np.ascontiguousarray(class_of, dtype=np.intp)
    is_special = np.zeros(plan.n_bags, dtype=bool) if plan.demands is None else plan.demands.is_special
    plan_arrays = (
        *(plan.order, plan.starts, plan.label_starts, plan.labels),
        *(plan.required, plan.others, plan.row_class, is_special),
    )
    Q, log_likelihood = np.empty_like(P), np.empty(len(plan.starts) - 1)

    def work(first: int, last: int) -> None:
        _some_bags(
            P, log_P, class_of, *plan_arrays, float(wrong), float(forgotten), int(cap), first, last, Q, log_likelihood
        )
        if plan.demands is not None:
            _special_bags(log_P, class_of, plan, float(wrong), float(forgotten), first, last, Q, log_likelihood)

    if in_threads:
        _share_out(work, plan)
    else:
        work(0, plan.n_bags)
    return Q, log_likelihood


def _special_bags(
    log_P: Floats,
    class_of: Ints,
    plan: BagPlan,
    wrong: float,
    forgotten: float,
    first: int,
    last: int,
    Q: Floats,
    values: Floats,
) -> None:
    """Fill in the bags that say more than a list."""
    said = plan.demands
    assert said is not None  # asked for where there are some
    for b in (first + np.flatnonzero(said.is_special[first:last])).tolist():
        part = slice(int(said.starts[b]), int(said.starts[b + 1]))
        values[b] = demand_bag(
            log_P, class_of, plan.order[plan.starts[b] : plan.starts[b + 1]], said.elements[part], said.least[part],
            said.most[part], said.member, float(said.others[b]), plan.row_class, wrong, forgotten, Q,
        )  # fmt: skip


def _share_out(work: Callable[[int, int], None], plan: BagPlan) -> None:
    """Let threads take runs of bags of about equal work; every bag writes its own rows, so their number is no matter.

    Threads around a kernel that releases the lock, rather than numba's own: those compile three times as long, and
    a process that used them must not fork.
    """
    sizes = np.diff(plan.starts)
    fits = np.maximum(np.log2(MOST_STEPS / np.maximum(sizes, 1)), LEAST_EXACT)  # as one_bag.n_exact
    cost = sizes * 2.0 ** np.minimum(np.minimum(np.diff(plan.label_starts), CAP), fits)
    if cost.sum() < _WORTH_A_THREAD or (width := n_threads()) == 1:
        work(0, plan.n_bags)
        return
    shares = np.linspace(0.0, cost.sum(), 4 * width + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(np.cumsum(cost), shares), plan.n_bags])
    for_each_in_threads(lambda run: work(*run), pairwise(cuts.tolist()))


@kernel(
    "void(float64[:, ::1], float64[:, ::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], "
    "float64[::1], intp[::1], boolean[::1], float64, float64, intp, intp, intp, float64[:, ::1], float64[::1])"
)
def _some_bags(
    P: Floats,
    log_P: Floats,
    class_of: Ints,
    order: Ints,
    starts: Ints,
    label_starts: Ints,
    labels: Ints,
    required: Ints,
    others: Floats,
    row_class: Ints,
    is_special: NDArray[np.bool_],
    wrong: float,
    forgotten: float,
    cap: int,
    first: int,
    last: int,
    Q: Floats,
    log_likelihood: Floats,
) -> None:  # pragma: no cover - compiled
    for b in range(first, last):
        if is_special[b]:
            continue
        rows = order[starts[b] : starts[b + 1]]
        listed = labels[label_starts[b] : label_starts[b + 1]]
        value = plain_bag(P, class_of, rows, listed, required[b], others[b], row_class, wrong, forgotten, cap, Q)
        if np.isnan(value):
            value = log_bag(log_P, class_of, rows, listed, required[b], others[b], row_class, wrong, forgotten, cap, Q)
        log_likelihood[b] = value
