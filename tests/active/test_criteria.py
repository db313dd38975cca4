"""Info and Uncertain against all pairs counted out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sidelight._core.simplex import binary_entropy
from sidelight.active.belief import Belief
from sidelight.active.strategies import CriterionStrategy

N, EPS = 7, 0.1
PARTICLES = np.random.default_rng(0).dirichlet(np.ones(3), size=(6, N))


class Rules:
    """A belief of six particles, with an answer about rows 0 and 1 and one about rows 1 and 2."""

    n_rows, eps, left, right = N, EPS, np.array([0, 1]), np.array([1, 2])

    def marginals(self):
        return PARTICLES


class Single(Belief):
    """A belief with one probability a row."""

    n_rows, eps = N, EPS

    def posterior(self):
        return PARTICLES[0]


def plain_gain(criterion, q, a, b):
    same = [EPS + (1 - 2 * EPS) * float(one[a] @ one[b]) for one in q]
    mean = float(np.mean([binary_entropy(p) for p in same])) if criterion == "info" else 0.0
    return float(binary_entropy(np.mean(same))) - mean


def ranked(criterion, q, joined=()):
    pairs = [pair for pair in itertools.combinations(range(N), 2) if not set(pair) <= set(joined)]
    return sorted(pairs, key=lambda pair: -plain_gain(criterion, q, *pair))


def choose(strategy, belief, asked=(), busy=()):
    taken = [set(pair) for pair in asked]
    return strategy.choose(belief, lambda a, b: {a, b} in taken, np.random.default_rng(0), frozenset(busy))


@pytest.mark.parametrize("criterion", ["info", "uncertain"])
def test_the_pair_of_largest_gain_that_closes_no_cycle_is_asked(criterion):
    strategy = CriterionStrategy(criterion, n_scored=2)  # the best on two particles are compared on all of them
    order = ranked(criterion, PARTICLES, joined=(0, 1, 2))
    rows, gain = choose(strategy, Rules())
    assert rows == order[0]
    assert gain == pytest.approx(plain_gain(criterion, PARTICLES, *order[0]))
    assert choose(strategy, Rules(), asked=order[:3])[0] == order[3]
    busy = set(order[0])
    assert choose(strategy, Rules(), busy=busy)[0] == next(pair for pair in order if not busy & set(pair))
    assert choose(strategy, Rules(), asked=order) is None


@pytest.mark.parametrize("criterion", ["info", "uncertain"])
def test_a_belief_without_particles_is_asked_what_is_least_certain(criterion):
    order = ranked("uncertain", PARTICLES[:1])
    rows, gain = choose(CriterionStrategy(criterion), Single())
    assert rows == order[0]
    least = float(binary_entropy(EPS))
    assert gain == pytest.approx(plain_gain("uncertain", PARTICLES[:1], *order[0]) - least)
