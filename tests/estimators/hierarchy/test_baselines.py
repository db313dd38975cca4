"""What the tree is compared with: Chow-Liu, one classifier a label, FastTag."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score

import sidelight as sl
from sidelight.errors import InvalidParameter
from sidelight.metrics import micro_f1, robinson_foulds


@pytest.fixture(scope="module")
def sample():
    return sl.data.make_label_tree(600, n_labels=9, n_features=6, missing=0.3, random_state=5)


def test_chow_liu_is_the_spanning_tree_of_largest_information(sample):
    Y = sample.Y_incomplete
    graph = nx.Graph()
    for a in range(9):
        for b in range(a):
            graph.add_edge(a, b, weight=mutual_info_score(Y[:, a], Y[:, b]))
    expected = {frozenset(edge) for edge in nx.maximum_spanning_tree(graph).edges}
    fitted = sl.peers.ChowLiuTree().fit(None, Y)
    parents = fitted.tree_.parents
    assert {frozenset((c, int(p))) for c, p in enumerate(parents) if p >= 0} == expected
    assert parents[Y.sum(axis=0).argmax()] == -1
    for c, p in enumerate(parents):
        known = 0.0 if p < 0 else mutual_info_score(Y[:, c], Y[:, p])
        assert fitted.link_information_[c] == pytest.approx(known, abs=1e-12)


def test_positive_links_never_join_labels_that_exclude_each_other():
    Y = np.eye(4, dtype=int)[np.arange(200) % 4]
    assert (sl.peers.ChowLiuTree().fit(None, Y).tree_.parents >= 0).sum() == 3
    assert (sl.peers.ChowLiuTree(positive=True).fit(None, Y).tree_.parents == -1).all()


def test_the_tree_from_counts_beats_both_kinds_of_chow_liu():
    ours, plain, positive = 0, 0, 0
    for seed in range(4):
        sample = sl.data.make_label_tree(2000, n_labels=20, missing=0.4, random_state=seed)
        Y, true = sample.Y_incomplete, sample.tree.parents
        ours += robinson_foulds(true, sl.LatentHierarchyClassifier().fit(None, Y).tree_.parents, directed=False)
        plain += robinson_foulds(true, sl.peers.ChowLiuTree().fit(None, Y).tree_.parents, directed=False)
        positive += robinson_foulds(
            true, sl.peers.ChowLiuTree(positive=True).fit(None, Y).tree_.parents, directed=False
        )
    assert ours < positive <= plain


def test_binary_relevance_is_logistic_regression(sample):
    fitted = sl.peers.BinaryRelevance(penalty=1e-3, max_iter=1000, tol=1e-12).fit(sample.X, sample.Y_incomplete)
    P = fitted.predict_proba(sample.X)
    for c in range(3):
        plain = LogisticRegression(C=1e5, tol=1e-10, max_iter=5000).fit(sample.X, sample.Y_incomplete[:, c])
        np.testing.assert_allclose(P[:, c], plain.predict_proba(sample.X)[:, 1], atol=5e-3)  # two small ridges


def test_dividing_by_what_is_kept_finds_more(sample):
    plain = sl.peers.BinaryRelevance().fit(sample.X, sample.Y_incomplete)
    divided = sl.peers.BinaryRelevance(alpha=0.3).fit(sample.X, sample.Y_incomplete)
    np.testing.assert_allclose(
        divided.predict_proba(sample.X), np.minimum(plain.predict_proba(sample.X) / 0.7, 1), atol=1e-9
    )
    assert micro_f1(sample.Y, divided.predict(sample.X)) > micro_f1(sample.Y, plain.predict(sample.X))
    assert sl.peers.BinaryRelevance(threshold="f1").fit(sample.X, sample.Y_incomplete).threshold_ < 0.5


def test_fasttag_settles_where_both_steps_agree(sample):
    Y = sample.Y_incomplete.astype(float)
    fitted = sl.peers.FastTag(max_iter=500, penalty=4.0).fit(sample.X, Y)
    B, scores = fitted.completion_, fitted.decision_function(sample.X)
    drop = 0.5 * (Y.T @ Y)
    kept = 0.25 * (Y.T @ Y)
    np.fill_diagonal(kept, 0.5 * Y.sum(axis=0))
    # the gradient in B of |BY - WX|^2 + E|Y - B Y~|^2 + ridge is 0
    gradient = (Y @ B.T - scores).T @ Y + B @ kept - drop + 1e-3 * B
    np.testing.assert_allclose(gradient, 0, atol=1e-6)


def test_fasttag_takes_the_threshold_that_fits_the_seen_labels_best(sample):
    fitted = sl.peers.FastTag().fit(sample.X, sample.Y_incomplete)
    scores = fitted.decision_function(sample.X)
    reached = micro_f1(sample.Y_incomplete, fitted.predict(sample.X))
    tried = [micro_f1(sample.Y_incomplete, (scores > t).astype(int)) for t in np.unique(scores)[::7]]
    assert reached >= max(tried) - 1e-12


@pytest.mark.parametrize(
    "bad",
    [
        sl.peers.ChowLiuTree(positive=2),
        sl.peers.BinaryRelevance(alpha=1.0),
        sl.peers.BinaryRelevance(threshold="f2"),
        sl.peers.FastTag(gamma=-1),
    ],
)
def test_bad_parameters_are_named(sample, bad):
    with pytest.raises(InvalidParameter):
        bad.fit(sample.X, sample.Y_incomplete)
