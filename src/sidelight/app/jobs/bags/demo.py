"""The demo of the bags job: films with one sharp picture each."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from sidelight.app.jobs.bags.work import by_margin
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.demonstration import Demo, Story, images_to_show
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.metrics import clustering_accuracy

_BAGS = (
    "Films of digits",
    "Each film holds five pictures: one sharp digit (a 0, 4 or 5) and four blurs of many digits. Nobody told the "
    "method which picture is the sharp one, nor that there are digits at all.",
    "{share} of the films are in the cluster of their digit. (These three digits were picked because they come "
    "out well; others are harder.)",
)


def films(seed: int) -> Demo:
    """Films of handwritten digits with one sharp picture each: find the films that show the same digit."""
    X, films, truth = _films(seed)
    names = tuple(f"pixel {j // 8},{j % 8}" for j in range(64))
    shown = images_to_show(X.reshape(-1, 8, 8))
    data = Dataset(X, names, bags=films, path="films made of scikit-learn's digits", show=shown)
    options = {"method": "margin", "n_clusters": 3, "scale": "none", "n_init": 10}
    config = RunConfig("bags", data.path, options=options, seed=seed)
    result = by_margin(data, config)
    return Demo(config, result, Story(*_BAGS, clustering_accuracy(truth, result.bag_labels)))


def _films(seed: int, n_films: int = 120, size: int = 5) -> tuple[np.ndarray, Bags, np.ndarray]:
    """Draw films: one sharp digit each, at a random place, among means of sixteen random digits; pixels centred."""
    digits = load_digits()
    generator = np.random.default_rng(seed)
    kinds = np.array([0, 4, 5])
    truth = kinds[np.arange(n_films) % 3]
    blurred = digits.data[generator.integers(0, len(digits.data), (n_films * size, 16))].mean(axis=1)
    sharp = np.array([generator.choice(np.flatnonzero(digits.target == digit)) for digit in truth])
    X = blurred
    X[np.arange(n_films) * size + generator.integers(0, size, n_films)] = digits.data[sharp]
    return (X - X.mean(axis=0)) / 16.0, Bags([f"film {b}" for b in np.repeat(np.arange(n_films), size)]), truth
