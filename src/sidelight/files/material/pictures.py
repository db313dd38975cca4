"""One photograph cut into regions (or taken whole), and readable numbers about each.

A picture is shrunk to 320 pixels, its cells of 8 pixels are merged by Ward's criterion along the grid on mean colour
and texture, and every region is described by colours, textures, edges and where it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from sidelight.errors import UnreadableFile

Floats = NDArray[np.float64]
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM")  # what Pillow may try: no format that runs programs
_SIDE = 320  # pixels of the longer side that are looked at
_CELLS = 40  # cells along the longer side
_MOST_PIXELS = 120_000_000  # of a file that is opened at all
_TEXTURE = 12.0  # Lab units that a factor of e in texture energy is worth when regions are merged
_SCALES = (0.0, 1.0, 2.0, 4.0, 8.0)  # pixels: differences of neighbouring blurs are energies


@dataclass(frozen=True, slots=True)
class PictureRecipe:
    """How a folder of pictures is cut; new pictures are cut by the same one.

    Attributes
    ----------
    regions : int
        Regions of a picture.
    whole : bool
        One row a picture instead, described as a whole and by its quarters.
    """

    regions: int = 6
    whole: bool = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        if not self.whole:
            return (*_NAMES, "height in the picture", "distance from its middle")
        parts = ("all", "upper left", "upper right", "lower left", "lower right")
        return tuple(f"{name}, {part}" for part in parts for name in _NAMES)


_NAMES = (
    *(f"{what} {channel}" for channel in ("lightness", "green-red", "blue-yellow") for what in ("mean", "spread of")),
    *(f"{channel} {k}/8" for channel in ("lightness", "green-red", "blue-yellow") for k in range(1, 9)),
    *(f"{grain} pattern {k}" for grain in ("fine", "coarse") for k in range(10)),
    *(f"edges at {180 * k // 8} degrees" for k in range(8)),
    "edges", "strong edges", "energy at 1 pixel", "energy at 2 pixels", "energy at 4 pixels", "energy at 8 pixels",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Region:
    """One region: its box (left, top, width, height) in percent of the picture, its share of it, and its features.

    ``embedded`` is what a pretrained network says of it, by the names of columns.
    """

    box: tuple[float, float, float, float]
    share: float
    features: Floats
    embedded: Mapping[str, float] = field(default_factory=dict)


Embed = Callable[[NDArray[np.uint8], NDArray[np.intp]], Sequence[Mapping[str, float]]]


def cut_picture(path: Path, recipe: PictureRecipe, embed: Embed | None = None) -> list[Region]:
    """Return the regions of a picture, largest first, or the picture as one.

    Parameters
    ----------
    path : Path
        The picture.
    recipe : PictureRecipe
        How to cut.
    embed : callable, optional
        Describes regions further, from all pixels and the region of each.
    """
    upright = _upright(path)
    pixels = _small(upright)
    planes = _planes(pixels)
    if recipe.whole:
        everywhere = np.zeros(pixels.shape[:2], dtype=np.intp)
        said = {} if embed is None else embed(np.asarray(upright), everywhere)[0]
        return [Region((0.0, 0.0, 100.0, 100.0), 1.0, _whole(planes), said)]
    regions = regions_of(planes, recipe.regions)
    features = describe(planes, regions)
    embedded = None if embed is None else embed(np.asarray(upright), regions)
    height, width = regions.shape[:2]
    boxes = ndimage.find_objects(regions + 1)
    sizes = np.bincount(regions.ravel()) / regions.size
    found = [
        Region(
            (
                100 * box[1].start / width,
                100 * box[0].start / height,
                100 * (box[1].stop - box[1].start) / width,
                100 * (box[0].stop - box[0].start) / height,
            ),
            float(sizes[k]),
            features[k],
            {} if embedded is None else embedded[k],
        )
        for k, box in enumerate(boxes)
    ]
    return sorted(found, key=lambda region: -region.share)


def taken_at(path: Path) -> dict[str, Any]:
    """Return when and where a picture was taken, as its camera wrote it: ``date``, ``latitude``, ``longitude``."""
    from PIL import ExifTags

    facts: dict[str, Any] = {}
    try:
        with _opened(path) as image:
            exif = image.getexif()
            day = exif.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.DateTimeOriginal) or exif.get(
                ExifTags.Base.DateTime
            )
            place = exif.get_ifd(ExifTags.IFD.GPSInfo)
        if isinstance(day, str) and len(day) >= 10:
            facts["date"] = day[:10].replace(":", "-") + day[10:19]
        for name, ref, value, negative in (("latitude", 1, 2, "S"), ("longitude", 3, 4, "W")):
            if value in place:
                degrees, minutes, seconds = (float(part) for part in place[value])
                facts[name] = (degrees + minutes / 60 + seconds / 3600) * (-1 if place.get(ref) == negative else 1)
    except Exception:  # whatever a camera wrote: the picture itself says more
        return {key: value for key, value in facts.items() if value == value}
    return facts


def _opened(path: Path) -> Any:
    """Open a picture without Pillow's warning about large ones: there is a limit of our own."""
    import warnings

    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(path, formats=FORMATS)


def _upright(path: Path) -> Any:
    """Return the picture upright, in RGB, no smaller than is looked at."""
    from PIL import Image, ImageOps

    try:
        with _opened(path) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise UnreadableFile(
                    f"{path}: {image.width} x {image.height} pixels are more than {_MOST_PIXELS // 1_000_000} million. "
                    "Shrink the picture first."
                )
            image.draft("RGB", (2 * _SIDE, 2 * _SIDE))
            upright: Any = ImageOps.exif_transpose(image)
            if upright.mode.startswith("I") or upright.mode == "F":  # 16 bits: spread over what an eye can tell apart
                grey = np.asarray(upright, dtype=np.float64)
                top = float(grey.max()) or 1.0
                upright = Image.fromarray(np.clip(255 * grey / top, 0, 255).astype(np.uint8))
            return upright.convert("RGBA").convert("RGB") if "transparency" in upright.info else upright.convert("RGB")
    except UnreadableFile:
        raise
    except Exception as error:  # Pillow raises whatever its decoders meet: SyntaxError, ValueError, struct.error, ...
        raise UnreadableFile(f"{path}: no picture that can be read ({error}).".replace("\n", " ")) from None


def _pixels(path: Path) -> NDArray[np.uint8]:
    """Return what is looked at."""
    return _small(_upright(path))


def _small(upright: Any) -> NDArray[np.uint8]:
    """Return at most 320 pixels a side."""
    copy = upright.copy()
    copy.thumbnail((_SIDE, _SIDE))
    return np.asarray(copy)


@dataclass(frozen=True, slots=True)
class _Planes:
    """What is measured at every pixel."""

    lab: Floats
    energies: tuple[Floats, ...]
    edge: Floats
    direction: NDArray[np.intp]
    fine: NDArray[np.intp]
    coarse: NDArray[np.intp]


def _planes(rgb: NDArray[np.uint8]) -> _Planes:
    lab = _lab(rgb)
    light = lab[..., 0]
    blurs = [ndimage.gaussian_filter(light, s) for s in _SCALES]
    energies = tuple(np.abs(a - b) for a, b in pairwise(blurs))
    gy, gx = ndimage.sobel(blurs[1], 0), ndimage.sobel(blurs[1], 1)
    direction = ((np.arctan2(gy, gx) % np.pi) / np.pi * 8).astype(np.intp) % 8
    return _Planes(
        lab,
        energies,
        np.hypot(gx, gy),
        direction,
        _patterns(light, 1),
        _patterns(ndimage.gaussian_filter(light, 1.5), 3),
    )


def _lab(rgb: NDArray[np.uint8]) -> Floats:
    """Return CIE L*a*b* (D65) of sRGB pixels."""
    linear = _LINEAR[rgb]
    xyz = linear @ _TO_XYZ.T
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


_STEPS = np.arange(256) / 255
_LINEAR = np.where(_STEPS > 0.04045, ((_STEPS + 0.055) / 1.055) ** 2.4, _STEPS / 12.92)  # the sRGB curve
_TO_XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]) / np.array([[0.95047], [1.0], [1.08883]])  # fmt: skip


def _patterns(light: Floats, radius: int) -> NDArray[np.intp]:
    """Return the uniform local binary pattern of every pixel (Ojala et al. 2002): 0 to 8 brighter in a run, or 9."""
    padded = np.pad(light, radius + 1, mode="edge")
    code = np.zeros(light.shape, dtype=np.intp)
    height, width = light.shape
    for k in range(8):
        dy, dx = radius * np.sin(2 * np.pi * k / 8), radius * np.cos(2 * np.pi * k / 8)
        y0, x0 = int(np.floor(dy)), int(np.floor(dx))
        wy, wx = dy - y0, dx - x0
        corner = padded[radius + 1 + y0 :, radius + 1 + x0 :]
        around = (
            (1 - wy) * (1 - wx) * corner[:height, :width]
            + wy * (1 - wx) * corner[1 : height + 1, :width]
            + (1 - wy) * wx * corner[:height, 1 : width + 1]
            + wy * wx * corner[1 : height + 1, 1 : width + 1]
        )
        code |= (around >= light - 1e-9).astype(np.intp) << k
    return _UNIFORM[code]


def _uniform() -> NDArray[np.intp]:
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    changes = (bits != np.roll(bits, 1, axis=1)).sum(axis=1)
    return np.where(changes <= 2, bits.sum(axis=1), 9).astype(np.intp)


_UNIFORM = _uniform()


def regions_of(planes: _Planes, n_regions: int) -> NDArray[np.intp]:
    """Return the region of every pixel: cells of a grid, merged by Ward's criterion on colour and texture."""
    from sklearn.cluster import AgglomerativeClustering

    height, width = planes.lab.shape[:2]
    step = max(1.0, max(height, width) / _CELLS)
    n_down, n_across = max(1, round(height / step)), max(1, round(width / step))
    down, across = np.arange(height) * n_down // height, np.arange(width) * n_across // width
    cell = down[:, None] * n_across + across
    n_cells = n_down * n_across
    if n_cells <= n_regions:
        return np.asarray(np.unique(cell, return_inverse=True)[1].reshape(cell.shape), dtype=np.intp)
    counts = np.bincount(cell.ravel())
    means = [np.bincount(cell.ravel(), plane.ravel(), n_cells) / counts for plane in np.moveaxis(planes.lab, -1, 0)]
    means += [
        _TEXTURE * np.log1p(np.bincount(cell.ravel(), energy.ravel(), n_cells) / counts)
        for energy in planes.energies[:3]
    ]
    ward = AgglomerativeClustering(n_regions, connectivity=_grid(n_down, n_across))
    return np.asarray(ward.fit_predict(np.stack(means, axis=1))[cell], dtype=np.intp)


@lru_cache(maxsize=64)
def _grid(n_down: int, n_across: int) -> Any:
    from sklearn.feature_extraction.image import grid_to_graph

    return grid_to_graph(n_down, n_across)


def describe(planes: _Planes, regions: NDArray[np.intp]) -> Floats:
    """Return one line of features a region."""
    flat = regions.ravel()
    n = int(flat.max()) + 1
    counts = np.bincount(flat).astype(float)

    def mean(values: Any) -> Floats:
        return np.asarray(np.bincount(flat, values.ravel(), n) / counts)

    def shares(codes: NDArray[np.intp], n_codes: int, weights: Floats | None = None) -> Floats:
        weight = None if weights is None else weights.ravel()
        return np.bincount(flat * n_codes + codes.ravel(), weight, n * n_codes).reshape(n, n_codes) / counts[:, None]

    columns: list[Floats] = []
    for channel in range(3):
        plane = planes.lab[..., channel]
        centre = mean(plane)
        columns += [centre, np.sqrt(np.maximum(mean(plane**2) - centre**2, 0))]
    for channel, (low, high) in enumerate(((0, 100), (-40, 40), (-50, 60))):
        bins = np.clip(((planes.lab[..., channel] - low) / (high - low) * 8).astype(np.intp), 0, 7)
        columns += list(np.sqrt(shares(bins, 8)).T)
    columns += list(np.sqrt(shares(planes.fine, 10)).T) + list(np.sqrt(shares(planes.coarse, 10)).T)
    columns += list(np.log1p(shares(planes.direction, 8, planes.edge)).T)
    columns += [np.log1p(mean(planes.edge)), np.log1p(np.sqrt(mean(planes.edge**2)))]
    columns += [np.log1p(mean(energy)) for energy in planes.energies]
    height, width = regions.shape
    down, across = np.mgrid[:height, :width]
    columns += [mean((down + 0.5) / height), np.abs(mean((across + 0.5) / width) - 0.5)]
    return np.stack(columns, axis=1)


def _whole(planes: _Planes) -> Floats:
    """Describe the picture and its four quarters."""
    height, width = planes.lab.shape[:2]
    quarters = 2 * (2 * np.arange(height) // height)[:, None] + 2 * np.arange(width) // width
    parts = [describe(planes, np.zeros((height, width), dtype=np.intp)), describe(planes, quarters.astype(np.intp))]
    described = np.concatenate(parts)[:, :-2]
    missing = 5 - len(described)  # a picture of one pixel has no quarters of its own
    return np.concatenate([described, np.repeat(described[:1], missing, axis=0)]).ravel()
