"""Passes over parts by the workers of a Dask cluster; the only file that imports ``distributed``, when it is needed.

One task a worker a pass: its parts, whose rows it has kept from the pass before. A task names the worker that should do
it and allows others, so that parts of a worker that is gone are read by somebody else; nothing is ever scattered and no
worker holds what another could not make again.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from sidelight._core.memory import default_limit
from sidelight._core.tree_sum import Node
from sidelight._models.passes import A_ROW, Ask, AskPart, AskTogether, Held, Passes, hold, near_copy, work
from sidelight.data.array_parts import ArrayRows
from sidelight.data.parts import BLOCKS, Look, Part, PartedRows
from sidelight.errors import ClusterGone, InvalidData, InvalidParameter, MissingExtra, WorkerDied
from sidelight.words import Setting, counted, some_of

PARTS = 8  # parts for each worker, where there are rows enough: what is lost with a worker can be shared out
PATIENCE = 30.0  # seconds without a single worker until the cluster counts as gone
CONNECT = 10.0  # seconds to reach a scheduler
GLANCE = 5.0  # seconds between two looks at whether there are workers
SHARE = 0.4  # of the memory of a worker that rows and posteriors may take


class OnDask:
    """Let the workers of a Dask cluster go over the parts.

    Parameters
    ----------
    client : distributed.Client or str
        Your client, or the address of the scheduler.
    scratch : str or path, default=None
        A folder that this process and all workers see. It is needed for rows that only this process can read
        (``Parts.from_arrays``) and for bags whose rows lie apart; a folder of our own in it is removed after the fit.
    deadline : float, default=3600
        Seconds that one pass over all rows may take.
    """

    def __init__(self, client: Any, *, scratch: str | Path | None = None, deadline: float = 3600.0) -> None:
        if not isinstance(deadline, (int, float)) or isinstance(deadline, bool) or not deadline > 0:
            raise InvalidParameter(f"The 'deadline' parameter of OnDask is a number of seconds. Got {deadline!r}.")
        self.client, self.scratch, self.deadline = client, scratch, float(deadline)

    def over(self, parts: PartedRows) -> Passes:
        """Reach the cluster, compare versions, and share the parts out; nothing is read yet."""
        stack = ExitStack()
        try:
            client = self._connected(stack)
            workers = _workers(client)
            _compare_versions(client)
            look = parts.look
            if _needs_scratch(parts):
                parts = self._spilled(parts, stack)
            n_blocks = len(parts.survey.cuts) - 1
            recipes = parts.parts(max(1, min(BLOCKS, n_blocks // (PARTS * len(workers)))))
            return DaskPasses(client, parts, recipes, look, self.deadline, stack)
        except BaseException:
            stack.close()
            raise

    def _connected(self, stack: ExitStack) -> Any:
        distributed = _distributed()
        if not isinstance(self.client, str):
            if getattr(self.client, "status", "") != "running":
                raise ClusterGone("The client of OnDask is not connected to a scheduler. Connect it again.")
            return self.client
        try:
            # not the default one: what else this process asks of Dask meanwhile is no business of a fit
            client = distributed.Client(self.client, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterGone(
                f"There is no scheduler at {self.client!r} ({type(error).__name__}).",
                do=["Start one with dask scheduler, or correct the address: ", Setting("scheduler"), "."],
            ) from error
        stack.callback(client.close)
        return client

    def _spilled(self, parts: PartedRows, stack: ExitStack) -> PartedRows:
        if self.scratch is None:
            raise InvalidData(
                "OnDask: workers cannot read these rows as they are: they are in the memory of this process, or the "
                "rows of some bags lie apart.",
                do=["Name a folder that all workers see: ", Setting("scratch"), ", or write Parquet files bag by bag."],
            )
        return near_copy(parts, self.scratch, stack)


class DaskPasses(Passes):
    """Passes of a cluster's workers over the parts of one fit."""

    def __init__(
        self, client: Any, rows: PartedRows, parts: list[Part], look: Look, deadline: float, stack: ExitStack
    ) -> None:
        self.rows, self.parts, self.look = rows, parts, look
        self._client, self._deadline, self._stack, self._fit = client, deadline, stack, uuid4().hex
        self._own: dict[str, list[Part]] = {}

    def run(self, ask: Ask) -> list[Node]:
        """Ask every worker about its parts."""
        return [node for nodes in self._ask(_work, ask) for node in nodes]

    def each(self, ask: AskPart) -> Iterator[Any]:
        """Ask every worker about its parts, and bring the answers into order."""
        answers = dict(answer for some in self._ask(_each, ask) for answer in some)
        for part in self.parts:
            yield answers.pop(part.number)

    def together(self, ask: AskTogether) -> list[Any]:
        """Ask every worker about all of its parts at once."""
        return self._ask(_together, ask)

    def close(self) -> None:
        """Let workers forget the rows, and remove the scratch copy."""
        try:
            if self._client.status == "running":
                with suppress(Exception):  # a cluster that is gone has forgotten by itself
                    self._client.run(_forget, self._fit, on_error="ignore")
        finally:
            self._stack.close()

    def _ask(self, how: Callable[..., Any], ask: Any) -> list[Any]:
        """Submit one task a worker and wait for all of them; whatever goes wrong, no task is left behind."""
        distributed = _distributed()
        futures: dict[Any, list[Part]] = {}
        self._check_connected()
        try:
            for address, parts in self._assigned().items():
                future = self._client.submit(
                    how, self._fit, self.look, parts, ask, workers=[address], allow_other_workers=True, pure=False
                )
                futures[future] = parts
            self._wait(futures)
            return [self._result(future, parts) for future, parts in futures.items()]
        except (distributed.CancelledError, OSError) as error:
            if isinstance(error, (ClusterGone, WorkerDied)):
                raise
            raise ClusterGone(
                f"The connection to the scheduler was lost in the middle of a pass ({type(error).__name__}). "
                "Start the cluster again, and the fit with it: nothing was changed."
            ) from error
        finally:
            unfinished = [future for future in futures if not future.done()]
            if unfinished and self._client.status == "running":
                with suppress(Exception):
                    self._client.cancel(unfinished)

    def _result(self, future: Any, parts: list[Part]) -> Any:
        distributed = _distributed()
        try:
            return future.result(timeout=self._deadline)
        except distributed.scheduler.KilledWorker as error:
            raise WorkerDied(
                f"Workers died again and again on {_named(parts)}; most likely their memory did not suffice.",
                do="Give workers more memory, or start more of them: each then gets fewer rows.",
            ) from error
        except MemoryError as error:
            raise WorkerDied(f"A worker ran out of memory on {_named(parts)}. Give workers more of it.") from error

    def _wait(self, futures: dict[Any, list[Part]]) -> None:
        """Wait for all tasks, while there is a cluster and time left."""
        distributed = _distributed()
        end, seen = time.monotonic() + self._deadline, time.monotonic()
        while True:
            left = min(GLANCE, end - time.monotonic())
            self._check_connected()
            try:
                with self._client.as_current():  # else dask waits with whichever client was made last, or finds none
                    distributed.wait(list(futures), timeout=max(left, 0.001))
                return
            except (TimeoutError, distributed.TimeoutError):
                now = time.monotonic()
            if now >= end:
                late = [part for future, parts in futures.items() if not future.done() for part in parts]
                raise WorkerDied(
                    f"No answer about {_named(late)} within {self._deadline:g} s.",
                    do=["If passes take that long, allow it: ", Setting("deadline"), "."],
                ) from None
            if self._addresses():
                seen = now
            elif now - seen > PATIENCE:
                raise ClusterGone(f"The cluster has had no worker for {PATIENCE:g} s. Start some.") from None

    def _check_connected(self) -> None:
        if self._client.status not in ("running", "connecting"):
            raise ClusterGone("The scheduler is gone. Start the cluster again, and the fit with it.")

    def _assigned(self) -> dict[str, list[Part]]:
        """Keep parts where they are; those of workers that are gone, and a fair share for new ones, move."""
        alive = self._addresses() or _workers(self._client)
        self._own = {address: self._own.get(address, []) for address in alive}
        placed = {part.number for parts in self._own.values() for part in parts}
        lost = [part for part in self.parts if part.number not in placed]
        fair = len(self.parts) // len(alive)
        for address in alive:  # a worker that has just come, or come back
            missing = max(1, fair) - len(self._own[address])
            if not self._own[address] and lost:
                self._own[address], lost = lost[:missing], lost[missing:]
            while len(self._own[address]) < fair and len(fullest := max(self._own.values(), key=len)) > fair:
                self._own[address].append(fullest.pop())
        for part in lost:
            min(self._own.values(), key=len).append(part)
        for parts in self._own.values():
            parts.sort(key=lambda part: part.number)
        return {address: parts for address, parts in self._own.items() if parts}

    def _addresses(self) -> list[str]:
        return sorted(self._client.scheduler_info(n_workers=-1).get("workers", ()))  # none while the connection closes


class _Kept:
    """What a worker has kept of the parts of fits, up to a share of its memory."""

    def __init__(self) -> None:
        self.parts: dict[tuple[str, int], tuple[Held, int]] = {}
        self.lock = threading.Lock()

    def hold(self, fit: str, part: Part, look: Look) -> Held:
        kept = self.parts.get((fit, part.number))
        if kept is not None:
            return kept[0]
        held = hold(part, look)
        with self.lock:
            room = _worker_memory() - sum(taken for _, taken in self.parts.values())
            full = held.X.nbytes + A_ROW * part.n_rows
            held.keeps = full <= room
            taken = full if held.keeps else held.X.nbytes + 40 * part.n_rows  # 40: what lists take of a row
            if taken <= room:
                self.parts[fit, part.number] = held, taken
        return held

    def forget(self, fit: str) -> None:
        with self.lock:
            self.parts = {key: kept for key, kept in self.parts.items() if key[0] != fit}


_KEPT = _Kept()


def _work(fit: str, look: Look, parts: Sequence[Part], ask: Ask) -> list[Node]:
    return work(parts, ask, lambda part: _KEPT.hold(fit, part, look))


def _each(fit: str, look: Look, parts: Sequence[Part], ask: AskPart) -> list[tuple[int, Any]]:
    return [(part.number, ask.of_part(_KEPT.hold(fit, part, look))) for part in parts]


def _together(fit: str, look: Look, parts: Sequence[Part], ask: AskTogether) -> Any:
    return ask.of_parts(parts, look)


def _forget(fit: str) -> None:
    _KEPT.forget(fit)


def _worker_memory() -> float:
    """Return the bytes that parts may take on this worker."""
    from distributed import get_worker

    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):  # no worker, or one without a limit
        limit = None
    return SHARE * float(limit or 2 * default_limit())


def versions_here() -> dict[str, str]:
    """Return the versions that decide the numbers, of this process."""
    import numpy as np

    import sidelight

    return {"sidelight": sidelight.__version__, "numpy": np.__version__, "python": platform.python_version()[:4]}


def _versions_there() -> dict[str, str]:
    return versions_here()


def _compare_versions(client: Any) -> None:
    """Refuse workers on which the same numbers might come out differently, or not at all."""
    own = _own_versions()
    try:
        found = client.run(_versions_there)
    except ImportError as error:
        raise ClusterGone(
            f"Some worker cannot import {error.name or 'sidelight'}. Install the same versions on all workers: "
            + some_of([f"{name} {number}" for name, number in own.items()])
            + "."
        ) from error
    for address, there in sorted(found.items()):
        other = [f"{name} {there.get(name)} (here {own[name]})" for name in own if there.get(name) != own[name]]
        if other:
            raise ClusterGone(f"Worker {address} runs {some_of(other)}. Install the same versions on all workers.")


def _own_versions() -> dict[str, str]:
    return versions_here()


def _workers(client: Any) -> list[str]:
    """Return the addresses of all workers, after waiting for a first one."""
    distributed = _distributed()
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except (TimeoutError, distributed.TimeoutError):
        raise ClusterGone(f"The cluster has had no worker for {PATIENCE:g} s. Start some.") from None
    except OSError as error:
        raise ClusterGone(f"The scheduler cannot be reached ({type(error).__name__}).") from error
    return sorted(client.scheduler_info(n_workers=-1)["workers"])


def _needs_scratch(parts: PartedRows) -> bool:
    """Whether workers cannot read the rows where they are: they are in this process, or bags lie apart."""
    here = any(isinstance(source, ArrayRows) for source in parts.sources)
    return here or not parts.survey.is_arranged


def _named(parts: Sequence[Part]) -> str:
    first, last = parts[0], parts[-1]
    which = f"part {first.number + 1}" if len(parts) == 1 else f"parts {first.number + 1} to {last.number + 1}"
    return f"{which} ({counted(sum(part.n_rows for part in parts), 'row')}, the first is {first.place(0)})"


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtra("distributed", "dask", "Fitting on a cluster") from None
    return distributed
