"""What a person is asked, and what may be answered."""

from __future__ import annotations

from dataclasses import dataclass

PAIR_WORDS = ("same", "different")
TRIPLET_WORDS = ("a", "b", "c", "none")
UNSURE = "unsure"  # costs a question, says nothing, and is not asked again


@dataclass(frozen=True, slots=True)
class Question:
    """A question about two rows ("are they alike?") or three ("which is the odd one out?").

    Attributes
    ----------
    rows : tuple of int
        The rows it is about.
    number : int
        Its number in the session.
    gain : float
        What the strategy expects of it; only comparable within one strategy.
    """

    rows: tuple[int, ...]
    number: int
    gain: float = float("nan")

    @property
    def kind(self) -> str:
        """Either "pair" or "triplet"."""
        return "pair" if len(self.rows) == 2 else "triplet"

    @property
    def words(self) -> tuple[str, ...]:
        """The answers that it takes."""
        return (*(PAIR_WORDS if len(self.rows) == 2 else TRIPLET_WORDS), UNSURE)
