"""Runs that are killed at any moment: the folder of results is whole, the older one, or not there.

Every second run overwrites an earlier one, beside a note of the user's that must stay. A later run in the same place
removes what the dead one left. Runs are forks of a process that has loaded the libraries but used none of them, so that
most of the time of a trial is the run itself.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np

from attack.shell import WHOLE, sources

COUNT = 200
LONGEST = 2.0  # seconds after which no kill comes: the run is over before


def attack(number: int, folder: Path) -> str:
    """Kill one run, look at the folder, run again and look again."""
    rng = np.random.default_rng([5, number])
    again = number % 2 == 1
    words = ["relations", str(sources()["bags.csv"]), "-k", "2", "--out", "out", "--quiet"]
    if again:
        if code := _ended(_begin(words, folder)):
            return f"the first run failed with {code}"
        (folder / "out" / "my notes.txt").write_text("keep")
        words.append("--overwrite")
    # most kills come where the files are written: when the first trace of the output appears
    run = _begin(words, folder)
    if rng.random() < 0.6:
        before = len(os.listdir(folder))
        end = time.monotonic() + LONGEST
        while len(os.listdir(folder)) == before and time.monotonic() < end:
            time.sleep(0.0005)
        time.sleep(float(rng.uniform(0, 0.06)))
    else:
        time.sleep(float(rng.uniform(0, LONGEST / 2)))
    os.kill(run, signal.SIGKILL)  # a run that is over is still there until somebody asks how it ended
    _ended(run)
    verdict = _look(folder, again)
    if verdict:
        return f"after the kill: {verdict}"
    if code := _ended(_begin([*words, "--overwrite"], folder)):
        return f"the next run failed with {code}"
    left = [name for name in os.listdir(folder) if name != "out"]
    if left:
        return f"the next run left {left}"
    verdict = _look(folder, again)
    return f"after the next run: {verdict}" if verdict else "accepted"


def _begin(words: list[str], folder: Path) -> int:
    """Run the command line in a fork of this process; return its number."""
    _load_libraries()
    if process := os.fork():
        return process
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.argv = ["sidelight", *words]
    code = 1
    try:
        import_module("sidelight.app.cli").main()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        os._exit(code)


def _ended(process: int) -> int:
    """Wait for a fork, and return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@cache
def _load_libraries() -> None:
    """Import what a run needs; nothing is computed, so that no thread is there when the process forks."""
    for name in ("app.cli.app", "app.jobs.relations", "app.jobs.run", "app.report"):
        import_module(f"sidelight.{name}")


def _look(folder: Path, again: bool) -> str:
    """Say what is wrong with the folder of results, or nothing."""
    import sidelight as sl

    out = folder / "out"
    if not out.exists():
        return "the older results are gone" if again else ""
    names = {path.name for path in out.iterdir()}
    if again and "my notes.txt" not in names:
        return "the user's notes are gone"
    if not names - {"my notes.txt"}:
        return "an empty folder" if again else ""
    if not names >= WHOLE:
        return f"half a folder: {sorted(names)}"
    sl.load(out / "model.sidelight")
    return "" if (out / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>") else "half a page"
