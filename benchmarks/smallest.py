"""The smallest cell of each document's experiments: ``python benchmarks/smallest.py`` measures and keeps their digits.

Tests measure them again and compare: a change of code that moves a figure is seen before the whole is run again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
KEPT = Path(__file__).with_suffix(".json")


def pf14() -> Any:
    """Purity and NMI of spectral clustering with bag constraints on Letter-Carroll, one run."""
    from bench_instances_paper import rounded

    return rounded("carroll", "CSP", None, 0)


def z09() -> Any:
    """The best of ten runs of k-medoids on minimal distances of Corel's bags."""
    from bench_bags_fidelity import bamic

    return bamic("Corel", "minimal", "alternate")


def z17() -> Any:
    """What MIMLfast reaches on Letter-Carroll with four labels that nobody names."""
    from novel_cells import novel_cell

    return novel_cell("carroll", 4, "MIMLfast", 0)


def p17_3() -> Any:
    """DC after 0.1N pairs on balance, first draw."""
    from relation_cells import Cell, compute

    return compute(Cell("balance", "pairs", 0.1, "DC", 0))


def p17_4() -> Any:
    """Random pairs in a forest on Parkinsons, first run."""
    from ask_cells import Cell, compute

    return compute(Cell("parkinsons", "BC+tree", 0))


def p17_5() -> Any:
    """The tree of Chow and Liu on newsgroups at noise 0.1."""
    from hierarchy_cells import run_chow_liu

    return run_chow_liu("newsgroups", 0.1, 0, positive=False)


def b04() -> Any:
    """Errors of annealing on five people who walk, heads with lower parts, first draw."""
    from bench_sources_people import errors_of

    return errors_of(5, 0, "annealed", "lower")


CELLS: dict[str, Callable[[], Any]] = {
    "pf14": pf14, "z09": z09, "z17": z17, "p17-3": p17_3, "p17-4": p17_4, "p17-5": p17_5, "b04": b04,
}  # fmt: skip


def main() -> int:
    """Measure all of them and keep their digits."""
    found = {name: compute() for name, compute in CELLS.items()}
    KEPT.write_text(json.dumps(found, indent=1, default=float) + "\n", encoding="utf-8")
    print(f"{len(found)} cells went to {KEPT.name}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
