"""Hausdorff distances against their definitions, in slow plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from sidelight.data.bags import Bags
from sidelight.errors import InvalidInput
from sidelight.estimators.bags import bag_distances as module
from sidelight.estimators.bags.bag_distances import bag_distances


def plain(D, codes, others, kind):
    out = np.zeros((codes.max() + 1, others.max() + 1))
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            block = D[np.ix_(codes == a, others == b)]
            forth, back = block.min(axis=1), block.min(axis=0)
            if kind == "minimal":
                out[a, b] = block.min()
            elif kind == "maximal":
                out[a, b] = max(forth.max(), back.max())
            else:
                out[a, b] = (forth.sum() + back.sum()) / (len(forth) + len(back))
    return out


def rows_and_bags(seed=0, n=40, n_bags=9):
    generator = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_bags), generator.integers(0, n_bags, n - n_bags)])
    return generator.normal(size=(n, 3)) + 100, codes


@pytest.mark.parametrize("kind", ["minimal", "maximal", "average"])
@pytest.mark.parametrize("form", ["dense", "csr", "precomputed"])
def test_equals_the_definition(kind, form, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 300)  # several blocks
    X, codes = rows_and_bags()
    D = cdist(X, X)
    given = {"dense": X, "csr": sp.csr_array(X), "precomputed": D}[form]
    metric = "precomputed" if form == "precomputed" else "euclidean"
    expected = plain(D, codes, codes, kind)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(bag_distances(given, codes, kind=kind, metric=metric), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["minimal", "maximal", "average"])
def test_to_other_bags(kind):
    (X, codes), (Z, others) = rows_and_bags(), rows_and_bags(seed=1, n=15, n_bags=4)
    D = cdist(X, Z)
    expected = plain(D, codes, others, kind)
    np.testing.assert_allclose(bag_distances(X, codes, Z, others, kind=kind), expected, atol=1e-6)
    by_table = bag_distances(D, codes, bags_other=others, kind=kind, metric="precomputed")
    np.testing.assert_allclose(by_table, expected, atol=1e-12)


def test_bags_come_in_the_order_of_their_names():
    bags = Bags(["z", "a", "z", "m"])
    found = bag_distances([[0.0], [3.0], [1.0], [9.0]], bags, kind="minimal")
    np.testing.assert_allclose(found[0], [0.0, 2.0, 8.0])


@pytest.mark.parametrize(
    ("D", "words"),
    [
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), "infinity"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "not be negative"),
        (np.zeros((2, 3)), "square"),
    ],
)
def test_distances_that_are_none_are_refused(D, words):
    with pytest.raises((InvalidInput, ValueError), match=words):
        bag_distances(D, ["a", "b"], metric="precomputed")


def test_an_unknown_kind_is_named():
    with pytest.raises(InvalidInput, match="average"):
        bag_distances(np.eye(2), ["a", "b"], kind="averag")


def test_rows_too_far_apart_to_square_are_refused():
    X = np.random.default_rng(0).normal(size=(6, 2)) * 1e200
    with pytest.raises(InvalidInput, match="overflow"):
        bag_distances(X, np.repeat([0, 1, 2], 2))


@pytest.mark.parametrize("kind", ["minimal", "maximal", "average"])
def test_distances_that_differ_by_direction_are_taken_in_the_mean_of_both(kind):
    rng = np.random.default_rng(1)
    D, codes = rng.random((9, 9)), rng.permutation(9) // 3
    found = bag_distances(D, Bags(codes), kind=kind, metric="precomputed")
    groups = [np.flatnonzero(codes == name) for name in Bags(codes).names]

    def one_way(a, b):
        block = D[np.ix_(a, b)]
        forth, back = block.min(axis=1), block.min(axis=0)
        if kind == "minimal":
            return block.min()
        return max(forth.max(), back.max()) if kind == "maximal" else (forth.sum() + back.sum()) / (len(a) + len(b))

    for i, a in enumerate(groups):
        for j, b in enumerate(groups):
            assert found[i, j] == pytest.approx(0.0 if i == j else (one_way(a, b) + one_way(b, a)) / 2)
