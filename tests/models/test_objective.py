"""An objective in blocks of whole bags is the objective."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._models import objective as blocked
from sidelight._models.objective import BlockedObjective, Objective, SoftmaxLinear, block_cuts, can_be_blocked
from sidelight._terms.information import Balance, Confidence, CrossEntropy, OnRows
from sidelight.estimators._labelled_bags.coverage import BagPlan
from sidelight.estimators.coverage.problem import Coverage

N, D, K = 60, 3, 4


@pytest.fixture(params=[np.float64, np.float32])
def setting(request):
    generator = np.random.default_rng(0)
    sizes = [7, 3, 10, 1, 9, 12, 8, 10]
    counts = [2, 1, 0, 1, 2, 3, 0, 1]
    plan = BagPlan(
        order=np.arange(N),
        starts=np.cumsum([0, *sizes]),
        label_starts=np.cumsum([0, *counts]),
        labels=np.concatenate([np.arange(c) for c in counts]).astype(np.intp),
        required=np.array(counts),
        others=np.array([0.0, 0, 1, 0, 0, 0, 1, 0]),
        row_class=np.where(np.arange(N) % 17 == 3, 0, -1),
    )
    X = generator.normal(size=(N, D)).astype(request.param)
    Q = generator.dirichlet(np.ones(K), size=N)
    terms = [
        (1.0, Coverage(plan, np.array([0, 1, 2, -1]), wrong=0.1, forgotten=0.05)),
        (0.7, Coverage(plan, np.array([0, 1, 2, -1]))),
        (3.0, Balance()),
        (3.0, Confidence(n_rows=N)),
        (0.5, CrossEntropy(Q)),
    ]
    return X, plan, terms


@pytest.mark.parametrize("rows", [1, 8, 25, 1000])
def test_blocks_add_up_to_the_whole(setting, rows, monkeypatch):
    X, plan, terms = setting
    monkeypatch.setattr(blocked, "ROWS", 1)
    monkeypatch.setattr(blocked, "FEWEST", max(1, N // rows))
    cuts = block_cuts(plan.starts, K)
    assert set(cuts) <= set(plan.starts)  # no bag is cut
    model = SoftmaxLinear(D, K)
    theta = np.random.default_rng(1).normal(size=model.n_parameters)
    whole = Objective(model, X.astype(np.float64), terms, 0.3)(theta)
    parts = BlockedObjective(model, X, terms, 0.3, cuts)(theta)
    rtol = 1e-10 if X.dtype == np.float64 else 1e-4  # what float32 products can do
    np.testing.assert_allclose(parts[0], whole[0], rtol=rtol)
    np.testing.assert_allclose(parts[1], whole[1], rtol=rtol, atol=rtol)


def test_a_logit_gap_of_800_stays_finite(setting):
    X, plan, terms = setting
    model = SoftmaxLinear(D, K)
    theta = np.zeros(model.n_parameters)
    theta[-K] = 800.0
    value, gradient = BlockedObjective(model, X, terms[:1] + terms[2:4], 0.3, block_cuts(plan.starts, K))(theta)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_terms_between_rows_cannot_be_cut():
    assert can_be_blocked([(1.0, Balance()), (1.0, Confidence(n_rows=3))])
    assert not can_be_blocked([(1.0, OnRows(Balance(), np.arange(3)))])


def test_blocks_end_where_bags_end():
    """At the first bag that begins at or after the place that is wanted: never a row before."""
    for sizes in [[512] * 8, [1] * 4096, [513, 511, 1, 700, 812, 1024, 3, 532], [4096]]:
        starts = np.cumsum([0, *sizes])
        cuts = block_cuts(starts, 2)
        assert cuts[0] == 0
        assert cuts[-1] == 4096
        expected = {0, 4096} | {int(starts[starts >= wanted].min()) for wanted in range(512, 4096, 512)}
        assert cuts.tolist() == sorted(expected)
