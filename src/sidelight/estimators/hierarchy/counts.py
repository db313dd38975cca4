"""How often pairs of labels were seen together, over the rows where both were looked at.

All matrices are [p, c]: p the parent, c the child of a candidate edge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]
Entries = NDArray[np.int8]

_BLOCK = 1 << 15  # rows counted together: float32 counts exactly far beyond it


class PairCounts(NamedTuple):
    """Counts over rows in which both labels of a pair were checked."""

    both: Floats  # both seen
    child: Floats  # c seen
    parent: Floats  # p seen
    rows: Floats  # looked at

    @property
    def seen(self) -> Floats:
        """How often each label was seen at all."""
        return np.diag(self.both).copy()

    @property
    def rate(self) -> Floats:
        """The share r of p among the rows where c was seen."""
        return self.both / np.maximum(self.child, 1.0)

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Whether p and c are seen together more often than by chance."""
        positive: NDArray[np.bool_] = self.both * self.rows > self.parent * self.child
        return positive


def count_pairs(Z: Entries, weights: Floats | None = None) -> PairCounts:
    """Count all pairs of columns of Z (1 seen, 0 not seen, -1 not checked), in blocks of rows.

    With ``weights``, rows of Z are distinct rows of labels and each counts as often as its weight says.
    """
    n_labels = Z.shape[1]
    is_complete = not (Z < 0).any()
    both, child, rows = np.zeros((3, n_labels, n_labels))
    for start in range(0, len(Z), _BLOCK):
        block = Z[start : start + _BLOCK]
        times: Any = 1 if weights is None else weights[start : start + _BLOCK, None]
        seen = (block == 1).astype(np.float32)
        both += seen.T @ (seen * times)
        if not is_complete:
            known = (block >= 0).astype(np.float32)
            child += known.T @ (seen * times)
            rows += known.T @ (known * times)
    if is_complete:
        child = np.broadcast_to(np.diag(both), both.shape).copy()
        rows = np.full_like(both, len(Z) if weights is None else weights.sum())
    return PairCounts(both, child, child.T.copy(), rows)


def association(counts: PairCounts) -> Floats:
    """Compute G = n times the mutual information of a pair, in nats; -1 where it is not positive."""
    only_child = counts.child - counts.both
    only_parent = counts.parent - counts.both
    neither = counts.rows - counts.both - only_child - only_parent
    G = (
        _share(counts.both, counts.parent, counts.child, counts.rows)
        + _share(only_parent, counts.parent, counts.rows - counts.child, counts.rows)
        + _share(only_child, counts.rows - counts.parent, counts.child, counts.rows)
        + _share(neither, counts.rows - counts.parent, counts.rows - counts.child, counts.rows)
    )
    return np.where(counts.is_positive, G, -1.0)


def mutual_information(counts: PairCounts) -> Floats:
    """Compute G = n times the mutual information of each pair, whatever the sign of the association."""
    signed = association(counts)
    if (signed >= 0).all():
        return signed
    # swap the child's states: the information is the same and a negative association becomes positive
    swapped = PairCounts(counts.parent - counts.both, counts.rows - counts.child, counts.parent, counts.rows)
    return np.maximum(np.maximum(signed, association(swapped)), 0.0)


def _share(cell: Floats, row: Floats, column: Floats, total: Floats) -> Floats:
    tiny = 1e-300  # keeps log finite where the cell is 0 and counts nothing
    return np.asarray(xlogy(cell, np.maximum(cell, tiny) * total / np.maximum(row * column, tiny)))


def divergence(r: Floats, q: Floats | float) -> Floats:
    """Compute KL(r | q) of two coins."""
    tiny = 1e-300  # keeps log finite where the coin never falls that way and counts nothing
    return np.asarray(xlogy(r, np.maximum(r, tiny) / q) + xlogy(1 - r, np.maximum(1 - r, tiny) / (1 - q)))


def unique_rows(Z: Entries) -> tuple[Entries, Floats]:
    """Return the distinct rows of Z and how often each occurs."""
    Z = np.ascontiguousarray(Z)
    as_one = Z.view(np.dtype((np.void, Z.shape[1]))).ravel()
    _, first, count = np.unique(as_one, return_index=True, return_counts=True)
    return np.ascontiguousarray(Z[first]), count.astype(np.float64)
