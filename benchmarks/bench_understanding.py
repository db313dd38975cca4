"""How many files of many kinds are read right, asked about, or read wrong; and how long ``describe`` takes."""

from __future__ import annotations

import os
import random
import resource
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runner import Sheet

TITLE = "Understanding: files read right, asked about, read wrong"
_CASES = Path(__file__).parents[1] / "tests" / "files" / "understanding"
_LINES = 2_000_000


def fill(sheet: Sheet) -> None:
    """Judge every case of the tests, and time the command."""
    sys.path.insert(0, str(_CASES))
    from understanding_cases import CASES, judge

    verdicts: dict[str, list[str]] = {"right": [], "asked": [], "wrong": []}
    for name in CASES:
        with TemporaryDirectory() as folder:
            verdicts[judge(name, Path(folder))[0]].append(name.replace("_", " "))
    counts = Counter({verdict: len(names) for verdict, names in verdicts.items()})
    sheet.notes.append(
        f"{len(CASES)} small files, written by tests/files/understanding/cases.py after kinds that people keep, each "
        "with what a careful person would say. Asked: a question is put, and no job runs without an answer; to ask "
        "about a file that leaves no doubt counts as wrong."
    )
    rows = [
        (verdict, counts[verdict], (", ".join(names) if verdict != "right" else "all others") or "none")
        for verdict, names in verdicts.items()
    ]
    sheet.section("Files", ("verdict", "files", "which"), rows)
    sheet.row("files read wrong", f"{counts['wrong']} of {len(CASES)}", "at most 2", counts["wrong"] <= 2)
    n_run, failed = _suggested(CASES)
    told = f"{len(failed)} of {n_run}" + (f" ({', '.join(failed)})" if failed else "")
    sheet.row("suggested commands that fail when they are run", told, "none", not failed)
    with TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.csv", Path(folder) / "large.csv"
        _write(small, 60)
        _write(large, _LINES)
        for path, limit, what in ((small, 0.7, "60 lines"), (large, 4.0, f"{_LINES:,} lines")):
            seconds = min(_processor_time(path) for _ in range(3))
            sheet.row(f"processor time of describe, {what}", f"{seconds:.2f} s", f"under {limit} s", seconds < limit)


def _suggested(cases: Mapping[str, Any]) -> tuple[int, list[str]]:
    """Run every command that describe suggests for the files, and return how many there are and which failed."""
    from click.testing import CliRunner

    from sidelight.app.cli.app import app
    from sidelight.app.cli.job import command_line
    from sidelight.app.jobs.describe import describe
    from sidelight.app.jobs.roles import Roles

    n_run, failed = 0, []
    for name, write in cases.items():
        with TemporaryDirectory() as folder:
            path, expected = write(Path(folder))
            for fit in describe(str(path), Roles(**dict(expected.options))).fits:
                line = command_line(fit.job, fit.table or str(path), fit.roles, n_clusters=fit.n_clusters)
                if fit.table is not None or line is None:  # answers about another table, which is not here
                    continue
                words = shlex.split(line)[1:-1]
                done = CliRunner().invoke(app, [*words, str(Path(folder) / f"results{n_run}"), "--quiet"])
                n_run += 1
                if done.exit_code:
                    failed.append(f"{name.replace('_', ' ')}: {fit.job}")
    return n_run, failed


def _write(path: Path, n: int) -> None:
    r = random.Random(0)
    with path.open("w", encoding="utf-8") as handle:
        handle.write("user,item,time\n")
        for i in range(n):
            handle.write(f"{r.randint(1, 5000)},{r.randint(1, 3000)},{1500000000000 + 1000 * i}\n")


def _processor_time(path: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", "from sidelight.app.cli import main; main()", "describe", str(path)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
