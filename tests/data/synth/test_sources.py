"""People seen through four channels: the thesis' counts exactly, and its story in shape."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment

import sidelight as sl
from sidelight.errors import InvalidParameter, UnknownName


def error_share(truth: np.ndarray, clusters: np.ndarray) -> float:
    table = np.zeros((truth.max() + 1, clusters.max() + 1))
    np.add.at(table, (truth, clusters), 1)
    rows, columns = linear_sum_assignment(-table)
    return 1 - table[rows, columns].sum() / len(truth)


@pytest.mark.parametrize(("subjects", "sequences", "points"), [(10, 32, 19_136), (5, 27, 7_379), (3, 13, 3_610)])
def test_the_presets_have_the_counts_of_the_thesis(subjects, sequences, points):
    people = sl.data.make_sources(subjects, random_state=0)
    assert (people.n_subjects, people.n_sequences, people.n_points) == (subjects, sequences, points)
    assert {name: X.shape for name, X in people.channels.items()} == {
        "face": (points, 30),
        "upper": (points, 30),
        "lower": (points, 30),
        "height": (points, 1),
    }
    assert np.bincount(people.sequences).min() >= 20
    for sequence in range(sequences):
        assert len(np.unique(people.subjects[people.sequences == sequence])) == 1
    assert not people.corrupted.any()


def test_the_same_seed_draws_the_same_people():
    first, again, other = (sl.data.make_sources(3, random_state=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(first.channels[name], again.channels[name]) for name in first.channels)
    assert not np.array_equal(first.channels["face"], other.channels["face"])


@pytest.mark.slow
def test_channels_differ_in_strength():
    shares = {name: [] for name in ("face", "upper", "lower", "height")}
    for seed in range(3):
        people = sl.data.make_sources(random_state=seed)
        for name, share in shares.items():
            share.append(np.mean(people.codes(name) != people.sequences))
    mean = {name: np.mean(share) for name, share in shares.items()}
    assert mean["face"] < mean["upper"] < mean["lower"] < mean["height"]


def test_faces_alone_go_wrong_by_tens_of_per_cent():
    shares = []
    for seed in range(4):
        people = sl.data.make_sources(random_state=seed)
        for method in ("single", "complete", "average"):
            clusters = fcluster(linkage(people.prototypes("face"), method), 10, "maxclust") - 1
            shares.append(error_share(people.subjects, clusters[people.sequences]))
    assert 0.15 < np.mean(shares) < 0.6  # [B04] table 4.1 has 0.13 to 0.59


def test_upper_bodies_say_more_about_faces_than_heights_do():
    people = sl.data.make_sources(5, random_state=0)
    table = people.cooccurrence("face", "upper", "height")
    assert table.shape == (27, 27, 27)
    assert table.total == people.n_points
    assert table.mutual_information("face", "upper") > table.mutual_information("face", "height")


def test_without_noise_every_point_is_its_prototype():
    people = sl.data.make_sources(3, noise=0, random_state=0)
    assert np.array_equal(people.codes("face"), people.sequences)


@pytest.mark.parametrize(("corruption", "expected"), [(1094, 1094), (0.1, 1914), (0.0, 0)])
def test_corruption_replaces_that_many_points_and_keeps_the_others(corruption, expected):
    clean = sl.data.make_sources(random_state=0)
    people = sl.data.make_sources(corruption=corruption, random_state=0)
    assert people.corrupted.sum() == expected
    assert np.array_equal(people.subjects, clean.subjects)
    kept = ~people.corrupted
    for name, X in people.channels.items():
        assert np.array_equal(X[kept], clean.channels[name][kept])
        assert not expected or not np.isclose(X[~kept], clean.channels[name][~kept]).all(axis=1).any()


@pytest.mark.parametrize(
    "bad",
    [{"n_subjects": 0}, {"n_sequences": 2}, {"n_points": 30}, {"noise": -1}, {"corruption": 1.5}, {"corruption": -1}],
)
def test_bad_parameters_are_refused_by_name(bad):
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        sl.data.make_sources(**bad)


def test_an_unknown_channel_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="'face'"):
        sl.data.make_sources(3, random_state=0).codes("faces")
