"""Eigenvectors over several components, fragments, and what alpha means on a graph."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from threadpoolctl import threadpool_info, threadpool_limits

from sidelight._affinity import spectral
from sidelight._affinity.links import coupled_components, degrees, fragments, similarity_components
from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import dense_local_scaling, graph_alpha_scale, graph_local_scaling
from sidelight._affinity.spectral import NormalisedSum, leading_eigenvectors, unit_rows
from sidelight.data.bags import Bags
from sidelight.estimators.instances.bag_constraint import BagConstraint


def rings(n_parts, size=400, k=6):
    """Return a graph of ``n_parts`` circles of ``size`` rows, each row joined to its ``k`` next ones."""
    n = n_parts * size
    at = np.arange(n)
    ends = [(at // size) * size + (at % size + step) % size for step in range(1, k + 1)]
    W = sparse.coo_array((np.ones(n * k), (np.tile(at, k), np.concatenate(ends))), shape=(n, n)).tocsr()
    return (W + W.T + sparse.eye_array(n)).tocsr()


def solve(W, k, parts, extra=None, alpha=0.0):
    operator = NormalisedSum.of(W, alpha=alpha, extra=extra)
    generator = np.random.default_rng(0)
    return leading_eigenvectors(operator, k, parts=parts, generator=generator, tol=1e-6, dtype=W.dtype)


def test_every_component_keeps_its_eigenvalue_of_one():
    """Without the split eigsh loses repeated eigenvalues here, without a word."""
    W = rings(9)
    parts = similarity_components(W)
    values, vectors = solve(W, 9, parts)
    np.testing.assert_allclose(values, 1, atol=1e-6)
    labels = np.abs(vectors).argmax(axis=1)
    assert len(np.unique(np.stack([labels, parts]), axis=1).T) == 9


def test_eigenvectors_equal_a_full_decomposition():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((350, 4))
    W, _ = dense_local_scaling(X)
    bags = Bags(rng.integers(60, size=350), labels={b: set(rng.choice(list("abcd"), 2)) for b in range(60)})
    extra = BagConstraint.from_bags(bags)
    values, vectors = solve(W, 5, similarity_components(W), extra, alpha=0.7)
    A = NormalisedSum.of(W, alpha=0.7, extra=extra).product(np.eye(350))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:5], atol=1e-6)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-4)


def test_copies_of_rows_lose_no_eigenvector():
    """LAPACK's search for the 19 leading ones returns 17 of this graph, whose eigenvalues repeat."""
    rng = np.random.default_rng(239)
    n, _, _ = (int(rng.integers(*limits)) for limits in ((40, 200), (1, 4), (2, 4)))
    X = rng.integers(2, size=(n, 1)).astype(float)
    W, _ = graph_local_scaling(nearest_rows(X, 10, generator=rng))
    values, vectors = solve(W, 19, np.zeros(n, dtype=np.intp))
    assert vectors.shape == (n, 19)
    assert len(values) == 19


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_components_are_found_dense_and_sparse(as_matrix):
    W = np.zeros((6, 6))
    W[np.ix_([0, 3], [0, 3])] = W[np.ix_([1, 2, 5], [1, 2, 5])] = 1
    W[0, 1] = W[1, 0] = 1e-30  # nothing that an eigensolver could see
    assert list(similarity_components(as_matrix(W))) == [0, 1, 1, 0, 2, 1]


def test_bags_join_what_similarities_separate():
    W = sparse.block_diag([np.ones((2, 2))] * 4, format="csr")
    parts = similarity_components(W)
    ids = ["u", "v", "v", "w", "w", "w", "x", "x"]
    shared = BagConstraint.from_bags(Bags(ids, labels={"v": {"a"}, "x": {"a"}}))
    assert len(set(coupled_components(parts, shared.couplings()))) == 1  # u-v by a component, v-w, v-x by label a
    apart = BagConstraint.from_bags(Bags([0, 0, 1, 1, 2, 2, 3, 3], labels={0: {"a"}, 1: {"b"}, 2: {"b"}, 3: {"c"}}))
    assert list(coupled_components(parts, apart.couplings())) == [0, 0, 1, 1, 1, 1, 2, 2]
    nothing = BagConstraint.from_bags(Bags(ids))
    assert np.array_equal(coupled_components(parts, nothing.couplings()), parts)


def test_only_small_components_are_fragments():
    parts = np.repeat([0, 1, 2], [500, 480, 20])
    assert np.flatnonzero(fragments(parts, 2)).tolist() == list(range(980, 1000))
    assert not fragments(parts, 20).any()
    assert not fragments(np.arange(5), 5).any()


def test_unit_rows_leave_zeros_alone():
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


def test_alpha_scale_forgets_the_number_of_rows():
    scales = []
    for n in (1_000, 4_000):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((8, 5))[rng.integers(8, size=n)] * 3 + rng.standard_normal((n, 5))
        W, _ = graph_local_scaling(nearest_rows(X, 15, generator=rng))
        scale = graph_alpha_scale(X, degrees(W), 8, t=7, generator=rng, sample=500)
        scales.append(n * scale)  # a row of Q grows with n, so that n * alpha must not
    assert scales[0] == pytest.approx(scales[1], rel=0.2)


def test_a_small_decomposition_keeps_blas_to_one_thread(monkeypatch):
    inside = []

    def watched(*args, **kwargs):
        inside.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return eigh(*args, **kwargs)

    monkeypatch.setattr(spectral, "eigh", watched)
    with threadpool_limits(2, user_api="blas"):
        solve(rings(1, size=50), 2, np.zeros(50, dtype=np.intp))
    assert set(inside) == {1}
