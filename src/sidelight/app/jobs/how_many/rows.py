"""How many clusters, asked of the graph of the rows."""

from __future__ import annotations

import numpy as np

from sidelight.app.jobs.how_many.stability import Stability
from sidelight.estimators._how_many import clearest_number


def clearest(points: np.ndarray, generator: np.random.Generator) -> Stability:
    """Return the clearest number of clusters of prepared rows, and how clear all that were tried are."""
    found = clearest_number(points, generator)
    return Stability(found.tried, found.gaps, found.errors, found.chosen, is_clear=found.is_clear)
