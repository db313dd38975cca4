"""tanCVPR: the machine is optimal for its links, absent links are found, and label sets are at a maximum."""

from __future__ import annotations

from itertools import product

import numpy as np

import sidelight as sl
from sidelight._models.label_logits import one_scale
from sidelight._models.scaled_rows import ScaledRows
from sidelight.peers.hierarchy.clique_generation import _Cuts, best_sets

RNG = np.random.default_rng(0)
EVERY = np.array(list(product((0.0, 1.0), repeat=3)))


def scores(unary, links, Y):
    return (Y * unary).sum(axis=-1) + 0.5 * ((Y @ links) * Y).sum(axis=-1)


def test_the_machine_is_within_tol_of_the_least_objective():
    X, Y = RNG.normal(size=(30, 4)), (RNG.random((30, 3)) < 0.4).astype(float)
    rows = ScaledRows(X, *one_scale(X), np.ones(30))
    linked = np.zeros((3, 3), dtype=bool)
    linked[0, 2] = linked[1, 2] = True
    model = sl.peers.CliqueGeneration(C=5.0, tol=0.01)
    machine, below = model._solve(rows, Y, linked, _Cuts())
    unary = machine.unary(rows)
    missed = [
        max(np.abs(other - y).sum() + scores(u, machine.links, other) - scores(u, machine.links, y) for other in EVERY)
        for u, y in zip(unary, Y)
    ]
    size = (machine.W**2).sum() + (machine.b**2).sum() + (machine.links**2).sum() / 2  # links stand there twice
    whole = 0.5 * size + 5.0 * np.mean(missed)
    assert below - 1e-6 <= whole <= below + 5.0 * 0.01 + 1e-6  # the cuts bound the least objective from below


def test_a_label_is_linked_to_those_it_needs():
    # the second label is on where the first and the third are: no linear score says so, two links do
    X = RNG.uniform(-1, 1, size=(400, 2))
    Y = np.column_stack([X[:, 0] > 0, (X > 0).all(axis=1), X[:, 1] > 0]).astype(int)
    alone = sl.peers.CliqueGeneration(max_rounds=1).fit(X, Y)
    fitted = sl.peers.CliqueGeneration(n_links=1).fit(X, Y)
    assert not alone.links_.any()
    np.testing.assert_array_equal(fitted.links_, fitted.links_.T)
    assert min(fitted.links_[0, 1], fitted.links_[1, 2]) > 0.2
    assert fitted.trace_[-1] < alone.trace_[0]
    assert (fitted.predict(X)[:, 1] == Y[:, 1]).mean() > (alone.predict(X)[:, 1] == Y[:, 1]).mean() + 0.03


def test_the_best_set_is_mostly_the_best_of_all_and_never_one_label_away_from_a_better_one():
    for seed in range(5):
        generator = np.random.default_rng(seed)
        unary, half = generator.normal(size=(40, 3)), np.triu(generator.normal(size=(3, 3)), 1)
        links = half + half.T
        found = scores(unary, links, best_sets(unary, links))
        best = np.max([scores(unary, links, np.tile(other, (40, 1))) for other in EVERY], axis=0)
        assert (found >= best - 1e-12).mean() >= 0.8
        Y = best_sets(unary, links)
        for k in range(3):
            flipped = Y.copy()
            flipped[:, k] = 1 - flipped[:, k]
            assert (scores(unary, links, flipped) <= found + 1e-12).all()
