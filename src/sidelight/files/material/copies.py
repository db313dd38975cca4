"""Files that are copies or near copies of others, told by what a pretrained network says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight.files.cards.describing import PREFIX
from sidelight.words import counted, some_of

_NEAR = 0.2  # of the upper quartile of distances to the nearest file: saved again, smaller or with less edge
_FEWEST = 12  # files of which a usual distance can be told
_BLOCK = 1000


def about_copies(frame: Any) -> list[str]:
    """Say which files of a table are copies of others, or nearly."""
    copies = copies_among(frame)
    if not copies:
        return []
    told = some_of([f"{name} of {first}" for name, first in copies.items()], 3)
    one = len(copies) == 1
    return [
        f"{counted(len(copies), 'file')} {'is a copy or near copy' if one else 'are copies or near copies'} ({told})"
    ]


def copies_among(frame: Any) -> dict[str, str]:
    """Return the files that are copies of an earlier file, with the earlier one.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows with the column ``file`` and what a network says of them; none is a copy where no network did.
    """
    columns = [name for name in frame.columns if name.startswith(PREFIX)]
    if not columns:
        return {}
    means = frame.select("file", *columns).group_by("file", maintain_order=True).mean()
    names, M = means["file"].to_list(), means.select(columns).to_numpy().astype(np.float64)
    if len(names) < _FEWEST:
        return {}
    M = M - M.mean(axis=0)
    lengths = np.linalg.norm(M, axis=1, keepdims=True)
    M = M / np.where(lengths > 0, lengths, 1.0)
    nearest, pairs = np.empty(len(M)), []
    for begin in range(0, len(M), _BLOCK):
        apart = 1.0 - M[begin : begin + _BLOCK] @ M.T
        apart[np.arange(len(apart)), begin + np.arange(len(apart))] = np.inf
        nearest[begin : begin + _BLOCK] = apart.min(axis=1)
        near, other = np.nonzero(apart <= 0.5)
        pairs.append(np.column_stack([begin + near, other, apart[near, other]]))
    found = np.vstack(pairs)
    found = found[found[:, 2] <= _NEAR * float(np.quantile(nearest, 0.75))]
    ends = found[:, :2].astype(np.intp)
    graph = coo_array((np.ones(len(ends)), tuple(ends.T)), shape=(len(M), len(M)))
    group = connected_components(graph, directed=False)[1]
    first: dict[int, str] = {}
    return {name: first[k] for name, k in zip(names, group.tolist()) if first.setdefault(k, name) != name}
