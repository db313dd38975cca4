"""From raw channels and sequences to clusters of every channel: the whole system of [B04]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from sidelight._core.contingency import contingency
from sidelight._core.params import as_generator, as_seed, check_choice, check_flag, check_n_clusters, check_number
from sidelight._core.prototypes import group_means, nearest_prototype
from sidelight._core.simplex import softmax
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.errors import InvalidData, InvalidParameter, SidelightWarning, warn
from sidelight.estimators._base import all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators.sources._channels import channel_columns, check_channel
from sidelight.estimators.sources._coclusterer import check_coclusterer
from sidelight.estimators.sources._novelty import thresholds
from sidelight.estimators.sources.annealed import AnnealedCoclustering
from sidelight.estimators.sources.codebook import Codebook, sequence_codes
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.estimators.sources.interleaved import InterleavedCoclustering
from sidelight.estimators.sources.spectral import SpectralContingency
from sidelight.estimators.sources.weighted import WeightCoclustering

Ints = NDArray[np.intp]

MOST_CELLS = 100_000  # cluster cells of a joint table that a proposal can still afford to look at

METHODS: dict[str, type[Any]] = {
    "annealed": AnnealedCoclustering,
    "information": InformationCoclustering,
    "spectral": SpectralContingency,
    "weights": WeightCoclustering,
}


class MultiSourceClustering(ProbabilityColumns, ClusterMixin, BaseEstimator):
    """Cluster several channels recorded together, through how often their codes occur together.

    Each channel becomes codes (the nearest sequence mean, or the nearest of ``n_codes`` k-means centres), the codes
    are counted together, and the table of counts is co-clustered. Channels need no common scale, and a channel may
    group by something else than the primary one.

    Parameters
    ----------
    n_clusters : int or dict of channel to int, default=8
        Clusters of each channel. With one number, a channel with fewer codes than that gets as many as it has codes,
        with a warning; the primary channel must have enough.
    channels : dict of str to slice or columns, default=None
        Where each channel is in X: what :func:`~sidelight.stack_channels` returns, column numbers, or names of columns
        where X is a data frame. None makes each column a channel.
    primary : str, default=None
        The channel whose clusters are ``labels_``. None clusters through all pairs of channels and takes the first
        channel's.
    method : {"annealed", "information", "spectral", "weights"} or co-clusterer, default="annealed"
        What clusters the table.
    combine : {"interleaved", "joint"}, default=None
        Two-way margins in turn (those of ``primary``, weakest first), or one table over all channels at once, for
        the methods that can. None is joint for "annealed" while the table of clusters is small (up to 100,000 cells),
        which errs least in our experiments, and interleaved otherwise.
    n_codes : int or dict of channel to int, default=None
        Size of the k-means code books when there are no sequences; None takes 4 per cluster, at most a third of the
        rows.
    reassign : bool, default=True
        Let every point follow the majority of its sequence, where sequences are given.
    novelty : float, default=0.99
        Share of known points (and sequences) that :meth:`is_new` should recognise as known.
    random_state : int, RandomState, Generator or None, default=None
        Seed of code books and method.

    Attributes
    ----------
    labels_ : ndarray of intp
        Cluster of each row in the primary channel.
    channel_labels_ : dict of str to ndarray
        Cluster of each row in every channel.
    channel_codes_ : dict of str to ndarray
        Code of each row in every channel.
    codebooks_ : dict of str to Codebook
        The prototypes of every channel.
    code_labels_ : dict of str to ndarray
        Cluster of each code; -1 for codes that no row has.
    table_ : CoOccurrence
        How often codes occurred together, over all channels.
    clusterer_ : co-clusterer
        The fitted method.
    primary_ : str
        The channel of ``labels_``.
    spread_ : float
        Mean squared distance between rows and their prototypes, in the primary channel.
    novelty_thresholds_ : dict of str to (float, float)
        Distance beyond which a point, and the mean of a sequence, are new.
    channel_columns_ : dict of str to ndarray
        Columns of each channel.
    n_features_in_, data_fingerprint_ : int, str
        Number of columns of X, a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> seen = sl.data.make_sources(3, n_sequences=9, n_points=400, random_state=0)
    >>> X, channels = sl.stack_channels(seen.channels)
    >>> ms = sl.MultiSourceClustering(3, channels=channels, primary="face", random_state=0)
    >>> ms.fit(X, sequences=seen.sequences).labels_.shape
    (400,)
    >>> sorted(ms.channel_labels_)
    ['face', 'height', 'lower', 'upper']
    """

    __metadata_request__fit = {"sequences": True}
    __metadata_request__predict = {"sequences": True}

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        channels: Any = None,
        primary: str | None = None,
        method: Any = "annealed",
        combine: str | None = None,
        n_codes: Any = None,
        reassign: bool = True,
        novelty: float = 0.99,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.channels = channels
        self.primary = primary
        self.method = method
        self.combine = combine
        self.n_codes = n_codes
        self.reassign = reassign
        self.novelty = novelty
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, sequences: Any = None) -> MultiSourceClustering:
        """Cluster the channels of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_columns)
            The channels side by side; one row per moment.
        y : ignored
            Present for scikit-learn.
        sequences : array-like of hashable, optional
            The sequence of each row: rows of one sequence show the same thing, as frames of one video do.
        """
        self._check_parameters()
        if isinstance(X, Mapping) and not sp.issparse(X):  # scipy's DOK arrays are mappings too
            raise InvalidData(
                f"{type(self).__name__}.fit needs one matrix with the channels side by side, got a mapping. Stack it "
                "first: X, channels = sidelight.stack_channels(mapping)."
            )
        X = rows_to_fit(self, X)
        columns = channel_columns(self, self.channels, X.shape[1], getattr(self, "feature_names_in_", None))
        primary = self._primary(columns)
        clusters = self._clusters(columns, X.shape[0])
        rng = as_generator(self.random_state)
        home = None
        if sequences is not None:
            home, _ = sequence_codes(sequences, X.shape[0], type(self).__name__)

        books = self._codebooks(X, columns, sequences, clusters, rng)
        codes = {name: book.labels_ for name, book in books.items()}
        clusters = self._affordable(clusters, codes, primary)
        table = CoOccurrence.from_codes(codes, sizes={name: len(book.prototypes_) for name, book in books.items()})
        clusterer = self._clusterer(clusters, columns, rng).fit(table)
        of_code = {name: clusterer.axis_labels_[name] for name in columns}

        self.channel_columns_, self.primary_, self.codebooks_, self.channel_codes_ = columns, primary, books, codes
        self.table_, self.clusterer_, self.code_labels_ = table, clusterer, of_code
        self.channel_labels_ = {name: self._follow_sequences(of_code[name][codes[name]], home) for name in columns}
        self.labels_ = self.channel_labels_[primary]
        gaps = nearest_prototype(X[:, columns[primary]], books[primary].prototypes_)[1]
        self.spread_ = float(np.mean(gaps**2))
        self.novelty_thresholds_ = {
            name: thresholds(X[:, where], home, books[name].prototypes_, of_code[name], self.novelty)
            for name, where in columns.items()
        }
        return self

    def predict(self, X: Any, *, sequences: Any = None) -> Ints:
        """Return the cluster of each row of X, by its primary channel.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_columns)
            The channels side by side, as in ``fit``.
        sequences : array-like, optional
            Sequences of these rows; with ``reassign`` each row then follows the majority of its sequence.
        """
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        return self.predict_channel(self.primary_, X[:, self.channel_columns_[self.primary_]], sequences=sequences)

    def predict_proba(self, X: Any, *, sequences: Any = None) -> NDArray[np.float64]:
        """Return how surely each row belongs to each cluster, shape (n_rows, n_clusters); rows sum to 1.

        Where rows follow their sequence it is the share of the sequence's rows in each cluster; else it falls with the
        squared distance to the nearest prototype of each cluster, in units of the mean one of the training rows.

        Parameters
        ----------
        X, sequences
            As in :meth:`predict`.
        """
        check_is_fitted(self)
        X = rows_to_judge(self, X)[:, self.channel_columns_[self.primary_]]
        book, used = self._book(self.primary_)
        X = self._points(self.primary_, X)
        of_code = self.code_labels_[self.primary_][used]
        n_clusters = self._n_features_out
        if sequences is not None and self.reassign:
            home = sequence_codes(sequences, X.shape[0], type(self).__name__)[0]
            raw = of_code[nearest_prototype(X, book.prototypes_[used])[0]]
            votes = contingency(home, raw, (int(home.max()) + 1, n_clusters)).dense().astype(np.float64)
            return np.asarray((votes / votes.sum(axis=1, keepdims=True))[home])
        squares = np.empty((X.shape[0], n_clusters))
        for k in range(n_clusters):
            mine = used[of_code == k]
            squares[:, k] = nearest_prototype(X, book.prototypes_[mine])[1] ** 2 if len(mine) else np.inf
        spread = getattr(self, "spread_", 1.0)  # models of version 0.1 have none
        return softmax(-squares / (2.0 * spread if spread > 0 else 1.0))

    @property
    def _n_features_out(self) -> int:
        return int(self.code_labels_[self.primary_].max()) + 1

    def predict_channel(self, channel: str, X: Any, *, sequences: Any = None) -> Ints:
        """Return the cluster of new points of one channel, from that channel alone.

        Parameters
        ----------
        channel : str
            One of the channels of ``fit``.
        X : array of shape (n_points, columns of the channel)
            The points.
        sequences : array-like, optional
            Their sequences.
        """
        book, used = self._book(channel)
        X = self._points(channel, X)
        codes = used[nearest_prototype(X, book.prototypes_[used])[0]]
        home = None if sequences is None else sequence_codes(sequences, X.shape[0], type(self).__name__)[0]
        return self._follow_sequences(self.code_labels_[channel][codes], home)

    def is_new(self, X: Any, *, sequences: Any = None, channel: str | None = None) -> NDArray[np.bool_]:
        """Say which rows fit no cluster: somebody who was never seen before ([B04] 4.1).

        Parameters
        ----------
        X : array of shape (n_rows, n_columns), or (n_points, columns of the channel) when ``channel`` is named
            The rows.
        sequences : array-like, optional
            Their sequences; a sequence is then new or known as a whole, judged by its mean, which is far more
            reliable than single points.
        channel : str, optional
            Judge points of this channel alone; the primary channel of stacked rows by default.
        """
        check_is_fitted(self)
        if channel is None:
            channel = self.primary_
            X = rows_to_judge(self, X)[:, self.channel_columns_[channel]]
        book, used = self._book(channel)
        X = self._points(channel, X)
        of_point, of_sequence = self.novelty_thresholds_[channel]
        if sequences is None:
            return nearest_prototype(X, book.prototypes_[used])[1] > of_point
        codes, names = sequence_codes(sequences, X.shape[0], type(self).__name__)
        means = group_means(X, codes, len(names))
        return (nearest_prototype(means, book.prototypes_[used])[1] > of_sequence)[codes]

    @checks_y
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return the information that the channels' clusters share on the rows of X, in nats; higher is better.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_columns)
            The channels side by side, usually held out.
        y : ignored
            Present for scikit-learn.
        sample_weight : array-like, optional
            What each row counts for.
        """
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        labels = {name: self.predict_channel(name, X[:, where]) for name, where in self.channel_columns_.items()}
        return CoOccurrence.from_codes(labels, weights=sample_weight).total_correlation()

    # ---- the parts of fit

    def _primary(self, columns: dict[str, Ints]) -> str:
        if self.primary is None:
            return next(iter(columns))
        check_channel(self, self.primary, columns)
        return self.primary

    def _clusters(self, columns: dict[str, Ints], n_rows: int) -> dict[str, int]:
        if isinstance(self.n_clusters, Mapping):
            for name in self.n_clusters:
                check_channel(self, name, columns)
            missing = [name for name in columns if name not in self.n_clusters]
            if missing:
                raise InvalidParameter(
                    f"{type(self).__name__}: n_clusters says nothing about channel {missing[0]!r}. "
                    "Bring a number for every channel, or one number for all."
                )
            wanted = dict(self.n_clusters)
        else:
            wanted = dict.fromkeys(columns, self.n_clusters)
        for k in wanted.values():
            check_n_clusters(self, k, n_rows)
        return {name: int(wanted[name]) for name in columns}

    def _codebooks(
        self, X: Any, columns: dict[str, Ints], sequences: Any, clusters: dict[str, int], rng: np.random.Generator
    ) -> dict[str, Codebook]:
        books = {}
        for name in self.n_codes if isinstance(self.n_codes, Mapping) else ():
            check_channel(self, name, columns)
        for name, where in columns.items():
            k = clusters[name]
            n_codes = self.n_codes.get(name) if isinstance(self.n_codes, Mapping) else self.n_codes
            if n_codes is None:
                n_codes = max(k, min(4 * k, X.shape[0] // 3))
            book = Codebook(n_codes, random_state=as_seed(rng)).fit(X[:, where], sequences=sequences)
            books[name] = book
        return books

    def _affordable(self, clusters: dict[str, int], codes: dict[str, Ints], primary: str) -> dict[str, int]:
        """Return the clusters each channel can have: no more than it has codes."""
        out = {}
        for name, k in clusters.items():
            n = len(np.unique(codes[name]))
            if n == 1:
                self._warn(f"channel {name!r} has the same code in every row, so it carries no information.")
            if k > n and (name == primary or isinstance(self.n_clusters, Mapping)):
                raise InvalidParameter(
                    f"{type(self).__name__} was asked for {k} clusters of channel {name!r}, whose rows have only {n} "
                    f"different codes. Ask for at most {n}, or bring more sequences or codes."
                )
            if k > n > 1:
                self._warn(f"channel {name!r} has only {n} different codes, so it gets {n} clusters instead of {k}.")
            out[name] = min(k, n)
        return out

    def _warn(self, what: str) -> None:
        warn(SidelightWarning(what, who=type(self).__name__), stacklevel=5)  # the caller of fit

    def _clusterer(self, clusters: dict[str, int], columns: dict[str, Ints], rng: np.random.Generator) -> Any:
        base = METHODS[self.method]() if isinstance(self.method, str) else clone(self.method)
        base.set_params(random_state=as_seed(rng))
        small = isinstance(base, AnnealedCoclustering) and np.prod([float(k) for k in clusters.values()]) <= MOST_CELLS
        if (self.combine or ("joint" if small else "interleaved")) == "joint":
            if len(columns) > 2 and not isinstance(base, (AnnealedCoclustering, SpectralContingency)):
                raise InvalidParameter(
                    f"{type(self).__name__}: {type(base).__name__} takes two channels at a time, and there are "
                    f"{len(columns)}. Choose combine='interleaved', or method='annealed' or 'spectral'."
                )
            return base.set_params(n_clusters=clusters)
        return InterleavedCoclustering(base, n_clusters=clusters, margins=self.primary)

    def _follow_sequences(self, labels: Ints, home: Ints | None) -> Ints:
        """Let every point follow the cluster that holds most points of its sequence."""
        if home is None or not self.reassign:
            return labels
        return np.asarray(contingency(home, labels).row_favourite()[home], dtype=np.intp)

    def _book(self, channel: str) -> tuple[Codebook, Ints]:
        check_is_fitted(self)
        check_channel(self, channel, self.codebooks_)
        return self.codebooks_[channel], np.flatnonzero(self.code_labels_[channel] >= 0)

    def _points(self, channel: str, X: Any) -> Any:
        """Validate points of one channel; a channel of one column may come as plain numbers, as in stack_channels."""
        width = self.codebooks_[channel].prototypes_.shape[1]
        if width == 1 and np.ndim(X) == 1:
            X = np.reshape(X, (-1, 1))
        shape = np.shape(X)
        if len(shape) == 2 and shape[1] != width:
            raise InvalidData(
                f"{type(self).__name__}: channel {channel!r} has {width} columns, but the points have {shape[1]}. "
                "Bring the columns of that channel, in the order of fit."
            )
        return rows_to_judge(self.codebooks_[channel], X)

    def _check_parameters(self) -> None:
        if isinstance(self.method, str):
            check_choice(self, "method", self.method, tuple(METHODS))
        else:
            check_coclusterer(self, self.method, "method")
        check_choice(self, "combine", self.combine, (None, "interleaved", "joint"))
        check_flag(self, "reassign", self.reassign)
        check_number(self, "novelty", self.novelty, low=0, high=1, open_low=True)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
