"""Methods that name label sets and have no likelihood: F1 says how well."""

from __future__ import annotations

from typing import Any

from sidelight.data.coerce import as_label_matrix
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.hierarchy._labels import LearnsLabelSets


class ScoredByF1(LearnsLabelSets):
    """An estimator whose ``predict`` names label sets, judged by the labels that were seen."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the micro F1 against the labels that were seen; unchecked entries do not count.

        Parameters
        ----------
        X, y
            Rows and what was seen of their labels.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        """
        on = self.predict(X)
        labels = as_label_matrix(y, n_rows=len(on), names=self.label_names_)
        weights = weights_of_rows(sample_weight, labels.n_rows)
        predicted = (on == 1) & labels.is_known
        hits = float(weights @ (predicted & labels.is_seen).sum(axis=1))
        return 2 * hits / (float(weights @ (predicted.sum(axis=1) + labels.is_seen.sum(axis=1))) or 1.0)
