"""Sequences of requests to the studio's routes, sensible and not: never a failure of the server, nothing lost."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED
from attack.races import _rows

COUNT = 60
STEPS = 60
_ODD = (0, 1, 7, 8, 29, 30, -1, 2**31, 10**30, 1.5, None, True, "", "x" * 300, "\ud800", [], {}, [[1]], "=1+1")
_PAGES = (
    "/", "/p/{p}", "/p/{p}/clusters", "/p/{p}/clusters/{n}", "/p/{p}/map", "/p/{p}/history?start={n}", "/p/{p}/people",
    "/p/{p}/answers.csv", "/p/{p}/clusters.csv?disarm=true", "/a/{t}", "/a/{t}/history", "/api/a/{t}", "/p/{p}/",
    "/api/a/{t}/status", "/api/projects/{p}/contradictions", "/api/projects/{p}/history", "/media/{p}/{n}/media",
    "/p/{p}/merged.csv", "/p/{p}/label-studio.json", "/p/{p}/contradictions?at={n}", "/p/{p}/clusters/{n}/wall",
    "/api/projects/{p}/map?packed=true", "/api/projects/{p}/rows/{n}", "/cover/{p}/{n}", "/p/{p}/delete", "/new",
    "/a/{t}?by=piles", "/api/a/{t}/screen?n={n}", "/api/a/{t}/way", "/api/a/{t}/piles/{n}", "/a/{t}?by={n}",
    "/api/projects/{p}/clusters/{n}", "/static/studio.js", "/enter?token={n}", "/api/projects/{p}/map", "/studies/{n}",
)  # fmt: skip

_CHANGES = (
    "/api/projects/{p}/people", "/api/projects/{p}/second-share", "/api/projects/{p}/settle", "/api/projects/{p}/run",
    "/api/projects/{p}/clusters/{n}/name", "/api/projects/{p}/clusters/{n}/wall", "/api/projects/{p}/together",
    "/api/projects/{p}/name", "/api/projects/{p}/archive", "/api/projects/{p}/delete", "/api/projects/{p}/write-back",
    "/api/projects/{p}/corrections", "/api/projects", "/api/describe", "/api/projects/{p}/import",
)  # fmt: skip


def attack(number: int, folder: Path) -> str:
    """Send one sequence; the first failure of the server is the verdict."""
    from starlette.testclient import TestClient

    from sidelight.app.studio.studio import Studio
    from sidelight.app.studio.web.app import make_app

    logging.getLogger("sidelight.studio").setLevel(logging.CRITICAL)
    rng = np.random.default_rng([8, number])
    strategy = ("rows", "uncertain", "random", "info")[number % 4]
    studio = Studio(folder / "studio")
    kind = "triplet" if number % 3 == 0 else "pair"
    clusters = int(rng.integers(2, 9)) if strategy in ("uncertain", "info") else None
    made = studio.add("rows", _rows(), {"strategy": strategy, "clusters": clusters, "kind": kind})
    token = studio.store.add_person(made.id, "Ann").token
    others = [studio.add_person(made.id, role, role).token for role in ("viewer", "owner")]
    kept: dict[int, str] = {}
    client = TestClient(
        make_app(studio), base_url="http://localhost", headers={"X-Sidelight": "1"}, raise_server_exceptions=False
    )
    try:
        for step in range(STEPS):
            verdict = _step(client, rng, made.id, token, f"{number} {step}", kept)
            verdict = verdict or (_raised(studio, rng, made.id, [token, *others]) if step % 6 == 0 else "")
            if verdict:
                return verdict
        stored = {event.id: event.key for event in studio.store.events(made.id) if event.key}
        return ACCEPTED if kept == stored else f"{len(kept)} acknowledged, {len(stored)} kept"
    finally:
        studio.close()


def _step(client: Any, rng: np.random.Generator, project: int, token: str, key: str, kept: dict[int, str]) -> str:
    kind = int(rng.integers(6))
    path, body = f"/api/a/{token}/answers", dict[str, Any]()
    if kind == 0:
        path = str(rng.choice(_PAGES)).format(p=project, n=int(rng.integers(-1, 12)), t=token)
        return _verdict(client.get(path, follow_redirects=False), path)
    if kind <= 2:  # a right question, answered somehow
        asked = client.get(f"/api/a/{token}")
        if asked.status_code != 200 or not asked.json()["questions"]:
            return _verdict(asked, "/api/a")
        question = asked.json()["questions"][0]
        body = {"rows": question["rows"], "answer": str(rng.choice(question["words"])), "key": key}
    elif kind == 3:
        body = {"rows": [_odd(rng), _odd(rng)], "answer": _odd(rng), "seconds": _odd(rng), "key": _odd(rng)}
    elif kind == 4:
        path = f"/api/a/{token}/undo"
    else:
        path, body = [
            (f"/api/projects/{project}/corrections",
             {"row": _odd(rng), "cluster": _odd(rng), "is_member": _odd(rng), "is_confirmation": True}),
            (f"/api/projects/{project}/clusters/{int(rng.integers(9))}/name", {"name": _odd(rng)}),
            (f"/api/projects/{project}/people", {"name": _odd(rng)}),
            (f"/api/projects/{project}/history/{int(rng.integers(40))}", {"answer": _odd(rng)}),
            (f"/api/a/{token}/history/{int(rng.integers(40))}", {"answer": None}),
            ("/api/projects", {"name": _odd(rng)}),
            (f"/api/a/{token}/later", {"rows": [int(rng.integers(-1, 32)), int(rng.integers(32))]}),
            (f"/api/a/{token}/notes", {"row": int(rng.integers(-1, 32)), "text": _odd(rng)}),
            (f"/api/projects/{project}/together", {"rows": [1, 2, int(rng.integers(-1, 32))], "name": _odd(rng)}),
            (f"/api/projects/{project}/clusters/{int(rng.integers(9))}/wall", {"struck": [1], "right": [_odd(rng)]}),
            (f"/api/projects/{project}/settle", {"row": int(rng.integers(32)), "label": _odd(rng)}),
            (f"/api/projects/{project}/second-share", {"share": _odd(rng)}),
            _screen(client, rng, token, key),
            _screen(client, rng, token, key),
            (f"/api/a/{token}/piles",
             {"act": str(rng.choice(["rename", "merge", "apart", "split"])), "pile": int(rng.integers(4)),
              "other": int(rng.integers(4)), "rows": [int(rng.integers(30))], "name": _odd(rng)}),
        ][int(rng.integers(15))]  # fmt: skip
    answer = client.post(path, content=_json(body), headers={"content-type": "application/json"})
    if path.endswith(("/answers", "/screens")) and answer.status_code == 200 and body.get("key"):
        kept[answer.json()["saved"]] = str(body["key"])
    return _verdict(answer, path)


def _screen(client: Any, rng: np.random.Generator, token: str, key: str) -> tuple[str, dict[str, Any]]:
    """Return where a person might put the rows of the screen that they have."""
    asked = client.get(f"/api/a/{token}/screen?n={int(rng.integers(1, 12))}")
    shown = asked.json().get("screen") if asked.status_code == 200 else None
    rows = [card["row"] for card in shown["rows"]] if shown else [int(row) for row in rng.permutation(30)[:4]]
    places = (0, 1, 2, -1, -2, "wren", "aside", None, 99, "")
    put = [_odd(rng) if rng.random() < 0.05 else places[int(rng.integers(len(places)))] for _ in rows]
    known = {"number": shown["number"], "screen": shown["key"]} if shown and rng.random() < 0.8 else {}
    called = {"-1": _odd(rng)} if rng.random() < 0.3 else {}
    return f"/api/a/{token}/screens", {"rows": rows, "placements": put, "called": called, "key": key, **known}


def _raised(studio: Any, rng: np.random.Generator, project: int, tokens: list[str]) -> str:
    """Send something with the link of a role to a studio that listens to others; say so when it may not."""
    from starlette.testclient import TestClient

    from sidelight.app.studio.web.app import make_app
    from sidelight.app.studio.web.security import Access

    role = int(rng.integers(3))  # annotator, viewer, owner
    client = TestClient(
        make_app(studio, Access("x" * 32)), base_url="http://localhost", headers={"X-Sidelight": "1"},
        raise_server_exceptions=False, cookies={f"sidelight_person_{project}": tokens[role]},
    )  # fmt: skip
    page = str(rng.choice(_PAGES)).format(p=project, n=int(rng.integers(-1, 12)), t=tokens[role])
    verdict = _verdict(client.get(page, follow_redirects=False), page)
    path = str(rng.choice(_CHANGES)).format(p=project, n=int(rng.integers(9)))
    answer = client.post(path, content=_json({"name": _odd(rng), "share": 0.5, "row": 1, "label": "x", "rows": [1, 2]}))
    if role < 2 and answer.status_code not in (401, 403):
        return f"status {answer.status_code} at {path} for role {role}"
    return verdict or _verdict(answer, path)


def _odd(rng: np.random.Generator) -> Any:
    return _ODD[int(rng.integers(len(_ODD)))]


def _json(body: Any) -> bytes:
    import json

    return json.dumps(body).encode("utf-8", "surrogatepass")


def _verdict(answer: Any, path: str) -> str:
    if answer.status_code >= 500:
        place = "/".join("*" if len(part) > 20 else part for part in path.split("/"))
        return f"status {answer.status_code} at {place}: {answer.text[:200]}"
    return ""
