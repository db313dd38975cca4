"""Sets of labels: against scikit-learn, dense and sparse, and ranks against pairs counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from sklearn import metrics as sk
from tests.examples import up_to

from sidelight import metrics
from sidelight.errors import InvalidData
from sidelight.metrics.multilabel import rank_rows


@st.composite
def answers(draw):
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    shape = draw(st.tuples(st.integers(1, 6), st.integers(2, 5)))
    Y = rng.integers(0, 2, size=shape)
    scores = rng.integers(0, 4, size=shape) / 4  # few values, so that ties happen
    return Y, rng.integers(0, 2, size=shape), scores


@settings(max_examples=up_to(25))  # scikit-learn takes a while
@given(answers())
def test_f1_and_hamming_are_those_of_scikit_learn(case):
    Y, G, _ = case
    want = {
        metrics.micro_f1: sk.f1_score(Y, G, average="micro", zero_division=0),
        metrics.macro_f1: sk.f1_score(Y, G, average="macro", zero_division=0),
        metrics.hamming_loss: sk.hamming_loss(Y, G),
    }
    for judge, value in want.items():
        for A, B in ((Y, G), (csr_array(Y), coo_array(G)), (csr_array(Y), G), (Y.astype(bool), csr_array(G))):
            assert judge(A, B) == pytest.approx(value)


@given(answers())
def test_f1_and_hamming_follow_their_definitions(case):
    Y, G, _ = case

    def f1(y, g):
        return 2 * (y & g).sum() / max(y.sum() + g.sum(), 1)

    assert metrics.micro_f1(Y, G) == pytest.approx(f1(Y.ravel(), G.ravel()))
    assert metrics.macro_f1(Y, G) == pytest.approx(np.mean([f1(y, g) for y, g in zip(Y.T, G.T)]))
    assert metrics.hamming_loss(Y, G) == pytest.approx((Y != G).mean())


@given(answers())
def test_ranks_are_those_of_scikit_learn(case):
    Y, _, scores = case
    loss, precision = sk.label_ranking_loss(Y, scores), sk.label_ranking_average_precision_score(Y, scores)
    for truth in (Y, csr_array(Y)):
        assert metrics.ranking_loss(truth, scores) == pytest.approx(loss)
        assert metrics.average_precision(truth, scores) == pytest.approx(precision)


@given(answers())
def test_ranking_loss_counts_wrong_pairs(case):
    Y, _, scores = case
    shares = []
    for y, s in zip(Y, scores):
        pairs = [(a, b) for a in np.flatnonzero(y) for b in np.flatnonzero(y == 0)]
        shares.append(np.mean([s[b] >= s[a] for a, b in pairs]) if pairs else 0.0)
    assert metrics.ranking_loss(Y, scores) == pytest.approx(np.mean(shares))


def test_compiled_and_plain_ranks_agree():
    starts, labels = np.array([0, 2, 2, 5]), np.array([0, 3, 1, 2, 3])
    scores = np.random.default_rng(0).random((3, 4))
    for got, want in zip(rank_rows(starts, labels, scores), rank_rows.py_func(starts, labels, scores)):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("judge", [metrics.micro_f1, metrics.macro_f1, metrics.hamming_loss])
def test_indicators_that_do_not_fit_are_refused(judge):
    with pytest.raises(InvalidData, match=rf"{judge.__name__} needs matrices of the same shape"):
        judge(np.ones((2, 2)), np.ones((2, 3)))
    with pytest.raises(InvalidData, match=r"zeros and ones only; got 2"):
        judge(np.ones((2, 2)), csr_array(np.full((2, 2), 2)))
    with pytest.raises(InvalidData, match="as a matrix"):
        judge([1, 0], [1, 0])
    with pytest.raises(InvalidData, match="nothing to judge"):
        judge(np.ones((0, 2)), np.ones((0, 2)))
    with pytest.raises(InvalidData, match="got nan"):
        judge(np.ones((1, 2)), np.array([[np.nan, 1.0]]))


@pytest.mark.parametrize("judge", [metrics.ranking_loss, metrics.average_precision])
def test_scores_that_do_not_fit_are_refused(judge):
    with pytest.raises(InvalidData, match="score of label 1 in row 0 is NaN"):
        judge([[1, 0]], [[0.5, np.nan]])
    with pytest.raises(InvalidData, match="same shape"):
        judge([[1, 0]], [[0.5, 0.5, 0.5]])
    with pytest.raises(InvalidData, match="as a matrix"):
        judge([[1, 0]], [0.5, 0.5])
