"""What all families share: doors for rows, records of choices, number of clusters, rules, coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight._solvers.descent import descend
from sidelight._terms.information import CrossEntropy
from sidelight.errors import InvalidData
from sidelight.estimators import _base
from sidelight.estimators import _linear_rule as _whitening
from sidelight.estimators._choice import as_good, choose, simplest_within_error, try_in_turn
from sidelight.estimators._how_many import clearest_number
from sidelight.estimators._linear_rule import RuleFit
from sidelight.estimators._weights import weights_of_bags, weights_of_rows

RNG = np.random.default_rng(0)
BAGS = sl.Bags([0, 1, 0, 1], labels={0: {"a"}})


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
@pytest.mark.parametrize(
    ("cells", "place", "word"),
    [
        ([[0, 1], [0, np.nan], [np.nan, 2]], r"row 1, column 1 ", "NaN: 2 of 3 rows"),
        ([[0, 1], [-np.inf, 0], [3, 2]], r"row 1, column 0 ", "minus infinity"),
        ([[0, 1], [3, 0], [np.inf, 2]], r"row 2, column 0 ", "is infinity"),
        ([[0, 1], [3, -1e200], [1, 2]], r"row 1, column 1 ", "is -1e[+]200; the square"),
    ],
)
def test_what_cannot_be_computed_with_is_named(make, cells, place, word):
    with pytest.raises(InvalidData, match=f"{place}.*{word}"):
        _base.refuse_unusable(object(), make(np.array(cells, dtype=float)))


def test_the_largest_number_that_may_be_squared_passes():
    for sign in (1.0, -1.0):
        _base.refuse_unusable(object(), np.array([[sign * _base.HUGE]]))
        with pytest.raises(InvalidData):
            _base.refuse_unusable(object(), np.array([[sign * np.nextafter(_base.HUGE, np.inf)]]))
        _base.refuse_unusable(object(), np.array([[sign * 1e300]]), huge=True)
    _base.refuse_unusable(object(), np.zeros((0, 2)))
    with pytest.raises(InvalidData, match="row 1"):
        _base.refuse_unusable(object(), np.array([[_base.HUGE], [np.nan]]))


def test_weights_of_rows_and_of_bags():
    assert weights_of_rows(None, 3).tolist() == [1, 1, 1]
    assert weights_of_rows([1, 2, 3], 3).tolist() == [1, 2, 3]
    assert weights_of_bags(None, BAGS) is None or (weights_of_bags(None, BAGS) == 1).all()
    np.testing.assert_allclose(weights_of_bags([1.0, 5.0, 3.0, 7.0], BAGS), [2.0, 6.0])
    for bad in ([1.0, 2.0], [1.0, -1.0, 1.0], [[1.0, 1.0, 1.0]], [0.0, 0.0, 0.0], ["a", "b", "c"]):
        with pytest.raises(InvalidData):
            weights_of_rows(bad, 3)


def test_a_choice_is_the_best_or_the_first_within_an_error_of_it():
    values = [np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.array([1.5, 3.5])]  # errors of .71
    best = choose("abc", values)
    assert best["chosen"] == "c"
    assert best["scores"] == [1.0, 2.0, 2.5]
    np.testing.assert_allclose(best["errors"], 1 / np.sqrt(2))
    assert choose("abc", values, simplest_within_error)["chosen"] == "b"
    even = [np.array([1.0, 1.0]), np.array([1.0, 1.0])]
    assert choose("ab", even)["chosen"] == "a"
    assert as_good([np.array([0.0, 1.0]), np.array([0.4, 1.6]), np.array([0.5, 1.5])]) == [1, 2]
    assert as_good([np.array([0.0, 1.0]), np.array([0.1, 0.9])]) == [0, 1]


def test_candidates_are_tried_until_the_peak_lies_some_back():
    scores = [1.0, 3.0, 2.0, 2.5, 9.0]
    found = try_in_turn(range(5), lambda k: np.array([scores[k]]), patience=2)
    assert (found["tried"], found["chosen"]) == ([0, 1, 2, 3], 1)
    assert try_in_turn(range(5), lambda k: np.array([scores[k]]))["chosen"] == 4
    last = try_in_turn(range(5), lambda k: np.array([scores[k]]), patience=2, peak=lambda values: len(values) - 1)
    assert last["tried"] == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_the_clearest_number_of_clusters_is_that_of_the_groups():
    for k in (2, 3, 5):
        y = np.arange(40 * k) % k
        rows = 9.0 * np.eye(5)[y] + RNG.normal(size=(len(y), 5))
        found = clearest_number(rows, np.random.default_rng(0))
        assert (found.chosen, found.is_clear) == (k, True)
        assert found.tried == list(range(2, len(found.tried) + 2))
        assert len(found.scores) == len(found.errors) == len(found.tried)
        assert found.tried[-1] <= min(45, 5 * k)
    noise = clearest_number(RNG.normal(size=(200, 4)), np.random.default_rng(0))
    assert not noise.is_clear
    assert noise.chosen == 2


def test_kinds_that_touch_are_as_many_as_other_rows_tell_most_about():
    y = np.arange(360) % 12
    generator = np.random.default_rng(4)
    rows = generator.normal(size=(360, 10)) + 1.2 * generator.normal(size=(12, 10))[y]
    found = clearest_number(rows, np.random.default_rng(0))
    assert (found.by, found.is_clear) == ("told", False)
    assert 9 <= found.chosen <= 14  # by gaps alone the graph says 2
    assert found.score == max(found.scores)
    one_cloud = clearest_number(generator.normal(size=(360, 10)), np.random.default_rng(0))
    assert (one_cloud.by, one_cloud.chosen) == ("rows", 2)


def test_of_too_few_rows_or_equal_ones_there_is_one_cluster():
    for rows in (RNG.normal(size=(15, 2)), np.ones((50, 2))):
        found = clearest_number(rows, np.random.default_rng(0))
        assert (found.tried, found.chosen, found.is_clear) == ([1], 1, True)
    assert clearest_number(RNG.normal(size=(16, 2)), np.random.default_rng(0)).tried == [2]


def test_a_rule_in_blocks_is_the_rule_of_all_rows():
    X, Q = RNG.normal(size=(60, 3)), RNG.dirichlet(np.ones(2), size=60)
    plain, whitened = RuleFit(X, 0.7), RuleFit.whitened(X, 0.7, np.arange(0, 61, 3))
    how = {"max_iter": 500, "tol": 1e-12, "stage": "a"}
    terms = [(2.0, CrossEntropy(Q))]
    one, other = (fit.minimise(terms, 2, **how) for fit in (plain, whitened))
    np.testing.assert_allclose(one.parameters, other.parameters, atol=1e-4)
    assert one.value == pytest.approx(other.value)
    theta = RNG.normal(size=8)
    for a, b in zip(plain.objective(terms, 2)(theta), whitened.objective(terms, 2)(theta)):
        np.testing.assert_allclose(a, b)
    scores = X @ theta[:6].reshape(3, 2) + theta[6:]
    log_P = scores - np.logaddexp(*scores.T)[:, None]
    value = -2.0 * (Q * log_P).sum() + 0.35 * np.square(theta[:6]).sum()
    assert plain.objective(terms, 2)(theta)[0] == pytest.approx(value)
    around = _whitening.ClusterWhitening(X, one.parameters[:6].reshape(3, 2), one.parameters[6:], 0.7, 60)
    near = descend(plain.objective(terms, 2), np.zeros(8), coordinates=around, max_iter=500, tol=1e-12)
    assert near.value == pytest.approx(one.value)
    assert near.n_iter < 20


def test_samples_of_parts_are_fitted_with_their_bags():
    X = np.vstack([RNG.normal(size=(30, 2)), RNG.normal(size=(30, 2)) + 9])
    bags = sl.Bags(np.arange(60) // 2, labels={b: {"a" if b < 15 else "b"} for b in range(30)})
    model = sl.BagSpectralClustering(2, random_state=0).fit(sl.Parts.from_arrays(X, bags))
    assert model.bags_.n_classes == 2
    labels = np.asarray(model.labels_)
    np.testing.assert_array_equal(labels, model.predict(X, bags=bags))
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1
    for make in (sl.BagSpectralClustering(2), sl.estimators.BagWordClustering(2)):
        for told in ({"y": bags}, {"bags": bags}):
            with pytest.raises(InvalidData, match="bring their bags"):
                make.fit(sl.Parts.from_arrays(X, bags), **told)


@pytest.mark.parametrize(("answers", "kind"), [([(0, 1, "same")], "Pairs"), ([(0, 1, 5, "c")], "Triplets")])
def test_tuples_as_y_are_refused_with_what_to_write(answers, kind):
    with pytest.raises(InvalidData, match=rf"sl.{kind}.from_table\(answers, n_rows=len\(X\)\)"):
        sl.DiscriminativeClustering(2).fit(np.zeros((8, 2)), answers)
