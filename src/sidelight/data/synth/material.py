"""Made-up recordings, photographs and letters with their truth: to try `from a folder to named rows` on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_generator, check_number

RATE = 22_050  # samples a second of a made recording
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Recording:
    """Samples from -1 to 1, and the truth: (start, end, species) of every call, in seconds."""

    samples: Floats
    calls: tuple[tuple[float, float, str], ...]

    @property
    def species(self) -> frozenset[str]:
        """Who calls in it: the list that goes with the recording."""
        return frozenset(name for _, _, name in self.calls)

    def caller(self, start: float, end: float) -> str:
        """Return who calls longest between two seconds; empty where nobody does."""
        shared = [(min(end, last) - max(start, first), name) for first, last, name in self.calls]
        longest, name = max(shared, default=(0.0, ""))
        return name if longest > 0 else ""


@dataclass(frozen=True, slots=True)
class Photograph:
    """Pixels (height x width x 3), and the truth: the kind of every pixel as a number of ``kinds``."""

    pixels: NDArray[np.uint8]
    kind_of: NDArray[np.intp]
    kinds: tuple[str, ...]

    @property
    def tags(self) -> frozenset[str]:
        """What is on it: the kinds that fill a hundredth of it or more."""
        shares = np.bincount(self.kind_of.ravel(), minlength=len(self.kinds)) / self.kind_of.size
        return frozenset(kind for kind, share in zip(self.kinds, shares.tolist()) if share >= 0.01)


@dataclass(frozen=True, slots=True)
class Letter:
    """A text, what it is about, and the number of the box that it lies in."""

    text: str
    topic: str
    box: int


def make_recordings(
    n_recordings: int = 40, *, seconds: float = 8.0, overlapping: float = 0.0, random_state: Any = None
) -> list[Recording]:
    """Draw recordings of made-up birds: each species has a call of its own, each recording two to four species.

    Parameters
    ----------
    n_recordings : int, default=40
        How many.
    seconds : float, default=8.0
        How long each is.
    overlapping : float, default=0.0
        Probability that a call begins before the one before it has ended.
    random_state : int, Generator or None, default=None
        Where the randomness comes from.
    """
    check_number("make_recordings", "n_recordings", n_recordings, low=1, integer=True)
    check_number("make_recordings", "seconds", seconds, low=1.0)
    check_number("make_recordings", "overlapping", overlapping, low=0.0, high=1.0)
    generator = as_generator(random_state)
    return [_recording(seconds, overlapping, generator) for _ in range(n_recordings)]


def _recording(seconds: float, overlapping: float, generator: np.random.Generator) -> Recording:
    n = int(seconds * RATE)
    sound, calls, at = np.zeros(n), [], 0.3
    present = generator.choice(list(_CALLS), size=int(generator.integers(2, 5)), replace=False).tolist()
    names = [*present, *generator.choice(present, size=12).tolist()]
    for name in names:
        call = _CALLS[name](generator)
        call = call * np.hanning(len(call)) ** 0.3 * generator.uniform(0.5, 1.0)
        length = len(call) / RATE
        if at + length > seconds - 0.2:
            break
        first = int(at * RATE)
        sound[first : first + len(call)] += call
        calls.append((at, at + length, name))
        is_early = overlapping > 0 and generator.random() < overlapping
        at += length * generator.uniform(0.1, 0.6) if is_early else length + generator.uniform(0.25, 0.6)
    noise = np.cumsum(generator.normal(size=n)) if generator.random() < 0.5 else generator.normal(size=n)
    noise = noise - np.convolve(noise, np.ones(200) / 200, mode="same")
    sound = 0.5 * sound + 0.02 * noise / noise.std()
    return Recording(sound / max(1.0, float(np.abs(sound).max())), tuple(calls))


def _tone(pitch: Floats) -> Floats:
    return np.asarray(np.sin(2 * np.pi * np.cumsum(pitch) / RATE))


def _times(low: float, high: float, generator: np.random.Generator) -> Floats:
    return np.linspace(0, 1, int(generator.uniform(low, high) * RATE))


def _wren(generator: np.random.Generator) -> Floats:
    t = _times(0.35, 0.5, generator)
    return _tone(5200 + 500 * np.sign(np.sin(2 * np.pi * 14 * t)) * np.ones_like(t))


def _owl(generator: np.random.Generator) -> Floats:
    t = _times(0.4, 0.6, generator)
    return _tone(420 + 40 * np.sin(np.pi * t)) + 0.3 * _tone(840 + 80 * np.sin(np.pi * t))


def _thrush(generator: np.random.Generator) -> Floats:
    t = _times(0.2, 0.3, generator)
    return _tone(1800 + 1400 * t)


def _swift(generator: np.random.Generator) -> Floats:
    t = _times(0.25, 0.4, generator)
    return _tone(7500 - 2500 * t) * (0.6 + 0.4 * np.sin(2 * np.pi * 60 * t))


def _crow(generator: np.random.Generator) -> Floats:
    t = _times(0.25, 0.35, generator)
    buzz = sum(_tone(np.full_like(t, 550.0 * k)) / k for k in range(1, 6))
    return np.asarray(0.5 * buzz + 0.2 * generator.normal(size=len(t)))


_CALLS: Mapping[str, Callable[[np.random.Generator], Floats]] = {
    "wren": _wren,
    "owl": _owl,
    "thrush": _thrush,
    "swift": _swift,
    "crow": _crow,
}


def make_photographs(n_photographs: int = 60, *, random_state: Any = None) -> list[Photograph]:
    """Draw photographs of made-up places: bands and blobs of sky, water, grass, sand, brick and flowers.

    Parameters
    ----------
    n_photographs : int, default=60
        How many.
    random_state : int, Generator or None, default=None
        Where the randomness comes from.
    """
    check_number("make_photographs", "n_photographs", n_photographs, low=1, integer=True)
    generator = as_generator(random_state)
    return [_photograph(generator) for _ in range(n_photographs)]


def _photograph(generator: np.random.Generator, height: int = 120, width: int = 160) -> Photograph:
    kinds = tuple(_SURFACES)
    kind_of = np.empty((height, width), dtype=np.intp)
    down, across = np.mgrid[:height, :width]
    top, low = generator.choice(len(kinds), size=2, replace=False)
    line = height * generator.uniform(0.35, 0.6) + 6 * np.sin(across / generator.uniform(12, 30))
    kind_of[:] = np.where(down < line, top, low)
    for _ in range(int(generator.integers(1, 3))):
        blob = int(generator.integers(len(kinds)))
        y, x, size = generator.uniform(0, height), generator.uniform(0, width), generator.uniform(18, 34)
        kind_of[(down - y) ** 2 + 0.6 * (across - x) ** 2 < size**2] = blob
    light = generator.uniform(0.8, 1.15)
    pixels = np.zeros((height, width, 3))
    for k, kind in enumerate(kinds):
        surface = _SURFACES[kind](down, across, generator)
        pixels[kind_of == k] = surface[kind_of == k]
    return Photograph(np.clip(pixels * light, 0, 255).astype(np.uint8), kind_of, kinds)


def _painted(colour: Sequence[float], texture: Any) -> Floats:
    return np.asarray(np.array(colour, dtype=float) + np.asarray(texture)[..., None])


def _sky(down: Any, across: Any, generator: np.random.Generator) -> Floats:
    return _painted((135, 180, 235), 0.15 * down + 2 * generator.normal(size=down.shape))


def _water(down: Any, across: Any, generator: np.random.Generator) -> Floats:
    return _painted((40, 90, 130), 14 * np.sin(down / 2.2 + np.sin(across / 9)) + 4 * generator.normal(size=down.shape))


def _grass(down: Any, across: Any, generator: np.random.Generator) -> Floats:
    return _painted((70, 130, 45), 24 * generator.normal(size=down.shape))


def _sand(down: Any, across: Any, generator: np.random.Generator) -> Floats:
    return _painted((215, 190, 140), 7 * generator.normal(size=down.shape))


def _brick(down: Any, across: Any, generator: np.random.Generator) -> Floats:
    joints = (down % 8 < 1) | ((across + 8 * ((down // 8) % 2)) % 16 < 1)
    return _painted((165, 80, 60), 60 * joints + 6 * generator.normal(size=down.shape))


def _flowers(down: Any, across: Any, generator: np.random.Generator) -> Floats:
    dots = np.sin(across / 2.0) * np.sin(down / 2.0) > 0.3
    surface = _painted((60, 110, 50), 10 * generator.normal(size=down.shape))
    surface[dots] = np.array([225, 70, 150]) + 12 * generator.normal(size=(int(dots.sum()), 1))
    return surface


_SURFACES: Mapping[str, Callable[[Any, Any, np.random.Generator], Floats]] = {
    "sky": _sky,
    "water": _water,
    "grass": _grass,
    "sand": _sand,
    "brick": _brick,
    "flowers": _flowers,
}

_WORDS: Mapping[str, str] = {
    "harbour": "ship cargo captain dock anchor sailor tide rope freight mast deck crane pilot harbour quay vessel",
    "garden": "rose apple seed bloom pruning orchard soil pear hedge tulip compost greenhouse bulb vine gardener lawn",
    "school": "pupil lesson teacher exam slate reading grammar class holiday book chalk spelling master homework bell",
    "music": "violin choir concert organ hymn rehearsal piano song tenor orchestra score conductor melody flute drum",
}
_COMMON = "dear we have received your letter and thank you for it please send word soon with kind regards yours truly"


def make_letters(n_boxes: int = 30, *, random_state: Any = None) -> list[Letter]:
    """Draw letters in boxes: a letter is about one of four topics, a box holds three to six letters on one to three.

    Parameters
    ----------
    n_boxes : int, default=30
        How many boxes.
    random_state : int, Generator or None, default=None
        Where the randomness comes from.
    """
    check_number("make_letters", "n_boxes", n_boxes, low=1, integer=True)
    generator = as_generator(random_state)
    letters = []
    for box in range(1, n_boxes + 1):
        present = generator.choice(list(_WORDS), size=int(generator.integers(1, 4)), replace=False).tolist()
        topics = [*present, *generator.choice(present, size=max(0, int(generator.integers(3, 7)) - len(present)))]
        letters += [Letter(_letter(str(topic), generator), str(topic), box) for topic in topics]
    return letters


def _letter(topic: str, generator: np.random.Generator) -> str:
    words = [*generator.choice(_COMMON.split(), size=30).tolist()]
    words += generator.choice(_WORDS[topic].split(), size=int(generator.integers(15, 30))).tolist()
    generator.shuffle(words)
    return "\n".join(" ".join(words[i : i + 11]).capitalize() + "." for i in range(0, len(words), 11)) + "\n"
