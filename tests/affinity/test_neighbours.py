"""Neighbours: exact below the limit, honest about recall above it, and never the row itself."""

import numpy as np
import pytest
from scipy import sparse

from sidelight._affinity import neighbours as inverted
from sidelight._affinity.neighbours import as_metric_rows, nearest_of, nearest_rows


def plain_neighbours(X, k):
    gaps = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(gaps, np.inf)
    order = np.argsort(gaps, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(gaps, order, axis=1)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_brute_force_finds_the_true_neighbours(rng, as_rows):
    X = rng.standard_normal((60, 4))
    found = nearest_rows(as_rows(X), 5, generator=rng)
    indices, distances = plain_neighbours(X, 5)
    assert np.array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, atol=1e-7)  # the expanded square cancels
    assert found.recall == 1.0


def test_a_row_is_never_its_own_neighbour_among_duplicates(rng):
    X = np.repeat(rng.standard_normal((4, 3)), 10, axis=0)
    for limit in (0, 100):
        found = nearest_rows(X, 6, generator=rng, exact_up_to=limit)
        assert not (found.indices == np.arange(40)[:, None]).any()
        np.testing.assert_allclose(found.distances, 0, atol=1e-7)  # the expanded square cancels


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_cells_reach_the_recall_they_report(rng, as_rows):
    centres = rng.standard_normal((20, 6)) * 4
    X = centres[rng.integers(20, size=1500)] + rng.standard_normal((1500, 6))
    found = nearest_rows(as_rows(X), 8, generator=rng, exact_up_to=0)
    truth, _ = plain_neighbours(X, 8)
    recall = np.mean([len(set(a) & set(b)) for a, b in zip(found.indices, truth)]) / 8
    assert found.recall >= inverted.RECALL
    assert recall == pytest.approx(found.recall, abs=0.03)  # a sample of 500 rows against all
    assert (np.diff(found.distances, axis=1) >= 0).all()


def test_the_scan_equals_its_plain_version_tile_by_tile(rng):
    rows = rng.standard_normal((40, 3)).astype(np.float32)
    lengths, queries = (rows**2).sum(axis=1), np.array([3, 20, 39], dtype=np.intp)
    lines = np.array([2, 0, 1])  # products come in any order

    def scan(kernel, tiles):
        best, found = np.full((3, 5), np.inf, dtype=np.float32), np.full((3, 5), -1, dtype=np.intp)
        for first, last in tiles:
            kernel(rows[queries[lines]] @ rows[first:last].T, lengths[first:last], first, queries, lines, best, found)
        return found

    order, _ = plain_neighbours(rows.astype(float), 5)
    for tiles in ([(0, 40)], [(0, 7), (7, 30), (30, 40)]):
        assert np.array_equal(scan(inverted.keep_smallest, tiles), order[queries])
        assert np.array_equal(scan(inverted.keep_smallest.py_func, tiles), order[queries])


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_distances_are_exact_and_copies_at_zero(rng, as_rows):
    X = rng.standard_normal((30, 4)) + 1e6
    X[7] = X[3]
    found = rng.integers(30, size=(30, 5))
    found[3, 0] = 7
    gaps = inverted.exact_distances(as_rows(X), as_rows(X), found)
    np.testing.assert_allclose(gaps, np.linalg.norm(X[:, None] - X[found], axis=2), rtol=1e-12)
    assert gaps[3, 0] == 0
    plain = np.empty((30, 5))
    inverted.measure.py_func(X, X, found, plain)
    np.testing.assert_allclose(plain, gaps, rtol=1e-12)


def test_cells_of_copies_reach_out_until_they_have_enough_neighbours(rng):
    X = np.repeat(rng.standard_normal((50, 2)) * 100, 3, axis=0)
    found = nearest_rows(X, 6, generator=rng, exact_up_to=0)
    assert (found.indices >= 0).all()
    assert np.isfinite(found.distances).all()


def test_more_neighbours_than_rows_are_cut_down(rng):
    assert nearest_rows(rng.standard_normal((4, 2)), 9, generator=rng).indices.shape[1] == 3
    assert nearest_rows(np.zeros((1, 2)), 9, generator=rng).indices.shape[1] == 0


def test_unit_rows_turn_the_cosine_into_a_distance(rng):
    X = np.abs(rng.standard_normal((5, 3)))
    U = as_metric_rows(X, "cosine")
    cosine = X @ X.T / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(np.linalg.norm(U[:, None] - U, axis=2) ** 2, 2 - 2 * cosine, atol=1e-12)
    with pytest.raises(ValueError, match="metric"):
        as_metric_rows(X, "manhattan")


def test_a_query_that_is_a_row_finds_it(rng):
    X = rng.standard_normal((30, 3))
    indices, _ = nearest_of(X, X[[4, 9]], 3)
    assert list(indices[:, 0]) == [4, 9]
