"""Agglomerative clustering that starts from given groups: [B04] 4.3.2."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from sidelight._core.contingency import encode
from sidelight._core.params import as_sequence, check_choice, check_n_clusters
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators._base import Estimator, all_or_nothing, rows_to_fit
from sidelight.peers.sources.merging import LINKAGES, group_distances, merge


class SeededAgglomerative(ClusterMixin, Estimator):
    """Merge given groups of rows until ``n_clusters`` remain; rows of one group always stay together.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    linkage : {"average", "single", "complete"}, default="average"
        Distance of two groups: mean, nearest or farthest pair of rows.

    Attributes
    ----------
    labels_ : ndarray of intp
        Cluster of each row.
    group_names_ : tuple
        The groups in the order of their first row.
    group_labels_ : ndarray of intp
        Cluster of each group.
    heights_ : ndarray
        Distance at each merge; a jump suggests where to stop.
    n_features_in_, data_fingerprint_ : int, str
        Number of features, a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0], [0.2], [0.1], [5.0], [5.1], [9.0]]
    >>> sl.peers.SeededAgglomerative(2).fit(X, groups=["a", "a", "b", "c", "c", "d"]).group_labels_
    array([0, 0, 1, 1])
    """

    __metadata_request__fit = {"groups": True}

    def __init__(self, n_clusters: int = 2, *, linkage: str = "average") -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> SeededAgglomerative:
        """Merge groups of rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The rows.
        y : ignored
            Present for scikit-learn.
        groups : array-like of hashable, optional
            The group of each row, for example its sequence; every row alone by default.
        """
        check_choice(self, "linkage", self.linkage, tuple(LINKAGES))
        X = rows_to_fit(self, X, ensure_min_samples=1)
        names: Any = tuple(range(X.shape[0]))
        codes = np.arange(X.shape[0], dtype=np.intp)
        if groups is not None:
            groups = as_sequence(self, "groups", groups, "a sequence with the group of each row")
            if len(groups) != X.shape[0]:
                raise InvalidData(
                    f"SeededAgglomerative got {X.shape[0]} rows but {len(groups)} groups. Bring one per row."
                )
            codes, names = encode(groups, what="groups of SeededAgglomerative")
        if groups is not None and isinstance(self.n_clusters, int) and self.n_clusters > len(names):
            raise InvalidParameter(
                f"SeededAgglomerative was asked for n_clusters={self.n_clusters} clusters of {len(names)} groups. "
                f"Ask for at most {len(names)}: groups are merged, never cut."
            )
        check_n_clusters(self, self.n_clusters, len(names))
        X = X.toarray() if hasattr(X, "toarray") else X
        distances = group_distances(X, codes, len(names), self.linkage)
        self.group_labels_, self.heights_ = merge(distances, np.bincount(codes), self.n_clusters, self.linkage)
        self.group_names_ = tuple(names)
        self.labels_ = self.group_labels_[codes]
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
