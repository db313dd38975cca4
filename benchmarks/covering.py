"""Which tests run which line of the package: a plugin of pytest that watches, and the map that it leaves behind.

``pytest -p benchmarks.covering`` with ``COVERING_FOLDER`` set writes a file for each worker, with what every test ran
and the seconds it took; ``Map.read`` brings them together. Not seen: compiled loops, other processes, and what a
fixture shared by several tests runs for the second of them.
"""

from __future__ import annotations

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
        Path(os.environ["COVERING_FOLDER"], f"{worker}.json").write_text(json.dumps(_tests))


@dataclass(frozen=True)
class Map:
    """The tests that ran each line, by the path of its file inside the package."""

    tests: dict[tuple[str, int], list[str]]
    seconds: dict[str, float]

    @classmethod
    def read(cls, folder: Path) -> Map:
        """Bring together what all workers saw."""
        tests: dict[tuple[str, int], list[str]] = defaultdict(list)
        seconds: dict[str, float] = {}
        for path in sorted(folder.glob("*.json")):
            for test, (taken, places) in json.loads(path.read_text()).items():
                seconds[test] = taken
                for file, line in places:
                    tests[file, line].append(test)
        return cls(tests, seconds)

    def tests_of(self, path: str, lines: set[int], *, most_seconds: float) -> list[str]:
        """Return the tests that run one of the lines, the quickest first, as many as take so many seconds together."""
        taken, chosen = 0.0, []
        tests = {test for line in lines for test in self.tests.get((path, line), ())}
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            taken += self.seconds[test]
            if chosen and taken > most_seconds:
                break
            chosen.append(test)
        return chosen
