"""The events of one project as a server keeps them in memory: each is read once, in order, and followed as it comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from sidelight.app.store.studio_store import Event, NewEvent, Person, StudioStore


class EventLog:
    """Events in their order, under one lock.

    Parameters
    ----------
    store : StudioStore
        Where they are kept.
    project : int
        Whose they are.
    follow : callable
        Is given every event once, in order, under the lock of the log: what stands is kept up to date by it.
    """

    def __init__(self, store: StudioStore, project: int, follow: Callable[[Event], None]) -> None:
        self._store, self._project, self._follow = store, project, follow
        self._events: list[Event] = []
        self.lock = threading.RLock()  # of everything that ``follow`` keeps

    def read(self) -> list[Event]:
        """Return every event, those of other processes among them."""
        new = self._store.events(self._project, after=self.last)
        with self.lock:
            self._take(new)
            return self._events

    def known(self) -> list[Event]:
        """Return the events that were read so far, whether or not the database answers."""
        return self._events

    @property
    def last(self) -> int:
        """The number of the last event that was read."""
        events = self._events
        return events[-1].id if events else 0

    def append(self, person: Person, decide: Callable[[], Sequence[NewEvent]]) -> tuple[Event, ...]:
        """Add what ``decide`` returns, in one step: it is asked when every event before is followed and none can come.

        Whatever it raises refuses the step, and nothing is kept.
        """
        with self._store.appending(self._project) as end:
            new = end.events(self.last)
            with self.lock:
                self._take(new)
                decided = decide()
            kept = tuple(end.add(person, event) for event in decided)
        with self.lock:
            self._take(kept)
        return kept

    def append_once(self, person: Person, event: NewEvent, check: Callable[[], None]) -> tuple[Event, bool]:
        """Add an event after ``check``; return it, or the one kept under its key before, and whether it is new."""
        with self._store.appending(self._project) as end:
            new = end.events(self.last)
            with self.lock:
                self._take(new)
                is_new = not event.key or end.by_key(event.key) is None
                if is_new:
                    check()
            kept = end.add(person, event)
        with self.lock:
            self._take([kept])
        return kept, is_new

    def _take(self, events: Sequence[Event]) -> None:
        """Follow events; two readers may bring the same ones."""
        for event in events:
            if event.id > self.last:
                self._follow(event)
                self._events.append(event)
