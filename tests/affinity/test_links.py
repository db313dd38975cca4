"""Links that bag labels imply, against a plain enumeration of all pairs of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sidelight._affinity.links import BagLinks, MustBlocks
from sidelight._affinity.spectral import AdditiveSum, PenalisedCut, leading_eigenvectors
from sidelight.data.bags import Bags


@st.composite
def labelled_bags(draw):
    ids = draw(st.lists(st.integers(0, 5), min_size=1, max_size=12))
    sets = st.one_of(st.none(), st.frozensets(st.sampled_from("abc"), max_size=3))
    said = {i: draw(sets) for i in set(ids)}
    partial = [i for i, s in said.items() if s is not None and draw(st.booleans())]
    return Bags(ids, labels=said, classes=list("abc"), partial=partial)


def plain_links(bags):
    """Decide every pair of rows on its own."""
    sets = [None if p else s for s, p in zip(bags.labels.values(), bags.is_partial)]
    must, cannot = np.zeros((2, bags.n_rows, bags.n_rows), dtype=bool)
    for p, i in enumerate(bags.codes):
        for q, j in enumerate(bags.codes):
            if sets[i] is not None and sets[j] is not None:
                must[p, q] = sets[i] == sets[j] and len(sets[i]) == 1
                cannot[p, q] = not sets[i] & sets[j] and bool(sets[i] or sets[j])
    return must, cannot


@given(bags=labelled_bags())
def test_links_equal_the_enumeration(bags):
    links = BagLinks.from_bags(bags)
    must, cannot = plain_links(bags)
    n = bags.n_rows
    p, q = np.divmod(np.arange(n * n), n)
    assert np.array_equal(links.must(p, q).reshape(n, n), must)
    assert np.array_equal(links.cannot(p, q).reshape(n, n), cannot)
    assert links.n_must() == np.triu(must, 1).sum()
    assert links.n_cannot() == np.triu(cannot, 1).sum()
    W = 1 + np.arange(n * n, dtype=float).reshape(n, n)
    for keep_must in (False, True):
        expected = np.where(cannot | (must & ~keep_must), 0, W)
        np.testing.assert_array_equal(links.without(W, must=not keep_must), expected)
        np.testing.assert_array_equal(links.without(sparse.csr_array(W), must=not keep_must).toarray(), expected)


def test_unlabelled_bags_are_linked_to_nobody():
    links = BagLinks.from_bags(Bags([0, 0, 1], labels={1: {"a"}}))
    assert (links.n_must(), links.n_cannot()) == (0, 0)


def test_blocks_equal_their_matrix_and_its_laplacian():
    single = np.array([0, -1, 1, 0, 1, 1])
    A = ((single[:, None] == single) & (single[:, None] >= 0)).astype(float)
    np.testing.assert_allclose(MustBlocks.of(single).product(np.eye(6)), A)
    laplacian = np.diag(A.sum(axis=1)) - A
    np.testing.assert_allclose(MustBlocks.of(single, laplacian=True).product(np.eye(6)), laplacian)
    np.testing.assert_allclose(
        MustBlocks.of(single).take(np.array([0, 2, 3])).product(np.eye(3)), A[[0, 2, 3]][:, [0, 2, 3]]
    )


@pytest.fixture
def cut():
    rng = np.random.default_rng(0)
    W = rng.random((400, 400))
    single = rng.integers(-1, 3, size=400)
    return PenalisedCut.of(W + W.T, beta=20.0, single=single)


def test_penalised_cut_solves_the_wide_spectrum(cut):
    A = cut.product(np.eye(400))
    values, _ = leading_eigenvectors(
        cut, 4, parts=np.zeros(400, dtype=int), generator=np.random.default_rng(0), tol=1e-4, dtype=np.float64
    )
    exact = np.linalg.eigvalsh(A)[::-1]
    assert exact[-1] < -5  # what Lanczos would wade through
    np.testing.assert_allclose(values, exact[:4], atol=1e-4)


def test_preconditioner_is_the_inverse_of_identity_plus_penalty(cut):
    root = np.sqrt(cut.d)
    P = np.eye(400) + cut.beta * cut.blocks.product(np.eye(400)) / np.outer(root, root)
    np.testing.assert_allclose(cut.precondition(P), np.eye(400), atol=1e-8)


def test_additive_sum_follows_its_formula():
    W = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    blocks = MustBlocks.of(np.array([0, -1, 0]))
    A = W + blocks.product(np.eye(3))
    d = A.sum(axis=1)
    np.testing.assert_allclose(
        AdditiveSum.of(W, extra=blocks, d=d).product(np.eye(3)), (A + d.max() * np.eye(3) - np.diag(d)) / d.max()
    )
