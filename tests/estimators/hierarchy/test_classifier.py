"""The classifier behind the tree: learning, predicting, completing, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import (
    InvalidData,
    InvalidParameter,
    LabelsOverlap,
    SidelightWarning,
    UnknownName,
    ignore_warnings,
)
from sidelight.estimators.hierarchy.decoding import f1_threshold
from sidelight.metrics import micro_f1, robinson_foulds


@pytest.fixture(scope="module")
def sample():
    return sl.data.make_label_tree(800, n_labels=10, missing=0.3, random_state=1)


@pytest.fixture(scope="module")
def model(sample):
    return sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete)


def test_finds_the_tree_and_the_rate_of_loss(sample, model):
    assert robinson_foulds(sample.tree.parents, model.tree_.parents) == 0
    assert model.alpha_ == pytest.approx(0.3, abs=0.03)


def test_the_trace_never_falls_and_ends_at_the_likelihood(sample, model):
    assert (np.diff(model.trace_) > 0).all()
    scored = model.score(sample.X, sample.Y_incomplete) * sample.Y_incomplete.size
    assert model.log_likelihood_ == pytest.approx(scored, rel=1e-6)


def test_predictions_obey_the_tree_and_beat_labels_taken_at_their_word(sample, model):
    predicted = model.predict(sample.X)
    assert model.tree_.is_consistent(predicted)
    chance = micro_f1(sample.Y, sample.Y_incomplete)
    assert micro_f1(sample.Y, model.complete(sample.X, sample.Y_incomplete)) > chance + 0.05


def test_marginals_fall_along_the_tree(sample, model):
    Q = model.predict_proba(sample.X)
    below = model.tree_.parents >= 0
    assert (Q[:, below] <= Q[:, model.tree_.parents[below]] + 1e-12).all()


def test_completing_keeps_what_was_seen_and_is_consistent(sample, model):
    for threshold in (None, "f1", 0.4):
        fitted = sl.LatentHierarchyClassifier(threshold=threshold).fit(sample.X, sample.Y_incomplete)
        complete = fitted.complete(sample.X, sample.Y_incomplete)
        assert (complete >= sample.Y_incomplete).all()
        assert fitted.tree_.is_consistent(complete)
        assert fitted.tree_.is_consistent(fitted.predict(sample.X))


def test_the_f1_threshold_is_the_fixed_point_and_the_best_of_all():
    Q = np.random.default_rng(0).beta(0.4, 1.5, size=(60, 5))

    def expected_f1(t):
        return 2 * Q[t < Q].sum() / ((t < Q).sum() + Q.sum())

    t = f1_threshold(Q)
    assert expected_f1(t) / 2 == pytest.approx(t, abs=1e-9)
    assert expected_f1(t) >= max(expected_f1(other) for other in np.linspace(0, 0.99, 200)) - 1e-9


def test_a_looser_threshold_finds_more(sample, model):
    most_probable = sl.LatentHierarchyClassifier(threshold=None).fit(sample.X, sample.Y_incomplete)
    assert 0 < model.threshold_ < 0.5
    assert model.predict(sample.X).sum() > most_probable.predict(sample.X).sum()


def test_sparse_rows_and_sparse_labels_change_nothing(sample, model):
    other = sl.LatentHierarchyClassifier().fit(sp.csr_array(sample.X), sp.csr_array(sample.Y_incomplete))
    assert other.tree_ == model.tree_
    np.testing.assert_allclose(other.predict_proba(sp.csr_array(sample.X)), model.predict_proba(sample.X), atol=1e-6)


def test_unknown_is_not_off():
    sample = sl.data.make_label_tree(1500, n_labels=10, missing=0.3, random_state=2)
    hidden = np.random.default_rng(0).random(sample.Y.shape) < 0.3
    unknown = np.where(hidden, -1, sample.Y_incomplete)
    known = sl.LatentHierarchyClassifier().fit(sample.X, unknown)
    counted_as_off = sl.LatentHierarchyClassifier().fit(sample.X, np.where(hidden, 0, sample.Y_incomplete))
    assert known.alpha_ == pytest.approx(0.3, abs=0.03)
    assert counted_as_off.alpha_ == pytest.approx(0.51, abs=0.03)  # 1 - 0.7 * 0.7
    as_nan = sl.LatentHierarchyClassifier().fit(sample.X, np.where(hidden, np.nan, sample.Y_incomplete))
    np.testing.assert_array_equal(as_nan.weights_, known.weights_)


def test_without_rows_the_labels_alone_give_the_tree(sample):
    fitted = sl.LatentHierarchyClassifier().fit(None, sample.Y_incomplete)
    assert robinson_foulds(sample.tree.parents, fitted.tree_.parents) == 0
    complete = fitted.complete(None, sample.Y_incomplete)
    assert fitted.tree_.is_consistent(complete)
    assert (complete >= fitted.tree_.close(sample.Y_incomplete)).all()
    with pytest.raises(InvalidData, match="fitted without X"):
        fitted.predict(sample.X)
    with pytest.raises(InvalidData, match="fitted without X"):
        fitted.complete(sample.X, sample.Y_incomplete)


def test_a_known_tree_is_kept_and_its_rate_estimated(sample):
    named = sl.LabelMatrix(sample.Y_incomplete, names=sample.tree.names)
    shuffled = np.random.default_rng(0).permutation(sample.tree.n_labels)
    place = np.argsort(shuffled)
    parents = np.where(sample.tree.parents >= 0, place[sample.tree.parents], -1)[shuffled]
    moved = sl.LabelTree(parents, [sample.tree.names[i] for i in shuffled])
    for tree in (sample.tree, sample.tree.parents, moved):
        fitted = sl.LatentHierarchyClassifier(tree=tree).fit(sample.X, named)
        assert fitted.tree_ == sample.tree
        assert fitted.alpha_ == pytest.approx(0.3, abs=0.03)
        assert fitted.source_ == "given"


def test_rates_per_label_are_found_where_they_differ():
    sample = sl.data.make_label_tree(10_000, n_labels=12, missing=0.0, random_state=1)
    rng = np.random.default_rng(3)
    rates = rng.uniform(0.05, 0.4, 12)
    Z = sample.Y * (rng.random(sample.Y.shape) >= rates)
    fitted = sl.LatentHierarchyClassifier().fit(None, Z)
    inner = np.unique(sample.tree.parents[sample.tree.parents >= 0])
    np.testing.assert_allclose(fitted.label_alphas_[inner], rates[inner], atol=0.03)
    one_rate = sl.LatentHierarchyClassifier(alpha="shared").fit(None, Z)
    assert np.ptp(one_rate.label_alphas_) == 0


def test_evidence_is_positive_on_true_edges_and_counts_are_those_of_the_rows(sample, model):
    Z, parents = sample.Y_incomplete, model.tree_.parents
    for c, p in enumerate(parents):
        if p < 0:
            assert np.isnan(model.edge_evidence_[c])
        else:
            assert model.edge_evidence_[c] > 0
            assert model.edge_counts_[c].tolist() == [(Z[:, c] & Z[:, p]).sum(), Z[:, c].sum()]


def test_names_of_labels_come_back(sample):
    names = [f"l{i}" for i in range(10)]
    sets = [{names[j] for j in np.flatnonzero(row)} for row in sample.Y_incomplete]
    fitted = sl.LatentHierarchyClassifier().fit(sample.X, sets)
    assert fitted.label_names_ == tuple(sorted(names))
    np.testing.assert_array_equal(
        fitted.complete(sample.X, sets), fitted.complete(sample.X, sl.LabelMatrix(sample.Y_incomplete, names))
    )
    with pytest.raises(UnknownName, match="newt"):
        fitted.complete(sample.X[:1], [{"newt"}])


def test_a_label_that_is_always_on_and_an_empty_row_are_fine(sample):
    Y = np.column_stack([sample.Y_incomplete, np.ones(len(sample.Y), dtype=int)])
    Y[3] = 0
    fitted = sl.LatentHierarchyClassifier().fit(sample.X, Y)
    assert np.isfinite(fitted.weights_).all()
    assert (fitted.predict_proba(sample.X)[:, -1] > 0.97).all()


def test_identical_labels_hang_together(sample):
    Y = np.column_stack([sample.Y_incomplete, sample.Y_incomplete[:, 0]])
    with pytest.warns(LabelsOverlap, match="depends on other labels"):  # a gap of one is a gap of the other
        parents = sl.LatentHierarchyClassifier().fit(None, Y).tree_.parents
    assert parents[0] == 10 or parents[10] == 0


def test_a_label_that_never_occurs_is_named_and_hangs_from_the_root(sample):
    Y = sl.LabelMatrix(np.column_stack([sample.Y_incomplete, np.zeros(800, dtype=int)]), [*"abcdefghij", "newt"])
    with pytest.warns(SidelightWarning, match="'newt'"):
        fitted = sl.LatentHierarchyClassifier().fit(sample.X, Y)
    assert fitted.tree_.parents[-1] == -1
    assert fitted.predict(sample.X)[:, -1].sum() == 0


def test_labels_that_have_nothing_in_common_make_a_star_without_loss():
    rng = np.random.default_rng(0)
    Y = np.eye(4, dtype=int)[rng.integers(4, size=300)]
    fitted = sl.LatentHierarchyClassifier().fit(rng.normal(size=(300, 3)), Y)
    assert (fitted.tree_.parents == -1).all()
    assert fitted.alpha_ == 0


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros((800, 3)), "no label was seen"),
        (np.ones((5, 3)), "X has 800 rows but the labels have 5"),
        (np.full((800, 3), 2), "is 2"),
        (np.where(np.eye(800, 3) > 0, 1, -1), "only -1 and 1"),
    ],
)
def test_bad_labels_are_refused(sample, y, message):
    with pytest.raises(InvalidData, match=message):
        sl.LatentHierarchyClassifier().fit(sample.X, y)


@pytest.mark.parametrize(
    ("tree", "kind", "message"),
    [
        ([1, 0, -1], InvalidData, "their own ancestors"),
        ([-1, 0], InvalidData, "2 labels but 3 names"),
        (sl.LabelTree([-1, 0, 1], ["a", "b", "d"]), UnknownName, "'d', which y lacks"),
        (sl.LabelTree([-1, 0], ["a", "b"]), UnknownName, "'c', which the tree lacks"),
    ],
)
def test_bad_trees_are_refused(tree, kind, message):
    Y = sl.LabelMatrix([[1, 0, 0], [1, 1, 1], [0, 0, 1]], ["a", "b", "c"])
    with pytest.raises(kind, match=message):
        sl.LatentHierarchyClassifier(tree=tree).fit(None, Y)


@pytest.mark.parametrize(
    "bad",
    [{"structure": "tree"}, {"alpha": "both"}, {"threshold": "f2"}, {"threshold": 1.5}, {"eps": 0}, {"penalty": -1}],
)
def test_bad_parameters_are_named(sample, bad):
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        sl.LatentHierarchyClassifier(**bad).fit(sample.X, sample.Y_incomplete)


def test_gaps_of_a_true_tree_look_like_forgetting_and_overlap_does_not(sample, model):
    tested = model.gap_p_values_[~np.isnan(model.gap_p_values_)]
    assert len(tested) > 3
    assert (tested > 1e-3).all()
    rng = np.random.default_rng(0)
    overlapping = (rng.normal(size=(900, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(900, 8)) > 0.4).astype(int)
    with pytest.warns(LabelsOverlap, match="none implies another"):
        fitted = sl.LatentHierarchyClassifier().fit(None, overlapping)
    assert fitted.source_ == "overlap"
    assert (fitted.tree_.parents < 0).all()
    assert fitted.alpha_ == 0
    assert np.array_equal(fitted.complete(None, overlapping), overlapping)  # nothing was taken for forgotten


@pytest.mark.slow
def test_labels_that_share_features_or_nothing_at_all_form_no_tree():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1200, 20))
        shared = rng.random((1200, 15)) < 1 / (1 + np.exp(2.0 - 0.4 * X @ rng.normal(size=(20, 15))))
        alone = rng.random((3000, 20)) < rng.uniform(0.03, 0.4, 20)
        for rows, labels in ((X, shared), (None, alone), (rng.normal(size=(3000, 3)), alone)):
            with ignore_warnings(LabelsOverlap):
                model = sl.LatentHierarchyClassifier().fit(rows, labels.astype(int))
            assert (model.tree_.parents < 0).all()
            assert model.alpha_ == 0


def test_the_weights_climb_to_a_stationary_point(sample):
    model = sl.LatentHierarchyClassifier(tol=1e-12, max_iter=2000).fit(sample.X, sample.Y_incomplete)
    longer = sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete)
    assert longer.n_iter_ < 300  # the limit is not what ends it
    assert (np.diff(longer.trace_) >= -1e-9).all()
    assert longer.trace_[-1] == pytest.approx(model.trace_[-1], rel=1e-4)


def test_the_gap_test_is_a_g_test():
    from scipy.stats import chi2_contingency

    from sidelight.estimators.hierarchy.evidence import _g_tests

    tables = np.random.default_rng(0).integers(8, 40, size=(6, 2, 2)).astype(float)
    both, first, second, total = tables[:, 0, 0], tables[:, 0].sum(1), tables[:, :, 0].sum(1), tables.sum((1, 2))
    G, can_tell = _g_tests(both, first, second, total)
    for g, cells in zip(G, tables):
        assert g == pytest.approx(chi2_contingency(cells, correction=False, lambda_="log-likelihood").statistic)
    assert can_tell.all()
