"""Every parameter of every estimator of ours reaches the fit: another value makes another model."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.laws.registry import label_sets, pair_answers

import sidelight as sl

ours = sl.estimators
Y = np.arange(60) % 3
ROWS = np.abs(3.0 * np.eye(4)[Y] + np.random.default_rng(0).normal(scale=1.5, size=(60, 4)))  # groups that overlap
TABLE = np.random.default_rng(1).poisson(2.0, size=(12, 10)) + 0.0
SMALL = np.random.default_rng(7).permutation(60) // 2  # bags of two rows: of one group, or of two
BAGS = sl.Bags(SMALL, labels={int(b): set(np.array(list("abc"))[Y[b == SMALL]].tolist()) for b in range(30)})
FEW = {"n_init": 1, "max_iter": 20}
ANSWERS = {"pairs": pair_answers()}
CODES = sl.CoOccurrence.from_codes(
    {name: np.random.default_rng(i).integers(12, size=150) for i, name in enumerate("abc")}
)

# estimator, what every fit has, fit's further arguments, and for each parameter a value (with what it needs to matter)
CASES: list[tuple[type, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        sl.BagSpectralClustering,
        {"n_clusters": 3},
        {"bags": BAGS},
        {
            "n_clusters": 4, "alpha": 0.2, "constraints": "ambiguous", "centred": True, "affinity": "neighbours",
            "metric": "cosine", "n_neighbors": ({"affinity": "neighbours"}, 5), "scale_neighbor": 3,
            "rounding": "cluster_qr", "n_init": ({"n_clusters": 9, "alpha": 0}, 1),
            "random_state": ({"n_clusters": 9, "n_init": 1}, 1),
        },
    ),
    (
        ours.BagDiscriminativeClustering,
        {"n_clusters": 3, **FEW},
        {"bags": BAGS},
        {"n_clusters": 2, "alpha": 30.0, "tau": 2.0, "penalty": 1.0, "n_init": ({"max_iter": 2}, 6),
         "max_iter": 3, "tol": 0.1, "random_state": 1},
    ),
    (
        sl.DiscriminativeClustering,
        {"n_clusters": 3, "eps": 0.1, **FEW},
        ANSWERS,
        {
            "n_clusters": 2, "objective": "variational", "boundary": "straight", "tau": 2.0, "penalty": 0.5,
            "eps": 0.3, "n_init": 2, "max_iter": ({"tol": 0.0}, 2), "tol": 0.1, "random_state": 1,
        },
    ),
    (
        sl.LatentHierarchyClassifier,
        {},
        {"y": label_sets()},
        {
            "structure": "joint", "tree": [-1, -1, -1, -1], "alpha": "label", "threshold": 0.2, "penalty": 1.0,
            "eps": 0.1, "init": ({"structure": "joint"}, "star"), "max_iter": 3, "tol": 0.1,
            "random_state": ({"structure": "joint", "init": "random", "n_init": 1}, 1),
        },
    ),
    (
        sl.CoverageClustering,
        {"n_subclusters": 2, **FEW},
        {"bags": BAGS},
        {
            "n_subclusters": 1, "n_novel": 1, "penalty": 3.0, "n_init": 2, "max_iter": 3, "tol": 0.1,
            "wrong": 0.2, "forgotten": 0.2, "information": 0.5, "boundary": "curved", "calibrate": False,
            "random_state": 1,
        },
    ),
    (
        sl.DMNL,
        {"n_novel": 1, **FEW},
        {"bags": BAGS},
        {
            "n_novel": 2, "lam": 1.0, "rho": 1.0, "ridge": 2.0, "structure": "manifold", "n_init": 3, "max_iter": 2,
            "tol": 0.5, "noise": 2.5, "random_state": 1,
            "cv": ({"n_novel": "auto", "max_novel": 1}, 2), "max_novel": ({"n_novel": "auto", "cv": 2}, 1),
        },
    ),
    (
        sl.MaxMarginBagClustering,
        {"n_clusters": 3, "n_init": 1},
        {"bags": BAGS},
        {
            "n_clusters": 2, "C": 1.0, "margin": "paper", "balance": ({"margin": "paper", "scale": "none"}, 0.0),
            "scale": "standard",
            "init": "normal", "n_init": 3, "tol": ({"init": "normal", "tol": 1e-6}, 0.5), "inner_tol": 0.2,
            "max_iter": ({"init": "normal"}, 1), "random_state": ({"init": "normal"}, 1),
        },
    ),
    (
        ours.BagKMedoids,
        {"n_clusters": 3, "n_init": 1},
        {"bags": BAGS},
        {"n_clusters": 2, "distance": "maximal", "method": "alternate",
         "n_init": ({"n_clusters": 8}, 9), "max_iter": 1, "random_state": 2},
    ),
    (
        ours.AnnealedCoclustering,
        {"n_clusters": 3, "n_init": 1},
        {"X": CODES},
        {"n_clusters": 2, "objective": "chi-square", "n_init": 3, "sweeps": 2, "cooling": 0.5, "random_state": 1},
    ),
    (
        sl.InformationCoclustering,
        {"n_clusters": 3, "n_init": 1},
        {"X": TABLE},
        {"n_clusters": 2, "n_init": 4, "max_iter": 1, "tol": 0.2, "random_state": 1},
    ),
    (
        ours.SpectralContingency,
        {"n_clusters": 3},
        {"X": CODES},
        {"n_clusters": 2, "scaling": "unit", "n_init": ({"n_clusters": 5, "n_init": 1}, 9), "random_state": 1},
    ),
    (
        ours.WeightCoclustering,
        {"n_clusters": 3, "n_init": 1, "max_iter": 30},
        {"X": TABLE},
        {"n_clusters": 2, "constraints": ("unique", "assigned"), "n_init": 3, "max_iter": 5,
         "learning_rate": 0.2, "random_state": 1},
    ),
    (
        ours.Codebook,
        {"n_codes": 5},
        {},
        {"n_codes": 4, "n_init": 5, "random_state": 1},
    ),
    (
        sl.MultiSourceClustering,
        {"n_clusters": 3, "channels": {"a": [0, 1], "b": [2, 3]}, "method": "annealed"},
        {},
        {
            "n_clusters": 2, "channels": {"b": [2, 3], "a": [0, 1]}, "primary": "b", "method": "graphs",
            "combine": ({"channels": {"a": [0], "b": [1], "c": [2, 3]}}, "interleaved"), "n_codes": 20,
            "novelty": 0.5, "random_state": 1,
        },
    ),
]  # fmt: skip


NOT_HERE = {  # changes nothing on such data, or nothing that a fit keeps
    ("BagSpectralClustering", "eigen_tol"),  # few rows are decomposed whole
    ("LatentHierarchyClassifier", "n_init"),  # the best of several starts may be the first
    ("DiscriminativeClustering", "errors"),  # how answers are mistaken needs many of them
    ("DiscriminativeClustering", "on_conflict"),  # an error or none
    ("BagKMedoids", "metric"),  # another kind of X
    ("MultiSourceClustering", "reassign"),  # about sequences
}


class Settings(dict):
    """Settings that name a fit, so that each is made once."""

    def __hash__(self) -> int:
        return hash(repr(self))


@cache
def learnt(place: int, needs: Settings) -> bytes:
    """What a fit learnt: numbers and tables of them, not the estimators and the settings that it holds."""
    estimator, settings, told, _ = CASES[place]
    told = dict(told)
    X = told.pop("X", ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.SidelightWarning)
        model = estimator(**{"random_state": 0, **settings, **needs})
        model.fit(X, **told)
    said = {"why_", "method_", "primary_", "codebooks_", "notes_"}
    kept = {at: of for at, of in sorted(vars(model).items()) if at.endswith("_") and at not in said}
    return pickle.dumps({at: of for at, of in kept.items() if not isinstance(of, BaseEstimator)})


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        pytest.param(place, name, value, id=f"{estimator.__name__}-{name}")
        for place, (estimator, _, _, values) in enumerate(CASES)
        for name, value in values.items()
    ],
)
def test_another_value_makes_another_model(place, name, value):
    needs, value = value if isinstance(value, tuple) and isinstance(value[0], dict) else ({}, value)
    assert learnt(place, Settings(needs)) != learnt(place, Settings(needs | {name: value}))


def test_every_parameter_has_another_value():
    for place in range(len(CASES)):
        estimator, _, _, values = CASES[place]
        left_out = {name for owner, name in NOT_HERE if owner == estimator.__name__}
        assert set(inspect.signature(estimator).parameters) == set(values) | left_out


EVERY = [one for name in ours.__all__ if inspect.isclass(one := getattr(ours, name)) and issubclass(one, BaseEstimator)]


@pytest.mark.parametrize(
    "estimator", [one for one in EVERY if one is not sl.Standardized], ids=lambda one: one.__name__
)
def test_an_estimator_begins_with_the_values_that_are_described(estimator):
    text, model = inspect.getdoc(estimator), estimator()
    for name, value in model.get_params(deep=False).items():
        if said := re.search(rf"^[\w*, ]*\b{name}\b[\w*, ]* ?:.*?\bdefault=([^\n]+)$", text, re.MULTILINE):
            assert ast.literal_eval(said[1].strip()) == value, name
