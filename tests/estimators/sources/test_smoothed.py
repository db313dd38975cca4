"""Claims about borders that are made straight."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import graph_local_scaling
from sidelight.estimators.sources import graphs
from sidelight.estimators.sources._smoothed import Discriminant, neighbours_say, smoothed
from sidelight.metrics import normalized_mutual_information


def graph_of(rows: np.ndarray):
    return graph_local_scaling(nearest_rows(rows, 10, generator=np.random.default_rng(0)))[0]


def ragged(generator: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two round clouds, and clusters that near rows on the border fall into by chance."""
    y = np.arange(n) % 2
    rows = generator.normal(size=(n, 4)) + 3.0 * y[:, None] * np.eye(4)[0]
    return rows, (rows[:, 0] + 0.7 * generator.normal(size=n) > 1.5).astype(np.intp), y


def moons(generator: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % 2
    angle = np.pi * generator.random(n)
    bent = np.where(y == 0, [np.cos(angle), np.sin(angle)], [1 - np.cos(angle), 0.5 - np.sin(angle)]).T
    return bent + 0.05 * generator.normal(size=(n, 2)), y.astype(np.intp)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ragged_borders_of_round_clusters_become_straight(seed):
    rows, labels, y = ragged(np.random.default_rng(seed))
    out = smoothed(rows, labels, 2, graph_of(rows), np.random.default_rng(seed))
    before, after = (normalized_mutual_information(y, one) for one in (labels, out))
    assert after > before + 0.05


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_clusters_that_bend_stay_as_they_are(seed):
    rows, y = moons(np.random.default_rng(seed))
    rule = Discriminant.learnt(rows, y, 2)
    assert np.mean(rule(rows) == y) < 0.95  # a straight border would move rows
    np.testing.assert_array_equal(smoothed(rows, y, 2, graph_of(rows), np.random.default_rng(seed)), y)


def test_the_discriminant_is_that_of_fisher():
    generator = np.random.default_rng(3)
    y = generator.integers(3, size=3000)
    scales = np.array([1.0, 5.0])
    rows = (generator.normal(size=(3, 2)) * 3)[y] + generator.normal(size=(3000, 2)) * scales
    rule = Discriminant.learnt(rows, y, 4)  # the fourth cluster has no rows, and gets none
    means = np.array([rows[y == k].mean(axis=0) for k in range(3)])
    shares = np.log(np.bincount(y) / 3000)
    by_hand = (-((rows[:, None] - means) ** 2 / scales**2 / 2).sum(axis=2) + shares).argmax(axis=1)
    assert np.mean(rule(rows) == by_hand) > 0.99


def test_neighbours_speak_without_the_row_itself():
    similar = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.3], [0.0, 0.3, 1.0]])
    graph = sp.csr_array(similar)
    assert neighbours_say(graph, np.array([0, 1, 1]), np.array([0, 1]), 2).tolist() == [1, 0]


@pytest.mark.slow
def test_channels_of_round_clusters_get_straight_borders(monkeypatch):
    def found() -> float:
        scores = []
        for seed in range(3):
            generator = np.random.default_rng(seed)
            y = generator.choice(6, size=400, p=0.6 ** np.arange(6) / (0.6 ** np.arange(6)).sum())
            parts = {name: generator.normal(size=(6, 8))[y] + generator.normal(size=(400, 8)) for name in "ab"}
            X, channels = sl.stack_channels(parts)
            labels = sl.MultiSourceClustering(6, channels=channels, random_state=0).fit(X).labels_
            scores.append(normalized_mutual_information(y, labels))
        return float(np.mean(scores))

    straight = found()
    monkeypatch.setattr(graphs, "smoothed", lambda rows, labels, *rest: labels)
    assert straight > found() + 0.02


def test_few_rows_one_cluster_and_many_columns():
    generator = np.random.default_rng(4)
    rows = generator.normal(size=(60, 500))
    graph = graph_of(rows)
    for labels in (np.zeros(60, dtype=np.intp), np.repeat([0, 2, 5], 20)):
        out = smoothed(rows, labels, 6, graph, np.random.default_rng(0))
        assert set(out.tolist()) <= set(labels.tolist())
    few = smoothed(rows[:10], labels[:10], 6, graph_of(rows[:10]), np.random.default_rng(0))
    np.testing.assert_array_equal(few, labels[:10])
