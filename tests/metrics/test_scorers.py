"""The judges by name, for ``scoring=``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.multiclass import OneVsRestClassifier

import sidelight as sl
from sidelight import metrics
from sidelight.errors import InvalidParameter


@pytest.mark.parametrize("name", metrics.get_scorer_names())
def test_a_scorer_is_its_judge_on_what_the_model_says(name):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    judge = getattr(metrics, name.removeprefix("neg_"))
    sign = -1 if name.startswith("neg_") else 1
    if name in ("adjusted_rand_index", "clustering_accuracy", "normalized_mutual_information", "purity"):
        truth = generator.integers(3, size=60)
        model = KMeans(3, n_init=1, random_state=0).fit(X)
        said = model.predict(X)
    else:
        truth = (X + generator.normal(size=X.shape) > 0).astype(int)
        model = OneVsRestClassifier(LogisticRegression()).fit(X, truth)
        by_order = name in ("average_precision", "neg_ranking_loss")
        said = model.predict_proba(X) if by_order else model.predict(X)
    assert metrics.get_scorer(name)(model, X, truth) == pytest.approx(sign * judge(truth, said))


def test_several_scorers_judge_held_out_rows_of_bags():
    generator = np.random.default_rng(1)
    kinds, ids = generator.integers(3, size=120), np.repeat(np.arange(30), 4)
    X = 4 * np.eye(3)[kinds] + generator.normal(size=(120, 3))
    bags = sl.Bags(ids, labels={b: {f"k{k}" for k in kinds[ids == b]} for b in range(30)})
    scoring = {name: metrics.get_scorer(name) for name in ("clustering_accuracy", "purity")}
    model = sl.CoverageClustering(random_state=0)
    found = cross_validate(model, X, kinds, cv=3, scoring=scoring, params={"bags": bags})
    assert found["test_clustering_accuracy"].mean() > 0.9
    assert found["test_purity"].mean() > 0.9


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(InvalidParameter, match="Did you mean 'purity'"):
        metrics.get_scorer("puritty")
