"""Very many rows in memory: coverage, spectral clusters and trees of labels, each in a fresh interpreter.

Processor time is what is judged: cores are shared with whatever else runs, and clocks with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from runner import Ledger, Sheet

TITLE = "A million rows in memory"
REPEATS = 2
CASES = {  # what is fitted, and the seconds of processor time it may take
    "straight": ("coverage, 1,000,000 x 40, straight boundaries", 12.0),
    "curved": ("coverage, 1,000,000 x 40, curved boundaries", 36.0),
    "spectral": ("spectral clusters, 1,000,000 x 48 in 100,000 bags", 60.0),
    "overlapping": ("the same, 200,000 rows of kinds that overlap", None),
    "wide": ("tree and weights, 10,000 x 4096 features x 24 labels", 10.0),
    "labels": ("tree from labels alone, 10,000 rows x 500 labels", 5.0),
}


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        "Each fit runs in a fresh interpreter with two threads, after a small fit of the same kind that loads compiled "
        f"loops; the one of {REPEATS} runs that took the least processor time counts. Rows are made by the generators "
        "of the other pages, seed 0; nothing was chosen by them. Processor time is that of all threads; "
        "it grows with what else shares the caches, and the clock with everything else that runs."
    )
    cells = [(f"{name}/{k}", lambda name=name: cell(name)) for k in range(REPEATS) for name in CASES]
    runs = Ledger("many_rows").run(cells, stage="many rows")
    found = {name: min((runs[f"{name}/{k}"] for k in range(REPEATS)), key=lambda one: one["cpu"]) for name in CASES}
    for name, (what, limit) in CASES.items():
        one = found[name]
        target = "" if limit is None else f"<= {limit:g} s"
        told = f"{one['cpu']:.1f} s of processor time, {one['wall']:.1f} s on the clock, {one['megabytes']:.0f} MB"
        sheet.row(what, told, target, None if limit is None else one["cpu"] <= limit)
    times = found["curved"]["cpu"] / found["straight"]["cpu"]
    sheet.row("curved boundaries against straight ones", f"{times:.1f} times")
    steps = found["spectral"]["steps"]
    sheet.section(
        "Where a million rows of spectral clusters go", ["step", "processor time, s"],
        [(name, f"{seconds:.1f}") for name, seconds in steps.items()],
        f"Recall of the neighbour search: {found['spectral']['recall']:.3f}; mutual information with the kinds that "
        f"rows were drawn from, normalised: {found['spectral']['nmi']:.4f}.",
    )  # fmt: skip


def cell(name: str) -> dict[str, Any]:
    """Run one case in a fresh interpreter."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, __file__, name], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-3000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(name: str) -> dict[str, Any]:
    """Fit one case."""
    from scale_cells import peak, processor

    warnings.simplefilter("ignore")
    fit = {"wide": tree_of_rows, "labels": tree_of_labels, "spectral": spectral, "overlapping": overlapping}.get(
        name, coverage
    )
    fit(name, small=True)()
    run = fit(name)
    begin, before = time.perf_counter(), processor()
    found = run() or {}
    return {"wall": time.perf_counter() - begin, "cpu": processor() - before, "megabytes": peak(), **found}


def coverage(boundary: str, *, small: bool = False) -> Any:
    """Coverage of bags of ten rows with three of twenty labels."""
    import sidelight as sl
    from bench_coverage import made

    X, bags = made(2_000 if small else 1_000_000)
    model = sl.CoverageClustering(boundary=boundary, random_state=0)
    return lambda: model.fit(X, bags=bags) and None


def overlapping(name: str, *, small: bool = False) -> Any:
    """Spectral clusters where neighbours are often of another kind."""
    import sidelight as sl
    from datasets import made

    X, bags, _ = made(30_000 if small else 200_000)
    model = sl.BagSpectralClustering(20, affinity="neighbours", random_state=0)
    return lambda: model.fit(X, bags=bags) and None


def spectral(name: str, *, small: bool = False) -> Any:
    """Spectral clusters of clear kinds, with the processor time of their steps."""
    import sidelight as sl
    from datasets import made
    from sidelight._affinity import similarities
    from sidelight.estimators.instances import _spectral, bag_spectral
    from sidelight.metrics import normalized_mutual_information

    X, bags, y = made(30_000 if small else 1_000_000, apart=0.9)
    steps: dict[str, float] = {}
    if not small:
        for module, function, step in (
            (similarities, "nearest_rows", "nearest rows"), (similarities, "graph_local_scaling", "similarities"),
            (similarities, "similarity_components", "components"), (bag_spectral, "alpha_scale", "weight of bags"),
            (_spectral, "leading_eigenvectors", "eigenvectors"), (_spectral, "round_embedding", "rounding"),
        ):  # fmt: skip
            timed(module, function, step, steps)
    model = sl.BagSpectralClustering(20, affinity="neighbours", random_state=0)

    def run() -> dict[str, Any]:
        from scale_cells import processor

        before = processor()
        model.fit(X, bags=bags)
        steps["the rest"] = processor() - before - sum(steps.values())
        nmi = normalized_mutual_information(y, model.labels_)
        return {"steps": steps, "recall": model.recall_, "nmi": float(nmi)}

    return run


def timed(module: Any, name: str, step: str, steps: dict[str, float]) -> None:
    """Add the processor time of a function to a step, wherever it is called from this module."""
    from scale_cells import processor

    plain = getattr(module, name)

    def with_clock(*arguments: Any, **options: Any) -> Any:
        before = processor()
        answer = plain(*arguments, **options)
        steps[step] = steps.get(step, 0.0) + processor() - before
        return answer

    setattr(module, name, with_clock)


def tree_of_rows(name: str, *, small: bool = False) -> Any:
    """The size of the thesis' Pascal 2007."""
    import sidelight as sl

    n, d = (500, 20) if small else (10_000, 4096)
    sample = sl.data.make_label_tree(n, n_features=d, n_labels=24, missing=0.3, random_state=0)
    return lambda: sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete) and None


def tree_of_labels(name: str, *, small: bool = False) -> Any:
    """Very many labels, and no features."""
    import sidelight as sl

    n, labels = (500, 20) if small else (10_000, 500)
    sample = sl.data.make_label_tree(n, n_features=100, n_labels=labels, missing=0.3, random_state=0)
    return lambda: sl.LatentHierarchyClassifier().fit(None, sample.Y_incomplete) and None


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    print(json.dumps(measure(sys.argv[1])))
