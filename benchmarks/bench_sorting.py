"""Twenty people sort five thousand rows at once in the studio, whose server is killed in the middle."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from bench_studio import client_of, many_rows, peak_of, processor_seconds, server_of, until_ready
from runner import Sheet
from sidelight.app.studio.studio import Studio

TITLE = "The studio: twenty people sort five thousand rows, and the server is killed"
PEOPLE, ROWS, SCREENS, THINKING = 20, 5000, 7, 12.0  # mean seconds for a screen; people take some 17
KILLED_AFTER = 3  # screens of the slowest person


@dataclass
class Crowd:
    """What the people saw."""

    took: list[float] = field(default_factory=list)
    acknowledged: dict[int, list[int]] = field(default_factory=dict)  # rows of the screens that were kept, by event
    failures: int = 0
    n_again: int = 0
    url: str = ""
    is_up: threading.Event = field(default_factory=threading.Event)


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        f"{ROWS:,} generated rows of 12 kinds with 16 numbers, seed 0; a server in a process of its own, SQLite with "
        f"synchronous=FULL; {PEOPLE} people in threads, {SCREENS} screens of ten rows each, all placed rightly, after "
        f"{THINKING:g} s on average. Once everybody sent {KILLED_AFTER} screens the server gets SIGKILL and is started "
        "again; whoever had no acknowledgement sends the same screen again, as the page does."
    )
    with tempfile.TemporaryDirectory() as folder:
        source = many_rows(ROWS, False)
        truth = np.array([int(label) for label in source.y or ()])
        studio = Studio(folder)
        number = studio.add("many rows", source, {"by": "piles"}).id
        studio.close()
        _sort(sheet, folder, number, truth)
    sheet.say_if_busy()


def _sort(sheet: Sheet, folder: str, number: int, truth: np.ndarray) -> None:
    crowd, threads = Crowd(), list[threading.Thread]()
    with server_of(folder) as (crowd.url, pid):
        with client_of(crowd.url) as client:
            until_ready(client)
            made = [client.post(f"/api/projects/{number}/people", json={"name": f"p{i}"}).json() for i in range(PEOPLE)]
        crowd.is_up.set()
        before = processor_seconds(pid)
        threads = [threading.Thread(target=_person, args=(one["link"], i, truth, crowd)) for i, one in enumerate(made)]
        for thread in threads:
            thread.start()
        while len(crowd.acknowledged) < PEOPLE * KILLED_AFTER:
            time.sleep(0.05)
        used = processor_seconds(pid) - before
        n_before = len(crowd.acknowledged)
        crowd.is_up.clear()
        os.kill(pid, signal.SIGKILL)
    begun = time.perf_counter()
    with server_of(folder) as (crowd.url, pid):
        with client_of(crowd.url) as client:
            until_ready(client)
        restart = time.perf_counter() - begun
        crowd.is_up.set()
        for thread in threads:
            thread.join()
        with client_of(crowd.url) as client:
            client.get(f"/api/projects/{number}/clusters").raise_for_status()
            status = client.get(f"/api/projects/{number}").json()["status"]
            lines = client.get(f"/p/{number}/placements.csv").text.strip().splitlines()[1:]
        memory = peak_of(pid)
    _report(sheet, crowd, status, lines, used / n_before, restart, memory)


def _report(
    sheet: Sheet, crowd: Crowd, status: dict[str, Any], lines: list[str], used: float, restart: float, memory: float
) -> None:
    said = sum(map(len, crowd.acknowledged.values()))
    p50, p95 = np.percentile(crowd.took, [50, 95])
    sheet.row("screens acknowledged, rows on them", f"{len(crowd.acknowledged)}, {said:,}")
    sheet.row("errors", f"{crowd.failures}", "0", crowd.failures == 0)
    lost = said - int(status["placed"])
    sheet.row("placements acknowledged and lost", f"{lost}", "0", lost == 0 and len(lines) == said)
    sheet.row("screens sent again after the kill, kept once", f"{crowd.n_again}")
    sheet.row("screen kept and next one back, median", f"{1000 * p50:.0f} ms")
    sheet.row("the same, 95th percentile", f"{1000 * p95:.0f} ms", "200 ms", p95 < 0.2)
    sheet.row("processor time of the server, a screen", f"{1000 * used:.0f} ms")
    sheet.row("restart after the kill until the clusters are shown", f"{restart:.1f} s")
    every = [row for rows in crowd.acknowledged.values() for row in rows]
    sheet.row("rows placed twice, as tests", f"{1 - len(set(every)) / len(every):.0%}")
    sheet.row("adjusted Rand index of their clusters", f"{float(status['agreement']):.3f}")
    sheet.row("memory of the server", f"{memory:.0f} MB")


def _person(link: str, number: int, truth: np.ndarray, crowd: Crowd) -> None:
    """Sort; what counts is the time until the screen is kept and there is a next one."""
    rng = np.random.default_rng(number)
    found = _asked(crowd, "GET", f"/api{link}/screen", None)
    for turn in range(SCREENS):
        time.sleep(float(rng.gamma(4.0, THINKING / 4.0)))
        rows = [row["row"] for row in found["screen"]["rows"]]
        body = {
            "rows": rows, "placements": [f"kind {truth[row]}" for row in rows], "number": found["screen"]["number"],
            "screen": found["screen"]["key"], "seconds": 10.0, "key": f"{number}-{turn}",
        }  # fmt: skip
        found = _asked(crowd, "POST", f"/api{link}/screens", body)
        if "saved" not in found:
            crowd.failures += 1
            return
        crowd.acknowledged[int(found["saved"])] = rows


def _asked(crowd: Crowd, method: str, path: str, body: Any) -> Any:
    """Ask until there is an answer; only requests that met one server are timed."""
    is_again = False
    while True:
        crowd.is_up.wait()
        begun = time.perf_counter()
        try:
            with client_of(crowd.url) as client:
                begun = time.perf_counter()  # a browser has its connection
                answer = client.request(method, path, json=body)
        except httpx.TransportError:
            is_again = True
            crowd.n_again += body is not None
            time.sleep(0.2)
            continue
        if body is not None and not is_again:
            crowd.took.append(time.perf_counter() - begun)
        return answer.json()
