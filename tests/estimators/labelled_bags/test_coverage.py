"""Coverage posteriors against plain enumeration of every assignment of clusters to rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from threadpoolctl import threadpool_limits

from sidelight.estimators._labelled_bags import coverage, one_bag
from sidelight.estimators._labelled_bags.coverage import BagPlan, coverage_posteriors


def plan_of(sizes, label_sets, *, required=None, others=None, row_class=None):
    """Bags of consecutive rows."""
    n = sum(sizes)
    counts = [len(labels) for labels in label_sets]
    if required is None:
        required = [min(size, count) for size, count in zip(sizes, counts)]
    return BagPlan(
        order=np.arange(n, dtype=np.intp),
        starts=np.cumsum([0, *sizes]).astype(np.intp),
        label_starts=np.cumsum([0, *counts]).astype(np.intp),
        labels=np.array([c for labels in label_sets for c in labels], dtype=np.intp),
        required=np.array(required, dtype=np.intp),
        others=np.zeros(len(sizes)) if others is None else np.array(others, dtype=float),
        row_class=np.full(n, -1, dtype=np.intp) if row_class is None else np.array(row_class, dtype=np.intp),
    )


def enumerate_bag(P, class_of, labels, *, required, others=0.0, row_class=None, wrong=0.0, forgotten=0.0):
    """Sum over every assignment, and over which rows' labels made it to the list."""
    n, K = P.shape
    posterior, total = np.zeros_like(P), 0.0
    for z in itertools.product(range(K), repeat=n):
        if row_class is not None and any(c >= 0 and class_of[k] != c for k, c in zip(z, row_class)):
            continue
        listed = [class_of[k] in labels for k in z]
        free = np.prod([1.0 if a or class_of[k] < 0 else max(others, forgotten) for a, k in zip(listed, z)])
        for noticed in itertools.product((True, False), repeat=n if forgotten else 0):
            if forgotten and any(not a and not heard for a, heard in zip(listed, noticed)):
                continue  # what is not listed has no second story
            heard = noticed if forgotten else (True,) * n
            carried = {class_of[k] for k, a, h in zip(z, listed, heard) if a and h}
            odds = np.prod([(1 - forgotten if h else forgotten) if a else 1.0 for a, h in zip(listed, heard)])
            short = max(0, required - len(carried))
            weight = np.prod(P[np.arange(n), z]) * free * odds * (wrong**short if short else 1.0)
            posterior[np.arange(n), z] += weight
            total += weight
    return posterior / total, np.log(total)


def draw_log_P(seed, n, K, scale=1.5):
    return log_softmax(scale * np.random.default_rng(seed).normal(size=(n, K)), axis=1)


@pytest.mark.parametrize(
    ("sizes", "label_sets", "options"),
    [
        ([3, 1, 4], [[0, 1], [2], [0, 1, 2]], {}),
        ([2], [[0, 1, 2]], {}),  # fewer rows than labels: as many as there are rows
        ([3, 2], [[], []], {"others": [0.0, 1.0]}),  # nothing known is there, and nothing was said
        ([3], [[1]], {"others": [1.0]}),  # a partial list
        ([4], [[0, 2]], {"row_class": [2, -1, -1, 2]}),
        ([3], [[0, 1]], {"required": [0]}),  # a bag that was cut
    ],
)
@pytest.mark.parametrize("noise", [{}, {"wrong": 0.1}, {"forgotten": 0.2}, {"wrong": 0.05, "forgotten": 0.1}])
def test_posteriors_and_likelihood_equal_enumeration(sizes, label_sets, options, noise):
    class_of = np.array([0, 0, 1, 2, -1], dtype=np.intp)  # two sub-clusters, one novel cluster
    plan = plan_of(sizes, label_sets, **options)
    log_P = draw_log_P(0, sum(sizes), 5)
    Q, log_likelihood = coverage_posteriors(np.exp(log_P), log_P, class_of, plan, **noise)
    for b, labels in enumerate(label_sets):
        rows = slice(plan.starts[b], plan.starts[b + 1])
        expected, value = enumerate_bag(
            np.exp(log_P[rows]),
            class_of,
            labels,
            required=plan.required[b],
            others=plan.others[b],
            row_class=plan.row_class[rows],
            **noise,
        )
        np.testing.assert_allclose(Q[rows], expected, atol=1e-12)  # rounding of a few hundred products
        assert log_likelihood[b] == pytest.approx(value, abs=1e-12)


def test_posterior_is_the_derivative_of_the_likelihood():
    class_of = np.array([0, 1, 1, 2, -1], dtype=np.intp)
    plan = plan_of([4, 3], [[0, 1, 2], [1]])
    log_P, step = draw_log_P(1, 7, 5), 1e-6
    Q, _ = coverage_posteriors(np.exp(log_P), log_P, class_of, plan)
    for i, k in [(0, 0), (2, 3), (5, 1), (6, 4), (6, 0)]:
        up, down = log_P.copy(), log_P.copy()
        up[i, k] += step
        down[i, k] -= step
        higher = coverage_posteriors(np.exp(up), up, class_of, plan)[1].sum()
        lower = coverage_posteriors(np.exp(down), down, class_of, plan)[1].sum()
        assert (higher - lower) / (2 * step) == pytest.approx(Q[i, k], abs=1e-7)  # central differences


def test_logit_gaps_of_thousands_stay_finite_and_right():
    """Every row is sure of label 0, so covering the other two costs two rows of their certainty."""
    scores = np.zeros((3, 3))
    scores[:, 0] = 2000.0
    scores[1, 1] = 10.0
    log_P = log_softmax(scores, axis=1)
    Q, log_likelihood = coverage_posteriors(np.exp(log_P), log_P, np.arange(3), plan_of([3], [[0, 1, 2]]))
    assert np.isfinite(log_likelihood).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)
    assert Q[1, 1] > 0.999  # its 10 points of score decide who gives way
    assert log_likelihood[0] == pytest.approx(-4000 + 10 + np.log(2 + 4 * np.exp(-10)), abs=1e-9)


@given(seed=st.integers(0, 100), scale=st.sampled_from([0.1, 5.0, 300.0]))
def test_rows_are_distributions_over_allowed_clusters(seed, scale):
    class_of = np.array([0, 1, 2, 3, -1], dtype=np.intp)
    log_P = draw_log_P(seed, 6, 5, scale)
    Q, log_likelihood = coverage_posteriors(np.exp(log_P), log_P, class_of, plan_of([4, 2], [[0, 1, 3], [2]]))
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)
    assert (Q[:4, 2] == 0).all()
    assert (Q[4:][:, [0, 1, 3]] == 0).all()
    assert (log_likelihood <= 1e-9).all()  # a probability, up to rounding


def test_logarithms_and_plain_numbers_agree():
    """Just above and far below the switch to logarithms, the same bag differs by what the scores say."""
    class_of, plan = np.arange(3), plan_of([5], [[0, 1, 2]])
    values = []
    for gap in (200.0, 240.0):  # exp(-2 * 200) is plain, exp(-2 * 240) needs logarithms
        scores = np.tile([gap, 0.0, 0.0], (5, 1)) + np.linspace(0, 1, 15).reshape(5, 3)
        log_P = log_softmax(scores, axis=1)
        Q, log_likelihood = coverage_posteriors(np.exp(log_P), log_P, class_of, plan)
        values.append((Q, log_likelihood[0] + 2 * gap))
    np.testing.assert_allclose(values[0][0], values[1][0], atol=1e-12)
    assert values[0][1] == pytest.approx(values[1][1], abs=1e-9)


def test_long_bags_walked_in_blocks_equal_a_chain_of_posteriors():
    """A bag above the block size gives the same as the recursion says, wherever its last block of 95 rows ends."""
    for n in [9000, 95 * 94 - 1, 95 * 94, 95 * 94 + 1]:
        m = 8
        assert n * 2**m > one_bag.BLOCK
        log_P = draw_log_P(3, n, m)
        log_P[:, 0] -= 12.0  # label 0 is rare, so that coverage matters
        log_P = log_softmax(log_P, axis=1)
        P = np.exp(log_P)
        Q, log_likelihood = coverage_posteriors(P, log_P, np.arange(m), plan_of([n], [list(range(m))]))
        rare = -np.expm1(np.log1p(-P[:, 0]).sum())  # all other labels are certain to be carried by 9000 rows
        assert log_likelihood[0] == pytest.approx(np.log(rare), abs=1e-9)
        np.testing.assert_allclose(Q[:, 0], P[:, 0] / rare, rtol=1e-9)


@pytest.mark.parametrize("n_labels", [14, 15])
def test_beyond_the_cap_the_error_is_small(n_labels):
    """The documented bound of the approximation: measured on bags of twice as many rows as labels."""
    worst = 0.0
    for seed in range(5):
        n = 2 * n_labels
        log_P = draw_log_P(seed, n, n_labels, scale=2.0)
        plan = plan_of([n], [list(range(n_labels))])
        exact, value = coverage_posteriors(np.exp(log_P), log_P, np.arange(n_labels), plan, cap=n_labels)
        near, approximate = coverage_posteriors(np.exp(log_P), log_P, np.arange(n_labels), plan)
        np.testing.assert_allclose(near.sum(axis=1), 1.0)
        assert abs(approximate[0] - value[0]) < 0.1
        worst = max(worst, np.abs(near - exact).mean())
    assert worst < 0.002  # 0.2 % of a probability on average


def test_the_number_of_threads_changes_nothing(monkeypatch):
    class_of = np.arange(4)
    log_P = draw_log_P(5, 9000, 4)
    plan = plan_of([3] * 3000, [[0, 1], [1, 2, 3], [3]] * 1000)
    monkeypatch.setattr(coverage, "_WORTH_A_THREAD", 0)
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            results.append(coverage_posteriors(np.exp(log_P), log_P, class_of, plan))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_a_bag_that_cannot_be_true_has_no_likelihood():
    log_P = draw_log_P(0, 2, 2)
    plan = plan_of([2], [[]])  # no label, and nothing novel
    assert coverage_posteriors(np.exp(log_P), log_P, np.arange(2), plan)[1][0] == -np.inf


def test_a_label_may_be_wrong_beyond_the_cap_too():
    n_labels = 14
    log_P = log_softmax(0.3 * np.random.default_rng(8).normal(size=(20, n_labels)), axis=1)
    plan = plan_of([20], [list(range(n_labels))])

    def value(wrong, cap):
        Q, log_likelihood = coverage_posteriors(np.exp(log_P), log_P, np.arange(n_labels), plan, wrong=wrong, cap=cap)
        return Q, log_likelihood[0]

    exact_Q, exact = value(0.3, n_labels)
    near_Q, near = value(0.3, n_labels - 4)
    assert abs(near - exact) < 0.1  # what the approximation of four labels of fourteen costs
    np.testing.assert_allclose(near_Q, exact_Q, atol=0.02)
    assert exact - value(0.0, n_labels)[1] > 0.5  # so that forgetting ``wrong`` would show


def test_some_bags_of_a_plan_are_whole_bags():
    """A row too few at the end of a block would belong to no bag, or make a bag shorter."""
    sizes, lists = [3, 1, 2, 4, 1], [[0], [1, 2], [], [0, 3], [2]]
    row_class = np.arange(11) % 4
    plan = plan_of(sizes, lists, others=[0, 1, 0, 0, 1], row_class=row_class)
    for begin, end in itertools.combinations(range(6), 2):
        first, last = plan.starts[begin], plan.starts[end]
        some = plan.restrict(first, last)
        expected = plan_of(sizes[begin:end], lists[begin:end], others=[0, 1, 0, 0, 1][begin:end])
        for name in ("order", "starts", "label_starts", "labels", "required", "others"):
            np.testing.assert_array_equal(getattr(some, name), getattr(expected, name), err_msg=name)
        np.testing.assert_array_equal(some.row_class, row_class[first:last])
