"""What no judge can score is refused with a message, never with an error from the depths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight import metrics
from sidelight.errors import InvalidInput

REFUSED = {
    "known is nothing": (lambda: metrics.novel_instance_f1([0], [0], None), "'known'.*None"),
    "known is a number": (lambda: metrics.novel_instance_f1([0], [0], 3), "'known'.*3"),
    "known cannot be hashed": (lambda: metrics.novel_instance_f1([0], [0], [[1]]), "'known'"),
    "ragged truth": (lambda: metrics.micro_f1([[1], [1, 0]], [[1], [0]]), "Y_true as an array, rows of equal length"),
    "ragged bags": (lambda: metrics.novel_bag_f1([[1], [0]], [[1], [1, 0]]), "Y_pred as an array"),
    "scores in words": (lambda: metrics.ranking_loss([[1, 0]], [["a", "b"]]), "scores as an array, numbers"),
    "ragged scores": (lambda: metrics.average_precision([[1], [0]], [[1.0], [1.0, 2.0]]), "scores as an array"),
    "ragged tree": (lambda: metrics.robinson_foulds([[1], [1, 2]], [-1]), "tree_true as an array"),
    "labels in words": (lambda: metrics.single_cluster_share([0, 0], ["a", "a"], ["two"]), "n_labels as an array"),
    "labels unknown": (lambda: metrics.single_cluster_share([0, 0], ["a", "a"], [np.nan]), "bag 'a' is NaN"),
    "table of words": (lambda: metrics.information_loss([["a"]], [[0], [0]]), "table as an array"),
    "no clusters": (lambda: metrics.information_loss([[1]], None), "one array per axis.*got None"),
    "said alone": (lambda: metrics.expected_calibration_error(0.5, 1), "one probability from 0 to 1"),
    "right in rows": (lambda: metrics.expected_calibration_error([0.5], [[1]]), "one yes or no"),
    "bins without end": (lambda: metrics.expected_calibration_error([0.5], [1], n_bins=10**12), "n_bins"),
    "said beyond 1": (lambda: metrics.expected_calibration_error([1.5], [1]), "one probability from 0 to 1"),
    "said of other rows": (lambda: metrics.expected_calibration_error([0.5], [1, 0]), "said has 1, right has 2"),
    "axes without names": (lambda: metrics.information_loss([[1]], {"rows": [0]}), "only the axes of a CoOccurrence"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_judged_is_refused_by_name(case: str) -> None:
    judge, message = REFUSED[case]
    with pytest.raises(InvalidInput, match=message):
        judge()


def test_sparse_scores_are_ranked_like_dense_ones() -> None:
    Y, scores = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.5, 0.0, 0.2], [0.3, 0.1, 0.0]])
    assert metrics.ranking_loss(Y, csr_array(scores)) == metrics.ranking_loss(Y, scores) == 0.25
