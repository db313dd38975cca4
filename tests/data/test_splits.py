"""Splits: whole bags, whole questions, and scikit-learn's model selection both ways."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from sidelight.data.coerce import as_bags, as_pairs
from sidelight.errors import BagsWereCut, InvalidData, InvalidParameter


class CountsLabels(ClusterMixin, BaseEstimator):
    """A stand-in for a clusterer: it remembers the supervision it was given."""

    __metadata_request__fit = {"bags": True, "pairs": True}
    __metadata_request__score = {"bags": True}

    def __init__(self, strength: int = 1) -> None:
        self.strength = strength

    def fit(self, X: object, y: object = None, *, bags: object = None, pairs: object = None) -> CountsLabels:
        self.n_labelled_ = int(as_bags(bags, n_rows=len(X), y=y).is_labelled.sum())
        self.n_answers_ = as_pairs(pairs, n_rows=len(X), y=y).n_answers
        self.labels_ = np.zeros(len(X))
        return self

    def score(self, X: object, y: object = None, *, bags: object = None, sample_weight: object = None) -> float:
        bags = as_bags(bags, n_rows=len(X), y=y)
        assert bags.whole.all()
        return self.strength * float(self.n_labelled_ > 0 and bags.is_labelled.any())


@pytest.fixture
def bags() -> sl.Bags:
    ids = np.random.default_rng(0).integers(12, size=60)
    return sl.Bags(ids, {bag: {"x"} for bag in set(ids.tolist())})


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(60, 2))


@pytest.mark.parametrize("cv", [sl.BagKFold(4), sl.BagKFold(4, shuffle=True, random_state=0)])
def test_folds_hold_whole_bags_and_about_as_many_rows(cv: sl.BagKFold, bags: sl.Bags, X: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", BagsWereCut)
        folds = list(cv.split(X, bags))
        assert all(bags[rows].whole.all() for fold in folds for rows in fold)
    tests = [test for _, test in folds]
    assert sorted(np.concatenate(tests).tolist()) == list(range(60))
    assert all(len(np.intersect1d(train, test)) == 0 for train, test in folds)
    assert np.ptp([len(test) for test in tests]) <= bags.sizes.max()


def test_bags_reach_the_splitter_by_every_door(bags: sl.Bags, X: np.ndarray) -> None:
    folds = [test.tolist() for _, test in sl.BagKFold(3).split(X, bags)]
    assert [test.tolist() for _, test in sl.BagKFold(3).split(X, groups=bags)] == folds
    assert [test.tolist() for _, test in sl.BagKFold(3).split(X, bags=bags)] == folds
    assert [test.tolist() for _, test in sl.BagKFold(3).split(X, np.zeros(60), list(bags))] == folds
    assert len(list(GroupKFold(3).split(X, groups=bags))) == 3


def test_shuffling_follows_the_seed(bags: sl.Bags, X: np.ndarray) -> None:
    first, again, other = (
        [test.tolist() for _, test in sl.BagKFold(3, shuffle=True, random_state=seed).split(X, bags)]
        for seed in (0, 0, 1)
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("make", "error", "culprit"),
    [
        (lambda X: list(sl.BagKFold(3).split(X)), InvalidData, "which bag each row is in"),
        (lambda X: list(sl.BagKFold(3).split(X, groups=[0, 1])), InvalidData, "60 rows"),
        (lambda X: list(sl.BagKFold(3).split(X, groups=[0] * 60)), InvalidData, "there are 1"),
        (lambda X: sl.BagKFold(1), InvalidParameter, "n_splits"),
        (lambda X: sl.BagKFold(3, random_state=0), InvalidParameter, "shuffle"),
        (lambda X: list(sl.AnswerKFold(3).split(sl.Pairs.empty(9))), InvalidData, "there are 0"),
        (lambda X: list(sl.AnswerKFold(3).split([1])), InvalidData, "list"),
    ],
)
def test_a_split_that_cannot_be_made_says_why(X: np.ndarray, make: object, error: type, culprit: str) -> None:
    with pytest.raises(error, match=culprit):
        make(X)


def test_a_grid_search_takes_bags_as_y(bags: sl.Bags, X: np.ndarray) -> None:
    model = make_pipeline(StandardScaler(), CountsLabels())
    search = GridSearchCV(model, {"countslabels__strength": [1, 2]}, cv=sl.BagKFold(3)).fit(X, bags)
    assert search.best_params_ == {"countslabels__strength": 2}
    assert search.best_score_ == 2
    assert search.best_estimator_[-1].n_labelled_ == bags.n_bags
    scores = cross_validate(CountsLabels(), X, bags, cv=sl.BagKFold(4))
    assert scores["test_score"].tolist() == [1, 1, 1, 1]


def test_a_grid_search_routes_bags_to_fit_score_and_split(bags: sl.Bags, X: np.ndarray) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(CountsLabels(), {"strength": [1, 2]}, cv=sl.BagKFold(3)).fit(X, bags=bags)
        scores = cross_validate(CountsLabels(), X, params={"bags": bags}, cv=sl.BagKFold(4))
    assert search.best_score_ == 2
    assert scores["test_score"].tolist() == [1, 1, 1, 1]


def test_row_splits_take_pairs_as_y(X: np.ndarray) -> None:
    pairs = sl.Pairs.sample(np.arange(60) % 3, 100, random_state=0)
    scores = cross_validate(CountsLabels(), X, pairs, cv=3, return_estimator=True, scoring=lambda *_: 0.0)
    answers = [model.n_answers_ for model in scores["estimator"]]
    assert all(20 < n < 70 for n in answers)  # four ninths of 100 survive on average


@pytest.mark.parametrize("kind", [sl.Pairs, sl.Triplets])
def test_answer_folds_keep_all_rows_and_whole_questions(kind: type) -> None:
    answers = kind.sample(np.arange(30) % 3, 50, random_state=0)
    answers = answers + answers.only(range(10))
    tested = 0
    for train, test in sl.AnswerKFold(4, random_state=0).split(answers):
        assert train.n_rows == test.n_rows == 30
        assert train.n_answers + test.n_answers == 60
        both = (train + test).question_codes
        assert not set(both[: train.n_answers].tolist()) & set(both[train.n_answers :].tolist())
        tested += test.n_answers
    assert tested == 60


def test_splitters_print_and_count() -> None:
    assert repr(sl.BagKFold(3)) == "BagKFold(n_splits=3, random_state=None, shuffle=False)"
    assert repr(sl.AnswerKFold(3)) == "AnswerKFold(3, shuffle=True, random_state=None)"
    assert sl.BagKFold(3).get_n_splits() == sl.AnswerKFold(3).get_n_splits() == 3
