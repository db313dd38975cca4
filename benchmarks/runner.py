"""One runner for every benchmark: repeat, take medians, compare with a yardstick of the same run, and write the docs.

A benchmark file ``bench_<name>.py`` has ``fill(sheet)``, which measures and adds rows to its :class:`Sheet`; the sheet
becomes ``docs/benchmarks/<name>.md``. A long experiment keeps every finished cell in a :class:`Ledger`, so that it can
be stopped and taken up again.
"""

from __future__ import annotations

import json
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fingerprint import KEPT_CELLS, fingerprint

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "benchmarks"
WORK = ROOT / "benchmarks" / ".work"
USED: set[tuple[str, str]] = set()  # which file's code measured the cells that ledgers gave since the last page
EARLIER: dict[tuple[str, str], float | None] = {}  # seconds of those among them that an earlier run measured
MEASURED: set[tuple[str, str]] = set()  # those that this run measured
KEPT: set[tuple[str, str]] = set()  # cells of earlier code that were kept because a sample of them is the same now
AGAIN = os.environ.get("BENCH_AGAIN", "") == "1"  # check cells that other code computed; ``make reproduce`` does
SAMPLE, FEWEST = 0.05, 3  # share of such cells that is computed again, and the fewest
TIMES = ("seconds", "wall", "processor", "time", "minutes")  # values that are different in every run
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def seconds(function: Callable[[], Any], *, repeats: int = 5, warm_up: int = 1) -> float:
    """Median wall-clock time of ``function`` over ``repeats`` calls, after ``warm_up`` calls that do not count."""
    for _ in range(warm_up):
        function()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def peak_megabytes(code: str) -> float:
    """Run ``code`` in a fresh interpreter (benchmarks on its path) and return the memory it needed at its peak."""
    # Linux hands ru_maxrss down to the programs that a process starts, so a large parent would be measured instead
    watch = """
import pathlib, resource
status = pathlib.Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
own = [line.split()[1] for line in lines if line.startswith("VmHWM")]
print(own[0] if own else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "benchmarks")}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{watch}"], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise RuntimeError(f"benchmark in a fresh interpreter failed:\n{done.stderr}")
    return int(done.stdout.split()[-1]) / 1024


@dataclass
class Sheet:
    """The rows and figures of one page of results."""

    name: str
    title: str = ""
    notes: list[str] = field(default_factory=list)
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    begin: float = field(default_factory=lambda: processor(), repr=False)

    def say_if_busy(self) -> None:
        """Add a note when other work shares the machine."""
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
        if load > cores:
            self.notes.append(f"The machine was busy (load {load:.1f} on {cores} cores): read times as upper bounds.")

    def row(self, what: str, measured: str, target: str = "", met: bool | None = None) -> None:
        """Add a line to the table; ``met`` says whether the target was reached."""
        verdict = "" if met is None else ("yes" if met else "**no**")
        self.rows.append((what, measured, target, verdict))
        print(f"  {what}: {measured}" + (f"  (target {target}: {verdict})" if target else ""), flush=True)

    def time(
        self,
        what: str,
        function: Callable[[], Any],
        *,
        at_most: float | None = None,
        yardstick: Callable[[], Any] | None = None,
        ratio_at_most: float | None = None,
        repeats: int = 5,
        warm_up: int = 1,
    ) -> float:
        """Time ``function``, alone or as a ratio to a ``yardstick`` measured in the same run; return its median."""
        ours = seconds(function, repeats=repeats, warm_up=warm_up)
        if yardstick is None:
            met = None if at_most is None else ours <= at_most
            self.row(what, f"{_short(ours)} s", "" if at_most is None else f"<= {at_most:g} s", met)
            return ours
        theirs = seconds(yardstick, repeats=repeats, warm_up=warm_up)
        ratio = ours / theirs
        met = None if ratio_at_most is None else ratio <= ratio_at_most
        target = "" if ratio_at_most is None else f"<= {ratio_at_most:g} x"
        self.row(what, f"{_short(ours)} s, {ratio:.2f} x the yardstick's {_short(theirs)} s", target, met)
        return ours

    def growth(self, what: str, sizes: Sequence[int], measure: Callable[[int], float], *, axis: str = "rows") -> float:
        """Measure at every size, draw cost against size on log axes, and return the slope (1 is linear)."""
        import numpy as np

        costs = [measure(size) for size in sizes]
        slope = float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
        pairs = ", ".join(f"{size:,}: {_short(cost)} s" for size, cost in zip(sizes, costs))
        self.row(f"{what}: cost against {axis}", f"slope {slope:.2f} ({pairs})")
        self.figure(_growth_figure(what, axis, sizes, costs, slope), f"{what}: cost against {axis}, slope {slope:.2f}")
        return slope

    def figure(self, drawn: Any, caption: str) -> None:
        """Keep a matplotlib figure beside the page."""
        DOCS.mkdir(parents=True, exist_ok=True)
        file = f"{self.name}-{len(self.figures) + 1}.png"
        drawn.savefig(DOCS / file, dpi=100, metadata={"Software": None})
        self.figures.append((file, caption))

    def section(self, title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], text: str = "") -> None:
        """Add a table of its own below the main one."""
        lines = [f"## {title}", ""] + ([text, ""] if text else [])
        self.sections.append("\n".join(lines + [_table(header, rows)]))

    def write(self) -> Path:
        """Write docs/benchmarks/<name>.md."""
        command = f"make bench BENCH={self.name}"
        lines = [f"# {self.title or self.name}", "", f"Written by `{command}` on {machine()}.", "", self._code(), ""]
        lines += [f"{note}\n" for note in self.notes]
        if self.rows:
            lines += [_table(("what", "measured", "target", "met"), self.rows), ""]
        for section in self.sections:
            lines += [section, ""]
        for file, caption in self.figures:
            lines += [f"![{caption}]({file})", "", f"*{caption}*", ""]
        DOCS.mkdir(parents=True, exist_ok=True)
        path = DOCS / f"{self.name}.md"
        path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
        return path

    def _code(self) -> str:
        """Say which code was measured: now, and when the cells of the ledgers were."""
        own = f"bench_{self.name}.py"
        stamps = sorted(USED | ({(own, fingerprint(own))} if (ROOT / "benchmarks" / own).exists() else set()))
        known = [took for took in EARLIER.values() if took is not None]  # others are of before seconds were kept
        total = f"; {processor() - self.begin + math.fsum(known):,.0f} s of a processor"
        took = total if len(known) == len(EARLIER) else ""
        kept = f"{KEPT_CELLS} {len(KEPT)} of {len(EARLIER) + len(MEASURED)} cells" if KEPT else ""
        for seen in (USED, EARLIER, MEASURED, KEPT):
            seen.clear()
        return (
            f"Measured code: {', '.join(f'`{file} {code}`' for file, code in stamps)}; commit {commit()}{took}."
            f"{kept and f' {kept}.'}"
        )


class Ledger:
    """Finished cells of a long experiment, one JSON line each; a second run takes up where the first stopped."""

    def __init__(self, name: str, *, source: str = "") -> None:
        """``source`` is the file that says how cells are computed, ``bench_<name>.py`` unless it is given."""
        self.source = source or f"bench_{name}.py"
        WORK.mkdir(parents=True, exist_ok=True)
        self.path = WORK / f"{name}.jsonl"
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole, _, half = text.rpartition("\n")  # a run that was killed may leave half a line at the end
        if half:
            self.path.write_text(whole + "\n" if whole else "", encoding="utf-8")
        cells = [json.loads(line) for line in whole.splitlines()]
        self.cells: dict[str, Any] = {cell["key"]: cell["value"] for cell in cells}
        self.codes: dict[str, str] = {cell["key"]: cell.get("code", "unknown") for cell in cells}
        self.seconds: dict[str, float | None] = {cell["key"]: cell.get("seconds") for cell in cells}
        self.kept: dict[str, bool] = {cell["key"]: cell.get("kept", False) for cell in cells}

    def run(
        self, cells: Sequence[tuple[str, Callable[[], Any]]], *, stage: str, minutes: float = math.inf
    ) -> dict[str, Any]:
        """Compute the cells that are missing, with a progress bar, and return all values by key.

        Cells of other code are kept; with ``AGAIN`` only where a sample of them is the same with this code. No cell
        begins after ``minutes``; cells that were not computed are left out of the answer.
        """
        from rich.progress import Progress

        end = time.monotonic() + 60.0 * minutes
        code = fingerprint(self.source) if (ROOT / "benchmarks" / self.source).exists() else "unknown"
        with Progress() as bar:
            task = bar.add_task(stage, total=len(cells))
            if AGAIN and time.monotonic() < end:
                self._keep_if_same(cells, code)
            for key, compute in cells:
                missing = key not in self.cells or (AGAIN and self.codes[key] != code)
                if missing and time.monotonic() < end:
                    self._measure(key, compute, code)
                bar.advance(task)
        there = [key for key, _ in cells if key in self.cells]
        USED.update((self.source, self.codes[key]) for key in there)
        asked = {(self.path.stem, key): self.seconds[key] for key in there}
        EARLIER.update({cell: took for cell, took in asked.items() if cell not in MEASURED})
        KEPT.update(cell for cell in asked if self.kept[cell[1]])
        return {key: self.cells[key] for key in there}

    def _measure(self, key: str, compute: Callable[[], Any], code: str) -> None:
        begin = processor()
        self.cells[key] = compute()
        self.codes[key], self.kept[key], self.seconds[key] = code, False, round(processor() - begin, 3)
        MEASURED.add((self.path.stem, key))
        self._write(key)

    def _keep_if_same(self, cells: Sequence[tuple[str, Callable[[], Any]]], code: str) -> None:
        """Measure a sample of the cells of other code again; if nothing changes, the others count as of this code."""
        old = [(key, compute) for key, compute in cells if key in self.cells and self.codes[key] != code]
        size = min(len(old), max(FEWEST, math.ceil(SAMPLE * len(old))))
        for key, compute in random.Random(code).sample(old, size):
            before = self.cells[key]
            self._measure(key, compute, code)
            if not same(before, json.loads(json.dumps(self.cells[key]))):
                return
        for key in (key for key, _ in old if self.codes[key] != code):
            self.codes[key], self.kept[key] = code, True
            self._write(key)

    def _write(self, key: str) -> None:
        line = {"key": key, "value": self.cells[key], "code": self.codes[key], "seconds": self.seconds[key]}
        with self.path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(line | ({"kept": True} if self.kept[key] else {})) + "\n")


def same(before: Any, now: Any) -> bool:
    """Whether two values of a cell are equal but for times and rounding in the last digits."""
    if isinstance(before, dict) and isinstance(now, dict):
        listed = [name for name in before if not any(word in name for word in TIMES)]
        return before.keys() == now.keys() and all(same(before[name], now[name]) for name in listed)
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(same, before, now))
    if isinstance(before, float) and isinstance(now, float | int):
        return math.isclose(before, now, rel_tol=1e-6, abs_tol=1e-9) or (math.isnan(before) and math.isnan(now))
    return bool(before == now)


def processor() -> float:
    """Seconds of a processor that this process has taken, with the processes that it waited for."""
    return sum(os.times()[:4])


def machine() -> str:
    """The machine and the versions, for the head of a page."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {libraries}, sidelight {version('sidelight')}"


def commit() -> str:
    """The commit that is checked out, and whether files of the library differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = " with changes" if git("status", "--porcelain", "--", "src") else ""
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + changed


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _short(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def _growth_figure(what: str, axis: str, sizes: Sequence[int], costs: Sequence[float], slope: float) -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(5, 3.4), layout="constrained")
    ax = drawn.subplots()
    ax.loglog(sizes, costs, "o-", color="#4477aa")
    ax.set(xlabel=axis, ylabel="seconds", title=f"{what} (slope {slope:.2f})")
    ax.grid(alpha=0.3)
    return drawn
