"""What benchmarks compute themselves, because only a document needs it: pairs in one tree, the margin (1) of [Z09]."""

from __future__ import annotations

import importlib
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.active.particle_belief import PairForest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def load():
    """Import files of benchmarks by name, and leave nothing behind."""
    before, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if (BENCHMARKS / f"{name}.py").exists():
            del sys.modules[name]


def test_how_alike_rows_of_one_tree_are_equals_enumeration(load):
    left, right, same = np.array([0, 1, 3, 1]), np.array([1, 2, 4, 3]), np.array([True, False, False, True])
    P = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 5))
    found = load("ask_cells").alike(P, PairForest.of(left, right, same, 5), 0.1)
    for s in range(2):
        together, total = np.zeros((5, 5)), 0.0
        for labels in map(np.array, product(range(3), repeat=5)):
            weight = P[s, np.arange(5), labels].prod()
            weight *= np.where((labels[left] == labels[right]) == same, 0.9, 0.1).prod()
            together, total = together + weight * (labels[:, None] == labels), total + weight
        np.testing.assert_allclose(found[s], together / total, atol=1e-12)


def test_pairs_that_were_asked_are_not_called_dropped(load):
    cells = load("ask_cells")
    rows = np.random.default_rng(0).normal(size=(12, 2))
    session = cells.thesis(2, 0).start(rows)
    for pair in ((0, 1), (1, 2)):
        session.tell(pair, "same")
    count = cells.n_dropped(session._belief, -np.inf, "info")  # every pair would have a larger gain
    assert count == 1  # of rows 0, 1 and 2, two pairs were asked and one closes a cycle


def test_pieces_of_the_printed_margin_attain_it_and_have_its_slope(load):
    generator = np.random.default_rng(0)
    X, bags = generator.normal(size=(24, 3)), sl.Bags(np.arange(24) // 4)
    model = sl.MaxMarginBagClustering(3, margin="paper", scale="none")
    model._learn_scaling(X)
    relaxed = model._margin(X, bags, None)
    margin = load("bag_margin_printed").PrintedMargin(relaxed.rows, relaxed.order, relaxed.starts)
    W = generator.normal(size=(3, 3))
    pieces, values = margin.pieces(W)
    scores = np.sort(X @ W.T, axis=1)
    gaps = (scores[:, -1] - scores[:, -2]).reshape(6, 4).max(axis=1)
    np.testing.assert_allclose(values, gaps)
    np.testing.assert_allclose(pieces.margins(W), gaps)
    step, weights = 1e-6 * generator.normal(size=W.shape), generator.random(6)
    moved = weights @ (margin.witnesses(W + step)[2] - values)
    assert moved == pytest.approx(float((pieces.combine(weights) * step).sum()), abs=1e-10)
