"""What channels share, each measure against a plain loop; thresholds of novelty; votes; columns of channels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import InvalidInput
from sidelight.estimators.sources import _agreement, _graph_fit, graphs
from sidelight.estimators.sources._joined import channel_columns, votes
from sidelight.estimators.sources.codebook import thresholds

RNG = np.random.default_rng(0)


def random_graph(n=30, density=0.2, seed=0):
    W = sp.random_array((n, n), density=density, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_array(W + W.T)


def pairs_of(W, rows):
    dense = W.toarray() > 0
    return {(i, j) for i, j in combinations(np.flatnonzero(rows).tolist(), 2) if dense[i, j]}


def test_common_edges_are_those_of_rows_that_have_both_channels():
    graphs = {"a": random_graph(seed=1), "b": random_graph(seed=2), "c": random_graph(density=0.0), "d": random_graph()}
    there = {name: np.random.default_rng(ord(name)).random(30) < 0.8 for name in graphs}
    found = _agreement.CommonEdges.of(graphs, there)
    for i, a in enumerate(graphs):
        assert found.excess[i, i] == found.share[i, i] == 0
        for j, b in enumerate(graphs):
            both = there[a] & there[b]
            mine, theirs = pairs_of(graphs[a], both), pairs_of(graphs[b], both)
            if i == j or not mine or not theirs:
                assert found.excess[i, j] == 0
                continue
            n = both.sum()
            chance = len(mine) * len(theirs) / (n * (n - 1) / 2)
            assert found.excess[i, j] == pytest.approx(len(mine & theirs) / chance - 1)
            assert found.share[i, j] == pytest.approx(len(mine & theirs) / min(len(mine), len(theirs)))


def test_rows_without_the_channel_are_joined_to_nothing():
    rows, there = RNG.normal(size=(40, 3)), np.arange(40) % 4 > 0
    graph = graphs.graph_of(rows, there, np.random.default_rng(0)).toarray()
    own = graphs.graph_of(rows[there], np.ones(30, dtype=bool), np.random.default_rng(0)).toarray()
    assert graph.shape == (40, 40)
    np.testing.assert_array_equal(graph[np.ix_(there, there)], own)
    assert graph[~there].sum() == graph[:, ~there].sum() == 0


def test_codes_share_information_by_the_likelihood_ratio_test(monkeypatch):
    """G is 11.5 at one degree of freedom: a chance of 7 in 10,000, which two of three further pairs would allow."""
    table = np.array([[32.0, 18.0], [15.0, 35.0]])
    two = sl.CoOccurrence.from_matrix(table)
    assert 2 * two.total * two.mutual_information(*two.axes) == pytest.approx(11.8, abs=0.3)
    assert _graph_fit.codes_share(two)
    monkeypatch.setattr(_graph_fit, "_CHANCE", 4e-4)
    assert not _graph_fit.codes_share(two)
    monkeypatch.setattr(_graph_fit, "_CHANCE", 1e-3)
    assert not _graph_fit.codes_share(sl.CoOccurrence.from_matrix(np.outer([3.0, 5.0], [2.0, 4.0])))
    assert not _graph_fit.codes_share(sl.CoOccurrence.from_matrix(np.array([[30.0], [10.0]])))
    codes = [np.repeat([0, 0, 1, 1], [32, 18, 15, 35]), np.repeat([0, 1, 0, 1], [32, 18, 15, 35])]
    three = sl.CoOccurrence.from_codes({"a": codes[0], "b": codes[1], "c": np.arange(100) % 2})
    assert not _graph_fit.codes_share(three)  # three pairs, each at a third of the chance


def test_thresholds_of_novelty_are_distances_to_kin():
    rng = np.random.default_rng(3)
    prototypes = rng.normal(size=(7, 2))
    labels = np.array([0, 0, 0, 1, 1, 2, -1])
    home = rng.integers(6, size=80)
    X = prototypes[home] + 0.1 * rng.normal(size=(80, 2))
    of_points, of_sequences = [], []
    for i in range(5):  # the sixth has no kin, and nobody has the seventh
        kin = [j for j in range(7) if labels[j] == labels[i] and j != i]
        of_points.append([min(np.linalg.norm(x - prototypes[j]) for j in kin) for x in X[home == i]])
        of_sequences.append(min(np.linalg.norm(prototypes[i] - prototypes[j]) for j in kin))
    low, high = np.quantile(of_sequences, [0.25, 0.75])
    usual = [gap <= high + 1.5 * (high - low) for gap in of_sequences]
    point, sequence = thresholds(X, home, prototypes, labels, 0.9)
    points = np.concatenate([of for of, kept in zip(of_points, usual) if kept])
    assert point == pytest.approx(np.quantile(points, 0.9))
    assert sequence == pytest.approx(np.quantile(np.array(of_sequences)[usual], 0.9))
    plain = np.quantile([min(np.linalg.norm(x - p) for p in prototypes) for x in X], 0.9)
    assert thresholds(X, None, prototypes, labels, 0.9) == pytest.approx((plain, plain))
    assert thresholds(X, home, prototypes, np.arange(7), 0.9) == pytest.approx((plain, plain))


def test_sequences_that_are_all_as_far_from_their_kin_are_no_outliers():
    prototypes = np.array([[0.0], [1.0], [5.0], [6.0]])
    home = np.arange(4)
    assert thresholds(prototypes, home, prototypes, np.array([0, 0, 1, 1]), 0.5) == (1.0, 1.0)


def test_a_sequence_far_from_its_kin_does_not_make_strangers_known():
    prototypes = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [90.0]])
    found = thresholds(prototypes, np.arange(7), prototypes, np.zeros(7, dtype=int), 1.0)
    assert found == pytest.approx((1.0, 1.0))


def test_the_nearest_known_rows_vote_by_how_near_they_are():
    rng = np.random.default_rng(4)
    known, labels, rows = rng.normal(size=(30, 2)), rng.integers(3, size=30), rng.normal(size=(5, 2))
    found = votes(rows, known, labels, 4)
    for row, share in zip(rows, found):
        gaps = np.linalg.norm(known - row, axis=1)
        near = np.argsort(gaps)[:10]
        weight = np.exp(-((gaps[near] / gaps[near][6]) ** 2) / 2)
        expected = np.bincount(labels[near], weight, minlength=4)
        np.testing.assert_allclose(share, expected / expected.sum(), atol=1e-6)
    np.testing.assert_array_equal(votes(known, known, labels, 3), np.eye(3)[labels])
    twice = np.vstack([known, known[:1]])
    told = votes(known[:1], twice, np.append(labels, (labels[0] + 1) % 3), 3)[0]
    assert sorted(told.tolist()) == [0.0, 0.5, 0.5]
    crowd = np.repeat([[0.0], [1.0]], [14, 6], axis=0)
    counted = votes(np.zeros((1, 1)), crowd, np.repeat([0, 1, 2], [9, 5, 6]), 3)[0]
    np.testing.assert_allclose(counted, [9 / 14, 5 / 14, 0.0])


def test_channels_are_slices_numbers_or_masks():
    for channels, expected in [
        (None, {"0": [0], "1": [1], "2": [2], "3": [3]}),
        ({"a": slice(0, 2), "b": slice(2, 4)}, {"a": [0, 1], "b": [2, 3]}),
        ({"a": slice(1), "b": slice(2, None)}, {"a": [0], "b": [2, 3]}),
        ({"a": 3, 7: np.array([0, 1], dtype=np.uint8)}, {"a": [3], "7": [0, 1]}),
        ({"a": np.array([True, False, True, False]), "b": [3]}, {"a": [0, 2], "b": [3]}),
    ]:
        found = channel_columns(object(), channels, 4)
        assert {name: where.tolist() for name, where in found.items()} == expected


@pytest.mark.parametrize(
    "channels",
    [
        {"a": slice(0, 5), "b": [0]},
        {"a": slice(2, 2), "b": [0]},
        {"a": [4], "b": [0]},
        {"a": [-1], "b": [0]},
        {"a": [], "b": [0]},
        {"a": [0.5], "b": [0]},
        {"a": ["x"], "b": [0]},
        {"a": np.array([True, False]), "b": [0]},
        {"a": [0]},
        [0, 1],
    ],
)
def test_channels_that_cannot_be_are_refused(channels):
    with pytest.raises(InvalidInput):
        channel_columns(object(), channels, 4)
    if isinstance(channels, dict) and len(channels) == 1:
        assert len(channel_columns(object(), channels, 4, least=1)) == 1
