"""Bags around medoid bags."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.errors import InvalidInput


def clouds(seed=0, n_bags=24, size=4):
    generator = np.random.default_rng(seed)
    y = np.arange(n_bags) % 3
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    X = np.repeat(centres[y], size, axis=0) + generator.normal(size=(n_bags * size, 2))
    return X, np.repeat(np.arange(n_bags), size), y


@pytest.mark.parametrize("distance", ["minimal", "maximal", "average"])
@pytest.mark.parametrize("method", ["faster_pam", "alternate"])
def test_finds_clouds(distance, method):
    X, codes, y = clouds()
    found = sl.estimators.BagKMedoids(3, distance=distance, method=method, random_state=0).fit(X, bags=codes)
    assert adjusted_rand_score(y, found.bag_labels_) == 1.0
    assert (found.bag_labels_[found.medoids_] == np.arange(3)).all()
    assert found.inertia_ == pytest.approx(found.bag_distances_.sum(), rel=1e-6)


def test_precomputed_row_distances_give_the_same_clusters():
    X, codes, _ = clouds()
    by_rows = sl.estimators.BagKMedoids(3, random_state=0).fit(X, bags=codes)
    by_table = sl.estimators.BagKMedoids(3, metric="precomputed", random_state=0).fit(cdist(X, X), bags=codes)
    assert by_rows.inertia_ == pytest.approx(by_table.inertia_)  # starts are drawn by content, which a table has not
    assert adjusted_rand_score(by_rows.bag_labels_, by_table.bag_labels_) == 1.0
    Z, others, _ = clouds(seed=5, n_bags=9)
    new = by_rows.predict_bag_clusters(Z, others), by_table.predict_bag_clusters(cdist(Z, X), others)
    both = [np.r_[model.bag_labels_, placed] for model, placed in zip((by_rows, by_table), new)]
    assert adjusted_rand_score(*both) == 1.0


def test_infinite_distances_are_refused():
    with pytest.raises(ValueError, match="infinity"):
        sl.estimators.BagKMedoids(1, metric="precomputed").fit(np.array([[0.0, np.inf], [np.inf, 0.0]]))


def test_more_clusters_than_bags_are_refused():
    with pytest.raises(InvalidInput, match="3 clusters but got 2 bags"):
        sl.estimators.BagKMedoids(3).fit(np.eye(4), bags=[0, 0, 1, 1])


def test_weights_of_rows_weigh_the_bags_of_a_score():
    X, codes, _ = clouds()
    found = sl.estimators.BagKMedoids(3, random_state=0).fit(X, bags=codes)
    each = [found.score(X[codes == b], bags=codes[codes == b]) for b in range(24)]
    assert np.std(each) > 0.1
    weights = np.random.default_rng(0).random(24)
    assert found.score(X, bags=codes, sample_weight=weights[codes]) == pytest.approx(np.average(each, weights=weights))
    assert found.score(X, bags=codes) == pytest.approx(np.mean(each))
