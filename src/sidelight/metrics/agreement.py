"""How well clusters agree with classes: all from the non-zero cells of one table of counts, in memory O(rows).

The names of clusters never matter. A pair of rows is "together" when both rows carry the same label.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sidelight._core.matching import match_rows
from sidelight._core.simplex import entropy
from sidelight.metrics._checks import meet


class PairScores(NamedTuple):
    """Precision, recall and their harmonic mean over pairs of rows."""

    precision: float
    recall: float
    f: float


def normalized_mutual_information(labels_true: Any, labels_pred: Any) -> float:
    """Compute NMI = 2 I(X; C) / (H(X) + H(C)), the arithmetic mean of [PF14] eq. (15).

    Parameters
    ----------
    labels_true, labels_pred : array-like of hashable, shape (n_rows,)
        Class and cluster of each row.

    Returns
    -------
    float
        Between 0 (independent) and 1 (the same partition, also when both have only one part).

    Examples
    --------
    >>> from sidelight.metrics import normalized_mutual_information
    >>> normalized_mutual_information(["wren", "wren", "owl"], [1, 1, 0])
    1.0
    """
    table = meet("normalized_mutual_information", labels_true=labels_true, labels_pred=labels_pred)
    if len(table.counts) == table.shape[0] == table.shape[1]:
        return 1.0  # the same partition, without rounding; 0/0 when it has one part
    p = table.counts / table.total
    row, column = table.row_totals / table.total, table.column_totals / table.total
    information = (p * (np.log(p) - np.log(row)[table.rows] - np.log(column)[table.columns])).sum()
    return float(np.clip(2 * information / (entropy(row) + entropy(column)), 0.0, 1.0))  # rounding leaves by 1e-16


def purity(labels_true: Any, labels_pred: Any) -> float:
    """Compute the share of rows that belong to the most frequent class of their cluster, [PF14] eq. (16).

    It rises with the number of clusters: compare only answers with equally many.

    Parameters
    ----------
    labels_true, labels_pred : array-like of hashable, shape (n_rows,)
        Class and cluster of each row.

    Examples
    --------
    >>> from sidelight.metrics import purity
    >>> purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    table = meet("purity", labels_pred=labels_pred, labels_true=labels_true)
    return int(table.row_largest().sum()) / table.total


def pair_precision_recall_f(labels_true: Any, labels_pred: Any) -> PairScores:
    """Judge the pairs of rows that are together: which of the found ones are true, which of the true ones are found.

    When neither side puts any two rows together they agree, and all three are 1; when only one side does, all are 0.

    Parameters
    ----------
    labels_true, labels_pred : array-like of hashable, shape (n_rows,)
        Class and cluster of each row.

    Returns
    -------
    PairScores
        ``precision``, ``recall``, ``f``.

    Examples
    --------
    >>> from sidelight.metrics import pair_precision_recall_f
    >>> pair_precision_recall_f(["a", "a", "b", "b"], [0, 0, 0, 1])
    PairScores(precision=0.3333333333333333, recall=0.5, f=0.4)
    """
    table = meet("pair_precision_recall_f", labels_true=labels_true, labels_pred=labels_pred)
    return pair_scores(n_pairs(table.counts), n_pairs(table.column_totals), n_pairs(table.row_totals))


def adjusted_rand_index(labels_true: Any, labels_pred: Any) -> float:
    """Compute the share of pairs both sides agree on, corrected for chance: 0 on average for random labels, at most 1.

    Parameters
    ----------
    labels_true, labels_pred : array-like of hashable, shape (n_rows,)
        Class and cluster of each row.

    Examples
    --------
    >>> from sidelight.metrics import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    table = meet("adjusted_rand_index", labels_true=labels_true, labels_pred=labels_pred)
    together = n_pairs(table.counts)
    true, clustered = n_pairs(table.row_totals), n_pairs(table.column_totals)
    everything = table.total * (table.total - 1) // 2
    # (together - expected) / ((true + found) / 2 - expected), expected = true * found / everything, in whole numbers
    above = 2 * (together * everything - true * clustered)
    below = (true + clustered) * everything - 2 * true * clustered
    return above / below if below else 1.0  # both sides in one part, or both in singletons


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Compute the accuracy after the best one-to-one assignment of clusters to classes.

    Rows of clusters that no class is left for count as wrong.

    Parameters
    ----------
    labels_true, labels_pred : array-like of hashable, shape (n_rows,)
        Class and cluster of each row.

    Examples
    --------
    >>> from sidelight.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [7, 7, 7, 3])
    0.75
    """
    table = meet("clustering_accuracy", labels_pred=labels_pred, labels_true=labels_true)
    return n_matched(table) / table.total


def n_matched(table: Any) -> int:
    """Count the rows on the diagonal once clusters are matched to classes as well as possible."""
    matched = match_rows(table)
    return int(table.counts[matched[table.rows] == table.columns].sum())


def n_pairs(counts: Any) -> int:
    """Count the pairs inside groups of these sizes."""
    counts = np.asarray(counts, dtype=np.int64)
    return int((counts * (counts - 1) // 2).sum())


def pair_scores(both: int, found: int, true: int) -> PairScores:
    """Compute precision, recall and F from the pairs on both sides, the found ones and the true ones."""
    if found == 0 and true == 0:
        return PairScores(1.0, 1.0, 1.0)
    return PairScores(both / found if found else 0.0, both / true if true else 0.0, 2 * both / (found + true))
