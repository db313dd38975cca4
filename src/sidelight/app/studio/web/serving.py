"""Starting the server: the socket first, then the studio, then the page in a browser."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from sidelight.app.store.studio_store import StudioStore
from sidelight.app.studio.run.results import open_results
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web.app import make_app
from sidelight.app.studio.web.punctual import PunctualProtocol
from sidelight.app.studio.web.security import LOOPBACK, Access
from sidelight.errors import CannotWrite
from sidelight.words import Setting

_WATCH = 0.5  # seconds between two looks whether the database is still ours


def serve(
    folder: str, database: str | None, *, host: str, port: int, browser: bool, demo: bool = False, results: str = "",
    say: Callable[[str], Any],
    path: str = "/",
) -> None:  # fmt: skip
    """Serve a studio until somebody stops it; beyond this machine only with a token."""
    listening = _socket(host, port)
    access = Access() if host in LOOPBACK else Access(secrets.token_urlsafe(24))
    studio = Studio(folder, database)
    try:
        studio.store.claim()
        if demo:
            path = f"/p/{studio.demo().id}"
        if results:
            path = f"/p/{open_results(studio, results).id}"
        number = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        begin = f"/enter?token={access.token}" if access.token else path
        say(f"Sidelight Studio: http://{shown}:{number}{begin}")
        if access.token:
            say("Whoever has this address owns the studio. Send people the links of the page People instead.")
        if browser:
            threading.Timer(0.8, webbrowser.open, [f"http://{shown}:{number}{begin}"]).start()
        config = uvicorn.Config(
            make_app(studio, access), log_level="warning", access_log=False, server_header=False, date_header=False,
            http=PunctualProtocol, ws="none",
        )  # fmt: skip
        server = uvicorn.Server(config)
        with contextlib.suppress(KeyboardInterrupt), holding(studio.store, server):  # so a studio ends; no work is lost
            server.run(sockets=[listening])
        if studio.store.is_taken_over:
            say(
                "Stopped: another studio took over the database while it was away. Every answer is kept; open that one."
            )
        else:
            say("Stopped. Every answer is kept; the next start goes on here.")
    finally:
        if not studio.store.is_taken_over:
            for files in studio.write_back():
                say(files)
        studio.close()


@contextlib.contextmanager
def holding(store: StudioStore, server: Any) -> Iterator[None]:
    """Hold the claim on the database while a server runs; end the server when another one has it."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(_WATCH):
            with contextlib.suppress(CannotWrite):  # the database is away: nobody else has it either
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
