"""People seen in sequences through four channels of different strength, after [B04] 4.2.

The recordings of the thesis are not public; its counts of subjects, sequences and points are kept exactly and its story
is imitated. A sequence is one person on one day. Faces belong to a person but change with the day's light and pose;
jackets come from a person's small wardrobe, so days share them; trousers come from a few shades that people share;
height is one number with a camera's error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_generator, check_number
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.errors import UnknownName, nearest

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

# [B04] 4.3.1 and 4.3.5: subjects -> (sequences, points).
PRESETS = {10: (32, 19_136), 5: (27, 7_379), 3: (13, 3_610)}
_SEQUENCES_EACH, _POINTS_EACH = 4, 600  # about what the presets have, for any other number of subjects
_SHORTEST = 20  # points in a sequence; the thesis' shortest has about 100
_N_COMPONENTS = 30  # [B04] 4.3.2 keeps 30 principal components of each picture

# How much people, days and moments differ, in units of the noise of one component (height: in cm). Chosen so that faces
# alone go wrong by tens of per cent and faces with upper bodies by a few, as in [B04] tables 4.1 and 4.2.
_FACE_SPREAD, _LIGHT = 0.9, 0.5
_N_POSES, _POSE_OF_DAY, _POSE_OF_MOMENT = 3, 2.2, 2.0
_N_JACKETS, _JACKET_SPREAD, _DRAPE = 2, 1.0, 0.2
_N_JEANS, _JEANS_SPREAD, _FAVOURITE = 12, 0.8, 0.75
_HEIGHT, _HEIGHT_SPREAD, _HEIGHT_NOISE, _CALIBRATION = 173.0, 9.0, 1.5, 0.5


@dataclass(frozen=True, slots=True, repr=False)
class Sources:
    """What :func:`make_sources` drew.

    Attributes
    ----------
    channels : dict of str to ndarray
        ``"face"``, ``"upper"`` and ``"lower"`` with 30 columns each, ``"height"`` with one; one row per point.
    sequences : ndarray of intp
        The sequence of each point, 0 on.
    subjects : ndarray of intp
        The truth: the person of each point.
    corrupted : ndarray of bool
        Points whose measurements were replaced by others' or by noise; ``subjects`` keeps the sequence's person.
    """

    channels: dict[str, Floats]
    sequences: Codes
    subjects: Codes
    corrupted: NDArray[np.bool_]

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return len(self.sequences)

    @property
    def n_sequences(self) -> int:
        """How many sequences there are."""
        return int(self.sequences.max()) + 1

    @property
    def n_subjects(self) -> int:
        """How many people there are."""
        return int(self.subjects.max()) + 1

    def prototypes(self, channel: str) -> Floats:
        """Return the mean of each sequence in one channel: the code book of [B04] 4.3.3."""
        X = self._channel(channel)
        sums = np.zeros((self.n_sequences, X.shape[1]))
        np.add.at(sums, self.sequences, X)
        return sums / np.bincount(self.sequences)[:, None]

    def codes(self, channel: str) -> Codes:
        """Return the nearest prototype of each point: its code, whatever sequence it is from."""
        X, C = self._channel(channel), self.prototypes(channel)
        return np.asarray(np.argmin(np.einsum("kd,kd->k", C, C) - 2 * X @ C.T, axis=1), dtype=np.intp)

    def cooccurrence(self, *names: str) -> CoOccurrence:
        """Return the counts of codes seen together, over the named channels (all by default)."""
        sizes = dict.fromkeys(names or self.channels, self.n_sequences)
        return CoOccurrence.from_codes({name: self.codes(name) for name in sizes}, sizes=sizes)

    def _channel(self, name: str) -> Floats:
        if name not in self.channels:
            raise UnknownName(f"There is no channel {name!r}. {nearest(name, self.channels)}")
        return self.channels[name]

    def __repr__(self) -> str:
        spoiled = f", {int(self.corrupted.sum())} corrupted" if self.corrupted.any() else ""
        return (
            f"Sources({self.n_points} points in {self.n_sequences} sequences of {self.n_subjects} subjects{spoiled}; "
            f"channels {', '.join(self.channels)})"
        )


def make_sources(
    n_subjects: int = 10,
    *,
    n_sequences: int | None = None,
    n_points: int | None = None,
    noise: float = 1.0,
    corruption: float | int = 0.0,
    random_state: Any = None,
) -> Sources:
    """Draw people seen in sequences through the channels face, upper, lower and height.

    Parameters
    ----------
    n_subjects : int
        With 10, 5 and 3 the other two default to the thesis' sets: 32 sequences and 19,136 points, 27 and 7379,
        13 and 3610.
    n_sequences, n_points : int, optional
        Sequences (at least one per subject) and points (at least 20 per sequence).
    noise : float
        Scale of the measurement error of all channels; 0 leaves what differs between people, days and clothes.
    corruption : float or int
        Share (float, at most 1) or number (int) of points whose channels show another person or noise, as in [B04]
        4.5, where 1094 of 19,136 points did.
    random_state : int, RandomState, Generator or None
        The seed.

    Returns
    -------
    Sources
        With ``channels``, ``sequences``, ``subjects`` and ``corrupted``.

    Examples
    --------
    >>> import sidelight as sl
    >>> sl.data.make_sources(3, random_state=0)
    Sources(3610 points in 13 sequences of 3 subjects; channels face, upper, lower, height)
    """
    n_sequences, n_points = _sizes(n_subjects, n_sequences, n_points)
    check_number("make_sources", "noise", noise, low=0)
    n_corrupted = _n_corrupted(corruption, n_points)
    rng = as_generator(random_state)

    person = np.sort(np.concatenate([np.arange(n_subjects), rng.integers(n_subjects, size=n_sequences - n_subjects)]))
    person = rng.permutation(person)
    lengths = _lengths(n_sequences, n_points, rng)
    sequences = np.repeat(np.arange(n_sequences), lengths)
    people = _People(n_subjects, rng)
    channels = people.seen(person, sequences, noise, rng)

    corrupted = np.zeros(n_points, dtype=bool)
    corrupted[rng.choice(n_points, n_corrupted, replace=False)] = True
    if n_corrupted:
        _corrupt(channels, corrupted, noise, rng)
    return Sources(channels, sequences, person[sequences].astype(np.intp), corrupted)


class _People:
    """Faces, wardrobes and heights of ``n`` people; ``seen`` measures them. Lengths are in units of face noise."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.face = rng.normal(size=(n, _N_COMPONENTS)) * _FACE_SPREAD
        self.pose = np.linalg.qr(rng.normal(size=(_N_COMPONENTS, _N_POSES)))[0].T  # the same head turns for all people
        self.jackets = rng.normal(size=(n, _N_JACKETS, _N_COMPONENTS)) * _JACKET_SPREAD
        self.jeans = rng.normal(size=(_N_JEANS, _N_COMPONENTS)) * _JEANS_SPREAD
        self.own_jeans = rng.integers(_N_JEANS, size=(n, 2))
        self.height = rng.normal(_HEIGHT, _HEIGHT_SPREAD, size=n)

    def seen(self, person: Codes, sequences: Codes, noise: float, rng: np.random.Generator) -> dict[str, Floats]:
        """Measure ``person[s]`` throughout each sequence ``s``."""
        n, shape = len(person), (len(sequences), _N_COMPONENTS)
        pose = rng.normal(size=(n, _N_POSES))[sequences] * _POSE_OF_DAY
        pose += noise * rng.normal(size=(len(sequences), _N_POSES)) * _POSE_OF_MOMENT
        light = rng.normal(size=(n, _N_COMPONENTS)) * _LIGHT
        jacket = self.jackets[person, rng.integers(_N_JACKETS, size=n)]
        jeans = self.jeans[self.own_jeans[person, (rng.random(n) > _FAVOURITE).astype(np.intp)]]
        of_day = {
            "face": self.face[person] + light,
            "upper": jacket + rng.normal(size=jacket.shape) * _DRAPE,
            "lower": jeans + rng.normal(size=jeans.shape) * _DRAPE,
        }
        channels = {name: X[sequences] + noise * rng.normal(size=shape) for name, X in of_day.items()}
        channels["face"] += pose @ self.pose
        height = self.height[person] + rng.normal(size=n) * _CALIBRATION
        channels["height"] = (height[sequences] + noise * rng.normal(size=len(sequences)) * _HEIGHT_NOISE)[:, None]
        return channels


def _corrupt(channels: dict[str, Floats], corrupted: NDArray[np.bool_], noise: float, rng: np.random.Generator) -> None:
    """Show passers-by in half of the corrupted points and patches of rug in the others, as in [B04] 4.5."""
    where = rng.permutation(np.flatnonzero(corrupted))
    strangers, spurious = np.array_split(where, 2)
    n_strangers = max(1, len(strangers) // 50)
    others = _People(n_strangers, rng)
    seen = others.seen(np.arange(n_strangers), rng.integers(n_strangers, size=len(strangers)), noise, rng)
    for name, X in channels.items():
        X[strangers] = seen[name]
        mean, spread = X.mean(axis=0), X.std(axis=0)
        X[spurious] = mean + 2 * spread * rng.normal(size=(len(spurious), X.shape[1]))


def _sizes(n_subjects: int, n_sequences: int | None, n_points: int | None) -> tuple[int, int]:
    check_number("make_sources", "n_subjects", n_subjects, integer=True, low=1)
    preset = PRESETS.get(n_subjects, (_SEQUENCES_EACH * n_subjects, _POINTS_EACH * n_subjects))
    if n_sequences is None:
        n_sequences = preset[0]
    check_number("make_sources", "n_sequences", n_sequences, integer=True, low=n_subjects)
    if n_points is None:
        n_points = max(preset[1], _SHORTEST * n_sequences)
    check_number("make_sources", "n_points", n_points, integer=True, low=_SHORTEST * n_sequences)
    return n_sequences, n_points


def _n_corrupted(corruption: float | int, n_points: int) -> int:
    if isinstance(corruption, (int, np.integer)) and not isinstance(corruption, bool):
        check_number("make_sources", "corruption", corruption, integer=True, low=0, high=n_points)
        return int(corruption)
    check_number("make_sources", "corruption", corruption, low=0, high=1)
    return round(float(corruption) * n_points)


def _lengths(n_sequences: int, n_points: int, rng: np.random.Generator) -> Codes:
    """Share out the points: each sequence gets the shortest length and a skewed part of the rest."""
    share = rng.gamma(2.0, size=n_sequences)  # the thesis' longest sequences are about 15 times its shortest
    spare = n_points - _SHORTEST * n_sequences
    ends = np.floor(np.cumsum(share) / share.sum() * spare).astype(np.intp)
    ends[-1] = spare
    return _SHORTEST + np.diff(ends, prepend=0)
