"""Every method with novel labels, whatever is wrong with its input: one message of ours, or an answer that holds."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter, SidelightWarning

QUICK = {"n_init": 1, "max_iter": 5, "random_state": 0}
METHODS = {
    "coverage": lambda k: sl.CoverageClustering(n_novel=k, random_state=0),
    "dmnl": lambda k: sl.DMNL(n_novel=k, **QUICK),
    "dmnl, manifold": lambda k: sl.DMNL(n_novel=k, structure="manifold", **QUICK),
    "dmnl, chosen weights": lambda k: sl.estimators.DMNLCV(k, lams=[0.1], rhos=[10.0], n_rounds=1, **QUICK),
    "fast-miml": lambda k: sl.peers.NovelLabels(sl.peers.FastMIML(max_iter=5, random_state=0), k, random_state=0),
    "orlr": lambda k: sl.peers.NovelLabels(sl.peers.OredLogisticRegression(tol=1e-2), k, random_state=0),
    "miml-nc": lambda k: sl.peers.NovelLabels(sl.peers.NovelClassLogisticRegression(tol=1e-2), k, random_state=0),
}


def kinds(n_bags=24):
    """Bags of three rows of three kinds, the third of which has no name."""
    generator = np.random.default_rng(0)
    y = generator.integers(3, size=3 * n_bags)
    ids = np.repeat(np.arange(n_bags), 3)
    X = 4.0 * np.eye(3)[y] + generator.normal(size=(len(y), 3))
    return X, sl.Bags(
        ids, labels={b: {"ab"[k] for k in y[ids == b] if k < 2} for b in range(n_bags)}, classes=["a", "b"]
    )


X, BAGS = kinds()


def holds(model, X, bags):
    """Whether all answers are there and add up; returns what rows are called by features alone."""
    for side in ({}, {"bags": bags}):
        P = model.predict_proba(X, **side)
        assert np.isfinite(P).all()
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
    score = model.novelty_score(X)
    assert ((score >= 0) & (score <= 1 + 1e-9)).all()  # sums of probabilities round
    assert len(model.predict_bags(X, bags)) == bags.n_bags
    return set(model.predict_labels(X).tolist())


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def test_without_a_labelled_bag_there_is_nothing_to_learn_from(method):
    with pytest.raises(InvalidData, match="label lists of bags"):
        method(1).fit(X, bags=sl.Bags(list(BAGS)))


def test_a_known_label_that_never_occurs_is_never_given(method):
    bags = BAGS.with_classes(["a", "b", "yak"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)  # DMNL says that the label is on no list
        model = method(1).fit(X, bags=bags)
    assert "yak" not in holds(model, X, bags)
    assert "yak" in model.classes_


def test_more_novel_labels_than_rows_are_refused(method):
    with pytest.raises(InvalidParameter, match="rows"):
        method(len(X) + 1).fit(X, bags=BAGS)


def test_bags_of_one_row_are_bags(method):
    bags = sl.Bags(np.arange(len(X)), labels={i: {"a"} if i % 2 else set() for i in range(len(X))})
    assert holds(method(1).fit(X, bags=bags), X, bags) <= {"a", "novel-1"}


@pytest.mark.slow
def test_constant_features_tell_nothing_and_break_nothing(method):
    flat = np.ones_like(X)
    assert len(holds(method(1).fit(flat, bags=BAGS), flat, BAGS)) == 1
    half = np.hstack([X, flat])
    assert len(holds(method(1).fit(half, bags=BAGS), half, BAGS)) > 1


def test_data_frames_are_taken_without_a_warning(method):
    frame = pd.DataFrame(X, columns=["pitch", "length", "loudness"])
    model = method(1).fit(frame, bags=BAGS)  # a warning would fail this test
    np.testing.assert_array_equal(model.predict(frame, bags=BAGS), model.labels_)


class NoEstimator:
    """Answers like a classifier, but cannot be copied."""

    def fit(self, X, bags=None):
        return self

    def predict_proba(self, X):
        return np.ones((len(X), 1))


@pytest.mark.parametrize(
    "inner",
    [None, "FastMIML", sl.peers.FastMIML, NoEstimator(), sl.BagSpectralClustering(2), sl.DiscriminativeClustering(2)],
)
def test_what_is_no_classifier_of_bags_is_refused(inner):
    with pytest.raises(InvalidParameter, match="NovelLabels needs a classifier"):
        sl.peers.NovelLabels(inner, 1).fit(X, bags=BAGS)


@pytest.mark.parametrize("options", [{"n_novel": "auto"}, {"n_novel": 0}, {"threshold": "low"}, {"threshold": np.nan}])
def test_odd_options_of_the_wrapper_are_refused(options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        sl.peers.NovelLabels(sl.peers.FastMIML(max_iter=2), **options).fit(X, bags=BAGS)
