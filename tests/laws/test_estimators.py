"""Laws that every estimator obeys."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.laws.registry import CASES, OTHERS, OURS, Case, as_csr, each, labelled_bags, with_lists

import sidelight as sl
from sidelight.errors import Cancelled, InvalidData, InvalidInput, SidelightWarning, TargetIgnored
from sidelight.estimators.instances._spectral import SpectralFamily

each_case = each(CASES)
each_bag_case = each([case for case in CASES if case.supervision == "bags"])
with_predict = each([case for case in CASES if hasattr(case.estimator, "predict")])
OF_BAGS = ("predict_bags", "predict_bags_proba", "predict_bag_clusters", "predict_bag_proba")
_FAILURES = {case.name: dict(case.expected_failures) for case in CASES}


def _checks_of(cases):
    """Parametrize by scikit-learn's own checks, which know no bags, and pass labels."""
    return parametrize_with_checks(
        [with_lists(case.estimator) if case.needs_lists else case.estimator for case in cases],
        expected_failed_checks=lambda estimator: _FAILURES[type(estimator).__name__],
    )


@_checks_of(OURS)
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@_checks_of(OTHERS)
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_scikit_learn_checks_of_peers_and_other_constructors(estimator, check):
    check(estimator)


@each_case
def test_same_seed_gives_the_same_answer(case: Case):
    assert_same_fit(case.fit(), case.fit())


@each_case
def test_dense_and_csr_rows_give_the_same_answer(case: Case):
    if not case.estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes dense rows only, and says so in its tags")
    dense, sparse = case.fit(), case.fit(as_csr(case.rows()))
    if hasattr(dense, "components_"):  # a metric: no labels, a map
        np.testing.assert_allclose(dense.transform(case.rows()), sparse.transform(as_csr(case.rows())), atol=1e-6)
    else:
        np.testing.assert_array_equal(labels_of(dense, case), labels_of(sparse, case))


without_bags = pytest.mark.filterwarnings(
    "ignore:.*takes each of these", "ignore:.*clusters have bags"
)  # what is asked of rows, clusterers of bags answer, too


@each_case
@without_bags
def test_a_saved_model_answers_the_same(case: Case, tmp_path):
    fitted = case.fit()
    sl.save(fitted, tmp_path / "model.sidelight")
    loaded = sl.load(tmp_path / "model.sidelight")
    assert_same_fit(fitted, loaded)
    if hasattr(fitted, "predict"):
        np.testing.assert_array_equal(fitted.predict(case.rows()), loaded.predict(case.rows()))


@each_case
def test_a_clone_is_unfitted_and_has_the_same_parameters(case: Case):
    copy = clone(case.fit())
    assert repr(copy.get_params()) == repr(case.estimator.get_params())
    if hasattr(copy, "predict"):
        with pytest.raises(NotFittedError):
            copy.predict(case.rows())


@each_case
def test_a_cancelled_fit_changes_nothing(case: Case):
    estimator = case.fit()
    before = dict(vars(estimator))
    with sl.progress(lambda step: False), pytest.raises(Cancelled):
        estimator.fit(case.rows()[:-1] if case.supervision is None else case.rows(), case.target(), **case.side())
    assert vars(estimator).keys() == before.keys()
    assert all(vars(estimator)[key] is before[key] for key in before)


@each_case
def test_a_failed_fit_changes_nothing(case: Case):
    estimator = clone(case.estimator)
    X = case.rows().copy()
    X[0, 0 if not estimator.__sklearn_tags__().input_tags.allow_nan else slice(None)] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(X, case.target(), **case.side())
    assert vars(estimator).keys() == vars(clone(case.estimator)).keys()


@each_case
def test_more_clusters_than_rows_is_refused(case: Case):
    if not isinstance(case.estimator.get_params().get("n_clusters"), int):
        pytest.skip("has no n_clusters")
    with pytest.raises(InvalidInput, match="1000"):
        clone(case.estimator).set_params(n_clusters=1000).fit(case.rows(), **case.side())


@with_predict
@without_bags
def test_runs_in_a_pipeline(case: Case):
    pipeline = make_pipeline(StandardScaler(with_mean=False), clone(case.estimator))
    side = {f"{pipeline.steps[-1][0]}__{key}": value for key, value in case.side().items()}
    assert len(pipeline.fit(case.rows(), case.target(), **side).predict(case.rows())) == len(case.rows())


@with_predict
@without_bags
def test_model_selection_with_supervision_as_y(case: Case):
    X, side = case.rows(), case.side().get("bags", case.target())
    cv = sl.BagKFold(2) if case.supervision == "bags" else 2
    assert np.isfinite(cross_validate(clone(case.estimator), X, side, cv=cv, error_score="raise")["test_score"]).all()
    if case.grid:
        search = GridSearchCV(clone(case.estimator), dict(case.grid), cv=cv, error_score="raise")
        assert len(search.fit(X, side).predict(X)) == len(X)


@each_bag_case
@without_bags
def test_model_selection_with_routed_supervision(case: Case):
    import sklearn

    X, side = case.rows(), case.side()
    folds = list(sl.BagKFold(2).split(X, groups=side["bags"]))
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(clone(case.estimator), X, cv=folds, params=side, error_score="raise")
        assert np.isfinite(scores["test_score"]).all()
        if case.grid:
            search = GridSearchCV(clone(case.estimator), dict(case.grid), cv=folds, error_score="raise")
            assert len(search.fit(X, **side).predict(X)) == len(X)


@each_bag_case
def test_predict_with_the_training_bags_equals_labels(case: Case):
    fitted = case.fit()
    np.testing.assert_array_equal(fitted.predict(case.rows(), bags=case.side()["bags"]), fitted.labels_)


@each_bag_case
def test_supervision_as_y_equals_supervision_by_name(case: Case):
    bags = case.side()["bags"]
    assert_same_fit(clone(case.estimator).fit(case.rows(), bags), case.fit())


@each_bag_case
def test_the_order_of_rows_does_not_matter_to_predictions(case: Case):
    fitted, X, bags = case.fit(), case.rows(), case.side()["bags"]
    order = np.random.default_rng(3).permutation(len(X))
    turned = bags[order]
    np.testing.assert_array_equal(
        fitted.predict(X[order], bags=turned), np.asarray(fitted.predict(X, bags=bags))[order]
    )
    place = [turned.names.index(name) for name in bags.names]
    for method in OF_BAGS:
        if hasattr(fitted, method):
            here, there = getattr(fitted, method)(X, bags), getattr(fitted, method)(X[order], turned)
            assert_alike(here, there[place])


@each_bag_case
def test_what_is_said_of_bags_agrees_with_each_bag_alone(case: Case):
    fitted, X, bags = case.fit(), case.rows(), case.side()["bags"]
    for method in OF_BAGS:
        if not hasattr(fitted, method):
            continue
        together = getattr(fitted, method)(X, bags)
        assert isinstance(together, np.ndarray)
        assert len(together) == bags.n_bags
        for b in range(bags.n_bags):
            rows = np.flatnonzero(bags.codes == b)
            assert_alike(together[b : b + 1], getattr(fitted, method)(X[rows], bags[rows]))


def assert_alike(here, there):
    """Two answers about bags are the same: sets of labels exactly, numbers up to rounding."""
    if here.dtype == object:
        assert here.tolist() == there.tolist()
    else:
        np.testing.assert_allclose(here, there, atol=1e-9)


@with_predict
def test_equal_weights_of_rows_change_no_score(case: Case):
    if not hasattr(case.estimator, "score"):
        pytest.skip("judges nothing")
    fitted, X = case.fit(), case.rows()
    plain = fitted.score(X, case.target(), **case.side())
    for weight in (2.0, 0.001):
        weighed = fitted.score(X, case.target(), **case.side(), sample_weight=np.full(len(X), weight))
        assert weighed == pytest.approx(plain)


def uneven_bags(n: int = 60):
    """Bags of one to seven rows that lie anywhere, each with the names of the groups that it holds."""
    ids = np.repeat(np.arange(16), [1, 7, 2, 6, 3, 5, 4, 4, 1, 7, 2, 6, 3, 5, 2, 2])[:n]
    ids = ids[np.random.default_rng(11).permutation(n)]
    names, y = np.array(["ant", "bee", "cat"]), np.arange(n) % 3
    return sl.Bags(ids, labels={int(b): set(names[y[ids == b]].tolist()) for b in np.unique(ids)})


@each_bag_case
def test_bags_as_y_are_judged_as_bags_by_name(case: Case):
    fitted, X, bags = case.fit(), case.rows(), case.side()["bags"]
    weights = np.random.default_rng(3).uniform(0.5, 2.0, size=len(X))
    for more in ({}, {"sample_weight": weights}):
        assert fitted.score(X, bags, **more) == fitted.score(X, bags=bags, **more)


@each_bag_case
def test_a_bag_counts_with_the_mean_weight_of_its_rows(case: Case):
    """Bags of many rows and of few, rows in any order: the score of two halves weighs them by their bags."""
    if case.name == "BagDiscriminativeClustering":
        pytest.skip("information belongs to all rows together")
    fitted, X, bags = case.fit(), case.rows(), uneven_bags()
    by_rows = isinstance(getattr(fitted, "estimator_", fitted), SpectralFamily)  # judges rows, not bags
    plain = fitted.score(X, bags=bags)
    assert fitted.score(X, bags=bags, sample_weight=np.full(len(X), 3.0)) == pytest.approx(plain)
    weight_of_bag = np.random.default_rng(5).integers(1, 5, bags.n_bags).astype(float)
    noise = np.random.default_rng(6).normal(size=len(X))  # uneven inside a bag, with the bag's weight as its mean
    noise -= (np.bincount(bags.codes, noise) / bags.sizes)[bags.codes]
    weights = weight_of_bag[bags.codes] + (0.0 if by_rows else 0.2 * noise / np.abs(noise).max())
    each = np.array([fitted.score(X[bags.codes == b], bags=bags[bags.codes == b]) for b in range(bags.n_bags)])
    share = weight_of_bag * bags.sizes if by_rows else weight_of_bag
    assert fitted.score(X, bags=bags, sample_weight=weights) == pytest.approx(np.average(each, weights=share))


with_transform = each(
    [case for case in CASES if hasattr(case.estimator, "transform") and hasattr(case.estimator, "predict")]
)


@with_transform
def test_a_clusterer_transforms_rows_into_what_predict_compares(case: Case):
    fitted, X = case.fit(), case.rows()
    table, names = fitted.transform(X), fitted.get_feature_names_out()
    assert table.shape == (len(X), len(names))
    assert len(set(names)) == len(names)
    best = table.argmax(axis=1) if hasattr(fitted, "predict_proba") else table.argmin(axis=1)
    if case.name != "ConstrainedGaussianMixture":
        np.testing.assert_array_equal(best, fitted.predict(X))
    frame = fitted.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(names)


@each_case
def test_a_column_of_text_is_named(case: Case):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(case.rows(), columns=["pitch", "length", "kind", "loud"]).astype({"kind": object})
    frame.loc[4, "kind"] = "wren"
    with pytest.raises(InvalidData, match=r"(?s)Column 'kind' holds text, 'wren' in row 4.*OneHotEncoder"):
        case.fit(frame)
    with pytest.raises(InvalidData, match=r"Column 2 \(counted from 0\) holds text"):
        case.fit(frame.to_numpy())


@pytest.mark.filterwarnings("ignore::sidelight.errors.TargetIgnored")
@each([case for case in CASES if case.needs_lists])
def test_without_lists_there_is_an_error_and_not_one_cluster(case: Case):
    X, n = case.rows(), len(case.rows())
    for y, side in ((None, {}), (["a"] * n, {}), (np.arange(n) // 4, {}), (None, {"bags": np.arange(n) // 4})):
        with pytest.raises(InvalidData, match="label lists of bags"):
            clone(case.estimator).fit(X, y, **side)


@each([case for case in CASES if case.needs_lists])
def test_without_lists_the_score_is_nan_and_says_so(case: Case):
    fitted, X = case.fit(), case.rows()
    with pytest.warns(SidelightWarning, match="the score is NaN"):
        score = fitted.score(X)
    assert isinstance(score, float)
    assert np.isnan(score)


@each_bag_case
def test_rows_that_become_bags_are_said(case: Case):
    """Clusterers of bags silently took every row for a bag at ``predict``; all others go by features alone."""
    fitted, X = case.fit(), case.rows()
    if not hasattr(fitted, "predict_bag_clusters"):
        fitted.predict(X)  # warnings are errors
        return
    for method in (fitted.predict, fitted.predict_bag_clusters):
        with pytest.warns(SidelightWarning, match=r"each of these 60 rows for a bag of its own.*bags=") as told:
            method(X)
        assert len(told) == 1
    fitted.predict(X, bags=case.side()["bags"])
    clone(case.estimator).fit(X).predict(X)  # learnt from single rows


@each_bag_case
def test_bags_come_by_name(case: Case):
    """``predict(X, labels)`` would be taken for bags."""
    fitted, X, bags = case.fit(), case.rows(), case.side()["bags"]
    for method in ("predict", "predict_proba", "predict_labels", "embed"):
        if hasattr(fitted, method):
            with pytest.raises(TypeError):
                getattr(fitted, method)(X, bags)


@each_bag_case
def test_label_sets_and_clusters_of_bags_have_two_names(case: Case):
    fitted, X, bags = case.fit(), case.rows(), case.side()["bags"]
    assert not (hasattr(fitted, "predict_bags") and hasattr(fitted, "predict_bag_clusters"))
    if hasattr(fitted, "predict_bags"):
        assert all(isinstance(held, frozenset) for held in fitted.predict_bags(X, bags))
    if hasattr(fitted, "predict_bag_clusters"):
        assert fitted.predict_bag_clusters(X, bags).dtype.kind == "i"
        with pytest.raises(AttributeError, match="predict_bag_clusters"):
            fitted.predict_bags  # noqa: B018


def others(case: Case):
    """Side information of every kind that the case does not take."""
    n = len(case.rows())
    kinds = {"bags": labelled_bags(n), "pairs": sl.Pairs.empty(n), "triplets": sl.Triplets.empty(n)}
    if hasattr(case.estimator, "estimator"):
        taken = case.estimator.estimator.get_metadata_routing().fit.requests
    else:
        taken = case.estimator.get_metadata_routing().fit.requests
    return [value for name, value in kinds.items() if name not in taken]


@each_case
def test_side_information_of_another_kind_is_refused(case: Case):
    if case.reads_y:
        pytest.skip("learns from y")
    for other in (*others(case), sl.CoOccurrence.from_matrix(np.eye(3)), "labels", {0: "a"}, 5):
        with pytest.raises(InvalidInput, match=r"y"):
            clone(case.estimator).fit(case.rows(), other)
        if hasattr(case.estimator, "score") and not isinstance(case.estimator, sl.Standardized):
            with pytest.raises(InvalidInput):
                case.fit().score(case.rows(), other)


@each_bag_case
def test_labels_of_rows_as_y_are_not_ignored_silently(case: Case):
    labels = np.arange(len(case.rows())) % 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(InvalidData) if case.needs_lists else contextlib.nullcontext():
            clone(case.estimator).fit(case.rows(), labels)
    assert [warning for warning in caught if warning.category is TargetIgnored]
    with warnings.catch_warnings():
        warnings.simplefilter("error", TargetIgnored)  # beside bags they are there for scikit-learn's scorers
        clone(case.estimator).fit(case.rows(), labels, **case.side())


@each_bag_case
def test_bags_of_another_kind_are_refused(case: Case):
    for other in (sl.Pairs.empty(60), 5, "bag"):
        with pytest.raises(InvalidInput):
            clone(case.estimator).fit(case.rows(), bags=other)


@each_case
def test_numbers_too_large_to_be_squared_are_refused_or_scaled(case: Case):
    X = case.rows().copy()
    X[3, 1] = 1e200
    if isinstance(case.estimator, sl.Standardized):
        huge = case.rows() * 1e180
        np.testing.assert_array_equal(case.fit(huge).labels_, case.fit().labels_)
        return
    with pytest.raises(InvalidInput, match=r"row 3, column 1"):
        case.fit(X)


def labels_of(fitted, case):
    """The labels a fitted estimator publishes or predicts: per row, or per row of a table."""
    if case.supervision == "labels":
        return fitted.predict(case.rows()) if hasattr(fitted, "predict") else fitted.tree_.parents
    return fitted.labels_ if hasattr(fitted, "labels_") else fitted.row_labels_


def assert_same_fit(one, other):
    """Every fitted array of one is exactly that of the other."""
    assert vars(one).keys() == vars(other).keys()
    for key, value in vars(one).items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            np.testing.assert_array_equal(value, vars(other)[key], err_msg=key)
