"""A connection that says nothing, or half of a request, is not kept open for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from sidelight.app.studio.web.security import SLOWEST


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
