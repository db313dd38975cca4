"""Draw the pictures of the README and of the docs' front page: ``python docs/make_pictures.py``."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch
from matplotlib.pyplot import subplots
from PIL import Image

from sidelight.app.jobs.catalogue import DEMOS
from sidelight.app.jobs.instances.demo_photographs import tiles
from sidelight.app.jobs.page import page_of
from sidelight.app.report.components import Markup
from sidelight.app.report.page import asset
from sidelight.files.material.pictures import PictureRecipe, _pixels, _planes, regions_of
from sidelight.plot._axes import as_png

IMAGES = Path(__file__).parent / "images"
CARDS = (
    "photographs",
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


COLOURS = {
    "dahlia": "#ff7f0e", "leaf": "#17a589", "sky": "#5dade2", "temple": "#d62728", "tree": "#4c9a2a",
    "water": "#2e4a9e", "sand": "#d4b06a", "grass": "#7fbf3f", "brick": "#a0522d", "flowers": "#c23b9a",
}  # fmt: skip


def photographs() -> None:
    """Two photographs in tiles with tags: their regions in the colours of their names, as the demo names them."""
    result = DEMOS["photographs"](0).result
    named = dict(zip(result.assignments["row"], result.assignments["label"]))
    kinds = sorted({str(label) for row, label in named.items() if str(row).startswith("tile")})
    colours = {kind: np.array(to_rgb(COLOURS[kind])) for kind in kinds}
    painted = [_painted(k, tile, named, colours) for k, tile in enumerate(tiles(), start=1)]
    n = len(painted) // 2
    figure, axes = subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for axis, some in zip(axes, (painted[:n], painted[n:])):
        axis.imshow(np.vstack([np.hstack(some[k : k + 4]) for k in range(0, n, 4)]))
        axis.set_axis_off()
    handles = [Patch(color=colours[kind], label=kind) for kind in kinds]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(kinds), frameon=False)
    (IMAGES / "photographs.png").write_bytes(as_png(figure, dpi=80))


def _painted(number: int, tile: np.ndarray, named: dict[str, str], colours: dict[str, np.ndarray]) -> np.ndarray:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "tile.png"
        Image.fromarray(tile).save(path)
        regions = regions_of(_planes(_pixels(path)), PictureRecipe().regions)
    order = np.argsort(-np.bincount(regions.ravel()), kind="stable")
    labels = {int(k): str(named[f"tile{number:02d}.png#{place}"]) for place, k in enumerate(order, start=1)}
    large = np.asarray(Image.fromarray(regions.astype(np.uint8)).resize(tile.shape[1::-1], Image.Resampling.NEAREST))
    paint = np.stack([colours[labels[k]] for k in range(len(order))])[large]
    names = np.unique([labels[k] for k in range(len(order))], return_inverse=True)[1][large]
    edges = (names != np.roll(names, 1, axis=0)) | (names != np.roll(names, 1, axis=1))
    edges[0], edges[:, 0] = False, False
    mixed = 0.55 * tile / 255.0 + 0.45 * paint
    mixed[edges] = 1.0
    return mixed


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
    photographs()
    cards()
