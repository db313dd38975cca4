"""Screens of rows to sort onto piles: what is shown, what may be answered, and the piles that stand after some answers.

A person who sees ten rows and an example of every pile sorts them in the time of a few questions about pairs, and a
mistake costs one row. Piles have numbers that are never used again, so that an answer about a pile that was merged
meanwhile is noticed. What stands is a fold over the acts: :class:`Piles` is only ever changed by ``Piles.take``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sidelight._core.params import check_number
from sidelight.data.names import as_row_index
from sidelight.errors import InvalidData, InvalidParameter, UnknownName, nearest

ASIDE = "aside"  # the placement of a row that the person leaves aside
SCREEN, MOVE, RENAME, MERGE = "screen", "move to pile", "rename pile", "merge piles"
APART, SPLIT = "keep piles apart", "split pile"
N_PILES = {MOVE: 1, RENAME: 1, MERGE: 2, APART: 2, SPLIT: 2}  # that each act is about; a screen has one for each row
MOST_SHOWN = 200  # rows of one screen
NEW = -1  # the pile of a row that is expected on none of those that are there


@dataclass(frozen=True, slots=True)
class Pile:
    """Rows that a person put together.

    Attributes
    ----------
    number : int
        Its number, which no other pile ever gets.
    name : str
        What it is called.
    rows : tuple of int
        Its rows, in the order they were placed.
    example : int
        The row that stands for it.
    """

    number: int
    name: str
    rows: tuple[int, ...]
    example: int


@dataclass(frozen=True, slots=True)
class Screen:
    """Rows to sort, as ``ActiveSession.ask_screen`` chose them.

    Attributes
    ----------
    rows : tuple of int
        The rows to place. Some may have been placed before: their answers tell how often placements are wrong.
    piles : tuple of Pile
        The piles so far.
    likely : tuple of tuple of int
        For each row the numbers of the piles, the most likely one first.
    number : int
        How many answers the session had.
    key : str
        Tells this screen from all others; it can be answered once.
    drawn : mapping of int to int
        Rows that were drawn at random, and the pile that each is expected on: they test what is shown.
    """

    rows: tuple[int, ...]
    piles: tuple[Pile, ...]
    likely: tuple[tuple[int, ...], ...]
    number: int
    key: str
    drawn: Mapping[int, int] = field(default_factory=dict)


def key_of(rows: Sequence[int], number: int, about: str) -> str:
    """Return the key of a screen: no other rows, and no other session, give the same."""
    return hashlib.blake2b(f"{about} {number} {list(rows)}".encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class PileAct:
    """What a person did with piles: sorted a screen, or renamed, merged, kept apart or split piles.

    Attributes
    ----------
    kind : str
        The name of its event.
    rows : tuple of int
        The rows that it is about.
    piles : tuple of int or None
        The pile of each row, None for one left aside; of other acts the piles that they are about.
    names : mapping of int to str
        The names of piles that it opened or renamed.
    person : str, int or None
        Who did it.
    key : str
        The key of the screen, if there was one.
    drawn : mapping of int to int
        Rows of a screen that were drawn at random, and the pile that each was expected on, ``NEW`` for a new one.
    begun : mapping of int to int or None
        Of the first act: the rows that answers about pairs had placed, and their piles; None where it does not say.
    """

    kind: str
    rows: tuple[int, ...]
    piles: tuple[int | None, ...]
    names: Mapping[int, str] = field(default_factory=dict)
    person: str | int | None = None
    key: str = ""
    drawn: Mapping[int, int] = field(default_factory=dict)
    begun: Mapping[int, int] | None = None
    moves: ClassVar[bool] = False

    @property
    def answer(self) -> str:
        """The act in a few words."""
        words = ", ".join(ASIDE if pile is None else str(pile) for pile in self.piles)
        return f"piles {words}" if self.kind == SCREEN else f"{self.kind} {words}"

    @property
    def event(self) -> dict[str, Any]:
        """What a recorder keeps."""
        kept: dict[str, Any] = {"event": self.kind, "rows": list(self.rows), "piles": list(self.piles)}
        kept |= {"names": {str(pile): name for pile, name in self.names.items()}} if self.names else {}
        kept |= {"screen": self.key} if self.key else {}
        kept |= {"drawn": {str(row): pile for row, pile in self.drawn.items()}} if self.drawn else {}
        kept |= {} if self.begun is None else {"begun": {str(row): pile for row, pile in self.begun.items()}}
        return kept | ({} if self.person is None else {"person": self.person})

    @classmethod
    def of_event(cls, event: Mapping[str, Any], n_rows: int, person: str | int | None) -> PileAct | None:
        """Return the act that a recorder kept; None where the event is no act, or makes no sense."""
        try:
            rows = tuple(int(row) for row in event["rows"])
            piles = tuple(None if pile is None else int(pile) for pile in event["piles"])
            names = {int(pile): str(name) for pile, name in event.get("names", {}).items()}
            drawn, begun = (
                {int(row): int(pile) for row, pile in event.get(name, {}).items()} for name in ("drawn", "begun")
            )
            act = cls(
                str(event["event"]), rows, piles, names, person, str(event.get("screen", "")), drawn,
                begun if "begun" in event else None,
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        fits = len(piles) == N_PILES.get(act.kind, len(rows)) and all(0 <= row < n_rows for row in rows)
        known = all((pile is not None and pile >= 0) or (act.kind == SCREEN and pile is None) for pile in piles)
        fits = fits and set(drawn) <= set(rows) and all(0 <= row < n_rows and pile >= 0 for row, pile in begun.items())
        return act if fits and known and len(set(rows)) == len(rows) else None


class Piles:
    """The piles that stand after some acts.

    Attributes
    ----------
    names : dict of int to str
        The name of each pile that is there.
    votes : dict of int to list
        For each row that was placed the piles it was put on, with who did so.
    aside : dict of int to int
        How often each row was left aside.
    apart : set of frozenset of int
        Piles that a person keeps apart.
    answered : set of str
        The keys of the screens that were answered.
    drawn : dict of int to bool
        Rows that were drawn at random, and whether each was put where it was expected.
    n_screens : int
        How many screens were sorted.
    """

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.votes: dict[int, list[tuple[int, str | int | None]]] = {}
        self.aside: dict[int, int] = {}
        self.apart: set[frozenset[int]] = set()
        self.answered: set[str] = set()
        self.drawn: dict[int, bool] = {}
        self.n_screens = 0
        self.n_begun = 0
        self._home: dict[int, int] = {}  # of piles that were merged: where

    def begin(self, labels: Mapping[int, int]) -> None:
        """Begin with rows that answers about pairs placed."""
        for row, pile in labels.items():
            self.votes[row] = [(pile, None)]
        self._open(range(max(labels.values(), default=-1) + 1), {})

    @property
    def numbers(self) -> list[int]:
        """The numbers of the piles, in the order they were opened."""
        return list(self.names)

    def __copy__(self) -> Piles:
        made = Piles()
        vars(made).update(vars(self))
        made.names, made.aside, made._home = self.names.copy(), self.aside.copy(), self._home.copy()
        made.votes = {row: votes.copy() for row, votes in self.votes.items()}
        made.apart, made.answered, made.drawn = self.apart.copy(), self.answered.copy(), self.drawn.copy()
        return made

    def fits(self, act: PileAct) -> bool:
        """Whether the piles that an act is about are there, or opened by it."""
        old = act.piles[:1] if act.kind == SPLIT else [pile for pile in act.piles if pile is not None]
        return all(pile in self.names or (act.kind == SCREEN and pile not in self._home) for pile in old)

    def take(self, act: PileAct) -> None:
        """Go on by one act."""
        if not self.fits(act):
            raise InvalidData(f"An act of the session makes no sense: {act.event!r:.80}. The piles are {self.listed}.")
        if act.begun and not self.names:
            self.begin(act.begun)
        if act.kind == SCREEN:
            self._sort(act)
        elif act.kind == MOVE:
            for row in act.rows:
                self.votes[row] = [(int(act.piles[0] or 0), act.person)]
        elif act.kind == RENAME:
            self.names.update(act.names)
        elif act.kind == APART:
            self.apart.add(frozenset(pile for pile in act.piles if pile is not None))
        elif act.kind == MERGE:
            kept, gone = (int(pile) for pile in act.piles if pile is not None)
            self._home[gone] = kept
            del self.names[gone]
            self._put(lambda row, pile: kept if pile == gone else pile)
        else:
            whole, part = (int(pile) for pile in act.piles if pile is not None)
            self._open([part], act.names)
            moved = set(act.rows)
            self._put(lambda row, pile: part if pile == whole and row in moved else pile)

    def _sort(self, act: PileAct) -> None:
        before = set(self.names)
        self._open([pile for pile in act.piles if pile is not None], act.names)
        self.n_screens += 1
        for row, pile in zip(act.rows, act.piles):
            if row in act.drawn and pile is not None and row not in self.votes:
                self.drawn[row] = pile == act.drawn[row] if pile in before else act.drawn[row] == NEW
            if pile is None:
                self.aside[row] = self.aside.get(row, 0) + 1
            else:
                self.votes.setdefault(row, []).append((pile, act.person))
        if act.key:
            self.answered.add(act.key)

    def _open(self, piles: Iterable[int], names: Mapping[int, str]) -> None:
        for pile in sorted(set(piles) - set(self.names)):
            self.names[pile] = names.get(pile) or self._free_name(pile)
            self.n_begun = max(self.n_begun, pile + 1)

    def _free_name(self, pile: int) -> str:
        number, taken = pile + 1, set(self.names.values())
        while f"pile {number}" in taken:
            number += 1
        return f"pile {number}"

    def _put(self, where: Any) -> None:
        for row, votes in self.votes.items():
            self.votes[row] = [(where(row, pile), person) for pile, person in votes]

    # -- what an answer means ----------------------------------------------------------------------------------------

    def checked(self, pile: Any, who: str) -> int:
        """Return the number of a pile that is there, given by number or by name."""
        if isinstance(pile, Pile):
            pile = pile.number
        if isinstance(pile, str):
            for number, name in self.names.items():
                if name == pile:
                    return number
            raise UnknownName(f"{who}: there is no pile {pile!r}. {nearest(pile, list(self.names.values()))}")
        if isinstance(pile, (int, np.integer)) and not isinstance(pile, bool) and int(pile) in self.names:
            return int(pile)
        self._refuse_merged(pile, who)
        raise InvalidData(f"{who}: there is no pile {pile!r:.80}. The piles are {self.listed}.")

    def _refuse_merged(self, pile: Any, who: str) -> None:
        home = pile
        while isinstance(home, (int, np.integer)) and home in self._home:
            home = self._home[int(home)]
        if home is not pile:
            raise InvalidData(
                f"{who}: pile {pile} was merged into pile {home}, {self.names[home]!r}, meanwhile. Nothing of this "
                "answer was taken: send it again with that pile or another one."
            )

    @property
    def listed(self) -> str:
        """The piles, for a message."""
        return ", ".join(f"{number} ({name!r})" for number, name in self.names.items()) or "not there yet"

    def checked_name(self, name: Any, who: str, but: int | None = None) -> str:
        """Return the name of a pile, if no other has it."""
        if not isinstance(name, str) or not name.strip() or name.strip() == ASIDE:
            raise InvalidData(f"{who}: a pile is called by a text other than {ASIDE!r}. Got {name!r:.80}.")
        if any(other == name.strip() for pile, other in self.names.items() if pile != but):
            raise InvalidData(
                f"{who}: there is a pile called {name.strip()!r} already. Merge the two, or take another."
            )
        return name.strip()

    def placed(self, rows: Sequence[int], placements: Any, n_open: int, who: str) -> tuple[list[int | None], Any]:
        """Return the pile of each row and the names of new ones, from what a person said.

        ``n_open`` is how many piles had been begun when the screen was shown: a number from there on is a new pile.
        """
        said = _in_order(rows, placements, who)
        piles: list[int | None] = []
        opened: dict[Any, int] = {}
        names: dict[int, str] = {}
        for placement in said:
            if placement is None or (isinstance(placement, str) and placement == ASIDE):
                piles.append(None)
                continue
            by_name = {name: pile for pile, name in self.names.items()}
            is_number = isinstance(placement, (int, np.integer)) and not isinstance(placement, bool)
            is_new = placement not in by_name if isinstance(placement, str) else is_number and placement >= n_open
            if not is_new:
                piles.append(self.checked(placement, who))
                continue
            if placement not in opened:
                opened[placement] = self.n_begun + len(opened)
                if isinstance(placement, str):
                    names[opened[placement]] = self.checked_name(placement, who)
            piles.append(opened[placement])
        return piles, names

    # -- acts ---------------------------------------------------------------------------------------------------------

    def rename(self, pile: Any, name: Any, who: str, person: str | int | None) -> PileAct:
        """Return the act that gives a pile another name."""
        number = self.checked(pile, who)
        return PileAct(RENAME, (), (number,), {number: self.checked_name(name, who, but=number)}, person)

    def about_two(self, kind: str, pile: Any, other: Any, who: str, person: str | int | None) -> PileAct:
        """Return the act that merges two piles, or keeps them apart."""
        two = self.checked(pile, who), self.checked(other, who)
        if two[0] == two[1]:
            raise InvalidData(f"{who} takes two different piles. Got pile {two[0]} twice.")
        return PileAct(kind, (), two, {}, person)

    def split(
        self, pile: Any, rows: Sequence[int], name: Any, n_rows: int, who: str, person: str | int | None
    ) -> PileAct:
        """Return the act that takes some rows of a pile onto a new one."""
        whole, moved = self.checked(pile, who), rows_of_screen(rows, n_rows, who)
        own = {row for row, votes in self.votes.items() if any(number == whole for number, _ in votes)}
        others = [row for row in moved if row not in own]
        if others or own == set(moved):
            raise InvalidData(
                f"{who} takes some rows of pile {whole}, and leaves some. "
                + (f"Row {others[0]} is not on it." if others else "These are all of them.")
            )
        names = {} if name is None else {self.n_begun: self.checked_name(name, who)}
        return PileAct(SPLIT, moved, (whole, self.n_begun), names, person)


def _in_order(rows: Sequence[int], placements: Any, who: str) -> list[Any]:
    """Return one placement for each row, from a mapping of rows or a list in their order."""
    if isinstance(placements, Mapping):
        others = [row for row in placements if row not in rows]
        if others:
            raise InvalidData(f"{who}: row {others[0]!r:.80} is not on this screen. Its rows are {_some(rows)}.")
        placements = [placements[row] for row in rows] if len(placements) == len(rows) else dict(placements)
    is_list = isinstance(placements, (Sequence, np.ndarray, dict)) and getattr(placements, "ndim", 1) == 1
    if isinstance(placements, str) or not is_list:
        raise InvalidData(
            f"{who} takes a placement for each row, as a list or as {{row: placement}}: a pile, a number or a name of "
            f"its own for a new one, or {ASIDE!r}. Got {placements!r:.80}."
        )
    if not len(placements):
        raise InvalidData(f"{who}: the answer is empty. Place each of the rows {_some(rows)}, or leave it {ASIDE!r}.")
    if isinstance(placements, dict) or len(placements) != len(rows):
        raise InvalidData(
            f"{who}: {len(placements)} placements for {len(rows)} rows, {_some(rows)}. Give one for each; {ASIDE!r} "
            "leaves a row aside."
        )
    return [one.number if isinstance(one, Pile) else one for one in placements]


def _some(rows: Sequence[int]) -> str:
    return ", ".join(map(str, rows[:10])) + (", ..." if len(rows) > 10 else "")


def rows_of_screen(screen: Any, n_rows: int, who: str) -> tuple[int, ...]:
    """Return the rows of a screen, or of a list of rows, each of which is there once."""
    rows = screen.rows if isinstance(screen, Screen) else screen
    if (
        isinstance(rows, (str, Mapping))
        or not isinstance(rows, (Sequence, np.ndarray))
        or getattr(rows, "ndim", 1) != 1
    ):
        raise InvalidData(f"{who} takes a Screen of ask_screen(), or a list of rows. Got {screen!r:.80}.")
    checked = tuple(int(row) for row in as_row_index(list(rows), n_rows, who)) if len(rows) else ()
    twice = [row for row in checked if checked.count(row) > 1]
    if twice:
        raise InvalidData(f"{who}: row {twice[0]} is there twice. Place it once.")
    if not checked:
        raise InvalidData(f"{who}: there is no row to place.")
    return checked


def checked_pace(owner: object, pace: Any) -> tuple[float, float, float]:
    """Return how many seconds a person takes for a question about two rows, a screen, and each of its rows."""
    if not isinstance(pace, (tuple, list)) or len(pace) != 3:
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise InvalidParameter(
            f"The 'pace' parameter of {name} must be three numbers: seconds of a question about two rows, of a "
            f"screen, and of each of its rows. Got {pace!r:.80} instead."
        )
    for value in pace:
        check_number(owner, "pace", value, low=0)
    return tuple(pace)
