"""Which cells the page on novel labels has, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dmnl_admm import VARIANTS
from novel_cells import DEPARTURES, admm_cell, alarm_cell, departure_cell, growth_cell, novel_cell, start_cell
from novel_sets import TABLE_2

TRIED = 100  # generated sets of each kind
SHARES = (0.0, 0.1)  # of rows that are novel in them
SIZES = (12_500, 25_000, 50_000, 100_000, 200_000)
VARIED = (("carroll", 4), ("carroll", 8), ("msrcv2", 4))  # where departures are tried
ADMM_ON = (("carroll", 4), ("msrcv2", 4))  # where Algorithm 1 is tried
Cells = list[tuple[str, Callable[[], Any]]]


def plan(rounds: int) -> Cells:
    """List every cell: what the paper has first, one seed after the other, then what is ours."""
    small = [(name, k) for name in ("msrcv2", "carroll") for k in TABLE_2[name]]
    mnist = [("mnist", k) for k in TABLE_2["mnist"]]

    def fits(sets: Sequence[tuple[str, int]], methods: Sequence[str], runs: Sequence[int]) -> Cells:
        return [
            (f"novel|{name}|{k}|{method}|{run}", partial(novel_cell, name, k, method, run))
            for run in runs
            for name, k in sets
            for method in methods
        ]

    quick, slow = ["DMNL", "ORLR", "MIMLfast", "MIML-NC"], ["DMNL, manifold", "coverage"]
    starts: Cells = [
        (f"start|{name}|{k}|{run}", partial(start_cell, name, k, run)) for name, k in small + mnist for run in range(3)
    ]
    algorithm: Cells = [
        (f"admm|{name}|{k}|{variant}|{run}", partial(admm_cell, name, k, variant, run))
        for name, k in ADMM_ON
        for variant in VARIANTS
        for run in range(rounds)
    ]
    departures: Cells = [
        (f"departure|{name}|{k}|{departure}|{run}", partial(departure_cell, name, k, departure, run))
        for run in range(rounds)
        for departure in DEPARTURES
        for name, k in VARIED
    ]
    tests: Cells = [
        (f"test|{share}|{seed}", partial(alarm_cell, share, seed)) for seed in range(TRIED) for share in SHARES
    ]
    growth: Cells = [(f"growth|{n_rows}", partial(growth_cell, n_rows)) for n_rows in SIZES]
    every = range(rounds)
    return [
        *starts, *fits(small + mnist, quick, every), *fits(small, slow, every), *algorithm, *tests, *departures,
        *growth, *fits(mnist, slow, every),
    ]  # fmt: skip
