"""Sequences of requests drawn by schemathesis from the studio's own description of its routes, by people of every role.

One case is a studio and two hundred requests: what one of them makes (projects, people, answers) the later ones use. No
request may end in a failure of the server, and nobody may do what the role does not allow.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attack.races import _rows

COUNT = 100
STEPS = 200
OWNER = "owner-" + "y" * 30
_SLOW = ("/simulate", "/clusterings", "/api/studies")  # slow by design
_OPEN = ("/a/", "/api/a/", "/s/", "/api/s/", "/static/", "/media/", "/study-media/", "/enter", "/cover/")
_KNOWN = {"number": "project", "project": "project", "token": "token", "row": "row", "cluster": "row", "event": "event"}


def attack(number: int, folder: Path) -> list[str]:
    """Send one sequence; every request has its verdict."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    from sidelight.app.studio.studio import Studio

    logging.getLogger("sidelight.studio").setLevel(logging.CRITICAL)
    rng = np.random.default_rng([15, number])
    verdicts: list[str] = []
    studio = Studio(folder / "studio")
    with _served(studio) as (url, description):
        operations = [
            found.ok()
            for found in schemathesis.openapi.from_dict(description).get_all_operations()
            if not found.ok().path.startswith(_SLOW) and not found.ok().path.endswith(_SLOW)
        ]
        world = _World(studio)

        @seed(number)
        @settings(max_examples=STEPS, database=None, deadline=None, phases=[Phase.generate],
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(st.sampled_from(operations).flatmap(lambda operation: operation.as_strategy()))
        def request(case: Any) -> None:
            verdicts.append(_sent(case, url, world, rng))

        request()
    studio.close()
    return verdicts


class _World:
    """A studio's projects and people, as far as the sequence knows them."""

    def __init__(self, studio: Any) -> None:
        self.studio = studio
        self.renew()

    def renew(self) -> None:
        """Make a project with people of every role, where the last one was removed."""
        alive = {project.id for project in self.studio.store.projects()}
        if getattr(self, "project", 0) in alive:
            return
        self.project = self.studio.add(f"rows {len(alive)} {time.time_ns()}", _rows(), {}).id
        self.tokens = {
            "annotator": self.studio.store.add_person(self.project, "Ann").token,
            "viewer": self.studio.add_person(self.project, "Vic", "viewer").token,
            "part owner": self.studio.add_person(self.project, "Olga", "owner").token,
        }


def _sent(case: Any, url: str, world: _World, rng: np.random.Generator) -> str:
    """Put known numbers into a drawn request, send it in a role, and judge the answer."""
    world.renew()
    known = {
        "project": world.project, "token": world.tokens["annotator"], "row": int(rng.integers(30)),
        "event": int(rng.integers(1, 60)),
    }  # fmt: skip
    for name in list(case.path_parameters or {}):
        if name in _KNOWN and rng.random() < 0.85:
            case.path_parameters[name] = known[_KNOWN[name]]
    role = str(rng.choice(["owner", "annotator", "viewer", "part owner", "stranger"], p=[0.5, 0.1, 0.15, 0.15, 0.1]))
    headers = {"X-Sidelight": "1"}
    cookies = {}
    if role == "owner":
        headers["Authorization"] = f"Bearer {OWNER}"
    elif role != "stranger":
        cookies[f"sidelight_person_{world.project}"] = world.tokens[role]
    case.cookies = {}
    for name in ("authorization", "Authorization", "x-sidelight"):
        (case.headers or {}).pop(name, None)
    try:
        answer = case.call(base_url=url, headers=headers, cookies=cookies, timeout=60, allow_redirects=False)
    except (ValueError, UnicodeError):  # what no client can send
        return "refused"
    path = f"{case.method} {case.path}"
    if answer.status_code >= 500:
        return f"status {answer.status_code} at {path} as {role}: {answer.text[:200]}"
    is_open = case.path.startswith(_OPEN)
    may_not = role in ("stranger", "annotator") or (role == "viewer" and case.method not in ("GET", "HEAD"))
    if answer.status_code < 300 and may_not and not is_open:
        return f"status {answer.status_code} at {path} as {role}"
    return "accepted" if answer.status_code < 400 else "refused"


@contextmanager
def _served(studio: Any) -> Any:
    """Serve a studio in a thread; give its address and the description of its routes."""
    import httpx
    import uvicorn

    from sidelight.app.studio.web.app import make_app
    from sidelight.app.studio.web.security import Access

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = make_app(studio, Access(OWNER))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield url, httpx.get(f"{url}/openapi.json", headers={"Authorization": f"Bearer {OWNER}"}).json()
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()
