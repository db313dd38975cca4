"""What is told beside the rows reaches every answer: lists of bags, labels of rows, candidates."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, UnknownName

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = 1.5 * np.eye(3)[Y] + RNG.normal(size=(60, 3))
CODES = RNG.permutation(60) // 3
NAMES = np.array(list("abc"))
BAGS = sl.Bags(CODES, labels={int(b): set(NAMES[Y[b == CODES]]) - {"c"} for b in range(20)})  # nobody names the third
CANDIDATES = [{"a", "b"} if i % 3 else {NAMES[Y[i] % 2]} for i in range(60)]
ROWS = {i: NAMES[Y[i]] for i in range(60) if Y[i] < 2 and i % 4 == 0}


@pytest.fixture(scope="module")
def model():
    return sl.CoverageClustering(n_novel=1, n_subclusters={"a": 2, "b": 1}, n_init=2, random_state=0).fit(X, bags=BAGS)


TOLD = [{}, {"bags": BAGS}, {"row_labels": ROWS}, {"bags": BAGS, "row_labels": ROWS}, {"candidates": CANDIDATES}]


@pytest.mark.parametrize("told", TOLD, ids=lambda told: "+".join(told) or "nothing")
def test_every_answer_is_about_the_same_probabilities(model, told):
    P = model.predict_proba(X, **told)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    as_fitted = model._judge(X, *(told.get(name) for name in ("bags", "row_labels", "candidates")))[0]
    np.testing.assert_array_equal(model.predict(X, **told), as_fitted.argmax(axis=1))
    of_labels = np.zeros((60, 3))
    for k, c in enumerate(model.class_of_):
        of_labels[:, c if c >= 0 else 2] += P[:, k]
    named = np.array([*model.label_names_], dtype=object)[of_labels.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict_labels(X, **told), named)
    if "candidates" not in told and "row_labels" not in told:
        np.testing.assert_allclose(model.novelty_score(X, **told), of_labels[:, 2])


def test_every_thing_that_is_told_counts(model):
    answers = [model.predict_proba(X, **told) for told in TOLD]
    for i, one in enumerate(answers):
        for other in answers[:i]:
            assert np.abs(one - other).max() > 0.05
    for row, name in ROWS.items():
        own = model.class_of_ == model.classes_.index(name)
        assert answers[2][row, own].sum() == pytest.approx(1.0)
    only_b = model.predict_proba(X[:2], candidates=[{"b"}, None])  # fewer names than the model knows
    assert only_b[0, model.class_of_ == model.classes_.index("b")].sum() == pytest.approx(1.0)
    for row, names in enumerate(CANDIDATES):
        allowed = [c >= 0 and model.classes_[c] in names for c in model.class_of_]
        assert answers[4][row, allowed].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("told", [{"bags": BAGS}, {"row_labels": ROWS, "bags": BAGS}, {"candidates": CANDIDATES}])
def test_every_thing_that_is_told_is_learnt_from(told):
    make = sl.CoverageClustering(n_novel=1, boundary="straight", calibrate=False, n_init=1, random_state=0)
    fitted = make.fit(X, **told).labels_.copy()
    weights = make.weights_.copy()
    np.testing.assert_array_equal(fitted, make.predict(X, **told))
    for name in told:
        rest = {other: value for other, value in told.items() if other != name}
        if rest:
            assert np.abs(make.fit(X, **rest).weights_ - weights).max() > 1e-3


def test_scores_are_means_over_lists_and_candidates(model):
    each = model.bag_scores(X, BAGS)
    assert model.score(X, bags=BAGS) == pytest.approx(each.mean())
    rows = model.bag_scores(X, candidates=CANDIDATES)
    assert model.score(X, candidates=CANDIDATES) == pytest.approx(rows.mean())
    P = model._belief(X)[0]
    for row, names in enumerate(CANDIDATES):
        allowed = [c >= 0 and model.classes_[c] in names for c in model.class_of_]
        assert rows[row] == pytest.approx(np.log(P[row, allowed].sum()))
    weights = RNG.uniform(1, 2, size=60)
    assert model.score(X, candidates=CANDIDATES, sample_weight=weights) == pytest.approx(
        np.average(rows, weights=weights)
    )


def test_columns_of_bags_are_those_that_are_asked_for(model):
    whole = model.predict_bags_proba(X, BAGS)
    assert whole.shape == (20, 3)
    np.testing.assert_array_equal(model.predict_bags_proba(X, BAGS, labels=["b", "a"]), whole[:, [1, 0]])
    with pytest.raises(UnknownName, match="'x'"):
        model.predict_bags_proba(X, BAGS, labels=["x"])
    with pytest.raises(UnknownName):
        model.predict_bags_proba(X, BAGS, labels=[["a"]])


def test_bags_and_candidates_at_once_are_refused(model):
    for call in (model.predict_proba, model.score, sl.CoverageClustering().fit):
        with pytest.raises(InvalidData, match="both bags and candidates"):
            call(X, bags=BAGS, candidates=CANDIDATES)
    for call in (model.score, sl.CoverageClustering().fit):
        with pytest.raises(InvalidData, match="both bags and candidates"):
            call(X, BAGS, candidates=CANDIDATES)


@pytest.mark.parametrize("beside", ["y", "bags", "row_labels", "candidates"])
def test_parts_bring_their_own_lists(beside):
    parts = sl.Parts.from_arrays(X, BAGS)
    told = {"y": BAGS, "bags": BAGS, "row_labels": ROWS, "candidates": CANDIDATES}[beside]
    with pytest.raises(InvalidData, match="bring their"):
        sl.CoverageClustering().fit(parts, **{beside: told})
