"""What follows from answers that are all right: clusters, what stays open, and what contradicts."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.active.consequences import OPEN, consequences_of

SAME, DIFFERENT = 1, 0


def labels_of(links, n_asked, n_clusters=None, openers=()):
    settled = consequences_of(np.array(links), n_asked, n_clusters, openers)
    return None if settled is None else settled.labels.tolist()


def test_a_row_that_differs_from_every_cluster_opens_one():
    assert labels_of([(0, 1, DIFFERENT), (2, 0, DIFFERENT), (2, 1, DIFFERENT)], 3) == [0, 1, 2]


def test_a_row_compared_with_some_clusters_stays_open():
    assert labels_of([(0, 1, DIFFERENT), (2, 0, DIFFERENT)], 3) == [0, 1, OPEN]
    settled = consequences_of(np.array([(0, 1, DIFFERENT), (2, 0, DIFFERENT)]), 3, None)
    assert settled.excluded[2].tolist() == [True, False]


def test_the_last_cluster_left_needs_no_question_if_their_number_is_known():
    assert labels_of([(0, 1, DIFFERENT), (2, 0, DIFFERENT)], 3, n_clusters=2) == [0, 1, 1]
    assert labels_of([(0, 1, DIFFERENT), (2, 0, DIFFERENT), (3, 2, SAME)], 4, n_clusters=2) == [0, 1, 1, 1]


def test_a_believed_founder_is_a_cluster_until_answers_join_it():
    links = [(0, 1, DIFFERENT), (2, 0, DIFFERENT)]
    assert labels_of(links, 3, openers=(0, 1, 2)) == [0, 1, 2]
    assert labels_of([*links, (2, 1, SAME)], 3, openers=(0, 1, 2)) == [0, 1, 1]


def test_clusters_stay_in_the_order_in_which_they_were_opened():
    """Row 3 differs from clusters 0 and 2; it must not take the place of row 1, with which it was not compared."""
    links = [(0, 1, DIFFERENT), (0, 2, DIFFERENT), (1, 2, DIFFERENT), (3, 0, DIFFERENT), (3, 2, DIFFERENT)]
    assert labels_of(links, 4, openers=(0, 1, 2)) == [0, 1, 2, OPEN]
    assert labels_of(links, 4, n_clusters=3, openers=(0, 2, 1)) == [0, 2, 1, 2]


@pytest.mark.parametrize(
    ("links", "n_clusters"),
    [
        ([(0, 1, SAME), (1, 2, SAME), (0, 2, DIFFERENT)], None),
        ([(0, 1, DIFFERENT), (2, 0, DIFFERENT), (2, 1, DIFFERENT)], 2),
        ([(0, 1, DIFFERENT), (2, 0, DIFFERENT), (3, 0, DIFFERENT), (2, 3, DIFFERENT)], 2),
    ],
)
def test_contradictions_settle_nothing(links, n_clusters):
    assert labels_of(links, 4, n_clusters) is None


def test_exact_answers_leave_no_doubt_and_no_cluster_too_many():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], 15)
    X = generator.normal(size=(60, 2)) + 3.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[y]  # they overlap
    session = sl.ActiveSession(X, random_state=0)
    session.run(sl.Oracle(y), budget=45)
    belief = session._belief
    assert belief.is_consistent
    assert session.eps_ == 0.0
    placed = np.array(belief.rows)[belief.is_placed]
    for cluster in range(belief.n_known):
        assert len(set(y[placed[belief.labels[belief.is_placed] == cluster]])) == 1
