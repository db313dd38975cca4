"""The part of a session that sorts: screens of rows go out, piles come in, and piles are named, merged and split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight._core.params import check_choice, check_number
from sidelight._core.process import one_thread
from sidelight._core.simplex import binary_entropy, entropy
from sidelight.active.outlook import PartitionHistory
from sidelight.active.pile_belief import PileBelief
from sidelight.active.questions import Question
from sidelight.active.row_belief import RowBelief
from sidelight.active.screens import (
    APART,
    MERGE,
    MOST_SHOWN,
    SCREEN,
    Pile,
    PileAct,
    Piles,
    Screen,
    checked_pace,
    key_of,
    rows_of_screen,
)
from sidelight.active.told import Conversation, checked_person
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators._base import fingerprint
from sidelight.progress import report

WAYS = ("auto", "piles", "pairs")
ROWS_OF_A_SCREEN = 10


class Sorting:
    """Screens and piles of an :class:`~sidelight.ActiveSession`."""

    _X: Any
    _belief: Any
    _said: Conversation
    seed_: int
    compare_with_before: Callable[[], None]
    _record: Callable[[dict[str, Any]], None]
    _screen: Screen | None
    _about: str | None
    _asked_for: int
    _known: Any
    _labels: Any
    _rates_known: Any
    _sureness: Any
    _pending: list[Question]
    _held: list[Question]
    _is_due: bool

    @one_thread()
    def ask_screen(self, n: int = ROWS_OF_A_SCREEN, *, busy: Iterable[Any] = ()) -> Screen | None:
        """Return rows to sort onto piles; the same screen until something is answered.

        Parameters
        ----------
        n : int, default=10
            How many rows; one asks "which pile?".
        busy : iterable of Screen or sequence of int, default=()
            Screens that other people have. With some, another one is returned, without any of their rows, and the
            session does not keep it.

        Returns
        -------
        Screen or None
            None when no row is left to show.
        """
        check_number("ActiveSession.ask_screen", "n", n, integer=True, low=1, high=MOST_SHOWN)
        if isinstance(busy, Screen) or not isinstance(busy, Iterable):
            raise InvalidData(f"ActiveSession.ask_screen: busy is a list of screens. Got {busy!r:.80}.")
        others = [rows_of_screen(screen, self._X.shape[0], "ActiveSession.ask_screen, busy,") for screen in busy]
        if not others and self._screen is not None and self._asked_for == n:
            return self._screen
        belief, number = self._on_piles(), len(self._said.told)
        generator = np.random.default_rng([self.seed_, 4, number, len(others)])
        shown, drawn = belief.rows_to_show(n, {row for rows in others for row in rows}, generator)
        if not shown:
            return None
        rows, likely = tuple(shown), belief.likely_piles(shown)
        screen = Screen(
            rows,
            belief.shown_piles(),
            likely,
            number,
            key_of(rows, number, self._fingerprint),
            {row: belief.expected_pile(row) for row in drawn},
        )
        if not others:
            self._screen, self._asked_for = screen, n
        return screen

    def tell_screen(self, screen: Any, placements: Any, *, person: str | int | None = None) -> None:
        """Learn where a person put the rows of a screen.

        Parameters
        ----------
        screen : Screen or sequence of int
            A screen of ``ask_screen``, or any rows.
        placements : sequence or mapping
            One for each row, in their order or as {row: placement}: a pile by its number or name; a number that no pile
            had when the screen was shown, or a new name, for a new pile; "aside" or None for a row that is left aside.
        person : str, int or None, default=None
            Who sorted. Placements of people who are often wrong, by rows that were placed twice, weigh less.
        """
        who = "ActiveSession.tell_screen"
        rows = rows_of_screen(screen, self._X.shape[0], who)
        piles, key = self._piles(), ""
        n_open, drawn = piles.n_begun, {}
        if isinstance(screen, Screen):
            key, drawn = screen.key, dict(screen.drawn)
            if key != key_of(screen.rows, screen.number, self._fingerprint):
                raise InvalidData(
                    f"{who}: this screen is of another session, with other rows. Ask this one for its own."
                )
            if key in piles.answered:
                raise InvalidData(
                    f"{who}: this screen was answered already. Take that back with undo(), or ask for another."
                )
            n_open = 1 + max((pile.number for pile in screen.piles), default=-1)
        put, names = piles.placed(rows, placements, n_open, who)
        self._do(PileAct(SCREEN, rows, tuple(put), names, checked_person(person), key, drawn))

    @one_thread()
    def tell_acts(self, acts: Sequence[PileAct]) -> None:
        """Learn what people did with piles elsewhere, in one step; every act says the numbers of its piles itself.

        Parameters
        ----------
        acts : sequence of PileAct
            In their order. If one of them cannot be, none is learnt.
        """
        if not isinstance(acts, (list, tuple)) or not all(isinstance(act, PileAct) for act in acts):
            raise InvalidData(f"ActiveSession.tell_acts takes a list of PileAct. Got a {type(acts).__name__}.")
        if not acts:
            return
        piles = copy(self._piles())
        if acts[0].begun is not None and not piles.n_screens:
            piles = Piles()
        for act in acts:
            piles.take(act)
        for act in acts:
            self._record(act.event)
        self._learn_acts(acts)

    def promises_more(self, screen: Screen, question: Question, pace: tuple[float, float, float]) -> bool:
        """Say whether a screen of ``ask_screen`` promises more a second than a question of ``ask``.

        Parameters
        ----------
        screen : Screen
            What would be sorted.
        question : Question
            What would be asked instead.
        pace : tuple of three float
            Seconds of a question about two rows, of a screen, and of each of its rows.
        """
        who = "ActiveSession.promises_more"
        rows = rows_of_screen(screen, self._X.shape[0], who)
        if not isinstance(question, Question):
            raise InvalidData(f"{who} compares a screen with a Question of ask(). Got {question!r:.80}.")
        a_pair, a_screen, a_row = checked_pace(who, pace)
        belief = self._on_piles()
        same = self._belief.chance_of_same(*question.rows[:2])
        places = belief.position[list(rows)]
        doubts = entropy(np.maximum(belief.places()[places[places >= 0]], 1e-12))
        of_pair = 0.0 if same is None else float(binary_entropy(same))
        return bool(float(doubts.sum()) * a_pair >= of_pair * (a_screen + len(rows) * a_row))

    @property
    def piles(self) -> tuple[Pile, ...]:
        """The piles, in the order they were opened: the first clusters of ``labels_`` are these."""
        return self._belief.shown_piles() if isinstance(self._belief, PileBelief) else ()

    def rename_pile(self, pile: Any, name: str, *, person: str | int | None = None) -> None:
        """Give a pile, by number or name, another name."""
        self._do(self._piles().rename(pile, name, "ActiveSession.rename_pile", checked_person(person)))

    def doubtful_piles(self) -> tuple[Pile, Pile] | None:
        """Return two piles that are probably one, for somebody to say; None where there are none."""
        found = self._belief.doubtful_piles() if isinstance(self._belief, PileBelief) else None
        by_number = {pile.number: pile for pile in self.piles}
        return None if found is None else (by_number[found[0]], by_number[found[1]])

    def merge_piles(self, pile: Any, other: Any, *, person: str | int | None = None) -> None:
        """Put all rows of ``other`` on ``pile``: the two are one."""
        who = "ActiveSession.merge_piles"
        self._do(self._piles().about_two(MERGE, pile, other, who, checked_person(person)))

    def keep_piles_apart(self, pile: Any, other: Any, *, person: str | int | None = None) -> None:
        """Say that two piles are not one; ``doubtful_piles`` does not name them again."""
        who = "ActiveSession.keep_piles_apart"
        self._do(self._piles().about_two(APART, pile, other, who, checked_person(person)))

    def split_pile(
        self, pile: Any, rows: Sequence[int], name: str | None = None, *, person: str | int | None = None
    ) -> None:
        """Take some rows of a pile out of it, onto a new pile."""
        who = "ActiveSession.split_pile"
        self._do(self._piles().split(pile, rows, name, self._X.shape[0], who, checked_person(person)))

    # -- within ------------------------------------------------------------------------------------------------------

    def _is_pile(self, cluster: Any) -> bool:
        is_number = isinstance(cluster, (int, np.integer)) and not isinstance(cluster, bool)
        return is_number and 0 <= cluster < len(self.piles)

    @property
    def _fingerprint(self) -> str:
        if self._about is None:
            self._about = f"{fingerprint(self._X)} {self.seed_}"
        return self._about

    def _on_piles(self) -> PileBelief:
        """Return the belief about piles; before anybody sorted, that which a first answer would go on from."""
        if isinstance(self._belief, PileBelief):
            return self._belief
        if not isinstance(self._belief, RowBelief):
            raise InvalidData(
                f"Piles need our own belief, and this session has {type(self._belief).__name__}. Leave out belief=... "
                'and strategy="cobras", or ask about pairs.'
            )
        return PileBelief.after(self._belief)

    def _piles(self) -> Piles:
        return self._on_piles().piles

    def _do(self, act: PileAct) -> None:
        if not isinstance(
            self._belief, PileBelief
        ):  # what pairs said is written down: it may be learnt otherwise again
            act = replace(act, begun={row: votes[0][0] for row, votes in self._piles().votes.items()})
        self._record(act.event)
        self._learn_acts([act])

    @one_thread()
    def _learn_acts(self, acts: Sequence[PileAct]) -> None:
        """Learn what was done with piles, in one step."""
        self.compare_with_before()
        n_before = len(self._said.told)
        self._belief = self._on_piles()
        self._belief.take(acts, np.random.default_rng([self.seed_, 5, n_before]))
        self._said.add_acts(acts)
        self._known = type(self._known)(self._said, self._belief)
        self._screen = self._labels = self._rates_known = self._sureness = None
        self._pending, self._held = [], []
        placed = sum(map(len, self._belief.piles.votes.values()))
        new, every = sum(len(act.rows) for act in acts if act.kind == SCREEN), PartitionHistory.EVERY
        self._is_due = new > 0 and placed // every > (placed - new) // every


def converse(session: Any, oracle: Any, budget: int | None, seconds: float | None, by: str | None) -> None:
    """Ask ``oracle`` up to ``budget`` questions or for so many of its seconds, by pairs or by piles."""
    who = "ActiveSession.run"
    if (budget is None) == (seconds is None):
        raise InvalidParameter(f"{who} takes a budget of questions, or seconds of a person's time: one of the two.")
    if not callable(oracle):
        raise InvalidParameter(f"{who} asks a function: question -> answer, such as Oracle(y). Got {oracle!r:.80}.")
    by = ("auto" if budget is None else "pairs") if by is None else by
    check_choice(who, "by", by, WAYS)
    if budget is not None:
        check_number(who, "budget", budget, integer=True, low=0)
    else:
        check_number(who, "seconds", seconds, low=0)
    if (by != "pairs" or seconds is not None) and not hasattr(oracle, "sort"):
        raise InvalidParameter(
            f"{who}: an oracle that sorts, or whose seconds count, has sort(screen) and pace, as Oracle(y) has."
        )
    begun, done = getattr(oracle, "seconds", 0.0), 0
    while budget is None or done < budget:
        left = np.inf if seconds is None else seconds - (oracle.seconds - begun)
        if not _one_question(session, oracle, by, left):
            return
        done += 1
        report("asking", done if budget else int(oracle.seconds - begun), budget or int(seconds or 0))


def _one_question(session: Any, oracle: Any, by: str, left: float) -> bool:
    """Ask one question if there is one, and time for it."""
    screen = None if by == "pairs" else session.ask_screen()
    question = session.ask() if by == "pairs" or (by == "auto" and (session.piles or screen is None)) else None
    if screen is not None and question is not None and not session.promises_more(screen, question, oracle.pace):
        screen = None
    if screen is not None:
        if oracle.seconds_of(len(screen.rows)) > left:
            return False
        session.tell_screen(screen, oracle.sort(screen))
        return True
    if question is None or (np.isfinite(left) and oracle.pace[0] > left):
        return False
    session.tell(question, oracle(question))
    return True
