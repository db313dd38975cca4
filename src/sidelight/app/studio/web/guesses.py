"""Wrong tokens: how many came lately, and from where."""

from __future__ import annotations

import threading
import time
from collections import deque

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
