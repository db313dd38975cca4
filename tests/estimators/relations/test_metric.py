"""Learnt metrics, against plain references on small cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, linprog
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import sidelight as sl
from sidelight.errors import InvalidParameter
from sidelight.peers._links import compare
from sidelight.peers.metric.from_comparisons import diagonal_metric, dominant_metric, lsml_objective
from sidelight.peers.metric.from_pairs import mmc_objective

METRICS = [sl.peers.ITML, sl.peers.DiagonalMMC, sl.peers.LSML, sl.peers.SCML, sl.peers.SparseLPMetric]


def rows(n=90, seed=0):
    """Three groups along three features, and two features of noise that is larger."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return np.column_stack([3 * np.eye(3)[y] + rng.normal(size=(n, 3)), 4 * rng.normal(size=(n, 2))]), y


def plain_itml(X, pairs, bounds, gamma, n_passes):
    """Algorithm 1 of Davis et al. 2007, in loops."""
    A, order = np.eye(X.shape[1]), np.argsort(~pairs.same, kind="stable")
    duals = np.zeros(len(order))
    xi = np.where(pairs.same[order], *bounds)
    for _ in range(n_passes):
        for m, number in enumerate(order):
            v = X[pairs.left[number]] - X[pairs.right[number]]
            p, delta = v @ A @ v, 1 if pairs.same[number] else -1
            alpha = min(duals[m], gamma / (gamma + 1) * delta * (1 / p - 1 / xi[m]))
            beta = delta * alpha / (1 - delta * alpha * p)
            xi[m] = gamma * xi[m] / (gamma + delta * alpha * xi[m])
            duals[m] -= alpha
            A = A + beta * np.outer(A @ v, A @ v)
    return A


def test_itml_is_the_algorithm_of_the_paper():
    X, y = rows()
    pairs = sl.Pairs.sample(y, 30, random_state=0)
    metric = sl.peers.ITML(gamma=0.5, max_iter=7, tol=0.0, random_state=0).fit(X, pairs=pairs)
    np.testing.assert_allclose(metric.matrix_, plain_itml(X, pairs, metric.bounds_, 0.5, 7), rtol=1e-6)


def test_itml_brings_alike_pairs_below_the_bound_when_slack_is_dear():
    X, y = rows()
    pairs = sl.Pairs.sample(y, 6, random_state=0)
    metric = sl.peers.ITML(gamma=1e6, max_iter=5000, tol=1e-8, random_state=0).fit(X, pairs=pairs)
    Z = metric.transform(X)
    gaps = ((Z[pairs.left] - Z[pairs.right]) ** 2).sum(axis=1)
    assert (gaps[pairs.same] <= metric.bounds_[0] * 1.01).all()
    assert (gaps[~pairs.same] >= metric.bounds_[1] * 0.99).all()


def test_the_objective_of_mmc_has_the_gradient_it_says_and_a_minimum_there():
    rng = np.random.default_rng(0)
    near, far, weights, a = rng.random(4), rng.random((6, 4)), rng.random(6), rng.random(4)
    value, gradient = mmc_objective(a, near, far, weights)
    plain = near @ a - np.log(sum(w * np.sqrt(f @ a) for w, f in zip(weights, far)))
    assert value == pytest.approx(plain)
    numeric = approx_fprime(a, lambda z: mmc_objective(z, near, far, weights)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4)


def test_no_random_weights_beat_those_of_mmc():
    X, y = rows()
    pairs = sl.Pairs.sample(y, 60, random_state=0)
    a = sl.peers.DiagonalMMC().fit(X, pairs=pairs).feature_weights_
    gaps = (X[pairs.left] - X[pairs.right]) ** 2

    def ratio(weights):  # the objective at its best scale: log of the sum of far distances over root of near squares
        return -np.log(np.sqrt(gaps[~pairs.same] @ weights).sum() / np.sqrt((gaps[pairs.same] @ weights).sum()))

    rng = np.random.default_rng(0)
    assert all(ratio(a) <= ratio(a * np.exp(0.2 * rng.normal(size=5))) + 1e-9 for _ in range(50))


def test_the_objective_of_lsml_has_the_gradient_it_says():
    rng = np.random.default_rng(0)
    near, far, weights, L = rng.normal(size=(8, 3)), rng.normal(size=(8, 3)), rng.random(8), rng.normal(size=(3, 3))
    value, gradient = lsml_objective(L, near, far, weights)
    plain = sum(w * max(0, np.linalg.norm(L @ a) - np.linalg.norm(L @ b)) ** 2 for w, a, b in zip(weights, near, far))
    assert value == pytest.approx(plain)
    numeric = approx_fprime(L.ravel(), lambda z: lsml_objective(z.reshape(3, 3), near, far, weights)[0], 1e-7)
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=1e-5)


def test_scml_comes_close_to_the_linear_program_it_smooths():
    X, y = rows()
    triplets = sl.Triplets.sample(y, 60, random_state=0)
    metric = sl.peers.SCML(penalty=0.01, n_basis=12, random_state=0).fit(X, triplets=triplets)
    comparisons = compare(sl.Pairs.empty(90), triplets, np.random.default_rng(0))

    def along(ends):
        return ((X[ends[:, 0]] - X[ends[:, 1]]) @ metric.basis_.T) ** 2

    margins = along(comparisons.near) - along(comparisons.far)
    m, n = margins.shape
    near, far = (((X[e[:, 0]] - X[e[:, 1]]) ** 2).sum(axis=1) for e in (comparisons.near, comparisons.far))
    euclidean = (near - far) / far.mean()
    best = linprog(np.r_[np.full(n, 0.01), np.full(m, 1 / m)], np.c_[margins, -np.eye(m)], -1 - euclidean).fun
    assert best - 1e-9 <= metric.objective_ <= best + 0.02
    assert (metric.basis_weights_ == 0).any()


def test_a_diagonal_program_of_one_feature_has_the_solution_by_hand():
    # gains 4 and -1: m = 1/4 makes the first slack 0 and the second 1.25; more costs 1/2 and saves nothing
    near, far = np.array([[0.0], [1.0]]), np.array([[2.0], [0.0]])
    value, M = diagonal_metric(near, far, np.array([0.5, 0.5]), 0.01)
    assert M[0, 0] == pytest.approx(0.25)
    assert value == pytest.approx(0.5 * 1.25 + 0.01 * 0.25)


def test_a_dominant_metric_is_dominant_and_no_worse_than_a_diagonal_one():
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(40, 4)), rng.normal(size=(40, 4)) @ np.linalg.cholesky(0.5 + 0.5 * np.eye(4)).T
    weights = np.full(40, 1 / 40)
    diagonal, _ = diagonal_metric(near, far, weights, 0.01)
    dominant, M = dominant_metric(near, far, weights, 0.01)
    assert dominant <= diagonal + 1e-9
    assert (2 * np.abs(np.diag(M)) >= np.abs(M).sum(axis=1) - 1e-9).all()
    slack = np.maximum(1 + np.einsum("mi,ij,mj->m", near, M, near) - np.einsum("mi,ij,mj->m", far, M, far), 0)
    assert dominant == pytest.approx(weights @ slack + 0.01 * np.abs(M).sum())


@pytest.mark.parametrize("make", METRICS)
def test_a_learnt_metric_sees_through_noise(make):
    X, y = rows(n=180)
    triplets = sl.Triplets.sample(y, 200, random_state=0)
    plain = KNeighborsClassifier(5).fit(X[:90], y[:90]).score(X[90:], y[90:])
    Z = make(random_state=0).fit(X, triplets=triplets).transform(X)
    assert KNeighborsClassifier(5).fit(Z[:90], y[:90]).score(Z[90:], y[90:]) > plain + 0.02


@pytest.mark.parametrize("make", METRICS)
def test_without_answers_nothing_changes(make):
    X, _ = rows()
    np.testing.assert_allclose(make().fit(X).transform(X), X)


@pytest.mark.parametrize("make", METRICS)
def test_equal_rows_and_one_kind_of_answer_leave_a_finite_metric(make):
    X, _ = rows(n=12)
    X[1] = X[0]
    for pairs in ([(0, 1, "same")], [(0, 1, "different")], [(0, 1, "different"), (2, 3, "same")]):
        assert np.isfinite(make(random_state=0).fit(X, pairs=pairs).transform(X)).all()


def test_a_metric_works_in_any_pipeline():
    X, y = rows()
    pairs = sl.Pairs.sample(y, 80, random_state=0)
    pipeline = make_pipeline(sl.peers.ITML(random_state=0), KNeighborsClassifier(5))
    assert pipeline.fit(X, y, itml__pairs=pairs).score(X, y) > 0.8
    assert pipeline[:-1].get_feature_names_out().tolist()[0] == "itml0"


def test_metric_kmeans_takes_a_name_or_a_metric():
    X, y = rows()
    pairs = sl.Pairs.sample(y, 80, random_state=0)
    by_name = sl.peers.MetricKMeans(3, metric="mmc", random_state=0).fit(X, pairs=pairs)
    by_hand = sl.peers.MetricKMeans(3, metric=sl.peers.DiagonalMMC(), random_state=0).fit(X, pairs=pairs)
    np.testing.assert_array_equal(by_name.labels_, by_hand.labels_)
    plain = sl.peers.MetricKMeans(3, random_state=0).fit(X)
    ari = sl.metrics.adjusted_rand_index
    assert ari(y, by_name.labels_) > ari(y, plain.labels_) + 0.3
    assert by_name.score(X, pairs=pairs) > plain.score(X, pairs=pairs)
    with pytest.raises(InvalidParameter, match="Did you mean 'itml'"):
        sl.peers.MetricKMeans(3, metric="itmll").fit(X)
    with pytest.raises(InvalidParameter, match="ITML"):
        sl.peers.MetricKMeans(3, metric=5).fit(X)
