"""The demo of photographs: tiles of two real ones and made-up ones, with tags, their regions named one by one."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.demonstration import Demo, Story
from sidelight.app.jobs.instances.coverage import cluster
from sidelight.data.dataset import Dataset
from sidelight.data.synth.material import Photograph, make_photographs
from sidelight.files.material.folder import from_folder
from sidelight.files.material.pictures import PictureRecipe, _pixels, _planes, regions_of

_STORY = (
    "Photographs with tags, their regions named",
    "Two photographs that come with scikit-learn, cut into 24 tiles, and 48 made-up ones; each has a list of what can "
    "be seen in it, and nobody said where. Every photograph was cut into six regions, a pretrained network described "
    "them where one is installed, and every region was named.",
    "Against what was painted into the made-up ones, used only here, {share} of their regions bear the right name.",
)
_MADE, _DOWN, _ACROSS = 48, 3, 4
# what can be seen in the tiles of china.jpg and flower.jpg, from left to right and from top to bottom
TAGS = (
    "sky temple", "sky temple", "sky", "sky",
    "sky temple tree water", "temple", "sky temple water", "sky tree water",
    "temple tree water", "temple tree", "temple tree water", "tree",
    "leaf", "dahlia leaf", "dahlia leaf", "leaf",
    "leaf", "dahlia leaf", "dahlia leaf", "leaf",
    "leaf", "dahlia leaf", "dahlia leaf", "leaf",
)  # fmt: skip


def tiles() -> list[np.ndarray]:
    """Return the tiles of scikit-learn's two photographs, each from left to right and from top to bottom."""
    return [
        tile
        for picture in load_sample_images().images
        for row in np.array_split(picture, _DOWN)
        for tile in np.array_split(row, _ACROSS, axis=1)
    ]


def tagged_photographs(seed: int) -> Demo:
    """Regions of photographs with tags; the made-up ones know what every pixel shows."""
    made = make_photographs(_MADE, random_state=seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "photographs"
        folder.mkdir()
        pictures = {f"tile{k:02d}.png": tile for k, tile in enumerate(tiles(), start=1)}
        lists = dict(zip(pictures, TAGS))
        for k, one in enumerate(made, start=1):
            name = f"painted{k:02d}.png"
            pictures[name] = one.pixels
            lists[name] = " ".join(sorted({one.kinds[kind] for kind in np.unique(one.kind_of)}))
        for name, pixels in pictures.items():
            Image.fromarray(np.asarray(pixels)).save(folder / name)
        tags = folder.parent / "tags.csv"
        tags.write_text("file,tags\n" + "".join(f"{name},{told}\n" for name, told in lists.items()), encoding="utf-8")
        data = from_folder(folder, labels=tags, out=folder.parent / "rows.parquet", n_jobs=1)
        config = RunConfig("instances", "scikit-learn's photographs, and made-up ones", seed=seed)
        result = cluster(data, config)  # looks at the photographs, which are gone after this
        result = replace(result, reading=replace(result.reading, path=config.table))
        truth = {f"painted{k:02d}.png": _kinds(folder / f"painted{k:02d}.png", one) for k, one in enumerate(made, 1)}
    named = [str(label) for label in result.assignments["label"]]
    return Demo(config, result, Story(*_STORY, _right(data, named, truth)))


def _kinds(path: Path, made: Photograph) -> list[str]:
    """Return what most pixels of each region show, in the order of the table."""
    regions = regions_of(_planes(_pixels(path)), PictureRecipe().regions)
    small = Image.fromarray(made.kind_of.astype(np.uint8)).resize(regions.shape[::-1], Image.Resampling.NEAREST)
    shown, sizes = np.asarray(small), np.bincount(regions.ravel())
    order = np.argsort(-sizes, kind="stable")
    return [made.kinds[np.bincount(shown[regions == k]).argmax()] for k in order]


def _right(data: Dataset, named: list[str], truth: dict[str, list[str]]) -> float:
    places = [str(name).rsplit("#", 1) for name in data.row_names]
    told = [(name, truth[file][int(k) - 1]) for name, (file, k) in zip(named, places) if file in truth]
    return float(np.mean([name == kind for name, kind in told]))
