"""The bag constraint Q = B(Y'Y - mu I)B' of [PF14] eq. (12), as a product that never forms Q or Y'Y.

B (rows x bags) says which bag a row is in; column i of Y (classes x bags) is 1/|Y_i| on the labels of bag i and 0
without labels. Every variant acts on bag sums alone, so a product costs O(n_rows + nnz(Y)) and returns one value per
bag, repeated for its rows:

    printed     (Y'Y - mu I) b                  [PF14] eq. (12), table 1
    centred     Y'Y b - mu 1 (1'b)              what eq. (9) really sums to: appendix A drops the cross terms
    ambiguous   the must-link entries are 0     "CSP w.o.clml": blocks of single-label bags are taken out

with b = B'v and mu = |sum_i y_i|^2 / M^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from sidelight.data.bags import Bags


@dataclass(frozen=True, slots=True)
class BagConstraint:
    """The operator Q for the rows whose bags are ``codes``.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The bag of each row.
    Y : CSR of shape (n_classes, n_bags)
        The label weights of each bag, one column per bag.
    mu : float
        The mean of Y'Y.
    centred : bool
        Subtract mu from all pairs of rows instead of from pairs inside one bag.
    single : CSR of shape (n_classes, n_bags) or None
        For ``constraints="ambiguous"``: 1 where a bag carries that label and no other; these blocks are zeroed.
    gather : CSR of shape (n_bags, n_rows)
        B', which adds up the rows of each bag.
    """

    codes: np.ndarray
    Y: Any
    mu: float
    centred: bool
    single: Any
    gather: Any

    @classmethod
    def from_bags(
        cls, bags: Bags, *, ambiguous_only: bool = False, centred: bool = False, dtype: Any = np.float64
    ) -> Self:
        """Read the label sets of ``bags``; an unlabelled bag has y = 0."""
        labels_of_bag = bags.label_matrix
        counts = np.maximum(np.diff(labels_of_bag.indptr), 1)
        Y = sparse.diags_array(1.0 / counts) @ labels_of_bag
        total = np.asarray(Y.sum(axis=0)).ravel()
        single = None
        if ambiguous_only:
            alone = (np.diff(labels_of_bag.indptr) == 1) & ~bags.is_partial
            single = sparse.diags_array(alone.astype(np.float64)) @ labels_of_bag
            single = single.T.tocsr().astype(dtype)
        mu = float(total @ total) / bags.n_bags**2
        return cls(bags.codes, Y.T.tocsr().astype(dtype), mu, centred, single, _gather(bags.codes, bags.n_bags, dtype))

    @property
    def dtype(self) -> Any:
        """The float type of the products."""
        return self.Y.dtype

    @property
    def is_empty(self) -> bool:
        """Whether no bag carries a label, so that Q = 0."""
        return self.Y.nnz == 0

    def take(self, rows: np.ndarray) -> Self:
        """Return the constraint among ``rows`` only; mu stays that of all bags."""
        codes = self.codes[rows]
        gather = _gather(codes, self.Y.shape[1], self.dtype)
        return type(self)(codes, self.Y, self.mu, self.centred, self.single, gather)

    def couplings(self) -> list[Any]:
        """Return what couples rows, as (things x rows): bags, because of mu, and classes; the centred form all rows."""
        if self.is_empty:
            return []
        if self.centred:
            return [sparse.csr_array(np.ones((1, len(self.codes))))]
        return [self.gather, self.Y @ self.gather]

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return Q @ V for a vector or a block of vectors."""
        return self.spread(self.bag_product(self.gather @ V))

    def spread(self, b: np.ndarray) -> np.ndarray:
        """Return B @ b: the value of each row's bag."""
        return np.take(b, self.codes, axis=0)

    def bag_product(self, b: np.ndarray) -> np.ndarray:
        """Return the constraint among bags applied to bag sums ``b``."""
        out = self.Y.T @ (self.Y @ b)
        inside = b
        if self.single is not None:
            out -= self.single.T @ (self.single @ b)
            alone = np.asarray(self.single.sum(axis=0)).ravel()
            inside = b * (1.0 - (alone if b.ndim == 1 else alone[:, None]))
        mu = self.dtype.type(self.mu)
        return out - mu * (b.sum(axis=0) if self.centred else inside)


def _gather(codes: np.ndarray, n_bags: int, dtype: Any) -> Any:
    n_rows = len(codes)
    ends = np.arange(n_rows + 1, dtype=np.int32 if n_rows < 2**31 else np.int64)
    B = sparse.csr_array((np.ones(n_rows, dtype=dtype), codes.astype(ends.dtype), ends), shape=(n_rows, n_bags))
    return B.T.tocsr()
