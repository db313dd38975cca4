"""Starting the server: first the socket, which says that the studio is starting, then the studio, then the browser."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from sidelight.app.studio.web.security import LOOPBACK, SLOWEST, Access
from sidelight.errors import CannotWrite, SidelightError
from sidelight.words import Setting

if TYPE_CHECKING:
    from sidelight.app.store.studio_store import StudioStore
    from sidelight.app.studio.studio import Studio


_PAGE = (
    "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<meta http-equiv=refresh content=1><title>Sidelight Studio</title></head>"
    "<body><main><h1>Sidelight Studio</h1><p role=status>The studio is starting …</p></main></body></html>"
)
_JSON = '{"error": "The studio is starting. Try again in a moment."}'
_PATIENCE = 2.0  # seconds for the head of a request
_LOOK = 0.2  # seconds between two looks whether everything is loaded
_MOST = 8192  # bytes of a request that are read


@contextmanager
def answering_early(listening: socket.socket) -> Iterator[None]:
    """Answer every request on a socket with a page that asks again, until the block ends."""
    listening.listen(128)
    listening.settimeout(_LOOK)
    is_over = threading.Event()
    thread = threading.Thread(target=_answer_all, args=(listening, is_over), name="early", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        listening.settimeout(None)


def _answer_all(listening: socket.socket, is_over: threading.Event) -> None:
    while not is_over.is_set():
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            continue
        except OSError:
            return
        with connection, suppress(OSError):
            connection.settimeout(_PATIENCE)
            head = connection.recv(_MOST)
            path = head.split(b" ", 2)[1] if head.count(b" ") >= 2 else b""
            connection.sendall(_response(path.startswith(b"/api/")))


def _response(is_for_programs: bool) -> bytes:
    body, kind = (_JSON, "application/json") if is_for_programs else (_PAGE, "text/html; charset=utf-8")
    content = body.encode()
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\n"
        "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: default-src 'none'\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


class PunctualProtocol(H11Protocol):
    """HTTP over one connection, closed when the head of a request takes too long; bodies are timed by the guard."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; stop waiting when its head is whole."""
        super().data_received(data)
        if self._is_answering():
            self._stop_waiting()
        elif self._patience is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._patience = self.loop.call_later(SLOWEST, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        if not self._is_answering() and not self.transport.is_closing():
            self.transport.close()


_WATCH = 0.5  # seconds between two looks whether the database is still ours
_DEMOS = "Projects to try are being made: recordings and photographs are cut into rows and named. This takes a minute."
_OPEN_TO_ALL = (
    "Whoever has this address owns the studio. Send people the links of the page People instead. What is sent is not "
    "encrypted: whoever can read the network can read links and answers. Beyond a network that you trust put a proxy "
    "with TLS in front, or use an SSH tunnel and leave the host as it is."
)


def serve(
    folder: str, database: str | None, *, host: str, port: int, browser: bool, demo: bool = False, demos: bool = False,
    results: str = "", say: Callable[[str], Any],
) -> None:  # fmt: skip
    """Serve a studio until it is stopped; beyond this machine only with a token.

    The address is said, and answered, before anything else is loaded.
    """
    listening = _socket(host, port)
    access = Access() if host in LOOPBACK else Access(secrets.token_urlsafe(24))
    number = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    begin = f"/enter?token={access.token}" if access.token else "/begin" if demo or results else "/"
    say(f"Sidelight Studio: http://{shown}:{number}{begin}")
    if access.token:
        say(_OPEN_TO_ALL)
    if browser:
        threading.Timer(0.8, webbrowser.open, [f"http://{shown}:{number}{begin}"]).start()
    with answering_early(listening):
        from sidelight.app.studio.studio import Studio  # seconds, in which the address answers already
        from sidelight.app.studio.web.app import make_app

        studio = Studio(folder, database)
        try:
            studio.store.claim()
            path = _first_page(studio, demo, results)
        except BaseException:
            studio.close()
            raise
        app = make_app(studio, access, begin=path)
    try:
        if demos:
            threading.Thread(target=_make_demos, args=(studio,), name="demos", daemon=True).start()
        _run(app, studio, listening, say)
    finally:
        if not studio.store.is_taken_over:
            for files in studio.write_back():
                say(files)
        studio.close()


def _first_page(studio: Studio, demo: bool, results: str) -> str:
    """Make what the studio is to begin with; return its page."""
    if results:
        from sidelight.app.studio.run.results import open_results

        return f"/p/{open_results(studio, results).id}"
    return f"/p/{studio.demo().id}" if demo else "/"


def _make_demos(studio: Studio) -> None:
    """Make the projects to try while the first page is open."""
    from sidelight.app.studio.making import demo_projects

    studio.preparing = _DEMOS
    try:
        demo_projects(studio)
        studio.preparing = ""
    except SidelightError as error:
        studio.preparing = f"The projects to try could not be made: {error}"


def _run(app: Any, studio: Studio, listening: socket.socket, say: Callable[[str], Any]) -> None:
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False, http=PunctualProtocol,
        ws="none",
    )  # fmt: skip
    server = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt), holding(studio.store, server):  # so a studio ends; no work is lost
        server.run(sockets=[listening])
    if studio.store.is_taken_over:
        say("Stopped: another studio took over the database while it was away. Every answer is kept; open that one.")
    else:
        say("Stopped. Every answer is kept; the next start goes on here.")


@contextlib.contextmanager
def holding(store: StudioStore, server: Any) -> Iterator[None]:
    """Hold the claim on the database while a server runs; end the server when another one has it."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(_WATCH):
            with contextlib.suppress(CannotWrite):  # the database is away, also for others
                store.hold_claim()
            if store.is_taken_over:
                server.should_exit = True
                return

    watcher = threading.Thread(target=watch, name="studio claim", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join(timeout=10)


def _socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise CannotWrite(
            f"Cannot listen on {host}:{port}: {error.strerror}. Is another studio running?",
            do=["Choose another ", Setting("port"), "."],
        ) from error
    return listening
