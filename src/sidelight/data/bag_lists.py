"""Bags of consecutive rows as arrays, quick to read, cut and join; and which of them are in a sample of all rows."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bags import Bags
from sidelight.data.names import Names
from sidelight.errors import UnknownName, nearest

Ints = NDArray[np.intp]
WHOLE = 1000  # rows up to which a bag is in a sample as a whole or not at all
EACH = 5  # bags of each label that are in every sample, where there are so many
LabelSet = frozenset[Hashable] | None  # None: unlabelled


class BagLists(NamedTuple):
    """Bags of consecutive rows, and what was said about the labels of each.

    Bag b has the rows ``starts[b]`` to ``starts[b + 1]``, the name ``names[b]`` (whole numbers, or text as objects) and
    the label set ``sets[codes[b]]``.
    """

    names: NDArray[Any]
    starts: Ints
    sets: tuple[LabelSet, ...]
    codes: Ints

    @property
    def n_bags(self) -> int:
        """The number of bags."""
        return len(self.names)

    @property
    def home(self) -> Ints:
        """The bag of each row."""
        return np.repeat(np.arange(self.n_bags), np.diff(self.starts))

    def take_rows(self, kept: NDArray[np.bool_]) -> BagLists:
        """Return the bags of some of the rows."""
        sizes = np.bincount(self.home[kept], minlength=self.n_bags)
        there = sizes > 0
        return BagLists(self.names[there], _starts(sizes[there]), self.sets, self.codes[there])

    def as_bags(self, classes: Names) -> Bags:
        """Return the bags, each whole, with their labels among these classes."""
        place = {name: column for column, name in enumerate(classes)}
        columns = [np.array(sorted(_column(name, place) for name in members or ()), np.intp) for members in self.sets]
        sizes = np.array([len(own) for own in columns], dtype=np.intp)[self.codes]
        said = np.array([members is not None for members in self.sets], dtype=bool)[self.codes]
        return Bags._make(
            names=tuple(self.names.tolist()),
            codes=self.home,
            classes=tuple(classes),
            _label_starts=_starts(sizes),
            _label_columns=np.concatenate([np.zeros(0, np.intp), *(columns[code] for code in self.codes.tolist())]),
            is_labelled=said,
            is_partial=np.zeros(self.n_bags, dtype=bool),
            whole=np.ones(self.n_bags, dtype=bool),
            _origin=None,
            demands=None,
        )


def lists_of(bags: Bags) -> BagLists:
    """Return bags in the order of their names, their rows standing together."""
    sets = tuple(dict.fromkeys(bags.labels.values()))
    code_of = {members: code for code, members in enumerate(sets)}
    codes = np.array([code_of[members] for members in bags.labels.values()], dtype=np.intp)
    return BagLists(as_names(bags.names), np.array(bags.starts, dtype=np.intp), sets, codes)


def joined_lists(lists: Sequence[BagLists | None]) -> BagLists | None:
    """Put lists one after the other; a bag that goes on in the next one is one bag."""
    there = [one for one in lists if one is not None and one.n_bags]
    if not there:
        return next((one for one in lists if one is not None), None)
    joint = there[0]
    for one in there[1:]:
        goes_on = int(joint.names[-1] == one.names[0])
        sets = tuple(dict.fromkeys([*joint.sets, *one.sets]))
        place = {members: code for code, members in enumerate(sets)}
        codes = [
            np.array([place[members] for members in part.sets], dtype=np.intp)[part.codes] for part in (joint, one)
        ]
        joint = BagLists(
            np.concatenate([joint.names, one.names[goes_on:]]),
            np.concatenate([joint.starts[:-1], one.starts[goes_on:] + joint.starts[-1]]),
            sets,
            np.concatenate([codes[0], codes[1][goes_on:]]),
        )
    return joint


def as_names(names: Sequence[Any]) -> NDArray[Any]:
    """Return names as whole numbers where all of them are, else as text."""
    if all(type(name) is int and -(2**63) <= name < 2**63 for name in names):
        return np.array(names, dtype=np.int64)
    found = np.empty(len(names), dtype=object)
    found[:] = [str(name) for name in names]
    return found


def bag_keys(names: NDArray[Any]) -> NDArray[np.uint64]:
    """Return 64 bits for each name that depend on the name alone and look drawn at random (splitmix64, BLAKE2)."""
    if names.dtype.kind in "iu":
        z = names.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)
    digests = b"".join(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def is_drawn(
    names: NDArray[Any],
    home: Ints,
    numbers: Ints,
    share: float,
    whole: int = WHOLE,
    least: NDArray[np.uint64] | None = None,
) -> NDArray[np.bool_]:
    """Say which rows belong to a sample of about this share of all rows: whole bags, and some rows of long ones.

    A bag is drawn with a probability that grows with the rows beyond ``whole``, and then so many of its rows that the
    share is kept: where a few bags have all rows, each of them is in the sample.

    Parameters
    ----------
    names : ndarray of int or object
        The name of each bag; which bags are drawn depends on it alone.
    home, numbers : ndarray of int
        The bag of each row, and the number of the row, which decides about rows of long bags.
    share : float
        The share of rows that is wanted.
    whole : int
        Rows up to which a bag is drawn as a whole or not at all; of a longer one there are at least about so many.
    least : ndarray of uint64, optional
        Keys up to which a bag is drawn whatever the share is.
    """
    sizes = np.bincount(home, minlength=len(names))
    of_bags = np.minimum(1.0, share * np.maximum(1.0, sizes / whole))
    keys = bag_keys(names)
    drawn = np.asarray((_are_low(keys, of_bags) | (False if least is None else keys <= least))[home])
    thinned = np.flatnonzero(drawn & (sizes > whole)[home])
    drawn[thinned] = _are_low(bag_keys(numbers[thinned]), (share / of_bags)[home[thinned]])
    return drawn


def _are_low(keys: NDArray[np.uint64], shares: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which keys are among the lowest shares of all possible ones."""
    return (shares >= 1.0) | (keys < (np.minimum(shares, 0.9999) * 2.0**64).astype(np.uint64))


class Sample(NamedTuple):
    """Some of all rows, bag by bag, with the numbers that they have among all rows."""

    rows: NDArray[Any]
    lists: BagLists | None
    numbers: Ints


@dataclass(frozen=True, slots=True)
class Draw:
    """Which rows are in a sample: the same ones whoever asks, and whatever files they are in.

    Short bags are in it whole or not at all, of long ones some rows; of each label there are ``EACH`` bags, where so
    many list it. ``also`` are numbers of rows that must be there, ``least`` as :func:`least_keys` says.
    """

    share: float
    whole: int = WHOLE
    least: Mapping[LabelSet, int] = field(default_factory=dict)
    also: Ints | None = None

    def kept(self, lists: BagLists | None, numbers: Ints) -> NDArray[np.bool_]:
        """Say which rows of a part are drawn."""
        if lists is None:
            drawn = is_drawn(numbers, np.arange(len(numbers)), numbers, self.share)
        else:
            least = np.array([self.least.get(members, 0) for members in lists.sets], dtype=np.uint64)[lists.codes]
            drawn = is_drawn(lists.names, lists.home, numbers, self.share, self.whole, least)
        return drawn if self.also is None else drawn | np.isin(numbers, self.also)

    def take(self, rows: NDArray[Any], lists: BagLists | None, numbers: Ints) -> Sample:
        """Return the drawn rows of a part."""
        kept = self.kept(lists, numbers)
        return Sample(rows[kept], None if lists is None else lists.take_rows(kept), numbers[kept])


def joined_samples(drawn: Sequence[Sample]) -> Sample:
    """Put what was drawn of consecutive parts together."""
    rows, numbers = (np.concatenate([getattr(one, what) for one in drawn]) for what in ("rows", "numbers"))
    return Sample(rows, joined_lists([one.lists for one in drawn]), numbers)


def least_keys(keys: NDArray[np.uint64], codes: Ints, sets: tuple[LabelSet, ...]) -> dict[LabelSet, int]:
    """Return the key up to which bags with each set are in every sample, from sorted keys and the set of each bag."""
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(sets) + 1)).tolist()
    of_label: dict[Any, list[int]] = {}
    for members, first, last in zip(sets, ends, ends[1:]):
        lowest = keys[order[first : min(last, first + EACH)]].tolist()
        for name in members or ():
            of_label.setdefault(name, []).extend(lowest)
    bound = {name: sorted(lowest)[:EACH][-1] for name, lowest in of_label.items()}
    return {members: max((bound[name] for name in members or ()), default=0) for members in sets}


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def _column(name: Hashable, place: dict[Hashable, int]) -> int:
    if name not in place:
        raise UnknownName(f"A bag lists {name!r}, which is not a known label. {nearest(name, place)}")
    return place[name]
