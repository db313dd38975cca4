"""The studio under load: twenty annotators at once on the digits, and the price of choosing a question ahead."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time

import httpx
import numpy as np

from runner import Sheet
from sidelight.active.oracle import Oracle
from sidelight.active.questions import Question
from sidelight.active.session import ActiveSession
from sidelight.jobs.studio.answers import true_answer
from sidelight.jobs.studio.sources import digits
from sidelight.metrics import adjusted_rand_index

TITLE = "The studio: twenty annotators at once, and questions chosen ahead"
PEOPLE, ANSWERS, THINKING = 20, 15, 1.5  # annotators, answers of each, mean seconds that a simulated person looks
BUDGET, SEEDS = 100, 3


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        f"Digits, 1,797 rows; a server in a process of its own, SQLite with synchronous=FULL; {PEOPLE} annotators in "
        f"threads, {ANSWERS} right answers each, {THINKING} s of thinking on average between them, seed 0."
    )
    took, failures = _load()
    p50, p95 = np.percentile(took, [50, 95])
    sheet.row("answers sent", f"{len(took)}")
    sheet.row("errors", f"{failures}", "0", failures == 0)
    sheet.row("answer kept and next question back, median", f"{1000 * p50:.0f} ms")
    sheet.row("the same, 95th percentile", f"{1000 * p95:.0f} ms", "300 ms", p95 < 0.3)
    _ahead(sheet)
    sheet.say_if_busy()


def _load() -> tuple[list[float], int]:
    truth = [int(label) for label in digits().y or ()]
    with tempfile.TemporaryDirectory() as folder:
        words = [
            sys.executable,
            "-u",
            "-m",
            "sidelight",
            "studio",
            "--demo",
            "--folder",
            folder,
            "--port",
            "0",
            "--no-browser",
        ]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None  # it is a pipe
        match = re.search(r"(http://\S+?)/p/", server.stdout.readline())
        assert match is not None  # the server says where it is
        url = match[1]
        took: list[float] = []
        failures = [0]
        try:
            with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=60) as client:
                _until_ready(client)
                links = [
                    client.post("/api/projects/1/people", json={"name": f"p{i}"}).json()["link"] for i in range(PEOPLE)
                ]
            threads = [
                threading.Thread(target=_person, args=(url, link, i, truth, took, failures))
                for i, link in enumerate(links)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            server.terminate()
            server.wait()
    return took, failures[0]


def _until_ready(client: httpx.Client) -> None:
    for _ in range(300):
        try:
            if client.get("/api/projects/1").json()["status"]["ready"]:
                return
        except httpx.ConnectError:
            pass
        time.sleep(0.2)


def _person(url: str, link: str, number: int, truth: list[int], took: list[float], failures: list[int]) -> None:
    rng = np.random.default_rng(number)
    with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=60) as client:
        found = client.get(f"/api{link}").json()
        for _ in range(ANSWERS):
            if not found.get("questions"):
                found = client.get(f"/api{link}").json()
            if not found["questions"]:
                return
            rows = found["questions"][0]["rows"]
            time.sleep(float(rng.exponential(THINKING)))
            begun = time.perf_counter()
            answer = client.post(
                f"/api{link}/answers", json={"rows": rows, "answer": true_answer(rows, truth), "seconds": 1}
            )
            took.append(time.perf_counter() - begun)
            failures[0] += answer.status_code != 200
            found = answer.json()


def _ahead(sheet: Sheet) -> None:
    """Compare asking one question at a time with asking the next one before the answer to the last is known."""
    source = digits()
    X = (source.X - source.X.mean(axis=0)) / np.maximum(
        source.X.std(axis=0), 1e-9
    )  # 1e-9: pixels that are always white
    truth = np.array([int(label) for label in source.y or ()])
    scores: dict[str, list[float]] = {"one at a time": [], "one ahead": []}
    for seed in range(SEEDS):
        for name, kept in scores.items():
            session, oracle = ActiveSession(X, random_state=seed), Oracle(truth)
            screen = session.ask()
            for _ in range(BUDGET):
                ahead = session.ask(busy=screen.rows) if name == "one ahead" else None
                session.tell(screen, oracle(Question(screen.rows, 0)))
                screen = session.ask() if ahead is None else ahead
            kept.append(float(adjusted_rand_index(truth, session.labels_)))
    for name, kept in scores.items():
        listed = ", ".join(f"{value:.2f}" for value in kept)
        sheet.row(f"adjusted Rand index after {BUDGET} right answers, {name}", f"{np.mean(kept):.3f} ({listed})")
