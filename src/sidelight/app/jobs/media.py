"""Images, sounds and texts that a table names, made small enough for a page.

A file that is missing, broken, too large or of an unknown kind is counted and never stops a run. Images are made anew
from their pixels, so that nothing else a camera wrote (such as where it was) leaves the machine with the page.
"""

from __future__ import annotations

import base64
import io
import os
import re
import wave
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.app.report.gallery import Media
from sidelight.words import counted, in_words

# Parts of media by the ending of their name: ``call.wav#t=1.2,1.8`` and ``photo.jpg#xywh=percent:10,0,50,40``.
#
# These are the media fragments of the W3C, as far as rows of recordings and pictures need them.


_TIME = re.compile(r"t=(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$")
_BOX = re.compile(r"xywh=percent:(\d+(?:\.\d+)?),(\d+(?:\.\d+)?),(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$")
_AROUND = 0.1  # seconds before and after a piece that are heard with it


@dataclass(frozen=True, slots=True)
class Fragment:
    """Seconds of a recording, or a box of a picture (left, top, width, height) in percent; or all of it."""

    start: float = 0.0
    end: float | None = None
    box: tuple[float, float, float, float] | None = None

    @classmethod
    def split(cls, text: str) -> tuple[str, Fragment]:
        """Return the name of a file without its fragment, and the fragment."""
        name, mark, rest = text.rpartition("#")
        if mark and (found := _TIME.fullmatch(rest)) and float(found[2]) >= float(found[1]):
            return name, cls(max(0.0, float(found[1]) - _AROUND), float(found[2]) + _AROUND)
        if mark and (found := _BOX.fullmatch(rest)):
            return name, cls(box=(float(found[1]), float(found[2]), float(found[3]), float(found[4])))
        return text, WHOLE

    def crop(self, image: Any) -> Any:
        """Return the box of an image of Pillow's."""
        if self.box is None:
            return image
        left, top, width, height = (value / 100 for value in self.box)
        right, bottom = min(1.0, left + width), min(1.0, top + height)
        size = np.array([image.width, image.height] * 2)
        corners = np.rint(np.array([left, top, right, bottom]) * size).astype(int).tolist()
        corners[2], corners[3] = max(corners[2], corners[0] + 1), max(corners[3], corners[1] + 1)
        return image.crop(corners)

    def samples(self, path: Path, seconds: float) -> tuple[int, np.ndarray]:
        """Return the rate and at most ``seconds`` of one channel; WAV files need nothing but scipy."""
        until = min(self.start + seconds, self.end if self.end is not None else np.inf)
        if path.suffix.lower() in (".wav", ".wave"):
            from scipy.io import wavfile

            rate, samples = wavfile.read(path, mmap=True)
            samples = samples[int(self.start * rate) : int(until * rate)]
            return rate, np.array(samples if samples.ndim == 1 else samples[:, 0], dtype=np.float64)
        import soundfile

        with soundfile.SoundFile(path) as file:
            rate = int(file.samplerate)
            file.seek(int(self.start * rate))
            return rate, file.read(int((until - self.start) * rate), dtype="float64", always_2d=True)[:, 0]


WHOLE = Fragment()


IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
SOUNDS = {".mp3": "mpeg", ".ogg": "ogg", ".oga": "ogg", ".opus": "ogg", ".flac": "flac", ".m4a": "mp4", ".aac": "aac"}
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM")  # what Pillow may try: no format that runs programs
_HEADS = (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xf1", b"\xff\xf9", b"OggS", b"fLaC")  # of sounds
PAGE_LIMIT = 2_000_000  # characters that images and sounds may take on one page
_SIDE = 144  # pixels of a thumbnail: 9 rem wide on a fine screen
_LARGE = 800  # pixels of the larger copy of an image
_LARGE_SHARE = 0.5  # of the characters of all copies, after which images have no larger copy
_TINY = 32  # pixels up to which an image is shown enlarged, dot by dot
_MOST_PIXELS = 80_000_000  # of an image that is opened at all
_MOST_BYTES = 64_000_000  # of a file that is opened at all
_MOST_EMBEDDED = 150_000  # bytes of a sound that is embedded as it is
_SECONDS, _RATE = 2.5, 16_000  # of a sound on the page
_EXCERPT = 220  # characters of a text


@dataclass(frozen=True, eq=False)
class Clip:
    """Samples in hand, to be played: a cell of a column to show."""

    samples: np.ndarray
    rate: int


class NotShown(Exception):
    """A file that cannot be shown; its text is the reason, in a few words."""


@dataclass
class MediaReader:
    """Shows cells of a table's columns, and remembers what could not be shown.

    Parameters
    ----------
    folder : Path
        Where relative names of files begin: the table's folder.
    is_confined : bool
        Whether files must lie below that folder: so when the column was guessed and not named.
    limit : int
        Characters that may be embedded in all.
    has_large : bool
        Whether images have a larger copy too; reports, which embed everything, have none.
    """

    folder: Path
    is_confined: bool = False
    limit: int = PAGE_LIMIT
    has_large: bool = False
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    n_over: int = 0
    n_without_spectrogram: int = 0
    _spent: int = 0

    def look(self, cell: Any) -> Media | None:
        """Return what a cell names, says or is (grey pixels, or a clip); None when there is nothing to show."""
        in_hand = isinstance(cell, (np.ndarray, Clip))
        text = "" if in_hand else str(cell).strip()
        if not text and not in_hand:
            return None
        try:
            shown = _of_cell(cell) if in_hand else self._read(text)
        except NotShown as reason:
            self.failures[str(reason)] += 1
            self.examples.setdefault(str(reason), text)
            return None
        if shown.large and self._spent + shown.size > _LARGE_SHARE * self.limit:
            shown = replace(shown, large="")
        if self._spent + shown.size > self.limit:
            self.n_over += 1
            return None
        self._spent += shown.size
        self.n_without_spectrogram += shown.kind == "sound" and not shown.picture
        return shown

    def notes(self) -> list[str]:
        """Say in one line each what could not be shown, what was left out, and what has no spectrogram."""
        told = []
        if self.failures:
            reasons = [f"{n} {reason} (such as {self.examples[reason]!r:.90})" for reason, n in self.failures.items()]
            told.append(f"{counted(self.failures.total(), 'row')} could not be shown: {in_words(reasons)}.")
        if self.n_over:
            size = f"{self.limit / 1e6:g} MB"
            told.append(
                f"{counted(self.n_over, 'more row')} would be shown if images and sounds might take more than {size}."
            )
        if self.n_without_spectrogram:
            told.append("Only WAV files have a spectrogram; other sounds have a player.")
        return told

    def _read(self, text: str) -> Media:
        text, part = Fragment.split(text)
        ending = os.path.splitext(text.lower())[1]
        if text.lower().startswith(("http://", "https://", "ftp://")):
            raise NotShown("on the web, which is never asked")
        if ending not in IMAGES and ending not in SOUNDS and ending not in (".wav", ".wave"):
            return Media("text", text=text if len(text) <= _EXCERPT else text[: _EXCERPT - 1].rstrip() + "…")
        path = self._path(text)
        try:
            if not path.is_file():
                raise NotShown("missing")
            if path.stat().st_size > _MOST_BYTES:
                raise NotShown("too large to open")
            if ending in IMAGES:
                return thumbnail(path, part, has_large=self.has_large)
            if ending in (".wav", ".wave") or part.end is not None:
                return recording(path, part)
            return _as_it_is(path, SOUNDS[ending])
        except OSError:
            raise NotShown("unreadable") from None

    def _path(self, text: str) -> Path:
        if "\0" in text:
            raise NotShown("missing")
        path = self.folder / os.path.expanduser(text)
        if self.is_confined:
            real, home = os.path.realpath(path), os.path.realpath(self.folder)
            if os.path.commonpath([real, home]) != home:
                raise NotShown("outside the table's folder, and the column was only guessed")
        return path


def thumbnail(path: Path, part: Fragment = WHOLE, *, has_large: bool = False) -> Media:
    """Return a small copy of an image file, or of a part of it, made from its pixels alone; or a larger one too."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise NotShown("too large to open")
            if part.box is None:
                side = _LARGE if has_large else 2 * _SIDE
                image.draft("RGB", (side, side))
            upright = part.crop(ImageOps.exif_transpose(image))
            is_clear = "A" in upright.getbands() or "transparency" in upright.info
            return of_image(upright.convert("RGBA" if is_clear else "RGB"), has_large=has_large)
    except NotShown:
        raise
    except Exception:  # Pillow raises whatever its decoders meet: SyntaxError, ValueError, struct.error, ...
        raise NotShown("unreadable") from None


def _of_cell(cell: Any) -> Media:
    return of_samples(cell.samples, cell.rate) if isinstance(cell, Clip) else of_array(cell)


def of_array(pixels: np.ndarray) -> Media:
    """Return grey pixels, dark where values are high, as an image."""
    low, high = float(np.min(pixels)), float(np.max(pixels))
    grey = 255 - np.rint(255 * (np.asarray(pixels, dtype=float) - low) / ((high - low) or 1.0)).astype(np.uint8)
    from PIL import Image

    return of_image(Image.fromarray(grey))


def of_image(image: Any, *, has_large: bool = False) -> Media:
    """Return an image of Pillow's as a thumbnail: PNG for few pixels or transparent ones, JPEG for photographs."""
    is_tiny = max(image.size) <= _TINY
    kind = "png" if is_tiny or image.mode in ("RGBA", "L") else "jpeg"
    large = ""
    if has_large and max(image.size) > _SIDE:
        image.thumbnail((_LARGE, _LARGE))
        large = _embedded(image, kind)
    image.thumbnail((_SIDE, _SIDE))
    return Media("image", _embedded(image, kind), is_tiny=is_tiny, large=large)


def recording(path: Path, part: Fragment = WHOLE) -> Media:
    """Return the first seconds of a recording or of a part of it, one channel of it, with its spectrogram."""
    try:
        rate, sound = part.samples(path, _SECONDS)
    except Exception:  # readers raise what they meet: ValueError, struct.error, EOFError, a warning made an error, ...
        raise NotShown("unreadable") from None
    return of_samples(sound, rate)


def of_samples(samples: np.ndarray, rate: int) -> Media:
    """Return samples as a sound that can be played, with its spectrogram."""
    sound = np.array(samples, dtype=np.float64)
    if sound.size < 2 or not np.isfinite(sound).all() or rate < 1:
        raise NotShown("without sound")
    sound -= sound.mean()
    sound /= np.abs(sound).max() or 1.0
    step = max(1, int(np.ceil(rate / _RATE)))
    thinner = _thinned(sound, step)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate // step)
        file.writeframes(np.rint(32000 * thinner).astype("<i2").tobytes())
    uri = "data:audio/wav;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
    spans = f"to {rate / 2000:.2g} kHz, {sound.size / rate:.2g} s"
    return Media("sound", uri, picture=spectrogram(sound), text=spans)


def spectrogram(sound: np.ndarray, *, wide: int = 160, tall: int = 64) -> str:
    """Return how strong each pitch is over time, low ones at the bottom, 60 decibels from white to black."""
    from scipy.signal import stft

    size = min(256, sound.size)
    hop = max(1, (sound.size - size) // wide)
    _, _, Z = stft(sound, nperseg=size, noverlap=size - min(hop, size), boundary=None, padded=False)
    power = 20 * np.log10(np.abs(Z) + 1e-9)  # 1e-9: silence is -180 decibels
    grey = np.clip((power - (power.max() - 60)) / 60, 0, 1)
    from PIL import Image

    image = Image.fromarray((255 - np.rint(255 * grey[::-1])).astype(np.uint8)).resize((wide, tall))
    return _embedded(image, "png")


def _thinned(sound: np.ndarray, step: int) -> np.ndarray:
    if step == 1:
        return sound
    from scipy.signal import decimate

    thinner = decimate(sound, step, ftype="fir") if sound.size > 60 * step else sound[::step]
    return thinner / (np.abs(thinner).max() or 1.0)


def _as_it_is(path: Path, kind: str) -> Media:
    if path.stat().st_size > _MOST_EMBEDDED:
        raise NotShown(f"a sound of more than {_MOST_EMBEDDED // 1000} kB that is no WAV file")
    content = path.read_bytes()
    if not content.startswith(_HEADS) and content[4:8] != b"ftyp":
        raise NotShown("unreadable")
    return Media("sound", f"data:audio/{kind};base64," + base64.b64encode(content).decode("ascii"))


def _embedded(image: Any, kind: str) -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind.upper(), **({"quality": 78} if kind == "jpeg" else {"optimize": True}))
    return f"data:image/{kind};base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
