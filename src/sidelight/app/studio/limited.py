"""Work on files that strangers sent, in a process of its own with limits of memory and time.

A picture that grows to gigabytes, a sound of ten hours or a table that never ends takes that process down and nothing
else. The process is forked from one that does nothing but wait, so that it starts quickly.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from sidelight.errors import SidelightError, TooLarge

SECONDS = 300.0  # that reading what was sent may take
MEMORY = 3 * 1024**3  # bytes that it may take


def limited(work: Callable[..., Any], *given: Any, seconds: float = SECONDS, memory: int = MEMORY) -> Any:
    """Return ``work(*given)``, done in a process of its own; its errors are raised here."""
    here, there = _context().Pipe(duplex=False)
    process = _context().Process(target=_do, args=(there, memory, work, given), daemon=False)
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            raise _too_large(f"takes longer than {seconds:g} seconds")
        answer = here.recv()
    except EOFError:  # it was killed: by the system, or by its limit
        raise _too_large("needs more memory than an upload may take") from None
    finally:
        here.close()
        if process.is_alive():
            process.join(timeout=1.0)
        if process.is_alive():
            process.kill()
        process.join()
    if answer[0] == "error":
        _, kind, what, who, do = answer
        raise kind(what, who=who, do=do)
    if answer[0] == "memory":
        raise _too_large("needs more memory than an upload may take")
    if answer[0] == "mistake":
        raise RuntimeError(answer[1])
    return answer[1]


def _too_large(why: str) -> TooLarge:
    return TooLarge(
        f"Reading what was sent {why}. Nothing was made. Make the project on the machine: `sidelight studio new`."
    )


@cache
def _context() -> Any:
    try:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["sidelight.app.studio.uploads"])
    except ValueError:  # Windows has none
        return multiprocessing.get_context("spawn")
    return context


def _do(there: Any, memory: int, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Do the work and send what came of it."""
    _limit(memory)
    try:
        answer: tuple[Any, ...] = ("done", work(*given))
    except SidelightError as error:
        answer = ("error", type(error), error.what, error.who, error.do)
    except MemoryError:
        answer = ("memory",)
    except Exception as error:  # a mistake of ours: it must not look like a lack of memory
        answer = ("mistake", f"{type(error).__name__}: {error}")
    with suppress(OSError):  # the parent has gone
        there.send(answer)
    there.close()


def _limit(memory: int) -> None:
    """Let this process take no more memory than it has and ``memory`` bytes; where the system cannot, the time is."""
    try:
        import resource

        with open("/proc/self/statm", encoding="utf-8") as handle:
            now = int(handle.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))
    except (ImportError, OSError, ValueError):
        return
