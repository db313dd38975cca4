"""The graphs of one channel: of its prepared rows and, for words of few rows, of the words themselves.

Directions that condense words are learnt from the rows: few rows teach few of them, and whole words tell more; short
texts share hardly a word, and directions tell more. Where rows are few both looks count, and half each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight._affinity.local_scaling import graph_local_scaling
from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.operators import NormalisedSum
from sidelight.estimators.sources._agreement import Masks

Floats = NDArray[np.float64]

NEIGHBOURS = 10


@dataclass(frozen=True, slots=True)
class Looks:
    """The graphs of a channel, which count the same."""

    graphs: tuple[Any, ...]

    @property
    def share(self) -> float:
        """What each graph counts for."""
        return 1.0 / len(self.graphs)

    @property
    def joined(self) -> Any:
        """A matrix whose non-zeros are the edges of all looks."""
        return self.graphs[0] if len(self.graphs) == 1 else sum(self.graphs[1:], start=self.graphs[0])

    def parts(self, weight: float) -> list[tuple[NormalisedSum, float]]:
        """Return normalised graphs and weights that add up to ``weight``."""
        return [(NormalisedSum.of(W), weight * self.share) for W in self.graphs]


def looks_of(
    channels: Mapping[str, Floats], whole: Mapping[str, Any], present: Masks, generator: np.random.Generator
) -> dict[str, Looks]:
    """Return the graphs of every channel; ``whole`` has the words of some of them, CSR rows of unit length."""
    graphs = {name: [graph_of(rows, present[name], generator)] for name, rows in channels.items()}
    for name, words in whole.items():
        graphs[name].append(graph_of(words, present[name], generator))
    return {name: Looks(tuple(some)) for name, some in graphs.items()}


def graph_of(rows: Any, there: NDArray[np.bool_], generator: np.random.Generator) -> Any:
    """Return the self-tuned graph of the rows that have the channel; the others are joined to nothing."""
    if there.all():
        return graph_local_scaling(nearest_rows(rows, NEIGHBOURS, generator=generator))[0]
    own = np.flatnonzero(there)
    n = rows.shape[0]
    small = graph_local_scaling(nearest_rows(rows[own], NEIGHBOURS, generator=generator))[0].tocoo()
    return sp.csr_array((small.data, (own[small.row], own[small.col])), shape=(n, n))
