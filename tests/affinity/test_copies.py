"""Copies and near copies are told by both an angle and a distance, each much shorter than usual."""

from __future__ import annotations

import numpy as np

from sidelight._affinity import copies
from sidelight._affinity.copies import near_copies

RNG = np.random.default_rng(0)
ALONE = np.arange(50)


def things(n: int = 50, d: int = 30) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n, d))


def test_each_copy_is_one_of_the_first():
    M = things()
    M[[20, 30]] = M[10]
    M[40] = M[10] + 0.02 * RNG.normal(size=30)
    found = near_copies(M)
    assert found[[10, 20, 30, 40]].tolist() == [10] * 4
    assert (np.delete(found, [20, 30, 40]) == np.delete(ALONE, [20, 30, 40])).all()


def test_things_far_out_in_one_direction_are_no_copies():
    M = things()
    M[[5, 6, 7]] = np.outer([100.0, 200.0, 300.0], np.ones(30))
    assert (near_copies(M) == ALONE).all()


def test_things_in_the_middle_are_no_copies():
    M = np.vstack([things(), -things()])
    M[[5, 6, 55, 56]] *= 0.05  # near each other, and in different directions
    assert (near_copies(M) == np.arange(100)).all()


def test_of_few_things_or_few_numbers_only_exact_copies_are_told():
    for M in (things(11), things(50, 15)):
        M[4] = M[3] + 1e-6
        M[6] = M[5]
        found = near_copies(M)
        assert found[4] == 4
        assert found[6] == 5
    assert near_copies(np.empty((0, 3))).shape == (0,)


def test_blocks_change_nothing(monkeypatch):
    M = things()
    M[[20, 41]] = M[[10, 2]] + 0.02 * RNG.normal(size=(2, 30))
    whole = near_copies(M)
    monkeypatch.setattr(copies, "_BLOCK", 7)
    assert (near_copies(M) == whole).all()
