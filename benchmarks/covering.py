"""Which tests run which line of the package: a plugin of pytest that watches, and the map that it leaves behind.

``pytest -p benchmarks.covering`` with ``COVERING_FOLDER`` set writes a file for each worker, with what every test ran
and the seconds it took; ``store`` keeps that file by file, so that a changed file of tests runs again alone, and
``Map.read`` brings it together. Not seen: compiled loops, other processes, and what a
fixture shared by several tests runs for the second of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

_HERE = "/sidelight/"
_seen: set[tuple[str, int]] = set()
_tests: dict[str, tuple[float, list[tuple[str, int]]]] = {}


def _lines(frame: FrameType, event: str, _: Any) -> Any:
    """Note each line of a frame of the package."""
    if event == "line":
        _seen.add((frame.f_code.co_filename, frame.f_lineno))
    return _lines


def _calls(frame: FrameType, event: str, _: Any) -> Any:
    """Watch frames of the package, and no others."""
    return _lines if _HERE in frame.f_code.co_filename else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Watch one test, with what prepares it and cleans up after it."""
    _seen.clear()
    begin = time.perf_counter()
    threading.settrace(_calls)
    sys.settrace(_calls)
    yield
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type] # None is how it ends
    places = [(file.rpartition(_HERE)[2], line) for file, line in _seen]
    _tests[item.nodeid] = (time.perf_counter() - begin, places)


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    if _tests:
        Path(os.environ["COVERING_FOLDER"], f"{worker}.json").write_text(json.dumps(_tests), encoding="utf-8")


def _record(folder: Path, file: Path) -> Path:
    """Return where the folder keeps what a file of tests ran; the name changes with the file."""
    return folder / f"{file.parent.name}-{file.stem}-{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}.json"


def missing(folder: Path, files: list[Path], code: dict[str, str]) -> list[Path]:
    """Return the files of tests of which the folder does not know what they run, or that ran code that has changed."""
    return [file for file in files if not _is_known(_record(folder, file), code)]


def _is_known(record: Path, code: dict[str, str]) -> bool:
    if not record.exists():
        return False
    of = json.loads(record.read_text(encoding="utf-8"))["of"]
    return all(of[path] == code[path] for path in code if path in of)


def store(folder: Path, seen: Path, files: list[Path], code: dict[str, str]) -> None:
    """Keep what the workers saw, file by file, with the hashes of the code that each ran."""
    by_file: dict[str, dict[str, Any]] = defaultdict(dict)
    for path in sorted(seen.glob("*.json")):
        for test, ran in json.loads(path.read_text()).items():
            by_file[test.partition("::")[0]][test] = ran
    for file in files:
        tests = next((tests for name, tests in by_file.items() if str(file).endswith(f"/{name}")), {})
        ran = {path for _, places in tests.values() for path, _ in places}
        of = {path: code[path] for path in sorted(ran) if path in code}
        _record(folder, file).write_text(json.dumps({"of": of, "tests": tests}))


@dataclass(frozen=True)
class Map:
    """The tests that ran each line, by the path of its file inside the package."""

    tests: dict[tuple[str, int], list[str]]
    seconds: dict[str, float]

    @classmethod
    def read(cls, folder: Path, files: list[Path]) -> Map:
        """Bring together what is known of the files of tests as they are."""
        tests: dict[tuple[str, int], list[str]] = defaultdict(list)
        seconds: dict[str, float] = {}
        for record in [_record(folder, file) for file in files]:
            for test, (taken, places) in _read(record).items():
                seconds[test] = taken
                for file, line in places:
                    tests[file, line].append(test)
        return cls(tests, seconds)

    def tests_of(self, places: set[tuple[str, int]], *, most_seconds: float) -> list[str]:
        """Return the tests that run one of the lines, the quickest first, as many as take so many seconds together."""
        taken, chosen = 0.0, []
        tests = {test for place in places for test in self.tests.get(place, ())}
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            taken += self.seconds[test]
            if chosen and taken > most_seconds:
                break
            chosen.append(test)
        return chosen


def _read(record: Path) -> dict[str, Any]:
    return dict(json.loads(record.read_text(encoding="utf-8"))["tests"]) if record.exists() else {}
