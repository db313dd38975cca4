"""Every strategy with every kind of belief: it asks what it should, and nothing twice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.active.belief import ClustererBelief
from sidelight.active.rivals.neighbourhoods import NPU, MinMax, Neighbourhoods
from sidelight.active.strategies import STRATEGIES

GENERATOR = np.random.default_rng(0)
Y = np.repeat(np.arange(3), 25)
X = GENERATOR.normal(size=(75, 2)) + np.array([[0, 0], [7, 0], [0, 7]])[Y]
BELIEFS = {
    "ours": None,
    "MPCK-Means": sl.peers.MPCKMeans(3, random_state=0),
    "ITML": sl.peers.MetricKMeans(3, n_init=3, random_state=0),
}


def _session(strategy: str, belief: str) -> sl.ActiveSession:
    if belief == "thesis":
        made = sl.BayesianActiveClustering(3, n_particles=8, n_moves=1, random_state=0)
        return sl.ActiveSession(X, 3, strategy=strategy, belief=made._new_belief, random_state=0)
    return sl.ActiveSession(X, 3, strategy=strategy, belief=BELIEFS[belief], random_state=0)


@pytest.mark.parametrize("belief", [*BELIEFS, "thesis"])
@pytest.mark.parametrize(
    "strategy", [pytest.param(name, marks=[pytest.mark.slow] * (name == "npu")) for name in STRATEGIES]
)
def test_each_strategy_goes_with_each_belief(strategy, belief):
    session = _session(strategy, belief)
    session.run(sl.Oracle(Y), budget=8)
    asked = [frozenset(rows) for rows, _ in session.history]
    assert len(asked) == len(set(asked)) == 8
    assert adjusted_rand_score(Y, session.labels_) > 0.9
    assert session.predict_proba(X[:4]).shape in ((4, 2), (4, 3))  # "pairs" finishes no row, and may not have met all


@pytest.mark.parametrize("strategy", ["explore", "minmax", "npu"])
def test_a_conversation_is_taken_up_where_it_stopped(tmp_path, strategy):
    session = sl.ActiveSession(X, 3, strategy=strategy, belief=sl.peers.PCKMeans(3), random_state=0)
    session.run(sl.Oracle(Y), budget=6)
    session.save(tmp_path / "s.json")
    again = sl.ActiveSession.resume(tmp_path / "s.json", X, belief=sl.peers.PCKMeans(3))
    assert again.ask().rows == session.ask().rows
    assert np.array_equal(again.labels_, session.labels_)


def _belief(n_clusters: int | None = 2) -> ClustererBelief:
    rows = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]])
    return ClustererBelief(rows, n_clusters, np.random.default_rng(0), clusterer=sl.peers.PCKMeans(2, random_state=0))


def test_minmax_asks_about_the_row_least_like_those_asked_about():
    strategy, belief = MinMax(), _belief()
    strategy.groups = [[0], [3]]
    rows, _ = strategy.choose(belief, lambda a, b: False, np.random.default_rng(0))
    assert rows == (5, 3)  # row 5 is farthest from rows 0 and 3, and nearer to row 3


def test_npu_asks_about_a_row_between_neighbourhoods():
    belief = ClustererBelief(
        np.array([[0.0], [0.1], [0.2], [5.0], [9.8], [9.9], [10.0]]),
        2,
        np.random.default_rng(0),
        clusterer=sl.peers.PCKMeans(2, random_state=0),
    )
    strategy = NPU()
    strategy.groups = [[0], [6]]
    rows, _ = strategy.choose(belief, lambda a, b: False, np.random.default_rng(0))
    assert rows[0] == 3


def test_the_last_place_left_is_taken_without_a_question():
    strategy, belief = Neighbourhoods(), _belief()
    strategy.after_answer(belief, (3, 0), "different")
    assert strategy.groups == [[0], [3]]
    strategy.after_answer(belief, (4, 0), "different")
    assert strategy.groups == [[0], [3, 4]]
    strategy.after_answer(belief, (1, 0), "same")
    assert strategy.groups == [[0, 1], [3, 4]]
    strategy.after_answer(belief, (5, 3), "unsure")
    assert 5 in strategy.skipped


def test_an_unknown_number_of_clusters_grows_with_rows_that_fit_nowhere():
    strategy, belief = Neighbourhoods(), _belief(None)
    belief.n_clusters = None
    strategy.after_answer(belief, (3, 0), "different")
    strategy.after_answer(belief, (5, 3), "different")
    assert len(strategy.groups) == 2
    strategy.after_answer(belief, (5, 0), "different")
    assert strategy.groups == [[0], [3], [5]]
