"""Bags with known groups for the benchmarks of clustering bags."""

from __future__ import annotations

import gzip

import numpy as np
from sklearn.preprocessing import StandardScaler, normalize

import sidelight as sl
from datasets import folder


def corel() -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """Positives of elephant, fox and tiger: rows, bags, and the animal of each bag."""
    X, ids, animals = [], [], {}
    for number, name in enumerate(("elephant", "fox", "tiger")):
        data = sl.read(folder() / "corel" / f"{name}.data")
        positive = np.array([data.bags.labels[bag] == frozenset({"1"}) for bag in data.bags.names])
        rows = np.flatnonzero(positive[data.bags.codes])
        X.append(data.X[rows])
        for bag in data.bags[rows]:
            ids.append(f"{name} {bag}")
            animals[ids[-1]] = number
    bags = sl.Bags(ids)
    return np.vstack(X), bags, np.array([animals[name] for name in bags.names])


def birdsong(most: int = 5) -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """HJA recordings by their dominant species: the recordings of the ``most`` frequent dominant species."""
    data = sl.read(folder() / "hja" / "segments.csv.gz")
    named = data.y != ""
    dominant = {}
    for bag in data.bags.each():
        species = data.y[bag.rows][named[bag.rows]]
        if len(species):
            names, counts = np.unique(species.astype(str), return_counts=True)
            dominant[bag.name] = str(names[counts.argmax()])
    names, counts = np.unique(list(dominant.values()), return_counts=True)
    frequent = set(names[np.argsort(-counts, kind="stable")[:most]].tolist())
    kept = np.array([dominant.get(name) in frequent for name in data.bags.names])
    rows = np.flatnonzero(kept[data.bags.codes])
    bags = sl.Bags(list(data.bags[rows]))
    return data.X[rows], bags, np.array([dominant[name] for name in bags.names])


def standardised_unit(X: np.ndarray) -> np.ndarray:
    """Standardised columns, then rows of length one: the pre-processing of the table."""
    return normalize(StandardScaler().fit_transform(X))


def sival(classes: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """Six classes of SIVAL, or some of them: rows, bags, and the class of each bag."""
    with gzip.open(folder() / "sival6" / "sival.data.gz", "rt", encoding="ascii") as lines:
        n_rows, n_features = map(int, next(lines).split())
        X, ids = np.zeros((n_rows, n_features)), np.empty(n_rows, dtype=np.intp)
        for row, line in enumerate(lines):
            name, *cells = line.split()
            ids[row] = int(name.split(":")[1])
            for cell in cells:
                column, value = cell.split(":")
                X[row, int(column) - 1] = float(value)
    kind = np.unique((ids - 1) // 60, return_inverse=True)[1]  # the file numbers 60 bags a class
    rows = np.flatnonzero(np.isin(kind, classes))
    bags = sl.Bags(ids[rows].tolist())
    return X[rows], bags, kind[rows][np.asarray(bags.order)[np.asarray(bags.starts)[:-1]]]


def made_bags(name: str, n_bags: int = 200, size: int = 15) -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """Bags of four groups among normal rows: one telling row, all rows moved a little, or each bag moved as well."""
    generator = np.random.default_rng(0)
    truth = np.arange(n_bags) % 4
    codes = np.repeat(np.arange(n_bags), size)
    X = generator.normal(size=(n_bags * size, 12))
    places = generator.normal(size=(4, 12))
    if name == "one telling row":
        X[np.arange(n_bags) * size] += 2.5 * places[truth]
    elif name == "rows alike":
        X += 0.2 * places[truth][codes]
    else:
        X += (0.35 * places[truth] + 0.6 * generator.normal(size=(n_bags, 12)))[codes]
    return X, sl.Bags(codes.tolist()), truth
