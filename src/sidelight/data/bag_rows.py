"""What a selection of rows leaves of bags: which bags, in which order, and whether all their rows are still there.

A row may be selected twice, as bootstraps do. A bag is whole when each of its rows is there at least once, so that
repeated rows remember which row they are a copy of: their ``origin``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import BagsWereCut, warn

if TYPE_CHECKING:
    from sidelight.data.bags import Bags

Places = NDArray[np.intp]


class Renumbered(NamedTuple):
    """The bags that still have rows."""

    present: Places  # their old numbers, in the order of first appearance
    codes: Places  # the new number of each row's bag


def is_numbered(codes: Places, n_bags: int) -> bool:
    """Say whether bags are numbered 0, 1, 2, ... in the order of first appearance."""
    seen, first = np.unique(codes, return_index=True)
    return np.array_equal(seen, np.arange(n_bags)) and bool(np.all(np.diff(first) > 0))


def renumbered(codes: Places, n_bags: int) -> Renumbered:
    """Return the bags that occur among the rows, numbered by first appearance."""
    first = np.full(n_bags, len(codes), dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last write wins: the first appearance
    present = np.flatnonzero(first < len(codes))
    present = present[np.argsort(first[present])]
    number = np.empty(n_bags, dtype=np.intp)
    number[present] = np.arange(len(present))
    return Renumbered(present, number[codes])


def origin_after(origin: Places | None, kept: Places, n_rows: int) -> tuple[Places, bool]:
    """Return which row each kept row is a copy of, and whether one of them is there twice."""
    of_kept = kept if origin is None else origin[kept]
    is_there = np.zeros(1 + (n_rows if origin is None else int(origin.max())), dtype=bool)
    is_there[of_kept] = True
    return of_kept, int(is_there.sum()) < len(of_kept)


def count_distinct(codes: Places, origin: Places, has_copies: bool, n_bags: int) -> Places:
    """Count the rows of each bag, every row once however many copies of it there are."""
    if has_copies:
        codes = codes[np.unique(origin, return_index=True)[1]]
    return np.bincount(codes, minlength=n_bags)


def warn_if_cut(bags: Bags, present: Places, still_whole: NDArray[np.bool_]) -> None:
    """Warn when bags with labels lose rows: the rows that are left need not carry every label."""
    has_labels = bags.n_labels > 0
    cut = present[(bags.whole & ~still_whole & has_labels)[present]]
    if len(cut):
        warn(
            f"{len(cut)} of {len(present)} bags were cut, for example {bags.names[cut[0]]!r}: the rows that are left "
            "need not carry every label of their bag any more. Select whole bags to keep that; BagKFold never "
            "cuts one.",
            BagsWereCut,
            stacklevel=3,
        )
