"""The command line in bad places: little memory, small files, a full disk, no home, an unwritable place, a C locale, no
terminal, closed streams, signals that are ignored or come at any moment, planted leftovers.

Whatever the machine refuses must be one message without a traceback, an exit code that the docs know, and a folder of
results that is whole or not there.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack.small import write_files
from attack.worker import WORK

COUNT = 520
SECONDS = 180
CODES = {0, 1, 2, 130, 143}
WHOLE = {"assignments.csv", "assignments.parquet", "model.sidelight", "report.html", "run.toml"}


def attack(number: int, folder: Path) -> str:
    """Run one command in one environment."""
    rng = np.random.default_rng([4, number])
    files = sources()
    table = str(files["bags.csv"])
    commands = (
        ["describe", table],
        ["describe", table, "--json"],
        ["relations", table, "-k", "2", "--out", "out"],
        ["instances", table, "--out", "out"],
        ["bags", table, "-k", "2", "--out", "out"],
        ["coclusters", str(files["events.csv"]), "-k", "2", "--out", "out"],
        ["convert", table, "out.npz"],
        ["convert", table, "out.csv"],
        ["sample", "birds", "birds.csv"],
        ["relations", str(files["cells.mat"]), "-k", "2", "--out", "out"],
    )
    names = sorted(ENVIRONMENTS)
    name, words = names[number % len(names)], commands[int(rng.integers(len(commands)))]
    place = folder / "place"
    place.mkdir()
    changes = ENVIRONMENTS[name](rng, folder, place)
    send = changes.pop("send", ())
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(WORK / "numba")} | changes.pop(
        "env", {}
    )
    environment = {key: value for key, value in environment.items() if value is not None}
    planted = set(os.listdir(place))
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "sidelight", *words],
            cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **changes,
        ) as run:  # fmt: skip
            timers = [threading.Timer(seconds, _signal, (run, which)) for seconds, which in send]
            for timer in timers:
                timer.start()
            try:
                told = run.communicate(timeout=SECONDS)[1].decode(errors="replace")
            except subprocess.TimeoutExpired:
                run.kill()
                return f"{name}, {words[0]}: more than {SECONDS} s"
            finally:
                for timer in timers:
                    timer.cancel()
        verdict = _judge(run.returncode, told, place, planted)
        if name == "ignored signals" and run.returncode in (130, 143):
            verdict = f"an ignored signal ended it with {run.returncode}"
    finally:
        os.chmod(place, 0o700)
        if os.path.ismount(place):
            subprocess.run(["umount", "-l", str(place)], check=False)
    return verdict if verdict in ("accepted", "refused") else f"{name}, {words[0]}: {verdict}"


def _signal(run: subprocess.Popen[bytes], which: int) -> None:
    if run.poll() is None:
        run.send_signal(which)


def _judge(code: int, told: str, place: Path, planted: set[str]) -> str:
    if "Traceback" in told or "panicked" in told:
        return f"a traceback: {told.strip().splitlines()[-1][:200]}"
    if code not in CODES:
        return f"exit code {code}: {told.strip()[-200:]}"
    if code and "sidelight" not in told.lower() and told.strip():
        return f"a message that is not ours: {told.strip()[-200:]}"
    new = [p.name for p in place.iterdir() if p.name not in planted]
    left = [name for name in new if name.startswith(".") or "partial" in name]
    if left:
        return f"left behind {left[:3]}"
    out = place / "out"
    if out.is_dir() and not {p.name for p in out.iterdir()} >= WHOLE:
        return f"half a folder: {sorted(p.name for p in out.iterdir())}"
    return "refused" if code else "accepted"


Changes = dict[str, Any]


def _memory(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """``ulimit -v``: less address space than the libraries need, or not much more."""
    limit = int(rng.choice([200, 600, 1200, 2500, 4000])) << 20
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}


def _file_size(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """``ulimit -f``: no file may grow beyond a few bytes."""
    limit = int(rng.choice([0, 100, 5_000, 50_000]))
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))}


def _few_files(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """``ulimit -n``: few files may be open."""
    limit = int(rng.choice([16, 32, 64]))
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))}


def _home(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """A home that cannot be written: a file stands where its folder should be."""
    (folder / "home").write_text("")
    return {
        "env": {"HOME": str(folder / "home"), "XDG_CACHE_HOME": None, "MPLCONFIGDIR": None, "NUMBA_CACHE_DIR": None}
    }


def _no_home(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    return {"env": {"HOME": None, "XDG_CACHE_HOME": None}}


def _no_temporary(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """No place for temporary files: all names lead nowhere."""
    nowhere = str(folder / "nowhere")
    return {"env": {"TMPDIR": nowhere, "TEMP": nowhere, "TMP": nowhere}}


def _read_only(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """A working folder that cannot be written; for root it stays writable, and the run is an ordinary one."""
    os.chmod(place, 0o500)
    return {}


def _c_locale(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    return {
        "env": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": None}
    }


def _no_terminal(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    return {"stdin": subprocess.DEVNULL, "env": {"TERM": "dumb", "COLUMNS": "0"}, "start_new_session": True}


def _full_disk(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """A file system of a few pages, which only root can make; without root the run is an ordinary one."""
    size = int(rng.choice([4, 16, 40, 80, 160, 400]))
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(place)], check=False, stderr=subprocess.DEVNULL
    )
    return {"env": {"TMPDIR": str(place)}} if rng.random() < 0.5 else {}


def _closed_streams(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """``<&- >&- 2>&-``, or some of them."""
    closed = [stream for stream in range(3) if rng.random() < 0.6]
    return {"preexec_fn": lambda: [os.close(stream) for stream in closed]}


_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def _ignored_signals(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """``nohup``, or a background job of a shell: what was ignored stays ignored, whenever it comes."""
    which = [which for which in _SIGNALS[:2] if rng.random() < 0.8]
    send = [(float(seconds), which[i % len(which)]) for i, seconds in enumerate(rng.uniform(0.3, 4.0, 4)) if which]
    return {"preexec_fn": lambda: [signal.signal(one, signal.SIG_IGN) for one in which], "send": send}


def _signals(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """A signal at any moment: nothing is written, or everything."""
    times = rng.uniform(1.2, 4.5, int(rng.integers(1, 3)))  # Python itself takes a while until it can answer
    return {"send": [(float(seconds), _SIGNALS[int(rng.integers(1, 3))]) for seconds in times]}


def _leftovers(rng: np.random.Generator, folder: Path, place: Path) -> Changes:
    """Names of leftovers of processes that are dead, cannot be, or are somebody else's: files, folders, links."""
    for _ in range(int(rng.integers(1, 6))):
        process = str(rng.choice(["9999999999", "0", "1", "4294967296", "2147483648", str(os.getpid()), "00000"]))
        machine = f"{int(rng.integers(2**32)):08x}"
        name = place / f".sidelight-{machine}-{process}-{int(rng.integers(2**32)):08x}.partial"
        kind = int(rng.integers(4))
        if kind == 0:
            name.write_bytes(b"")
        elif kind == 1:
            name.mkdir()
            (name / "kept").write_text("x")
        else:
            name.symlink_to("/nowhere" if kind == 2 else place)
    return {}


ENVIRONMENTS: dict[str, Callable[[np.random.Generator, Path, Path], Changes]] = {
    "little memory": _memory,
    "small files": _file_size,
    "few open files": _few_files,
    "an unwritable home": _home,
    "no home": _no_home,
    "no temporary folder": _no_temporary,
    "a read-only folder": _read_only,
    "a C locale": _c_locale,
    "no terminal": _no_terminal,
    "a full disk": _full_disk,
    "closed streams": _closed_streams,
    "ignored signals": _ignored_signals,
    "signals": _signals,
    "planted leftovers": _leftovers,
}


@cache
def sources() -> dict[str, Path]:
    """Return the undamaged files by name."""
    folder = WORK / "tables"
    known = {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}
    return known or {path.name: path for path in write_files(folder)}
