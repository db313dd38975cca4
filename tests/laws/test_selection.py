"""Scikit-learn's model selection gets a score or says aloud that there is none; NaN never passes for one."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

import sidelight as sl
from sidelight.errors import SidelightWarning

GRID = {"penalty": [1.0, 10.0]}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    ids = np.repeat(np.arange(30), 5)
    labels = {b: {"abc"[k] for k in y[ids == b]} for b in range(30)}
    return rng.normal(size=(150, 2)) + 4 * np.eye(3, 2)[y], sl.Bags(ids, labels=labels)


def model():
    return sl.CoverageClustering(boundary="straight", calibrate=False, random_state=0)


def test_with_routing_bags_reach_fit_and_score(rows):
    X, bags = rows
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(model(), X, params={"bags": bags}, cv=sl.BagKFold(3))
        search = GridSearchCV(model(), GRID, cv=sl.BagKFold(3)).fit(X, bags=bags)
    assert np.isfinite(scores).all()
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    np.testing.assert_allclose(cross_val_score(model(), X, bags, cv=sl.BagKFold(3)), scores)


@pytest.mark.filterwarnings(
    "ignore::sidelight.errors.BagsWereCut",
    "ignore::sidelight.errors.InseparableLabels",
    "ignore:One or more of the test scores are non-finite",
)
@pytest.mark.parametrize("cv", [3, sl.BagKFold(3)], ids=["rows", "bags"])
def test_without_routing_the_scores_are_nan_and_say_what_to_do(rows, cv):
    X, bags = rows
    whole = {"groups": bags} if cv != 3 else {}
    with pytest.warns(SidelightWarning, match="as y"):
        assert np.isnan(cross_val_score(model(), X, params={"bags": bags}, cv=cv, **whole)).all()
    with pytest.warns(SidelightWarning, match="as y"):
        search = GridSearchCV(model(), GRID, cv=cv).fit(X, bags=bags, **whole)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_folds_of_groups_take_bags_as_groups(rows):
    """GroupKFold has no word for bags; with them as groups it cuts none."""
    X, bags = rows
    with pytest.raises(ValueError, match="groups"):
        GridSearchCV(model(), GRID, cv=GroupKFold(3)).fit(X, bags)
    search = GridSearchCV(model(), GRID, cv=GroupKFold(3)).fit(X, bags, groups=bags)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize(
    "transformer",
    [sl.estimators.Codebook(3, random_state=0), sl.Standardized(sl.estimators.Codebook(3, random_state=0))],
    ids=["plain", "scaled"],
)
def test_transformers_return_frames(rows, kind, transformer):
    frames = pytest.importorskip(kind)
    X = rows[0]
    fitted = sklearn.base.clone(transformer).set_output(transform=kind).fit(X)
    table = fitted.transform(X)
    assert isinstance(table, frames.DataFrame)
    assert list(table.columns) == list(fitted.get_feature_names_out()) == ["codebook0", "codebook1", "codebook2"]
    plain = sklearn.base.clone(transformer).set_output(transform="default").fit(X).transform(X)
    np.testing.assert_array_equal(np.asarray(table), plain)


def test_gaps_are_told_in_our_words(rows):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rows[0], columns=["pitch", "length"])
    X.loc[[3, 7], "length"] = np.nan
    with pytest.raises(
        ValueError, match=r"row 3, column 'length' is NaN: 2 of 150 rows have such a gap. Fill gaps"
    ) as e:
        model().fit(X, bags=rows[1])
    assert "HistGradientBoosting" not in str(e.value)
    X = rows[0].copy()
    X[5, 0] = np.inf
    fitted = sl.DiscriminativeClustering(3, random_state=0).fit(rows[0])
    with pytest.raises(ValueError, match=r"row 5, column 0 \(counted from 0\) is infinity"):
        fitted.predict(X)
