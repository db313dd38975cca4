"""Local scaling: the formula, the same on graph and dense, and no division by zero among duplicates."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import dense_local_scaling, graph_local_scaling, similarities_to, working_dtype


def plain_similarities(X, t=7):
    gaps = np.linalg.norm(X[:, None] - X, axis=2)
    sigma = np.sort(gaps, axis=1)[:, t]  # position 0 is the row itself
    return np.exp(-(gaps**2) / (2 * np.outer(sigma, sigma))), sigma


@pytest.fixture
def X():
    return np.random.default_rng(1).standard_normal((40, 3))


def test_dense_similarities_follow_the_formula(X):
    W, scales = dense_local_scaling(X)
    plain, sigma = plain_similarities(X)
    np.testing.assert_allclose(W, plain, atol=1e-10)
    np.testing.assert_allclose(scales, sigma, atol=1e-10)


def test_graph_holds_the_dense_values_of_its_edges(X):
    neighbours = nearest_rows(X, 9, generator=np.random.default_rng(0))
    G, _ = graph_local_scaling(neighbours)
    plain, _ = plain_similarities(X)
    edges = np.zeros((40, 40), dtype=bool)
    edges[np.arange(40)[:, None], neighbours.indices] = True
    edges |= edges.T | np.eye(40, dtype=bool)
    np.testing.assert_allclose(G.toarray(), np.where(edges, plain, 0), atol=1e-7)


def test_a_complete_graph_equals_the_dense_matrix(X):
    G, _ = graph_local_scaling(nearest_rows(X, 39, generator=np.random.default_rng(0)))
    np.testing.assert_allclose(G.toarray(), dense_local_scaling(X)[0], atol=1e-7)


@pytest.mark.parametrize("copies", [8, 40])
def test_duplicates_leave_everything_finite(copies):
    X = np.random.default_rng(0).standard_normal((40, 2))
    X[:copies] = X[0]
    W, scales = dense_local_scaling(X)
    G, graph_scales = graph_local_scaling(nearest_rows(X, 10, generator=np.random.default_rng(0)))
    assert np.isfinite(W).all()
    assert (scales > 0).all()
    assert np.isfinite(G.data).all()
    assert (graph_scales > 0).all()
    np.testing.assert_allclose(W[:copies, :copies], 1, atol=1e-6)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_copies_are_at_distance_zero_whatever_rounding_makes_of_it(as_rows):
    """Differences of lengths leave about 1e-7 between copies; a scale of that size tears them apart."""
    rng = np.random.default_rng(0)
    X = np.vstack([np.repeat(3 * rng.standard_normal((6, 38)) + 5, 12, axis=0), rng.standard_normal((60, 38)) + 5])
    apart = np.repeat(np.arange(6), 12)
    W, scales = dense_local_scaling(as_rows(X))
    G, graph_scales = graph_local_scaling(nearest_rows(as_rows(X), 15, generator=rng))
    assert min(scales.min(), graph_scales.min()) > 1
    same = apart[:, None] == apart
    assert (W[:72, :72][same] == 1).all()
    assert (G.toarray()[:72, :72][same] == 1).all()
    np.testing.assert_allclose(similarities_to(as_rows(X), scales, as_rows(X[:72]))[:, :72][same], 1)


def test_a_far_origin_changes_no_similarity(X):
    np.testing.assert_allclose(dense_local_scaling(X + 1e6)[0], dense_local_scaling(X)[0], atol=1e-6)


def test_blocks_in_threads_give_what_one_thread_gives():
    X = np.random.default_rng(0).standard_normal((1500, 5))
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(dense_local_scaling(X)[0])
    assert np.array_equal(*found)


def test_a_new_row_is_scaled_by_the_known_ones(X):
    new = np.array([[0.1, 0.2, 0.3]])
    gaps = np.linalg.norm(X - new, axis=1)
    _, sigma = plain_similarities(X)
    expected = np.exp(-(gaps**2) / (2 * np.sort(gaps)[6] * sigma))
    np.testing.assert_allclose(similarities_to(X, sigma, new)[0], expected, atol=1e-10)


def test_large_matrices_are_float32():
    assert working_dtype(10) is np.float64
    assert working_dtype(5000) is np.float32
