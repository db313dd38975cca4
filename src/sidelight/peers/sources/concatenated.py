"""All channels as one long row, by k-means: a baseline, so that "why not just concatenate?" can be measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, check_flag, check_n_clusters, check_number
from sidelight._core.process import one_blas_thread, without_library_warnings
from sidelight._core.prototypes import nearest_prototype, squared_distances
from sidelight._models.prepared_rows import Preparation, kind_of
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import DistanceColumns
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.sources._joined import channel_columns
from sidelight.progress import report

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
Preparations = dict[str, tuple[Ints, Preparation]]


class ConcatenatedKMeans(DistanceColumns, ClusterMixin, Estimator):
    """Cluster all channels as one long row by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    channels : dict of str to slice or columns, default=None
        Where each channel is; only used by ``balance``.
    standardize : bool, default=True
        Scale every column of numbers to unit variance first, and prepare channels of words as
        :class:`~sidelight.Standardized` does (without ``channels``, all columns are one).
    balance : bool, default=False
        Give every channel the same total variance, so that a channel of one column weighs as much as one of 2500.
    n_init : int, default=10
        k-means starts.
    random_state : int, RandomState, Generator or None, default=None
        Seed of k-means.

    Attributes
    ----------
    labels_ : ndarray of intp
        Cluster of each row.
    cluster_centers_ : ndarray
        Centres in the scaled columns.
    offset_, scale_ : ndarray
        Subtracted from and divided into each prepared column.
    preparations_ : dict of str to (columns, Preparation)
        What is done to channels that hold words; empty where all are numbers.
    n_features_in_, data_fingerprint_ : int, str
        Number of columns, a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> sl.peers.ConcatenatedKMeans(2, random_state=0).fit([[0.0, 9.0], [0.1, 9.1], [5.0, 1.0]]).labels_.shape
    (3,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        channels: Any = None,
        standardize: bool = True,
        balance: bool = False,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.channels = channels
        self.standardize = standardize
        self.balance = balance
        self.n_init = n_init
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> ConcatenatedKMeans:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            The channels side by side.
        y : ignored
            Present for scikit-learn.
        """
        check_flag(self, "standardize", self.standardize)
        check_flag(self, "balance", self.balance)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        report("k-means", 0, 1)
        n_columns = X.shape[1]
        channels = {"all": np.arange(n_columns)}
        if self.channels is not None or self.balance:
            channels = channel_columns(self, self.channels, n_columns, least=1)
        self.preparations_ = _preparations(X, channels) if self.standardize else {}
        places = _places(channels, self.preparations_, n_columns)
        X = self._prepared(X)
        spread = X.std(axis=0)
        scale = np.where(spread > 0.0, spread, 1.0) if self.standardize else np.ones(X.shape[1])
        for name in self.preparations_:
            scale[places[name]] = 1.0  # directions of words: the strong ones should stay strong
        if self.balance:
            for where in places.values():
                variance = (X[:, where] / scale[where]).var(axis=0).sum()
                scale[where] *= np.sqrt(variance) if variance > 0.0 else 1.0
        self.offset_, self.scale_ = X.mean(axis=0), scale
        seed = as_seed(as_generator(self.random_state))
        kmeans = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed)
        with one_blas_thread(), without_library_warnings():  # fewer different rows than clusters: some stay empty
            self.cluster_centers_ = kmeans.fit((X - self.offset_) / scale).cluster_centers_
        self.labels_ = nearest_prototype((X - self.offset_) / scale, self.cluster_centers_)[0]
        return self

    def predict(self, X: Any) -> Ints:
        """Return the cluster of each row of X."""
        check_is_fitted(self)
        X = self._prepared(rows_to_judge(self, X))
        return nearest_prototype((X - self.offset_) / self.scale_, self.cluster_centers_)[0]

    def _judged(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = self._prepared(rows_to_judge(self, X))
        return np.sqrt(squared_distances((X - self.offset_) / self.scale_, self.cluster_centers_))

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    @checks_y
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return minus the mean squared distance to the centres, in scaled columns; higher is better.

        Parameters
        ----------
        X : array or data frame
            Rows as in ``fit``.
        y : ignored
            Present for scikit-learn.
        sample_weight : array of shape (n_rows,), default=None
            What each row counts for.
        """
        check_is_fitted(self)
        X = self._prepared(rows_to_judge(self, X))
        distances = nearest_prototype((X - self.offset_) / self.scale_, self.cluster_centers_)[1]
        return -float(np.average(distances**2, weights=weights_of_rows(sample_weight, len(distances))))

    def _prepared(self, X: Any) -> Floats:
        """Return the columns of numbers, then the directions of each channel of words."""
        words = vars(self).get("preparations_")  # models of version 0.1 have none
        if not words:
            return dense(X)
        rest = _rest(words, X.shape[1])
        return np.hstack([dense(X[:, rest]), *(np.asarray(prepare(X[:, where])) for where, prepare in words.values())])

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def dense(X: Any) -> Floats:
    return X.toarray() if hasattr(X, "toarray") else X


def _preparations(X: Any, channels: dict[str, Ints]) -> Preparations:
    """Learn how to prepare the channels that hold words."""
    parts = {name: (where, X[:, where]) for name, where in channels.items()}
    return {
        name: (where, Preparation.of(rows)) for name, (where, rows) in parts.items() if kind_of(rows)[0] != "numbers"
    }


def _rest(words: Preparations, n_columns: int) -> Ints:
    taken = np.concatenate([where for where, _ in words.values()])
    return np.setdiff1d(np.arange(n_columns), taken).astype(np.intp)


def _places(channels: dict[str, Ints], words: Preparations, n_columns: int) -> dict[str, Ints]:
    """Return where each channel is among the prepared columns."""
    if not words:
        return channels
    rest = _rest(words, n_columns)
    places, begin = {}, len(rest)
    for name, (_, prepare) in words.items():
        width = len(prepare.directions) + int((~prepare.is_word).sum())
        places[name] = np.arange(begin, begin + width)
        begin += width
    for name, where in channels.items():
        if name not in words:
            places[name] = np.searchsorted(rest, np.intersect1d(where, rest)).astype(np.intp)
    return places
