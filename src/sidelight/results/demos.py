"""What a demo adds to a result: how it compares with the truth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Story:
    """A demo's own numbers.

    Attributes
    ----------
    name : str
        Which story the page tells.
    agreement : float
        How well the clusters match the truth, which only the demo knows.
    """

    name: str
    agreement: float
