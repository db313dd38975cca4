"""Run the cases of one kind in worker processes with limits, and keep every verdict, so that a stopped attack goes on.

``python benchmarks/attack/worker.py KIND FIRST LAST LOG`` does cases and appends one JSON line each to LOG.
"""

from __future__ import annotations

import importlib
import json
import resource
import secrets
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
WORK = HERE.parent / ".work" / "attack"
GIGABYTES = 12  # address space of a worker; the libraries alone map two
GROWTH = 3_000  # megabytes that one case may add to the peak
BATCH = 200  # cases before a worker is replaced, so that memory can be judged


def fresh_seed() -> int:
    """Return a seed that was not used before."""
    return secrets.randbelow(900_000) + 100_000


def last_seed() -> int:
    """Return the seed of the attack whose cases were kept last; 0 without one."""
    logs = sorted(WORK.glob("*-*.jsonl"), key=lambda log: log.stat().st_mtime)
    return int(logs[-1].stem.rpartition("-")[2]) if logs else 0


def run(kind: str, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Do ``count`` cases of a kind that are not done yet, and return the lines of all."""
    WORK.mkdir(parents=True, exist_ok=True)
    log = WORK / f"{kind}-{seed}.jsonl"
    done = finished(log)
    while todo := [k for k in range(count) if k not in done]:
        first = todo[0]
        command = [sys.executable, __file__, kind, str(first), str(min(count, first + BATCH)), str(log), str(seed)]
        code = subprocess.run(command, check=False).returncode
        if code > 0:
            raise RuntimeError(f"the attack itself failed: {' '.join(command)}")
        now = finished(log)
        if code or len(now) == len(done):  # a signal ended it: blame the case it had begun
            blamed = next(k for k in range(count) if k not in now)
            note(log, {"case": blamed, "verdicts": [f"the process ended with {code}"], "seconds": 0})
            now = finished(log)
        done = now
        print(f"  {kind}: {len(done)} of {count}", flush=True)
    return [done[k] for k in sorted(done) if k < count]


def stored(kind: str, seed: int = 0) -> list[dict[str, Any]]:
    """Return the lines of all cases that were done."""
    done = finished(WORK / f"{kind}-{seed}.jsonl")
    return [done[case] for case in sorted(done)]


def work(kind: str, first: int, last: int, log: Path, seed: int) -> None:
    """Do the cases ``first`` to ``last`` that are not done."""
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"attack.{kind}")
    if getattr(module, "LIMITED", True):
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    done = finished(log)
    for case in range(first, last):
        if case in done:
            continue
        before, begin = _peak(), time.perf_counter()
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            verdicts = module.attack(case + 1_000_000 * seed, Path(folder))
        grown = _peak() - before
        verdicts = [verdicts] if isinstance(verdicts, str) else list(verdicts)
        if grown > GROWTH and case > first:  # the first case also loads the libraries
            verdicts.append(f"took {grown:.0f} MB")
        note(log, {"case": case, "verdicts": verdicts, "seconds": round(time.perf_counter() - begin, 2)})


def finished(log: Path) -> dict[int, dict[str, Any]]:
    """Return the cases that were done."""
    if not log.is_file():
        return {}
    cases = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line)
    return {case["case"]: case for case in cases}


def note(log: Path, case: dict[str, Any]) -> None:
    """Append one case."""
    with log.open("a", encoding="utf-8") as handle:
        handle.write(json.dumps(case) + "\n")


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    kind, first, last, log, seed = sys.argv[1:]
    work(kind, int(first), int(last), Path(log), int(seed))
