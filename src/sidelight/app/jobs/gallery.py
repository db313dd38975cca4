"""What clusters look like: the features that they stand out by, and the typical, doubtful and novel members of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight._affinity.copies import near_copies
from sidelight._core.params import is_sparse
from sidelight._core.prototypes import mean_and_scale
from sidelight._models.column_kinds import families_of
from sidelight.app.jobs.media import MediaReader
from sidelight.app.report.components.tables import percent
from sidelight.app.report.gallery import Gallery, Group, Media, Member, Profile
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.words import counted, present


def cluster_table(X: Any, labels: np.ndarray, features: Sequence[str], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return size, share and standing-out features of every cluster, as columns.

    A feature stands out by the difference between its mean in the cluster and over all rows, in standard deviations.
    """
    K, n = len(names), X.shape[0]
    sizes = np.bincount(labels, minlength=K)
    members = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(K, n))
    mean, scale = mean_and_scale(X)
    inside = members @ (X @ sp.diags_array(1.0 / scale) if sp.issparse(X) else X / scale)
    inside = inside.toarray() if sp.issparse(inside) else np.asarray(inside)
    z = inside / np.maximum(sizes, 1)[:, None] - mean / scale
    return {
        "cluster": list(names),
        "rows": sizes.tolist(),
        "share": (sizes / n).round(4).tolist(),
        "stands out by": [_words(z[k], features) if sizes[k] else "(empty)" for k in range(K)],
    }


def _words(z: np.ndarray, features: Sequence[str], most: int = 2) -> str:
    order = np.argsort(-np.abs(z), kind="stable")[:most]
    return ", ".join(f"{features[j]} {'high' if z[j] > 0 else 'low'} ({z[j]:+.1f})" for j in order if abs(z[j]) >= 0.5)


_SHOWN = {"typical": 6, "doubtful": 3, "novel": 3}  # members of a cluster, by kind
_MOST_GROUPS = 24  # clusters; a page with more is no longer looked at
_DOUBT = 0.9  # a member is doubtful below this probability
_NOVEL = 0.3  # and novel from this one
_FEW_NAMES = 4  # that an item may have, to be read beside it
_FEATURES = 6  # values that a small chart shows
Look = Callable[[int], Media | None]


def gallery_of(
    data: Dataset,
    labels: np.ndarray,
    sure: np.ndarray,
    names: Sequence[Any],
    *,
    rows: np.ndarray | None = None,
    novelty: np.ndarray | None = None,
    one_of: Sequence[str] | None = None,
    item_names: Sequence[Any] | None = None,
    is_probability: bool = True,
    is_measured: bool = True,
    what: str = "row",
    look: Look | None = None,
) -> Gallery:
    """Choose members of every cluster, the largest clusters first, and look at them.

    Parameters
    ----------
    data : Dataset
        The rows, with the columns to show.
    labels, sure : ndarray of shape (n_items,)
        Cluster of each item, and how surely it belongs there: higher is surer.
    names : sequence
        What the clusters are called.
    rows : ndarray of int, optional
        The row of ``data`` that stands for each item, such as the witness of a bag; items are rows by default.
    novelty : ndarray, optional
        Probability that no list names the item.
    one_of : sequence of str, optional
        The names that an item may have, with | between them.
    item_names : sequence, optional
        What items are called when they are not rows.
    is_probability : bool
        Whether ``sure`` is a probability, to be told to the reader.
    is_measured : bool
        Whether anything was held out that says how right it is; else it is not called sure.
    what : str
        What an item is.
    look : callable, optional
        Row -> what to show of it; the columns of ``data.show`` by default.
    """
    rows = np.arange(data.n_rows) if rows is None else np.asarray(rows)
    sizes = np.bincount(labels[labels >= 0], minlength=len(names))
    shown_groups = [int(k) for k in np.argsort(-sizes, kind="stable")[:_MOST_GROUPS] if sizes[k]]
    looker = looker_of(data)
    look = look or (None if looker is None else lambda row: _first(looker, data, row))
    bag_of = None if data.bags is None or item_names is not None else np.asarray(data.bags.codes)[rows]
    on_top, n_stacked = _stacks(data, rows, labels)
    chosen = {
        k: _chosen(np.flatnonzero((labels == k) & on_top), sure, novelty, is_probability, bag_of) for k in shown_groups
    }
    seen = _seen(chosen, rows, look)
    profiles = None if seen else _Profiles(data)

    def member(item: int, k: int, features: Any) -> Member:
        row, copies = int(rows[item]), int(n_stacked[item]) - 1
        name = str(data.row_names[row]) if item_names is None else str(item_names[item])
        return Member(
            name=name if data.row_ids is not None or item_names is not None else f"row {name}",
            bag=_bag(data, row) if item_names is None else f"row {data.row_names[row]}",
            why=", ".join(
                present(
                    _why(float(sure[item]), "" if one_of is None else one_of[item], is_measured)
                    if is_probability
                    else None,
                    f"and {counted(copies, 'copy or near copy', 'copies or near copies')}" if copies else None,
                )
            ),
            media=seen.get(row),
            profile=None if features is None else profiles.of(row, features) if profiles is not None else None,
        )

    groups = []
    for k in shown_groups:
        features = None if profiles is None else profiles.of_cluster(rows[labels == k])
        members = {kind: [member(i, k, features) for i in items] for kind, items in chosen[k].items()}
        groups.append(Group(k, str(names[k]), int(sizes[k]), members))
    notes = [] if looker is None else looker.notes()
    n_used = int(np.count_nonzero(sizes))
    if n_used > len(groups):
        notes.append(f"The {counted(len(groups), 'largest cluster', 'largest clusters')} of {n_used} are shown.")
    if profiles is not None:
        notes.append(
            "Each dot is a value of the row, each band where most rows of the cluster lie, in standard deviations from "
            "the mean of all rows (the line)."
        )
    return Gallery(groups, notes, what)


def _stacks(data: Dataset, rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Say which items lie on top of their copies in a cluster, and how many lie in each stack.

    Only what a network described can be told to be a copy: two rows of a few whole numbers are often the same.
    """
    if not data.components or is_sparse(data.X):
        return np.ones(len(rows), dtype=bool), np.ones(len(rows), dtype=np.intp)
    told = families_of(data.feature_names, data.components) >= 0
    top = np.arange(len(rows))
    for label in np.unique(labels):
        items = np.flatnonzero(labels == label)
        top[items] = items[near_copies(data.X[np.ix_(rows[items], told)])]
    return top == np.arange(len(rows)), np.bincount(top, minlength=len(rows))


def _why(sure: float, one_of: str, is_measured: bool) -> str:
    """Say how sure an item is, and which names it may have where one is not enough."""
    if not is_measured:
        return f"{percent(sure)} by the fit's own measure"
    names = one_of.split("|")
    few = f": one of {', '.join(names)}" if 1 < len(names) <= _FEW_NAMES else ""
    return f"{percent(sure)} sure{few}"


def looker_of(data: Dataset) -> MediaReader | None:
    """Return who looks at the columns to show, or None when there is none."""
    if not data.show:
        return None
    guessed = any(role.role == "show" and role.is_guess for role in data.roles)
    return MediaReader(Path(data.path).expanduser().parent, is_confined=guessed)


def bag_of_rows(bags: Bags) -> list[str]:
    """Return the name of each row's bag."""
    names = [str(name) for name in bags.names]
    return [names[code] for code in bags.codes.tolist()]


def distance_to_centre(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return how far each row is from the mean of its cluster."""
    n, labels = len(labels), np.maximum(labels, 0)
    K = int(labels.max(initial=0)) + 1
    members = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(K, n))
    centres = (members @ X) / np.maximum(np.bincount(labels, minlength=K), 1)[:, None]
    distance: np.ndarray = np.sqrt(((X - centres[labels]) ** 2).sum(axis=1))
    return distance


def _first(looker: MediaReader, data: Dataset, row: int) -> Media | None:
    """Return the first thing that the columns to show have for a row; images and sounds come before texts."""
    texts = None
    for column in data.show.values():
        shown = looker.look(column[row])
        if shown is not None and shown.kind != "text":
            return shown
        texts = texts or shown
    return texts


def _chosen(
    items: np.ndarray, sure: np.ndarray, novelty: np.ndarray | None, is_probability: bool, bag_of: np.ndarray | None
) -> dict[str, list[int]]:
    order = items[np.argsort(-sure[items], kind="stable")]
    typical = order[: _SHOWN["typical"]]
    if is_probability and bag_of is not None:
        typical = of_many_bags(order, sure, bag_of, _SHOWN["typical"])
    rest = order[~np.isin(order, typical)][::-1]
    doubtful = rest[sure[rest] < _DOUBT] if is_probability else rest
    chosen = {"typical": typical.tolist(), "doubtful": doubtful[: _SHOWN["doubtful"]].tolist()}
    if novelty is not None and np.mean(novelty[items]) < 0.5:  # in a novel cluster everything is novel
        new = items[np.argsort(-novelty[items], kind="stable")]
        chosen["novel"] = new[novelty[new] >= _NOVEL][: _SHOWN["novel"]].tolist()
    return chosen


def of_many_bags(order: np.ndarray, sure: np.ndarray, bag_of: np.ndarray, n_shown: int) -> np.ndarray:
    """Return the surest rows, of as many bags as there are: a bag with one label is sure of all of its rows.

    Parameters
    ----------
    order : ndarray of int
        Rows, the surest first.
    sure, bag_of : ndarray of shape (n_rows,)
        How sure each row is of its cluster, and its bag.
    n_shown : int
        How many to return; where fewer are beyond doubt, simply the first ones.
    """
    likely = order[sure[order] >= _DOUBT]
    if len(likely) <= n_shown:
        return order[:n_shown]
    is_first = np.zeros(len(likely), dtype=bool)
    is_first[np.unique(bag_of[likely], return_index=True)[1]] = True
    places = np.concatenate([np.flatnonzero(is_first), np.flatnonzero(~is_first)])[:n_shown]
    return likely[np.sort(places)]


def _seen(chosen: dict[int, dict[str, list[int]]], rows: np.ndarray, look: Look | None) -> dict[int, Media]:
    """Look at the typical members of all clusters first, so that a limit on size takes from every cluster alike."""
    seen: dict[int, Media] = {}
    if look is None:
        return seen
    for kind, most in _SHOWN.items():
        for place in range(most):
            for members in chosen.values():
                items = members.get(kind, [])
                row = int(rows[items[place]]) if place < len(items) else -1
                if row >= 0 and row not in seen:
                    shown = look(row)
                    if shown is not None:
                        seen[row] = shown
    return seen


def _bag(data: Dataset, row: int) -> str:
    return "" if data.bags is None else f"bag {data.bags.names[data.bags.codes[row]]}"


class _Profiles:
    """Values of rows against their cluster, in standard deviations from the mean of all rows."""

    def __init__(self, data: Dataset) -> None:
        self.X, self.names = data.telling
        self.mean, self.scale = mean_and_scale(self.X)

    def of_cluster(self, rows: np.ndarray) -> Any:
        """Return the features that a cluster stands out by most, with their mean and spread inside."""
        inside = self.X[rows]
        z = self._z(np.asarray(inside.mean(axis=0)).ravel(), np.arange(self.mean.size))
        features = np.sort(np.argsort(-np.abs(z), kind="stable")[:_FEATURES])
        values = inside[:, features]
        values = values.toarray() if sp.issparse(values) else np.asarray(values)
        spread = (values / self.scale[features]).std(axis=0)
        return features, z[features], np.nan_to_num(spread)

    def of(self, row: int, cluster: Any) -> Profile:
        """Return the chart of one row."""
        features, mean, spread = cluster
        values = self.X[[row]][:, features]
        values = (values.toarray() if sp.issparse(values) else np.asarray(values)).ravel()
        z = self._z(values, features)
        return Profile([self.names[j] for j in features.tolist()], z.tolist(), mean.tolist(), spread.tolist())

    def _z(self, values: np.ndarray, features: np.ndarray) -> np.ndarray:
        scale = self.scale[features]
        return np.nan_to_num(values / scale - self.mean[features] / scale)  # divided first: no overflow near 1e308
