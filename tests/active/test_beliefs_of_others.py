"""What strategies learn of rows from any belief, and a clusterer as one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

import sidelight as sl
from sidelight._core.simplex import entropy, softmax
from sidelight.active.belief import Belief, ClustererBelief, as_belief, name_of

ROWS = np.array([[0.0], [1.0], [2.5], [10.0], [11.0], [30.0], [33.0]])


class Line(Belief):
    """Rows on a line, each as sure as given."""

    n_rows, features = 7, ROWS

    def __init__(self):
        self.P, self.told = np.random.default_rng(0).dirichlet(np.ones(3), size=7), []

    def posterior(self, X=None):
        return self.P

    def tell(self, a, b, same, generator):
        self.told.append((a, b, same))


class Signs(BaseEstimator):
    """A clusterer of the rows' first column, with labels 4 and 9; it joins what answers join."""

    def __init__(self, n_clusters=2, random_state=None, border=5.0):
        self.n_clusters, self.random_state, self.border = n_clusters, random_state, border

    def fit(self, X, pairs=None):
        self.pairs_, self.n_fits_ = pairs, getattr(self, "n_fits_", 0) + 1
        self.labels_ = np.where(np.asarray(X.todense() if sp.issparse(X) else X)[:, 0] > self.border, 9, 4)
        return self


class Sure(Signs):
    """The same with probabilities."""

    def predict_proba(self, X):
        return np.repeat([[0.3, 0.7]], np.shape(X)[0], axis=0)


def made(clusterer=None, n_clusters=None, X=ROWS, seed=0):
    return ClustererBelief(X, n_clusters, np.random.default_rng(seed), clusterer=clusterer or Signs())


# -- rows of any belief ----------------------------------------------------------------------------------------------


def test_places_certainty_and_representatives_follow_from_the_posterior():
    belief = Line()
    np.testing.assert_allclose(belief.places(), np.column_stack([belief.P, np.zeros(7)]))
    labels = belief.P.argmax(axis=1)
    taken = {(0, 3), (1, 2), (5, 6), (6, 5), (2, 1)}
    for row in range(7):
        assert belief.certainty(row) == pytest.approx(belief.P[row].max())
        for cluster in range(3):
            members = [r for r in range(7) if labels[r] == cluster and r != row and (row, r) not in taken]
            nearest = min(members, key=lambda r: abs(ROWS[r, 0] - ROWS[row, 0]), default=None)
            assert belief.representative(row, cluster, lambda a, b: (a, b) in taken) == nearest


def test_influence_is_the_doubt_near_a_row():
    belief = Line()
    Q = belief.places()
    apart = (ROWS - ROWS.T) ** 2
    alike = np.exp(-4 * apart / np.median(apart[apart > 0]))
    np.testing.assert_allclose(belief.influence(Q), alike @ entropy(np.maximum(Q, 1e-12)))


def test_copies_of_one_row_are_all_alike():
    belief = Line()
    belief.features = np.ones((7, 1))
    np.testing.assert_array_equal(belief._alike, np.ones((7, 7)))


# -- a clusterer -----------------------------------------------------------------------------------------------------


def test_what_can_be_a_belief():
    class WithWords(BaseEstimator):
        def fit(self, X, **words):
            return self

    assert as_belief(len) is len
    for clusterer in (Signs(), WithWords()):
        assert isinstance(as_belief(clusterer)(ROWS, 2, np.random.default_rng(0)), ClustererBelief)
    assert name_of(Signs()) == name_of(Signs) == name_of(Signs().fit) == "Signs"
    assert name_of(len) == "len" or name_of(len)
    for bad in (sl.errors, 5, "kmeans", Signs):
        with pytest.raises(sl.errors.InvalidData, match="belief must be"):
            as_belief(bad)


def test_a_clusterer_is_told_the_number_and_a_seed_where_it_has_none():
    given = Signs(7)
    assert made(given, 2).clusterer.n_clusters == 2
    assert made(given, None).clusterer.n_clusters == 7
    assert made(given, None).n_clusters == 7
    assert given.random_state is None
    seeds = [made(given, 2, seed=seed).clusterer.random_state for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert made(Signs(random_state=5)).clusterer.random_state == 5

    class Plain(BaseEstimator):
        def fit(self, X, pairs=None):
            return self

    assert made(Plain(), 4).n_clusters == 4
    assert made(Plain()).n_clusters is None


def test_answers_are_kept_for_a_fit_that_is_made_once():
    belief = made()
    belief.tell(0, 5, False, None)
    belief.tell(5, 6, True, None)
    assert belief.rows == [0, 5, 6]
    assert belief.partition(None).tolist() == [0, 0, 0, 1, 1, 1, 1]  # from 4 and 9
    belief.partition(None)
    assert belief.clusterer.n_fits_ == 1
    kept = belief.clusterer.pairs_
    assert (kept.n_answers, kept.n_rows, kept.implies(0, 6)) == (2, 7, "different")
    assert belief.n_known == 2
    assert belief.is_consistent
    belief.tell(0, 6, True, None)
    assert not belief.is_consistent
    belief.partition(None)
    assert belief.clusterer.n_fits_ == 2
    belief.partition(None)[0] = 9
    assert belief.partition(None)[0] == 0


def test_without_probabilities_rows_are_as_sure_as_they_are_near():
    belief = made()
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    centres = np.array([ROWS[labels == k].mean() for k in range(2)])
    spread = np.mean((ROWS[:, 0] - centres[labels]) ** 2)
    new = np.array([[5.0], [-3.0], [60.0]])
    np.testing.assert_allclose(belief.posterior(new), softmax(-((new - centres) ** 2) / spread))
    np.testing.assert_allclose(belief.posterior(sp.csr_array(new)), belief.posterior(new))
    P = softmax(-((ROWS - centres) ** 2) / spread)
    P[np.arange(7), labels] = np.maximum(P[np.arange(7), labels], P.max(axis=1) * (1 + 1e-9))
    np.testing.assert_allclose(belief.posterior(), P / P.sum(axis=1, keepdims=True))
    crossed = made(Signs(border=0.5))  # rows 1 and 2 are nearer to the other centre, and stay where the clusterer is
    assert crossed.posterior().argmax(axis=1).tolist() == [0, 1, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(crossed.posterior().sum(axis=1), 1.0)


def test_rows_that_are_their_own_centres_are_sure():
    belief = made(X=np.array([[0.0], [9.0]]))
    np.testing.assert_allclose(belief.posterior(), np.eye(2), atol=1e-6)
    one = made(X=np.array([[1.0], [1.0]]))
    np.testing.assert_array_equal(one.posterior(), [[1.0], [1.0]])


def test_probabilities_of_the_clusterer_are_taken_as_they_are():
    belief = made(Sure())
    np.testing.assert_allclose(belief.posterior(), np.repeat([[0.3, 0.7]], 7, axis=0))
    assert belief.posterior(ROWS[:2]).shape == (2, 2)


def test_sparse_rows_reach_the_clusterer_sparse():
    belief = made(X=sp.csr_array(ROWS))
    np.testing.assert_array_equal(belief.features, ROWS)
    assert belief.partition(None).tolist() == made().partition(None).tolist()
