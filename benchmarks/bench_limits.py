"""Each job's default fit against the one product or pass that it cannot do without, its growth and its memory.

Every cell runs in a process of its own with one thread: a small fit of the same kind first, which loads compiled loops,
then processor time of the fit and of the pass in turn. Ratios are within one process, so that what shares the machine
slows both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from datasets import title
from runner import Ledger, Sheet

TITLE = "Fits beside the pass that they cannot do without"
MOST = 20.0  # the most that a default fit should take, in passes of its own iterations
ROWS = 200_000  # x 48: memory is measured at so many rows
MOST_MEMORY = 3.0  # peak of a fit, in bytes of its rows


class Case(NamedTuple):
    """A default fit: n -> (fit, the pass beside it, bytes of what is fitted)."""

    what: str
    make: Callable[[int], tuple[Callable[[], Any], Callable[[], Any], int]]
    sizes: tuple[int, int, int]
    a_pass: str
    why: str
    most_rows: int = 0  # of the measurement of memory; 0 measures none


def coverage(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """Rows in bags of ten with one to three of twenty labels, not clearly apart."""
    import sidelight as sl
    from datasets import made

    X, bags, _ = made(n)
    return lambda: sl.CoverageClustering(random_state=0).fit(X, bags=bags), product(X, 20), X.nbytes


def spectral(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """The same rows; the pass is one product of a graph of twenty neighbours with twenty vectors."""
    import sidelight as sl
    from datasets import made

    X, bags, _ = made(n)
    generator = np.random.default_rng(0)
    columns = generator.integers(0, n, size=20 * n)
    graph = sp.csr_array((np.ones(20 * n), columns, np.arange(0, 20 * n + 1, 20)), shape=(n, n))
    V = generator.standard_normal((n, 20))
    return lambda: sl.BagSpectralClustering(20, random_state=0).fit(X, bags=bags), lambda: graph @ V, X.nbytes


def words(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """The same rows; the pass compares every row with a hundred words."""
    import sidelight as sl
    from datasets import made

    X, bags, _ = made(n)
    return lambda: sl.BagWordClustering(5, random_state=0).fit(X, bags=bags), product(X, 100), X.nbytes


def relations(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """The same rows with a thousand answers about pairs."""
    import sidelight as sl
    from datasets import made

    X, _, y = made(n)
    pairs = sl.Pairs.sample(y, 1000, random_state=0)
    return lambda: sl.DiscriminativeClustering(20, random_state=0).fit(X, pairs=pairs), product(X, 20), X.nbytes


def hierarchy(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """Forty-eight features and twenty-four labels of a tree, of which a third was forgotten."""
    import sidelight as sl

    sample = sl.data.make_label_tree(n, n_features=48, n_labels=24, missing=0.3, random_state=0)
    X = np.asarray(sample.X)
    return lambda: sl.LatentHierarchyClassifier().fit(X, sample.Y_incomplete), product(X, 24), X.nbytes


def sources(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """Three channels of sixteen features."""
    import sidelight as sl
    from datasets import made

    X, _, _ = made(n)
    parts = {f"channel-{j}": X[:, 16 * j : 16 * j + 16] for j in range(3)}
    Z, channels = sl.stack_channels(parts)
    model = sl.MultiSourceClustering(20, channels=channels, random_state=0)
    return lambda: model.fit(Z), product(Z, 20), Z.nbytes


def counts(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """A table of n x 1,000 with forty events a row; the pass adds up the table by clusters of columns."""
    import sidelight as sl

    generator = np.random.default_rng(0)
    kind = generator.integers(0, 10, size=n)
    columns = (100 * kind[:, None] + generator.integers(0, 400, size=(n, 40))) % 1000
    A = sp.csr_array((np.ones(40 * n), columns.ravel(), np.arange(0, 40 * n + 1, 40)), shape=(n, 1000))
    A.sum_duplicates()
    of_column = np.eye(10)[np.arange(1000) // 100]
    bytes_ = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
    return lambda: sl.InformationCoclustering((10, 10), random_state=0).fit(A), lambda: A @ of_column, bytes_


def describe(n: int) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """A CSV file of ten columns; the pass reads it once."""
    from sidelight.app.jobs.describe import describe as look

    folder = Path(tempfile.mkdtemp())
    path = folder / "rows.csv"
    block = np.random.default_rng(0).standard_normal((2_000, 8)).round(4)
    lines = [f"id{j},{'ab'[j % 2]}," + ",".join(map(str, row)) for j, row in enumerate(block.tolist())]
    text = "\n".join(lines) + "\n"
    with path.open("w", encoding="utf-8") as file:
        file.write("name,kind," + ",".join(f"x{j}" for j in range(8)) + "\n")
        for _ in range(n // 2_000):
            file.write(text)
    return lambda: look(str(path)), path.read_bytes, path.stat().st_size


def product(X: np.ndarray, k: int) -> Callable[[], Any]:
    """X @ W with k columns."""
    W = np.random.default_rng(1).standard_normal((X.shape[1], k))
    return lambda: X @ W


PLAIN, MORE = (2_500, 10_000, 40_000), (5_000, 20_000, 80_000)
CASES = {
    "coverage": Case(
        "coverage", coverage, MORE, "X @ W, 20 columns",
        "curved features are eleven times as many as the columns, and an evaluation goes through them forward and "
        "back; below it are exponentials and the subsets of every bag, beside it rough fits of held-out bags",
        ROWS,
    ),
    "spectral": Case(
        "spectral clusters of instances", spectral, PLAIN, "a sparse graph times 20 vectors",
        "no iterations are counted: the search for neighbours, and products until the eigenvectors stand", ROWS,
    ),
    "words": Case(
        "bags of words", words, MORE, "X @ W, 100 columns",
        "no iterations are counted: k-means from several starts", ROWS,
    ),
    "relations": Case(
        "relations, 1,000 pairs", relations, MORE, "X @ W, 20 columns",
        "several starts; only some 20,000 rows are looked at, whatever their number", ROWS,
    ),
    "hierarchy": Case(
        "hierarchy, 24 labels", hierarchy, MORE, "X @ W, 24 columns",
        "an evaluation passes messages over the tree and back, row by row, beside two products", ROWS,
    ),
    "sources": Case(
        "sources, three channels", sources, PLAIN, "X @ W, 20 columns",
        "no iterations are counted: neighbours within each channel, and vectors of their graphs", ROWS,
    ),
    "counts": Case(
        "co-clusters of counts", counts, MORE, "the table times 10 columns",
        "several starts of sweeps over rows and columns",
    ),
    "describe": Case("describe of a CSV", describe, (20_000, 80_000, 320_000), "one read of the file",
        "numbers are parsed, and columns are looked at by kind"),
}  # fmt: skip


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.say_if_busy()
    sheet.notes.append(
        "Default parameters on generated data, seed 0: 48 features in bags of ten, 20 kinds not clearly apart, unless "
        "it says otherwise. One thread. Time is processor time of the fit after a small one that loads compiled loops; "
        "a pass is the least of nine, in the same process. A fit must make as many passes as it has iterations (those "
        "of its best start; 1 where a model counts none): that is what it is held against. Nothing was chosen by these "
        "figures."
    )
    cells = [(f"{name}/{n}", lambda name=name, n=n: cell(name, n)) for name, case in CASES.items() for n in case.sizes]
    cells += [
        (f"{name}/memory", lambda name=name, case=case: cell(name, case.most_rows, "memory"))
        for name, case in CASES.items() if case.most_rows
    ]  # fmt: skip
    cells += [(f"{name}/beside", lambda name=name: cell(name, 0, "beside")) for name in ("hja", "msrcv2", "carroll")]
    cells.append(("million", lambda: cell("million", 1_000_000, "million")))
    found = Ledger("limits").run(cells, stage="limits")
    beside(sheet, found)
    table = []
    for name, case in CASES.items():
        times = [found[f"{name}/{n}"] for n in case.sizes]
        ratios = [one["fit"] / (one["pass"] * one["steps"]) for one in times]
        slope = float(np.polyfit(np.log(case.sizes), np.log([one["fit"] for one in times]), 1)[0])
        largest = f"{case.what}, {case.sizes[-1]:,} rows"
        sheet.row(
            f"{largest}: times the passes of its own iterations",
            f"{ratios[-1]:.0f}",
            f"<= {MOST:g}",
            ratios[-1] <= MOST,
        )
        shown = ", ".join(f"{n:,}: {one['fit']:.2f} s" for n, one in zip(case.sizes, times))
        table.append([case.what, case.a_pass, shown, f"{1e3 * times[-1]['pass']:.1f} ms", f"{slope:.2f}",
            f"{times[-1]['fit'] / times[-1]['pass']:.0f}", times[-1]["steps"],
            ", ".join(f"{ratio:.0f}" for ratio in ratios), case.why if ratios[-1] > MOST else ""])  # fmt: skip
        if case.most_rows:
            memory = found[f"{name}/memory"]
            times_rows = (memory["peak"] - memory["empty"]) / memory["bytes"]
            sheet.row(
                f"{case.what}, {case.most_rows:,} x 48: peak memory, in bytes of the rows, which are in it",
                f"{times_rows:.1f}", f"<= {MOST_MEMORY:g}", times_rows <= MOST_MEMORY,
            )  # fmt: skip
    header = [
        "fit", "the pass", "processor time", "a pass at the largest", "growth with rows", "fit / pass", "iterations",
        "fit / (pass x iterations), three sizes", "why more than 20",
    ]  # fmt: skip
    sheet.section("Time, three sizes", header, table)


def beside(sheet: Sheet, found: dict[str, Any]) -> None:
    """Coverage of recorded sets beside a logistic regression that is told every row, and of a million rows."""
    for name in ("hja", "msrcv2", "carroll"):
        one = found[f"{name}/beside"]
        times = one["default"] / one["told"]
        sheet.row(
            f"{title(name)}: coverage as it comes, beside one logistic regression that is told every row",
            f"{times:.1f} times ({one['default']:.2f} s; straight {one['straight'] / one['told']:.1f} times; "
            f"with tol=1e-6 {one['tight'] / one['told']:.1f} times)",
            *(("<= 6 times", times <= 6.0) if name == "hja" else ()),
        )
        sheet.row(
            f"{title(name)}: the default beside straight boundaries", f"{one['default'] / one['straight']:.1f} times",
            "<= 2 times", one["default"] <= 2.0 * one["straight"],
        )  # fmt: skip
    one = found["million"]
    sheet.row(
        "coverage, 1,000,000 x 40, straight boundaries", f"{one['fit']:.1f} s, {one['evaluations']} evaluations",
        "<= 5 s", one["fit"] <= 5.0,
    )  # fmt: skip


def recorded(name: str) -> dict[str, float]:
    """Return the least processor time of three fits, each way, on a recorded set."""
    from sklearn.linear_model import LogisticRegression

    import sidelight as sl
    from datasets import load

    X, bags, y = load(name)
    ways: dict[str, Callable[[], Any]] = {
        "told": lambda: LogisticRegression(C=1 / 1.5, max_iter=1000).fit(X, y),
        "straight": lambda: sl.CoverageClustering(boundary="straight", random_state=0).fit(X, bags=bags),
        "default": lambda: sl.CoverageClustering(random_state=0).fit(X, bags=bags),
        "tight": lambda: sl.CoverageClustering(tol=1e-6, random_state=0).fit(X, bags=bags),
    }
    return {way: min(taken(fit) for _ in range(3)) for way, fit in ways.items()}


def very_many() -> dict[str, float]:
    """Return the processor time of a million rows with straight boundaries, and how often all of them were visited."""
    import sidelight as sl
    from bench_coverage import made
    from sidelight._models import objective

    counted, plain = [0], objective.PartedObjective.__call__

    def count(self: Any, theta: np.ndarray) -> Any:
        counted[0] += 1
        return plain(self, theta)

    objective.PartedObjective.__call__ = count
    model = sl.CoverageClustering(boundary="straight", random_state=0)
    X, bags = made(2_000)
    model.fit(X, bags=bags)
    X, bags = made(1_000_000)
    return {"fit": taken(lambda: model.fit(X, bags=bags)), "evaluations": counted[0]}


def taken(work: Callable[[], Any]) -> float:
    """Return the processor time of this process that some work takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def cell(name: str, n: int, what: str = "time") -> dict[str, float]:
    """Run one case in a fresh interpreter with one thread."""
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "POLARS", "NUMBA")}
    one["POLARS_MAX_THREADS"] = "1"
    done = subprocess.run(
        [sys.executable, __file__, name, str(n), what],
        capture_output=True,
        text=True,
        env=os.environ | one,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-3000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(name: str, n: int, what: str) -> dict[str, float]:
    """Fit one case, and measure time or memory."""
    from scale_cells import peak, processor

    warnings.simplefilter("ignore")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # threads of a fit follow the processors it may use
    if what in ("beside", "million"):
        return recorded(name) if what == "beside" else very_many()
    case = CASES[name]
    case.make(2_000)[0]()
    if what == "memory":
        empty = peak() * 2**20
        fit, _, size = case.make(n)
        fit()
        return {"peak": peak() * 2**20, "empty": empty, "bytes": size}
    fit, one_pass, _ = case.make(n)
    begin = processor()
    found = fit()
    took = processor() - begin
    return {
        "fit": took,
        "pass": min(taken(one_pass) for _ in range(9)),
        "steps": max(1, int(np.max(getattr(found, "n_iter_", 1)))),
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
