"""Who goes over all rows of a fit, and how: questions, their answers block by block, and engines that ask them.

A question (``Ask``) is small and can be sent anywhere; whoever gets it reads the part, or has it still, and answers
with one bundle of sums for each block. The answers of neighbouring blocks are added up by the one tree of
:mod:`sidelight._core.tree_sum`, so that memory, disk and cluster differ only in who calls :func:`work`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._core.memory import default_limit, in_units, size_in_bytes
from sidelight._core.process import map_in_threads
from sidelight._core.tree_sum import Node, Sums, joined, nodes_of, whole_sum
from sidelight.data.bag_lists import BagLists, Draw, Sample, joined_samples
from sidelight.data.bags import Bags
from sidelight.data.parts import Look, Part, PartedRows
from sidelight.data.spill import is_near, scratch_folder, spill
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.progress import report

HUGE = 1e150  # squares of larger numbers are infinite in float64
A_ROW = 400  # bytes that a fit keeps about a row beside its features, with some twenty clusters


@dataclass(slots=True)
class Held:
    """A part that somebody has read: its rows near 0, mostly in single precision, and whatever was made of them."""

    part: Part
    look: Look
    X: NDArray[Any]
    keeps: bool = False  # whether there is room for what one pass can leave to the next
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The rows of each block."""
        return list(zip(self.part.cuts, self.part.cuts[1:]))

    def lists(self) -> BagLists | None:
        """Read the bags."""
        return self.part.lists()

    def bags(self, classes: tuple[Any, ...]) -> Bags:
        """Return the bags with their labels among these classes; rows without bags are bags of their own."""
        lists = self.lists()
        return Bags(np.arange(self.part.n_rows), classes=classes) if lists is None else lists.as_bags(classes)

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """Return what ``make`` makes, made once for this part."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


class Ask(Protocol):
    """A question about blocks; the answers are added up."""

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Answer for the rows of one block."""
        ...


class AskPart(Protocol):
    """A question about a whole part; the answers are kept apart."""

    def of_part(self, held: Held) -> Any:
        """Answer for all rows of the part."""
        ...


class AskTogether(Protocol):
    """A question about all parts that somebody has, whose recipes the question reads by itself."""

    def of_parts(self, parts: Sequence[Part], look: Look) -> Any:
        """Answer for these parts."""
        ...


@dataclass(frozen=True, slots=True)
class DrawnOf:
    """Which rows belong to a sample?"""

    draw: Draw

    def of_part(self, held: Held) -> Sample:
        """Return the drawn rows and bags of a part."""
        return self.draw.take(held.X, held.lists(), held.part.numbers())


@dataclass(frozen=True, slots=True)
class Moments:
    """What do the columns add up to, and their squares, near 0?"""

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Answer for one block, in double precision."""
        rows = held.X[slice(*run)].astype(np.float64)
        return rows.sum(axis=0), np.square(rows).sum(axis=0)


def hold(part: Part, look: Look, *, keeps: bool = False, dtype: Any = np.float32) -> Held:
    """Read a part; a gap or an infinite number is refused by its place."""
    rows = part.rows()
    if is_near(part):
        return Held(part, look, rows, keeps)
    refuse_gaps(part.place, rows, part.feature_names)
    return Held(part, look, look.near(rows, dtype), keeps)


def rows_of(part: Part, look: Look) -> NDArray[Any]:
    """Read the rows of a part in the user's own units."""
    return look.far(part.rows()) if is_near(part) else part.rows()


def refuse_gaps(place: Callable[[int], str], rows: NDArray[Any], names: Sequence[str] = ()) -> None:
    """Refuse NaN, infinite numbers and numbers whose squares are infinite, by the row and its column."""
    if not rows.size or max(-float(rows.min()), float(rows.max())) <= HUGE:  # NaN is never <= anything
        return
    row, column = (int(place[0]) for place in np.nonzero(~(np.abs(rows, dtype=np.float64) <= HUGE)))
    value = rows[row, column]
    what = "a gap" if np.isnan(value) else f"{value:g}"
    where = f"column {names[column]!r}" if names else f"feature {column + 1}"
    raise InvalidData(
        f"{place(row)}, {where}: {what}, where a number is needed. Fill such cells or leave their "
        "rows out before the files are written."
    )


def work(parts: Iterable[Part], ask: Ask, held: Callable[[Part], Held]) -> list[Node]:
    """Answer for several parts, whose blocks are shared out to threads, and add up what neighbours have to add."""
    nodes: list[Node] = []
    for part in parts:
        there = held(part)
        size = float(part.n_rows) * there.X.shape[1] * 16  # about what a block takes, in multiplications
        leaves = map_in_threads(lambda run: ask.of_block(there, run), there.runs, multiplications=size)  # noqa: B023 # used at once
        nodes += nodes_of(part.first_block, leaves)
    return joined(nodes)


class Passes(ABC):
    """One engine at work on the parts of one fit; used as ``with engine.over(parts) as passes``."""

    parts: list[Part]
    look: Look
    rows: PartedRows
    dtype: Any = np.float32  # of rows near 0

    @abstractmethod
    def run(self, ask: Ask) -> list[Node]:
        """Go over all parts once and return nodes that cover all blocks."""

    @abstractmethod
    def each(self, ask: AskPart) -> Iterator[Any]:
        """Go over all parts once and yield what each answers, in their order."""

    @abstractmethod
    def together(self, ask: AskTogether) -> list[Any]:
        """Ask everybody about all parts of theirs at once; nothing is read for them."""

    @abstractmethod
    def close(self) -> None:
        """Give back what was taken: memory, files, tasks."""

    @property
    def n_rows(self) -> int:
        """How many rows all parts have."""
        return self.rows.n_rows

    def sum(self, ask: Ask) -> Sums:
        """Return the sums over all blocks: the same bits whoever did what."""
        return whole_sum(self.run(ask), self.parts[-1].first_block + len(self.parts[-1].cuts) - 1)

    def sample(self, n_rows: int) -> Sample:
        """Return about so many rows, in the user's own units: the ones that ``PartedRows.sample`` draws."""
        drawn = joined_samples(list(self.each(DrawnOf(self.rows.draw(n_rows)))))
        return drawn._replace(rows=self.look.far(drawn.rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()


class Engine(Protocol):
    """Who goes over the parts."""

    def over(self, parts: PartedRows) -> Passes:
        """Get ready to go over these parts as often as a fit needs."""
        ...


class LocalPasses(Passes):
    """Passes of this process, with its threads."""

    def __init__(self, rows: PartedRows, look: Look, held: Callable[[Part], Held], open_files: ExitStack) -> None:
        self.rows, self.parts, self.look = rows, rows.parts(), look
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


class InMemory:
    """Read all parts once and keep them: the quickest engine, for rows that fit.

    Parameters
    ----------
    dtype : type, default=float32
        The precision that is kept; double for rows that were in memory anyway.
    """

    def __init__(self, dtype: Any = np.float32) -> None:
        self.dtype = dtype

    def over(self, parts: PartedRows) -> Passes:
        """Read the parts; bags whose rows lie apart are sorted on disk."""
        keep: dict[int, Held] = {}
        look, files = parts.look, ExitStack()
        if not parts.survey.is_arranged:
            parts = near_copy(parts, None, files)

        def held(part: Part) -> Held:
            if part.number not in keep:
                report("reading", part.first_row, parts.n_rows)
                keep[part.number] = hold(part, look, keeps=True, dtype=self.dtype)
            return keep[part.number]

        passes = LocalPasses(parts, look, held, files)
        passes.dtype = self.dtype
        return passes


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
        files, look = ExitStack(), parts.look
        copy = near_copy(parts, self.scratch, files)
        made: dict[int, dict[str, Any]] = {}

        def held(part: Part) -> Held:
            return Held(part, look, part.rows(), made=made.setdefault(part.number, {}))  # plans are kept, rows are not

        return LocalPasses(copy, look, held, files)


class OneLook:
    """Read every part when it is asked about and keep nothing: for a single pass."""

    def over(self, parts: PartedRows) -> Passes:
        """Read nothing yet."""
        look = parts.look
        return LocalPasses(parts, look, lambda part: hold(part, look), ExitStack())


def near_copy(parts: PartedRows, scratch: str | Path | None, files: ExitStack) -> PartedRows:
    """Write a copy of all rows near 0, whole bags together, which goes away when ``files`` is closed."""
    try:
        folder = files.enter_context(scratch_folder(scratch))
        return spill(parts, folder, lambda place, rows, names: refuse_gaps(place, np.asarray(rows), names))
    except BaseException:
        files.close()
        raise


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


def once_over(engine: Any, parts: PartedRows) -> Engine:
    """Return who makes a single pass: workers of a cluster where there are some, else this process without a copy."""
    chosen = InMemory() if engine is None else engine_for(engine, parts)
    return OneLook() if isinstance(chosen, (InMemory, OnDisk)) else chosen
