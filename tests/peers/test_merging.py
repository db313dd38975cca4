"""Merging groups of rows: the same tree as scipy's, and group distances equal to those over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.metrics import adjusted_rand_score

from sidelight.peers.sources.agglomerative import group_distances, merge


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_group_distances_are_those_over_all_pairs(linkage):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 3)) + 100.0, rng.permutation(np.repeat(np.arange(5), 12))
    fast = group_distances(X, groups, 5, linkage, block=7)
    of = {"single": np.min, "complete": np.max, "average": np.mean}[linkage]
    for p in range(5):
        for q in range(5):
            if p != q:
                assert fast[p, q] == pytest.approx(of(cdist(X[groups == p], X[groups == q])))


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_merging_single_rows_is_scipys_linkage(linkage):
    X = np.random.default_rng(1).normal(size=(40, 2))
    D = group_distances(X, np.arange(40), 40, linkage)
    np.fill_diagonal(D, 0.0)
    labels, heights = merge(D, np.ones(40, dtype=np.intp), 6, linkage)
    theirs = scipy_linkage(squareform(D, checks=False), linkage)
    assert adjusted_rand_score(labels, fcluster(theirs, 6, "maxclust")) == 1.0
    np.testing.assert_allclose(heights, theirs[:34, 2])
