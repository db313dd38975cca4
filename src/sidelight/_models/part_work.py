"""What is done with one part of the rows: the questions, their answers block by block, and who goes over all parts.

A question (``Ask``) is small and can be sent anywhere; whoever gets it reads the part, or has it still, and answers
with one bundle of sums for each block. The answers of neighbouring blocks are added up by the one tree of
:mod:`sidelight._core.tree_sum`, so that memory, disk and cluster differ only in who calls :func:`work`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._core.threads import map_in_threads
from sidelight._core.tree_sum import Node, Sums, joined, nodes_of, whole_sum
from sidelight.data.bag_lists import BagLists, joined_lists
from sidelight.data.bags import Bags
from sidelight.data.parts import Look, Part, PartedRows, draw
from sidelight.data.spill import is_near
from sidelight.errors import InvalidData

HUGE = 1e150  # squares of larger numbers are infinite in float64


@dataclass(slots=True)
class Held:
    """A part that somebody has read: its rows near 0 in single precision, and whatever was made of them."""

    part: Part
    look: Look
    X: NDArray[np.float32]
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


def hold(part: Part, look: Look, *, keeps: bool = False) -> Held:
    """Read a part; a gap or an infinite number is refused by its place."""
    rows = part.rows()
    if is_near(part):
        return Held(part, look, rows, keeps)
    refuse_gaps(part.place, rows, part.feature_names)
    return Held(part, look, look.near(rows), keeps)


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


def answer(held: Held, ask: Ask) -> list[Node]:
    """Return the nodes of the tree that a part covers; blocks are shared out to threads."""
    size = float(held.part.n_rows) * held.X.shape[1] * 16  # about what a block takes, in multiplications
    leaves = map_in_threads(lambda run: ask.of_block(held, run), held.runs, multiplications=size)
    return nodes_of(held.part.first_block, leaves)


def work(parts: Iterable[Part], ask: Ask, held: Callable[[Part], Held]) -> list[Node]:
    """Answer for several parts, and add up what neighbours have to add."""
    return joined([node for part in parts for node in answer(held(part), ask)])


class Passes(ABC):
    """One engine at work on the parts of one fit; used as ``with engine.over(parts) as passes``."""

    parts: list[Part]
    look: Look
    rows: PartedRows

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
    def n_blocks(self) -> int:
        """How many blocks all parts have."""
        return self.parts[-1].first_block + len(self.parts[-1].cuts) - 1

    @property
    def n_rows(self) -> int:
        """How many rows all parts have."""
        return self.parts[-1].first_row + self.parts[-1].n_rows

    def sum(self, ask: Ask) -> Sums:
        """Return the sums over all blocks: the same bits whoever did what."""
        return whole_sum(self.run(ask), self.n_blocks)

    def sample(self, n_rows: int) -> tuple[NDArray[np.float64], BagLists | None]:
        """Return about so many rows, of whole bags drawn by a hash of their names, in the user's own units."""
        drawn = list(self.each(Draw(n_rows / self.n_rows)))
        rows = np.concatenate([rows for rows, _ in drawn])
        return self.look.far(rows), joined_lists([lists for _, lists in drawn])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()


class Engine(Protocol):
    """Who goes over the parts."""

    def over(self, parts: PartedRows) -> Passes:
        """Get ready to go over these parts as often as a fit needs."""
        ...


@dataclass(frozen=True, slots=True)
class Draw:
    """Which bags belong to a sample of this share of all rows?"""

    share: float

    def of_part(self, held: Held) -> tuple[NDArray[Any], BagLists | None]:
        """Return the drawn rows and bags of a part."""
        rows, lists = draw(held.X, held.lists(), held.part.numbers(), self.share)
        return np.array(rows), lists


@dataclass(frozen=True, slots=True)
class Moments:
    """What do the columns add up to, and their squares, near 0?"""

    def of_block(self, held: Held, run: tuple[int, int]) -> Sums:
        """Answer for one block, in double precision."""
        rows = held.X[slice(*run)].astype(np.float64)
        return rows.sum(axis=0), np.square(rows).sum(axis=0)
