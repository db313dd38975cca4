"""Parts of media by the ending of their name: ``call.wav#t=1.2,1.8`` and ``photo.jpg#xywh=percent:10,0,50,40``.

These are the media fragments of the W3C, as far as rows of recordings and pictures need them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

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
