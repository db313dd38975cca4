"""Requests with false credentials, Hosts and Origins to a studio that listens to others: none of them gets in.

A case is twenty-five requests. What a stranger may see is a refusal, the pages of a link that nobody guessed, and what
is the same for all (style, script, the door).
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import REFUSED
from attack.races import _rows

COUNT = 100
EACH = 25
OWNER = "owner-" + "x" * 30
_PLACES = (
    "/",
    "/new",
    "/p/1",
    "/p/1/clusters",
    "/p/1/clusters/0",
    "/p/1/map",
    "/p/1/people",
    "/p/1/history",
    "/p/1/delete",
    "/p/1/answers.csv",
    "/p/1/clusters.csv",
    "/p/1/merged.csv",
    "/p/1/label-studio.json",
    "/api/projects",
    "/studies/1",
    "/api/projects/1",
    "/api/projects/1/people",
    "/api/projects/1/map",
    "/api/projects/1/rows/0",
    "/media/1/0/media",
    "/openapi.json",
    "/api/projects/1/history",
    "/cover/1/0",
    "/begin",
    "/docs",
    "/p/01",
    "/P/1",
    "/p/1/../1",
    "//p/1",
    "/p/1%2f",
    "/api//projects",
    "/enter/../p/1",
    "/static/../p/1",
    "/a/../p/1",
    "/api/a/../projects/1",
    "/p/1;x=1",
)
_CHANGES = (
    "/api/projects",
    "/api/describe",
    "/api/projects/1/people",
    "/api/projects/1/name",
    "/api/projects/1/delete",
    "/api/projects/1/settle",
    "/api/projects/1/run",
    "/api/projects/1/import",
    "/api/studies",
    "/api/projects/1/simulate",
    "/api/projects/1/corrections",
    "/api/projects/1/write-back",
    "/api/projects/1/second-share",
)
_HOSTS = (
    "localhost",
    "127.0.0.1",
    "evil.example",
    "localhost.evil",
    "evillocalhost",
    "localhost:80@evil",
    "[::1]",
    "[::",
    "",
    "127.0.0.1.evil.example",
    "localhost\\@evil",
    "LOCALHOST",
    "0x7f.1",
    "localhost#.evil",
)
_ORIGINS = (
    "",
    "null",
    "http://evil.example",
    "http://evillocalhost",
    "http://localhost.evil",
    "http://x@localhost",
    "//localhost",
    "file://localhost",
    "http://localhost:81",
    "https://localhost#",
    "http://[",
    "http://localhost\\@evil",
)


def attack(number: int, folder: Path) -> list[str]:
    """Send requests; each has a verdict of its own."""
    rng = np.random.default_rng([13, number])
    client, secrets = _studio()
    return [_request(client, secrets, rng) for _ in range(EACH)]


def _request(client: Any, secrets: dict[str, str], rng: np.random.Generator) -> str:
    headers = _credentials(secrets, rng)
    headers["Host"] = str(rng.choice(_HOSTS))
    changes = rng.random() < 0.4
    path = str(rng.choice(_CHANGES if changes else _PLACES))
    if rng.random() < 0.7:
        headers["Origin"] = str(rng.choice(_ORIGINS))
    if rng.random() < 0.5:
        headers["X-Sidelight"] = "1"
    if rng.random() < 0.15:
        path += "?" + str(rng.choice(["token=", "next=//evil.example", "x=%00", "role=owner", "_method=POST"]))
    sent = {name: value.encode("latin-1", "replace") for name, value in headers.items()}
    answer = client.request("POST" if changes else "GET", path, headers=sent, json={"name": "eve"} if changes else None,
                            follow_redirects=False)  # fmt: skip
    where = f"{'POST' if changes else 'GET'} {path} {headers}"[:300]
    if answer.status_code >= 500 or answer.status_code < 300:
        return f"status {answer.status_code}: {where}"
    place = answer.headers.get("location", "/")
    if not place.startswith("/") or place.startswith(("//", "/\\")):
        return f"sent to {place}: {where}"
    if any(secret in answer.text for secret in secrets.values()):
        return f"a secret is told: {where}"
    return REFUSED


def _credentials(secrets: dict[str, str], rng: np.random.Generator) -> dict[str, str]:
    """Return headers that are nearly right: cut, longer, of another place, of another project."""
    token = secrets[str(rng.choice(sorted(secrets)))]
    nearly = (token[:-1], token + "x", token.swapcase(), "", "x" * len(token), token[::-1], token + "\xe9", "null")
    false = nearly[int(rng.integers(len(nearly)))]
    ways: list[dict[str, str]] = [
        {},
        {"Authorization": f"Bearer {false}"},
        {"Authorization": f"Basic {false}"},
        {"Authorization": f"bearer {OWNER}"},
        {"Cookie": f"sidelight_owner={false}"},
        {"Cookie": f"sidelight_person_1={false}; sidelight_owner="},
        {"Cookie": f"sidelight_person_1={secrets['elsewhere']}"},  # a right link, of another project
        {"Cookie": f"sidelight_person_01={secrets['owner of it']}"},
        {"Cookie": "\x00;=;;sidelight_owner"},
        {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost", "X-Real-IP": "::1"},
        {"X-Original-URL": "/static/studio.js", "X-Rewrite-URL": "/enter"},
    ]
    return ways[int(rng.integers(len(ways)))]


@cache
def _studio() -> tuple[Any, dict[str, str]]:
    """Return a client of a studio with two projects, and what nobody else may know."""
    import tempfile

    from starlette.testclient import TestClient

    from sidelight.app.studio.studio import Studio
    from sidelight.app.studio.web.app import make_app
    from sidelight.app.studio.web.security import Access

    logging.getLogger("sidelight.studio").setLevel(logging.CRITICAL)
    studio = Studio(Path(tempfile.mkdtemp(prefix="sidelight-strangers-")))
    first = studio.add("one", _rows(), {}).id
    second = studio.add("two", _rows(), {}).id
    secrets = {
        "owner": OWNER,
        "annotator": studio.store.add_person(first, "Ann").token,
        "viewer": studio.add_person(first, "Vic", "viewer").token,
        "owner of it": studio.add_person(first, "Olga", "owner").token,
        "elsewhere": studio.add_person(second, "Eve", "owner").token,
    }
    client = TestClient(make_app(studio, Access(OWNER)), base_url="http://localhost", raise_server_exceptions=False)
    return client, secrets
