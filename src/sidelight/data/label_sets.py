"""Label sets of bags as arrays, and the sets that are made of other sets.

The sets are two arrays, those of a CSR matrix of bags x classes, with a flag for each bag that was given a set at all:
an empty set is an answer ("none of the known labels"), a missing one is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.data.names import Names
from sidelight.errors import UnknownName, nearest

Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


class LabelSets(NamedTuple):
    """What was said about the labels of each bag."""

    classes: Names
    starts: Places  # the labels of bag b are columns[starts[b]:starts[b + 1]]
    columns: Places  # positions in classes, ascending within a bag, each once
    is_labelled: Flags

    @property
    def bags(self) -> Places:
        """The bag that each of ``columns`` belongs to."""
        return np.repeat(np.arange(len(self.is_labelled)), np.diff(self.starts))


def gathered(bags: Any, columns: Any, classes: Names, is_labelled: Flags) -> LabelSets:
    """Return label sets of these (bag, position in classes) pairs, in any order; one that comes twice counts once."""
    n_classes = max(len(classes), 1)
    keys = np.unique(np.asarray(bags, dtype=np.intp) * n_classes + np.asarray(columns, dtype=np.intp))
    sizes = np.bincount(keys // n_classes, minlength=len(is_labelled))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return LabelSets(classes, starts, (keys % n_classes).astype(np.intp), is_labelled)


def taken(sets: LabelSets, bags: Places) -> LabelSets:
    """Return the label sets of these bags, in this order."""
    sizes = np.diff(sets.starts)[bags]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    places = np.arange(starts[-1]) + np.repeat(sets.starts[bags] - starts[:-1], sizes)
    return LabelSets(sets.classes, starts, sets.columns[places], sets.is_labelled[bags])


def in_classes(sets: LabelSets, classes: Names) -> LabelSets:
    """Return the same label sets with other columns; a label that is used must be among them."""
    column_of = {name: column for column, name in enumerate(classes)}
    for column in np.unique(sets.columns).tolist():
        if sets.classes[column] not in column_of:
            lost = sets.classes[column]
            raise UnknownName(f"Bags: some bag has the label {lost!r}, which is not a class. {nearest(lost, classes)}")
    moved = np.array([column_of.get(name, -1) for name in sets.classes], dtype=np.intp)
    return gathered(sets.bags, moved[sets.columns], classes, sets.is_labelled)


def without_bags(sets: LabelSets, forget: Flags) -> LabelSets:
    """Return the label sets with these bags unlabelled; the classes stay known."""
    kept = ~forget[sets.bags]
    return gathered(sets.bags[kept], sets.columns[kept], sets.classes, sets.is_labelled & ~forget)


def without_classes(sets: LabelSets, drop: Flags) -> LabelSets:
    """Return the label sets without these classes; a set that becomes empty stays a set."""
    classes = tuple(name for name, dropped in zip(sets.classes, drop) if not dropped)
    stays = ~drop[sets.columns]
    columns = (np.cumsum(~drop) - 1)[sets.columns[stays]]
    return gathered(sets.bags[stays], columns, classes, sets.is_labelled)


def are_sets(starts: Places, columns: Places, n_bags: int, n_classes: int) -> bool:
    """Say whether these are the starts and columns of a CSR matrix of bags x classes."""
    return (
        len(starts) == n_bags + 1
        and starts[0] == 0
        and starts[-1] == len(columns)
        and bool(np.all(np.diff(starts) >= 0))
        and bool(np.all((columns >= 0) & (columns < n_classes)))
    )
