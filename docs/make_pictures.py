"""Draw the pictures of the README: ``python docs/make_pictures.py``."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_digits

import sidelight as sl
from sidelight.plot import TypicalImagesDisplay
from sidelight.plot._axes import as_png

IMAGES = Path(__file__).parent / "images"


def digits() -> None:
    """The surest rows of ten clusters of unlabelled digits."""
    data = load_digits()
    model = sl.Standardized(sl.DiscriminativeClustering(10, random_state=0)).fit(data.data)
    shown = TypicalImagesDisplay.from_estimator(model, data.data, data.images).plot()
    (IMAGES / "digits.png").write_bytes(as_png(shown.figure_, dpi=100))


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    digits()
