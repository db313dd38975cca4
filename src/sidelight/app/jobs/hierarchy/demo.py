"""The demo of the hierarchy job: digits with kinds of numbers as labels."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.demonstration import Demo, Story
from sidelight.app.jobs.hierarchy.work import learn
from sidelight.data.dataset import Dataset
from sidelight.metrics import micro_f1

_HIERARCHY = (
    "Kinds of numbers, with gaps",
    "Every handwritten digit was labelled with its name and with the kinds of numbers it belongs to (even, odd, "
    "multiple of 4, odd prime), and three in ten of all labels were struck out. Nobody said that a 4 is a "
    "multiple of 4, or that those are even.",
    "Against the labels before any were struck out, used only here, the filled label sets have a micro F1 of {share}.",
)


def kinds_of_numbers(seed: int) -> Demo:
    """Handwritten digits with kinds of numbers as labels, three in ten of which were forgotten."""
    digits = load_digits()
    names, truth = _kinds_of_numbers(digits.target)
    kept = np.random.default_rng(seed).random(truth.shape) >= 0.3
    seen = (truth & kept).astype(np.int8)
    data = Dataset(
        digits.data, tuple(digits.feature_names), Y=seen, label_names=names, path="scikit-learn's digits, with labels"
    )
    config = RunConfig("hierarchy", data.path, options={"scale": "none"}, seed=seed)
    result = learn(data, config)
    return Demo(config, result, Story(*_HIERARCHY, micro_f1(truth, result.completed)))


def _kinds_of_numbers(digit: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """Label every digit with its name and with the kinds of numbers it belongs to."""
    kinds = {"even": digit % 2 == 0, "odd": digit % 2 == 1, "multiple of 4": digit % 4 == 0}
    kinds["odd prime"] = np.isin(digit, (3, 5, 7))
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    kinds |= {word: digit == value for value, word in enumerate(words)}
    return tuple(kinds), np.column_stack(list(kinds.values()))
