"""Plant faults in the code, one at a time, and count those that the tests find: ``make mutants``.

A fault (faults.py) is planted in a copy of ``src`` (benchmarks/.work/mutants), never in the tree itself. A first run of
all tests tells which of them run a line (covering.py), so that a fault is tried on those alone, the quickest first.
Every verdict is kept at once: a stopped run goes on where it was, ``make mutants MINUTES=0`` writes the page from what
was kept, and survivors are tried again when tests have changed. ``python benchmarks/mutants.py --inside
active/session.py`` tries every fault of one file and leaves the page alone: the way to find what its tests do not see.
Faults that change nothing a test could see stand in benchmarks/unseen, each with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from covering import Map, missing, store
from faults import ROOT, Fault, all_faults, callers, surroundings

WORK = ROOT / "benchmarks" / ".work" / "mutants"
PAGE = ROOT / "docs" / "benchmarks" / "mutants.md"
UNSEEN = ROOT / "benchmarks" / "unseen"  # a file a room
MOST_SECONDS = float(os.environ.get("MOST_SECONDS", "60"))  # of tests that one fault is tried on, the quickest first
AIM = 0.9
DRAWN = WORK / "ledger.jsonl"  # verdicts about faults that a seed drew: those of the page
ROOMS = ("estimators", "active", "files", "app/store", "app/studio")


def covering(places: tuple[str, ...]) -> Map:
    """Return which tests run which lines; tests that are new or have changed, or whose code has, run once to see.

    ``places`` are the beginnings of the paths that matter.
    """
    package, folder = ROOT / "src" / "sidelight", WORK / "covering"
    code = {str(path.relative_to(package)): _hash(path.read_bytes()) for path in package.rglob("*.py")}
    folder.mkdir(parents=True, exist_ok=True)
    matters = {path: was for path, was in code.items() if path.startswith(places)}
    unknown = missing(folder, [path for path in test_files() if "browser" not in path.name], matters)
    if unknown:
        print(f"which tests run which lines: {len(unknown)} files of tests once ...", flush=True)
        with tempfile.TemporaryDirectory() as seen:
            known = {"COVERING_FOLDER": seen, "PYTHONPATH": str(ROOT / "src")}
            command = [sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.covering", "-n", "2", "--no-header"]
            names = [str(path.relative_to(ROOT)) for path in unknown]
            process = subprocess.Popen([*command, *names], cwd=ROOT, env=_environment() | known, start_new_session=True)
            if _waited(process, None) not in (0, 5):  # 5: all of them were skipped
                sys.exit("Tests fail without any fault, so they cannot find one.")
            store(folder, Path(seen), unknown, code)
    return Map.read(folder, test_files())


def test_files() -> list[Path]:
    """Return the files of tests that say something of the code."""
    left_out = ("tests/benchmarks/", "tests/test_wheel", "tests/test_changelog", "tests/test_contract")
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [path for path in files if not str(path.relative_to(ROOT)).startswith(left_out)]


def _fingerprint() -> str:
    """Name the tests."""
    return _hash(b"".join(path.read_bytes() for path in test_files()))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def tests_for(fault: Fault, known: Map) -> list[str]:
    """Return the tests that run the line of a fault, the quickest first.

    Where a line runs only at import, those of its function count, or of its file; no tracer sees compiled loops, and
    the lines that call them count.
    """
    function, is_compiled = surroundings(fault)
    whole = {(fault.path, line) for line in range(1, 5000)}
    places = callers(function) if is_compiled else {(fault.path, fault.line)}
    inner = {(fault.path, line) for line in function.lines} if function else whole
    for lines in (places, inner, whole):
        if tests := known.tests_of(lines, most_seconds=MOST_SECONDS):
            return tests
    return []


def verdict(fault: Fault, copy: Path, known: Map) -> str:
    """Plant a fault, run the tests, take it out again; say "found", "survived" or "found by hanging"."""
    tests = tests_for(fault, known)
    if not tests:
        return "survived"
    target = copy / "sidelight" / fault.path
    whole = target.read_bytes()
    stat = target.stat()
    target.write_bytes(whole[: fault.begin] + fault.text.encode() + whole[fault.end :])
    limit = 90 + 5 * sum(known.seconds[test] for test in tests)
    try:
        if b"@kernel" not in whole:
            return _run(tests, copy, limit, {})
        with tempfile.TemporaryDirectory() as cache:  # numba keeps kernels whose callees have changed
            return _run(tests, copy, limit + 120, {"NUMBA_CACHE_DIR": cache})
    finally:
        target.write_bytes(whole)
        os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # compiled kernels are kept by the time of the file


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _run(tests: list[str], copy: Path, limit: float, variables: dict[str, str]) -> str:
    (copy / "tests.txt").write_text("\n".join(tests))
    environment = _environment() | {"PYTHONPATH": str(copy)} | variables
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, f"@{copy / 'tests.txt'}"],
        cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    found = _waited(process, limit)
    return "found by hanging" if found is None else "found" if found else "survived"


def _waited(process: subprocess.Popen[bytes], limit: float | None) -> int | None:
    """Return how a process ended, None where it took too long; nothing that it started outlives it."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def plant(faults: list[tuple[str, Fault]], minutes: float, seed: int, jobs: int, book: Path) -> None:
    """Plant faults, as many at once as there are jobs, until the time is up; verdicts are added to the book."""
    WORK.mkdir(parents=True, exist_ok=True)
    places = tuple({fault.path for _, fault in faults})
    known, tests, until, lock = covering(places), _fingerprint(), time.monotonic() + 60 * minutes, threading.Lock()
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(jobs):
        copy = WORK / f"src-{number}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(ROOT / "src" / "sidelight", copy / "sidelight")
        copies.put(copy)

    def one(room: str, fault: Fault) -> None:
        if time.monotonic() > until:
            return
        copy = copies.get()
        found = verdict(fault, copy, known)
        copies.put(copy)
        line = {"room": room, "seed": seed, "name": fault.name, "verdict": found, "of": tests, **asdict(fault)}
        with lock, book.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(line) + "\n")
        print(f"{found:17} {fault.kind:18} {fault.path}:{fault.line}  {fault.text[:90]}", flush=True)

    done = {line["name"] for line in verdicts(book) if line["verdict"] != "survived" or line["of"] == tests}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, room, fault) for room, fault in faults if fault.name not in done]
        for future in waiting:
            future.result()


def drawn(each: int, seed: int, rooms: tuple[str, ...]) -> list[tuple[str, Fault]]:
    """Draw so many faults of each room, and take the rooms in turn."""
    queues = {room: all_faults(room) for room in rooms}
    for room, queue in queues.items():
        random.Random(f"{seed} {room}").shuffle(queue)
    return [(room, queue[turn]) for turn in range(each) for room, queue in queues.items() if turn < len(queue)]


def verdicts(book: Path) -> list[dict[str, object]]:
    """Return the last verdict about every fault whose place is still in the code."""
    lines = [json.loads(line) for line in book.read_text(encoding="utf-8").splitlines()] if book.exists() else []
    there = {fault.name for room in ROOMS for fault in all_faults(room)}
    return list({line["name"]: line for line in lines if line["name"] in there}.values())


def unseen() -> dict[tuple[str, str], str]:
    """Return the faults that no test could see, by file and text, and why."""
    faults = [fault for path in sorted(UNSEEN.glob("*.toml")) for fault in tomllib.loads(path.read_text())["fault"]]
    return {(fault["path"], fault["text"]): fault["why"] for fault in faults}


def write_page() -> None:
    """Write the share of faults that were found, and those that were not."""
    reasons = unseen()
    every = verdicts(DRAWN)
    lines = [line for line in every if line["verdict"] != "survived" or (line["path"], line["text"]) not in reasons]
    nothing = [line for line in every if line not in lines]
    rows = ["| room | faults planted | change nothing | found | share | at least 90 % |", "|---|---|---|---|---|---|"]
    for room in (*ROOMS, ""):
        mine = [line for line in lines if not room or line["room"] == room]
        alike = sum(not room or line["room"] == room for line in nothing)
        found = sum(line["verdict"] != "survived" for line in mine)
        share = f"{found / len(mine):.0%} | {'yes' if found >= AIM * len(mine) else '**no**'}" if mine else "| not run"
        rows.append(f"| {room or 'all'} | {len(mine) + alike} | {alike} | {found} | {share} |")
    kinds = Counter(str(line["kind"]) for line in lines)
    left = Counter(str(line["kind"]) for line in lines if line["verdict"] == "survived")
    by_kind = ["| fault | planted | survived |", "|---|---|---|"]
    by_kind += [f"| {kind} | {n} | {left[kind]} |" for kind, n in sorted(kinds.items())]
    text = (
        "# Mutants: faults planted in the code\n\n"
        "Written by `make mutants`. One small fault at a time is planted in a copy of the code, and the tests that run "
        "its line are tried; a fault that no test finds has survived. Faults are drawn at random. Survivors that "
        "change nothing a test could see (a bound of two numbers that are never equal, a hint for speed) were read one "
        "by one; they stand below with the reason and are left out of the share.\n\n"
    )
    seeds = ", ".join(sorted({str(line["seed"]) for line in every}))
    survived = [_item(line) for line in _sorted(lines) if line["verdict"] == "survived"]
    alike_items = [f"{_item(line)}: {reasons[str(line['path']), str(line['text'])]}" for line in _sorted(nothing)]
    parts = ["\n".join(rows), "\n".join(by_kind), "## Survivors\n\n" + ("\n".join(survived) or "None.")]
    parts += ["## Change nothing\n\n" + ("\n".join(alike_items) or "None.")]
    PAGE.write_text(text + f"Seeds: {seeds}.\n\n" + "\n\n".join(parts) + "\n")
    print(f"-> {PAGE.relative_to(ROOT)}")


def _sorted(lines: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(lines, key=lambda line: (str(line["path"]), int(str(line["line"]))))


def _item(line: dict[str, object]) -> str:
    return f"- `{line['path']}:{line['line']}` {line['kind']}: `{str(line['text'])[:90].replace('`', '')}`"


def main() -> int:
    """Plant, and write the page."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that tests under way end too
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MINUTES") or 30))
    parser.add_argument("--each", type=int, default=40, help="most faults a room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="faults tried at once")
    parser.add_argument("--room", action="append", choices=ROOMS)
    parser.add_argument("--inside", action="append", help="every fault of files whose path starts so; no page")
    options = parser.parse_args()
    if options.inside:
        every = [(room, fault) for room in ROOMS for fault in all_faults(room)]
        faults = [(room, fault) for room, fault in every if fault.path.startswith(tuple(options.inside))]
        plant(faults, options.minutes, options.seed, options.jobs, WORK / "inside.jsonl")
        return 0
    if options.minutes > 0:
        faults = drawn(options.each, options.seed, tuple(options.room or ROOMS))
        plant(faults, options.minutes, options.seed, options.jobs, DRAWN)
    write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
