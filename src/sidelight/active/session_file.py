"""What is left of a session between sittings: its seed, its events, and the steps in which answers were learnt."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sidelight._core.atomic import replacing
from sidelight.active.questions import Question, rows_of
from sidelight.errors import InvalidData, InvalidParameter, UnreadableFile

FORMAT = 1


class GivenAnswer(NamedTuple):
    """Rows and answer of a question, and who gave it, if that is known.

    ``moves`` marks the correction of a row: the first of the rows belongs with the second, whatever was said before.
    """

    rows: tuple[int, ...]
    answer: str
    person: str | int | None = None
    moves: bool = False


@dataclass(frozen=True, slots=True)
class SavedSession:
    """The content of a file that ``ActiveSession.save`` wrote; the rows are not in it, only their fingerprint."""

    rows: str
    n_clusters: int | None
    strategy: str | None
    belief: str | None
    seconds: tuple[float, float] | None
    seed: int
    steps: Sequence[int]
    events: Sequence[Any]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file."""
        content = {
            "sidelight session": FORMAT,
            "rows": self.rows,
            "n_clusters": self.n_clusters,
            "strategy": self.strategy,
            "belief": self.belief,
            "seconds": self.seconds,
            "seed": self.seed,
            "steps": list(self.steps),
            "events": list(self.events),
        }
        with replacing(path, "w", encoding="utf-8") as handle:
            json.dump(content, handle, indent=1)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SavedSession:
        """Read a JSON file."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            version = int(content["sidelight session"])
            saved = cls(
                rows=content["rows"],
                n_clusters=content["n_clusters"],
                strategy=content["strategy"],
                belief=content.get("belief"),
                seconds=content.get("seconds"),
                seed=int(content["seed"]),
                steps=[max(int(step), 1) for step in content.get("steps", ())],
                events=list(content["events"]),
            )
        except OSError as error:
            raise UnreadableFile(f"Cannot read the session {str(path)!r}: {error.strerror}.") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UnreadableFile(f"{str(path)!r} is not a session that ActiveSession.save wrote.") from error
        if version > FORMAT or version < 1:
            raise UnreadableFile(f"{str(path)!r} has format {version}; this version reads formats 1 to {FORMAT}.")
        return saved

    def check_options(self, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
        """Raise unless a strategy or belief that is an object of the user's own is given again."""
        if self.strategy is None and options.get("strategy") is None:
            raise InvalidParameter(f"The session {str(path)!r} has a strategy of its own. Give it again: strategy=...")
        if self.belief is not None and options.get("belief") is None:
            again = (
                "Take it up with BayesianActiveClustering(...).resume(path, X)."
                if self.belief == "BayesianActiveClustering"
                else "Give it again: belief=..."
            )
            raise InvalidParameter(f"The session {str(path)!r} was begun with the belief {self.belief}. {again}")


def checked_about(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept with an answer, if it can be written down and hides nothing of the answer itself."""
    if hidden := {"event", "rows", "answer"} & set(about):
        raise InvalidParameter(f"ActiveSession.tell keeps {min(hidden)!r} itself. Give what you note another name.")
    about = {name: value.item() if isinstance(value, np.generic) else value for name, value in about.items()}
    try:
        json.dumps(about)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameter(
            f"ActiveSession.tell keeps texts, numbers and lists of them with an answer. {error}."
        ) from None
    return about


def checked_person(person: Any) -> str | int | None:
    """Return who answered, if it is a name or a number, or None."""
    if person is None or (isinstance(person, (str, int)) and not isinstance(person, bool)):
        return person
    if isinstance(person, np.integer):
        return int(person)
    raise InvalidParameter(f"ActiveSession: a person is a name or a whole number. Got {person!r:.80}.")


def is_move(rows: tuple[int, ...], answer: str, about: Mapping[str, Any]) -> bool:
    """Say whether an answer corrects the place of a row: such an answer moves that row and joins no two clusters."""
    return len(rows) == 2 and answer == "same" and bool(about.get("correction"))


def told_by(events: Iterable[Any], n_rows: int) -> list[GivenAnswer]:
    """Return the answers that stand after all events."""
    told: list[GivenAnswer] = []
    for number, event in enumerate(events):
        kind = event.get("event") if isinstance(event, Mapping) else None
        if kind == "undo" and told:
            told.pop()
        elif kind == "answer" and event.get("answer") in Question(rows := rows_of(event.get("rows"), n_rows), 0).words:
            moves = is_move(rows, event["answer"], event)
            told.append(GivenAnswer(rows, event["answer"], checked_person(event.get("person")), moves))
        else:
            raise InvalidData(f"Event {number} of the session makes no sense: {event!r:.80}.")
    return told


def in_steps(told: Sequence[GivenAnswer], steps: Sequence[int]) -> Iterator[Sequence[GivenAnswer]]:
    """Cut answers into steps of the given sizes, and one by one beyond.

    >>> [len(step) for step in in_steps([GivenAnswer((0, 1), "same")] * 5, [1, 2])]
    [1, 2, 1, 1]
    """
    at = 0
    for size in [*steps, *[1] * len(told)]:
        if at >= len(told):
            return
        yield told[at : at + size]
        at += size
