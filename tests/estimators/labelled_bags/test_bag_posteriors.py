"""One bag at a time: logarithms against plain numbers, approximations written out, and no index beyond its array."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sidelight.estimators._labelled_bags import one_bag as kernels

CLASS_OF = np.array([0, 0, 1, 2, 3, -1], dtype=np.intp)
ROWS = np.array([4, 0, 2, 5], dtype=np.intp)  # of seven, in any order
OPTIONS = [
    {},
    {"wrong": 0.1},
    {"forgotten": 0.2},
    {"wrong": 0.05, "forgotten": 0.1, "others": 1.0},
    {"others": 1.0, "required": 0},
    {"known": 1},
    {"cap": 2},
    {"cap": 2, "wrong": 0.1, "forgotten": 0.2},
    {"cap": 1, "known": 3, "others": 1.0},
]


def beliefs(seed, n=7, K=6):
    return np.random.default_rng(seed).dirichlet(np.ones(K), size=n)


def one_bag(kernel, table, labels, *, wrong=0.0, forgotten=0.0, others=0.0, cap=12, required=None, known=None):
    row_class = np.full(7, -1, dtype=np.intp)
    if known is not None:
        row_class[ROWS[1]] = known
    required = min(len(labels), len(ROWS)) if required is None else required
    Q = np.zeros((7, 6))
    listed = np.array(labels, dtype=np.intp)
    value = kernel(table, CLASS_OF, ROWS, listed, required, others, row_class, wrong, forgotten, cap, Q)
    return value, Q


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("labels", [[], [1], [0, 2], [3, 0, 1], [0, 1, 2, 3]])
def test_logarithms_say_what_plain_numbers_say(labels, options):
    if options.get("known", -1) not in (-1, *labels) and not options.get("others"):
        options = {**options, "others": 1.0}  # a known row must be possible
    P = beliefs(len(labels))
    value, Q = one_bag(kernels.plain_bag, P, labels, **options)
    log_value, log_Q = one_bag(kernels.log_bag, np.log(P), labels, **options)
    assert value == pytest.approx(log_value)
    np.testing.assert_allclose(Q, log_Q, atol=1e-9)
    np.testing.assert_allclose(Q[ROWS].sum(axis=1), 1.0)
    assert not Q[[1, 3, 6]].any()  # rows of other bags
    for kernel, table in ((kernels.plain_bag, P), (kernels.log_bag, np.log(P))):  # no index leaves its array
        again, same = one_bag(kernel.py_func, table, labels, **options)
        assert again == pytest.approx(value)
        np.testing.assert_allclose(same, Q, atol=1e-9)


def test_a_bag_that_cannot_be_has_no_likelihood():
    P = np.full((7, 6), 1e-300)
    P[:, 2] = 1.0
    value, Q = one_bag(kernels.log_bag, np.where(P < 1e-200, -np.inf, 0.0), [0])
    assert value == -np.inf
    assert not Q.any()
    rare, _ = one_bag(kernels.plain_bag, np.where(P < 1e-200, 1e-320, 1.0), [0, 1])
    assert np.isnan(rare)


@pytest.mark.parametrize("logs", [False, True])
def test_labels_that_are_hardest_to_carry_come_first(logs):
    for seed in range(5):
        share = beliefs(seed, 4, 6)
        share[:, 2] = share[:, 0]  # a tie stays in order
        ease = -np.log1p(-share[:, :5]).sum(axis=0)
        expected = np.argsort(ease, kind="stable")
        given = np.log(share) if logs else share
        for kernel in (kernels._hardest_first, kernels._hardest_first.py_func):
            assert kernel(given, 5, logs).tolist() == expected.tolist()


@pytest.mark.parametrize("wrong", [0.0, 0.2])
def test_conditioning_on_a_label_is_that_of_enumeration(wrong):
    share = beliefs(3, 3, 4)
    c, total, expected = 1, 0.0, np.zeros((3, 4))
    for z in product(range(4), repeat=3):
        weight = np.prod(share[np.arange(3), z]) * (1.0 if c in z else wrong)
        expected[np.arange(3), z] += weight
        total += weight
    for kernel in (kernels._condition, kernels._condition.py_func):
        given = share.copy()
        assert kernel(given, c, wrong) == pytest.approx(np.log(total))
        np.testing.assert_allclose(given, expected / total)


@pytest.mark.parametrize("logs", [False, True])
def test_labels_beyond_the_cap_are_conditioned_on_one_after_the_other(logs):
    """The hardest labels exactly, the others as if rows were independent given those."""
    m, cap, wrong = 4, 2, 0.1
    share = beliefs(5, 4, m + 1)
    order = kernels._hardest_first(share, m, False)
    total, posterior = 0.0, np.zeros((4, m + 1))
    for z in product(range(m + 1), repeat=4):
        missing = sum(order[j] not in z for j in range(cap))
        weight = np.prod(share[np.arange(4), z]) * wrong**missing
        posterior[np.arange(4), z] += weight
        total += weight
    posterior /= total
    expected = np.log(total)
    for j in range(cap, m):
        expected += kernels._condition(posterior, order[j], wrong)
    for kernel in (kernels._cover, kernels._cover.py_func):
        worth = np.zeros((4, m + 1))
        value = kernel(np.log(share) if logs else share, m, m, wrong, 0.0, cap, logs, worth)
        assert value == pytest.approx(expected)
        found = np.exp(np.log(share) + worth) if logs else share * worth
        np.testing.assert_allclose(found, posterior, atol=1e-9)


@pytest.mark.parametrize("n", [8, 9, 100, 200, 512, 5_000, 10**6])
def test_long_bags_take_time_that_grows_with_their_rows_alone(n):
    """Fifty bags of 200 rows with 30 labels each once took minutes: 4,096 subsets for every row."""
    exact = kernels.n_exact(n, 30, 12)
    assert exact >= kernels.LEAST_EXACT
    assert n << exact <= max(kernels.MOST_STEPS, n << kernels.LEAST_EXACT)
    assert kernels.n_exact(n, 3, 12) == 3
    assert n > 8 or exact == 12


@pytest.mark.parametrize("logs", [False, True])
def test_a_long_bag_says_next_to_what_the_exact_pass_says(logs):
    n, m = 100, 11
    share = np.random.default_rng(0).dirichlet(np.r_[np.full(m, 0.02), 0.5], size=n) + 1e-9
    share /= share.sum(axis=1, keepdims=True)
    assert kernels.n_exact(n, m, 12) < m  # so that something is approximated
    moved, stayed, worth = np.empty((n, m)), np.empty(n), np.empty((n, m + 1))
    move, stay = np.ascontiguousarray(share[:, :m]), np.ascontiguousarray(share[:, m])
    exact = kernels.subset_pass(move, stay, m, 0.0, moved, stayed, False)
    value = kernels._cover(np.log(share) if logs else share, m, m, 0.0, 0.0, 12, logs, worth)
    factors = np.exp(worth) if logs else worth
    assert value == pytest.approx(np.log(exact), abs=0.01)
    np.testing.assert_allclose(factors[:, :m] * move, moved * move / exact, atol=0.005)
