"""Work on what strangers made, in a process with limits of memory and time, so that it takes down nothing else.

The process is forked from one that does nothing but wait, so that it starts quickly.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from sidelight.errors import SidelightError, TooLarge

SECONDS = 300.0  # that such work may take
MEMORY = 3 * 1024**3  # bytes that it may take
_MEMORY = "needs more memory than it may take"
_SENT = ("Reading what was sent", "Nothing was made. Make the project on the machine: `sidelight studio new`.")


def limited(
    work: Callable[..., Any],
    *given: Any,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    refused: tuple[str, str] = _SENT,
) -> Any:
    """Return ``work(*given)``, done in a process of its own; its errors are raised here.

    Parameters
    ----------
    work, *given
        What to do, and with what.
    seconds, memory : float, int
        What it may take, beside the memory of a process that does nothing.
    refused : (str, str)
        Who took too much, and what to do: the words around the reason.
    """
    context = _context(work.__module__)
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_do, args=(there, memory, work, given), daemon=False)
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            raise _too_large(f"takes longer than {seconds:g} seconds", refused)
        answer = here.recv()
    except EOFError:  # it was killed: by the system, or by its limit
        raise _too_large(_MEMORY, refused) from None
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
        raise _too_large(_MEMORY, refused)
    if answer[0] == "mistake":
        raise RuntimeError(answer[1])
    return answer[1]


def _too_large(why: str, refused: tuple[str, str]) -> TooLarge:
    return TooLarge(f"{refused[0]} {why}. {refused[1]}")


@cache
def _context(preloaded: str) -> Any:
    try:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([preloaded])
    except ValueError:  # Windows has none
        return multiprocessing.get_context("spawn")
    return context


def _do(there: Any, memory: int, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Do the work and send what came of it."""
    limit_memory(memory)
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


def limit_memory(memory: int) -> None:
    """Let this process take no more memory than it has and ``memory`` bytes; where the system cannot, the time is.

    What was limited once stays so.
    """
    try:
        import resource

        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            return
        with open("/proc/self/statm", encoding="utf-8") as handle:
            now = int(handle.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))
    except (ImportError, OSError, ValueError):
        return
