"""What a case ended with: accepted, refused with one of our messages, or a finding."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable
from typing import Any

SECONDS = 60  # of processor time of one case
PATIENCE = 10  # times as long by the clock, for a case that waits: machines are shared
ACCEPTED, REFUSED = "accepted", "refused"


class TooLate(BaseException):
    """A case took too long; no handler for ordinary errors may swallow this."""


def judged(call: Callable[[], Any], seconds: int = SECONDS) -> str:
    """Call, and say what came of it; whatever is no error of ours is named with the place it came from."""
    import sidelight as sl

    def too_late(*_: Any) -> None:
        raise TooLate(f"more than {seconds} s")

    alarms = (signal.SIGPROF, signal.SIGALRM)
    before = [signal.signal(alarm, too_late) for alarm in alarms]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)
    try:
        call()
        return ACCEPTED
    except sl.SidelightError as error:
        return REFUSED if str(error).strip() else "refused without a message"
    except BaseException as error:  # whatever else comes out is what we look for
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "/sidelight/" in f.filename] or frames
        place = f"{ours[-1].filename.rsplit('/sidelight/', 1)[-1]}:{ours[-1].lineno}" if ours else "?"
        return f"leaked {type(error).__name__} at {place}: {str(error)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for alarm, handler in zip(alarms, before):
            signal.signal(alarm, handler)
