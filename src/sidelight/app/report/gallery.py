"""Rows to look at: the typical, doubtful and novel members of every cluster, with what there is to see or hear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Media:
    """One thing to show, small enough for a page.

    Attributes
    ----------
    kind : str
        ``"image"``, ``"sound"`` or ``"text"``.
    uri : str
        The image or sound itself, as a ``data:`` address.
    picture : str
        The spectrogram of a sound, as a ``data:`` address; empty when there is none.
    text : str
        An excerpt; of a sound, what its spectrogram spans.
    is_tiny : bool
        Whether an image has so few pixels that they should be seen.
    large : str
        A larger copy of an image, as a ``data:`` address, for pages that load it when it is asked for.
    """

    kind: str
    uri: str = ""
    picture: str = ""
    text: str = ""
    is_tiny: bool = False
    large: str = ""

    @property
    def size(self) -> int:
        """Bytes that it takes on a page."""
        return len(self.uri) + len(self.picture) + len(self.text) + len(self.large)


@dataclass(frozen=True, slots=True)
class Profile:
    """A row's values against its cluster, in standard deviations from the mean of all rows."""

    features: Sequence[str]
    row: Sequence[float]
    mean: Sequence[float]
    spread: Sequence[float]


@dataclass(frozen=True, slots=True)
class Member:
    """One row: its name, its bag, why it is here, and what to show of it."""

    name: str
    bag: str = ""
    why: str = ""
    media: Media | None = None
    profile: Profile | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A cluster: its number and name, how many rows it has, and members by kind (typical, doubtful, novel)."""

    number: int
    name: str
    size: int
    members: Mapping[str, Sequence[Member]]


@dataclass(frozen=True, eq=False)
class Gallery:
    """Groups of members, and notes about what could not be shown."""

    groups: Sequence[Group]
    notes: Sequence[str] = field(default_factory=tuple)
    what: str = "row"
