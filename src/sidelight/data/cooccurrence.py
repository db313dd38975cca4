"""Counts of things that happened together, over two or more named axes.

The table is sparse and kept in one normal form (cells sorted, no duplicates, no zeros), so that two tables are equal
exactly when they say the same. Information is in nats unless bits are asked for. ``table_forms`` reads what tables are
made of, ``counting`` counts large event tables in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.params import check_choice
from sidelight.data import table_forms
from sidelight.data.counting import add_up, coalesce
from sidelight.data.frozen import Frozen
from sidelight.data.summaries import table_html
from sidelight.data.table_forms import (
    as_clusters,
    axis_index,
    checked_axes,
    checked_coords,
    checked_counts,
    checked_labels,
    checked_sizes,
)
from sidelight.errors import InvalidData
from sidelight.words import counted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Unit = Literal["nats", "bits"]
_PER_UNIT = {"nats": 1.0, "bits": float(np.log(2.0))}


class CoOccurrence(Frozen):
    """Sparse counts over named axes: how often each combination of codes was seen.

    Most tables are made by :meth:`from_codes`, :meth:`from_table`, :meth:`from_batches` or :meth:`from_matrix`.

    Parameters
    ----------
    axes : sequence of str
        A name for each axis, at least two.
    coords : sequence of int arrays
        One array of codes per axis; position ``m`` of each names the cell of ``counts[m]``.
    counts : array-like of float
        Finite, non-negative, not all zero. Counts of the same cell are added up.
    shape : sequence of int
        How many codes each axis has.
    labels : mapping of str to sequence, optional
        Names of the codes of an axis; axes may be missing.

    Attributes
    ----------
    axes : tuple of str
    shape : tuple of int
    coords : tuple of ndarray of intp
        Cells in lexicographic order, read-only.
    counts : ndarray of float64
        Positive, read-only.
    labels : dict of str to tuple or None
        Names of the codes, None where an axis has none.

    Examples
    --------
    >>> import sidelight as sl
    >>> table = sl.CoOccurrence.from_codes({"face": [0, 0, 1, 1], "upper": [0, 0, 1, 0]})
    >>> table
    CoOccurrence(face: 2, upper: 2; 3 cells, total 4)
    >>> table.marginal("upper")
    array([3., 1.])
    >>> round(table.mutual_information("face", "upper", unit="bits"), 4)
    0.3113
    """

    axes: tuple[str, ...]
    coords: tuple[NDArray[np.intp], ...]
    counts: NDArray[np.float64]
    shape: tuple[int, ...]
    labels: Mapping[str, tuple[Any, ...] | None]

    def __init__(
        self,
        axes: Sequence[str],
        coords: Sequence[ArrayLike],
        counts: ArrayLike,
        shape: Sequence[int],
        labels: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        names = checked_axes(axes)
        sizes = checked_sizes(names, shape)
        values = checked_counts(counts)
        codes = checked_coords(names, coords, sizes, len(values))
        cells, merged = coalesce(codes, values, sizes)
        if not len(merged):
            raise InvalidData(
                "CoOccurrence: every count is zero, so nothing was seen together. Bring at least one positive count."
            )
        for array in cells:
            array.setflags(write=False)
        named = checked_labels(names, sizes, {} if labels is None else labels)
        self.__setstate__({"axes": names, "coords": cells, "counts": merged, "shape": sizes, "labels": named})

    # ---- where tables come from

    @classmethod
    def from_codes(
        cls,
        codes: Mapping[str, ArrayLike],
        sizes: Mapping[str, int] | None = None,
        weights: ArrayLike | None = None,
        labels: Mapping[str, Sequence[Any]] | None = None,
    ) -> CoOccurrence:
        """Count integer codes recorded together: position ``i`` of every array is one event.

        Parameters
        ----------
        codes : mapping of str to array of int
            One array of codes, from 0 on, per axis; all of the same length.
        sizes : mapping of str to int, optional
            How many codes an axis has; the largest code plus one where missing.
        weights : array-like, optional
            What each event counts for; 1 by default.
        labels : mapping of str to sequence, optional
            Names of the codes.

        Examples
        --------
        >>> import sidelight as sl
        >>> sl.CoOccurrence.from_codes({"word": [0, 2], "page": [1, 1]}, sizes={"word": 5}).shape
        (5, 2)
        """
        return cls(*table_forms.read_codes(codes, sizes, weights, labels))

    @classmethod
    def from_table(
        cls, table: Any, axes: Sequence[str] | None = None, *, weights: str | None = None, batch_rows: int = 1_000_000
    ) -> CoOccurrence:
        """Count the rows of an event table: one row is one event.

        Parameters
        ----------
        table : data frame (pandas, polars, arrow) or mapping of str to array
            The columns hold names of any sortable or hashable kind; a missing value is an error.
        axes : sequence of str, optional
            The columns to count, in the order of the axes; all (but ``weights``) by default.
        weights : str, optional
            A column that says what each row counts for.
        batch_rows : int
            How many rows are looked at together; more cost memory, fewer cost time.

        Examples
        --------
        >>> import sidelight as sl
        >>> seen = {"who": ["ann", "bob", "ann"], "where": ["hall", "hall", "yard"]}
        >>> sl.CoOccurrence.from_table(seen).labels["who"]
        ('ann', 'bob')
        """
        return cls(*table_forms.read_table(table, axes, weights, batch_rows))

    @classmethod
    def from_batches(
        cls, batches: Iterable[Any], axes: Sequence[str] | None = None, *, weights: str | None = None
    ) -> CoOccurrence:
        """Count an event table that comes in pieces and never as a whole.

        Memory grows with the number of different combinations, not with the number of rows. The result does not
        depend on where the table was cut.

        Parameters
        ----------
        batches : iterable of data frames or mappings
            Each piece as for :meth:`from_table`.
        axes : sequence of str, optional
            The columns to count; those of the first piece (but ``weights``) by default.
        weights : str, optional
            A column that says what each row counts for.

        Examples
        --------
        >>> import sidelight as sl
        >>> pieces = ({"who": ["ann", "bob"], "where": [place, place]} for place in ("hall", "yard"))
        >>> sl.CoOccurrence.from_batches(pieces).total
        4.0
        """
        return cls(*table_forms.read_batches(batches, axes, weights))

    @classmethod
    def from_matrix(
        cls, matrix: Any, axes: Sequence[str] | None = None, labels: Mapping[str, Sequence[Any]] | None = None
    ) -> CoOccurrence:
        """Take a matrix (or an N-way array) of counts as it is.

        Parameters
        ----------
        matrix : array-like, sparse matrix or sparse array, or data frame
            Non-negative counts; sparse input stays sparse.
        axes : sequence of str, optional
            ``("rows", "columns")`` by default, ``("axis0", "axis1", ...)`` beyond two.
        labels : mapping of str to sequence, optional
            Names of the codes; by default the names of the columns (and of the rows, in pandas) of a data frame.

        Examples
        --------
        >>> import sidelight as sl
        >>> sl.CoOccurrence.from_matrix([[2, 0], [1, 4]], axes=("document", "term"))
        CoOccurrence(document: 2, term: 2; 3 cells, total 7)
        """
        return cls(*table_forms.read_matrix(matrix, axes, labels))

    # ---- what a table says

    @property
    def n_axes(self) -> int:
        """How many axes there are."""
        return len(self.axes)

    @property
    def nnz(self) -> int:
        """How many cells are not zero."""
        return len(self.counts)

    @property
    def total(self) -> float:
        """The sum of all counts."""
        return float(self.counts.sum())

    def marginal(self, axis: str) -> NDArray[np.float64]:
        """Return the counts of one axis, summed over all others."""
        i = axis_index(self.axes, axis)
        return add_up(self.coords[i], self.counts, self.shape[i])

    def margin(self, a: str, b: str) -> CoOccurrence:
        """Return the two-way table of axes ``a`` and ``b``, summed over all others."""
        i, j = self._pair(a, b)
        kept = {name: names for name in (a, b) if (names := self.labels[name]) is not None}
        return CoOccurrence((a, b), (self.coords[i], self.coords[j]), self.counts, (self.shape[i], self.shape[j]), kept)

    def normalized(self) -> CoOccurrence:
        """Return the table divided by its total: the joint distribution P."""
        return self._with(self.coords, self.counts / self.counts.sum(), self.shape, self._named())

    def aggregate(self, clusters: Mapping[str, ArrayLike]) -> CoOccurrence:
        """Add up the codes of each cluster: the cluster table of [B04] eq. (1.1), for any number of axes.

        Parameters
        ----------
        clusters : mapping of str to array
            For an axis, the cluster of each of its codes: integers from 0 on, or names. Axes not mentioned stay.

        Examples
        --------
        >>> import sidelight as sl
        >>> table = sl.CoOccurrence.from_matrix([[2, 0], [1, 4], [0, 3]])
        >>> table.aggregate({"rows": ["a", "b", "b"]}).to_csr().toarray()
        array([[2., 0.],
               [1., 7.]])
        """
        if not isinstance(clusters, Mapping):
            raise InvalidData(
                f"CoOccurrence.aggregate needs a mapping of axis to clusters, as in {{{self.axes[0]!r}: [...]}}; "
                f"got {type(clusters).__name__}."
            )
        coords, shape, labels = list(self.coords), list(self.shape), self._named()
        for axis, of_code in clusters.items():
            i = axis_index(self.axes, axis)
            mapping, names = as_clusters(axis, of_code, self.shape[i])
            coords[i] = mapping[coords[i]]
            shape[i] = len(names) if names is not None else int(mapping.max()) + 1
            labels.pop(axis, None)
            if names is not None:
                labels[axis] = names
        return self._with(coords, self.counts, shape, labels)

    def mutual_information(self, a: str | None = None, b: str | None = None, *, unit: Unit = "nats") -> float:
        """Return what one axis says about another: D_KL(P(a, b) || P(a) P(b)).

        Parameters
        ----------
        a, b : str, optional
            The axes; may be left out when there are only two.
        unit : {"nats", "bits"}
            The unit of information.
        """
        if a is None and b is None and self.n_axes == 2:
            a, b = self.axes
        if a is None or b is None:
            raise InvalidData(
                f"CoOccurrence.mutual_information needs two axes of {', '.join(map(repr, self.axes))}: name both."
            )
        return self.margin(a, b).total_correlation(unit=unit)

    def total_correlation(self, *, unit: Unit = "nats") -> float:
        """Return D_KL(P || product of its marginals): the mutual information of any number of axes.

        Parameters
        ----------
        unit : {"nats", "bits"}
            The unit of information.
        """
        check_choice("CoOccurrence.total_correlation", "unit", unit, tuple(_PER_UNIT))
        p = self.counts / self.counts.sum()
        log_q = np.zeros_like(p)
        for i in range(self.n_axes):
            log_q += np.log(add_up(self.coords[i], p, self.shape[i])[self.coords[i]])
        return max(0.0, float(p @ (np.log(p) - log_q))) / _PER_UNIT[unit]  # rounding can leave -1e-17 where 0 is due

    def to_csr(self) -> csr_array:
        """Return a two-way table as a SciPy CSR array."""
        if self.n_axes != 2:
            raise InvalidData(
                f"CoOccurrence.to_csr needs two axes, but this table has {self.n_axes}: "
                f"{', '.join(map(repr, self.axes))}. Take a margin first, as in table.margin"
                f"({self.axes[0]!r}, {self.axes[1]!r}).to_csr()."
            )
        from scipy.sparse import csr_array  # half a second that small tables of other kinds need not wait for

        return csr_array((self.counts.copy(), self.coords), shape=self.shape)

    def to_array(self) -> NDArray[np.float64]:
        """Return the table as a dense array; mind its size."""
        dense = np.zeros(self.shape)
        dense[self.coords] = self.counts
        return dense

    # ---- comparison, looks, files

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoOccurrence):
            return NotImplemented
        return (
            (self.axes, self.shape, self.labels) == (other.axes, other.shape, other.labels)
            and np.array_equal(self.counts, other.counts)
            and all(np.array_equal(mine, theirs) for mine, theirs in zip(self.coords, other.coords))
        )

    __hash__ = None  # type: ignore[assignment]  # compared by value, and values are arrays

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size}" for name, size in zip(self.axes, self.shape))
        return f"CoOccurrence({sizes}; {counted(self.nnz, 'cell')}, total {self.total:g})"

    def _repr_html_(self) -> str:
        return table_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return CoOccurrence, (self.axes, self.coords, self.counts, self.shape, self._named())

    def __archive__(self) -> dict[str, Any]:
        """Return arrays and plain values from which :meth:`__unarchive__` makes an equal table."""
        return {
            "axes": list(self.axes),
            "shape": list(self.shape),
            "coords": np.stack(self.coords),
            "counts": self.counts,
            "labels": [None if (names := self.labels[name]) is None else list(names) for name in self.axes],
        }

    @classmethod
    def __unarchive__(cls, state: Mapping[str, Any]) -> CoOccurrence:
        """Make the table that :meth:`__archive__` described."""
        labels = {name: names for name, names in zip(state["axes"], state["labels"]) if names is not None}
        return cls(state["axes"], list(state["coords"]), state["counts"], state["shape"], labels)

    # ---- helpers

    def _named(self) -> dict[str, Sequence[Any]]:
        return {name: names for name, names in self.labels.items() if names is not None}

    def _with(self, coords: Any, counts: Any, shape: Any, labels: Mapping[str, Sequence[Any]]) -> CoOccurrence:
        return CoOccurrence(self.axes, coords, counts, shape, labels)

    def _pair(self, a: str, b: str) -> tuple[int, int]:
        i, j = axis_index(self.axes, a), axis_index(self.axes, b)
        if i == j:
            raise InvalidData(f"CoOccurrence: a margin needs two different axes, got {a!r} twice.")
        return i, j
