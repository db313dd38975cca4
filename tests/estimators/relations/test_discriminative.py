"""Discriminative clustering: what answers change, what it does without any, and what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.errors import (
    ConflictingAnswers,
    InvalidData,
    InvalidParameter,
    OutOfRange,
    SidelightWarning,
    UnknownName,
)
from sidelight.estimators.relations import discriminative

DIGITS, DIGIT = load_digits(return_X_y=True)
WINE, KIND = load_wine(return_X_y=True)


def four_corners(n: int = 80):
    """Four groups at the corners of a square; whether rows are grouped by height or by side is anybody's guess."""
    generator = np.random.default_rng(0)
    corner = np.arange(n) % 4
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[corner] * 4.0 + generator.normal(scale=0.4, size=(n, 2))
    return X, corner // 2, corner % 2


@pytest.mark.parametrize("kind", [sl.Pairs, sl.Triplets])
def test_answers_decide_between_two_equally_good_clusterings(kind):
    X, side, height = four_corners()
    for wanted in (side, height):
        answers = kind.sample(wanted, 40, random_state=1)
        fitted = sl.DiscriminativeClustering(2, random_state=0).fit(X, answers)
        assert adjusted_rand_score(wanted, fitted.labels_) == 1.0
        assert not any(len(numbers) for numbers in fitted.violated_.values())


def test_pairs_and_triplets_are_used_together():
    X, side, _ = four_corners()
    pairs, triplets = sl.Pairs.sample(side, 12, random_state=2), sl.Triplets.sample(side, 12, random_state=3)
    both = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=pairs, triplets=triplets)
    assert adjusted_rand_score(side, both.labels_) == 1.0


def test_answers_help_far_beyond_k_means():
    pairs = sl.Pairs.sample(DIGIT, 700, random_state=0)
    ours = sl.DiscriminativeClustering(10, n_init=1, random_state=0).fit(DIGITS, pairs=pairs)
    theirs = KMeans(10, n_init=5, random_state=0).fit(DIGITS)
    assert adjusted_rand_score(DIGIT, ours.labels_) > adjusted_rand_score(DIGIT, theirs.labels_) + 0.1


def test_new_rows_get_the_clusters_of_the_old():
    pairs = sl.Pairs.sample(KIND[::2], 60, random_state=0)
    fitted = sl.DiscriminativeClustering(3, random_state=0).fit(WINE[::2] / WINE.std(axis=0), pairs=pairs)
    assert adjusted_rand_score(KIND[1::2], fitted.predict(WINE[1::2] / WINE.std(axis=0))) > 0.8


def test_units_of_all_rows_do_not_matter():
    pairs = sl.Pairs.sample(KIND, 60, random_state=0)
    X = WINE / WINE.std(axis=0)
    small, large = (sl.DiscriminativeClustering(3, random_state=0).fit(X * unit, pairs=pairs) for unit in (1, 1024))
    np.testing.assert_array_equal(small.labels_, large.labels_)


def test_violated_answers_are_those_that_labels_break():
    X, side, height = four_corners()
    said = np.where(np.arange(80) < 76, side, height)  # the last corners were judged by something else
    pairs = sl.Pairs.sample(said, 120, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)
        fitted = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=pairs)
    alike = fitted.labels_[pairs.left] == fitted.labels_[pairs.right]
    np.testing.assert_array_equal(fitted.violated_["pairs"], np.flatnonzero(alike != pairs.same))
    assert len(fitted.violated_["pairs"]) > 0


def test_score_is_the_likelihood_of_held_out_answers():
    X, side, _ = four_corners()
    pairs = sl.Pairs.sample(side, 40, random_state=1)
    fitted = sl.DiscriminativeClustering(2, eps=0.05, random_state=0).fit(X, pairs=pairs)
    right, wrong = sl.Pairs.sample(side, 30, random_state=5), sl.Pairs.sample(side, 30, noise=1.0, random_state=5)
    P = fitted.predict_proba(X)
    same = (P[right.left] * P[right.right]).sum(axis=1)
    chance = np.where(right.same, 0.05 + 0.9 * same, 0.95 - 0.9 * same)
    assert fitted.score(X, pairs=right) == pytest.approx(np.log(chance).mean())
    assert fitted.score(X, pairs=right) > fitted.score(X, pairs=wrong)


def test_weights_of_answers_count():
    X, side, height = four_corners()
    by_side, by_height = sl.Pairs.sample(side, 60, random_state=1), sl.Pairs.sample(height, 60, random_state=2)
    told = [(*a.rows, a.answer, w) for answers, w in ((by_side, 1.0), (by_height, 0.01)) for a in answers.answers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)
        fitted = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=sl.Pairs.from_table(told, n_rows=80))
    assert adjusted_rand_score(side, fitted.labels_) == 1.0


# -- without answers -------------------------------------------------------------------------------------------------


def test_without_answers_the_trace_never_rises_and_ends_at_the_objective():
    X = np.random.default_rng(0).normal(size=(50, 3))
    fitted = sl.DiscriminativeClustering(3, random_state=0).fit(X)
    assert (np.diff(fitted.trace_) <= 1e-12).all()
    assert fitted.trace_[-1] == pytest.approx(fitted.objective_)


def test_without_answers_the_objective_is_information_minus_penalty():
    X = np.random.default_rng(2).normal(size=(40, 3))
    fitted = sl.DiscriminativeClustering(3, tau=1.0, penalty=0.1, boundary="straight", random_state=0)
    with pytest.warns(sl.errors.EmptyClusters, match="only 2 of 3 clusters hold rows"):  # noise has no three clusters
        fitted.fit(X)
    P = fitted.predict_proba(X)
    share = P.mean(axis=0)
    information = -(share * np.log(share)).sum() + (P * np.log(P)).sum(axis=1).mean()
    assert fitted.score(X) == pytest.approx(information)
    assert fitted.objective_ == pytest.approx(-information + 0.05 * np.square(fitted.weights_).sum())


@pytest.mark.slow
def test_without_answers_it_beats_k_means_on_digits():
    ours = sl.DiscriminativeClustering(10, n_init=1, random_state=0).fit(DIGITS)
    theirs = KMeans(10, n_init=2, random_state=0).fit(DIGITS)
    assert adjusted_rand_score(DIGIT, ours.labels_) > adjusted_rand_score(DIGIT, theirs.labels_) + 0.05


# -- many rows -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_information_of_a_sample_of_rows_is_enough(monkeypatch):
    monkeypatch.setattr(discriminative, "MOST_ROWS", 500)
    generator = np.random.default_rng(0)
    y = np.arange(3000) % 3
    X = 3 * generator.normal(size=(3, 5))[y] + generator.normal(size=(3000, 5))
    pairs = sl.Pairs.sample(y, 100, random_state=0)
    fitted = sl.DiscriminativeClustering(3, n_init=1, random_state=0).fit(X, pairs=pairs)
    assert adjusted_rand_score(y, fitted.labels_) > 0.95


def test_wide_sparse_rows_are_welcome():
    generator = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = sp.csr_array(generator.poisson(np.where(y[:, None] == (np.arange(900) % 2), 0.2, 0.05)).astype(float))
    pairs = sl.Pairs.sample(y, 40, random_state=0)
    fitted = sl.DiscriminativeClustering(2, n_init=1, random_state=0).fit(X, pairs=pairs)
    assert adjusted_rand_score(y, fitted.labels_) > 0.9
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)


# -- bad input -------------------------------------------------------------------------------------------------------


def test_contradictions_are_reported_with_their_chain_or_refused():
    X, _, _ = four_corners(8)
    pairs = sl.Pairs.from_table([(0, 1, "same"), (1, 2, "same"), (0, 2, "different")], n_rows=8)
    with pytest.warns(SidelightWarning, match=r"Rows 0 and 2 must link \(answers 0, 1\) but cannot link \(answer 2\)"):
        sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=pairs)
    with pytest.raises(ConflictingAnswers, match=r"answers 0, 1.*pairs.without\(2\)"):
        sl.DiscriminativeClustering(2, on_conflict="raise").fit(X, pairs=pairs)


def test_a_y_that_is_no_answer_is_never_ignored():
    X, _, _ = four_corners(8)
    for y in (sl.Bags(range(8)), "pairs"):
        with pytest.raises(InvalidData, match="Pairs"):
            sl.DiscriminativeClustering(2).fit(X, y)
    with pytest.warns(SidelightWarning, match="not used"):  # scikit-learn's own tools pass labels, and mean no harm
        sl.DiscriminativeClustering(2).fit(X, np.zeros(8))


@pytest.mark.parametrize(
    ("options", "answers", "error"),
    [
        ({"n_clusters": 9}, None, InvalidParameter),
        ({"n_clusters": 0}, None, InvalidParameter),
        ({"penalty": -1}, None, InvalidParameter),
        ({"eps": 0}, None, InvalidParameter),
        ({"eps": "guess"}, None, InvalidParameter),
        ({}, [(0, 8, "same")], OutOfRange),
        ({}, [(0, 0, "same")], InvalidData),
        ({}, [(0, 1, "perhaps")], UnknownName),
    ],
)
def test_what_cannot_be_is_refused_by_name(options, answers, error):
    X, _, _ = four_corners(8)
    with pytest.raises(error):
        sl.DiscriminativeClustering(**{"n_clusters": 2, **options}).fit(X, pairs=answers)


def test_one_cluster_is_allowed():
    X, _, _ = four_corners(8)
    assert not sl.DiscriminativeClustering(1).fit(X).labels_.any()


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_any_data_frame_is_welcome(frame):
    library = pytest.importorskip(frame)
    columns = {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate("abc")}
    table = library.table(columns) if frame == "pyarrow" else library.DataFrame(columns)
    X = np.column_stack(list(columns.values()))
    by_frame = sl.DiscriminativeClustering(2, random_state=0).fit(table)
    by_array = sl.DiscriminativeClustering(2, random_state=0).fit(X)
    np.testing.assert_array_equal(by_frame.labels_, by_array.labels_)
    assert list(by_frame.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(by_frame.predict(table), by_frame.labels_)


# -- what answers say about the rows they are about --------------------------------------------------------------------


def test_labels_follow_answers_that_features_cannot_see():
    """Classes that overlap: rows in a chain of answers are placed together, and new rows by their features."""
    generator = np.random.default_rng(0)
    y = np.arange(500) % 2
    X = generator.normal(size=(500, 2)) + 0.9 * y[:, None]
    pairs = sl.Pairs.sample(y, 400, random_state=0)
    fitted = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=pairs)
    assert adjusted_rand_score(y, fitted.labels_) > adjusted_rand_score(y, fitted.predict(X)) + 0.2
    by_features = fitted.predict(X)
    broken = (by_features[pairs.left] == by_features[pairs.right]) != pairs.same
    assert len(fitted.violated_["pairs"]) < 0.5 * broken.sum()
    np.testing.assert_array_equal(fitted.probabilities_.argmax(axis=1), fitted.labels_)
    np.testing.assert_allclose(fitted.probabilities_.sum(axis=1), 1.0)


def test_rows_without_answers_and_the_thesis_go_by_features_alone():
    X, y, _ = four_corners(40)
    pairs = sl.Pairs.sample(y, 20, random_state=0)
    fitted = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=pairs)
    unasked = np.setdiff1d(np.arange(len(X)), pairs.rows)
    np.testing.assert_array_equal(fitted.labels_[unasked], fitted.predict(X)[unasked])
    np.testing.assert_allclose(fitted.probabilities_[unasked], fitted.predict_proba(X)[unasked])
    thesis = sl.DiscriminativeClustering(2, objective="variational", random_state=0).fit(X, pairs=pairs)
    np.testing.assert_array_equal(thesis.labels_, thesis.predict(X))


def test_advice_on_empty_clusters_follows_from_the_cause():
    """With answers that are wrong one time in three, "ask for fewer clusters" alone was bad advice."""
    generator = np.random.default_rng(11)
    y = generator.integers(0, 2, 120)
    X = generator.normal(size=(120, 5))
    X[:, 0] += 0.6 * y
    doubtful = sl.Pairs.sample(y, 60, noise=0.3, random_state=11)
    with pytest.warns(sl.errors.EmptyClusters, match=r"look for wrong ones, bring more, or ask for fewer") as told:
        fitted = sl.DiscriminativeClustering(6, random_state=0).fit(X, pairs=doubtful)
    assert any(f"about {fitted.eps_:.0%} seem wrong" in str(warning.message) for warning in told)
    with pytest.warns(sl.errors.EmptyClusters, match=r"hold rows\. Ask for fewer clusters\.$"):
        sl.DiscriminativeClustering(12, random_state=0).fit(np.repeat(X[:4], 5, axis=0))
