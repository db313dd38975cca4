"""Rows in bags, and what is known about the labels of each bag.

What a label set means: ``{"wren"}`` says these labels, all of them and no others; ``set()`` says none of the known
labels; a partial set says these are present and others may be; None says nothing. A bag that lost rows keeps "no
other label" and loses "every label is carried": ``whole`` remembers which bags those are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sidelight.data import demands, label_sets
from sidelight.data.bag_rows import count_distinct, is_numbered, origin_after, renumbered, warn_if_cut
from sidelight.data.demands import Demands
from sidelight.data.frozen import Frozen, read_only
from sidelight.data.label_sets import LabelSets
from sidelight.data.names import (
    Names,
    as_row_index,
    check_distinct,
    encode,
    flags_of,
    is_one_row,
    look_up,
    sorted_names,
)
from sidelight.data.summaries import bag_html, bag_summary, bag_text
from sidelight.errors import BagsWereCut, InvalidData, ignore_warnings

Counts = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Bag(NamedTuple):
    """One bag: its name, its rows, and its label set (None when it is unlabelled)."""

    name: Hashable
    rows: Counts
    labels: frozenset[Hashable] | None


class Bags(Frozen):
    """Which bag each row is in, and which labels each bag carries.

    Parameters
    ----------
    ids : sequence, array or series
        One bag id per row, any hashable value; the rows of a bag may be anywhere.
    labels : mapping, series, data frame, or matrix of shape (n_bags, n_classes), default=None
        Bag id to a set of label names. ``{"wren"}`` means these labels, all of them and no others; ``set()`` none of
        the known labels; a bag that is missing or None is unlabelled. A series of lists is read by its index (without
        one: in the order of first appearance). A data frame of zeros and ones, a column a label, has the bags as its
        index or in its first column; any other frame is read by :meth:`from_table`, a matrix of zeros and ones (array
        or sparse, named by ``classes``) by :meth:`from_indicator`.
    classes : sequence, default=None
        The names of the known labels, in order; by default the labels that occur, sorted.
        Instead of a set a bag may have a mapping from label to what is known of it: a number of rows (``3``; 0 or
        ``"absent"`` for none), a range ``(1, 4)`` or ``(2, None)``, ``"maybe"``, or ``"present"``.
    shares : mapping or data frame, default=None
        Bag id to ``{label: share}``, adding up to 1 or 100 in every bag; or a frame with the bags in its first column
        and a column a label. For bags that have no ``labels``.
    share_rows : number or mapping, default=None
        How many rows the shares of a bag rest on, which says how sure they are; by default its own rows, all of them.
    tree : LabelTree, nested mapping or paths, default=None
        Kinds of labels (``["birds/warblers/wren", ...]``): a bag may name an inner one, and one of the labels below it
        is there.
    partial : iterable of bag ids, or True, default=()
        Bags whose label set is incomplete: these labels are present, others may be. True: all labelled bags.
    whole : sequence of bool, default=None
        For each bag, in order of first appearance, whether all its rows are here. By default they are.

    Attributes
    ----------
    names : tuple
        The bag ids in order of first appearance.
    codes : ndarray of shape (n_rows,)
        The position of each row's bag in ``names``.
    n_rows, n_bags, n_classes : int
        How many there are.
    sizes : ndarray of shape (n_bags,)
        The number of rows of each bag.
    order, starts : ndarray of shape (n_rows,) and (n_bags + 1,)
        The rows of bag ``b`` are ``order[starts[b]:starts[b + 1]]``, in ascending order.
    classes : tuple
        The names of the known labels.
    n_labels, label_counts : ndarray of shape (n_bags,) and (n_classes,)
        How many labels each bag was given, and how many bags each label.
    label_matrix : csr_array of shape (n_bags, n_classes)
        1.0 where a label was named; the row of an unlabelled bag is empty.
    is_labelled, is_partial, whole : ndarray of shape (n_bags,)
        Whether a label set was given (maybe an empty one), whether it is partial, whether no row was cut away.
    labels : mapping
        Bag id to a frozenset of label names, or None.
    said : mapping
        Bag id to ``{label: (least, most)}`` for bags that say more than a list; ``most`` is None for any number. Their
        ``labels`` hold what is surely there, and they are partial where that is not all.
    kinds : dict
        Kinds above labels that some bag names, and the labels below each.
    counts_rows, how_counted : bool and str
        Whether some bag says how many of its rows carry a label, and how: "counts", "shares", or "" for none.

    Notes
    -----
    ``bags[rows]`` selects rows by integers, a mask or a slice. Bags without rows vanish; a labelled bag that loses rows
    is no longer whole, which :class:`~sidelight.errors.BagsWereCut` says once. ``np.asarray(bags)`` is ``codes``,
    so that scikit-learn accepts ``groups=bags``. Two objects are equal when they say the same about every row.

    Examples
    --------
    >>> import sidelight as sl
    >>> bags = sl.Bags(["r1", "r2", "r1"], labels={"r1": {"wren", "thrush"}})
    >>> bags
    Bags(3 rows in 2 bags, 2 classes; 1 labelled, 1 unlabelled)
    >>> bags.rows("r1")
    array([0, 2])
    >>> bags.labels["r2"] is None
    True
    """

    names: Names
    codes: Counts
    classes: Names
    _label_starts: Counts  # the labels of bag b are classes[j] for j in _label_columns[starts[b]:starts[b + 1]]
    _label_columns: Counts
    is_labelled: Flags
    is_partial: Flags
    whole: Flags
    _origin: Counts | None  # which row each row is a copy of, kept only while rows are repeated
    demands: Demands | None  # what bags say beyond lists, if any does
    _fields = (
        *("names", "codes", "classes", "_label_starts", "_label_columns"),
        *("is_labelled", "is_partial", "whole", "_origin", "demands"),
    )

    def __init__(
        self,
        ids: Any,
        labels: Any = None,
        *,
        classes: Any = None,
        shares: Any = None,
        share_rows: Any = None,
        tree: Any = None,
        partial: Any = (),
        whole: Any = None,
    ) -> None:
        names, codes = encode(ids, "bag id")
        code_of = {name: code for code, name in enumerate(names)}
        more = None
        if demands.says_more(labels, tree, shares):
            sizes = np.bincount(codes, minlength=len(names))
            said = demands.read(labels, code_of, sizes, classes=classes, tree=tree, shares=shares, rows=share_rows)
            labels, classes, more = said.lists, said.classes, said.demands
        sets = label_sets.read(labels, code_of, classes)
        self._with_state(names, codes, sets, partial, whole, code_of)
        if more is not None and more.is_special.any():
            more = more.opened(self.is_partial)
            unsure = [code_of[bag] for bag in said.unsure]
            is_partial = more.is_open.copy()  # so is a bag that is not sure of all that it may hold
            is_partial[unsure] = True
            self.__setstate__({"demands": more, "is_partial": is_partial & self.is_labelled})

    @classmethod
    def from_table(
        cls,
        ids: Any,
        table: Any,
        *,
        bag: str | None = None,
        label: str | None = None,
        classes: Any = None,
        partial: Any = (),
        whole: Any = None,
    ) -> Self:
        """Make bags whose label sets are listed in a table with one row for each (bag, label).

        Parameters
        ----------
        ids : sequence, array or series
            One bag id per row.
        table : data frame or list of tuples
            A (bag, label) row for each label of each bag. A row without a label says that the bag carries none of
            the known labels; a bag that is not in the table is unlabelled.
        bag, label : str, default=None
            The names of the two columns; by default the first two.
        classes, partial, whole
            As in the constructor.
        """
        names, codes = encode(ids, "bag id")
        code_of = {name: code for code, name in enumerate(names)}
        sets = label_sets.from_frame(table, code_of, classes, (bag, label))
        return cls.__new__(cls)._with_state(names, codes, sets, partial, whole, code_of)

    @classmethod
    def from_indicator(
        cls, ids: Any, Y: Any, *, classes: Any = None, names: Any = None, partial: Any = (), whole: Any = None
    ) -> Self:
        """Make bags whose label sets are the rows of a matrix of zeros and ones.

        Parameters
        ----------
        ids : sequence, array or series
            One bag id per row.
        Y : array, sparse matrix or data frame of shape (n_bags, n_classes)
            1 where a bag carries a label; a row of zeros means none of them.
        classes : sequence, default=None
            The names of the columns; by default those of a data frame, else 0, 1, 2, ...
        names : sequence, default=None
            Which bag each row of ``Y`` is about; bags left out are unlabelled. By default there is a row for every bag,
            in order of first appearance.
        partial, whole
            As in the constructor.
        """
        bag_names, codes = encode(ids, "bag id")
        code_of = {name: code for code, name in enumerate(bag_names)}
        sets = label_sets.from_indicator(Y, code_of, classes, names)
        return cls.__new__(cls)._with_state(bag_names, codes, sets, partial, whole, code_of)

    def _with_state(
        self, names: Names, codes: Counts, sets: LabelSets, partial: Any, whole: Any, code_of: Mapping[Hashable, int]
    ) -> Self:
        self.__setstate__(
            {
                "names": names,
                "codes": codes,
                **_spread(sets),
                "is_partial": label_sets.read_partial(partial, code_of, sets.is_labelled),
                "whole": label_sets.read_whole(whole, len(names)),
                "_origin": None,
                "demands": None,
            }
        )
        return self

    # -- sizes and places ---------------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.codes)

    @property
    def n_bags(self) -> int:
        """The number of bags."""
        return len(self.names)

    @property
    def n_classes(self) -> int:
        """The number of known labels."""
        return len(self.classes)

    @property
    def shape(self) -> tuple[int]:
        """One value per row, as scikit-learn wants it."""
        return (self.n_rows,)

    @cached_property
    def sizes(self) -> Counts:
        """The number of rows of each bag."""
        return _locked(np.bincount(self.codes, minlength=self.n_bags))

    @cached_property
    def order(self) -> Counts:
        """The rows sorted by bag; within a bag they stay in order."""
        return _locked(np.argsort(self.codes, kind="stable"))

    @cached_property
    def starts(self) -> Counts:
        """Where each bag begins in ``order``, and at the end the number of rows."""
        return _locked(np.concatenate([[0], np.cumsum(self.sizes)]))

    @cached_property
    def _code_of(self) -> dict[Hashable, int]:
        return {name: code for code, name in enumerate(self.names)}

    def rows(self, bag: Hashable) -> Counts:
        """Return the rows of the bag with that name, in ascending order."""
        code = look_up(bag, self._code_of, "Bags.rows", "bag")
        return self.order[self.starts[code] : self.starts[code + 1]]

    def each(self) -> Iterator[Bag]:
        """Go through the bags in the order of ``names``: ``bag.name``, ``bag.rows``, ``bag.labels``."""
        for code, name in enumerate(self.names):
            yield Bag(name, self.order[self.starts[code] : self.starts[code + 1]], self._labels[name])

    # -- labels -------------------------------------------------------------------------------------------------------

    @property
    def labels(self) -> Mapping[Hashable, frozenset[Hashable] | None]:
        """Bag id to a frozenset of label names, or None when the bag is unlabelled."""
        return MappingProxyType(self._labels)

    @cached_property
    def label_matrix(self) -> Any:
        """A CSR array of shape (n_bags, n_classes): 1.0 where a label was named."""
        from scipy.sparse import csr_array  # slow to import, and reading a table does not need it

        parts = (np.ones(len(self._label_columns)), self._label_columns, self._label_starts)
        return read_only(csr_array(parts, shape=(self.n_bags, self.n_classes)))

    @property
    def n_labels(self) -> Counts:
        """The number of labels that were named for each bag."""
        return np.diff(self._label_starts)

    @property
    def label_counts(self) -> Counts:
        """The number of bags that were given each label."""
        return np.bincount(self._label_columns, minlength=self.n_classes)

    def bags_of_labels(self) -> list[Counts]:
        """Return for each class the positions of the bags that were given it, in ascending order."""
        by_label = self._label_sets.bags[np.argsort(self._label_columns, kind="stable")]
        return np.split(by_label, np.cumsum(self.label_counts)[:-1])

    @property
    def _label_sets(self) -> LabelSets:
        return LabelSets(self.classes, self._label_starts, self._label_columns, self.is_labelled)

    @cached_property
    def _labels(self) -> dict[Hashable, frozenset[Hashable] | None]:
        listed = [self.classes[column] for column in self._label_columns.tolist()]
        starts = self._label_starts.tolist()
        sets = (frozenset(listed[starts[b] : starts[b + 1]]) for b in range(self.n_bags))
        return {name: s if known else None for name, s, known in zip(self.names, sets, self.is_labelled)}

    @property
    def said(self) -> Mapping[Hashable, Mapping[Hashable, tuple[float, float | None]]]:
        """What bags that say more than a list say of each label: (least, most), None for any number."""
        if self.demands is None:
            return MappingProxyType({})
        special = np.flatnonzero(self.demands.is_special).tolist()
        return MappingProxyType({self.names[b]: self.demands.of_bag(b, self.classes) for b in special})

    @property
    def counts_rows(self) -> bool:
        """Whether some bag says how many of its rows carry a label."""
        return self.demands is not None and bool(self.demands.is_counted.any())

    @property
    def how_counted(self) -> str:
        """How bags say how many of their rows carry a label: "counts", "shares", or "" where none does."""
        if self.demands is None or not self.counts_rows:
            return ""
        return "shares" if self.demands.is_share.any() else "counts"

    @property
    def kinds(self) -> dict[str, tuple[Hashable, ...]]:
        """The kinds above labels that some bag names, and the labels below each."""
        if self.demands is None:
            return {}
        below = self.demands.member[self.n_classes :]
        return {
            str(name): tuple(self.classes[c] for c in np.flatnonzero(row).tolist())
            for name, row in zip(self.demands.nodes, below)
        }

    def bag_label_mask(self) -> Flags:
        """Return which classes the rows of each bag may have, shape (n_bags, n_classes).

        Only the label set when it is complete, even when rows were cut away; any class when the bag is unlabelled
        or its label set is partial.
        """
        if self.demands is not None:
            return self.demands.allowed() | ~self.is_labelled[:, None]
        allowed = np.zeros((self.n_bags, self.n_classes), dtype=bool)
        allowed[self._label_sets.bags, self._label_columns] = True
        allowed[~self.is_labelled | self.is_partial] = True
        return allowed

    def row_label_mask(self) -> Flags:
        """Return which classes each row may have, shape (n_rows, n_classes); see :meth:`bag_label_mask`."""
        return self.bag_label_mask()[self.codes]

    def with_labels(self, labels: Any, *, classes: Any = None, partial: Any = ()) -> Self:
        """Return the same rows and bags with other label sets: every old one is replaced.

        Parameters
        ----------
        labels : mapping or data frame
            As in the constructor.
        classes : sequence, default=None
            By default the present classes, followed by the new names in ``labels``, sorted.
        partial : iterable of bag ids, or True, default=()
            As in the constructor.
        """
        sets = label_sets.read(labels, self._code_of, classes)
        if classes is None:
            new = set(sets.classes) - set(self.classes)
            sets = label_sets.in_classes(sets, (*self.classes, *sorted_names(new)))
        return self._with_sets(sets, None, label_sets.read_partial(partial, self._code_of, sets.is_labelled))

    def keeping_said(self, other: Bags, but: Any = ()) -> Self:
        """Return these bags with what the same bags of ``other`` say beyond lists, but for some that were changed.

        Parameters
        ----------
        other : Bags
            The same rows and bags, whose classes are among these.
        but : iterable of bag ids, default=()
            Bags that keep their lists.
        """
        if not isinstance(other, Bags) or other.n_bags != self.n_bags:
            raise InvalidData(f"Bags.keeping_said takes the same {self.n_bags} bags. Got {other!r:.80}.")
        if other.demands is None:
            return self
        forget = flags_of(but, self._code_of, "Bags.keeping_said")
        moved = other.demands.in_classes(other.classes, self.classes)
        more = None if moved is None else moved.without(forget)
        is_special = other.demands.is_special & ~forget
        return self._with_sets(self._label_sets, more, np.where(is_special, other.is_partial, self.is_partial))

    def without_labels(self, names: Any = None) -> Self:
        """Return the same bags with the label sets of these bags forgotten; all of them by default.

        Parameters
        ----------
        names : iterable of bag ids, default=None
            The bags that become unlabelled. The classes stay known.
        """
        forget = np.ones(self.n_bags, dtype=bool)
        if names is not None:
            forget = flags_of(names, self._code_of, "Bags.without_labels")
        more = None if self.demands is None else self.demands.without(forget)
        return self._with_sets(label_sets.without_bags(self._label_sets, forget), more, self.is_partial & ~forget)

    def without_classes(self, classes: Any) -> Self:
        """Return the same bags without these labels, which are no longer known.

        Parameters
        ----------
        classes : iterable of label names
            Taken out of every label set and of ``classes``. A set that becomes empty stays a set: it says that the
            bag carries none of the labels that are still known.
        """
        column_of = {name: column for column, name in enumerate(self.classes)}
        drop = flags_of(classes, column_of, "Bags.without_classes", "class")
        sets = label_sets.without_classes(self._label_sets, drop)
        return self._with_sets(sets, self._in_classes(sets.classes))

    def with_classes(self, classes: Any) -> Self:
        """Return the same bags with the columns of ``label_matrix`` in this order; names may be added.

        Parameters
        ----------
        classes : sequence of label names
            Every label that some bag carries must be among them.
        """
        sets = label_sets.in_classes(self._label_sets, check_distinct(classes, "class"))
        return self._with_sets(sets, self._in_classes(sets.classes))

    def _in_classes(self, classes: Names) -> Demands | None:
        return None if self.demands is None else self.demands.in_classes(self.classes, classes)

    def _with_sets(self, sets: LabelSets, more: Demands | None, is_partial: Flags | None = None) -> Self:
        fields = self.__getstate__() | {"demands": more}
        fields |= _spread(sets) | {"is_partial": self.is_partial if is_partial is None else is_partial}
        return self._make(**fields)

    # -- rows, as scikit-learn takes them -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.codes, dtype=dtype, copy=copy)

    def __iter__(self) -> Iterator[Hashable]:
        return (self.names[code] for code in self.codes.tolist())

    def __getitem__(self, key: Any) -> Any:
        if is_one_row(key):
            return self.names[self.codes[as_row_index([key], self.n_rows, "Bags")[0]]]
        kept = as_row_index(key, self.n_rows, "Bags")
        present, codes = renumbered(self.codes[kept], self.n_bags)
        origin, has_copies = origin_after(self._origin, kept, self.n_rows)
        n_distinct = count_distinct(self.codes[kept], origin, has_copies, self.n_bags)
        still_whole = self.whole & (n_distinct == self._n_distinct)
        warn_if_cut(self, present, still_whole)
        return self._make(
            names=tuple(self.names[code] for code in present.tolist()),
            codes=codes,
            **_spread(label_sets.taken(self._label_sets, present)),
            is_partial=self.is_partial[present],
            whole=still_whole[present],
            _origin=origin if has_copies else None,
            demands=self._demands_of(present, codes, still_whole[present]),
        )

    def _demands_of(self, present: Counts, codes: Counts, grows: Flags) -> Demands | None:
        """Return what these bags demand; counts of bags that ``grows`` marks go with their number of rows."""
        if self.demands is None:
            return None
        scale = np.bincount(codes, minlength=len(present)) / self.sizes[present]
        return self.demands.taken(present, np.where(grows, scale, 1.0))

    def drawn(self, rows: Counts) -> Self:
        """Return the bags of rows that were drawn at random: each stays as whole as it was.

        A label that none of a thousand drawn rows of a bag carries is carried by next to none of its rows, so what a
        list says of all rows nearly holds for the drawn ones.

        Parameters
        ----------
        rows : array of int
            The rows.
        """
        rows = as_row_index(rows, len(self.codes), "Bags.drawn")
        with ignore_warnings(BagsWereCut):
            some: Self = self[rows]
        present, codes = renumbered(self.codes[rows], self.n_bags)
        more = self._demands_of(present, codes, self.whole[present])
        return self._make(**(some.__getstate__() | {"whole": self.whole[present], "demands": more}))

    @cached_property
    def _n_distinct(self) -> Counts:
        if self._origin is None:
            return self.sizes
        return count_distinct(self.codes, self._origin, True, self.n_bags)

    # -- looks, comparison, files -------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return the counts worth knowing before anything is fitted, by name."""
        return bag_summary(self)

    def __repr__(self) -> str:
        return bag_text(self)

    def _repr_html_(self) -> str:
        return bag_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bags):
            return NotImplemented
        return (
            self.names == other.names
            and self.classes == other.classes
            and (other.demands is None if self.demands is None else self.demands.same_as(other.demands))
            and all(
                np.array_equal(mine, theirs)
                for mine, theirs in [
                    (self.codes, other.codes),
                    (self.is_labelled, other.is_labelled),
                    (self.is_partial, other.is_partial),
                    (self.whole, other.whole),
                    (self._label_starts, other._label_starts),
                    (self._label_columns, other._label_columns),
                ]
            )
        )

    def __hash__(self) -> int:
        return hash((self.n_rows, self.names, self.classes))

    def __archive__(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "codes": self.codes,
            "classes": list(self.classes),
            "label_starts": self._label_starts,
            "label_columns": self._label_columns,
            "is_labelled": self.is_labelled,
            "is_partial": self.is_partial,
            "whole": self.whole,
            "origin": self._origin,
            "demands": None if self.demands is None else self.demands.archived(),
        }

    @classmethod
    def __unarchive__(cls, state: dict[str, Any]) -> Self:
        names, classes = check_distinct(state["names"], "bag id"), check_distinct(state["classes"], "class")
        codes, columns, starts = (np.array(state[k], np.intp) for k in ("codes", "label_columns", "label_starts"))
        flags = {k: np.array(state[k], dtype=bool) for k in ("is_labelled", "is_partial", "whole")}
        origin = None if state["origin"] is None else np.array(state["origin"], dtype=np.intp)
        is_sound = (
            is_numbered(codes, len(names))
            and label_sets.are_sets(starts, columns, len(names), len(classes))
            and all(len(flag) == len(names) for flag in flags.values())
            and (origin is None or len(origin) == len(codes))
        )
        if not is_sound:
            raise InvalidData("Bags: the stored bags contradict themselves; the file is damaged.")
        bags = np.repeat(np.arange(len(names)), np.diff(starts))
        sets = label_sets.gathered(bags, columns, classes, flags.pop("is_labelled"))
        more = Demands.of_archive(state.get("demands"), len(names), len(classes))  # 0.2 knew lists alone
        return cls._make(names=names, codes=codes, _origin=origin, demands=more, **_spread(sets), **flags)


def _spread(sets: LabelSets) -> dict[str, Any]:
    """Return label sets as the fields of Bags."""
    return {
        "classes": sets.classes,
        "_label_starts": sets.starts,
        "_label_columns": sets.columns,
        "is_labelled": sets.is_labelled,
    }


def _locked(array: Any) -> Counts:
    return read_only(array.astype(np.intp, copy=False))
