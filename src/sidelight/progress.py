"""Progress and cancelling, carried by a context variable so that no estimator needs a parameter for it.

Solvers call :func:`report` (or take it as ``report=``) once per iteration. Outside ``with progress(...)`` that costs a
dictionary look-up and nothing is shown. The callback cancels by returning ``False`` (or by raising); the solver then
raises :class:`~sidelight.errors.Cancelled` and the estimator stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sidelight.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Step:
    """One sign of life: ``done`` of ``total`` units of ``stage``; ``total`` is None where it is unknown."""

    stage: str
    done: int
    total: int | None = None
    note: str = ""


Callback = Callable[[Step], object]
_listener: ContextVar[Callback | None] = ContextVar("sidelight_progress", default=None)


@contextmanager
def progress(callback: Callback | None) -> Iterator[None]:
    """Send every :class:`Step` of the work inside the block to ``callback``; returning False cancels.

    Parameters
    ----------
    callback : callable or None
        Called with one :class:`Step`, sometimes from a worker thread. None silences an outer ``progress``.

    Examples
    --------
    >>> import sidelight as sl
    >>> from sidelight.progress import report
    >>> with sl.progress(lambda step: print(step.stage, step.done, "of", step.total)):
    ...     report("fitting", 1, 2)
    fitting 1 of 2
    """
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


@dataclass
class Interrupts:
    """Signals that ask a command to end; one for the process, which they are sent to.

    An interrupt may be swallowed where compiled code calls back, so it is remembered, and the next :func:`report` ends
    the work. Once the results begin to take their places it comes too late, and changes nothing.
    """

    asked: bool = False
    too_late: bool = False

    def begin(self) -> None:
        """Forget what another command was asked."""
        self.asked = self.too_late = False

    def handle(self, *_: object) -> None:
        """Take a signal: the handler of ``signal.signal``."""
        if not self.too_late:
            self.asked = True
            raise KeyboardInterrupt

    def results_are_whole(self) -> None:
        """Let no interrupt tear apart, or deny, what is done."""
        self.too_late = True


interrupts = Interrupts()


def report(stage: str, done: int, total: int | None = None, note: str = "") -> None:
    """Tell the listener of this context how far the work is; raise :class:`Cancelled` if they have had enough."""
    if interrupts.asked:
        raise KeyboardInterrupt
    callback = _listener.get()
    if callback is not None and callback(Step(stage, done, total, note)) is False:
        raise Cancelled(f"Cancelled during {stage!r} ({done} of {total if total is not None else 'unknown'}).")
