"""Bag constraints as products: equal to the matrices of [PF14], entry by entry as its table 1 says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sidelight._affinity.spectral import NormalisedSum
from sidelight.data.bags import Bags
from sidelight.estimators.instances.bag_constraint import BagConstraint


def plain_q(bags, *, centred=False, ambiguous=False):
    """Write the matrix down, entry by entry."""
    y = [np.array([1.0 / len(s) if s and c in s else 0.0 for c in bags.classes]) for s in bags.labels.values()]
    mu = sum(a @ b for a in y for b in y) / bags.n_bags**2
    sets = list(bags.labels.values())
    Q = np.zeros((bags.n_rows, bags.n_rows))
    for p, i in enumerate(bags.codes):
        for q, j in enumerate(bags.codes):
            Q[p, q] = y[i] @ y[j] - (mu if centred or i == j else 0.0)
            if ambiguous and sets[i] and sets[j] and sets[i] == sets[j] and len(sets[i]) == 1:
                Q[p, q] = -mu if centred else 0.0
    return Q, mu


@st.composite
def labelled_bags(draw):
    ids = draw(st.lists(st.integers(0, 5), min_size=1, max_size=12))
    sets = st.one_of(st.none(), st.frozensets(st.sampled_from("abc"), max_size=3))
    return Bags(ids, labels={i: draw(sets) for i in set(ids)}, classes=list("abc"))


@given(bags=labelled_bags(), centred=st.booleans(), ambiguous=st.booleans())
def test_product_equals_the_matrix_written_down(bags, centred, ambiguous):
    Q, mu = plain_q(bags, centred=centred, ambiguous=ambiguous)
    constraint = BagConstraint.from_bags(bags, centred=centred, ambiguous_only=ambiguous)
    assert constraint.mu == pytest.approx(mu)
    V = np.random.default_rng(0).standard_normal((bags.n_rows, 3))
    np.testing.assert_allclose(constraint.product(V), Q @ V, atol=1e-12)
    np.testing.assert_allclose(constraint.product(V[:, 0]), Q @ V[:, 0], atol=1e-12)


def test_entries_follow_table_1():
    labels = {"i": {"a"}, "j": {"a"}, "k": {"b"}, "l": {"a", "b"}, "m": None}
    bags = Bags(["i", "i", "j", "k", "l", "l", "m", "m"], labels=labels)
    constraint = BagConstraint.from_bags(bags)
    Q, mu = constraint.product(np.eye(8)), constraint.mu
    assert Q[0, 1] == pytest.approx(1 - mu)  # one single-label bag
    assert Q[0, 2] == pytest.approx(1)  # two single-label bags of one class
    assert Q[0, 3] == 0  # no label shared
    assert Q[4, 5] == pytest.approx(1 / 2 - mu)  # inside a bag with two labels
    assert 0 < Q[0, 4] < 1
    assert Q[6, 7] == pytest.approx(-mu)  # nobody said anything about this bag
    assert Q[6, 0] == 0


def test_equation_9_is_the_centred_form_not_the_printed_one():
    """Appendix A takes the sum of b_s b_r' over all pairs for BB'; it is 11'."""
    rng = np.random.default_rng(0)
    bags = Bags([0, 0, 1, 1, 2], labels={0: {"a", "b"}, 1: {"a"}, 2: {"b"}})
    y = (bags.label_matrix.toarray() / bags.label_matrix.toarray().sum(1, keepdims=True)).T
    B = np.eye(3)[bags.codes]
    Z = rng.standard_normal((5, 2))
    M = bags.n_bags
    class_like, cluster_like = y.T @ y, B.T @ Z @ Z.T @ B
    pairs = [(i, j) for i in range(M) for j in range(M)]
    total = sum((class_like[a] - class_like[b]) * (cluster_like[a] - cluster_like[b]) for a in pairs for b in pairs)
    centred = BagConstraint.from_bags(bags, centred=True)
    printed = BagConstraint.from_bags(bags)
    assert np.trace(Z.T @ centred.product(Z)) == pytest.approx(total / (2 * M**2))
    assert np.trace(Z.T @ printed.product(Z)) != pytest.approx(total / (2 * M**2))


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_sum_is_normalised_by_the_degrees_of_w_alone(as_matrix):
    rng = np.random.default_rng(2)
    W = rng.random((6, 6))
    W = W + W.T
    bags = Bags([0, 0, 1, 1, 2, 2], labels={0: {"a"}, 1: {"a", "b"}, 2: {"b"}})
    Q, _ = plain_q(bags)
    root = np.diag(W.sum(1) ** -0.5)
    operator = NormalisedSum.of(as_matrix(W), alpha=0.7, extra=BagConstraint.from_bags(bags))
    np.testing.assert_allclose(operator.product(np.eye(6)), root @ (W + 0.7 * Q) @ root, atol=1e-12)
    linear = operator.as_linear_operator()
    np.testing.assert_allclose(linear @ np.eye(6)[:, :2], operator.product(np.eye(6)[:, :2]))
    rows = np.array([0, 1, 4])
    np.testing.assert_allclose(
        operator.take(rows).product(np.eye(3)), operator.product(np.eye(6))[np.ix_(rows, rows)], atol=1e-12
    )


def test_an_isolated_row_has_no_infinite_root():
    W = np.zeros((3, 3))
    W[:2, :2] = 1
    assert np.isfinite(NormalisedSum.of(W).product(np.eye(3))).all()
