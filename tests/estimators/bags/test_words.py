"""Clusters of bags by the words that they hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import sidelight as sl
from sidelight.errors import EmptyClusters, InvalidInput
from sidelight.estimators.bags.bag_profiles import learn_profiles
from sidelight.estimators.bags.bag_words import BagWords, WordBooks, learn_books


def telling_rows(k: int = 4, n_bags: int = 120, size: int = 10, seed: int = 0):
    """Bags of clutter with one telling row each: its group decides its place."""
    generator = np.random.default_rng(seed)
    group = np.arange(n_bags) % k
    X = generator.normal(size=(n_bags * size, 6))
    at = np.arange(n_bags) * size + generator.integers(size, size=n_bags)
    X[at] += 8.0 * generator.normal(size=(k, 6))[group]
    return X, np.repeat(np.arange(n_bags), size), group, at


def alike_rows(k: int = 3, n_bags: int = 60, size: int = 8, seed: int = 0):
    """Bags all of whose rows lie near the place of their group."""
    generator = np.random.default_rng(seed)
    group = np.arange(n_bags) % k
    X = generator.normal(size=(n_bags * size, 5)) + np.repeat(4.0 * generator.normal(size=(k, 5))[group], size, axis=0)
    return X, np.repeat(np.arange(n_bags), size), group


def books_of(X, sizes=(5, 8), n_books=2, scales=("standard", "whitened")) -> WordBooks:
    return learn_books(X, scales, sizes, n_books, np.random.default_rng(0))


def test_one_telling_row_is_found_and_is_the_witness():
    X, ids, group, at = telling_rows(size=40)
    model = sl.BagWordClustering(4, random_state=0).fit(X, bags=ids)
    assert adjusted_rand_score(group, model.bag_labels_) > 0.9
    assert np.mean(model.witnesses_ == at) > 0.9
    means = np.array([X[ids == b].mean(axis=0) for b in range(120)])
    assert adjusted_rand_score(group, KMeans(4, n_init=10, random_state=0).fit_predict(means)) < 0.8


def test_bags_of_alike_rows_are_found():
    X, ids, group = alike_rows()
    assert adjusted_rand_score(group, sl.BagWordClustering(3, random_state=0).fit(X, bags=ids).bag_labels_) == 1.0


@pytest.mark.parametrize("k", [3, 5])
def test_the_number_of_clusters_is_chosen(k):
    X, ids, group = alike_rows(k, 80, seed=k)
    model = sl.BagWordClustering(max_clusters=8, random_state=0).fit(X, bags=ids)
    assert model.n_clusters_ == k == model.choice_["chosen"]
    assert model.choice_["tried"] == list(range(2, 9))
    assert adjusted_rand_score(group, model.bag_labels_) == 1.0


def test_words_are_the_nearest_centres_of_scaled_rows():
    X, _, _, _ = telling_rows(n_bags=30)
    X = X * [1, 10, 100, 1, 1, 1] + [5, 0, -300, 0, 0, 0]
    books = books_of(X, scales=("standard",))
    words = books.words(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for book in range(books.n_books):
        first, last = books.starts[book : book + 2]
        own = words[:, book]
        assert own.min() >= first
        assert own.max() < last
        centres = np.array([Z[own == w].mean(axis=0) for w in np.unique(own)])  # 15 steps of k-means: nearly fixed
        nearest = np.unique(own)[((Z[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)]
        assert np.mean(nearest == own) > 0.9
    np.testing.assert_array_equal(books.words(sp.csr_array(X)), words)


def test_vectors_follow_the_formula():
    X, ids, _, _ = telling_rows(n_bags=20)
    books = books_of(X)
    words = books.words(X)
    held = BagWords(words, np.arange(0, 201, 10), books)
    counts = np.zeros((20, books.starts[-1]))
    for row, bag in enumerate(ids):
        for word in words[row]:
            counts[bag, word] += 1
    rarity = np.log(20 / np.maximum((counts > 0).sum(axis=0), 1))
    np.testing.assert_allclose(held.rarity(), rarity)
    wanted = []
    for weight in ((counts > 0).astype(float), np.log(1 + counts)):
        for group in range(4):
            columns = books.columns(np.flatnonzero(books.groups == group))
            part = weight[:, columns] * rarity[columns]
            wanted.append(part / np.linalg.norm(part, axis=1, keepdims=True))
    (block, vectors), *others = held.vectors(rarity)
    assert block == slice(0, 20)
    assert not others
    np.testing.assert_allclose(vectors, np.hstack(wanted), atol=1e-12)


def test_blocks_of_bags_change_nothing(monkeypatch):
    X, ids, _, _ = telling_rows(n_bags=40)
    whole = sl.BagWordClustering(3, random_state=0).fit(X, bags=ids)
    points = whole.bag_points(X, ids)
    monkeypatch.setattr("sidelight.estimators.bags.bag_words._CELLS", 7000)
    monkeypatch.setattr("sidelight.estimators.bags.bag_words._SCORES", 9000)
    np.testing.assert_allclose(whole.bag_points(X, ids), points, atol=1e-10)
    np.testing.assert_array_equal(whole.predict_bag_clusters(X, ids), whole.bag_labels_)


def test_new_bags_fall_where_they_belong():
    X, ids, group, _ = telling_rows(n_bags=160)
    old = ids < 100
    model = sl.BagWordClustering(4, random_state=0).fit(X[old], bags=ids[old])
    assert adjusted_rand_score(group[100:], model.predict_bag_clusters(X[~old], ids[~old])) > 0.85
    proba = model.predict_bag_proba(X, ids)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(proba[:100], model.bag_proba_, atol=1e-10)
    np.testing.assert_array_equal(proba.argmax(axis=1), model.predict_bag_clusters(X, ids))


@pytest.mark.slow
def test_word_weights_speak_for_their_cluster():
    X, ids, _ = alike_rows()
    model = sl.BagWordClustering(3, random_state=0).fit(X, bags=ids)
    words = model._books().words(X)
    for k in range(3):
        inside, outside = words[model.labels_ == k], words[model.labels_ != k]
        assert model.word_weights_[k][inside].mean() > 0 > model.word_weights_[k][outside].mean()


def test_alike_bags_come_with_a_warning():
    with pytest.warns(EmptyClusters, match="only 1 of 3"):
        model = sl.BagWordClustering(3, random_state=0).fit(np.ones((20, 2)), bags=np.repeat(np.arange(10), 2))
    assert (model.bag_labels_ == 0).all()
    assert np.isfinite(model.bag_proba_).all()


@pytest.mark.slow
def test_one_feature_bags_of_one_row_and_one_huge_bag():
    generator = np.random.default_rng(0)
    x = np.r_[generator.normal(size=400), 9 + generator.normal(size=200)][:, None]
    model = sl.BagWordClustering(2, random_state=0).fit(x, bags=np.arange(600) // 10)
    assert adjusted_rand_score(np.arange(60) >= 40, model.bag_labels_) == 1.0
    alone = sl.BagWordClustering(2, random_state=0).fit(x)
    np.testing.assert_array_equal(alone.witnesses_, np.arange(600))
    np.testing.assert_array_equal(alone.predict(x), alone.labels_)
    X, ids, group = alike_rows()
    huge = np.vstack([X, np.repeat(X[:1], len(X), axis=0)])
    model = sl.BagWordClustering(3, random_state=0).fit(huge, bags=np.r_[ids, np.full(len(X), 999)])
    assert adjusted_rand_score(group, model.bag_labels_[:60]) == 1.0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_clusters": 99}, "60 bags"),
        ({"n_words": ()}, "n_words"),
        ({"n_words": 1}, "n_words"),
        ({"n_books": 0}, "n_books"),
        ({"scale": "odd"}, "scale"),
        ({"n_clusters": None, "n_books": 1}, "n_books"),
        ({"max_clusters": 1}, "max_clusters"),
    ],
)
def test_bad_parameters_are_refused(options, text):
    X, ids, _ = alike_rows()
    with pytest.raises(InvalidInput, match=text):
        sl.BagWordClustering(**{"n_clusters": 3, **options}).fit(X, bags=ids)


def test_few_bags_without_a_number_of_clusters():
    X, ids, _ = alike_rows(n_bags=2)
    assert sl.BagWordClustering(random_state=0).fit(X, bags=ids).n_clusters_ == 1


def test_profiles_are_the_likeness_to_all_bags():
    X, _, _, _ = telling_rows(n_bags=25)
    held = BagWords(books_of(X).words(X), np.arange(0, 251, 10), books_of(X))
    profiles = learn_profiles(held, np.random.default_rng(0))
    A = np.vstack([vectors for _, vectors in held.vectors(held.rarity())])
    A -= A.mean(axis=0)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    likeness = A @ A.T
    points = profiles.points(held)
    scale = np.linalg.norm(A, 2)
    np.testing.assert_allclose(points @ points.T * scale**2, likeness @ likeness, atol=1e-6)


def test_books_do_not_depend_on_the_number_of_threads_and_all_of_them_are_reported():
    X, heard = alike_rows()[0], []
    with threadpool_limits(3, user_api="blas"):
        many = learn_books(
            X, ("standard", "whitened"), (5, 8), 2, np.random.default_rng(0), lambda *at: heard.append(at)
        )
    with threadpool_limits(1, user_api="blas"):
        one = books_of(X)
    np.testing.assert_array_equal(many.directions, one.directions)
    assert sorted(heard) == [(done, 8) for done in range(1, 9)]
