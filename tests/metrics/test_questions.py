"""What answers are worth, against enumeration and against the thesis' statements."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sidelight.errors import InvalidInput
from sidelight.metrics import answer_information, plan_questions


def enumerated(p, width, eps):
    """I(Y, answer) in bits by summing over all classes of the rows."""
    n_words = 2 if width == 2 else 4
    joint = np.zeros((len(p) ** width, n_words))
    for at, labels in enumerate(product(range(len(p)), repeat=width)):
        if width == 2:
            truth = int(labels[0] == labels[1])
        else:
            a, b, c = labels
            truth = 2 if a == b != c else 1 if a == c != b else 0 if b == c != a else 3
        weight = np.prod([p[k] for k in labels])
        joint[at] = weight * eps / (n_words - 1)
        joint[at, truth] = weight * (1 - eps)
    rows, columns = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    keep = joint > 0
    return float((joint[keep] * np.log2((joint / (rows * columns))[keep])).sum())


@pytest.mark.parametrize("eps", [0.0, 0.1])
@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.7, 0.2, 0.1], [0.25] * 4])
def test_information_equals_enumeration(shares, eps):
    worth = answer_information(shares, pair_error=eps, triplet_error=eps)
    assert worth.pair == pytest.approx(enumerated(shares, 2, eps))
    assert worth.triplet == pytest.approx(enumerated(shares, 3, eps))


def test_triplets_tell_more_than_pairs_when_classes_are_even():
    for K in range(2, 20):
        worth = answer_information(np.ones(K))
        assert worth.triplet > worth.pair
        assert 2 * worth.triplet > 3 * worth.pair  # figure 3.6(b): the same number of rows


def test_the_corollary_holds_where_its_conditions_do():
    generator = np.random.default_rng(0)
    for _ in range(200):
        p = generator.dirichlet(np.ones(6))
        worth = answer_information(p)
        if p.max() <= 2 / 3 and 3 * worth.p_odd <= 1 - 1 / np.e:
            assert worth.triplet >= worth.pair


def test_slow_triplets_lose_to_quick_pairs():
    shares = [1, 1, 1]
    assert plan_questions(shares, pair_seconds=3, triplet_seconds=4).ask == "triplets"
    assert plan_questions(shares, pair_seconds=3, triplet_seconds=20).ask == "pairs"


@pytest.mark.parametrize("shares", [[], [0, 0], [-1, 2], "abc", [[1, 2]], [np.nan]])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(InvalidInput):
        answer_information(shares)
