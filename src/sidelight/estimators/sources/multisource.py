"""From raw channels and sequences to clusters: graphs that are added up, or the whole system of [B04]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from sidelight._core.contingency import contingency
from sidelight._core.params import as_generator, as_seed, check_choice, check_flag, check_n_clusters, check_number
from sidelight._core.prototypes import group_means, nearest_prototype
from sidelight._core.simplex import softmax
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.parts import PartedRows
from sidelight.errors import InvalidData, InvalidParameter, SidelightWarning, warn
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators._large import fit_on_sample
from sidelight.estimators.sources._coclusterer import check_coclusterer
from sidelight.estimators.sources._graph_fit import JOINED, WHOLE, Choice, fit_graphs
from sidelight.estimators.sources._joined import JoinedChannels, Masks, channel_columns, channels_there, check_channel
from sidelight.estimators.sources.annealed import AnnealedCoclustering
from sidelight.estimators.sources.codebook import Codebook, sequence_codes, thresholds
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.estimators.sources.interleaved import InterleavedCoclustering
from sidelight.estimators.sources.spectral import SpectralContingency
from sidelight.estimators.sources.weighted import WeightCoclustering

Ints = NDArray[np.intp]

MOST_CELLS = 100_000  # cluster cells of a joint table that a proposal can still afford to look at

_WORTH = 300  # rounds times clusters of interleaved annealing and weights: with 160 clusters one round says it all

_JUDGED = 50_000  # rows whose votes are counted at a time

BY_GRAPHS = ("auto", "graphs", "concatenated")  # one clustering of the rows, through what is near in the channels
METHODS: dict[str, type[Any]] = {
    "annealed": AnnealedCoclustering,
    "information": InformationCoclustering,
    "spectral": SpectralContingency,
    "weights": WeightCoclustering,
}


class MultiSourceClustering(ProbabilityColumns, ClusterMixin, Estimator):
    r"""Cluster several channels recorded together: through what is near in them, or through what occurs together.

    By default the rows of each channel are prepared by their kind (numbers or words), joined to their nearest rows, and
    the graphs of all channels are added up; rows of one sequence are joined, too. The graph of all channels side by
    side is tried as well. Where channels have groups of their own, which merely occur together, counts decide as in
    [B04]: each channel becomes codes (the nearest sequence mean, or the nearest of ``n_codes`` k-means centres), the
    codes are counted together, and the table of counts is co-clustered.

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
    method : str or co-clusterer, default="auto"
        "auto", "graphs", "concatenated", "annealed", "information", "spectral", "weights", or a co-clusterer. "graphs"
        adds up the graphs of the channels, "concatenated" makes one of all channels side by side; the others cluster
        the table of counts. "auto" chooses between the first two by the silhouette of their clusters, and takes
        "annealed" where the channels show different things, or have different numbers of clusters; ``method_`` and
        ``why_`` say so.
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
        The fitted method; None where graphs cluster the rows themselves.
    method_ : str or co-clusterer
        What was taken.
    why_ : str
        Why, in a few words.
    choice_ : dict of str to float
        The figures behind the choice: silhouettes of both graphs, how much of their neighbourhoods the channels share,
        and by how much groups finer than the clusters hang together better. Empty where a method was named.
    channel_weights_ : dict of str to float
        What each channel counts for where graphs cluster: how reliably it joins the rows that others join, as a share
        of the most reliable channel; equal for two channels, .001 for a channel that is mere noise. Else empty.
    joined_ : JoinedChannels or None
        The known rows that vote on new ones, where graphs cluster.
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

    See Also
    --------
    InformationCoclustering : Co-occurrences that were counted already.
    stack_channels : Puts channels side by side and remembers where each is.
    sidelight.peers.ConcatenatedKMeans : k-means on all channels, the foil.

    Notes
    -----
    Graphs of the nearest rows of every channel c, normalised by their degrees, are added up; rows of one sequence are
    edges, too. The leading eigenvectors of

    .. math::

        \sum_c \omega_c \, D_c^{-1/2} W_c D_c^{-1/2}

    are clustered. The ways of [B04] instead quantise each channel and cluster the codes so that the table of clusters
    keeps the mutual information of the channels (:class:`InformationCoclustering`).

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
        method: Any = "auto",
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
        X : array, CSR matrix or data frame of shape (n_rows, n_columns), or Parts
            The channels side by side; one row per moment. A row may lack a channel (NaN in all its columns) where
            graphs cluster. Of Parts, whose bags are sequences, 100,000 rows are fitted, ten of a sequence or more;
            ``labels_`` is then made part by part, everything else is about the fitted rows.
        y : ignored
            Present for scikit-learn.
        sequences : array-like of hashable, optional
            The sequence of each row: rows of one sequence show the same thing, as frames of one video do.
        """
        self._check_parameters()
        if isinstance(X, PartedRows):
            return fit_on_sample(self, X, JOINED, whole=WHOLE, as_what="sequences", sequences=sequences)
        if isinstance(X, Mapping) and not sp.issparse(X):  # scipy's DOK arrays are mappings too
            raise InvalidData(
                f"{type(self).__name__}.fit needs one matrix with the channels side by side, got a mapping. Stack it "
                "first: X, channels = sidelight.stack_channels(mapping)."
            )
        X = rows_to_fit(self, X, gaps=self._by_graphs)
        columns = channel_columns(self, self.channels, X.shape[1], getattr(self, "feature_names_in_", None))
        there = channels_there(self, X, columns)
        primary = self._primary(columns)
        clusters = self._clusters(columns, X.shape[0])
        rng = as_generator(self.random_state)
        home = None
        if sequences is not None:
            home, _ = sequence_codes(sequences, X.shape[0], type(self).__name__)

        filled = _filled(X, columns, there)
        books = self._codebooks(filled, columns, sequences, clusters, rng)
        codes = {name: book.labels_ for name, book in books.items()}
        table = self._table(codes, books, there)
        seed = as_seed(rng)
        choice, joined = self._joined(filled, columns, there, clusters, codes, table, home, rng)
        if joined is None:
            clusters = self._affordable(clusters, codes, primary)
            clusterer = self._clusterer(choice.method, clusters, columns, seed).fit(table)
            of_code = {name: clusterer.axis_labels_[name] for name in columns}
            labels: dict[str | None, Ints] = {
                name: self._follow_sequences(of_code[name][codes[name]], home) for name in columns
            }
        else:
            clusterer = None
            labels = self._voted(joined, filled, columns, there, home)
            of_code = {name: _usual(codes[name], labels[None], len(books[name].prototypes_)) for name in columns}

        self.channel_columns_, self.primary_, self.codebooks_, self.channel_codes_ = columns, primary, books, codes
        self.table_, self.clusterer_, self.code_labels_, self.joined_ = table, clusterer, of_code, joined
        self.method_, self.why_, self.choice_ = choice.method, choice.why, choice.scores
        self.channel_weights_ = {} if joined is None else joined.weights
        self.labels_ = labels[primary if joined is None else None]
        self.channel_labels_ = {name: labels[name] for name in columns}
        gaps = nearest_prototype(filled[:, columns[primary]], books[primary].prototypes_)[1]
        self.spread_ = float(np.mean(gaps**2))
        self.novelty_thresholds_ = {
            name: thresholds(filled[:, where], home, books[name].prototypes_, of_code[name], self.novelty)
            for name, where in columns.items()
        }
        return self

    def predict(self, X: Any, *, sequences: Any = None) -> Ints:
        """Return the cluster of each row of X: by all its channels where graphs cluster, else by its primary channel.

        With graphs the nearest known rows of each channel vote; rows that ``fit`` saw keep their cluster.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_columns)
            The channels side by side, as in ``fit``.
        sequences : array-like, optional
            Sequences of these rows; with ``reassign`` each row then follows the majority of its sequence.
        """
        check_is_fitted(self)
        if (joined := getattr(self, "joined_", None)) is not None:  # models of version 0.1 have none
            labels = np.asarray(self._shares(joined, X).argmax(axis=1), dtype=np.intp)
            return self._follow_sequences(labels, self._home(sequences, len(labels)))
        X = rows_to_judge(self, X)
        return self.predict_channel(self.primary_, X[:, self.channel_columns_[self.primary_]], sequences=sequences)

    def predict_proba(self, X: Any, *, sequences: Any = None) -> NDArray[np.float64]:
        """Return how surely each row belongs to each cluster, shape (n_rows, n_clusters); rows sum to 1.

        Where rows follow their sequence it is the share of the sequence's rows in each cluster; else the share of the
        votes where graphs cluster; else it falls with the squared distance to the nearest prototype of each cluster, in
        units of the mean one of the training rows.

        Parameters
        ----------
        X, sequences
            As in :meth:`predict`.
        """
        check_is_fitted(self)
        if (joined := getattr(self, "joined_", None)) is not None:
            return self._sequence_shares(self._shares(joined, X), sequences)
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
        joined = getattr(self, "joined_", None)
        return int(self.code_labels_[self.primary_].max()) + 1 if joined is None else joined.n_clusters

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
        if (joined := getattr(self, "joined_", None)) is not None:
            labels = np.asarray(joined.channel_proba(channel, X).argmax(axis=1), dtype=np.intp)
            return self._follow_sequences(labels, self._home(sequences, len(labels)))
        codes = used[nearest_prototype(X, book.prototypes_[used])[0]]
        return self._follow_sequences(self.code_labels_[channel][codes], self._home(sequences, X.shape[0]))

    def is_new(self, X: Any, *, sequences: Any = None, channel: str | None = None) -> NDArray[np.bool_]:
        """Say which rows fit no cluster: somebody who was never seen before ([B04] 4.1).

        Parameters
        ----------
        X : array of shape (n_rows, n_columns), or (n_points, columns of the channel) when ``channel`` is named
            The rows.
        sequences : array-like, optional
            Their sequences; a sequence is then new or known as a whole, judged by its mean, which is far more
            reliable than single points. Rows that lack the channel are not new.
        channel : str, optional
            Judge points of this channel alone; the primary channel of stacked rows by default.
        """
        check_is_fitted(self)
        if channel is None:
            channel, gaps = self.primary_, getattr(self, "joined_", None) is not None
            X = rows_to_judge(self, X, gaps=gaps)[:, self.channel_columns_[channel]]
            if gaps and not sp.issparse(X) and np.isnan(X).any():
                return self._new_among(X, sequences, channel)
        book, used = self._book(channel)
        X = self._points(channel, X)
        of_point, of_sequence = self.novelty_thresholds_[channel]
        if sequences is None:
            return nearest_prototype(X, book.prototypes_[used])[1] > of_point
        codes, names = sequence_codes(sequences, X.shape[0], type(self).__name__)
        means = group_means(X, codes, len(names))
        return (nearest_prototype(means, book.prototypes_[used])[1] > of_sequence)[codes]

    def _new_among(self, X: NDArray[np.float64], sequences: Any, channel: str) -> NDArray[np.bool_]:
        """Judge the rows that have the channel; those that lack it fit as well as any, unless their sequence is new."""
        home = self._home(sequences, len(X))
        has = ~np.isnan(X).all(axis=1)
        is_new = np.zeros(len(X), dtype=bool)
        if has.any():
            is_new[has] = self.is_new(X[has], sequences=None if home is None else home[has], channel=channel)
        return is_new if home is None else np.isin(home, home[is_new])

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

    @property
    def _by_graphs(self) -> bool:
        return isinstance(self.method, str) and self.method in BY_GRAPHS

    def _table(self, codes: dict[str, Ints], books: dict[str, Codebook], there: Masks) -> CoOccurrence:
        """Count codes together, in the rows that have all channels, where there are any."""
        complete = np.all(list(there.values()), axis=0)
        if complete.any():
            codes = {name: of[complete] for name, of in codes.items()}
        return CoOccurrence.from_codes(codes, sizes={name: len(book.prototypes_) for name, book in books.items()})

    def _joined(
        self,
        X: Any,
        columns: dict[str, Ints],
        there: Masks,
        clusters: dict[str, int],
        codes: dict[str, Ints],
        table: CoOccurrence,
        home: Ints | None,
        rng: np.random.Generator,
    ) -> tuple[Choice, JoinedChannels | None]:
        """Cluster by graphs where that is asked for, and return None for the model where counts are to decide."""
        if not self._by_graphs:
            return Choice(self.method, {}, "it was asked for"), None
        if len(set(clusters.values())) > 1:
            if self.method == "auto":
                return Choice("annealed", {}, "the channels were given different numbers of clusters"), None
            raise InvalidParameter(
                f"{type(self).__name__}: method={self.method!r} clusters rows, so all channels have the same clusters. "
                f"Bring one number for n_clusters, or choose method='annealed'. Got {self.n_clusters!r}."
            )
        k = next(iter(clusters.values()))
        parts = {name: X[:, where] for name, where in columns.items()}
        parts = {name: rows for name, rows in parts.items() if _differ(rows)}
        if not parts:
            raise InvalidData(
                f"{type(self).__name__}: every channel is the same in every row (n_samples={X.shape[0]}), so there are "
                "no clusters to find. Bring columns that vary."
            )
        for name in columns:
            if name not in parts:
                self._warn(f"channel {name!r} is the same in every row, so it carries no information and is left out.")
        if home is not None and self.reassign and k > int(home.max()) + 1:
            raise InvalidParameter(
                f"{type(self).__name__} was asked for {k} clusters of only {int(home.max()) + 1} sequences. Ask for at "
                f"most {int(home.max()) + 1}, bring more sequences, or let rows leave their sequence: reassign=False."
            )

        choice, joined = fit_graphs(parts, there, k, home, rng, way=self.method, table=table)
        return choice, None if choice.method == "annealed" else joined

    def _voted(
        self, joined: JoinedChannels, X: Any, columns: dict[str, Ints], there: Masks, home: Ints | None
    ) -> dict[str | None, Ints]:
        """Return the labels of rows by all channels (under None) and by each alone; -1 where a row lacks one."""
        found = {name: np.empty(X.shape[0], dtype=np.intp) for name in (None, *columns)}
        for block in _blocks(X.shape[0]):
            parts = {name: X[block][:, where] for name, where in columns.items()}
            near = {name: of[block] for name, of in there.items()}
            shares = {name: joined.channel_proba(name, rows) for name, rows in parts.items()}
            found[None][block] = joined.proba(parts, near, shares).argmax(axis=1)
            for name, own in shares.items():
                found[name][block] = own.argmax(axis=1)
        labels = {name: self._follow_sequences(of, home) for name, of in found.items()}
        for name, of in there.items():
            labels[name][~of] = -1
        n_used = len(np.unique(labels[None]))
        if n_used < joined.n_clusters:
            self._warn(
                f"only {n_used} of {joined.n_clusters} clusters hold rows: there are too few rows that differ, or "
                "whole sequences went to one cluster. Ask for fewer clusters."
            )
        return labels

    def _shares(self, joined: JoinedChannels, X: Any) -> NDArray[np.float64]:
        X = rows_to_judge(self, X, gaps=True)
        there = channels_there(self, X, self.channel_columns_)
        out = np.empty((X.shape[0], joined.n_clusters))
        for block in _blocks(X.shape[0]):
            parts = {name: X[block][:, self.channel_columns_[name]] for name in joined.known}
            out[block] = joined.proba(parts, {name: of[block] for name, of in there.items()})
        return out

    def _home(self, sequences: Any, n_rows: int) -> Ints | None:
        return None if sequences is None else sequence_codes(sequences, n_rows, type(self).__name__)[0]

    def _sequence_shares(self, shares: NDArray[np.float64], sequences: Any) -> NDArray[np.float64]:
        """Return the shares of each row's sequence in the clusters, where rows follow their sequence."""
        home = self._home(sequences, len(shares)) if self.reassign else None
        if home is None:
            return shares
        votes = contingency(home, shares.argmax(axis=1), (int(home.max()) + 1, shares.shape[1])).dense()
        return np.asarray((votes / votes.sum(axis=1, keepdims=True))[home], dtype=np.float64)

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
                n_codes = max(k, min(4 * k, X.shape[0] // 3), min(2, X.shape[0]))
            book = Codebook(n_codes, random_state=as_seed(rng)).fit(X[:, where], sequences=sequences)
            books[name] = book
        return books

    def _affordable(self, clusters: dict[str, int], codes: dict[str, Ints], primary: str) -> dict[str, int]:
        """Return the clusters each channel can have: no more than it has codes."""
        out = {}
        for name, k in clusters.items():
            n = len(np.unique(codes[name]))
            if n == 1 and k > 1 and name == primary:
                raise InvalidData(
                    f"{type(self).__name__}: channel {name!r} is the same in every row (n_samples={len(codes[name])}), "
                    "so it has no clusters. Leave it out, or make another channel the primary one."
                )
            if n == 1 and not self._by_graphs:  # graphs have said it already
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

    def _clusterer(self, method: Any, clusters: dict[str, int], columns: dict[str, Ints], seed: int) -> Any:
        base = METHODS[method]() if isinstance(method, str) else clone(method)
        base.set_params(random_state=seed)
        small = isinstance(base, AnnealedCoclustering) and np.prod([float(k) for k in clusters.values()]) <= MOST_CELLS
        if (self.combine or ("joint" if small else "interleaved")) == "joint":
            if len(columns) > 2 and not isinstance(base, (AnnealedCoclustering, SpectralContingency)):
                raise InvalidParameter(
                    f"{type(self).__name__}: {type(base).__name__} takes two channels at a time, and there are "
                    f"{len(columns)}. Choose combine='interleaved', or method='annealed' or 'spectral'."
                )
            return base.set_params(n_clusters=clusters)
        is_slow = isinstance(base, (AnnealedCoclustering, WeightCoclustering))
        rounds = min(15, max(1, _WORTH // sum(clusters.values()))) if is_slow else 15
        return InterleavedCoclustering(base, n_clusters=clusters, margins=self.primary, max_rounds=rounds)

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
            check_choice(self, "method", self.method, (*BY_GRAPHS, *METHODS))
        else:
            check_coclusterer(self, self.method, "method")
        check_choice(self, "combine", self.combine, (None, "interleaved", "joint"))
        check_flag(self, "reassign", self.reassign)
        check_number(self, "novelty", self.novelty, low=0, high=1, open_low=True)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._by_graphs  # a channel that a row lacks
        return tags


def _blocks(n_rows: int) -> list[slice]:
    return [slice(at, min(at + _JUDGED, n_rows)) for at in range(0, n_rows, _JUDGED)]


def _differ(rows: Any) -> bool:
    """Say whether rows differ at all."""
    if not sp.issparse(rows):
        return bool((rows != rows[0]).any())
    highest, lowest = (np.asarray(of.todense()).ravel() for of in (rows.max(axis=0), rows.min(axis=0)))
    return bool((highest != lowest).any())


def _filled(X: Any, columns: dict[str, Ints], there: Masks) -> Any:
    """Return X with the mean of a channel where a row lacks it: code books need a number."""
    if all(has.all() for has in there.values()):
        return X
    out = X.copy()
    for name, where in columns.items():
        if not there[name].any():
            raise InvalidData(f"MultiSourceClustering: no row has the channel {name!r}. Leave the channel out.")
        out[np.ix_(~there[name], where)] = X[np.ix_(there[name], where)].mean(axis=0)
    return out


def _usual(codes: Ints, labels: Ints, n_codes: int) -> Ints:
    """Return the cluster that most rows of each code have; -1 for codes that no row has."""
    of_code = np.full(n_codes, -1, dtype=np.intp)
    used = np.unique(codes)
    of_code[used] = contingency(codes, labels).row_favourite()[used]
    return of_code
