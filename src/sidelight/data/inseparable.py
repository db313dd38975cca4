"""Labels that lists cannot tell apart: two that always come together, or one that is on every list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.data.bags import Bags
from sidelight.words import counted, some_of

_FEWEST = 20  # lists: among fewer, labels come together by chance
_MOST_TOLD = 5  # groups that a sentence names: thousands of them once made a warning of a megabyte


@dataclass(frozen=True)
class Inseparable:
    """What the lists of bags leave open.

    Attributes
    ----------
    together : tuple of tuple
        Groups of labels that are on the same lists: which row carries which of them is anybody's guess.
    everywhere : tuple
        Labels that are on every list: no list says what the rows would be like without them.
    """

    together: tuple[tuple[Any, ...], ...] = ()
    everywhere: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.together or self.everywhere)

    def sentences(self) -> list[str]:
        """Say it with the names of the labels."""
        told = [
            f"the labels {some_of(repr(str(name)) for name in group)} always come together, so no list says which "
            "rows carry which of them"
            for group in self.together[:_MOST_TOLD]
        ]
        if len(self.together) > _MOST_TOLD:
            told.append(f"so do the labels of {counted(len(self.together) - _MOST_TOLD, 'further group')}")
        if self.everywhere:
            names = some_of(repr(str(name)) for name in self.everywhere)
            told.append(f"{names} is on every list, so no list says what rows without it are like")
        return told


def inseparable_labels(bags: Bags) -> Inseparable:
    """Find labels that the lists cannot tell apart.

    Parameters
    ----------
    bags : Bags
        Bags, some of them labelled.
    """
    n_lists = int(np.count_nonzero(bags.is_labelled))
    if n_lists < _FEWEST or bags.n_classes < 2 or bags.counts_rows:
        return Inseparable()  # numbers tell apart what always comes together
    groups: dict[bytes, list[Any]] = {}
    everywhere = []
    for name, on in zip(bags.classes, bags.bags_of_labels()):
        if not len(on):
            continue
        if len(on) == n_lists:
            everywhere.append(name)
        groups.setdefault(on.tobytes(), []).append(name)
    return Inseparable(tuple(tuple(group) for group in groups.values() if len(group) > 1), tuple(everywhere))
