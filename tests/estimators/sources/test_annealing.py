"""Annealed co-clusters: increments equal recomputed differences, and no move or swap improves the end state."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.estimators.sources._sweeps.cluster_state import (
    OBJECTIVES,
    Cells,
    State,
    descend,
    gain_of,
    greedy,
    metropolis,
    move,
)
from sidelight.estimators.sources.annealed import _proposals, anneal, calibrate, repair


def random_cells(seed: int, shape: tuple[int, ...]) -> tuple[np.ndarray, Cells]:
    rng = np.random.default_rng(seed)
    P = rng.gamma(0.5, size=shape) * (rng.random(shape) < 0.7)
    P.flat[0] += 1.0
    P /= P.sum()
    coords = np.array(np.nonzero(P))
    return P, Cells.from_coords(coords, P[tuple(coords)], shape)


def plain_value(P: np.ndarray, labels: list[np.ndarray], ks: tuple[int, ...], objective: int) -> float:
    """The objective of the aggregated table, from its definition."""
    T = np.zeros(ks)
    for x in itertools.product(*map(range, P.shape)):
        T[tuple(labels[a][i] for a, i in enumerate(x))] += P[x]
    W = np.ones(())
    for a in range(P.ndim):
        W = np.multiply.outer(W, T.sum(axis=tuple(b for b in range(P.ndim) if b != a)))
    there = T > 0
    if objective == OBJECTIVES["information"]:
        return float((T[there] * np.log(T[there] / W[there])).sum())
    return float((T[there] ** 2 / W[there]).sum() - 1.0)


@given(st.integers(0, 100), st.sampled_from([(7, 6), (5, 4, 6), (3, 4, 3, 3)]), st.sampled_from([0, 1]))
def test_gain_of_a_move_is_the_difference_of_the_objective(seed, shape, objective):
    P, cells = random_cells(seed, shape)
    rng = np.random.default_rng(seed)
    ks = tuple(rng.integers(2, 4, size=len(shape)).tolist())
    state = State(cells, ks, [rng.integers(0, k, n) for n, k in zip(shape, ks)])
    for _ in range(6):
        a = int(rng.integers(len(shape)))
        i, q = int(rng.integers(shape[a])), int(rng.integers(ks[a]))
        before = plain_value(P, state.by_axis(), ks, objective)
        gain = gain_of(state.arrays, a, i, q, objective)
        move(state.arrays, a, i, q)
        after = plain_value(P, state.by_axis(), ks, objective)
        assert gain == pytest.approx(after - before, abs=1e-12)
        kept = state.slabs.copy(), state.table.copy()
        state.refresh()
        np.testing.assert_allclose(kept[0], state.slabs, atol=1e-14)  # increments against sums from scratch
        np.testing.assert_allclose(kept[1], state.table, atol=1e-14)


@given(st.integers(0, 100), st.sampled_from([(12, 9), (5, 4, 6)]))
def test_a_greedy_pass_makes_the_best_single_moves_in_turn(seed, shape):
    _, cells = random_cells(seed, shape)
    rng = np.random.default_rng(seed)
    ks = (4,) * len(shape)
    start = [rng.integers(0, 4, n) for n in shape]
    quick, plain = State(cells, ks, start), State(cells, ks, start)
    n_moved = greedy(quick.arrays, np.arange(len(shape)), 0)
    n_plain = 0
    for a, n in enumerate(shape):
        for i in range(n):
            gains = [gain_of(plain.arrays, a, i, q, 0) for q in range(4)]
            if max(gains) > 1e-12:
                move(plain.arrays, a, i, int(np.argmax(gains)))
                n_plain += 1
    assert n_moved == n_plain
    np.testing.assert_array_equal(quick.labels, plain.labels)


@pytest.mark.parametrize("objective", [0, 1])
def test_greedy_descent_never_lowers_the_objective_and_ends_where_no_move_helps(objective):
    _, cells = random_cells(3, (9, 8))
    rng = np.random.default_rng(0)
    state = State(cells, (3, 3), [rng.integers(0, 3, 9), rng.integers(0, 3, 8)])
    before = state.value(objective)
    descend(state, objective)
    assert state.value(objective) >= before
    gains = [gain_of(state.arrays, a, i, q, objective) for a in (0, 1) for i in range(8) for q in range(3)]
    assert max(gains) < 1e-12
    assert repair(state, objective, rng) >= 0
    assert state.value(objective) >= before


def test_annealing_finds_the_best_of_all_clusterings_of_a_small_table():
    P, cells = random_cells(11, (5, 4))
    best = max(
        plain_value(P, [np.array(r), np.array(c)], (2, 2), 0)
        for r in itertools.product((0, 1), repeat=5)
        for c in itertools.product((0, 1), repeat=4)
    )
    rng = np.random.default_rng(0)
    how = {"objective": 0, "sweeps": 5, "cooling": 0.95, "warm": False}
    found = [anneal(cells, (2, 2), [rng.integers(0, 2, 5), rng.integers(0, 2, 4)], rng, **how).value for _ in range(4)]
    assert max(found) == pytest.approx(best)


def test_a_merged_and_a_halved_cluster_are_repaired_though_no_single_move_helps():
    truth = np.repeat(np.arange(4), 30)
    P = np.where(truth[:, None] == truth[None, :], 1.0, 0.02)
    P /= P.sum()
    coords = np.array(np.nonzero(P))
    cells = Cells.from_coords(coords, P[tuple(coords)], P.shape)
    wrong = np.where(truth == 1, 0, truth)  # 0 and 1 together
    wrong[truth == 3] = np.tile([1, 3], 15)  # 3 cut in half
    state = State(cells, (4, 4), [wrong, truth])
    assert greedy(state.arrays, np.arange(2), 0) == 0
    assert repair(state, 0, np.random.default_rng(0)) > 0
    assert len(set(zip(state.by_axis()[0], truth))) == 4


def test_temperatures_follow_the_table_and_a_warm_start_begins_cooler():
    _, cells = random_cells(2, (20, 20))
    rng = np.random.default_rng(0)
    state = State(cells, (3, 3), [rng.integers(0, 3, 20), rng.integers(0, 3, 20)])
    hot, cold = calibrate(state, 0)
    assert hot > calibrate(state, 0, warm=True)[0] > cold > 0.0


def test_compiled_sweep_takes_the_same_road_as_the_plain_one():
    _, cells = random_cells(5, (6, 5, 4))
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 2, n) for n in (6, 5, 4)]
    fast, plain = State(cells, (2, 2, 2), labels), State(cells, (2, 2, 2), labels)
    draws = _proposals(fast, 3, rng)
    assert metropolis(fast.arrays, *draws, 0.01, 0) == metropolis.py_func(plain.arrays, *draws, 0.01, 0)
    np.testing.assert_array_equal(fast.labels, plain.labels)
