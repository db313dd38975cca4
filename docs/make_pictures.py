"""Draw the pictures of the README and of the docs' front page: ``python docs/make_pictures.py``."""

from __future__ import annotations

import re
from pathlib import Path

import sidelight as sl
from sidelight.app.jobs.catalogue import DEMOS
from sidelight.app.jobs.page import page_of
from sidelight.app.report.components import Markup
from sidelight.app.report.page import asset
from sidelight.plot import TypicalImagesDisplay
from sidelight.plot._axes import as_png

IMAGES = Path(__file__).parent / "images"
CARDS = (
    "instances",
    "instances-spectral",
    "novel",
    "bags",
    "relations",
    "ask",
    "hierarchy",
    "sources",
    "coclusters",
)  # demos, as on their index


def digits() -> None:
    """The surest rows of each cluster of digits in bags; 3 and 7 were struck off every bag's list."""
    data = sl.data.load_digit_bags(novel=(3, 7), random_state=0)
    inner = sl.CoverageClustering(n_novel=2, random_state=0)  # as in ``sidelight demo``
    model = sl.Standardized(inner).fit(data.X, bags=data.bags)
    shown = TypicalImagesDisplay.from_estimator(model, data.X, data.images, names=model.cluster_names_).plot()
    (IMAGES / "digits.png").write_bytes(as_png(shown.figure_, dpi=100))


def cards() -> None:
    """The picture of each demo as a file of its own, in light and in dark."""
    for name in CARDS:
        drawn = page_of(DEMOS[name](0).result).thumbnail
        assert drawn is not None
        (IMAGES / f"demo-{name}.svg").write_text(standalone(drawn), encoding="utf-8")


def standalone(drawn: Markup) -> str:
    """Return an SVG with the colours of the page's style sheet inside."""
    css = asset("page.css")
    roots = re.findall(r":root \{.*?\}", css, re.DOTALL)[:2]
    rules = re.findall(r"^(?:\.fill\.c|\.twig).*$", css, re.MULTILINE)
    style = f"{roots[0]} @media (prefers-color-scheme: dark) {{ {roots[1]} }} {' '.join(rules)}"
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn)
    assert size is not None
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[1]}" height="{size[2]}" '
    return re.sub(r"^<svg ", opening, drawn).replace(">", f"><style>{style}</style>", 1) + "\n"


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    digits()
    cards()
