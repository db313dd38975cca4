"""Channels and counts: growth to a million rows, and every fit of the family at 2,000 rows and 40 clusters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import sidelight as sl
from runner import ROOT, Ledger, Sheet
from sidelight.errors import ignore_warnings
from sidelight.estimators.sources.multisource import BY_GRAPHS, METHODS
from sidelight.metrics import normalized_mutual_information

TITLE = "Sources: growth to a million rows, and many clusters"
MOST = int(os.environ.get("SOURCES_MOST", 1_000_000))
SIZES = tuple(n for n in (10_000, 31_000, 100_000, 310_000, 1_000_000) if n <= MOST)
MINUTES = float(os.environ.get("SOURCES_MINUTES", "inf"))
N_CHANNELS, WIDTH, N_CLUSTERS = 4, 10, 10
ROWS, MANY = 2_000, 40


def fill(sheet: Sheet) -> None:
    """Measure what is missing, each size in a fresh process."""
    sheet.notes.append(
        f"Generated: {N_CHANNELS} channels of {WIDTH} columns that show the same {N_CLUSTERS} clusters, normal noise, "
        "seed 0. Times are of the processor, so they hold on a busy machine; memory is the peak of the whole process, "
        "with its input. `SOURCES_MOST` is the largest number of rows."
    )
    sheet.say_if_busy()
    ledger = Ledger("sources_growth")
    cells = [(f"{n} rows", lambda n=n: in_a_fresh_process(n)) for n in SIZES]
    family = [(f"family {name}", lambda fit=fit: processor_time(fit)) for name, fit in fits()]
    found = ledger.run(cells + family, stage="growth", minutes=MINUTES)
    sizes = [n for n in SIZES if f"{n} rows" in found]
    costs = {n: found[f"{n} rows"] for n in sizes}
    if 100_000 in costs:
        cost = costs[100_000]
        sheet.row(
            "100,000 rows, 4 channels, processor time", f"{cost['seconds']:.0f} s", "<= 60 s", cost["seconds"] <= 60
        )
        sheet.row("the same, peak memory", f"{cost['megabytes'] / 1024:.2f} GB", "<= 2 GB", cost["megabytes"] <= 2048)
    if len(sizes) > 1:
        sheet.growth("MultiSourceClustering, processor time", sizes, lambda n: float(costs[n]["seconds"]))
    known = [(found[key], key.removeprefix("family ")) for key, _ in family if key in found]
    if known:
        is_met = max(known)[0] <= 5 if len(known) == len(family) or max(known)[0] > 5 else None
        what = f"slowest of {len(known)} of {len(family)} fits of the family, {ROWS:,} rows, {MANY} clusters"
        sheet.row(what, f"{max(known)[0]:.1f} s ({max(known)[1]})", "<= 5 s", is_met)
    header = ["rows", "processor time, s", "peak memory, GB", "NMI with the truth", "method taken"]
    lines = [
        (f"{n:,}", f"{c['seconds']:.1f}", f"{c['megabytes'] / 1024:.2f}", f"{c['nmi']:.3f}", c["method"])
        for n, c in costs.items()
    ]
    sheet.section("Growth", header, lines)
    rows = [(name, f"{cost:.2f}") for cost, name in known]
    sheet.section(f"{ROWS:,} rows, {MANY} clusters", ["fit", "processor time, s"], rows)


def in_a_fresh_process(n: int) -> dict[str, Any]:
    """Fit once, and return processor time, peak memory, quality and what was taken."""
    code = f"import bench_sources_growth as b; b.print_cost({n})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "benchmarks")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def print_cost(n: int) -> None:
    """Fit n rows, and print what it took as JSON."""
    import resource

    X, channels, y = drawn(n, N_CLUSTERS)
    model = sl.MultiSourceClustering(N_CLUSTERS, channels=channels, random_state=0)
    began = time.process_time()
    model.fit(X)
    cost = {
        "seconds": time.process_time() - began,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "nmi": float(normalized_mutual_information(y, model.labels_)),
        "method": str(model.method_),
    }
    print(json.dumps(cost))


def drawn(n: int, k: int) -> tuple[np.ndarray, dict[str, slice], np.ndarray]:
    """Draw channels that show the same clusters, side by side."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    parts = {f"channel {c}": rng.normal(size=(k, WIDTH))[y] + rng.normal(size=(n, WIDTH)) for c in range(N_CHANNELS)}
    X, channels = sl.stack_channels(parts)
    return X, dict(channels), y


def fits() -> Iterator[tuple[str, Callable[[], Any]]]:
    """List the fits of the family."""
    X, channels, y = drawn(ROWS, MANY)
    for method in (*BY_GRAPHS, *METHODS):
        model = sl.MultiSourceClustering(MANY, channels=channels, method=method, random_state=0)
        yield f"MultiSourceClustering, {method}", lambda model=model: model.fit(X)
    yield "ConcatenatedKMeans", lambda: sl.peers.ConcatenatedKMeans(MANY, random_state=0).fit(X)
    yield "DiscriminativeClustering, no answers", lambda: sl.DiscriminativeClustering(MANY, random_state=0).fit(X)
    rates = np.random.default_rng(0).gamma(0.3, size=(MANY, 500))
    counts = np.random.default_rng(1).poisson(rates[y])
    for cocluster in METHODS.values():
        yield (
            f"{cocluster.__name__}, 2,000 x 500 counts",
            lambda way=cocluster: way((MANY, MANY), random_state=0).fit(counts),
        )


def processor_time(fit: Callable[[], Any]) -> float:
    """Return the processor time of one fit, after one that compiles what there is to compile."""
    with ignore_warnings():
        fit()
        began = time.process_time()
        fit()
    return time.process_time() - began
