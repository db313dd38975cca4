"""How fast a link may send: much faster than any person answers, and slower than a machine that fills the disk."""

from __future__ import annotations

import threading
import time

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
