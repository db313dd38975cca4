"""Who goes over the parts of a fit: this process with all rows in memory, or with a scratch copy on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.memory import default_limit, in_units, size_in_bytes
from sidelight._core.tree_sum import Node
from sidelight._models.part_work import Ask, AskPart, AskTogether, Engine, Held, Passes, hold, refuse_gaps, work
from sidelight.data.parts import Part, PartedRows
from sidelight.data.spill import scratch_folder, spill
from sidelight.errors import InvalidParameter
from sidelight.progress import report

A_ROW = 400  # bytes that a fit keeps about a row beside its features, with some twenty clusters


class InMemory:
    """Read all parts once and keep them: the quickest engine, for rows that fit."""

    def over(self, parts: PartedRows) -> Passes:
        """Read the parts, in single precision."""
        keep: dict[int, Held] = {}
        arranged = ExitStack()
        if not parts.survey.is_arranged:  # bags whose rows lie apart are sorted on disk
            folder = arranged.enter_context(scratch_folder(None))
            look, parts = parts.look, spill(parts, folder, check_rows)
            parts.look = look  # the spilled rows are near 0 by this one
        recipes = parts.parts()

        def held(part: Part) -> Held:
            if part.number not in keep:
                report("reading", part.number, len(recipes))
                keep[part.number] = hold(part, parts.look, keeps=True)
            return keep[part.number]

        return LocalPasses(parts, recipes, held, arranged)


class OnDisk:
    """Write rows once to a scratch copy on disk and read it in every pass: for more rows than memory.

    Parameters
    ----------
    scratch : str or path, default=None
        The folder in which a folder of our own is made, and removed after the fit; where temporary files go by default.
        It takes four bytes for each number.
    """

    def __init__(self, scratch: str | Path | None = None) -> None:
        self.scratch = scratch

    def over(self, parts: PartedRows) -> Passes:
        """Write the scratch copy."""
        stack = ExitStack()
        try:
            folder = stack.enter_context(scratch_folder(self.scratch))
            look = parts.look
            spilled = spill(parts, folder, check_rows)
            spilled.look = look  # the spilled rows are near 0 by this one
            recipes = spilled.parts()
        except BaseException:
            stack.close()
            raise
        made: dict[int, dict[str, Any]] = {}

        def held(part: Part) -> Held:
            return Held(part, look, part.rows(), made=made.setdefault(part.number, {}))  # plans are kept, rows are not

        return LocalPasses(spilled, recipes, held, stack)


class OneLook:
    """Read every part when it is asked about and keep nothing: for a single pass."""

    def over(self, parts: PartedRows) -> Passes:
        """Read nothing yet."""
        return LocalPasses(parts, parts.parts(), lambda part: hold(part, parts.look), ExitStack())


def once_over(engine: Any) -> Engine:
    """Return who makes a single pass: workers of a cluster where there are some, else this process without a copy."""
    if isinstance(engine, str) and "://" in engine:
        from sidelight._models.on_dask import OnDask

        return OnDask(engine)
    is_here = engine is None or isinstance(engine, (str, Path, InMemory, OnDisk))
    return OneLook() if is_here else engine


class LocalPasses(Passes):
    """Passes of this process, with its threads."""

    def __init__(
        self, rows: PartedRows, parts: list[Part], held: Callable[[Part], Held], open_files: ExitStack
    ) -> None:
        self.rows, self.parts, self.look = rows, parts, rows.look
        self._held, self._open = held, open_files

    def run(self, ask: Ask) -> list[Node]:
        """Ask part after part; their blocks are shared out to threads."""
        return work(self.parts, ask, self._held)

    def each(self, ask: AskPart) -> Iterator[Any]:
        """Ask part after part."""
        for part in self.parts:
            yield ask.of_part(self._held(part))

    def together(self, ask: AskTogether) -> list[Any]:
        """Ask about all parts."""
        return [ask.of_parts(self.parts, self.look)]

    def close(self) -> None:
        """Remove the scratch copy."""
        self._open.close()


def engine_for(engine: Any, parts: PartedRows, *, memory: Any = None, scratch: Any = None) -> Engine:
    """Return the engine that was asked for; None: memory where the rows fit into it, else disk.

    Parameters
    ----------
    engine : Engine, str, Path or None
        An engine, "memory", "disk", a folder for the copy on disk, the address of a Dask scheduler, or None for what
        the rows fit into.
    parts : PartedRows
        The rows.
    memory : int or str, optional
        What the rows may take, such as "4GB"; half of what this process may have by default.
    scratch : str or path, optional
        Where the scratch copy goes.
    """
    if engine is None or engine == "auto":
        limit = default_limit() if memory is None else size_in_bytes(memory)
        if limit is None:
            raise InvalidParameter(
                f"memory must be a size: a number of bytes, or a text such as '4GB'. Got {memory!r}."
            )
        needed = parts.n_rows * (4 * parts.n_features + A_ROW)
        report(
            "reading", 0, None, f"{in_units(needed)} {'fit into' if needed <= limit else 'exceed'} {in_units(limit)}"
        )
        return InMemory() if needed <= limit else OnDisk(scratch)
    if isinstance(engine, Path):
        return OnDisk(engine)
    if isinstance(engine, str):
        if "://" in engine:
            from sidelight._models.on_dask import OnDask

            return OnDask(engine, scratch=scratch)
        if engine not in ("memory", "disk"):
            raise InvalidParameter(f"engine must be 'memory', 'disk', an address or OnDask(client). Got {engine!r}.")
        return InMemory() if engine == "memory" else OnDisk(scratch)
    if not hasattr(engine, "over"):
        raise InvalidParameter(
            f"engine must be 'memory', 'disk', a pathlib.Path, OnDask(client) or None. Got {type(engine).__name__}."
        )
    return engine


def check_rows(place: Callable[[int], str], rows: NDArray[Any], names: Sequence[str]) -> None:
    """Refuse rows that cannot be used, before they are written."""
    refuse_gaps(place, np.asarray(rows), names)
