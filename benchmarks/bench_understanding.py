"""How many files of many kinds are read right, asked about, or read wrong; and how long ``describe`` takes."""

from __future__ import annotations

import json
import os
import random
import resource
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runner import Sheet

TITLE = "Understanding: files read right, asked about, read wrong"
_CASES = Path(__file__).parents[1] / "tests" / "files" / "understanding"
_CORPUS = Path(__file__).parents[2] / "shared" / "data" / "understanding"  # real files that are not in the project
_LINES = 2_000_000
_GOOD = ("right", "right question", "refused well")


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
    if _CORPUS.is_dir():
        _real_files(sheet)
    with TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.csv", Path(folder) / "large.csv"
        _write(small, 60)
        _write(large, _LINES)
        for path, limit, what in ((small, 0.7, "60 lines"), (large, 4.0, f"{_LINES:,} lines")):
            seconds = min(_processor_time(path) for _ in range(3))
            sheet.row(f"processor time of describe, {what}", f"{seconds:.2f} s", f"under {limit} s", seconds < limit)


def _real_files(sheet: Sheet) -> None:
    """Judge real files by the truth that lies beside them, in all and source by source."""
    with (_CORPUS / "truth.toml").open("rb") as handle:
        entries = tomllib.load(handle)["file"]
    with TemporaryDirectory() as folder:
        tool, out = Path(folder) / "sidelight", Path(folder) / "verdicts.json"
        tool.write_text(f"#!{sys.executable}\nfrom sidelight.app.cli import main\nmain()\n")
        tool.chmod(0o755)
        command = [sys.executable, str(_CORPUS / "check.py"), str(tool), "--why", "--json", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        judged = json.loads(out.read_text())
    n = len(judged)
    verdicts = Counter(found["verdict"] for found in judged)
    sheet.notes.append(
        f"{n} real files from {len({_source(e) for e in entries})} sources, with a truth written by hand and verdicts "
        "by the program that lies beside them. The points of the rules were set by hand, none was fitted: leaving a "
        "source out changes no point, so the share of each source is shown in the place of a cross-validation. It says "
        "nothing of sources that nobody looked at."
    )
    sheet.section("Real files", ("verdict", "files"), list(verdicts.most_common()))
    shares: dict[str, list[bool]] = {}
    for entry, found in zip(entries, judged):
        shares.setdefault(_source(entry), []).append(found["verdict"] in _GOOD)
    rows = [(name, len(good), f"{sum(good) / len(good):.0%}") for name, good in sorted(shares.items())]
    sheet.section("Good files of each source", ("source", "files", "good"), rows)
    good = sum(verdicts[name] for name in _GOOD) / n
    silent, badly = verdicts["silently wrong"] / n, verdicts["refused badly"] / n
    broken = verdicts["crash"] + verdicts["slow"]
    needless = sum(any("without need" in why for why in found["why"]) for found in judged) / n
    mean = sum(sum(good_ones) / len(good_ones) for good_ones in shares.values()) / len(shares)
    sheet.row("real files read right, asked rightly or refused well", f"{good:.0%}", "at least 80 %", good >= 0.8)
    sheet.row("the same, each source counted once", f"{mean:.0%}", "within 10 points", abs(good - mean) <= 0.1)
    sheet.row("real files silently wrong", f"{silent:.0%}", "at most 8 %", silent <= 0.08)
    sheet.row("real files refused badly", f"{badly:.0%}", "at most 3 %", badly <= 0.03)
    sheet.row("crashes, and files that take a minute", str(broken), "none", not broken)
    sheet.row("needless questions", f"{needless:.0%}", "at most 10 %", needless <= 0.1)
    times = sorted(_processor_time(_CORPUS / e["folder"] / e["open"]) for e in entries)
    median = times[n // 2]
    sheet.row("processor time of describe, median of the real files", f"{median:.2f} s", "at most 0.3 s", median <= 0.3)


def _source(entry: Mapping[str, Any]) -> str:
    return str(entry["source"]).partition(":")[0]


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
    subprocess.run(command, check=False, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
