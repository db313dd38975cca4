"""One recording cut into sounds, and 107 readable numbers about each.

All of it happens on the mel grid: mean power in 64 bands between 100 Hz and half the folder's rate, every 10 ms, in
decibels. Files of other rates need no resampling: the bands are the same Hertz whatever the rate of a file. A grid of
ten hours would take a gigabyte, so a long recording is worked through in stretches, each with its own noise floor, that
end where it is quiet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft, ndimage

from sidelight.errors import MissingExtra, UnreadableFile

Floats = NDArray[np.float64]
HOP = 0.01  # seconds between frames
_WINDOW = 0.032  # seconds of a frame
_BANDS = 64
_LOWEST = 100.0  # Hertz: below it lie wind and handling
HIGHEST_RATE = 22_050  # samples a second that a folder is worked with at most
_DEAFEST = 0.7  # share of the folder's rate that a recording must have
_STRETCH = 600.0  # seconds whose grid is held at once
_SILENCE = 1e-10  # power that is added before the logarithm: digital silence is -100 dB

_FLOOR = 0.2  # quantile of a band's frames that is its noise
_LOUD_BANDS = 0.15  # share of the bands whose mean says how loud a frame is: a call fills few of them
_OVER, _REACHES = 3.0, 6.0  # decibels over the floor that a sound has throughout, and somewhere
_GAP, _SHORTEST, _LONGEST = 0.05, 0.05, 2.0  # seconds
_CEILING = 40.0  # decibels over the floor that count: what is louder is near, not different
_PRESENT = 9.0  # decibels over the floor from which a cell of the grid belongs to the sound


@dataclass(frozen=True, slots=True)
class Sound:
    """One piece of a recording: seconds from its beginning, and its features."""

    start: float
    end: float
    features: Floats


@dataclass(frozen=True, slots=True)
class SoundRecipe:
    """How a folder of recordings is cut; new recordings are cut by the same one.

    Attributes
    ----------
    rate : int
        Samples a second that the bands end at (half of it, in Hertz).
    cut : str
        ``"time"``: pieces of time in which something is heard; ``"masks"``: connected patches of the grid, so that
        calls which overlap in time at different pitch are told apart.
    whole : bool
        One row a recording instead: a collection of clips that hold one sound each.
    """

    rate: int = HIGHEST_RATE
    cut: str = "time"
    whole: bool = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        edges = _band_edges(self.rate)
        bands = [f"{edges[4 * b]:.0f}-{edges[4 * b + 5]:.0f} Hz" for b in range(_BANDS // 4)]
        of_bands = ("mean", "spread", "beginning", "middle", "end")
        return (*_SHAPE, *(f"{what} {band}" for what in of_bands for band in bands))


_SHAPE = (
    "log duration", "lowest band", "highest band", "bandwidth", "peak band", "mean band", "spread over bands",
    "skewness over bands", "kurtosis over bands", "concentration over bands", "entropy over bands", "peak time",
    "mean time", "spread over time", "skewness over time", "kurtosis over time", "concentration over time",
    "entropy over time", "log area", "edge share", "edge length", "filled share", "loudest", "loudness", "pitch spread",
    "pitch rise", "change",
)  # fmt: skip


def rate_of(path: Path) -> int:
    """Return the samples a second of a recording, from its header."""
    return int(_opened(path).samplerate)


def seconds_of(path: Path) -> float:
    """Return how long a recording is, from its header."""
    with _opened(path) as file:
        return len(file) / max(int(file.samplerate), 1)


def samples_of(path: Path, begin: float, end: float) -> tuple[NDArray[np.float32], int]:
    """Return the samples between two seconds of a recording, channels averaged, and how many a second they are."""
    with _opened(path) as file:
        rate = int(file.samplerate)
        first = min(max(round(begin * rate), 0), max(len(file), 0))
        _seek(path, file, first)
        return _read(path, file, max(round(end * rate) - first, 1)).mean(axis=1), rate


def cut_recording(path: Path, recipe: SoundRecipe) -> list[Sound]:
    """Return the sounds of a recording, in order.

    Parameters
    ----------
    path : Path
        WAV, FLAC, OGG, MP3 or AIFF; channels are averaged.
    recipe : SoundRecipe
        How to cut.
    """
    if recipe.whole:
        end = min(seconds_of(path), _STRETCH)
        return [Sound(0.0, end, describe_piece(path, recipe, 0.0, end))]
    return [sound for begin, grid in _stretches(path, recipe.rate) for sound in _sounds_of(begin, grid, recipe)]


def cut_samples(samples: Floats, rate: int, recipe: SoundRecipe) -> list[Sound]:
    """Return the sounds of samples in hand, at ``rate`` samples a second: at most some minutes."""
    return _sounds_of(0.0, mel_grid(np.asarray(samples, dtype=np.float32), rate, recipe.rate), recipe)


def _sounds_of(begin: float, grid: NDArray[np.float32], recipe: SoundRecipe) -> list[Sound]:
    loud, level = _over_floor(grid)
    pieces = _pieces_of_time(loud) if recipe.cut == "time" else _patches(loud)
    return [
        Sound(begin + first * HOP, begin + last * HOP, features_of(level[:, first:last], mask))
        for first, last, mask in pieces
    ]


def describe_piece(path: Path, recipe: SoundRecipe, start: float, end: float) -> Floats:
    """Return the features of a piece that was cut elsewhere: seconds from the beginning of the recording."""
    first = max(0.0, start - _STRETCH / 2)
    for begin, grid in _stretches(path, recipe.rate, first=first, until=max(end, start + _STRETCH / 2)):
        n_frames = grid.shape[1]
        i, j = round((start - begin) / HOP), round((end - begin) / HOP)
        if i >= n_frames:
            continue
        _, level = _over_floor(grid)
        i = max(i, 0)
        return features_of(level[:, i : max(min(j, n_frames), i + 1)], None)
    raise UnreadableFile(f"{path}: the recording ends before second {start:g}. Check the times of the selection.")


def common_rate(rates: Sequence[int]) -> int:
    """Return the rate that recordings are worked with: the lowest, up to 22.05 kHz, unless it is far below the others'.

    A single recording of a telephone among others would make all of them deaf to high voices; it is left out instead.
    """
    usual = sorted(rates)[len(rates) // 2] if rates else HIGHEST_RATE
    return min([HIGHEST_RATE, *(rate for rate in rates if rate >= usual / 2)])


def _stretches(
    path: Path, rate: int, *, first: float = 0.0, until: float = np.inf
) -> Iterator[tuple[float, NDArray[np.float32]]]:
    """Yield the second at which each stretch begins, and its mel grid; a stretch ends at a quiet frame."""
    with _opened(path) as file:
        own = int(file.samplerate)
        if not 100 <= own <= 10_000_000:
            raise UnreadableFile(f"{path}: {own} samples a second cannot be. The file is damaged.")
        if own < _DEAFEST * rate:
            raise UnreadableFile(
                f"{path}: {own} samples a second, and the others are heard at {rate}: it holds no high sounds. "
                f"Say rate {own} to hear all of them as this one."
            )
        if first:
            _seek(path, file, min(round(first * own), max(len(file), 0)))
        begin, kept = first, np.zeros(0, np.float32)
        while begin < until:
            samples = _read(path, file, round(_STRETCH * own) - len(kept))
            is_last = len(samples) < round(_STRETCH * own) - len(kept)
            sound = np.concatenate([kept, samples.mean(axis=1)]) if samples.size else kept
            if sound.size:
                if not np.isfinite(sound).all():
                    raise UnreadableFile(f"{path}: holds samples that are no numbers. Save the recording again.")
                grid = mel_grid(sound, own, rate)
                if is_last or grid.shape[1] < 4 * round(_LONGEST / HOP):
                    yield begin, grid
                    return
                tail = round(_LONGEST / HOP)
                quiet = grid.shape[1] - tail + int(grid[:, -tail:].sum(axis=0).argmin())
                yield begin, grid[:, :quiet]
                kept = sound[round(quiet * HOP * own) :]
                begin += quiet * HOP
            if is_last:
                return


def mel_grid(sound: NDArray[np.float32], own: int, rate: int) -> NDArray[np.float32]:
    """Return mean power in mel bands, of shape (bands, frames), of samples at the rate ``own``."""
    n, hop = max(round(_WINDOW * own), 4), HOP * own
    size = max(256, fft.next_fast_len(n, real=True))
    window = np.hanning(n + 2)[1:-1].astype(np.float32)
    padded = np.pad(sound - sound.mean(), (n // 2, n))  # an offset would be a click at both ends
    frames = np.lib.stride_tricks.sliding_window_view(padded, n)
    starts = np.minimum((np.arange(max(1, int(np.ceil(sound.size / hop)))) * hop).astype(np.intp), len(frames) - 1)
    bank = _mel_bank(own, size, rate)
    grid = np.empty((_BANDS, len(starts)), np.float32)
    for i in range(0, len(starts), 512):  # a block of frames stays in the cache
        spectrum = fft.rfft(frames[starts[i : i + 512]] * window, size)
        power = spectrum.real**2 + spectrum.imag**2
        grid[:, i : i + 512] = bank @ power.T
    return grid / np.float32(window @ window)


def _band_edges(rate: int) -> Floats:
    """Return the Hertz at which 64 overlapping bands begin, peak and end: 66 edges, evenly spaced in mel."""
    top = rate / 2
    low, high = (2595 * np.log10(1 + f / 700) for f in (min(_LOWEST, top / 4), top))
    return np.asarray(700 * (10 ** (np.linspace(low, high, _BANDS + 2) / 2595) - 1))


@lru_cache(maxsize=16)
def _mel_bank(own: int, size: int, rate: int) -> NDArray[np.float32]:
    edges, f = _band_edges(rate), np.fft.rfftfreq(size, 1 / own)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bank = np.clip(np.minimum((f - low) / (middle - low), (high - f) / (high - middle)), 0, None)
    empty = bank.sum(axis=1) == 0  # a band narrower than the distance of two frequencies takes the nearest
    bank[empty, np.abs(f - middle[empty]).argmin(axis=1)] = 1.0
    return np.asarray(bank / bank.sum(axis=1, keepdims=True), dtype=np.float32)


def _over_floor(grid: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Return decibels over the noise floor of each band, smoothed for cutting and as they are for describing."""
    level = 10 * np.log10(grid.astype(np.float64) + _SILENCE)
    smooth = ndimage.gaussian_filter(level, (1, 2), mode="nearest")
    floor = np.quantile(smooth, _FLOOR, axis=1, keepdims=True)
    return smooth - floor, level - floor


def _pieces_of_time(loud: Floats) -> list[tuple[int, int, None]]:
    """Return runs of frames in which something stands over the floor."""
    k = max(1, int(_LOUD_BANDS * len(loud)))
    height = np.partition(loud, -k, axis=0)[-k:].mean(axis=0)
    height = height - np.quantile(height, _FLOOR)
    runs = [(i, j) for i, j in _runs(height > _OVER) if height[i:j].max() > _REACHES]
    joined: list[list[int]] = []
    for i, j in runs:
        if joined and i - joined[-1][1] < _GAP / HOP:
            joined[-1][1] = j
        else:
            joined.append([i, j])
    long_enough = [(i, j) for i, j in joined if j - i >= _SHORTEST / HOP]
    return [(i, j, None) for i, j in _cut_long(long_enough, height)]


def _patches(loud: Floats) -> list[tuple[int, int, NDArray[np.bool_]]]:
    """Return connected patches of the grid; patches of less than 40 cells are noise."""
    mask = ndimage.binary_closing(loud > _PRESENT, np.ones((3, 5)))
    numbered, n = ndimage.label(mask, np.ones((3, 3)))
    sizes = np.bincount(numbered.ravel(), minlength=n + 1)
    found = []
    for number, box in enumerate(ndimage.find_objects(numbered), start=1):
        i, j = box[1].start, box[1].stop
        if sizes[number] < 40 or j - i < _SHORTEST / HOP:
            continue
        own = numbered[:, i:j] == number
        for u, v in _cut_long([(0, j - i)], (loud[:, i:j] * own).sum(axis=0)):
            found.append((i + u, i + v, own[:, u:v]))
    return sorted(found, key=lambda piece: piece[:2])


def _runs(on: NDArray[np.bool_]) -> Any:
    steps = np.diff(np.concatenate([[0], on.astype(np.int8), [0]]))
    return zip(np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist())


def _cut_long(runs: list[tuple[int, int]], height: Floats) -> list[tuple[int, int]]:
    """Cut runs that are too long at the quietest frame of their middle half, again and again."""
    done, left = [], list(runs)
    while left:
        i, j = left.pop()
        if j - i <= _LONGEST / HOP:
            done.append((i, j))
            continue
        quarter = (j - i) // 4
        quiet = i + quarter + int(np.argmin(height[i + quarter : j - quarter]))
        left += [(i, quiet), (quiet, j)]
    return sorted(done)


def features_of(level: Floats, mask: NDArray[np.bool_] | None) -> Floats:
    """Return the features of a piece: 27 of its shape (after Briggs et al. 2012), then 16 bands x 5.

    Parameters
    ----------
    level : ndarray of shape (bands, frames)
        Decibels over the floor.
    mask : ndarray of bool or None
        The cells that belong to the piece; None for all.
    """
    heard = np.clip(level, 0, _CEILING)
    if mask is not None:
        heard = heard * mask
    bands = heard.reshape(_BANDS // 4, 4, -1).mean(axis=1)
    cuts = np.linspace(0, bands.shape[1], 4).round().astype(int)
    thirds = [bands[:, min(a, bands.shape[1] - 1) : max(b, a + 1)].mean(axis=1) for a, b in pairwise(cuts)]
    return np.concatenate([_shape(heard), bands.mean(axis=1), bands.std(axis=1), *thirds])


def _shape(heard: Floats) -> Floats:
    n_frames = heard.shape[1]
    power = 10 ** (heard / 10) - 1 + 1e-9  # 1e-9: a silent piece has a shape, too
    over_bands, over_time = power.sum(axis=1) / power.sum(), power.sum(axis=0) / power.sum()
    present = heard > _PRESENT
    rows = np.flatnonzero(present.any(axis=1))
    low, high = (int(rows[0]), int(rows[-1])) if rows.size else (0, len(heard) - 1)
    edges = np.count_nonzero(present[1:] != present[:-1]) + np.count_nonzero(present[:, 1:] != present[:, :-1])
    area = np.count_nonzero(present) + 1
    pitch = heard.argmax(axis=0)
    quarter = max(1, n_frames // 4)
    change = np.abs(np.diff(heard, axis=1)).mean() if n_frames > 1 else 0.0
    return np.array([
        np.log(n_frames * HOP), low, high, high - low, over_bands.argmax(),
        *_moments(over_bands, np.arange(len(heard))),
        over_time.argmax() / n_frames, *_moments(over_time, np.linspace(0, 1, n_frames)),
        np.log(area), edges / area, edges**2 / area / 100, area / ((high - low + 1) * n_frames), heard.max(),
        heard.mean(), pitch.std(), pitch[-quarter:].mean() - pitch[:quarter].mean(), change,
    ])  # fmt: skip


def _moments(share: Floats, at: Any) -> tuple[float, ...]:
    """Return mean, spread, skewness, kurtosis (its fourth root), concentration and entropy of shares."""
    mean = float((share * at).sum())
    spread = float(np.sqrt((share * (at - mean) ** 2).sum())) + 1e-6  # 1e-6: all in one place
    standard = (at - mean) / spread
    entropy = -(share * np.log(share + 1e-12)).sum() / np.log(len(share) + 1)
    return (
        mean,
        spread,
        float((share * standard**3).sum()),
        float((share * standard**4).sum() ** 0.25),
        float((share**2).sum()),
        float(entropy),
    )


def _read(path: Path, file: Any, n: int) -> NDArray[np.float32]:
    """Return the next samples of an open recording, channels side by side."""
    try:
        return np.asarray(file.read(n, dtype="float32", always_2d=True))
    except (RuntimeError, ValueError) as error:  # libsndfile's own error is a RuntimeError
        raise UnreadableFile(f"{path}: the recording is damaged ({error}).") from None


def _seek(path: Path, file: Any, place: int) -> None:
    try:
        file.seek(place)
    except (RuntimeError, ValueError) as error:
        raise UnreadableFile(f"{path}: the recording is damaged ({error}).") from None


def _opened(path: Path) -> Any:
    """Open a recording, or say what is wrong with it."""
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise MissingExtra("soundfile", "audio", "Reading recordings") from error
    try:
        return soundfile.SoundFile(path)
    except Exception as error:  # libsndfile has one error for everything: no sound, damaged, a codec it lacks
        raise UnreadableFile(f"{path}: no recording that can be read ({error}).") from None
