"""Corrections and answers of 24 owners at once, while many answers that disagree keep the model busy.

No request waits for the learner: each is acknowledged and kept, on SQLite and on PostgreSQL. A case is a burst; the
times of all bursts are gathered in ``corrections.json``, whose 95th percentile the page shows.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED
from attack.postgres import Server

COUNT = 8
AT_ONCE, NOISY = 24, 320
PATIENCE = 20.0  # seconds after which a call is given up
P95 = 1.0  # seconds: three times what an idle machine takes


def attack(number: int, folder: Path) -> str:
    """Give noisy answers about digits, then correct from 24 threads at once."""
    from starlette.testclient import TestClient

    from sidelight.app.studio.sources import digits
    from sidelight.app.studio.studio import Studio
    from sidelight.app.studio.web.app import make_app

    logging.getLogger("sidelight.studio").setLevel(logging.CRITICAL)
    rng = np.random.default_rng([13, number])
    with ExitStack() as stack:
        address = stack.enter_context(Server()).address if number % 2 else None
        studio = Studio(folder / "studio", address)
        stack.callback(studio.close)
        source = digits()
        made = studio.add("digits", source, {"strategy": "rows", "kind": "pair", "clusters": 10})
        project = studio.project(made.id)
        _first_look(project)
        owner, y = project.owner(), np.asarray(source.y)
        left, right = rng.integers(0, len(y), NOISY), rng.integers(0, len(y), NOISY)
        told = set()
        for i, j in zip(left.tolist(), right.tolist()):
            if i != j and frozenset((i, j)) not in told:
                told.add(frozenset((i, j)))
                is_same = (y[i] == y[j]) != (rng.random() < 0.2)
                project.answer(owner, (i, j), "same" if is_same else "different")
        client = TestClient(make_app(studio), base_url="http://localhost", headers={"X-Sidelight": "1"})
        n_clusters = int(project.model.snapshot(fresh=False).labels.max()) + 1
        for row in range(3):  # the first calls of a process load what they need
            client.post(
                f"/api/projects/{made.id}/corrections",
                json={"row": row, "cluster": row % n_clusters, "is_member": True},
            )
        before, took, wrong = len(project.events()), list[float](), list[str]()
        begin = threading.Barrier(AT_ONCE)

        def call(row: int, cluster: int) -> None:
            begin.wait()
            start = time.perf_counter()
            body = {"row": row, "cluster": cluster, "is_member": True}
            answer = client.post(f"/api/projects/{made.id}/corrections", json=body)
            took.append(time.perf_counter() - start)
            if answer.status_code not in (200, 201, 204):
                wrong.append(f"{answer.status_code} {answer.text[:200]}")

        rows = rng.choice(len(y), AT_ONCE, replace=False).tolist()
        threads = [
            threading.Thread(target=call, args=(row, int(rng.integers(n_clusters))), daemon=True) for row in rows
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        if len(took) < AT_ONCE:
            return f"{AT_ONCE - len(took)} of {AT_ONCE} calls without an answer after {PATIENCE:.0f} s"
        p95 = float(np.quantile(took, 0.95))
        print(f"    {'PostgreSQL' if address else 'SQLite'}: p95 {p95:.3f} s, slowest {max(took):.3f} s", flush=True)
        if wrong:
            return f"{len(wrong)} refused: {wrong[0]}"
        kept = len(project.events()) - before
        if kept != AT_ONCE:
            return f"{AT_ONCE} acknowledged, {kept} kept"
        return ACCEPTED if p95 < P95 else f"95 % of calls took up to {p95:.2f} s"


def _first_look(project: Any) -> None:
    """Wait until the model has looked at the rows: on a busy machine it says "try again in a moment"."""
    from sidelight.errors import InvalidData

    for _ in range(20):
        try:
            project.model.snapshot()
            return
        except InvalidData:
            time.sleep(1.0)
