"""The studio under load: 20 and 50 annotators at once, long histories, and what one person is asked."""

from __future__ import annotations

import base64
import io
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
from typing import Any

import httpx
import numpy as np

from runner import Sheet
from sidelight.app.report.gallery import Media
from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.learner import new_session
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.sources import Source, digits
from sidelight.app.studio.studio import Studio
from sidelight.metrics import adjusted_rand_index

TITLE = "The studio: twenty and fifty annotators at once, and what one person is asked"
PEOPLE, ANSWERS, THINKING = 20, 15, 1.5  # annotators, answers of each, mean seconds that a simulated person looks
CROWD, CROWD_ANSWERS, CROWD_THINKING = 50, 10, 3.0  # the same of a crowd; [P17] table 3.6 has 2.84 to 3.95 s a pair
CROWDED = {"10,000 rows": (10_000, False), "50,000 rows with pictures": (50_000, True)}
BUDGET, SEEDS = 100, 3
HISTORIES, ROWS_ASKED = (0, 2_000, 20_000), 60  # events before a restart, and rows that several people answered about
PATIENCE, LOOKING = 0.06, 0.15  # seconds after which the page shows the loaded question, and that one person looks


@dataclass
class Load:
    """What the annotators saw."""

    took: list[float] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    failures: int = 0
    processor: float = 0.0
    memory: float = 0.0
    kept: int = 0
    agreement: float = float("nan")


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        f"Digits, 1,797 rows; a server in a process of its own, SQLite with synchronous=FULL; {PEOPLE} annotators in "
        f"threads, {ANSWERS} right answers each, {THINKING} s of thinking on average between them, seed 0. {CROWD} "
        f"annotators on generated rows of 12 kinds with 16 numbers: {CROWD_ANSWERS} right answers each, "
        f"{CROWD_THINKING:g} s of thinking on average; those who see pictures load them."
    )
    load = _load()
    p50, p95 = np.percentile(load.took, [50, 95])
    sheet.row("answers sent", f"{len(load.took)}")
    sheet.row("errors", f"{load.failures}", "0", load.failures == 0)
    sheet.row("answer kept and next question back, median", f"{1000 * p50:.0f} ms")
    sheet.row("the same, 95th percentile", f"{1000 * p95:.0f} ms", "300 ms", p95 < 0.3)
    each = 1000 * load.processor / len(load.took)
    sheet.row("processor time of the server, an answer", f"{each:.0f} ms")
    sheet.row("adjusted Rand index of their clusters", f"{load.agreement:.3f}")
    _crowds(sheet)
    _long(sheet)
    _alone(sheet)
    sheet.say_if_busy()


def _load() -> Load:
    truth = [int(label) for label in digits().y or ()]
    with tempfile.TemporaryDirectory() as folder:
        return _answered_by(PEOPLE, folder, truth, ANSWERS, THINKING, "--demo")


def _answered_by(n_people: int, folder: str, truth: list[int], n: int, thinking: float, *words: str) -> Load:
    """Serve the first project of a folder, and let people answer it at once."""
    load = Load()
    with server_of(folder, *words) as (url, pid):
        with client_of(url) as client:
            until_ready(client)
            links = [
                client.post("/api/projects/1/people", json={"name": f"p{i}"}).json()["link"] for i in range(n_people)
            ]
        threads = [
            threading.Thread(target=_person, args=(url, link, i, truth, load, n, thinking))
            for i, link in enumerate(links)
        ]
        before = processor_seconds(pid)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        load.processor, load.memory = processor_seconds(pid) - before, peak_of(pid)
        with client_of(url) as client:
            client.get("/api/projects/1/clusters").raise_for_status()  # it waits for clusters that know every answer
            status = client.get("/api/projects/1").json()["status"]
            load.kept, load.agreement = int(status["answers"]), float(status["agreement"])
    return load


def _crowds(sheet: Sheet) -> None:
    """Let many people answer about many rows; whoever sees pictures loads them too."""
    for words, (n_rows, has_pictures) in CROWDED.items():
        source = many_rows(n_rows, has_pictures)
        truth = [int(label) for label in source.y or ()]
        with tempfile.TemporaryDirectory() as folder:
            studio = Studio(folder)
            studio.add("many rows", source, {})
            studio.close()
            load = _answered_by(CROWD, folder, truth, CROWD_ANSWERS, CROWD_THINKING)
        p50, p95 = np.percentile(load.took, [50, 95])
        lost = len(load.took) - load.kept
        sheet.row(f"{CROWD} annotators, {words}: answers sent", f"{len(load.took)}")
        sheet.row(f"{CROWD} annotators, {words}: errors, answers lost", f"{load.failures}, {lost}", "0, 0",
                  not load.failures and not lost)  # fmt: skip
        sheet.row(f"{CROWD} annotators, {words}: from answer to question, median", f"{1000 * p50:.0f} ms")
        sheet.row(
            f"{CROWD} annotators, {words}: the same, 95th percentile", f"{1000 * p95:.0f} ms", "200 ms", p95 < 0.2
        )
        if load.pictures:
            late = float(np.percentile(load.pictures, 95))
            sheet.row(f"{CROWD} annotators, {words}: a picture, 95th percentile", f"{1000 * late:.0f} ms")
        each = 1000 * load.processor / len(load.took)
        sheet.row(f"{CROWD} annotators, {words}: processor time of the server, an answer", f"{each:.0f} ms")
        sheet.row(f"{CROWD} annotators, {words}: adjusted Rand index", f"{load.agreement:.3f}")
        sheet.row(f"{CROWD} annotators, {words}: memory of the server", f"{load.memory:.0f} MB", "1,500 MB",
                  load.memory < 1500)  # fmt: skip


def many_rows(n: int, has_pictures: bool) -> Source:
    """Draw rows of twelve kinds, seed 0; a picture of a row is one of 200 noisy ones of 144 pixels."""
    from PIL import Image

    rng = np.random.default_rng(0)
    y = rng.integers(12, size=n)
    X = rng.normal(size=(n, 16)) + 2.5 * rng.normal(size=(12, 16))[y]
    seen: list[str] = []
    for _ in range(200 if has_pictures else 0):
        kept = io.BytesIO()
        small = Image.fromarray(rng.integers(256, size=(24, 24, 3), dtype=np.uint8))
        small.resize((144, 144)).save(kept, "JPEG")
        seen.append("data:image/jpeg;base64," + base64.b64encode(kept.getvalue()).decode())
    names = [f"row {i}" for i in range(n)]
    look = (lambda row: Media("image", seen[row % len(seen)])) if seen else (lambda row: None)
    return Source(X, names, [f"x{j}" for j in range(16)], look, [str(label) for label in y])


def peak_of(pid: int) -> float:
    """Return the most memory that a process had, in MB; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


@contextmanager
def server_of(folder: str, *words: str) -> Iterator[tuple[str, int]]:
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
    with server_of(folder) as (url, _), client_of(url) as client:
        begun = time.perf_counter()
        until_ready(client, number)
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


def client_of(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=60)


def until_ready(client: httpx.Client, number: int = 1) -> None:
    for _ in range(1200):
        try:
            answer = client.get(f"/api/projects/{number}")
            if answer.status_code == 200 and answer.json()["status"]["ready"]:
                return
        except httpx.ConnectError:
            pass
        time.sleep(0.05)


def processor_seconds(pid: int) -> float:
    """Return what a process has used so far; 0 where the system does not say."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime


def _person(url: str, link: str, number: int, truth: list[int], load: Load, n: int, thinking: float) -> None:
    """Answer; what counts is the time until the answer is kept and there is a next question."""
    rng, seen = np.random.default_rng(number), set[str]()
    with client_of(url) as client:
        client.get(link)  # the page gives a cookie for its pictures
        asked = client.get(f"/api{link}").json()["questions"]
        for _ in range(n):
            _look(client, asked, seen, load)
            time.sleep(float(rng.exponential(thinking)))
            rows = asked[0]["rows"]
            body = {"rows": rows, "answer": true_answer(rows, truth), "seconds": 1}
            begun = time.perf_counter()
            answer = client.post(f"/api{link}/answers", json=body)
            asked = answer.json().get("questions") or client.get(f"/api{link}").json()["questions"]
            load.took.append(time.perf_counter() - begun)
            load.failures += answer.status_code != 200


def _look(client: httpx.Client, asked: list[dict[str, Any]], seen: set[str], load: Load) -> None:
    """Load the pictures of the questions, as a browser does."""
    for address in {*re.findall(r'/media/[^"]+', "".join(c["html"] for q in asked for c in q["cards"]))} - seen:
        begun = time.perf_counter()
        load.failures += client.get(address).status_code != 200
        load.pictures.append(time.perf_counter() - begun)
        seen.add(address)


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
        ahead = session.ask(busy=[rows]) if is_ahead else None
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
