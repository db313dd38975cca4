"""The public data sets of the papers, read with ``sl.read`` and standardised as the papers do.

They are looked for in ``$SIDELIGHT_DATA``, else in ``../shared/data``; nothing is downloaded.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

import sidelight as sl
from words import ROAD_NOT_TAKEN, make_words

# name of the set: its title and file, its number of bags, rows, features and classes, to check what was read
FACTS = {
    "hja": ("HJA birdsong", "hja/segments.csv.gz", (548, 4998, 38, 13)),
    "msrcv2": ("MSRC v2", "msrcv2/MSRC_MIML.mat", (591, 1758, 48, 23)),
    "carroll": ("Letter-Carroll", "letter_carroll/letter_carroll.mat", (166, 717, 16, 24)),
}
NAMES = tuple(FACTS)


def folder() -> Path:
    """Return the folder of public data sets."""
    named = os.environ.get("SIDELIGHT_DATA")
    found = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not found.is_dir():
        raise FileNotFoundError(
            f"No public data in {found}: nothing is downloaded. Set SIDELIGHT_DATA to the folder that holds "
            "hja/, msrcv2/, uci/ and the other sets."
        )
    return found


@cache
def load_frost() -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """Return Letter-Frost, drawn from UCI's letters as [PF14] drew it; the paper's own draw is not public."""
    pool = sl.read(folder() / "uci" / "letter.dat", header=False)
    drawn = make_words(ROAD_NOT_TAKEN, pool.X, [str(name).lower() for name in pool.y], random_state=0)
    spread = drawn.X.std(axis=0)
    X = (drawn.X - drawn.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return X, drawn.bags, np.unique(np.asarray(drawn.y).astype(str), return_inverse=True)[1]


@cache
def load(name: str) -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """Return X (standardised), the labelled bags and the true class of each row (0, 1, ...) of a set.

    Of HJA only the segments with a species are kept, as in [PF14]: a bag's labels are the union of theirs. Classes
    that no row has are dropped.
    """
    if name == "frost":
        return load_frost()
    _, file, facts = FACTS[name]
    roles = {"bag": "recording", "label": "species"} if name == "hja" else {}
    data = sl.read(folder() / file, **roles)
    known = data.y != ""
    X, names = data.X[known], data.y[known]
    ids = np.asarray(data.bags.names, dtype=object)[data.bags.codes[known]]
    classes, y = np.unique(names.astype(str), return_inverse=True)
    labels: dict[object, set[str]] = {}
    for bag, label in zip(ids.tolist(), classes[y].tolist()):
        labels.setdefault(bag, set()).add(label)
    bags = sl.Bags(ids.tolist(), labels=labels, classes=classes.tolist())
    read = (bags.n_bags, *X.shape, len(classes))
    if read != facts:
        raise ValueError(f"{name}: expected bags, rows, features, classes = {facts}. Got {read}.")
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), bags, y


def title(name: str) -> str:
    """Return what the papers call the set."""
    return "Letter-Frost" if name == "frost" else FACTS[name][0]


def made(
    n_rows: int,
    *,
    n_classes: int = 20,
    n_groups: int = 1,
    apart: float = 0.45,
    bag_size: int = 10,
    astray: float = 0.0,
    seed: int = 0,
) -> tuple:
    """Draw rows of any number for speed and growth: X, labelled bags and y.

    Each class is ``n_groups`` Gaussian groups in 48 dimensions whose centres are drawn with spread ``apart``; at 0.45
    neighbours are often of another class. A bag has rows of one to three classes. A share ``astray`` of the rows looks
    like a class drawn at random, which no number of rows can mend.
    """
    generator = np.random.default_rng(seed)
    n_features = 48
    centres = apart * generator.standard_normal((n_classes, n_groups, n_features))
    n_bags = -(-n_rows // bag_size)
    size = 1 + generator.integers(3, size=n_bags)
    chosen = np.argsort(generator.random((n_bags, n_classes)), axis=1)[:, :3]
    bag = np.arange(n_rows) // bag_size
    y = chosen[bag, (generator.random(n_rows) * size[bag]).astype(int)]
    look = y
    if astray:
        look = np.where(generator.random(n_rows) < astray, generator.integers(n_classes, size=n_rows), y)
    X = centres[look, generator.integers(n_groups, size=n_rows)] + generator.standard_normal((n_rows, n_features))
    Y = np.zeros((n_bags, n_classes), dtype=np.int8)
    Y[bag, y] = 1
    return X, sl.Bags.from_indicator(bag, Y), y
