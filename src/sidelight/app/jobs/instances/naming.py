"""Names of novel clusters: what a person calls a kind that no list names, kept in the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from sidelight.data.dataset import Dataset
from sidelight.errors import UnknownName, nearest
from sidelight.words import counted, some_of


def name_clusters(model: Any, names: Mapping[str, Any]) -> list[str]:
    """Rename novel clusters of a fitted model; return what was done, in sentences."""
    for old, new in names.items():
        novel = _novel_names(model)
        if old not in novel:
            raise UnknownName(f"There is no novel cluster {old!r:.80} to name. {nearest(old, novel)}")
        _rename(model, old, ",".join(new) if isinstance(new, list) else str(new))
    return [f"{old} is called {new if isinstance(new, str) else ','.join(new)!r} now." for old, new in names.items()]


def name_by_rows(model: Any, right: Mapping[int, str], data: Dataset) -> list[str]:
    """Name the novel cluster that holds most of the rows which were corrected to a kind that no list has.

    Parameters
    ----------
    model : estimator
        Fitted on the rows.
    right : mapping of int to str
        What rows are, by their place in the table.
    data : Dataset
        The table, which names its rows.
    """
    told: list[str] = []
    labels = np.asarray(model.labels_)
    for kind, n_rows in Counter(right.values()).most_common():
        novel = _novel_names(model)
        rows = [row for row, name in right.items() if name == kind]
        found = Counter(str(model.cluster_names_[labels[row]]) for row in rows)
        cluster, n_there = next(((name, n) for name, n in found.most_common() if name in novel), ("", 0))
        if not n_there:
            told.append(
                f"{counted(n_rows, 'correction says', 'corrections say')} {kind!r}, and no novel cluster holds such a "
                f"row: they are in {some_of(found)}. Allow more novel clusters, or correct more rows."
            )
            continue
        _rename(model, cluster, kind)
        elsewhere = [str(data.row_names[row]) for row in rows if model.cluster_names_[labels[row]] != kind]
        disagree = f"; {some_of(elsewhere)} {'is' if len(elsewhere) == 1 else 'are'} elsewhere" if elsewhere else ""
        size = int((labels == list(model.cluster_names_).index(kind)).sum())
        told.append(
            f"{cluster} is called {kind!r} now, all {counted(size, 'row')} of it: it holds {n_there} of "
            f"{counted(n_rows, 'row')} that were corrected to this name{disagree}."
        )
    return told


def without_cluster(model: Any, right: Mapping[int, str]) -> dict[int, str]:
    """Return the corrections to kinds of which no novel cluster holds a single row."""
    labels, novel = np.asarray(model.labels_), set(_novel_names(model))
    held = {kind for row, kind in right.items() if str(model.cluster_names_[labels[row]]) in novel}
    return {row: kind for row, kind in right.items() if kind not in held}


def about_labels_of_their_own(right: Mapping[int, str]) -> list[str]:
    """Say which kinds became labels, because no novel cluster formed around the rows that were corrected to them."""
    return [
        f"No novel cluster holds the {counted(n_rows, 'row')} corrected to {kind!r}: it is a label of its own now."
        for kind, n_rows in Counter(right.values()).items()
    ]


def _novel_names(model: Any) -> list[str]:
    return [str(name) for name, of in zip(model.cluster_names_, model.class_of_) if of < 0]


def _rename(model: Any, old: str, new: str) -> None:
    """Give a novel cluster another name, in the estimator itself: what is saved and loaded has it, too."""
    inner = vars(model).get("estimator_", model)
    taken = {str(name) for name in inner.cluster_names_}
    name = new
    while name in taken:
        name += "'"
    inner.cluster_names_ = tuple(name if str(one) == old else one for one in inner.cluster_names_)
    inner.label_names_ = tuple(name if str(one) == old else one for one in inner.label_names_)
