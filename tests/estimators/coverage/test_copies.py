"""Bags that are copies of others are held out together: a fit that saw one knows the other by heart."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.estimators.coverage import held_out
from sidelight.estimators.coverage.held_out import copies_together

X = np.random.default_rng(0).normal(size=(36, 3))
IDS = np.arange(36) // 3


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_copies_share_a_group_in_whatever_order_their_rows_come(as_rows):
    again = np.vstack([X, X[[5, 4, 3]], X[[0, 1]]])
    group = copies_together(as_rows(again), sl.Bags([*IDS, 12, 12, 12, 13, 13]))
    assert len(set(group[[3, 4, 5, 36, 37, 38]])) == 1
    assert group[39] not in group[:36]  # two rows of three are no copy
    assert len(set(group)) == 13


def test_near_copies_share_a_group_where_many_numbers_tell_bags():
    generator = np.random.default_rng(1)
    wide = generator.normal(size=(60, 40))
    ids = np.arange(60) // 3
    saved_again = wide[9:12] + 0.1 * generator.normal(size=(3, 40))
    group = copies_together(np.vstack([wide, saved_again]), sl.Bags([*ids, 20, 20, 20]))
    assert group[60] == group[9]
    assert len(set(group)) == 20
    narrow = np.vstack([wide[:, :5], saved_again[:, :5]])
    assert copies_together(narrow, sl.Bags([*ids, 20, 20, 20])) is None  # some lie so near by chance


def test_without_copies_nothing_changes():
    assert copies_together(X, sl.Bags(IDS)) is None
    assert copies_together(np.ones((8, 2)), sl.Bags(range(8))) is None  # all alike: no folds


def test_a_fit_deals_copies_into_one_fold(monkeypatch):
    seen = []
    own = held_out.copies_together

    def watched(rows, bags):
        seen.append(own(rows, bags))
        return seen[-1]

    monkeypatch.setattr(held_out, "copies_together", watched)
    rows, ids = np.vstack([X, X[:9]]), [*IDS, *(IDS[:9] + 12)]
    lists = {b: {"a"} if b % 2 else {"a", "b"} for b in range(12)} | {12: {"a", "b"}, 13: {"a"}, 14: {"a", "b"}}
    sl.CoverageClustering(random_state=0).fit(rows, bags=sl.Bags(ids, labels=lists))
    assert seen
    assert len(set(seen[0])) == 12
