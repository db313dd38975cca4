"""What the benchmark of scale-out measures: one function a cell, each called in a fresh interpreter."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

D, K, SIZE, FILES = 48, 20, 10, 20
KEPT = {"MALLOC_TRIM_THRESHOLD_": 2**30, "MALLOC_MMAP_THRESHOLD_": 2**30}  # workers keep memory that they free
SETTINGS = {"boundary": "straight", "random_state": 0}


def cell(what: str, n: int) -> dict[str, Any]:
    """Run one cell in a fresh interpreter with two threads."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, __file__, what, str(n)], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{what} on {n} failed:\n{done.stderr[-3000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(what: str, n: int) -> dict[str, Any]:
    """Return what a cell measures."""
    others = {"apart": apart, "pass": empty_pass, "events": count_events, "look": first_look, "rest": at_rest}
    if what in others:
        return others[what](n)
    return fit_rows(what, n) if what in ("rows", "plain", "tight") else fit_parts(what, n)


# ---- the rows


def rows_of(n: int, d: int = D) -> Path:
    """Write n rows in bags of ten with three labels of twenty as Parquet files, once."""
    import polars as pl

    from runner import WORK

    folder = WORK / "scale" / f"rows-{n}-{d}"
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    centres = np.random.default_rng(0).standard_normal((K, d))
    step = n // FILES // SIZE * SIZE
    for number in range(FILES):
        X, lists, bags = piece(centres, number, step if number < FILES - 1 else n - step * (FILES - 1), step)
        frame = pl.DataFrame({f"f{j}": X[:, j] for j in range(d)}).with_columns(
            pl.Series("bag", bags), pl.Series("labels", np.repeat(lists, SIZE))
        )
        frame.write_parquet(folder / f"part-{number:03d}.parquet", compression="lz4")
    (folder / "done").touch()
    return folder


def piece(centres: np.ndarray, number: int, n: int, step: int) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Draw the rows of one file."""
    generator = np.random.default_rng([1, number])
    chosen = np.sort(np.argsort(generator.random((n // SIZE, K)), axis=1)[:, :3], axis=1)
    pick = generator.integers(0, 3, size=(n // SIZE, SIZE))
    pick[:, :3] = np.arange(3)
    y = np.take_along_axis(chosen, pick, axis=1).ravel()
    X = (centres[y] + 1.5 * generator.standard_normal((n, centres.shape[1]))).astype(np.float32)
    lists = ["|".join(f"k{c:02d}" for c in row) for row in chosen.tolist()]
    return X, lists, np.repeat(np.arange(n // SIZE) + number * (step // SIZE), SIZE)


def parts_of(n: int, d: int = D) -> Any:
    """Return the rows as parts."""
    import sidelight as sl

    return sl.Parts.from_parquet(rows_of(n, d), bag="bag", labels="labels")


# ---- fits


def fit_parts(what: str, n: int) -> dict[str, Any]:
    """Fit by parts on one engine: memory, disk, or two Dask workers, which may keep memory that they free."""
    import sidelight as sl

    parts, model = parts_of(n), sl.CoverageClustering(**SETTINGS)
    with engine(what) as (chosen, on_workers):
        evaluations = evaluation_seconds()
        begin, before = time.perf_counter(), processor() + sum(on_workers(processor))
        model.fit(parts, engine=chosen)
        taken = {"wall": time.perf_counter() - begin, "cpu": processor() + sum(on_workers(processor)) - before}
        taken["megabytes"] = peak() + sum(on_workers(peak))
    return {
        **taken, "evaluations": len(evaluations), "cpu_of_evaluations": sum(evaluations),
        "objective": float(model.trace_[-1]), "bits": bits(model), "labels": keep_labels(what, n, model),
    }  # fmt: skip


def fit_rows(what: str, n: int) -> dict[str, Any]:
    """Fit rows that are all in memory: from a sample ("rows"), without one ("plain"), or without and to the end."""
    import sidelight as sl
    from sidelight._models.objective import BlockedObjective, PartedObjective
    from sidelight.estimators.coverage import clustering

    if what != "rows":
        clustering.LEAST = n  # a sample pays from three times as many rows on
    X, bags = parts_of(n).sample(10**12)
    X, calls = X.astype(np.float64), []
    kind: Any = PartedObjective if what == "rows" else BlockedObjective
    plain = kind.__call__

    def counted(self: Any, theta: Any) -> Any:
        calls.append(1)
        return plain(self, theta)

    kind.__call__ = counted  # measured here, and nowhere else
    model = sl.CoverageClustering(**SETTINGS, **({"tol": 1e-11, "max_iter": 2000} if what == "tight" else {}))
    begin, before = time.perf_counter(), processor()
    model.fit(X, bags=bags)
    taken = {"wall": time.perf_counter() - begin, "cpu": processor() - before, "megabytes": peak()}
    labels = keep_labels(what, n, model)
    return {**taken, "evaluations": len(calls), "objective": float(model.trace_[-1]), "labels": labels}


@contextmanager
def engine(what: str) -> Iterator[Any]:
    """Return an engine, and a function that asks every worker something."""
    import sidelight as sl

    if what not in ("dask", "kept"):
        yield what, lambda function: []
        return
    with cluster(2, KEPT if what == "kept" else {}) as client:
        yield sl.OnDask(client), lambda function: list(client.run(function).values())


@contextmanager
def cluster(n_workers: int, environment: dict[str, Any] | None = None) -> Iterator[Any]:
    """Start a cluster on this machine: the scheduler in this process, workers in processes of their own."""
    import dask
    from distributed import Client, LocalCluster

    place = "distributed.nanny.pre-spawn-environ"
    with (
        dask.config.set({place: {**dask.config.get(place), **(environment or {})}}),
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        yield client


def evaluation_seconds() -> list[float]:
    """Keep the processor time of this process for every evaluation over all rows."""
    from sidelight._models.objective import PartedObjective

    spent: list[float] = []
    plain = PartedObjective.__call__

    def timed(self: Any, theta: Any) -> Any:
        begin = time.process_time()
        answer = plain(self, theta)
        spent.append(time.process_time() - begin)
        return answer

    PartedObjective.__call__ = timed  # type: ignore[method-assign] # measured here, and nowhere else
    return spent


def keep_labels(what: str, n: int, model: Any) -> str:
    """Keep the labels of a million rows to compare; of more rows nobody does."""
    from runner import WORK

    if n > 1_000_000:
        return ""
    path = WORK / "scale" / f"labels-{what}-{n}.npy"
    np.save(path, np.asarray(model.labels_).astype(np.int16))
    return path.name


# ---- everything else


def first_look(n: int) -> dict[str, Any]:
    """What this process does before anybody goes over the rows: it reads the columns of bags and labels."""
    parts = parts_of(n)
    before = processor()
    n_bags = parts.n_bags
    return {"cpu": processor() - before, "n_bags": n_bags}


def empty_pass(n_workers: int) -> dict[str, Any]:
    """What an empty question takes, and what client and scheduler do for it."""
    import sidelight as sl

    with cluster(n_workers) as client, sl.OnDask(client).over(parts_of(500_000)) as passes:
        for _ in range(5):
            passes.run(Nothing())
        begin, before = time.perf_counter(), time.process_time()
        for _ in range(50):
            passes.run(Nothing())
        taken = time.perf_counter() - begin, time.process_time() - before
        return {"milliseconds": 20.0 * taken[0], "cpu_milliseconds": 20.0 * taken[1], "parts": len(passes.parts)}


class Nothing:
    """A question whose answer is nothing."""

    def of_block(self, held: Any, run: tuple[int, int]) -> tuple[float]:
        """Answer nothing."""
        return (0.0,)


def apart(n: int) -> dict[str, Any]:
    """Bring bags together whose rows lie anywhere in the files: 16 features."""
    import tempfile

    import polars as pl

    import sidelight as sl
    from runner import WORK

    whole = pl.read_parquet(rows_of(n, 16) / "*.parquet").sample(fraction=1.0, shuffle=True, seed=0)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        for number in range(FILES):
            whole[number * n // FILES : (number + 1) * n // FILES].write_parquet(f"{folder}/{number:02d}.parquet")
        del whole
        (Path(folder) / "together").mkdir()
        parts = sl.Parts.from_parquet(f"{folder}/*.parquet", bag="bag", labels="labels")
        begin, before = time.perf_counter(), processor()
        together = parts.together(Path(folder) / "together")
        return {"wall": time.perf_counter() - begin, "cpu": processor() - before, "n_bags": together.n_bags}


def events_of(n: int) -> Path:
    """Write n events of 1,000 people and 500 things as Parquet files of ten million, once."""
    import polars as pl

    from runner import WORK

    folder, each = WORK / "scale" / f"events-{n}", 10_000_000
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n // each):
        generator = np.random.default_rng([2, number])
        kind = generator.integers(0, 5, each, dtype=np.int32)
        who, what = (kind * size + generator.integers(0, size, each, dtype=np.int32) for size in (200, 100))
        pl.DataFrame({"who": who, "what": what}).write_parquet(folder / f"{number:04d}.parquet", compression="lz4")
    (folder / "done").touch()
    return folder


def count_events(n: int) -> dict[str, Any]:
    """Count events of many files together, piece by piece."""
    from sidelight.files.roles.events import count_parquet

    files = sorted(events_of(n).glob("*.parquet"))
    begin, before = time.perf_counter(), processor()
    counts = count_parquet(files, ["who", "what"])
    taken = {"wall": time.perf_counter() - begin, "cpu": processor() - before, "megabytes": peak()}
    return {**taken, "cells": counts.nnz, "total": counts.total}


def at_rest(n: int) -> dict[str, Any]:
    """What a process takes that has imported everything and read nothing."""
    import distributed  # noqa: F401 # imported for what it takes
    import polars  # noqa: F401

    import sidelight as sl

    X = np.random.default_rng(0).standard_normal((n, 2))
    bags = sl.Bags(np.arange(n) // 4, labels={b: {"a", "b"} for b in range(n // 4)})
    sl.CoverageClustering(**SETTINGS).fit(X, bags=bags)
    return {"megabytes": peak()}


def processor() -> float:
    """Return the processor time of this process so far."""
    return sum(os.times()[:2])


def peak() -> float:
    """Return the most memory that this process has held, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def bits(model: Any) -> str:
    """Return a short name of everything a fit decides."""
    return hashlib.blake2b(model.weights_.tobytes() + model.trace_.tobytes(), digest_size=8).hexdigest()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from scale_cells import measure as measure_cell  # classes are found again by workers under the module's name

    print(json.dumps(measure_cell(sys.argv[1], int(sys.argv[2]))))
