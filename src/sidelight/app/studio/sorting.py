"""Sorting in the studio: the screen a person has, what they said of it, and what they did with piles.

A screen is answered once. What a person says of piles is checked against those that stand, under the lock of the log,
and kept with the numbers that piles got; nothing here waits for the model but the choice of the next rows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.active.questions import UNSURE
from sidelight.active.screens import APART, ASIDE, MERGE, SCREEN, PileAct, Piles, rows_of_screen
from sidelight.app.jobs.output import disarmed_cells
from sidelight.app.store.studio_store import Event, NewEvent, Person
from sidelight.app.studio.history import Done, Standing
from sidelight.app.studio.learner import Asked
from sidelight.app.studio.open_screens import USUAL, Pace
from sidelight.app.studio.project import LONGEST, AnsweredAlready, OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.errors import InvalidData, UnknownName
from sidelight.words import counted

WAYS = ("auto", "piles", "pairs")
ROWS, FEWEST, MOST = 10, 1, 40  # rows of a screen, and the range of what may be wanted
WAIT, WAIT_MORE = 2.0, 0.15  # seconds for the first screen, and for one that knows of the last; then what is loaded
_SORTS = ("rows", "pairs", "random")  # strategies whose belief can sort
_ENOUGH = 3  # screens that tell how long a person takes for a row
_MOST_ROWS = 60  # rows of a pile that a page shows
_WHO = "A screen"


@dataclass(frozen=True, slots=True)
class Said:
    """Where a person put the rows of a screen.

    Attributes
    ----------
    rows : sequence of int
        The rows.
    placements : sequence
        For each the number or name of a pile, a negative number for a new one, or "aside" or None.
    called : mapping of str to str
        What new piles are called, by their negative number.
    number, screen : int and str
        The number and key that the screen came with; an empty key is that of rows that no screen showed.
    seconds : float
        How long it took.
    key : str
        Sent again, the same key is the same answer.
    """

    rows: Sequence[int]
    placements: Any
    called: Mapping[str, str] = field(default_factory=dict)
    number: int = 0
    screen: str = ""
    seconds: float = float("nan")
    key: str = ""


def can_sort(project: OpenProject) -> bool:
    """Whether rows of a project can be sorted: those of runs, and where we choose which two rows are asked about."""
    settings = project.project.settings
    return isinstance(project, RunProject) or (project.model.kind == "pair" and settings.get("strategy") in _SORTS)


def way_of(project: OpenProject, person: Person, by: str | None) -> str:
    """Return how a person is asked: by "piles" or "pairs"; ``by`` is what they chose, else the project says it.

    Where it is "auto", it is what promises more a second, at this person's own pace.
    """
    by = by or str(project.project.settings.get("by", "pairs"))
    if by not in WAYS:
        raise UnknownName(f"People are asked by {', '.join(WAYS)}. Got {by!r:.40}.")
    if by != "auto" or not can_sort(project):
        return by if by == "piles" and can_sort(project) else "pairs"
    asked = project.model.held_screen(person.id)
    return "piles" if asked is None or asked.is_best else "pairs"


def pace_of(project: OpenProject, person: int) -> Pace:
    """Return how many seconds a person takes for a pair, a screen and each of its rows, where they were measured."""
    with project.lock:
        screens = [d for d in project.standing.acts.values() if d.person == person and d.act.kind == SCREEN]
        pairs = [a for a in project.standing.answers.values() if a.person == person and len(a.rows) == 2]
    rows = [done.seconds / len(done.act.rows) for done in screens if done.seconds == done.seconds]
    took = [answer.seconds for answer in pairs if answer.seconds == answer.seconds and not answer.correction]
    a_pair = float(np.median(took)) if len(took) >= _ENOUGH else USUAL[0]
    return (a_pair, 0.0, float(np.median(rows))) if len(rows) >= _ENOUGH else (a_pair, *USUAL[1:])


# -- what is shown ---------------------------------------------------------------------------------------------------


def screen_of(project: OpenProject, person: Person, n: int = ROWS, *, wait: float = WAIT) -> dict[str, Any]:
    """Return the screen that a person has, and the piles, as a page shows them."""
    check_can_sort(project)
    if not FEWEST <= n <= MOST:
        raise InvalidData(f"A screen has {FEWEST} to {MOST} rows. Got {n}.")
    asked = project.model.screen(person.id, n, pace_of(project, person.id), wait=wait)
    if asked is None:
        return {"screen": None, "piles": _shown_piles(project, None), "doubtful": None, "way": "pairs"}
    rows = asked.screen.rows
    cards = project.cards(rows)
    copies = project.rows.n_copies
    likely = _likely(project, asked)
    shown = [card | {"likely": own, "copies": int(copies[card["row"]])} for card, own in zip(cards, likely)]
    return {
        "screen": {"rows": shown, "number": asked.screen.number, "key": _key_of(project, asked)},
        "piles": _shown_piles(project, asked),
        "doubtful": _doubtful(project, asked),
        "way": "piles" if asked.is_best else "pairs",
    }


def check_can_sort(project: OpenProject) -> None:
    """Raise where rows cannot be sorted onto piles."""
    if not can_sort(project):
        raise InvalidData(
            "This project asks a fixed list, about three rows, or by a belief that has no piles: its rows are not "
            "sorted. Make a project with questions about two rows."
        )


def _key_of(project: OpenProject, asked: Asked) -> str:
    return project.model.key_of_screen(asked.screen.rows, asked.screen.number)


def _likely(project: OpenProject, asked: Asked) -> list[list[Any]]:
    if isinstance(project, RunProject):
        return [project.words_of_row(row) for row in asked.screen.rows]
    return [list(piles) for piles in asked.screen.likely]


def _shown_piles(project: OpenProject, asked: Asked | None) -> list[dict[str, Any]]:
    """Return the piles with their best examples; those of a run are its labels."""
    if isinstance(project, RunProject):
        return _shown_labels(project)
    best = {} if asked is None else {pile.number: pile for pile in asked.screen.piles}
    with project.lock:
        piles = project.standing.piles
        names, rows_of = dict(piles.names), rows_by_pile(piles)
    if not names and asked is not None and asked.begun:
        names = {pile.number: pile.name for pile in asked.screen.piles}
        rows_of = {pile.number: list(pile.rows) for pile in asked.screen.piles}
    shown = []
    for number, name in names.items():
        rows = rows_of.get(number, [])
        example = best[number].example if number in best and best[number].example in rows else next(iter(rows), None)
        shown.append({"number": number, "name": name, "size": len(rows), "row": example})
    return _with_cards(project, shown)


def _with_cards(project: OpenProject, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = [pile["row"] for pile in shown if pile["row"] is not None]
    card = {one["row"]: one["html"] for one in (project.cards(rows) if rows else [])}
    return [pile | {"html": card.get(pile["row"], "")} for pile in shown]


def _shown_labels(project: RunProject) -> list[dict[str, Any]]:
    snapshot, labels = project.model.snapshot(fresh=False), project.label_names()
    shown: dict[str, dict[str, Any]] = {
        label: {"number": label, "name": label, "size": 0, "row": None, "sure": 0.0} for label in project.vocabulary()
    }
    for k, label in enumerate(labels):
        rows = np.flatnonzero(snapshot.labels == k)
        pile = shown[label]
        pile["size"] += int(rows.size)
        if rows.size and float(snapshot.sure[rows].max()) > pile["sure"]:
            best = int(rows[snapshot.sure[rows].argmax()])
            pile["row"], pile["sure"] = best, float(snapshot.sure[best])
    return _with_cards(project, list(shown.values()))


def rows_by_pile(piles: Piles) -> dict[int, list[int]]:
    """Return the rows of each pile: a row is where most put it, and of several such where it was put first."""
    found: dict[int, list[int]] = defaultdict(list)
    for row, votes in piles.votes.items():
        one = votes[0][0] if len(votes) == 1 else Counter(pile for pile, _ in votes).most_common(1)[0][0]
        found[one].append(row)
    for row, votes in piles.votes.items():
        for pile in {pile for pile, _ in votes} - set(
            found
        ):  # nobody else put the row there, and the pile has no other
            found[pile] = [row]
    return found


def _doubtful(project: OpenProject, asked: Asked) -> dict[str, int] | None:
    """Return two piles that are probably one, the larger first, if both are there still."""
    with project.lock:
        piles = project.standing.piles
        is_open = asked.doubtful is not None and all(pile in piles.names for pile in asked.doubtful)
        if not is_open or asked.doubtful is None or frozenset(asked.doubtful) in piles.apart:
            return None
    return {"pile": asked.doubtful[0], "other": asked.doubtful[1]}


def pile_shown(project: OpenProject, number: int) -> dict[str, Any]:
    """Return a pile with its rows, for a page."""
    with project.lock:
        piles = project.standing.piles
        name, rows = piles.names[piles.checked(number, "A pile")], rows_by_pile(piles).get(number, [])
    cards = project.cards(rows[:_MOST_ROWS]) if rows else []
    return {"number": number, "name": name, "size": len(rows), "cards": cards}


# -- what is said ----------------------------------------------------------------------------------------------------


def keep_screen(project: OpenProject, person: Person, said: Said) -> list[Event]:
    """Keep where a person put the rows of a screen; it is on the disk when this returns."""
    check_can_sort(project)
    rows = rows_of_screen(list(said.rows), project.rows.n, _WHO)
    if said.screen and said.screen != project.model.key_of_screen(rows, said.number):
        raise InvalidData(
            "This screen is of another project, or its rows were changed. Nothing was kept: load the page again."
        )
    asked = project.model.held_screen(person.id)
    if asked is not None and asked.screen.rows != rows:
        asked = None
    keep = _keep_labels if isinstance(project, RunProject) else _keep_piles
    kept = keep(project, person, rows, said, asked)
    n = ROWS if asked is None else asked.n
    project.model.after_screen(person.id, rows, n, pace_of(project, person.id))
    return kept


def _seconds(said: Said) -> float:
    return said.seconds if 0 <= said.seconds <= LONGEST else float("nan")


def _refuse_second(standing: Standing, said: Said) -> None:
    if said.screen and said.screen in standing.piles.answered:
        raise AnsweredAlready("This screen was answered already, and stands as it was sent first. Undo takes it back.")


def _keep_piles(
    project: OpenProject, person: Person, rows: tuple[int, ...], said: Said, asked: Asked | None
) -> list[Event]:
    told = {"rows": list(rows), "said": said.placements, "called": dict(said.called), "screen": said.screen}

    def check() -> NewEvent:
        standing = project.standing
        _refuse_second(standing, said)
        piles, begun = standing.piles, None
        if not standing.heard:
            begun = dict(asked.begun or {}) if asked is not None else {}
            piles = copy(piles)
            piles.begin(begun)
        elif asked is not None and asked.begun is not None and said.placements:
            first = next(iter(standing.heard.values())).act.begun or {}
            if dict(first) != asked.begun:
                raise AnsweredAlready("Somebody else began the piles meanwhile: these are on the page now.")
        new = _as_numbers(said, piles.n_begun)
        put, names = piles.placed(rows, new, piles.n_begun, _WHO)
        drawn = {} if asked is None else dict(asked.screen.drawn)
        act = PileAct(SCREEN, rows, tuple(put), names, None, said.screen, drawn, begun)
        return NewEvent(SCREEN, told | _content(act), _seconds(said), said.key)

    event, _ = project.append_once(person, NewEvent(SCREEN, told, _seconds(said), said.key), check)
    return [event]


def _as_numbers(said: Said, n_begun: int) -> Any:
    """Return placements in which new piles have numbers that no pile had, or the name they are called by."""
    if isinstance(said.placements, (str, bytes)) or not isinstance(said.placements, Sequence):
        return said.placements

    def number(placement: Any) -> Any:
        is_number = isinstance(placement, int) and not isinstance(placement, bool)
        if is_number and placement >= n_begun:
            raise InvalidData(f"{_WHO}: there is no pile {placement}. A new pile is -1, the next -2. Nothing was kept.")
        if is_number and placement < 0:
            return said.called.get(str(placement), "").strip() or n_begun - 1 - placement
        return placement

    return [number(placement) for placement in said.placements]


def _content(act: PileAct) -> dict[str, Any]:
    return {name: value for name, value in act.event.items() if name not in ("event", "person")}


def _keep_labels(
    project: OpenProject, person: Person, rows: tuple[int, ...], said: Said, asked: Asked | None
) -> list[Event]:
    """Keep what rows of a run are, all in one step; a row left aside is one that the person is unsure of."""
    named = [said.called.get(str(p), "").strip() if isinstance(p, int) else p for p in said.placements]
    if len(named) != len(rows):
        Piles().placed(rows, said.placements, 0, _WHO)  # says what is wrong
    if any(isinstance(p, int) and not name for p, name in zip(said.placements, named)):
        raise InvalidData(f"{_WHO}: a new pile of this project needs a name, which is a label. Nothing was kept.")
    labels = [UNSURE if name is None or name == ASIDE else str(name) for name in named]
    took = _seconds(said) / len(rows)
    events = [
        project.labelled(row, label, seconds=took, key=f"{said.key}.{at}" if said.key else "", screen=said.screen)
        for at, (row, label) in enumerate(zip(rows, labels))
    ]
    return project.keep_all(person, events)


def keep_act(
    project: OpenProject, person: Person, kind: str, pile: int, *, other: int = -1, rows: Sequence[int] = (),
    name: str | None = None,
) -> None:  # fmt: skip
    """Rename, merge, keep apart or split piles."""
    check_can_sort(project)
    if isinstance(project, RunProject):
        raise InvalidData("The piles of this project are its labels: they are named on the page of clusters.")

    def decide() -> list[NewEvent]:
        piles, who = project.standing.piles, "A pile"
        if kind == "rename":
            act = piles.rename(pile, name, who, None)
        elif kind == "split":
            act = piles.split(pile, rows, name or None, project.rows.n, who, None)
        else:
            act = piles.about_two(MERGE if kind == "merge" else APART, pile, other, who, None)
        return [NewEvent(act.kind, _content(act))]

    project.append(person, decide)


def said_of(project: OpenProject, done: Done) -> str:
    """Say in a few words what a person did with piles."""
    with project.lock:
        names = project.standing.piles.names
    called = {pile: names.get(pile, f"pile {pile + 1}") for pile in done.act.piles if pile is not None}
    if done.act.kind == SCREEN:
        put = Counter(ASIDE if pile is None else called[pile] for pile in done.act.piles)
        told = (f"{n} aside" if name == ASIDE else f"{n} on {name}" for name, n in put.items())
        return f"{counted(len(done.act.rows), 'row')} sorted: {', '.join(told)}"
    return f"{done.act.kind}: {', '.join(called.values())}"


# -- what is handed over ---------------------------------------------------------------------------------------------


def placed(standing: Standing) -> list[tuple[int, str, int, float]]:
    """Return every placement that stands, in its order: row, pile, person and seconds.

    A row that was moved later, whose piles were merged or split, has the pile where it is now.
    """
    lines: list[tuple[int, str, int, float]] = []
    votes = {row: list(some) for row, some in standing.piles.votes.items()}
    for done in standing.heard.values():
        if done.act.kind != SCREEN:
            continue
        for row, pile in zip(done.act.rows, done.act.piles):
            took = done.seconds / len(done.act.rows)
            if pile is None:
                lines.append((row, ASIDE, done.person, took))
            elif mine := next((vote for vote in votes.get(row, ()) if vote[1] == done.person), None):
                votes[row].remove(mine)
                lines.append((row, standing.piles.names[mine[0]], done.person, took))
    moved = [(row, *vote) for row, some in votes.items() for vote in some if isinstance(vote[1], int)]
    return lines + [(row, standing.piles.names[pile], int(person or 0), float("nan")) for row, pile, person in moved]


def placements_table(standing: Standing, ids: Sequence[str], people: Mapping[int, str]) -> dict[str, list[Any]]:
    """Return every placement that stands, as ``sidelight relations`` reads it: row, pile, person and seconds."""
    lines = placed(standing)
    return {
        "row": [ids[row] for row, *_ in lines],
        "pile": disarmed_cells(name for _, name, *_ in lines),
        "person": disarmed_cells(people.get(person, "") for _, _, person, _ in lines),
        "seconds": [round(seconds, 3) if seconds == seconds else "" for *_, seconds in lines],
    }
