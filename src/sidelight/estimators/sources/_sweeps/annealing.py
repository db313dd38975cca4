"""Simulated annealing of co-clusters for any number of axes: [B04] Algorithm 2.

Where we leave the thesis: its temperatures 5 to 0.005 do not fit the scale of the objective (a move of one of 200 rows
changes it by far less than 0.005, so the end state is still random). Clusters form where what they gain in information
balances what they cost in freedom, at T = gain / sum_a n_codes[a] log n_clusters[a]; the gain is measured by a greedy
descent from the same start, and the temperature falls from just above that point to well below it. Greedy moves and
merge-and-split repairs finish the descent.

All random numbers come in as arrays, so a compiled sweep and its plain version take the same road.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sidelight.estimators.sources._sweeps.cluster_state import Cells, State, descend, metropolis
from sidelight.estimators.sources._sweeps.split_merge import repair
from sidelight.progress import report

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

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
