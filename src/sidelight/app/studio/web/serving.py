"""Starting the server: the socket first, then the studio, then the page in a browser."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import uvicorn

from sidelight.app.studio.web.early import answering_early
from sidelight.app.studio.web.security import LOOPBACK, Access
from sidelight.errors import CannotWrite, SidelightError
from sidelight.words import Setting

if TYPE_CHECKING:
    from sidelight.app.store.studio_store import StudioStore
    from sidelight.app.studio.studio import Studio

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
    from sidelight.app.studio.demos import demo_projects

    studio.preparing = _DEMOS
    try:
        demo_projects(studio)
        studio.preparing = ""
    except SidelightError as error:
        studio.preparing = f"The projects to try could not be made: {error}"


def _run(app: Any, studio: Studio, listening: socket.socket, say: Callable[[str], Any]) -> None:
    from sidelight.app.studio.web.punctual import PunctualProtocol

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
