"""The studio under load: twenty annotators at once on the digits, and what one person is asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import httpx
import numpy as np

from runner import Sheet
from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.settings import new_session
from sidelight.app.studio.sources import digits
from sidelight.app.studio.studio import Studio
from sidelight.metrics import adjusted_rand_index

TITLE = "The studio: twenty annotators at once, and what one person is asked"
PEOPLE, ANSWERS, THINKING = 20, 15, 1.5  # annotators, answers of each, mean seconds that a simulated person looks
BUDGET, SEEDS = 100, 3
HISTORIES, ROWS_ASKED = (0, 2_000, 20_000), 60  # events before a restart, and rows that several people answered about
PATIENCE, LOOKING = 0.06, 0.15  # seconds after which the page shows the loaded question, and that one person looks


@dataclass
class Load:
    """What the annotators saw."""

    took: list[float] = field(default_factory=list)
    failures: int = 0
    processor: float = 0.0


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        f"Digits, 1,797 rows; a server in a process of its own, SQLite with synchronous=FULL; {PEOPLE} annotators in "
        f"threads, {ANSWERS} right answers each, {THINKING} s of thinking on average between them, seed 0."
    )
    load = _load()
    p50, p95 = np.percentile(load.took, [50, 95])
    sheet.row("answers sent", f"{len(load.took)}")
    sheet.row("errors", f"{load.failures}", "0", load.failures == 0)
    sheet.row("answer kept and next question back, median", f"{1000 * p50:.0f} ms")
    sheet.row("the same, 95th percentile", f"{1000 * p95:.0f} ms", "300 ms", p95 < 0.3)
    each = 1000 * load.processor / len(load.took)
    sheet.row("processor time of the server, an answer", f"{each:.0f} ms")
    _long(sheet)
    _alone(sheet)
    sheet.say_if_busy()


def _load() -> Load:
    truth = [int(label) for label in digits().y or ()]
    with tempfile.TemporaryDirectory() as folder:
        load = Load()
        with _server(folder, "--demo") as (url, pid):
            with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=60) as client:
                _until_ready(client)
                links = [
                    client.post("/api/projects/1/people", json={"name": f"p{i}"}).json()["link"] for i in range(PEOPLE)
                ]
            threads = [
                threading.Thread(target=_person, args=(url, link, i, truth, load)) for i, link in enumerate(links)
            ]
            before = _processor_seconds(pid)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            load.processor = _processor_seconds(pid) - before
    return load


@contextmanager
def _server(folder: str, *words: str) -> Iterator[tuple[str, int]]:
    """Serve a studio in a process of its own; give its address and its number."""
    told = [
        sys.executable,
        "-u",
        "-m",
        "sidelight",
        "studio",
        *words,
        "--folder",
        folder,
        "--port",
        "0",
        "--no-browser",
    ]
    server = subprocess.Popen(told, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None  # it is a pipe
    match = re.search(r"(http://[^/\s]+)", server.stdout.readline())
    assert match is not None  # the server says where it is
    try:
        yield match[1], server.pid
    finally:
        server.terminate()
        server.wait()


def _long(sheet: Sheet) -> None:
    """Measure an answer after long histories, and how long a restart takes until clusters and history are shown."""
    source = digits()
    truth = [int(label) for label in source.y or ()]
    for n_events in HISTORIES:
        with tempfile.TemporaryDirectory() as folder:
            studio = Studio(folder)
            number = studio.add("digits", source, {}).id
            asked = list(combinations(range(ROWS_ASKED), 2))
            for first in range(0, n_events, len(asked)):
                person = studio.store.add_person(number, f"p{first}")
                told = [{"rows": list(rows), "answer": true_answer(rows, truth)} for rows in asked[: n_events - first]]
                studio.store.append_all(person, [("answer", content, 1.0) for content in told])
            studio.project(number).model.snapshot(wait=600)
            studio.close()
            ready, history, took = _restarted(folder, number, truth)
        p50, p95 = (1000 * value for value in np.percentile(took, [50, 95]))
        is_most = n_events == max(HISTORIES)
        sheet.row(f"an answer after {n_events:,} events, median", f"{p50:.0f} ms", "100 ms", p50 < 100)
        sheet.row(f"the same, 95th percentile, {n_events:,} events", f"{p95:.0f} ms")
        sheet.row(f"restart with {n_events:,} events until clusters are shown", f"{ready:.1f} s", "5 s", ready < 5)
        if is_most:
            sheet.row(f"its page of the history, {n_events:,} events, right after", f"{history:.1f} s")


def _restarted(folder: str, number: int, truth: list[int]) -> tuple[float, float, list[float]]:
    """Open a studio again; return seconds until it is ready, of the history page, and of answers through its routes."""
    with _server(folder) as (url, _), _client(url) as client:
        begun = time.perf_counter()
        _until_ready(client, number)
        ready = time.perf_counter() - begun
        begun = time.perf_counter()
        assert client.get(f"/p/{number}/history").status_code == 200
        history, took = time.perf_counter() - begun, []
        bob = client.post(f"/api/projects/{number}/people", json={"name": "Bob"}).json()["link"]
        questions = client.get(f"/api{bob}").json()["questions"]
        for _ in range(20):
            time.sleep(LOOKING)
            rows = questions[0]["rows"]
            begun = time.perf_counter()
            answer = client.post(f"/api{bob}/answers", json={"rows": rows, "answer": true_answer(rows, truth)}).json()
            took.append(time.perf_counter() - begun)
            questions = answer["questions"] or client.get(f"/api{bob}").json()["questions"]
    return ready, history, took


def _client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=60)


def _until_ready(client: httpx.Client, number: int = 1) -> None:
    for _ in range(1200):
        try:
            answer = client.get(f"/api/projects/{number}")
            if answer.status_code == 200 and answer.json()["status"]["ready"]:
                return
        except httpx.ConnectError:
            pass
        time.sleep(0.05)


def _processor_seconds(pid: int) -> float:
    """Return what a process has used so far; 0 where the system does not say."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime


def _person(url: str, link: str, number: int, truth: list[int], load: Load) -> None:
    """Answer; what counts is the time until the answer is kept and there is a next question."""
    rng = np.random.default_rng(number)
    with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=60) as client:
        asked = client.get(f"/api{link}").json()["questions"]
        for _ in range(ANSWERS):
            time.sleep(float(rng.exponential(THINKING)))
            rows = asked[0]["rows"]
            body = {"rows": rows, "answer": true_answer(rows, truth), "seconds": 1}
            begun = time.perf_counter()
            answer = client.post(f"/api{link}/answers", json=body)
            asked = answer.json().get("questions") or client.get(f"/api{link}").json()["questions"]
            load.took.append(time.perf_counter() - begun)
            load.failures += answer.status_code != 200


def _alone(sheet: Sheet) -> None:
    """Compare a session with one person in the studio, who sees the loaded question where the fresh one is late."""
    scores: dict[str, list[float]] = {
        "the session alone": [], "one person in the studio": [], "always one question ahead": []
    }  # fmt: skip
    n_fresh = 0
    for seed in range(SEEDS):
        with tempfile.TemporaryDirectory() as folder:
            studio = Studio(folder)
            project = studio.project(studio.add("digits", digits(), {"seed": seed}).id)
            n_fresh += _answer(project)
            scores["one person in the studio"].append(project.model.snapshot().agreement)
            for name, is_ahead in (("the session alone", False), ("always one question ahead", True)):
                scores[name].append(_session(project, is_ahead=is_ahead))
            studio.close()
    for name, kept in scores.items():
        listed = ", ".join(f"{value:.2f}" for value in kept)
        sheet.row(f"adjusted Rand index after {BUDGET} right answers, {name}", f"{np.mean(kept):.3f} ({listed})")
    share = 100 * n_fresh / (BUDGET * SEEDS)
    sheet.row(f"fresh questions there within {1000 * PATIENCE:.0f} ms of the answer", f"{share:.0f} %")


def _session(project: OpenProject, *, is_ahead: bool) -> float:
    """Return the agreement that a session reaches, asked after each answer or always before it."""
    session, truth = new_session(project.rows, project.project.settings), project.rows.truth
    rows = session.ask().rows
    for _ in range(BUDGET):
        ahead = session.ask(busy=rows) if is_ahead else None
        session.tell(rows, true_answer(rows, truth))
        rows = (session.ask() if ahead is None else ahead).rows
    return float(adjusted_rand_index(truth, session.labels_))


def _answer(project: OpenProject) -> int:
    """Answer rightly; return how often the question that knew the answer was there in time."""
    ann, n_fresh = project.owner(), 0
    asked = project.model.questions(ann.id, wait=60, wait_more=5)
    for _ in range(BUDGET):
        time.sleep(LOOKING)
        loaded = asked[1:]
        project.answer(ann, asked[0], true_answer(asked[0], project.rows.truth), wait=PATIENCE)
        asked = project.model.questions(ann.id, wait=0.0, wait_more=0.02) or project.model.questions(ann.id, wait=60)
        n_fresh += asked != loaded
    return n_fresh
