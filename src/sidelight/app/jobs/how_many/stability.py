"""How well every number of clusters that was tried does, whatever was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MEASURES = {
    "rows": "relative gap",
    "words": "agreement",
    "sequences": "above chance",
    "channels": "agreement",
    "counts": "bits",
    "answers": "log likelihood",
    "proof": "groups",
}


@dataclass(frozen=True, eq=False)
class Stability:
    """How well every number of clusters tried does, and the one in use.

    Attributes
    ----------
    tried, scores, errors : sequences
        Numbers of clusters, a score of each (higher is better) and its standard error.
    chosen : int
        The number in use.
    by : str
        What was asked: the graph of the "rows", halves of the code books ("words"), "sequences", "channels", parts of
        the "counts" or of the "answers", or what answers prove ("proof").
    of : str
        The axis, where each has a number of its own.
    is_clear : bool
        Whether the chosen number comes back well.
    seeds_agree : float or None
        Mean adjusted Rand index between the clusters of several seeds of the method; None where nobody tried.
    """

    tried: Sequence[int]
    scores: Sequence[float]
    errors: Sequence[float]
    chosen: int
    by: str = "rows"
    of: str = ""
    is_clear: bool = True
    seeds_agree: float | None = None

    @property
    def measure(self) -> str:
        """What the scores are, in one word."""
        return _MEASURES[self.by]

    @property
    def score(self) -> float:
        """The score of the number in use."""
        return float(self.scores[list(self.tried).index(self.chosen)])
