"""Claims about rows that are prepared by their kind, in front of an estimator and inside the foil."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight._models.prepared_rows import Preparation, kind_of
from sidelight.errors import InvalidInput, SidelightWarning
from sidelight.metrics import normalized_mutual_information


def words_of(seed: int, n: int = 240, k: int = 4, length: int = 40):
    generator = np.random.default_rng(seed)
    y = generator.integers(k, size=n)
    common = generator.dirichlet(np.full(200, 0.3))
    topics = 0.6 * generator.dirichlet(np.full(200, 0.1), size=k) + 0.4 * common
    return np.array([generator.multinomial(length, topics[c]) for c in y]).astype(float), y


def test_kinds_are_told_by_cells_and_not_by_storage():
    words, _ = words_of(0)
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(240, 40)) * 10 + 50
    for rows, kind in ((words, "words"), (numbers, "numbers"), (np.hstack([words, numbers]), "mixed")):
        assert kind_of(rows)[0] == kind
        assert kind_of(sp.csr_array(rows))[0] == kind
    frequent = np.hstack([words, generator.poisson(8.0, size=(240, 3))])  # "the", "of", "and"
    assert kind_of(frequent)[0] == "words"
    np.testing.assert_array_equal(
        Preparation.of(words)(words), Preparation.of(sp.csr_array(words))(sp.csr_array(words))
    )


@pytest.mark.slow
def test_words_in_front_of_an_estimator_are_weighed_and_condensed(tmp_path):
    words, y = words_of(1, length=8)
    model = sl.Standardized(sl.DiscriminativeClustering(4, random_state=0)).fit(words)
    assert model.kind_ == "words"
    assert "zero" in model.why_kind_
    plain = sl.Standardized(sl.DiscriminativeClustering(4, random_state=0), kind="numbers").fit(words)
    found, before = (normalized_mutual_information(y, one.labels_) for one in (model, plain))
    assert found > max(0.8, before + 0.05)
    assert len(set(model.labels_.tolist())) == 4
    sl.save(model, tmp_path / "model.zip")
    again = sl.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(again.predict(words), model.predict(words))
    np.testing.assert_array_equal(sl.Standardized(model.estimator).fit(sp.csr_array(words)).labels_, model.labels_)


def test_numbers_are_standardised_as_ever():
    X = np.random.default_rng(2).normal(size=(60, 40)) * 3 + 1
    model = sl.Standardized(sl.DiscriminativeClustering(2, random_state=0)).fit(X)
    assert model.kind_ == "numbers"
    Z = (X - model.mean_) / model.scale_
    np.testing.assert_array_equal(sl.DiscriminativeClustering(2, random_state=0).fit(Z).labels_, model.labels_)


def test_negative_words_and_unknown_kinds_are_refused():
    X = np.random.default_rng(3).normal(size=(20, 5))
    with pytest.raises(InvalidInput, match="some cells are negative"):
        sl.Standardized(sl.DiscriminativeClustering(2), kind="words").fit(X)
    with pytest.raises(InvalidInput, match="kind"):
        sl.Standardized(sl.DiscriminativeClustering(2), kind="word").fit(X)


def test_rows_without_any_word_are_prepared_too():
    words, _ = words_of(4)
    words[:3] = 0.0
    words[:, 5] = 0.0
    Z = Preparation.of(words)(words)
    assert np.isfinite(Z).all()
    assert (Z[:3] == 0).all()


def test_the_foil_prepares_words_and_says_nothing_of_scikit_learn():
    words, y = words_of(5)
    weights = words / np.maximum(words.sum(axis=1, keepdims=True), 1)
    found = sl.peers.ConcatenatedKMeans(4, random_state=0).fit(weights)
    assert normalized_mutual_information(y, found.labels_) > 0.8
    np.testing.assert_array_equal(found.predict(weights), found.labels_)
    numbers = np.random.default_rng(5).normal(size=(240, 3)) + 2.0 * y[:, None]
    X, channels = sl.stack_channels({"words": words, "numbers": numbers})
    both = sl.peers.ConcatenatedKMeans(4, channels=channels, balance=True, random_state=0).fit(X)
    assert set(both.preparations_) == {"words"}
    assert normalized_mutual_information(y, both.labels_) > 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sl.peers.ConcatenatedKMeans(3, random_state=0).fit(np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0))


def test_clusters_without_rows_are_said():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 6, axis=0)
    with pytest.warns(SidelightWarning, match="clusters hold rows"):
        sl.DiscriminativeClustering(5, random_state=0).fit(X)


@pytest.mark.parametrize("seed", [0, 1])
def test_finer_columns_and_more_starts_never_lose_more(seed):
    words, _ = words_of(seed + 10)
    losses = {}
    for columns in (4, 8, 16):
        for n_init in (2, 12):
            found = sl.InformationCoclustering((4, columns), n_init=n_init, random_state=0).fit(words)
            losses[columns, n_init] = found.information_loss_
    for n_init in (2, 12):
        assert losses[16, n_init] <= losses[8, n_init] + 1e-3
        assert losses[8, n_init] <= losses[4, n_init] + 1e-3
    for columns in (4, 8, 16):
        assert losses[columns, 12] <= losses[columns, 2] + 1e-3


def test_words_are_told_whatever_a_word_weighs():
    words, _ = words_of(7, length=20)
    idf = np.log(240 / np.maximum(np.count_nonzero(words, axis=0), 1)) + 4.0
    shares = 100 * words / np.maximum(words.sum(axis=1, keepdims=True), 1)
    rare = np.zeros((240, 1))
    rare[:2] = 90.0  # a word that two texts are about
    for rows in (words * idf, shares, words * 50.0, np.log1p(words), np.hstack([words * idf, rare])):
        assert kind_of(rows)[0] == "words"
        assert kind_of(sp.csr_array(rows))[0] == "words"
    generator = np.random.default_rng(7)
    amounts = np.where(generator.random((240, 60)) < 0.1, np.exp(generator.normal(4.0, 1.0, size=(240, 60))), 0.0)
    assert kind_of(amounts)[0] == "numbers"
    beside = np.hstack([words * idf, generator.normal(40.0, 10.0, size=(240, 5))])
    assert kind_of(beside)[0] == "mixed"


def test_pixels_are_of_one_kind():
    generator = np.random.default_rng(8)
    y, x = np.mgrid[:12, :12]
    at = generator.normal(6.0, 1.0, size=(300, 2))  # blots near the middle: the corners are mostly empty
    gaps = (y - at[:, :1, None]) ** 2 + (x - at[:, 1:, None]) ** 2
    pictures = np.maximum(np.exp(-gaps / 8) - 0.2, 0).reshape(300, -1)
    empty = (pictures == 0).mean(axis=0)
    assert (empty > 0.7).sum() > 30  # columns that look like words
    assert (empty < 0.3).any()  # and some that do not
    assert kind_of(pictures)[0] != "mixed"


def test_words_of_nearly_every_text_weigh_little_in_any_language():
    generator = np.random.default_rng(0)
    articles = generator.poisson(3.0 * generator.gamma(2.0, 0.5, size=(120, 25)))
    topics = np.zeros((120, 160))
    for row, line in enumerate(topics):
        np.add.at(line, 40 * (row % 4) + generator.integers(0, 40, 7), 1)
    weighed = Preparation.of(np.hstack([articles, topics]), "words").weighed(np.hstack([articles, topics])).toarray()
    assert (np.linalg.norm(weighed[:, :25], axis=1) < 0.5).mean() > 0.95  # of a length of 1
    assert (weighed[:, :25].sum(axis=0) > 0).all()  # no word is left out


def test_shares_of_counts_are_prepared_as_counts():
    words, _ = words_of(9)
    words[:, 0] += 1.0  # every text has a word that it uses once or so
    words[0] *= 2.0
    expected = Preparation.of(words).weighed(words)[1:].toarray()
    totals = words.sum(axis=1, keepdims=True)
    for rows in (words / totals, 100 * words / totals, words / np.linalg.norm(words, axis=1, keepdims=True)):
        made = Preparation.of(rows)
        assert made.is_counted
        np.testing.assert_allclose(made.weighed(rows)[1:].toarray(), expected, rtol=1e-6)
    assert not Preparation.of(words * (1 + np.arange(words.shape[1]) / 7)).is_counted
