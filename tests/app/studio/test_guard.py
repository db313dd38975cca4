"""What a request must be before any route sees it, asked of the guard without a server."""

from __future__ import annotations

import pytest
from tests.app.studio.conftest import awaited

from sidelight.app.studio.web.security import MOST_BODY, MOST_UPLOAD, Access, Guard, cookies, role_now

TOKEN = "t" * 32


class Inner:
    """An application that says which role it was called in, and reads the body."""

    def __init__(self):
        self.bodies, self.roles = [], []

    async def __call__(self, scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(body)
        self.roles.append(role_now.get())
        await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"max-age=5")]})
        await send({"type": "http.response.body", "body": b"fine"})


def call(access, path="/", *, method="GET", chunks=(b"",), **headers):
    """Send a request through the guard; return the status, the headers and what came through."""
    inner, sent, waiting = Inner(), [], list(chunks)
    named = {name.replace("_", "-").encode(): value.encode("latin-1") for name, value in headers.items()}
    scope = {"type": "http", "path": path, "method": method, "headers": list(({b"host": b"localhost"} | named).items())}

    async def receive():
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message):
        sent.append(message)

    awaited(Guard(inner, access)(scope, receive, send))
    if not sent:
        return 0, {}, inner
    return sent[0]["status"], dict(sent[0]["headers"]), inner


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("localhost:8000", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200), ("evil.org", 421),
     ("localhost.evil.org", 421), ("", 421), ("[::1", 421)],
)  # fmt: skip
def test_without_a_token_only_this_machine_is_answered(host, status):
    assert call(Access(), host=host)[0] == status
    assert call(Access(TOKEN), host=host, authorization=f"Bearer {TOKEN}")[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"x_sidelight": "1"}, 200),
        ({"origin": "http://localhost"}, 200),
        ({"origin": "https://localhost"}, 200),
        ({"origin": "ftp://localhost"}, 403),
        ({"origin": "http://evillocalhost"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "http://localhost:1"}, 403),
        ({"origin": "http://localhost.evil"}, 403),
        ({"origin": "http://x@localhost"}, 403),
        ({"origin": "//localhost"}, 403),
        ({"origin": "localhost"}, 403),
        ({"origin": "http://localhost\\@evil"}, 403),
        ({"origin": "file://localhost"}, 403),
        ({"origin": "null", "x_sidelight": "1"}, 403),
    ],
)
def test_what_changes_something_comes_from_our_page_or_a_program(headers, status):
    assert call(Access(), method="POST", **headers)[0] == status
    assert call(Access(), method="HEAD", **headers)[0] == 200


@pytest.mark.parametrize(
    ("path", "most"),
    [("/api/projects", MOST_UPLOAD), ("/api/describe", MOST_UPLOAD), ("/api/projects/3/import", MOST_UPLOAD),
     ("/api/projects/3", MOST_BODY), ("/p/1", MOST_BODY)],
)  # fmt: skip
def test_bodies_are_limited_where_no_file_is_sent(path, most):
    assert call(Access(), path, content_length=str(most))[0] == 200
    assert call(Access(), path, content_length=str(most + 1))[0] == 413
    assert call(Access(), path, content_length="-1")[0] == 413


def test_a_body_that_hides_its_length_is_cut_off():
    half = b"x" * (MOST_BODY // 2)
    assert call(Access(), "/p/1", chunks=(half, half))[2].bodies == [half + half]
    status, _, inner = call(Access(), "/p/1", chunks=(half, half, b"x"))
    assert (status, inner.bodies) == (0, [])


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 401), ({"authorization": f"Bearer {TOKEN}"}, 200), ({"authorization": TOKEN}, 401),
     ({"cookie": f"sidelight_owner={TOKEN}"}, 200), ({"cookie": "sidelight_owner=other"}, 401),
     ({"authorization": "Bearer other", "cookie": f"sidelight_owner={TOKEN}"}, 401), ({"cookie": "a\x00b=;;=="}, 401)],
)  # fmt: skip
def test_a_token_opens_everything_and_links_need_none(headers, status):
    assert call(Access(TOKEN), "/p/1", **headers)[0] == status
    assert call(Access(TOKEN), "/a/abcdefgh", **headers)[0] == 200
    assert call(Access(TOKEN), "/static/studio.js", **headers)[0] == 200


@pytest.mark.parametrize(
    ("role", "path", "method", "status"),
    [
        ("viewer", "/p/1", "GET", 200),
        ("viewer", "/p/1/clusters/2/wall", "GET", 200),
        ("viewer", "/p/1/people", "GET", 403),
        ("viewer", "/p/1", "POST", 403),
        ("viewer", "/api/projects/1/map", "GET", 200),
        ("viewer", "/p/1/all.csv", "HEAD", 200),
        ("owner", "/p/1/people", "POST", 200),
        ("annotator", "/p/1", "GET", 401),
        ("", "/p/1", "GET", 401),
        ("viewer", "/p/2", "GET", 401),
        ("viewer", "/", "GET", 401),
    ],
)
def test_a_link_opens_what_its_role_may_see(role, path, method, status):
    access = Access(TOKEN, lambda token, project: role if (token, project) == ("link", 1) else "")
    found, _, inner = call(access, path, method=method, cookie="sidelight_person_1=link", x_sidelight="1")
    assert found == status
    if status == 200:
        assert inner.roles == [role]


def test_answers_carry_our_headers_and_keep_their_own():
    _, headers, inner = call(Access())
    assert headers[b"cache-control"] == b"max-age=5"
    assert headers[b"x-frame-options"] == b"DENY"
    assert inner.roles == ["owner"]
    _, refused, _ = call(Access(), host="evil.org")
    assert refused[b"cache-control"] == b"no-store"
    assert refused[b"content-type"].startswith(b"text/plain")
    assert call(Access(), "/api/projects", host="evil.org")[1][b"content-type"] == b"application/json"
    assert cookies({b"cookie": b"a=1; b=2"}) == {"a": "1", "b": "2"}
