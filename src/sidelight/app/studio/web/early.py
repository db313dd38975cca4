"""What the studio's address answers while everything else is being loaded: a page that asks again by itself."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

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
