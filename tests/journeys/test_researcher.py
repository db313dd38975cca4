"""A researcher in a notebook: what scikit-learn would do works, or says what to write instead."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from sidelight.errors import InvalidData

pytestmark = pytest.mark.slow
GRID = {"penalty": [1e-3, 1e-2]}


@pytest.fixture(scope="module")
def birds():
    """Rows of three hidden kinds in bags that list what they hold."""
    names = np.repeat(np.arange(30), 4)
    kinds = np.where(np.arange(120) % 4 < 2, names % 3, names // 3 % 3)
    X = 6.0 * np.eye(3)[kinds] + np.random.default_rng(0).normal(size=(120, 3))
    bags = sl.Bags(names, labels={b: {"abc"[k] for k in kinds[names == b]} for b in range(30)})
    return X, bags, np.array(list("abc"))[kinds]


@pytest.fixture
def model():
    return sl.CoverageClustering(random_state=0)


def test_the_hidden_kinds_are_found(birds, model):
    X, bags, truth = birds
    assert np.mean(model.fit(X, bags).predict_labels(X) == truth) > 0.97
    assert np.mean(clone(model).fit(X, bags=bags).predict_labels(X) == truth) > 0.97


def test_model_selection_gives_numbers(birds, model):
    X, bags, _ = birds
    for cv in (3, sl.BagKFold(3)):  # a plain split cuts bags, and warns
        with np.errstate(all="ignore"):
            found = GridSearchCV(model, GRID, cv=cv).fit(X, bags)
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert np.isfinite(cross_val_score(model, X, bags, cv=sl.BagKFold(3))).all()
    found = GridSearchCV(model, GRID, cv=GroupKFold(3)).fit(X, bags, groups=bags.codes)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(model, X, params={"bags": bags}, cv=sl.BagKFold(3))["test_score"]
    assert np.isfinite(scores).all()


def test_a_pipeline_takes_the_bags_as_y(birds, model):
    X, bags, truth = birds
    pipe = make_pipeline(StandardScaler(), model).fit(X, bags)
    clusters = pipe.predict(X)
    assert sl.metrics.adjusted_rand_index(truth, clusters) > 0.95


def test_what_cannot_work_says_what_to_write(birds, model):
    X, bags, _ = birds
    with pytest.raises(InvalidData, match="bags= with metadata routing"):
        cross_validate(model, X, params={"bags": bags}, cv=sl.BagKFold(3))
    with pytest.raises(ValueError, match="groups"):
        GridSearchCV(model, GRID, cv=GroupKFold(3)).fit(X, bags)
    for kind, answers in (("Pairs", [(0, 1, "same")]), ("Triplets", [(0, 1, 5, "c")])):
        with pytest.raises(InvalidData, match=rf"sl.{kind}.from_table\(answers, n_rows=len\(X\)\)"):
            sl.DiscriminativeClustering(3).fit(X, answers)
    pairs = sl.Pairs.from_table([(0, 1, "same"), (0, 5, "different")], n_rows=len(X))
    assert len(sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=pairs).labels_) == len(X)
