"""Which method clusters a table of counts: the one whose clusters tell more about counts that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from sidelight.data.cooccurrence import CoOccurrence
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.estimators.sources.spectral import SpectralContingency

TRIED = {"information": InformationCoclustering, "spectral": SpectralContingency}
_HALF = 0.5
_SMOOTH = 0.5  # counts added to every cell of the table of clusters


@dataclass(frozen=True, slots=True)
class Preferred:
    """The method that held-out counts prefer, and what the clusters of each tell about one of them, in nats."""

    method: Literal["information", "spectral"]
    told: dict[str, float]
    is_counted: bool

    def sentence(self) -> str:
        """Say what was preferred, and by how much."""
        other = next(name for name in self.told if name != self.method)
        kind = "counts" if self.is_counted else "weights (they are no whole numbers, and are taken as they are)"
        own, others = (f"{self.told[name] / np.log(2):.3f}" for name in (self.method, other))
        if own == others:
            return (
                f"The {self.method} method was taken: it and the {other} method tell {own} bits about held-out {kind}."
            )
        return (
            f"The {self.method} method was taken: its clusters of one half tell {own} bits about each of the held-out "
            f"{kind}, those of the {other} method {others}."
        )


def preferred(table: CoOccurrence, n_clusters: tuple[int, ...], seed: int) -> Preferred | None:
    """Cluster half of the counts of a two-way table by both methods, and judge by the other half.

    Parameters
    ----------
    table : CoOccurrence
        The counts, over two axes.
    n_clusters : tuple of int
        Clusters of each axis.
    seed : int
        Of the halves and the methods.
    """
    P = sp.csr_array(table.to_csr(), dtype=np.float64)
    is_counted = bool((P.data == np.round(P.data)).all())
    generator = np.random.default_rng(seed)
    seen = P.copy()
    seen.data = (
        generator.binomial(P.data.astype(np.int64), _HALF).astype(np.float64)
        if is_counted
        else P.data * (generator.random(P.data.size) < _HALF)
    )
    rest = (P - seen).tocoo()
    seen.eliminate_zeros()
    if not seen.nnz or not rest.data.sum() or min(n_clusters) < 2:
        return None
    told = {name: _told(method, seen, rest, n_clusters, seed) for name, method in TRIED.items()}
    is_spectral = told["spectral"] > told["information"]
    return Preferred("spectral" if is_spectral else "information", told, is_counted)


def _told(method: Any, seen: Any, rest: Any, n_clusters: tuple[int, ...], seed: int) -> float:
    """Return log P(x^, y^) / P(x^) P(y^) of the seen half, in the mean of the held-out counts; unseen codes tell 0."""
    model = method(n_clusters, random_state=seed).fit(seen)
    T = model.cluster_table_ * seen.sum() + _SMOOTH
    T = T / T.sum()
    gain = np.log(T / np.outer(T.sum(axis=1), T.sum(axis=0)))
    rows, columns = model.row_labels_[rest.row], model.column_labels_[rest.col]
    value = np.where((rows >= 0) & (columns >= 0), gain[np.maximum(rows, 0), np.maximum(columns, 0)], 0.0)
    return float((rest.data * value).sum() / rest.data.sum())
