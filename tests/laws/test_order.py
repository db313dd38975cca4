"""The order of rows, columns, answers, bags and labels, and what bags and labels are called, says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from tests.examples import up_to
from tests.laws.registry import CASES, Case, each

import sidelight as sl

EXCUSED = {  # other people's methods, and tables whose rows and columns are codes, draw their starts by position
    "PCKMeans", "MPCKMeans", "ConstrainedGaussianMixture", "ConcatenatedKMeans", "FastMIML", "NovelLabels",
    "AnnealedCoclustering", "WeightCoclustering", "Codebook", "MultiSourceClustering",
}  # fmt: skip
BY_COLUMN = {"CoverageClustering": {"columns", "names of labels"}}  # sub-clusters start at random scores of columns
COUNTED = [case for case in CASES if case.name not in EXCUSED and case.name != "Standardized"]


def overlapping_rows(case: Case) -> np.ndarray:
    """Rows whose groups run into each other: well separated ones are found from any start."""
    X = case.rows()
    if X.shape != (60, 4):
        return X
    y = np.arange(60) % 3
    centres = np.array([[1.0, 1, 4, 2], [4, 1, 1, 2], [1, 4, 1, 3]])
    return np.abs(centres[y] + np.random.default_rng(5).normal(scale=1.2, size=(60, 4)))


def renamed(bags: Any, bag: Any, label: Any) -> Any:
    names = [bag(name) for name in bags.names]
    lists = {bag(name): None if told is None else {label(one) for one in told} for name, told in bags.labels.items()}
    return sl.Bags([names[code] for code in bags.codes], labels={k: v for k, v in lists.items() if v is not None})


def found(case: Case, X: np.ndarray, **side: Any) -> np.ndarray:
    fitted = clone(case.estimator).fit(X, case.target(), **{**case.side(), **side})
    return np.asarray(next(getattr(fitted, name) for name in ("labels_", "row_labels_") if hasattr(fitted, name)))


@each([case for case in COUNTED if hasattr(case.fit(), "labels_") or hasattr(case.fit(), "row_labels_")])
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_the_same_partition_in_any_order_and_by_any_name(case: Case):
    X, side = overlapping_rows(case), case.side()
    before = found(case, X)
    for seed in range(up_to(1)):
        generator = np.random.default_rng(seed)
        rows, columns = generator.permutation(len(X)), generator.permutation(X.shape[1])
        moved = {name: told[rows] for name, told in side.items()}
        again = {"rows": (found(case, X[rows], **moved), before[rows])}
        if case.estimator.get_params().get("channels") is None:
            again["columns"] = found(case, X[:, columns]), before
        for name in side.keys() & {"pairs", "triplets"}:
            shuffled = side[name].only(generator.permutation(side[name].n_answers))
            again["answers"] = found(case, X, **{name: shuffled}), before
        if "bags" in side:
            other = renamed(side["bags"], lambda name: f"z{(int(name) * 7 + 3) % 101:03d}", str)
            again["names of bags"] = found(case, X, bags=other), before
            words = {"ant": "zebra", "bee": "aphid", "cat": "mole"}
            other = renamed(side["bags"], int, words.__getitem__)
            again["names of labels"] = found(case, X, bags=other), before
        for what in again.keys() - BY_COLUMN.get(case.name, set()):
            after, wanted = again[what]
            assert adjusted_rand_score(wanted, after) == 1.0, what


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_what_has_many_optima_ends_in_the_same_one(seed: int):
    """Of small overlapping sets some had another partition after its rows were permuted."""
    generator = np.random.default_rng([11, seed])
    y = generator.integers(0, 4, 60)
    X = np.abs(generator.normal(size=(4, 5))[y] + generator.normal(size=(60, 5)) + 3)
    rows, columns = generator.permutation(60), generator.permutation(5)
    at = np.argsort(rows)
    left, right = np.arange(0, 60, 3), np.arange(1, 60, 3)
    plain, moved = (
        sl.Pairs(place[left], place[right], (y[left] == y[right]).tolist(), n_rows=60) for place in (np.arange(60), at)
    )
    for estimator in (sl.DiscriminativeClustering(4, random_state=0), sl.BayesianActiveClustering(4, random_state=0)):
        before = clone(estimator).fit(X, pairs=plain).labels_
        assert adjusted_rand_score(before[rows], clone(estimator).fit(X[rows], pairs=moved).labels_) == 1.0
    table = sl.InformationCoclustering(3, n_init=2, random_state=0)
    before = clone(table).fit(X).row_labels_
    assert adjusted_rand_score(before[rows], clone(table).fit(X[rows][:, columns]).row_labels_) == 1.0
