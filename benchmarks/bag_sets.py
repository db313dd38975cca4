"""Bags with known groups for the benchmarks of clustering bags."""

from __future__ import annotations

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
