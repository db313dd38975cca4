"""The compiled loop behind ranking loss and average precision; apart, so that only these two pay for compiling it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sidelight._core.kernels import kernel

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
