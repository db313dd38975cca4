"""Singular vectors of normalised tables, where Lanczos would lose the repeated ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sidelight.estimators.sources import spectral as singular
from sidelight.estimators.sources.spectral import left_singular_vectors, unfold


def test_unfolding_a_two_way_table_is_its_normalisation():
    rng = np.random.default_rng(0)
    P = rng.random((5, 7))
    P /= P.sum()
    coords = np.array(np.nonzero(P))
    L = unfold(coords, P[tuple(coords)], P.shape, 0).toarray()
    expected = P / np.sqrt(np.outer(P.sum(1), P.sum(0)))
    np.testing.assert_allclose(np.linalg.svd(L)[1], np.linalg.svd(expected)[1])
    np.testing.assert_allclose(L @ L.T, expected @ expected.T)


@pytest.mark.parametrize("size", [20, 250])
def test_every_block_keeps_its_own_vector(size):
    rng = np.random.default_rng(0)
    blocks = [sp.csr_array(rng.random((size, size - 3))) for _ in range(6)]
    P = sp.csr_array(sp.block_diag(blocks))
    P = P / P.sum()
    coo = P.tocoo()
    L = unfold(np.array([coo.row, coo.col]), coo.data, P.shape, 0)
    values, vectors = left_singular_vectors(L, 6, rng)
    np.testing.assert_allclose(values, 1.0)
    owner = np.repeat(np.arange(6), size)
    assert {int(owner[np.abs(v).argmax()]) for v in vectors.T} == set(range(6))


def test_a_wide_unfolding_of_three_axes_agrees_with_the_full_decomposition():
    rng = np.random.default_rng(0)
    P = rng.random((6, 5, 9))
    P /= P.sum()
    coords = np.array(np.nonzero(P))
    L = unfold(coords, P[tuple(coords)], P.shape, 1)
    values, vectors = left_singular_vectors(L, 3, rng)
    full = np.linalg.svd(L.toarray())
    np.testing.assert_allclose(values, full[1][:3])
    np.testing.assert_allclose(np.abs(np.sum(vectors * full[0][:, :3], axis=0)), 1.0)


@pytest.mark.parametrize("n_axes", [2, 3, 4])
def test_blocks_weigh_the_same_whatever_their_size_and_number_of_axes(n_axes):
    coords, values = np.array([[0, 1, 2]] * n_axes), np.array([0.7, 0.2, 0.1])
    found, _ = left_singular_vectors(unfold(coords, values, (3,) * n_axes, 0), 3, np.random.default_rng(0))
    np.testing.assert_allclose(found, 1.0)


def test_an_unfolding_is_normalised_by_its_own_margins():
    rng = np.random.default_rng(0)
    P = rng.random((4, 3, 5))
    P /= P.sum()
    coords = np.array(np.nonzero(P))
    L = unfold(coords, P[tuple(coords)], P.shape, 1).toarray()
    M = np.moveaxis(P, 1, 0).reshape(3, 20)
    expected = M / np.sqrt(np.outer(M.sum(1), M.sum(0)))
    np.testing.assert_allclose(L @ L.T, expected @ expected.T)
    assert np.linalg.svd(L)[1][0] == pytest.approx(1.0)  # as for every table that Algorithm 3 normalises


def test_lanczos_finds_what_a_full_decomposition_finds_and_codes_without_mass_get_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    dense = rng.random((30, 28))
    dense[4], dense[:, 7] = 0.0, 0.0
    table = sp.csr_array(dense)
    values, vectors = left_singular_vectors(table, 3, np.random.default_rng(0))
    monkeypatch.setattr(singular, "DENSE_SIDE", 5)
    found, same = left_singular_vectors(table, 3, np.random.default_rng(0))
    np.testing.assert_allclose(found, values)
    np.testing.assert_allclose(same, vectors, atol=1e-6)
    assert same.shape == (30, 3)
    assert not same[4].any()
