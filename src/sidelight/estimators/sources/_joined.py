"""Channels of a stacked matrix, and clusters of rows of several channels as a model: which columns belong to which
channel, how rows are prepared, and what known ones say about new ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight._affinity.neighbours import nearest_of
from sidelight._models.prepared_rows import Preparation, kind_of
from sidelight.errors import InvalidData, InvalidParameter, SidelightWarning, UnknownName, nearest, warn
from sidelight.estimators.sources.graphs import balanced

# What known rows say about new ones: the nearest of them vote, channel by channel.


Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_VOTERS = 10
_FAR = 30.0  # scales beyond which a row has no vote; keeps squares finite
_LANDMARKS = 10_000  # rows that new ones are compared with


def landmarks(n_rows: int, generator: np.random.Generator) -> Ints:
    """Choose the rows that new ones are compared with: all, or a random sample of them."""
    if n_rows <= _LANDMARKS:
        return np.arange(n_rows)
    return np.sort(generator.choice(n_rows, size=_LANDMARKS, replace=False)).astype(np.intp)


def votes(rows: Floats, known: Floats, labels: Ints, n_clusters: int) -> Floats:
    """Return how the nearest known rows of one channel vote on rows, shape (n_rows, n_clusters); rows sum to 1.

    A row that is known already is judged by itself and its copies: what a fit has seen keeps its cluster, also where a
    cluster has fewer rows than neighbours vote.
    """
    near, gaps = nearest_of(known, rows, _VOTERS)
    scale = gaps[:, [min(6, gaps.shape[1] - 1)]]
    weight = np.exp(-(np.minimum(gaps / np.where(scale > 0, scale, 1.0), _FAR) ** 2) / 2)
    is_known = gaps[:, 0] == 0.0
    weight[is_known] = gaps[is_known] == 0.0
    shares = np.zeros((len(rows), n_clusters))
    np.add.at(shares, (np.arange(len(rows))[:, None], labels[near]), weight)
    crowded = np.flatnonzero(gaps[:, -1] == 0.0)
    if len(crowded):
        shares[crowded] = _copies(known, near[crowded, 0], labels, n_clusters)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _copies(known: Floats, one: Ints, labels: Ints, n_clusters: int) -> Floats:
    """Count the clusters of all copies of some known rows: a column of a few values has more of them than vote."""
    kind = np.unique(known, axis=0, return_inverse=True)[1].ravel()
    counts = np.zeros((int(kind.max()) + 1, n_clusters))
    np.add.at(counts, (kind, labels), 1.0)
    return np.asarray(counts[kind[one]])


Masks = Mapping[str, NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class JoinedChannels:
    """Known rows of all channels, prepared, with their clusters.

    Parameters
    ----------
    way : str
        "graphs" (every channel votes for itself) or "concatenated" (all channels side by side).
    preparations : dict of str to Preparation
        What is done to the rows of each channel.
    known, there : dict of str to ndarray
        The prepared known rows of each channel, and which of them have the channel.
    labels : ndarray of int
        The clusters of the known rows.
    weights : dict of str to float
        What the vote of each channel counts for.
    means, scales : dict of str to ndarray, float
        The mean of each prepared channel, which stands in for a missing one side by side with others, and what a
        channel is divided by there.
    n_clusters : int
        Number of clusters.
    """

    way: str
    preparations: dict[str, Preparation]
    known: dict[str, Floats]
    there: dict[str, NDArray[np.bool_]]
    labels: Ints
    weights: dict[str, float]
    means: dict[str, Floats]
    scales: dict[str, float]
    n_clusters: int

    def proba(self, parts: Mapping[str, Any], there: Masks, by_channel: Mapping[str, Floats] | None = None) -> Floats:
        """Return the shares of votes on rows.

        Parameters
        ----------
        parts, there : mappings
            The raw rows of the channels, and which of them are there.
        by_channel : mapping of str to ndarray, optional
            What :meth:`channel_proba` said about these rows already.
        """
        there = rows_that_tell(self.preparations, parts, there)
        prepared = {name: self._prepared(name, parts[name], there[name]) for name in self.known}
        if self.way == "concatenated":
            return votes(self._beside(prepared), self._beside(self.known), self.labels, self.n_clusters)
        n_rows = len(next(iter(prepared.values())))
        total = np.zeros((n_rows, self.n_clusters))
        for name, rows in prepared.items():
            here = np.flatnonzero(there[name])
            if len(here):
                own = self._votes(name, parts[name][here], rows[here]) if by_channel is None else by_channel[name][here]
                total[here] += self.weights[name] * own
        whole, known = (np.flatnonzero(np.all([of[name] for name in self.known], axis=0)) for of in (there, self.there))
        if len(whole) and len(known):  # all channels side by side have a vote, as they have a graph
            rows, seen = (self._beside(of) for of in (prepared, self.known))
            own = votes(rows[whole], seen[known], self.labels[known], self.n_clusters)
            total[whole] += sum(self.weights.values()) * own
        sums = total.sum(axis=1, keepdims=True)
        return np.asarray(np.where(sums > 0, total / np.where(sums > 0, sums, 1.0), self._usual))

    def channel_proba(self, name: str, rows: Any) -> Floats:
        """Return the shares of votes on raw rows of one channel; a channel that says nothing says what is usual."""
        if name not in self.known:
            return np.tile(self._usual, (rows.shape[0], 1))
        return self._votes(name, rows, self._prepared(name, rows, np.ones(rows.shape[0], dtype=bool)))

    @property
    def _usual(self) -> Floats:
        """The shares of the clusters: what is said about rows of which nothing is known."""
        return np.asarray(np.bincount(self.labels, minlength=self.n_clusters) / len(self.labels))

    def _votes(self, name: str, rows: Any, prepared: Floats) -> Floats:
        own = self.there[name]
        out = np.tile(self._usual, (rows.shape[0], 1))
        telling = np.flatnonzero(_tells(self.preparations[name], rows))
        if len(telling):
            out[telling] = votes(prepared[telling], self.known[name][own], self.labels[own], self.n_clusters)
        return out

    def _prepared(self, name: str, rows: Any, there: NDArray[np.bool_]) -> Floats:
        return prepared_rows(self.preparations[name], rows, there, self.means[name])

    def _beside(self, rows: Mapping[str, Floats]) -> Floats:
        return np.hstack([rows[name] / self.scales[name] for name in self.known])

    def __archive__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def __unarchive__(cls, state: dict[str, Any]) -> Self:
        return cls(**state)


def rows_that_tell(preparations: Mapping[str, Preparation], parts: Mapping[str, Any], there: Masks) -> Masks:
    """Return which rows have each channel and tell something by it: a row without any word lacks a channel of words."""
    told = {name: there[name] & _tells(of, parts[name]) for name, of in preparations.items()}
    return {name: told[name] if told[name].any() else there[name] for name in preparations}


def _tells(preparation: Preparation, rows: Any) -> NDArray[np.bool_]:
    if preparation.kind != "words":
        return np.ones(rows.shape[0], dtype=bool)
    return np.asarray(rows.sum(axis=1)).ravel() > 0


def preparation_of(rows: Any, there: NDArray[np.bool_], seed: int) -> Preparation:
    """Learn how to prepare the rows of a channel from those that have it."""
    own = rows if there.all() else rows[np.flatnonzero(there)]
    if sp.issparse(own) and kind_of(own)[0] == "numbers":
        own = own.toarray()  # as dense rows: centred, so that both have the same answer
    return Preparation.of(own, seed=seed)


def prepared_rows(preparation: Preparation, rows: Any, there: NDArray[np.bool_], mean: Floats | None) -> Floats:
    """Return the prepared rows of a channel, dense; the mean of the others (or zeros) for rows that do not have it."""
    if sp.issparse(rows) and preparation.kind == "numbers":
        rows = rows.toarray()
    if there.all():
        return np.asarray(preparation(rows), dtype=np.float64)
    own = np.flatnonzero(there)
    if not len(own):
        assert mean is not None  # a fit refuses a channel that no row has
        return np.tile(mean, (rows.shape[0], 1))
    made = np.asarray(preparation(rows[own]))
    out = np.empty((rows.shape[0], made.shape[1]))
    out[own] = made
    out[~there] = made.mean(axis=0) if mean is None else mean
    return out


def side_by_side(parts: Sequence[Any], seed: int) -> Floats:
    """Return channels prepared by their kind, each with a total variance of 1; means stand in for missing ones."""
    out = []
    for rows in parts:
        there = np.ones(rows.shape[0], dtype=bool) if sp.issparse(rows) else ~np.isnan(rows).any(axis=1)
        out.append(balanced(prepared_rows(preparation_of(rows, there, seed), rows, there, None)))
    return np.hstack(out)


def channels_there(owner: object, X: Any, columns: Mapping[str, Ints]) -> dict[str, NDArray[np.bool_]]:
    """Return which rows have each channel: a channel is missing where all its columns are NaN."""
    n_rows = X.shape[0]
    if sp.issparse(X) or not np.isnan(X).any():
        return {name: np.ones(n_rows, dtype=bool) for name in columns}
    there = {}
    for name, where in columns.items():
        gaps = np.isnan(X[:, where])
        torn = gaps.any(axis=1) & ~gaps.all(axis=1)
        if torn.any():
            row = int(np.flatnonzero(torn)[0])
            column = int(where[np.flatnonzero(gaps[row])[0]])
            raise InvalidData(
                f"{type(owner).__name__}: row {row}, column {column} (counted from 0) is NaN, but other columns of the "
                f"channel {name!r} are not: {int(torn.sum())} of {n_rows} rows have such a gap. Fill gaps first, with "
                "scikit-learn's SimpleImputer for one, or leave the whole channel out of the row: NaN in all columns."
            )
        there[name] = ~gaps.all(axis=1)
    nobody = ~np.any(list(there.values()), axis=0)
    if nobody.any():
        raise InvalidData(
            f"{type(owner).__name__}: row {int(np.flatnonzero(nobody)[0])} (counted from 0) has no channel at all: "
            f"every column is NaN, in {int(nobody.sum())} of {n_rows} rows. Leave these rows out."
        )
    return there


def channel_columns(
    owner: object, channels: Any, n_columns: int, names: Any = None, *, least: int = 2
) -> dict[str, Ints]:
    """Read ``channels``: names to slices, column numbers or names, or masks; None makes every column a channel."""
    who = type(owner).__name__
    if channels is None:
        channels = {str(name): [i] for i, name in enumerate(names if names is not None else range(n_columns))}
    if not isinstance(channels, Mapping):
        raise InvalidParameter(
            f"The 'channels' parameter of {who} must be a mapping of channel names to slices or columns, as "
            f"stack_channels returns it. Got {channels!r} instead."
        )
    columns = {str(name): _columns(who, name, where, n_columns, names) for name, where in channels.items()}
    if len(columns) < least:
        raise InvalidData(
            f"{who} needs at least {least} channels, got {len(columns)} from n_features={n_columns} columns. Channels "
            "are clustered through what occurs together in them."
        )
    _warn_of_shared(who, columns)
    return columns


def _warn_of_shared(who: str, columns: dict[str, Ints]) -> None:
    owner: dict[int, str] = {}
    for name, where in columns.items():
        for j in where.tolist():
            if owner.setdefault(j, name) != name:
                warn(
                    f"{who}: the channels {owner[j]!r} and {name!r} share column {j} (counted from 0), so they occur "
                    "together whatever was recorded. Give every channel columns of its own.",
                    SidelightWarning,
                    stacklevel=4,
                )
                return


def check_channel(owner: object, name: Any, known: Any, what: str = "channel") -> None:
    """Raise unless ``name`` is one of the channels."""
    if not isinstance(name, Hashable) or name not in known:
        raise UnknownName(f"{type(owner).__name__} has no {what} {name!r}. {nearest(name, known)}")


def _columns(who: str, name: Any, where: Any, n_columns: int, names: Any) -> Ints:
    if isinstance(where, slice):
        columns = np.arange(n_columns)[where]
        beyond = where.stop is not None and where.stop > n_columns
    else:
        columns = np.atleast_1d(np.asarray(where))
        if columns.dtype.kind == "b" and columns.shape == (n_columns,):
            columns = np.flatnonzero(columns)
        if columns.dtype.kind in "UO" and names is not None:
            columns = _numbers(who, name, columns.tolist(), list(names))
        if columns.dtype.kind not in "iu":
            raise InvalidParameter(
                f"{who}: channel {name!r} must be a slice, column numbers, a mask, or names of columns where X is a "
                f"data frame; got {where!r}."
            )
        beyond = columns.size > 0 and (columns.max() >= n_columns or columns.min() < 0)
    if beyond or columns.size == 0:
        raise InvalidData(
            f"{who}: channel {name!r} wants the columns {where!r}, but X has n_features={n_columns} columns. Stack the "
            "channels again, with the same measurements in the same order."
        )
    return columns.astype(np.intp)


def _numbers(who: str, channel: Any, wanted: list[Any], names: list[Any]) -> Any:
    for name in wanted:
        if name not in names:
            raise UnknownName(f"{who}: channel {channel!r} wants the column {name!r}. {nearest(str(name), names)}")
    return np.array([names.index(name) for name in wanted], dtype=np.intp)
