"""Channels of rows that are read part by part: learnt from a sample of sequences, extended to all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.data.bags import Bags
from sidelight.data.parts import PartedRows
from sidelight.errors import InvalidData
from sidelight.estimators.sources._graph_fit import JOINED, WHOLE


@dataclass(frozen=True, slots=True)
class PredictRows:
    """Asks a model about rows whose bags are their sequences."""

    model: Any

    def __call__(self, X: Any, *, bags: Bags | None = None) -> np.ndarray:
        """Return the cluster of each row."""
        return np.asarray(self.model.predict(X, sequences=None if bags is None else list(bags)))


def fit_parts(estimator: Any, parts: PartedRows, sequences: Any) -> Any:
    """Fit to a sample, ten rows of a sequence or more; ``labels_`` is then about all rows, and made part by part."""
    if sequences is not None:
        raise InvalidData(
            f"{type(estimator).__name__} got Parts and sequences=. Parts bring their sequences with them, as bags: "
            "Parts.from_parquet(..., bag=...)."
        )
    X, bags = parts.sample(JOINED, whole=WHOLE)
    estimator.fit(np.asarray(X, dtype=np.float64), sequences=None if bags is None else list(bags))
    estimator.labels_ = parts.apply(PredictRows(estimator), bags=parts.in_bags)
    return estimator
