"""A headless Chromium, and small runs of every kind of page to open in it."""

from __future__ import annotations

import csv
import wave

import numpy as np
import pytest
from docs.components import EXAMPLES

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.run import run
from sidelight.app.report.components import element, join
from sidelight.app.report.page import document

HOSTILE = ["<b>bold</b>", "'; alert(1); '", "خوشه", "w" * 300, "=1+1"]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A page of every component, and one small run of every kind of job."""
    return Site(tmp_path_factory.mktemp("site"))


class Site(dict):
    """Makes each page when somebody asks for it first."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.configs = folder, _configs(folder)

    def __missing__(self, name):
        """Run the job, or draw every component."""
        if name == "components":
            self[name] = self.folder / "components.html"
            self[name].write_text(_components(), encoding="utf-8")
        else:
            out = self.folder / name
            run(self.configs[name], out, spell=lambda setting: f"--{setting.name} {setting.value or ''}".strip())
            self[name] = out / "report.html"
        return self[name]


def _components():
    sections = [element("section", element("h2", name), make()) for name, make in EXAMPLES.items()]
    return document("Components", join(element("h1", "Components"), *sections))


def _configs(folder):
    generator = np.random.default_rng(0)
    birds, people, labels, counts = (str(folder / f"{name}.csv") for name in ("birds", "people", "labels", "counts"))
    _images_and_sounds(folder)
    kinds = generator.integers(3, size=90)
    lists = ["|".join(sorted({("wren", "owl", "<i>jay</i>")[k] for k in kinds[b * 5 : b * 5 + 5]})) for b in range(18)]
    points = np.array([[0, 6], [6, 0], [-6, -6]])[kinds] + generator.normal(size=(90, 2))
    names = [HOSTILE[i] if i < len(HOSTILE) else f"seg{i}" for i in range(90)]
    media = [["0.png", "1.wav", "broken.png", "gone.png", "A text about this row."][i % 5] for i in range(90)]
    rows = [[names[i], f"rec{i // 5}", lists[i // 5], media[i], *points[i].round(3)] for i in range(90)]
    _write(birds, ["segment", "recording", "species", "media", "pitch", "length"], rows)
    bags = {"id": "segment", "bag": "recording", "label": "species", "label_separator": "|", "show": "media"}
    only_bags = {"id": "segment", "bag": "recording", "ignore": ["species"], "show": "media"}
    who = np.repeat(np.arange(3), 40)
    face = np.eye(4)[who] * 6 + generator.normal(size=(120, 4))
    coat = np.eye(4)[who] * 6 + generator.normal(size=(120, 4))
    _write(
        people,
        ["session", *(f"face_{j}" for j in range(4)), *(f"coat_{j}" for j in range(4))],
        [[f"day{i // 20}", *face[i].round(3), *coat[i].round(3)] for i in range(120)],
    )
    bird = generator.random((200, 2)) < 0.5
    Y = np.column_stack([bird.any(axis=1), bird])
    Y = Y & (generator.random(Y.shape) > 0.2)
    _write(labels, ["tag_bird", "tag_wren", "tag_owl", "x"], [[*y.astype(int), i % 7] for i, y in enumerate(Y)])
    table = generator.poisson(np.where(np.arange(12)[None] % 3 == np.arange(20)[:, None] % 3, 9.0, 0.5))
    _write(counts, ["doc", *(f"w{j}" for j in range(12))], [[f"d{i}", *row] for i, row in enumerate(table)])
    channels = {"sequence": "session", "channels": {"face": ["face_*"], "coat": ["coat_*"]}}
    return {
        "relations": RunConfig("relations", birds, {"id": "segment", "show": False}, {"n_clusters": 3}),
        "coverage": RunConfig("instances", birds, bags, {"n_novel": 1}),
        "spectral": RunConfig("instances", birds, bags, {"method": "spectral", "n_clusters": 4}),
        "novel": RunConfig("instances", birds, bags, {"method": "dmnl", "n_novel": 1, "n_init": 1}),
        "words": RunConfig("bags", birds, only_bags),
        "margin": RunConfig("bags", birds, only_bags, {"method": "margin", "n_clusters": 3, "n_init": 1}),
        "medoids": RunConfig("bags", birds, only_bags, {"method": "medoids", "n_clusters": 3}),
        "sources": RunConfig("sources", people, channels, {"n_clusters": 3, "curve": [2, 5]}),
        "hierarchy": RunConfig("hierarchy", labels, {"label": ["tag_*"]}),
        "coclusters": RunConfig("coclusters", counts, {"id": "doc"}, {"n_clusters": [3, 3]}),
    }


def _images_and_sounds(folder):
    from PIL import Image

    Image.fromarray(np.arange(90 * 60 * 3, dtype=np.uint8).reshape(90, 60, 3)).save(folder / "0.png")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n but no more")
    with wave.open(str(folder / "1.wav"), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes((8000 * np.sin(np.arange(4000) / 5)).astype("<i2").tobytes())


def _write(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([head, *rows])
