"""Scale-out: one coverage fit in memory, from disk and on a Dask cluster; time, memory, passes and bits against rows.

Every cell runs in a fresh interpreter and is written down when it is finished: a second run takes up where the first
stopped. Twenty million rows are fitted from disk only: this machine's memory is shared, and does not hold them.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np

from scale_cells import FILES, D, K, cell, events_of, rows_of

TITLE = "Scale-out: more rows than memory"
ENGINES = ("memory", "disk", "dask")
SIZES = (200_000, 1_000_000, 5_000_000)
LARGEST = 20_000_000
EVENTS = (100_000_000, 300_000_000, 1_000_000_000)
WORKERS = (2, 4, 8, 12)


def fill(sheet: Any) -> None:
    """Measure and add the rows."""
    from runner import WORK, Ledger

    ledger = Ledger("scale", source="scale_cells.py")
    cells = [("rest/1000", *_cell("rest", 1000)), *((f"pass/{w}", *_cell("pass", w)) for w in WORKERS)]
    cells += [(f"{what}/1000000", *_cell(what, 1_000_000)) for what in ("rows", "plain", "tight")]
    cells += [(f"{what}/{n}", *_cell(what, n)) for n in SIZES for what in ENGINES]
    cells += [(f"kept/{SIZES[-1]}", *_cell("kept", SIZES[-1]))]
    cells += [("apart/2000000", *_cell("apart", 2_000_000)), *((f"events/{n}", *_cell("events", n)) for n in EVENTS)]
    cells += [(f"disk/{LARGEST}", *_cell("disk", LARGEST)), (f"look/{LARGEST}", *_cell("look", LARGEST))]
    minutes = float(os.environ.get("SIDELIGHT_MINUTES", "inf"))
    found = ledger.run([(key, run) for key, run in cells], stage="scale", minutes=minutes)
    sheet.notes.append(
        f"`CoverageClustering(boundary='straight')` on {D} features, bags of ten rows with three of {K} labels, in "
        f"{FILES} Parquet files with lz4; two threads, and two Dask workers on the same two cores. The cores were "
        "shared with other work, so clocks say little and processor time (user and system, all processes) is judged; "
        "what many processes take of each other's cache is in it. Memory is the sum of what each process held at its "
        f"most; one that has only imported everything holds {found['rest/1000']['megabytes']:.0f} MB."
    )
    of_engines(sheet, found)
    of_plain(sheet, found, WORK)
    of_others(sheet, found)
    whole = [n for n in (*SIZES, LARGEST) if f"disk/{n}" in found]
    sheet.section("Time and memory", *table_of(found, whole))
    sheet.figure(growth(found, whole), "Processor time and memory of a whole fit against rows, for each engine")
    if f"look/{LARGEST}" in found:  # the last one: everything was measured
        sheet.sections.append(on_paper(found))


def _cell(what: str, n: int) -> tuple[Any]:
    def run() -> dict[str, Any]:
        if what == "events":
            events_of(n)
        elif what == "apart":
            rows_of(n, 16)
        elif what not in ("pass", "rest"):
            rows_of(n)
        else:
            rows_of(500_000)
        measured = cell(what, n)
        if what == "events":
            shutil.rmtree(events_of(n))  # a billion of them take gigabytes
        return measured

    return (run,)


def of_engines(sheet: Any, found: dict[str, Any]) -> None:
    """Compare the engines where all of them were run."""
    last = max((n for n in SIZES if all(f"{what}/{n}" in found for what in ENGINES)), default=0)
    if last:
        memory, disk, dask = (found[f"{what}/{last}"] for what in ENGINES)
        times = disk["cpu"] / memory["cpu"]
        sheet.row(f"{last:,} rows from disk against memory", f"{times:.2f} times", "<= 1.5", times <= 1.5)
        times = dask["cpu"] / memory["cpu"]
        sheet.row(
            f"{last:,} rows, two Dask workers and driver against memory",
            f"{times:.2f} times; on the clock {dask['wall']:.0f} s against {memory['wall']:.0f} s",
            "<= 1",
            times <= 1,
        )
        if kept := found.get(f"kept/{last}"):
            times = kept["cpu"] / memory["cpu"]
            told = f"{times:.2f} times; on the clock {kept['wall']:.0f} s against {memory['wall']:.0f} s"
            sheet.row("the same, with workers that keep memory they free", told, "<= 1", times <= 1)
    if (largest := found.get(f"disk/{LARGEST}")) and last:
        times = largest["cpu"] / LARGEST / (found[f"memory/{last}"]["cpu"] / last)
        told = f"{times:.2f} times ({largest['cpu']:.0f} s in all)"
        sheet.row(f"{LARGEST:,} rows from disk: time a row, against {last:,} in memory", told, "<= 1.5", times <= 1.5)
        size = largest["megabytes"]
        sheet.row(f"{LARGEST:,} rows from disk: memory", f"{size:.0f} MB", "<= 3000 MB", size <= 3000)
    same = [len({found[f"{what}/{n}"]["bits"] for what in ENGINES}) == 1 for n in SIZES if f"dask/{n}" in found]
    sheet.row("same bits on all engines", f"{sum(same)} of {len(same)} sizes", "all", all(same))


def of_plain(sheet: Any, found: dict[str, Any], work: Any) -> None:
    """Compare fits from a sample with the plain fit, and say what the plain fit's own stopping leaves."""
    n = 1_000_000
    if not all(f"{what}/{n}" in found for what in ("rows", "plain", "tight", "memory")):
        return
    plain, tight = found[f"plain/{n}"], found[f"tight/{n}"]
    labels = {
        what: np.load(work / "scale" / found[f"{what}/{n}"]["labels"]) for what in ("rows", "plain", "tight", "memory")
    }

    def below(one: dict[str, Any], other: dict[str, Any]) -> float:
        return float((other["objective"] - one["objective"]) / abs(other["objective"]))

    def same(one: str, other: str) -> float:
        return float(np.mean(labels[one] == labels[other]))

    left = below(plain, tight)
    sheet.row(
        f"{n:,} rows, plain fit: what its own stopping (tol 1e-6) leaves",
        f"{left:.1e} of the objective; {100 * same('plain', 'tight'):.3f} % of the labels are final",
    )
    for what, name in (("rows", "from a sample, in memory"), ("memory", "by parts")):
        gap = below(found[f"{what}/{n}"], plain)
        sheet.row(f"{n:,} rows {name}: objective worse than the plain fit by", f"{gap:.1e}", "<= 1e-6", gap <= 1e-6)
        share = same(what, "tight")
        told = f"{100 * share:.3f} % (as the plain fit: {100 * same(what, 'plain'):.3f} %)"
        sheet.row(f"{n:,} rows {name}: labels that are final", told, ">= 99.99 %", share >= 0.9999)
    rows = found[f"rows/{n}"]
    sheet.row(
        f"{n:,} rows in memory: evaluations over all rows",
        f"{rows['evaluations']} in {rows['cpu']:.0f} s (plain: {plain['evaluations']} in {plain['cpu']:.0f} s)",
    )


def of_others(sheet: Any, found: dict[str, Any]) -> None:
    """Add passes, bags that lie apart and events."""
    if one := found.get("pass/2"):
        each = one["milliseconds"] / 2
        sheet.row("an empty pass of two workers, for each", f"{each:.1f} ms", "<= 25 ms", each <= 25)
    if one := found.get("apart/2000000"):
        sheet.row("2,000,000 rows x 16, bags brought together", f"{one['cpu']:.1f} s")
    for n in EVENTS:
        if one := found.get(f"events/{n}"):
            told = f"{one['megabytes']:.0f} MB, {one['cpu']:.0f} s; {one['cells']:,} combinations"
            sheet.row(f"{n:,} events counted: memory", told, "<= 4000 MB", one["megabytes"] <= 4000)


def table_of(found: dict[str, Any], n_all: list[int]) -> tuple[list[str], list[list[str]]]:
    """Return one line for each engine and number of rows."""
    lines = []
    for n in n_all:
        for what in ENGINES:
            if one := found.get(f"{what}/{n}"):
                each = "" if what == "dask" else f"{one['cpu_of_evaluations'] / one['evaluations']:.2f}"
                told = (
                    f"{one['cpu']:.1f}",
                    each,
                    str(one["evaluations"]),
                    f"{one['wall']:.1f}",
                    f"{one['megabytes']:.0f}",
                )
                lines.append([f"{n:,}", what, *told])
    return ["rows", "engine", "processor time, s", "of an evaluation, s", "evaluations", "clock, s", "MB"], lines


def growth(found: dict[str, Any], n_all: list[int]) -> Any:
    """Draw processor time and memory against rows."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(9, 3.6), layout="constrained")
    axes = drawn.subplots(1, 2)
    for what, mark in zip(ENGINES, ("o-", "s--", "^:")):
        own = [n for n in n_all if f"{what}/{n}" in found]
        for axis, name in zip(axes, ("cpu", "megabytes")):
            axis.loglog(own, [found[f"{what}/{n}"][name] for n in own], mark, label=what)
    for axis, title in zip(axes, ("processor time of a fit, s", "MB, all processes")):
        axis.set(xlabel="rows", ylabel=title)
        axis.legend(frameon=False)
        axis.grid(alpha=0.3)
    return drawn


def on_paper(found: dict[str, Any]) -> str:
    """Say what a hundred workers and a billion rows would take, from the figures of this page alone."""
    last = max(n for n in SIZES if f"memory/{n}" in found)
    memory = found[f"memory/{last}"]
    row = memory["cpu_of_evaluations"] / memory["evaluations"] / last
    task, start = np.polyfit(WORKERS, [found[f"pass/{w}"]["cpu_milliseconds"] for w in WORKERS], 1) / 1e3
    look = found[f"look/{LARGEST}"]["cpu"] / LARGEST
    n, w, rounds = 1e9, 100, memory["evaluations"]

    def seconds(w: float) -> tuple[float, float]:
        return 2 * (start + task * w), row * n / w

    best = float(np.sqrt(row * n / (2 * task)))
    (waiting, working), (at_best, work_at_best) = seconds(w), seconds(best)
    gigabytes = n * (4 * D + 400) / w / 2**30
    total = rounds * (waiting + working) + look * n
    passes = ", ".join(f"{w} workers {found[f'pass/{w}']['cpu_milliseconds']:.0f} ms" for w in WORKERS)
    return f"""## On paper: 100 workers and a billion rows

This was not run; it follows from the figures above. An evaluation is two passes over rows that workers have kept, and
took {1e6 * row:.2f} s of one core for a million rows ({last:,} rows in memory). Client and scheduler, which share
a process here, took {1e3 * start:.1f} ms of processor time for an empty pass and {1e3 * task:.2f} ms more for each
worker ({passes}). So w workers take, for n rows and one evaluation, about

    2 * ({1e3 * start:.1f} ms + {1e3 * task:.2f} ms * w) + {1e6 * row:.2f} s * n / 1e6 / w

With n = 1e9 and w = {w} that is {waiting:.1f} s of scheduling and {working:.1f} s of computing: {rounds} evaluations
take {rounds * (waiting + working) / 60:.1f} minutes, when every worker has a core and room for its ten million rows
({gigabytes:.1f} GB with posteriors). The sum is least at about {best:.0f} workers, with {at_best:.1f} s of scheduling
and {work_at_best:.1f} s of computing; more of them make it slower: the first limit is **what the scheduler does for
a task**. Before that the driver reads the columns of bags and labels of all files, alone: {1e6 * look:.2f} s for a
million rows ({LARGEST:,} rows were looked at), {look * n / 60:.1f} minutes for a billion, and it keeps 16 bytes of
each bag meanwhile. Together that is {total / 60:.1f} minutes: **the second limit is the driver's first look**, which
more workers do not shorten. Reading the rows for the first time, the fit of the sample (with everything else beside
evaluations {memory["cpu"] - memory["cpu_of_evaluations"]:.0f} s of one core on {last:,} rows) and writing assignments
come on top; the first and the last are done by the workers."""
