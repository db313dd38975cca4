"""Runs that are killed at any moment: the folder of results is whole, the older one, or not there.

Every second run overwrites an earlier one, beside a note of the user's that must stay. A later run in the same place
removes what the dead one left.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from attack.shell import WHOLE, sources
from attack.worker import WORK

COUNT = 200
LONGEST = 6.0  # seconds after which no kill comes: the run is over before


def attack(number: int, folder: Path) -> str:
    """Kill one run, look at the folder, run again and look again."""
    rng = np.random.default_rng([5, number])
    out = folder / "out"
    again = number % 2 == 1
    command = [sys.executable, "-m", "sidelight", "relations", str(sources()["bags.csv"]), "-k", "2", "--out", "out"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(WORK / "numba")}
    if again:
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
        (out / "my notes.txt").write_text("keep")
        command.append("--overwrite")
    # most kills come where the files are written: when the first trace of the output appears
    run = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if rng.random() < 0.6:
        before = len(os.listdir(folder))
        end = time.monotonic() + LONGEST
        while run.poll() is None and len(os.listdir(folder)) == before and time.monotonic() < end:
            time.sleep(0.0005)
        time.sleep(float(rng.uniform(0, 0.06)))
    else:
        time.sleep(float(rng.uniform(0, LONGEST / 2)))
    run.send_signal(signal.SIGKILL)
    run.wait()
    verdict = _look(folder, again)
    if verdict:
        return f"after the kill: {verdict}"
    command = [word for word in command if word != "--overwrite"]
    done = subprocess.run([*command, "--overwrite"], cwd=folder, env=environment, capture_output=True, check=False)
    if done.returncode:
        return f"the next run failed: {done.stderr.decode(errors='replace')[-200:]}"
    left = [name for name in os.listdir(folder) if name != "out"]
    if left:
        return f"the next run left {left}"
    verdict = _look(folder, again)
    return f"after the next run: {verdict}" if verdict else "accepted"


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
