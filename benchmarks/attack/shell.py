"""The command line under limits: little memory, small files, no home, an unwritable place, a C locale, no terminal.

Whatever the machine refuses must be one message without a traceback, an exit code that the docs know, and a folder of
results that is whole or not there.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack.small import write_files
from attack.worker import WORK

COUNT = 120
SECONDS = 180
CODES = {0, 1, 2, 130}
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
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(WORK / "numba")} | changes.pop(
        "env", {}
    )
    environment = {key: value for key, value in environment.items() if value is not None}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sidelight", *words],
            cwd=place, env=environment, capture_output=True, timeout=SECONDS, check=False, **changes,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{name}, {words[0]}: more than {SECONDS} s"
    finally:
        os.chmod(place, 0o700)
    verdict = _judge(done.returncode, done.stderr.decode(errors="replace"), place)
    return verdict if verdict in ("accepted", "refused") else f"{name}, {words[0]}: {verdict}"


def _judge(code: int, told: str, place: Path) -> str:
    if "Traceback" in told or "panicked" in told:
        return f"a traceback: {told.strip().splitlines()[-1][:200]}"
    if code not in CODES:
        return f"exit code {code}: {told.strip()[-200:]}"
    if code and "sidelight" not in told.lower() and told.strip():
        return f"a message that is not ours: {told.strip()[-200:]}"
    left = [p.name for p in place.iterdir() if p.name.startswith(".") or "partial" in p.name]
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
}


@cache
def sources() -> dict[str, Path]:
    """Return the undamaged files by name."""
    folder = WORK / "tables"
    known = {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}
    return known or {path.name: path for path in write_files(folder)}
