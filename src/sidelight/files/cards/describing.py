"""What a network says of regions of a picture, of pieces of a recording and of texts: its outputs, pooled over each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import ceil, gcd
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.cards.card import Card
from sidelight.files.cards.networks import Network, Outputs, network_of
from sidelight.files.limited import limited

Floats = NDArray[np.float32]
PREFIX = "emb_"  # of the columns that a network fills
_SECONDS = 120.0  # that a stranger's network may take for one piece
_FEWEST_PIXELS = 8  # of a picture's shorter side: below, a network sees nothing


class Described(dict[str, float]):
    """One row's numbers by the names of their columns."""


def _named(rows: Sequence[dict[str, Any]], card: Card) -> list[Described]:
    """Give numbers the names of their columns: ``emb_0``, or ``emb_OUTPUT_0`` where there are several outputs."""
    out = []
    for row in rows:
        named = Described()
        for output, values in row.items():
            if not np.isfinite(values).all():
                raise UnreadableFile(f"{card.name} gave numbers that are none (NaN or infinite).")
            before = PREFIX if len(row) == 1 else f"{PREFIX}{_plain(output)}_"
            named |= {f"{before}{k}": value for k, value in enumerate(values.tolist())}
        out.append(named)
    return out


def _plain(output: str) -> str:
    return re.sub(r"\W+", "_", output).strip("_") or "out"


def describe_regions(card: Card, pixels: NDArray[np.uint8], regions: NDArray[np.intp]) -> list[Described]:
    """Describe the regions of a picture: maps are averaged over their pixels; plain numbers are of a crop of each.

    Parameters
    ----------
    card : Card
        The network.
    pixels : ndarray of uint8 (height, width, 3)
        The picture.
    regions : ndarray of int
        The region of every pixel, of the picture or of a smaller copy.
    """
    if min(pixels.shape[:2]) < _FEWEST_PIXELS:
        raise UnreadableFile(f"{pixels.shape[1]} x {pixels.shape[0]} pixels are too few for {card.name}.")
    network = network_of(card)
    (seen,) = network([pixels])
    n = int(regions.max()) + 1
    rows: list[dict[str, Floats]] = [{} for _ in range(n)]
    crops: list[Outputs] | None = None
    for output, values in seen.items():
        if values.ndim == 3:
            pooled = _over_regions(values, regions, n)
        elif n == 1:
            pooled = values[None]
        else:
            crops = _of_crops(network, pixels, regions, n) if crops is None else crops
            pooled = np.stack([crop[output] for crop in crops])
        for row, numbers in zip(rows, pooled):
            row[output] = numbers
    return _named(rows, card)


def _over_regions(maps: Floats, regions: NDArray[np.intp], n: int) -> Floats:
    """Average maps (numbers, height, width) over the pixels of each region."""
    (height, width), (down, across) = regions.shape, maps.shape[1:]
    cell = (np.arange(height) * down // height)[:, None] * across + np.arange(width) * across // width
    shares = np.bincount((regions * (down * across) + cell).ravel(), minlength=n * down * across)
    shares = shares.reshape(n, -1) / shares.reshape(n, -1).sum(axis=1, keepdims=True)
    return np.asarray(shares @ maps.reshape(len(maps), -1).T, dtype=np.float32)


def _of_crops(network: Network, pixels: NDArray[np.uint8], regions: NDArray[np.intp], n: int) -> list[Outputs]:
    from scipy import ndimage

    up, across = pixels.shape[0] / regions.shape[0], pixels.shape[1] / regions.shape[1]
    crops = []
    for rows, columns in ndimage.find_objects(regions + 1, n):
        crops.append(
            pixels[
                int(rows.start * up) : ceil(rows.stop * up), int(columns.start * across) : ceil(columns.stop * across)
            ]
        )
    return network(crops)


Read = Callable[[float, float], tuple[Floats, int]]


def describe_pieces(card: Card, path: Path, read: Read, pieces: Sequence[tuple[float, float]]) -> list[Described]:
    """Describe pieces of a recording: the mean over windows of what the network says.

    Parameters
    ----------
    card : Card
        The network.
    path : Path
        The recording, for messages.
    read : callable
        Samples of one channel and how many a second, from one second to another.
    pieces : sequence of (float, float)
        Begin and end, in seconds.
    """
    network = network_of(card)
    rows = []
    for begin, end in pieces:
        samples, rate = read(begin, end)
        if not len(samples):
            raise UnreadableFile(f"{path}: the recording ends before second {begin:g}.")
        heard = network(windows(resampled(samples, rate, card.input.rate), card))
        rows.append({key: np.asarray(np.mean([_flat(one[key]) for one in heard], axis=0)) for key in heard[0]})
    return _named(rows, card)


def _flat(values: Floats) -> Floats:
    return values if values.ndim == 1 else np.asarray(values.mean(axis=(1, 2)), dtype=np.float32)


def windows(samples: Floats, card: Card) -> list[Floats]:
    """Cut samples into windows that cover them; the last ends with them, and a short piece is followed by silence."""
    size = round(card.input.window * card.input.rate)
    further = max(0, len(samples) - size)
    n = 1 + ceil(further / (card.input.hop * card.input.rate))
    return [samples[start : start + size] for start in np.linspace(0, further, n).round().astype(int)]


def resampled(samples: Floats, rate: int, wanted: int) -> Floats:
    """Return samples at another rate."""
    if rate == wanted:
        return samples
    from scipy.signal import resample_poly

    shared = gcd(rate, wanted)
    up, down = wanted // shared, rate // shared
    if max(up, down) > 10_000:  # rates without a common measure: near enough is near enough
        up, down = round(1000 * wanted / rate), 1000
    return np.asarray(resample_poly(samples, up, down), dtype=np.float32)


def describe_texts(card: Card, texts: Sequence[str]) -> list[Described]:
    """Describe texts, all of a file at once."""
    if not texts:
        return []
    said = network_of(card)(texts)
    if len(said) != len(texts):
        raise InvalidData(f"{card.name} gave {len(said)} answers about {len(texts)} texts.")
    return _named([{key: _flat(value) for key, value in one.items()} for one in said], card)


def check_stranger(card: Card) -> None:
    """Let a network that came as a file describe a piece of nothing, in a process that may take so much and no more."""
    work = limited if card.runtime in ("onnx", "tflite") else lambda check, card, **_: check(card)
    work(_check, card, seconds=_SECONDS, refused=(f"Opening the model {card.name}", "Nothing was cut: is it damaged?"))


def _check(card: Card) -> None:
    """Let a network describe a piece of nothing, so that what is wrong with it is said before a folder is cut."""
    pieces: Any = {
        "pictures": np.full((64, 64, 3), 127, np.uint8),
        "sounds": np.zeros(round(card.input.window * card.input.rate), np.float32),
        "texts": "nothing",
    }[card.kind]
    try:
        (said,) = network_of(card)([pieces])
    except MemoryError:
        raise InvalidData(f"{card.name} needs more memory than describing may take.") from None
    if not said:
        raise InvalidData(f"{card.name} has no output.")
