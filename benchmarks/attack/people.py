"""Five thousand answers by thirty people: the studio's memory stays bounded, and no answer takes longer than the first.

A case is one project. Each person answers what they are asked, as pages do; a tenth is undone or corrected.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED
from attack.uploads import _resident

COUNT = 2
PEOPLE, ANSWERS = 30, 5_000
MOST = 150.0  # megabytes that the second half of the answers may add
P95 = 1.0  # seconds of a question and its answer, on a machine that does other things, too


def attack(number: int, folder: Path) -> str:
    """Let thirty people answer in turns, and look at memory, times and what is kept."""
    from starlette.testclient import TestClient

    from sidelight.app.studio.sources import digits
    from sidelight.app.studio.studio import Studio
    from sidelight.app.studio.web.app import make_app

    rng = np.random.default_rng([22, number])
    studio, source = Studio(folder / "studio"), digits()
    made = studio.add("digits", source, {"strategy": "rows", "kind": "pair", "clusters": 10})
    y = np.asarray(source.y)
    tokens = [studio.add_person(made.id, f"person {i}").token for i in range(PEOPLE)]
    client = TestClient(make_app(studio), base_url="http://localhost", headers={"X-Sidelight": "1"})
    took, sizes, kept = list[float](), list[float](), 0
    try:
        for step in range(ANSWERS):
            token = tokens[int(rng.integers(PEOPLE))]
            begin = time.monotonic()
            answer = _answered(client, token, y, rng, step)
            took.append(time.monotonic() - begin)
            if answer >= 500:
                return f"status {answer} at answer {step}"
            kept += answer == 200
            if (step + 1) % (ANSWERS // 10) == 0:
                sizes.append(_resident())
                print(f"    {step + 1}: {sizes[-1]:.0f} MB, p95 {np.quantile(took, 0.95):.3f} s", flush=True)
        events = len(studio.store.events(made.id))
        version = studio.project(made.id).model.snapshot(wait=120).version
    finally:
        studio.close()
    if version != events:
        return f"the model knows {version} of {events} events"
    if events < 0.9 * ANSWERS or events < kept:
        return f"{kept} acknowledged, {events} kept"
    if sizes[-1] - sizes[4] > MOST:
        return f"memory: {', '.join(f'{size:.0f}' for size in sizes)} MB"
    p95 = float(np.quantile(took, 0.95))
    return ACCEPTED if p95 < P95 else f"95 % of answers took up to {p95:.2f} s"


def _answered(client: Any, token: str, y: np.ndarray, rng: np.random.Generator, step: int) -> int:
    """Ask for a question and answer it, now and then undo instead; return the status."""
    if rng.random() < 0.05:
        return int(client.post(f"/api/a/{token}/undo", json={}).status_code)
    asked = client.get(f"/api/a/{token}")
    if asked.status_code != 200 or not asked.json()["questions"]:
        return int(asked.status_code) if asked.status_code != 200 else 204
    i, j = asked.json()["questions"][0]["rows"]
    is_same = (y[i] == y[j]) != (rng.random() < 0.05)
    body = {"rows": [i, j], "answer": "same" if is_same else "different", "key": f"k{step}"}
    return int(client.post(f"/api/a/{token}/answers", json=body).status_code)
