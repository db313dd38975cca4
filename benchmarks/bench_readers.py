"""Reading large tables: time and memory of a wide CSV, of its description, and of a long table of events.

The files are written into benchmarks/.work and removed afterwards. Each measurement runs in a fresh interpreter, so
that its peak of memory is its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from runner import ROOT, WORK, Sheet

TITLE = "Readers: large tables"
N_ROWS, N_COLUMNS = int(os.environ.get("READERS_ROWS", 5_000_000)), 20
N_EVENTS = int(os.environ.get("READERS_EVENTS", 50_000_000))
GIGABYTE = 1024.0


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    WORK.mkdir(exist_ok=True)
    table, wordy, events = WORK / "wide.csv", WORK / "wordy.csv", WORK / "events.csv"
    sheet.notes.append("Generated rows, seed 0; every figure from a fresh interpreter, imports included.")
    try:
        write_table(table, N_ROWS)
        size = table.stat().st_size / 1e6
        sheet.notes.append(f"The table: {N_ROWS:,} rows x {N_COLUMNS} columns, {size:,.0f} MB of text.")
        measure(sheet, "described and read (`sidelight describe`)", DESCRIBE.format(path=table), 20.0, 3.0)
        measure(sheet, "read (`sl.read`)", READ.format(path=table), 20.0, 3.0)
        table.unlink()
        write_words(wordy, N_ROWS // 10)
        sheet.notes.append(f"The table with text: {N_ROWS // 10:,} rows, {wordy.stat().st_size / 1e6:,.0f} MB.")
        measure(sheet, "one column of numbers beside 2 columns of text", READ.format(path=wordy), None, 1.0)
        wordy.unlink()
        write_events(events, N_EVENTS)
        sheet.notes.append(f"The events: {N_EVENTS:,} lines, {events.stat().st_size / 1e6:,.0f} MB, 1000 x 2000 names.")
        measure(sheet, "events counted into a CoOccurrence", READ.format(path=events), None, 2.0)
    finally:
        for path in (table, wordy, events):
            path.unlink(missing_ok=True)


READ = "import sidelight as sl; data = sl.read('{path}')"
DESCRIBE = "from sidelight.app.jobs.describe import describe; d = describe('{path}')"


def measure(sheet: Sheet, what: str, code: str, at_most: float | None, gigabytes: float) -> None:
    """Run ``code`` in a fresh interpreter and add its time and its peak of memory."""
    watch = "import resource as r; u = r.getrusage(r.RUSAGE_SELF); print(u.ru_utime + u.ru_stime, u.ru_maxrss)"
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{watch}"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    took = time.perf_counter() - begin
    if done.returncode:
        raise RuntimeError(done.stderr)
    worked, kilobytes = done.stdout.split()[-2:]
    peak = int(kilobytes) / 1024 / GIGABYTE
    times = f"{took:.1f} s ({float(worked):.1f} s of processor time, load {os.getloadavg()[0]:.1f})"
    if at_most is None:
        sheet.row(f"{what}: time", times)
    else:
        sheet.row(f"{what}: time", times, f"{at_most:g} s", took <= at_most)
    sheet.row(f"{what}: peak memory", f"{peak:.2f} GB", f"{gigabytes:g} GB", peak <= gigabytes)


def write_table(path: Path, n_rows: int) -> None:
    """Write numbers with six digits, block by block."""
    import polars as pl

    rng = np.random.default_rng(0)
    with path.open("wb") as handle:
        for start in range(0, n_rows, 500_000):
            n = min(500_000, n_rows - start)
            block = pl.DataFrame(rng.normal(size=(n, N_COLUMNS)), schema=[f"f{j:02d}" for j in range(N_COLUMNS)])
            block.write_csv(handle, include_header=start == 0, float_precision=6)


def write_words(path: Path, n_rows: int) -> None:
    """Write a number beside two long texts."""
    import polars as pl

    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["lorem", "ipsum", "dolor", "sit", "amet"], size=60)) for _ in range(1000)]
    with path.open("wb") as handle:
        for start in range(0, n_rows, 100_000):
            pick = rng.integers(1000, size=min(100_000, n_rows - start))
            noise = rng.integers(10**9, size=len(pick))
            block = pl.DataFrame(
                {
                    "f1": rng.normal(size=len(pick)).round(6),
                    "remark": [f"{texts[i]} {k}" for i, k in zip(pick.tolist(), noise.tolist())],
                    "reply": [f"{k} {texts[-i]}" for i, k in zip(pick.tolist(), noise.tolist())],
                    "f2": rng.normal(size=len(pick)).round(6),
                }
            )
            block.write_csv(handle, include_header=start == 0)


def write_events(path: Path, n_events: int) -> None:
    """Write who did what: names with a long tail."""
    import polars as pl

    rng = np.random.default_rng(0)
    users = pl.Series([f"user{i:04d}" for i in range(1000)])
    films = pl.Series([f"film{i:04d}" for i in range(2000)])
    with path.open("wb") as handle:
        for start in range(0, n_events, 1_000_000):
            n = min(1_000_000, n_events - start)
            who = users.gather((1000 * rng.random(n) ** 2).astype(int))
            what = films.gather((2000 * rng.random(n) ** 3).astype(int))
            pl.DataFrame({"user": who, "film": what}).write_csv(handle, include_header=start == 0)
