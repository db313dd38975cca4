"""How well sets of labels were predicted: one row per bag or instance, one column per label.

Indicators are dense or sparse matrices of zeros and ones. Where a score is 0/0 the convention is that of scikit-learn:
a label that is neither true nor predicted has F1 = 0; a row with no labels, or with all, cannot be ranked wrong.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel
from sidelight.errors import InvalidData
from sidelight.metrics._checks import as_array, as_indicator, check_shapes

Floats = NDArray[np.float64]


Ints = NDArray[np.intp]


@kernel("Tuple((float64[::1], float64[::1]))(intp[::1], intp[::1], float64[:, ::1])")
def rank_rows(starts: Ints, labels: Ints, scores: Floats) -> tuple[Floats, Floats]:
    """Rank the labels of each row: the share of wrong pairs, and the mean precision at the true labels.

    The true labels of row i are ``labels[starts[i]:starts[i + 1]]``. Ties count against the answer.
    """
    n_rows, n_labels = scores.shape
    loss, precision = np.zeros(n_rows), np.ones(n_rows)
    for i in range(n_rows):
        n_true = starts[i + 1] - starts[i]
        if n_true == 0:
            continue
        n_wrong, share = 0, 0.0
        for k in range(starts[i], starts[i + 1]):
            score = scores[i, labels[k]]
            n_above, n_true_above = 0, 0
            for label in range(n_labels):
                if scores[i, label] >= score:
                    n_above += 1
            for m in range(starts[i], starts[i + 1]):
                if scores[i, labels[m]] >= score:
                    n_true_above += 1
            n_wrong += n_above - n_true_above
            share += n_true_above / n_above
        precision[i] = share / n_true
        if n_true < n_labels:
            loss[i] = n_wrong / (n_true * (n_labels - n_true))
    return loss, precision


def micro_f1(Y_true: Any, Y_pred: Any) -> float:
    """Compute F1 over all entries of the matrix, so that frequent labels weigh more.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_rows, n_labels)
        Zeros and ones.

    Examples
    --------
    >>> from sidelight.metrics import micro_f1
    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    both, true, pred, _ = _label_counts("micro_f1", Y_true, Y_pred)
    return float(2 * both.sum() / max(true.sum() + pred.sum(), 1))


def macro_f1(Y_true: Any, Y_pred: Any) -> float:
    """Compute the mean of each label's F1, so that rare labels weigh as much as frequent ones.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_rows, n_labels)
        Zeros and ones.

    Examples
    --------
    >>> from sidelight.metrics import macro_f1
    >>> round(macro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]]), 4)
    0.8333
    """
    both, true, pred, _ = _label_counts("macro_f1", Y_true, Y_pred)
    return float(np.mean(2 * both / np.maximum(true + pred, 1)))


def hamming_loss(Y_true: Any, Y_pred: Any) -> float:
    """Compute the share of entries of the matrix that are wrong.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_rows, n_labels)
        Zeros and ones.

    Examples
    --------
    >>> from sidelight.metrics import hamming_loss
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    both, true, pred, n_rows = _label_counts("hamming_loss", Y_true, Y_pred)
    return float((true + pred - 2 * both).sum() / (n_rows * len(both)))


def ranking_loss(Y_true: Any, scores: Any) -> float:
    """Compute the mean share of (true, false) label pairs of a row that are ranked the wrong way round, ties included.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_rows, n_labels)
        Zeros and ones.
    scores : array-like of shape (n_rows, n_labels)
        Higher means more likely.

    Examples
    --------
    >>> from sidelight.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.9, 0.1]])
    0.5
    """
    return float(_ranked("ranking_loss", Y_true, scores)[0].mean())


def average_precision(Y_true: Any, scores: Any) -> float:
    """Compute the mean over true labels of the share of true ones among the labels ranked as high or higher.

    This is the label-ranking average precision, averaged over each row's true labels and then over rows.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_rows, n_labels)
        Zeros and ones.
    scores : array-like of shape (n_rows, n_labels)
        Higher means more likely.

    Examples
    --------
    >>> from sidelight.metrics import average_precision
    >>> average_precision([[1, 0, 0]], [[0.5, 0.9, 0.1]])
    0.5
    """
    return float(_ranked("average_precision", Y_true, scores)[1].mean())


class _Counts(NamedTuple):
    """For each label, the number of rows where it is true and predicted, true, and predicted."""

    both: NDArray[np.int64]
    true: NDArray[np.int64]
    pred: NDArray[np.int64]
    n_rows: int


def _label_counts(judge: str, Y_true: Any, Y_pred: Any) -> _Counts:
    true, pred = as_indicator(judge, "Y_true", Y_true), as_indicator(judge, "Y_pred", Y_pred)
    check_shapes(judge, Y_true=true, Y_pred=pred)
    is_sparse = [hasattr(Y, "tocsr") for Y in (true, pred)]
    if all(is_sparse):
        both = true.multiply(pred)
    elif any(is_sparse):
        both = true.multiply(pred) if is_sparse[0] else pred.multiply(true)
    else:
        both = true & pred
    both, per_true, per_pred = (np.asarray(Y.sum(axis=0), dtype=np.int64).reshape(-1) for Y in (both, true, pred))
    return _Counts(both, per_true, per_pred, true.shape[0])


def _ranked(judge: str, Y_true: Any, scores: Any) -> tuple[Floats, Floats]:
    """Compute ranking loss and average precision of each row."""
    true = as_indicator(judge, "Y_true", Y_true)
    scores = np.ascontiguousarray(as_array(judge, "scores", scores, np.float64))
    if scores.ndim != 2:
        raise InvalidData(f"{judge} needs scores as a matrix, one row per row of Y_true; got shape {scores.shape}.")
    check_shapes(judge, Y_true=true, scores=scores)
    if np.isnan(scores).any():
        row, label = np.argwhere(np.isnan(scores))[0]
        raise InvalidData(f"{judge}: the score of label {label} in row {row} is NaN. Give every label a score.")

    if hasattr(true, "tocsr"):
        starts, labels = true.indptr, true.indices
    else:
        labels = np.flatnonzero(true) % true.shape[1]
        starts = np.concatenate([[0], np.cumsum(true.sum(axis=1))])
    return rank_rows(starts.astype(np.intp), labels.astype(np.intp), scores)
