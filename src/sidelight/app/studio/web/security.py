"""What a request must be before any route sees it, and what every answer carries.

- Without a token the studio answers only to names of this machine, so that no page elsewhere can reach it by a name of
  its own; with a token everything but the annotators' links asks for it.
- What changes something must come from a page of the studio (``Origin``) or carry a header that other pages cannot set.
- A link sends no more than a person can, and wrong tokens are counted by where they come from.
- Bodies are limited; pages run no script but ours and load nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread

_A_SECOND, _AT_ONCE = 40.0, 400.0  # requests of one link: in the long run, and after a rest
_MOST_LINKS = 10_000  # that are remembered


class Pace:
    """A bucket of requests for each link; the clock only ever goes forward."""

    def __init__(self, a_second: float = _A_SECOND, at_once: float = _AT_ONCE) -> None:
        self._a_second, self._at_once = a_second, at_once
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, link: str) -> bool:
        """Count one request of a link; say whether it may be answered."""
        with self._lock:
            now = time.monotonic()
            left, since = self._left.pop(link, (self._at_once, now))
            left = min(self._at_once, left + self._a_second * (now - since))
            while len(self._left) >= _MOST_LINKS:
                del self._left[next(iter(self._left))]  # the link that was heard of longest ago
            self._left[link] = (max(left - 1.0, 0.0), now)
            return left >= 1.0


_MOST, _WINDOW = 10, 60.0  # wrong tokens from one place, and in how many seconds
_MOST_PLACES = 10_000  # that are remembered


class Guesses:
    """Counts wrong tokens by where they came from; the clock only ever goes forward."""

    def __init__(self) -> None:
        self._at: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def are_too_many(self, place: str) -> bool:
        """Whether so many came from a place lately that it has to wait."""
        with self._lock:
            return len(self._recent(place)) >= _MOST

    def note(self, place: str) -> None:
        """Count one."""
        with self._lock:
            recent = self._recent(place)
            recent.append(time.monotonic())
            while len(self._at) >= _MOST_PLACES and place not in self._at:
                del self._at[next(iter(self._at))]  # the place that was noted first
            self._at[place] = recent

    def _recent(self, place: str) -> deque[float]:
        recent = self._at.get(place, deque(maxlen=_MOST))
        while recent and recent[0] < time.monotonic() - _WINDOW:
            recent.popleft()
        return recent


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
LOOPBACK = ("localhost", "127.0.0.1", "::1")
OWNER_COOKIE, PERSON_COOKIE, HEADER = "sidelight_owner", "sidelight_person", "x-sidelight"
MOST_UPLOAD, MOST_BODY = 200_000_000, 1_000_000  # bytes of an upload, and of any other request
_UPLOADS = re.compile(r"/api/(?:projects|describe|projects/\d+/import)")  # where files are sent to
SLOWEST = 20.0  # seconds without a byte of a request after which it is over
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": _POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
_OPEN = ("/a/", "/api/a/", "/static/", "/media/", "/enter")  # paths that ask for no owner; media look for themselves
_OF_PROJECT = re.compile(r"/(?:api/projects|p)/(\d{1,10})(?:/|$)")
_VIEWED = re.compile(
    r"/p/\d+(?:/(?:clusters(?:/\d+(?:/wall)?)?|map|tags|presence|row/\d+|history|contradictions|[a-z-]+\.(?:csv|json)))?"
    r"|/api/projects/\d+(?:/(?:clusters(?:/\d+)?|map|history|contradictions|rows/\d+|run|tags(?:/news)?))?"
)  # what a viewer may see, who may change nothing: no page with links of people
_LINK = re.compile(r"/(?:api/)?[as]/([^/]{8,64})")
role_now: ContextVar[str] = ContextVar("sidelight_role", default="owner")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may do what.

    Attributes
    ----------
    token : str
        The owner's secret; empty when only this machine can reach the server.
    role_of : callable
        Returns what the link with a token opens in a project: ``"owner"``, ``"viewer"``, ``"annotator"`` or nothing.
    """

    token: str = ""
    role_of: Callable[[str, int], str] = lambda token, project: ""

    def is_owner(self, headers: MutableMapping[bytes, bytes]) -> bool:
        """Say whether a request comes from the owner."""
        if not self.token:
            return True
        bearer = headers.get(b"authorization", b"").decode("latin-1")
        shown = (
            bearer.removeprefix("Bearer ") if bearer.startswith("Bearer ") else cookies(headers).get(OWNER_COOKIE, "")
        )
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self.token.encode())


def cookie_of(project: int) -> str:
    """Return the name of the cookie that lets a person see the pictures of a project: one a project, not one in all."""
    return f"{PERSON_COOKIE}_{project}"


def cookies(headers: MutableMapping[bytes, bytes]) -> dict[str, str]:
    """Return the cookies of a request."""
    try:
        read = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in read.items()}


class Guard:
    """Stands before the application; further paths that are ``open_to_all`` ask for no owner."""

    def __init__(self, app: Any, access: Access, open_to_all: tuple[str, ...] = ()) -> None:
        self.app, self.access, self.pace, self.open = app, access, Pace(), (*_OPEN, *open_to_all)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on and add the headers to its answer."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])

        status = 0

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *_added(present)]
            await send(message)

        refusal = self._refusal(scope, headers) or await self._role(scope, headers) or self._pace(scope)
        if refusal is not None:
            await _refuse(send_with_headers, *refusal, scope["path"])
            return
        most = MOST_UPLOAD if _UPLOADS.fullmatch(scope["path"]) else MOST_BODY
        try:
            await self.app(scope, _limited(receive, most), send_with_headers)
        except Exception:  # starlette raises again what was answered with a page and written to the log
            if status != 500:
                raise

    async def _role(self, scope: Scope, headers: MutableMapping[bytes, bytes]) -> tuple[int, str] | None:
        """Refuse who is neither the owner nor has a link that opens this page; let templates know the role."""
        path = scope["path"]
        role_now.set("owner")
        if path.startswith(self.open) or self.access.is_owner(headers):
            return None
        found = _OF_PROJECT.match(path)
        token = cookies(headers).get(cookie_of(int(found[1])), "") if found else ""
        role = await anyio.to_thread.run_sync(self.access.role_of, token, int(found[1])) if found and token else ""
        is_look = scope["method"] in ("GET", "HEAD") and _VIEWED.fullmatch(path) is not None
        if role == "owner" or (role == "viewer" and is_look):
            role_now.set(role)
            return None
        if role == "viewer":
            return 403, "Your link lets you look at this project, not change it."
        return 401, "Open the link that the studio printed when it started: it carries the token of its owner."

    def _pace(self, scope: Scope) -> tuple[int, str] | None:
        """Refuse a link that sends far more than a person can."""
        found = _LINK.match(scope["path"])
        if found is None or self.pace.take(found[1]):
            return None
        return 429, "This link sends more than a person can. Wait a few seconds."

    def _refusal(self, scope: Scope, headers: MutableMapping[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        name = urlsplit(f"//{host}").hostname or "" if _is_host(host) else ""
        if not self.access.token and name not in LOOPBACK:
            return 421, "This studio answers only on this machine. Start it for another host to let others in."
        if scope["method"] not in ("GET", "HEAD") and not _is_ours(headers, host):
            return 403, "This request did not come from a page of the studio. Programs send the header X-Sidelight: 1."
        path = scope["path"]
        size = headers.get(b"content-length", b"0")
        most = MOST_UPLOAD if _UPLOADS.fullmatch(path) else MOST_BODY
        if not size.isdigit() or int(size) > most:
            return 413, f"At most {most / 1e6:g} MB can be sent here."
        return None


def _is_host(host: str) -> bool:
    try:
        return bool(host) and urlsplit(f"//{host}").hostname is not None
    except ValueError:
        return False


def _is_ours(headers: MutableMapping[bytes, bytes], host: str) -> bool:
    """Say whether a request that changes something comes from our own page, or from a program."""
    origin = headers.get(b"origin")
    if origin is not None:
        try:
            parts = urlsplit(origin.decode("latin-1"))
            return parts.scheme in ("http", "https") and parts.netloc == host
        except ValueError:
            return False
    return HEADER.encode() in headers


def _limited(receive: Receive, most: int) -> Receive:
    """Stop reading a body that says nothing of its length and goes on for ever, or that does not go on."""
    read, is_whole = 0, False

    async def receive_some() -> MutableMapping[str, Any]:
        nonlocal read, is_whole
        try:
            message = await asyncio.wait_for(receive(), None if is_whole else SLOWEST)
        except TimeoutError:
            return {"type": "http.disconnect"}
        read += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        return message if read <= most else {"type": "http.disconnect"}

    return receive_some


def _added(present: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    added = {name: value for name, value in _HEADERS.items() if name not in present}
    if b"cache-control" not in present:
        added[b"cache-control"] = b"no-store"
    return list(added.items())


async def _refuse(send: Send, status: int, words: str, path: str) -> None:
    import json

    if path.startswith("/api/"):
        body, kind = json.dumps({"error": words}).encode(), b"application/json"
    else:
        body, kind = words.encode(), b"text/plain; charset=utf-8"
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": body})
