"""Sets whose rows' true names are known, for asking how often what is said to be sure is right; a quarter held out.

Features of sounds and photographs are computed once and kept in ``benchmarks/.work/trust``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import hierarchy_sets
import sidelight as sl
from datasets import folder, load
from runner import WORK

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, dict[int, set[str]]]  # X, bag of each row, true names, lists
TITLES = {
    "carroll": "Letter-Carroll",
    "msrcv2": "MSRC v2, table",
    "hja": "HJA birdsong",
    "digits": "digits in bags of 4",
    "sounds": "environmental sounds in fours",
    "photos": "MSRC v2, photographs",
    "posts": "newsgroups in digests of 4",
    "pens": "pen digits, 1600 rows in fours",
    "letters": "UCI letters, 2400 rows in fours",
}
UNSEEN = ("pens", "letters")  # that nothing was chosen by
HELD_OUT = 0.25


def lists_of(bag: np.ndarray, y: np.ndarray) -> dict[int, set[str]]:
    """Return what the rows of each bag are."""
    lists: dict[int, set[str]] = {}
    for b, name in zip(bag.tolist(), y.tolist()):
        lists.setdefault(b, set()).add(str(name))
    return lists


@cache
def rows_of(name: str) -> Rows:
    """Return a set; lists are complete, but of photographs they are the tags."""
    if name in ("carroll", "msrcv2", "hja"):
        X, bags, y = load(name)
        names = np.array([f"k{c:02d}" for c in y])
        bag = np.array(bags.codes)
        return X, bag, names, lists_of(bag, names)
    return _MADE[name]()


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[int, set[str]], np.ndarray]:
    """Return rows (standardised by those that are learnt from), bags, names, lists, and which rows are held out."""
    X, bag, y, lists = rows_of(name)
    ids = np.array(sorted(lists))
    chosen = np.random.default_rng(seed).permutation(len(ids))[: int(HELD_OUT * len(ids))]
    out = np.isin(bag, ids[chosen])
    mean, spread = X[~out].mean(axis=0), X[~out].std(axis=0)
    return (X - mean) / np.where(spread > 0, spread, 1.0), bag, y, lists, out


def bags_of(bag: np.ndarray, lists: dict[int, set[str]], rows: np.ndarray) -> sl.Bags:
    """Return the labelled bags of some rows."""
    ids = bag[rows].tolist()
    return sl.Bags(ids, labels={b: lists[b] for b in set(ids)})


def _in_fours(y: np.ndarray, seed: int) -> np.ndarray:
    order, bag = np.random.default_rng(seed).permutation(len(y)), np.empty(len(y), dtype=int)
    bag[order] = np.arange(len(y)) // 4
    return bag


def _digits() -> Rows:
    X, y = load_digits(return_X_y=True)
    names, bag = np.array([f"d{c}" for c in y]), _in_fours(y, 5)
    return X, bag, names, lists_of(bag, names)


def _uci(file: str, n_rows: int) -> Rows:
    pool = sl.read(folder() / "uci" / file, **({"header": False} if file == "letter.dat" else {}))
    drawn = np.random.default_rng(11).permutation(len(pool.X))[:n_rows]
    names = np.array([f"k{name}" for name in pool.y])[drawn]
    bag = _in_fours(names, 11)
    return np.asarray(pool.X, dtype=float)[drawn], bag, names, lists_of(bag, names)


def _posts() -> Rows:
    posts = hierarchy_sets.newsgroups()
    leaves = [k for k, name in enumerate(posts.names) if name not in hierarchy_sets.INNER]
    names = np.array(posts.names)[leaves][posts.Y[:, leaves].argmax(axis=1)]
    bag = _in_fours(names, 5)
    return posts.X, bag, names, lists_of(bag, names)


def _kept(name: str, make: Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[np.ndarray]:
    """Compute features once."""
    file = WORK / "trust" / f"{name}.npz"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        X, bag, y = make()
        np.savez(file, X=X, bag=bag, y=y)
    with np.load(file) as arrays:
        return [arrays["X"], arrays["bag"], arrays["y"]]


def _sounds() -> Rows:
    def make() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from sidelight.files.material.sounds import SoundRecipe, describe_piece

        with (folder() / "environmental_sounds" / "kinds.csv").open() as handle:
            kinds = {line["file"]: line["kind"] for line in csv.DictReader(handle)}
        files = sorted((folder() / "environmental_sounds" / "clips").glob("*.ogg"))
        X = np.array([describe_piece(file, SoundRecipe(44_100), 0.0, 5.0) for file in files], dtype=float)
        y = np.array([kinds[file.name] for file in files])
        return X, _in_fours(y, 5), y

    X, bag, y = _kept("sounds", make)
    return X, bag, y, lists_of(bag, y)


def _photos() -> Rows:
    place = folder() / "msrcv2_photos"
    lines = [line.split(",") for line in (place / "tags.csv").read_text().splitlines()[1:]]
    tags = {name: set(said.split()) for name, said in lines}

    def make() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from PIL import Image

        from bench_material import KINDS
        from sidelight.files.material.pictures import PictureRecipe, _pixels, _planes, describe, regions_of

        X, bag, y = [], [], []
        for number, name in enumerate(tags):
            planes = _planes(_pixels(place / "photos" / name))
            regions = regions_of(planes, PictureRecipe().regions)
            X.append(describe(planes, regions))
            drawn = Image.open(place / "truth" / f"{Path(name).stem}.png")
            truth = np.asarray(drawn.resize(regions.shape[::-1], Image.Resampling.NEAREST))
            for region in range(len(X[-1])):  # a region is what most of its pixels are, where half of them are known
                own = truth[regions == region]
                counts = np.bincount(own, minlength=len(KINDS) + 1)
                best = int(counts[1:].argmax())
                y.append(KINDS[best] if counts[best + 1] > len(own) / 2 else "")
                bag.append(number)
        return np.vstack(X), np.array(bag), np.array(y)

    X, bag, y = _kept("photos", make)
    return X, bag, y, dict(enumerate(tags.values()))


_MADE: dict[str, Callable[[], Rows]] = {
    "digits": _digits,
    "sounds": _sounds,
    "photos": _photos,
    "posts": _posts,
    "pens": lambda: _uci("penbased.dat", 1600),
    "letters": lambda: _uci("letter.dat", 2400),
}
