"""Draw the pictures of the README: ``python docs/make_pictures.py``."""

from __future__ import annotations

from pathlib import Path

import sidelight as sl
from sidelight.plot import TypicalImagesDisplay
from sidelight.plot._axes import as_png

IMAGES = Path(__file__).parent / "images"


def digits() -> None:
    """The surest rows of each cluster of digits in bags; 3 and 7 were struck off every bag's list."""
    data = sl.load_digit_bags(novel=(3, 7), random_state=0)
    inner = sl.CoverageClustering(n_novel=2, random_state=0)  # as in ``sidelight demo``
    model = sl.Standardized(inner).fit(data.X, bags=data.bags)
    shown = TypicalImagesDisplay.from_estimator(model, data.X, data.images, names=model.cluster_names_).plot()
    (IMAGES / "digits.png").write_bytes(as_png(shown.figure_, dpi=100))


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    digits()
