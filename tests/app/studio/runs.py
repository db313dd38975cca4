"""Small runs to be opened in the studio: rows in bags with lists of their kinds, pictures of some of them."""

from __future__ import annotations

import csv

import numpy as np
from PIL import Image

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.run import run

KINDS = ("wren", "owl", "jay")
BAGS = {"id": "segment", "bag": "recording", "label": "species", "label_separator": "|", "show": "picture"}


def write_tables(folder):
    """Write rows in bags with lists of their kinds, the same without jays, pictures and pairs; the classes overlap."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=90)
    points = np.array([[0, 3], [3, 0], [-3, -3]])[kinds] + 1.3 * rng.normal(size=(90, 2))
    lists = ["|".join(sorted({KINDS[k] for k in kinds[b * 5 : b * 5 + 5]})) for b in range(18)]
    for k, colour in enumerate(((200, 60, 40), (40, 90, 200), (60, 160, 60))):
        Image.new("RGB", (48, 40), colour).save(folder / f"{k}.png")
    extra = rng.normal(size=90).round(3)
    for name, hidden in (("birds", ""), ("no-jays", "jay")):
        told = ["|".join(kind for kind in cell.split("|") if kind != hidden) for cell in lists]
        rows = [
            [f"s{i}", f"rec{i // 5}", told[i // 5], f"{kinds[i]}.png", *points[i].round(3).tolist(), float(extra[i])]
            for i in range(90)
        ]
        with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="") as handle:
            titles = ["segment", "recording", "species", "picture", "pitch", "length", "loudness"]
            csv.writer(handle).writerows([titles, *rows])
    with open(folder / "pairs.csv", "w", encoding="utf-8", newline="") as handle:
        same = [("s0", f"s{i}", "same" if kinds[i] == kinds[0] else "different") for i in range(1, 9)]
        csv.writer(handle).writerows([("left", "right", "answer"), *same])
    folder.joinpath("kinds.csv").write_text("\n".join(KINDS[k] for k in kinds))
    return folder


def results_of(tables, job, tmp_path):
    """Run a job on the tables."""
    table = str(tables / "birds.csv")
    plain = {"id": "segment", "ignore": ["recording", "species"], "show": "picture"}
    config = {
        "coverage": RunConfig("instances", table, BAGS, {"n_novel": 1}),
        "nobody named jays": RunConfig(
            "instances", str(tables / "no-jays.csv"), BAGS, {"n_novel": 1, "empty": "none"}
        ),
        "spectral": RunConfig("instances", table, BAGS, {"method": "spectral", "n_clusters": 4}),
        "novel": RunConfig("instances", table, BAGS, {"method": "dmnl", "n_novel": 1, "n_init": 1}),
        "relations": RunConfig("relations", table, plain, {"n_clusters": 3, "pairs": str(tables / "pairs.csv")}),
        "sources": RunConfig(
            "sources", table, {"channels": {"a": ["pitch"], "b": ["length", "loudness"]}, **plain},
            {"n_clusters": 3, "curve": [2, 3]},
        ),
    }[job]  # fmt: skip
    run(config, tmp_path / "results", spell=str)
    return tmp_path / "results"
