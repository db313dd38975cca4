"""A studio killed with kill -9 while ten clients answer: what was acknowledged is there, once, and the model lives.

Every second case keeps its answers in PostgreSQL, the others in SQLite. Servers are forks of a process that has loaded
the libraries, so that most of the time of a case is answering.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from attack.outcome import ACCEPTED
from attack.races import _rows
from attack.servers import _server

COUNT = 200
CLIENTS = 10
_LAUNCHER = """
import json, os, sys
import sidelight.app.studio.web.app  # once, for every server that is forked
from sidelight.app.studio.web.serving import serve
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        serve(asked["folder"], asked["database"], host="127.0.0.1", port=0, browser=False,
              say=lambda text: print(text, flush=True))
    os.waitpid(child, 0)
"""


def attack(number: int, folder: Path) -> str:
    """Serve, answer, kill, and look at what is kept."""
    from sidelight.app.studio.studio import Studio

    rng = np.random.default_rng([14, number])
    place, database = folder / "studio", _server().address if number % 2 else None
    studio = Studio(place, database)
    project = studio.add(f"rows {number}", _rows(), {}).id
    tokens = [studio.store.add_person(project, f"p{i}").token for i in range(CLIENTS)]
    studio.close()
    sent, acknowledged, odd = set[str](), set[str](), list[str]()
    launcher = _launcher()
    print(json.dumps({"folder": str(place), "database": database}), file=launcher.stdin, flush=True)
    server = int(launcher.stdout.readline())
    url = launcher.stdout.readline().split()[-1].rstrip("/")
    begun = threading.Event()
    clients = [
        threading.Thread(target=_answer, args=(url, token, who, sent, acknowledged, odd, begun))
        for who, token in enumerate(tokens)
    ]
    for client in clients:
        client.start()
    begun.wait(60)
    time.sleep(float(rng.uniform(0.0, 0.6)))
    os.kill(server, signal.SIGKILL)
    for client in clients:
        client.join()
    return odd[0] if odd else _judged(place, database, project, sent, acknowledged)


def _judged(place: Path, database: str | None, project: int, sent: set[str], acknowledged: set[str]) -> str:
    """Open the studio again: every acknowledged answer is there once, nothing else is, and the model learns them."""
    from sidelight.app.studio.studio import Studio

    studio = Studio(place, database)
    try:
        kept = [event.key for event in studio.store.events(project)]
        if len(kept) != len(set(kept)) or not acknowledged <= set(kept) <= sent:
            return f"{len(acknowledged)} acknowledged, {len(kept)} kept, {len(set(kept))} different, {len(sent)} sent"
        if not acknowledged:
            return "nothing was acknowledged before the kill"
        opened = studio.project(project)
        version, end = -1, time.monotonic() + 120
        while version != len(kept) and time.monotonic() < end:
            version = opened.model.snapshot(wait=60).version
            time.sleep(0.02)
        if opened.model.failure or version != len(kept):
            return f"the model knows {version} of {len(kept)} answers: {opened.model.failure}"
        return ACCEPTED
    finally:
        studio.close()


def _answer(
    url: str, token: str, who: int, sent: set[str], acknowledged: set[str], odd: list[str], begun: threading.Event
) -> None:
    """Answer about one pair after the other until the server is gone."""
    pairs = [(a, b) for a in range(30) for b in range(a)]
    is_up, end = False, time.monotonic() + 90
    with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=30) as client:
        for rows in pairs:
            key = f"{who} {rows[0]} {rows[1]}"
            sent.add(key)
            while True:
                try:
                    body = {"rows": list(rows), "answer": "different", "key": key}
                    answer = client.post(f"/api/a/{token}/answers", json=body)
                except httpx.TransportError:
                    if is_up or begun.is_set() or time.monotonic() > end:  # how the kill looks from here
                        return
                    time.sleep(0.02)  # the address is printed before the server takes requests
                    continue
                if answer.status_code == 200:
                    acknowledged.add(key)
                    is_up = True
                    begun.set()
                    break
                if answer.status_code not in (429, 503) or time.monotonic() > end:
                    odd.append(f"status {answer.status_code}: {answer.text[:200]}")
                    return
                time.sleep(0.05)  # starting, or faster than a person


@cache
def _launcher() -> Any:
    words = [sys.executable, "-c", _LAUNCHER]
    quiet = {"stderr": subprocess.DEVNULL}
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **quiet)
