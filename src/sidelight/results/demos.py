"""What a demo adds to a result: how it compares with the truth, and images of typical rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Story:
    """A demo's own numbers.

    Attributes
    ----------
    name : str
        Which story the page tells.
    agreement : float
        How well the clusters match the truth, which only the demo knows.
    images : sequence of ndarray
        For each cluster the images of typical rows; empty when there are none.
    names : sequence of str
        What the clusters are called.
    """

    name: str
    agreement: float
    images: Sequence[np.ndarray] = field(default_factory=tuple)
    names: Sequence[str] | None = None
