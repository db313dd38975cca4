"""Claims about channels clustered by graphs, and about the choice between the ways."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import sidelight as sl
from sidelight._affinity.spectral import NormalisedSum
from sidelight.errors import InvalidInput, SidelightWarning
from sidelight.estimators.sources import _graph_fit, multisource
from sidelight.estimators.sources.graphs import AddedGraphs
from sidelight.metrics import normalized_mutual_information

FIRST = np.array([[6.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 6.0], [-6.0, 0.0, 0.0]])
SECOND = np.array([[7.0, 0.0], [0.0, 7.0], [-7.0, 0.0], [0.0, -7.0]])


def blobs(seed: int, n: int = 300, *, complement: bool = False) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Two channels that show the same four clusters; ``complement`` hides one of the borders from each."""
    generator = np.random.default_rng(seed)
    y = generator.integers(4, size=n)
    first, second = FIRST.copy(), SECOND.copy()
    if complement:
        first[1], second[3] = first[0], second[2]
    a, b = first[y] + generator.normal(size=(n, 3)), second[y] + generator.normal(size=(n, 2))
    return np.hstack([a, b]), {"a": np.arange(3), "b": np.arange(3, 5)}, y


def linked(seed: int, n: int = 600, blocks: int = 3, per: int = 3, noise: float = 0.3):
    """Two channels with groups of their own, which are linked by nothing but how often they occur together."""
    generator = np.random.default_rng(seed)
    hidden = generator.integers(blocks, size=n)
    partner = np.where(generator.random(n) < noise, generator.integers(blocks, size=n), hidden)
    codes = [of * per + generator.integers(per, size=n) for of in (hidden, partner)]
    centres = np.eye(blocks * per) * 6.0
    X = np.hstack([centres[of] + generator.normal(size=(n, blocks * per)) * 0.5 for of in codes])
    return X, {"a": np.arange(blocks * per), "b": np.arange(blocks * per, 2 * blocks * per)}, hidden


def test_channels_that_complete_each_other_beat_each_alone():
    X, channels, y = blobs(0, complement=True)
    ms = sl.MultiSourceClustering(4, channels=channels, random_state=0).fit(X)
    assert "silhouette" in ms.why_
    assert {"graphs", "concatenated"} <= set(ms.choice_)
    found = normalized_mutual_information(y, ms.labels_)
    foil = sl.peers.ConcatenatedKMeans(4, random_state=0)
    alone = max(normalized_mutual_information(y, foil.fit(X[:, own]).labels_) for own in channels.values())
    assert found > max(0.95, alone + 0.1)


def test_channels_that_agree_on_less_than_they_tell_together_are_put_side_by_side():
    """Both channels find the wrong clusters of the added graphs alike; together they foretell the right ones."""
    X, channels, y = blobs(4, complement=True)
    ms = sl.MultiSourceClustering(4, channels=channels, random_state=4).fit(X)
    assert (ms.method_, normalized_mutual_information(y, ms.labels_)) == ("concatenated", 1.0)


def crossed(seed: int, n: int = 600) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Two channels that each show three of nine clusters: the product of both is what is there."""
    generator = np.random.default_rng(seed)
    y = generator.integers(9, size=n)
    a, b = (6 * np.eye(3)[of] + generator.normal(size=(n, 3)) for of in (y // 3, y % 3))
    return np.hstack([a, b]), {"a": np.arange(3), "b": np.arange(3, 6)}, y


def test_the_product_of_channels_is_left_to_all_of_them_side_by_side():
    X, channels, y = crossed(0)
    ms = sl.MultiSourceClustering(9, channels=channels, random_state=0).fit(X)
    assert ms.method_ == "concatenated"  # added graphs have five common eigenvectors for nine clusters
    assert normalized_mutual_information(y, ms.labels_) > 0.95


def four_kinds(
    seed: int, noise: dict[str, float], n: int = 300
) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Channels of eight columns that show the same four clusters, each with noise of its own; infinite: noise alone."""
    generator = np.random.default_rng(seed)
    y = generator.integers(4, size=n)
    parts = []
    for scale in noise.values():
        shown = np.zeros((n, 8)) if np.isinf(scale) else generator.normal(size=(4, 8))[y] / scale
        parts.append(shown + generator.normal(size=(n, 8)))
    return np.hstack(parts), {name: np.arange(8 * i, 8 * i + 8) for i, name in enumerate(noise)}, y


def test_a_channel_counts_for_what_others_confirm():
    X, channels, y = four_kinds(0, {"clear": 0.8, "dim": 1.0, "poor": 2.5})
    ms = sl.MultiSourceClustering(4, channels=channels, random_state=0).fit(X)
    weights = ms.channel_weights_
    assert max(weights.values()) == 1.0
    assert weights["poor"] < 0.5 * weights["dim"]
    assert normalized_mutual_information(y, ms.labels_) > 0.85


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_channel_of_noise_counts_for_nothing_even_beside_one_other(seed):
    X, channels, y = four_kinds(seed, {"clear": 0.8, "noise": np.inf}, n=500)
    ms = sl.MultiSourceClustering(4, channels=channels, random_state=0).fit(X)
    assert ms.channel_weights_ == {"clear": 1.0, "noise": 0.001}
    alone = sl.peers.ConcatenatedKMeans(4, random_state=0).fit(X[:, channels["clear"]])
    own, foil = (normalized_mutual_information(y, labels) for labels in (ms.labels_, alone.labels_))
    assert own > foil - 0.03


@pytest.mark.slow
def test_a_channel_that_shows_clusters_of_its_own_is_not_taken_for_noise():
    X, channels, _ = crossed(1)
    ms = sl.MultiSourceClustering(9, channels=channels, random_state=0).fit(X)
    assert ms.channel_weights_ == {"a": 1.0, "b": 1.0}


def test_rows_of_one_sequence_confirm_no_channel():
    generator = np.random.default_rng(0)
    home = np.repeat(np.arange(60), 10)
    y = np.arange(60)[home] % 3
    day = generator.normal(size=(60, 6)) * 3  # near within a day, whatever the person
    person = generator.normal(size=(3, 6)) * 3
    parts = {
        "face": person[y] + generator.normal(size=(600, 6)),
        "voice": person[y][:, ::-1] + generator.normal(size=(600, 6)),
        "clothes": day[home] + generator.normal(size=(600, 6)),
        "light": day[home] + generator.normal(size=(600, 6)),
    }
    X, channels = sl.stack_channels(parts)
    ms = sl.MultiSourceClustering(3, channels=channels, random_state=0).fit(X, sequences=home)
    assert max(ms.channel_weights_[name] for name in ("clothes", "light")) < 0.7
    assert normalized_mutual_information(y, ms.labels_) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_groups_that_only_occur_together_are_left_to_their_counts(seed):
    X, channels, hidden = linked(seed)
    ms = sl.MultiSourceClustering(3, channels=channels, primary="a", random_state=0).fit(X)
    assert ms.method_ == "annealed"
    assert "occur together" in ms.why_
    assert normalized_mutual_information(hidden, ms.labels_) > 0.9
    named = sl.MultiSourceClustering(3, channels=channels, primary="a", method="annealed", random_state=0).fit(X)
    np.testing.assert_array_equal(named.labels_, ms.labels_)


@pytest.mark.parametrize("method", ["auto", "graphs", "concatenated"])
def test_training_rows_keep_their_labels_and_new_rows_get_some(method, tmp_path):
    X, channels, y = blobs(1)
    ms = sl.MultiSourceClustering(4, channels=channels, method=method, random_state=0).fit(X[:200])
    np.testing.assert_array_equal(ms.predict(X[:200]), ms.labels_)
    np.testing.assert_array_equal(ms.predict(X[:1]), ms.labels_[:1])
    for name, where in channels.items():
        np.testing.assert_array_equal(ms.predict_channel(name, X[:200, where]), ms.channel_labels_[name])
    P = ms.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(P.argmax(axis=1), ms.predict(X))
    assert normalized_mutual_information(y[200:], ms.predict(X[200:])) > 0.9
    sl.save(ms, tmp_path / "model.zip")
    again = sl.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(again.predict_proba(X), P)
    sparse = sl.MultiSourceClustering(4, channels=channels, method=method, random_state=0).fit(sp.csr_array(X[:200]))
    np.testing.assert_array_equal(sparse.labels_, ms.labels_)
    assert np.isfinite(ms.score(X))
    assert ms.is_new(X + 1e3).all()


@pytest.mark.parametrize("method", ["auto", "graphs", "concatenated"])
def test_rows_may_lack_a_channel_as_a_whole(method):
    X, channels, y = blobs(2)
    gaps = X.copy()
    gaps[::5, :3] = np.nan
    gaps[1::5, 3:] = np.nan
    ms = sl.MultiSourceClustering(4, channels=channels, method=method, random_state=0).fit(gaps)
    assert (ms.labels_ >= 0).all()
    assert (ms.channel_labels_["a"][::5] == -1).all()
    full = np.arange(len(X)) % 5 > 1
    assert normalized_mutual_information(y[full], ms.labels_[full]) > 0.85
    np.testing.assert_array_equal(ms.predict(gaps), ms.labels_)


def test_gaps_within_a_channel_and_rows_without_any_are_refused():
    X, channels, _ = blobs(3)
    make = sl.MultiSourceClustering(4, channels=channels, random_state=0)
    X[7, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"row 7, column 1 .* is NaN, but other columns of the channel 'a' are not"):
        make.fit(X)
    X[7] = np.nan
    with pytest.raises(InvalidInput, match=r"row 7 .* has no channel at all"):
        make.fit(X)
    X[7] = 0.0
    X[:, 3:] = np.nan
    with pytest.raises(InvalidInput, match="no row has the channel 'b'"):
        make.fit(X)
    with pytest.raises(InvalidInput, match="NaN"):
        sl.MultiSourceClustering(4, channels=channels, method="annealed").fit(X)


def test_a_constant_channel_is_left_out_and_said():
    X, channels, y = blobs(4)
    X = np.hstack([X, np.full((len(X), 2), 3.0)])
    ms = sl.MultiSourceClustering(4, channels={**channels, "c": [5, 6]}, random_state=0)
    with pytest.warns(SidelightWarning, match="channel 'c' is the same in every row"):
        ms.fit(X)
    assert normalized_mutual_information(y, ms.labels_) > 0.95
    nothing = sl.MultiSourceClustering(2, channels={"a": [0], "b": [1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)
        with pytest.raises(InvalidInput, match=r"every channel is the same in every row \(n_samples=6\)"):
            nothing.fit(np.ones((6, 2)))


def test_one_row_a_class_and_more_clusters_than_rows():
    X, channels, _ = blobs(5)
    ms = sl.MultiSourceClustering(6, channels=channels, random_state=0).fit(X[:6])
    assert len(set(ms.labels_.tolist())) == 6
    with pytest.raises(InvalidInput, match="at most 6 clusters"):
        sl.MultiSourceClustering(7, channels=channels).fit(X[:6])


def test_different_numbers_of_clusters_are_for_the_counts():
    X, channels, _ = blobs(6)
    ms = sl.MultiSourceClustering({"a": 3, "b": 2}, channels=channels, random_state=0).fit(X)
    assert ms.method_ == "annealed"
    assert "different numbers" in ms.why_
    with pytest.raises(InvalidInput, match="all channels have the same clusters"):
        sl.MultiSourceClustering({"a": 3, "b": 2}, channels=channels, method="graphs").fit(X)


@pytest.mark.slow
def test_rows_of_one_sequence_are_joined():
    seen = sl.data.make_sources(5, n_sequences=20, n_points=1000, random_state=11)
    X, channels = sl.stack_channels(seen.channels)
    ms = sl.MultiSourceClustering(5, channels=channels, random_state=0).fit(X, sequences=seen.sequences)
    assert normalized_mutual_information(seen.subjects, ms.labels_) > 0.95
    assert len(set(zip(seen.sequences, ms.labels_))) == seen.n_sequences
    np.testing.assert_array_equal(ms.predict(X, sequences=seen.sequences), ms.labels_)


@pytest.mark.slow
def test_words_beside_numbers_are_prepared_by_their_kind():
    generator = np.random.default_rng(7)
    y = generator.integers(3, size=240)
    topics = generator.dirichlet(np.full(80, 0.1), size=3)
    words = np.array([generator.multinomial(25, topics[k]) for k in y]).astype(float)
    numbers = generator.normal(size=(240, 4)) + 1.0 * y[:, None]
    X, channels = sl.stack_channels({"words": words, "numbers": numbers})
    ms = sl.MultiSourceClustering(3, channels=channels, random_state=0).fit(X)
    assert {name: of.kind for name, of in ms.joined_.preparations.items()} == {"words": "words", "numbers": "numbers"}
    assert normalized_mutual_information(y, ms.labels_) > 0.9


@pytest.mark.slow
def test_a_channel_of_two_values_takes_part():
    generator = np.random.default_rng(8)
    y = np.repeat([0, 1, 2], 30)
    X = np.column_stack([6.0 * y[:, None] + generator.normal(size=(90, 2)), y == 1])
    ms = sl.MultiSourceClustering(3, channels={"a": [0, 1], "sex": [2]}, random_state=0).fit(X)
    assert normalized_mutual_information(y, ms.labels_) > 0.95


def texts(generator: np.random.Generator, y: np.ndarray, n_words: int, length: int, common: float) -> np.ndarray:
    """Counts of words: a share of them common to all texts, the others of a topic."""
    usual = generator.dirichlet(np.full(n_words, 0.1))
    topics = generator.dirichlet(np.full(n_words, 0.05), size=y.max() + 1)
    lengths = 3 + generator.poisson(length, size=len(y))
    return generator.multinomial(lengths, (1 - common) * topics[y] + common * usual).astype(float)


@pytest.mark.slow
def test_rows_without_words_lack_the_channel():
    found = []
    for seed in range(3):
        generator = np.random.default_rng(seed)
        y = generator.integers(4, size=300)
        words = texts(generator, y, 300, 30, 0.6)
        numbers = generator.normal(size=(4, 6))[y] + generator.normal(size=(300, 6))
        is_empty = generator.random(300) < 0.3
        words[is_empty] = 0.0
        X, channels = sl.stack_channels({"words": words, "numbers": numbers})
        ms = sl.MultiSourceClustering(4, channels=channels, method="graphs", random_state=0).fit(X)
        np.testing.assert_array_equal(ms.predict(X), ms.labels_)
        np.testing.assert_array_equal(ms.predict_channel("words", words), ms.channel_labels_["words"])
        assert (ms.channel_labels_["words"][is_empty] == np.bincount(ms.labels_).argmax()).all()
        found.append(normalized_mutual_information(y, ms.labels_))
    assert np.mean(found) > 0.74  # as a cluster of their own, or joined to each other, they cost .1


@pytest.mark.slow
def test_rows_that_say_nothing_anywhere_get_the_usual_cluster():
    generator = np.random.default_rng(10)
    y = generator.integers(3, size=150)
    parts = {name: texts(generator, y, 200, 30, 0.5) for name in "ab"}
    for words in parts.values():
        words[:2] = 0.0
    X, channels = sl.stack_channels(parts)
    ms = sl.MultiSourceClustering(3, channels=channels, random_state=0).fit(X)
    assert normalized_mutual_information(y[2:], ms.labels_[2:]) > 0.9
    assert (ms.labels_[:2] == np.bincount(ms.labels_).argmax()).all()
    np.testing.assert_array_equal(ms.predict(X), ms.labels_)


@pytest.mark.slow
def test_clear_channels_of_small_clusters_are_no_copies():
    y = np.repeat(np.arange(20), 11)  # a cluster is hardly larger than a neighbourhood
    found = []
    for seed in range(3):
        generator = np.random.default_rng(seed)
        scales = {"clear": 0.15, "also clear": 0.15, "poor": 1.5, "as poor": 1.5}
        parts = {
            name: generator.normal(size=(20, 8))[y] + scale * generator.normal(size=(220, 8))
            for name, scale in scales.items()
        }
        X, channels = sl.stack_channels(parts)
        weights = sl.MultiSourceClustering(20, channels=channels, random_state=0).fit(X).channel_weights_
        found.append(max(weights["poor"], weights["as poor"]))
    assert np.mean(found) < 0.35  # .5 where the clear ones share one voice


def test_copies_of_a_poor_channel_share_one_voice():
    generator = np.random.default_rng(12)
    y = generator.integers(5, size=500)
    poor = generator.normal(size=(5, 8))[y] + 1.8 * generator.normal(size=(500, 8))
    parts = {
        "clear": generator.normal(size=(5, 8))[y] + 0.9 * generator.normal(size=(500, 8)),
        "poor": poor,
        "copy": poor + 0.3 * generator.normal(size=poor.shape),
    }
    X, channels = sl.stack_channels(parts)
    weights = sl.MultiSourceClustering(5, channels=channels, random_state=0).fit(X).channel_weights_
    assert weights["poor"] + weights["copy"] == pytest.approx(1.0)


@pytest.mark.slow
def test_groups_that_blur_are_not_left_to_their_counts():
    generator = np.random.default_rng(13)
    hidden = generator.integers(3, size=600)
    parts = {}
    for name in "ab":
        code = hidden * 3 + generator.integers(3, size=600)
        parts[name] = 6.0 * np.eye(9)[code] + 2.2 * generator.normal(size=(600, 9))
    X, channels = sl.stack_channels(parts)
    ms = sl.MultiSourceClustering(3, channels=channels, random_state=0).fit(X)
    assert 0.02 < ms.choice_["finer groups"] < 0.15  # finer than the clusters, but not clear
    assert ms.method_ != "annealed"
    counts = sl.MultiSourceClustering(3, channels=channels, method="annealed", random_state=0).fit(X)
    own, foil = (normalized_mutual_information(hidden, one.labels_) for one in (ms, counts))
    assert own > foil


@pytest.mark.slow
def test_of_very_many_rows_some_are_joined_and_the_others_placed(monkeypatch):
    monkeypatch.setattr(_graph_fit, "JOINED", 400)
    X, channels, y = blobs(15, n=1000, complement=True)
    ms = sl.MultiSourceClustering(4, channels=channels, random_state=0)
    assert normalized_mutual_information(y, ms.fit(X).labels_) > 0.95
    assert 340 < len(ms.joined_.labels) < 460
    np.testing.assert_array_equal(ms.predict(X), ms.labels_)
    days = 10 * y + np.random.default_rng(15).integers(10, size=1000)
    assert normalized_mutual_information(y, ms.fit(X, sequences=days).labels_) == 1.0
    X[:300, :3] = np.nan
    assert normalized_mutual_information(y[300:], ms.fit(X).labels_[300:]) > 0.7  # .8 to 1 by what is drawn


@pytest.mark.slow
def test_rows_are_judged_alike_in_blocks_of_any_size(monkeypatch):
    X, channels, _ = blobs(16)
    X[::7, 3:] = np.nan
    ms = sl.MultiSourceClustering(4, channels=channels, random_state=0)
    whole, shares = ms.fit(X), ms.predict_proba(X)
    expected = whole.labels_, whole.channel_labels_
    monkeypatch.setattr(multisource, "_JUDGED", 13)
    ms.fit(X)
    np.testing.assert_array_equal(ms.labels_, expected[0])
    for name, labels in expected[1].items():
        np.testing.assert_array_equal(ms.channel_labels_[name], labels)
    np.testing.assert_array_equal(ms.predict_proba(X), shares)


@pytest.mark.slow
@pytest.mark.parametrize("with_days", [True, False])
def test_components_are_those_of_all_graphs_together(with_days):
    generator = np.random.default_rng(17)
    for _ in range(20):
        graphs = [sp.random_array((40, 40), density=0.02, rng=generator, format="csr") for _ in range(3)]
        home = np.unique(generator.integers(30, size=40), return_inverse=True)[1] if with_days else None
        operator = AddedGraphs(tuple(NormalisedSum.of((W + W.T).tocsr()) for W in graphs), (1.0,) * 3, home, 1.0)
        dense = sum(W.toarray() for W in graphs) + (0 if home is None else home[:, None] == home)
        expected = connected_components(dense, directed=False)[1]
        assert len(set(zip(operator.components().tolist(), expected.tolist()))) == expected.max() + 1
        assert operator.components().max() == expected.max()


@pytest.mark.slow
def test_channels_vote_on_new_rows_with_their_weights():
    X, channels, _ = blobs(1, complement=True)
    model = sl.MultiSourceClustering(4, channels=channels, method="graphs", random_state=0).fit(X[:200])
    new = X[200:] + np.random.default_rng(0).normal(scale=2.0, size=(100, 5))
    parts = {name: new[:, columns] for name, columns in channels.items()}
    there = {name: np.ones(len(new), dtype=bool) for name in channels}

    def said(a, b):
        return replace(model.joined_, weights={"a": a, "b": b}).proba(parts, there)

    assert np.abs(said(1.0, 0.0) - said(0.0, 1.0)).max() > 0.2
    np.testing.assert_allclose(said(3.0, 1.0), (3.0 * said(1.0, 0.0) + said(0.0, 1.0)) / 4.0, atol=1e-12)
    alone = {"a": there["a"], "b": np.zeros(len(new), dtype=bool)}
    of_a = replace(model.joined_, weights={"a": 0.2, "b": 5.0}).proba(parts, alone)
    np.testing.assert_allclose(of_a, model.joined_.channel_proba("a", parts["a"]), atol=1e-12)
