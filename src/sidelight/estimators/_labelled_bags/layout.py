"""Which clusters there are: so many for each class, then the novel ones, with their names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._core.params import check_number
from sidelight.errors import InvalidParameter, UnknownName, nearest


@dataclass(frozen=True, slots=True)
class Layout:
    """``class_of[k]`` is the class of cluster k, -1 for a novel one; ``names[k]`` is what users call it."""

    classes: tuple[Hashable, ...]
    class_of: np.ndarray
    names: tuple[str, ...]

    @classmethod
    def of(cls, classes: tuple[Hashable, ...], n_subclusters: int | Mapping[Any, int], n_novel: int) -> Layout:
        """Lay out clusters class by class; a lone cluster bears the name of its class."""
        counts = _counts(classes, n_subclusters)
        n_novel = n_novel if classes or n_novel else 1  # without any label there is one nameless kind
        taken = {str(c) for c in classes}
        names = [str(c) if n == 1 else _free(f"{c}/{j + 1}", taken) for c, n in zip(classes, counts) for j in range(n)]
        names += [_free(f"novel-{j + 1}", taken) for j in range(n_novel)]
        class_of = np.concatenate([np.repeat(np.arange(len(classes)), counts), np.full(n_novel, -1)]).astype(np.intp)
        return cls(classes, class_of, tuple(names))

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.class_of)

    @property
    def n_novel(self) -> int:
        """How many of them are novel."""
        return int((self.class_of < 0).sum())

    @property
    def label_names(self) -> tuple[Hashable, ...]:
        """What a row can be called: the classes, then each novel cluster."""
        return (*self.classes, *self.names[self.n_clusters - self.n_novel :])

    @property
    def has_subclusters(self) -> bool:
        """Whether a class has several clusters."""
        return len(set(self.class_of.tolist())) < self.n_clusters - max(self.n_novel - 1, 0)

    @property
    def is_symmetric(self) -> bool:
        """Whether two clusters could change places, so that a start must tell them apart."""
        return self.n_novel > 1 or self.has_subclusters

    def to_labels(self) -> np.ndarray:
        """Return the matrix (clusters x label names) that adds up the clusters of each name."""
        target = self.class_of.copy()
        target[self.class_of < 0] = len(self.classes) + np.arange(self.n_novel)
        return np.eye(len(self.label_names))[target]


def count_clusters(classes: tuple[Hashable, ...], n_subclusters: int | Mapping[Any, int], n_novel: int) -> int:
    """Return how many clusters :meth:`Layout.of` would lay out, before anything of that size is made."""
    return sum(_counts(classes, n_subclusters)) + int(n_novel)


def _counts(classes: tuple[Hashable, ...], n_subclusters: int | Mapping[Any, int]) -> list[int]:
    return [int(n_subclusters.get(c, 1) if isinstance(n_subclusters, Mapping) else n_subclusters) for c in classes]


def _free(name: str, taken: set[str]) -> str:
    """Mark a name that is already the label of a bag: "novel-1" must not be mistaken for one of the user's."""
    while name in taken:
        name += "'"
    return name


def check_counts(owner: object, n_subclusters: Any, n_novel: Any) -> None:
    """Refuse counts that are neither whole numbers nor "auto"."""
    wanted = '"auto", an int >= 1, or a mapping from labels to such numbers'
    if isinstance(n_subclusters, Mapping):
        for name, count in n_subclusters.items():
            check_number(owner, f"n_subclusters[{name!r}]", count, integer=True, low=1)
    elif isinstance(n_subclusters, str):
        if n_subclusters != "auto":
            raise InvalidParameter(
                f"The 'n_subclusters' parameter of {type(owner).__name__} must be {wanted}. Got {n_subclusters!r}."
            )
    else:
        check_number(owner, "n_subclusters", n_subclusters, integer=True, low=1)
    if not (isinstance(n_novel, str) and n_novel == "auto"):
        check_number(owner, "n_novel", n_novel, integer=True, low=0, advice='It may also be "auto".')


def check_names(n_subclusters: Any, classes: tuple[Hashable, ...]) -> None:
    """Refuse sub-clusters of a label that no bag lists."""
    for name in n_subclusters if isinstance(n_subclusters, Mapping) else ():
        if name not in classes:
            raise UnknownName(f"n_subclusters names the label {name!r}, which no bag lists. {nearest(name, classes)}")
