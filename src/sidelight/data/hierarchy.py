"""A tree of labels: a child label implies its parent.

Labels are numbered as the columns of a label matrix are; the root is a dummy that is always on, has the number -1 and
no column. Names are non-empty strings of one line, so that the text form can be read back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from sidelight._core.forest import levels
from sidelight.data import tree_forms
from sidelight.data.frozen import Frozen, read_only
from sidelight.data.names import is_missing, look_up, plain
from sidelight.data.summaries import html_table
from sidelight.errors import InvalidData
from sidelight.words import counted

Codes = NDArray[np.intp]


class LabelTree(Frozen):
    """Labels with parents.

    Parameters
    ----------
    parents : array-like of int
        For each label the number of its parent label, -1 directly under the root.
    names : sequence, optional
        A name for each label, all different; ``"0"``, ``"1"``, ... by default. Names that are not strings become
        their text.

    Attributes
    ----------
    parents : ndarray of intp
    names : tuple of str
    n_labels : int
    depths : ndarray of intp
        Steps up to the root: 1 for a label directly under it.
    depth : int
        The largest of them.
    order, preorder : ndarray of intp
        All labels, each after its parent: level by level, and branch by branch.
    leaves, tops : ndarray of intp
        Labels without children; labels directly under the root.
    edges : ndarray of shape (n_labels, 2)
        (parent, child) for each label; -1 is the root.

    Examples
    --------
    >>> import sidelight as sl
    >>> tree = sl.LabelTree([-1, 0, 0, -1], names=["bird", "wren", "thrush", "frog"])
    >>> print(tree.to_text())
    bird
      wren
      thrush
    frog
    >>> tree.close([[0, 1, 0, 0]])
    array([[1, 1, 0, 0]])
    """

    parents: Codes
    names: tuple[str, ...]
    _fields = ("parents", "names")

    def __init__(self, parents: ArrayLike, names: Iterable[Any] | None = None) -> None:
        above = _as_parents(parents)
        given = map(str, range(len(above))) if names is None else names
        self.__setstate__({"parents": above, "names": _checked_names(given, len(above))})
        _check_range(above, self.names)
        cycle = find_cycle(above)
        if cycle:
            path = " -> ".join(repr(self.names[i]) for i in [*cycle, cycle[0]])
            raise InvalidData(
                f"LabelTree: these labels are their own ancestors: {path} (child -> parent). "
                "Give one of them another parent, or -1."
            )

    # ---- other ways in and out

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[Any, Any]], names: Sequence[Any] | None = None) -> Self:
        """Make a tree from (parent, child) names; a parent that is no child is under the root.

        Parameters
        ----------
        edges : iterable of (parent, child), or data frame
            Names; each child once. Of a data frame the first two columns. A missing parent (None, NaN) is the root.
        names : sequence, optional
            All labels in their order; the order of appearance by default.

        Examples
        --------
        >>> import sidelight as sl
        >>> sl.LabelTree.from_edges([("bird", "wren"), (None, "frog")]).names
        ('bird', 'wren', 'frog')
        """
        return cls(*tree_forms.read_edges(edges, names))

    @classmethod
    def from_paths(cls, paths: Iterable[str], separator: str = "/") -> Self:
        """Make a tree from paths; every prefix of a path is a label, named by its whole path.

        Parameters
        ----------
        paths : iterable of str
            Such as ``"01/03/05"``.
        separator : str
            What stands between the steps of a path.

        Examples
        --------
        >>> import sidelight as sl
        >>> sl.LabelTree.from_paths(["01/03", "02"]).names
        ('01', '01/03', '02')
        """
        return cls(*tree_forms.read_paths(paths, separator))

    @classmethod
    def from_text(cls, text: str, names: Sequence[Any] | None = None) -> Self:
        """Make a tree from lines, one label each, where a deeper indent means a child.

        Parameters
        ----------
        text : str
            What :meth:`to_text` writes; blank lines are skipped.
        names : sequence, optional
            All labels in their order; the order of the lines by default.
        """
        return cls(*tree_forms.read_text(text, names))

    def to_text(self, indent: str = "  ") -> str:
        """Return one line per label, children indented below their parent.

        ``LabelTree.from_text(tree.to_text(), names=tree.names) == tree``.
        """
        depths = self.depths
        return "\n".join(indent * int(depths[i] - 1) + self.names[i] for i in self.preorder)

    # ---- what a tree says

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.parents)

    @cached_property
    def _levels(self) -> list[Codes]:
        return levels(self.parents)

    @cached_property
    def order(self) -> Codes:
        """All labels, level by level."""
        return read_only(np.concatenate([*self._levels, np.empty(0, dtype=np.intp)]))

    @cached_property
    def depths(self) -> Codes:
        """Steps from each label up to the root."""
        out = np.empty(self.n_labels, dtype=np.intp)
        for depth, labels in enumerate(self._levels, start=1):
            out[labels] = depth
        return read_only(out)

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self._levels)

    @cached_property
    def preorder(self) -> Codes:
        """All labels, branch by branch; siblings in the order of their numbers."""
        out, ahead = [], list(self.tops[::-1])
        while ahead:
            label = int(ahead.pop())
            out.append(label)
            ahead.extend(self.children(label)[::-1])
        return read_only(np.array(out, dtype=np.intp))

    @property
    def tops(self) -> Codes:
        """The labels directly under the root."""
        return self.children(-1)

    @cached_property
    def leaves(self) -> Codes:
        """The labels without children."""
        childless = np.ones(self.n_labels, dtype=bool)
        childless[self.parents[self.parents >= 0]] = False
        return read_only(np.flatnonzero(childless))

    @cached_property
    def edges(self) -> Codes:
        """(parent, child) for each label; -1 is the root."""
        return read_only(np.column_stack([self.parents, np.arange(self.n_labels)]).astype(np.intp))

    def index(self, label: int | str) -> int:
        """Return the number of a label, given by number or name."""
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
            if 0 <= label < self.n_labels:
                return int(label)
            raise InvalidData(f"LabelTree: label {label} is out of range: there are {self.n_labels} labels.")
        return look_up(label, self._number, "LabelTree", "label")

    def children(self, label: int | str) -> Codes:
        """Return the children of a label, given by number or name; -1 is the root."""
        is_root = isinstance(label, (int, np.integer)) and label == -1
        number = -1 if is_root else self.index(label)
        by_parent, starts = self._by_parent
        return by_parent[starts[number + 1] : starts[number + 2]]

    def ancestors(self, label: int | str) -> Codes:
        """Return the ancestors of a label from its parent up; the root is not among them."""
        out, above = [], int(self.parents[self.index(label)])
        while above >= 0:
            out.append(above)
            above = int(self.parents[above])
        return np.array(out, dtype=np.intp)

    # ---- label matrices

    def close(self, Y: Any) -> Any:
        """Switch on every ancestor of every label that is on.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_rows, n_labels)
            0 and 1 (or booleans).

        Returns
        -------
        ndarray or CSR array
            Of the dtype of ``Y``.
        """
        Y = self._checked_labels(Y)
        if sp.issparse(Y):
            closed = sp.csr_array(Y.astype(np.float64) @ self._implies)
            closed.sort_indices()
            closed.data = np.ones_like(closed.data)
            return closed.astype(Y.dtype)
        closed = Y.copy()
        for child in self.order[::-1]:
            if self.parents[child] >= 0:
                np.maximum(closed[:, self.parents[child]], closed[:, child], out=closed[:, self.parents[child]])
        return closed

    def violations(self, Y: Any) -> Codes:
        """Return (row, label) wherever a label is on and its parent is off, row by row."""
        Y = self._checked_labels(Y)
        below = np.flatnonzero(self.parents >= 0)
        if sp.issparse(Y):
            on = sp.csr_array(Y != 0).astype(np.int8)
            rows, columns = (on[:, below] > on[:, self.parents[below]]).nonzero()
        else:
            rows, columns = np.nonzero((Y[:, below] != 0) & (Y[:, self.parents[below]] == 0))
        broken = np.column_stack([rows, below[columns]]).astype(np.intp)
        return broken[np.lexsort((broken[:, 1], broken[:, 0]))]

    def is_consistent(self, Y: Any) -> bool:
        """Say whether every label that is on has its parent on."""
        return not len(self.violations(Y))

    # ---- pictures and manners

    def layout(self) -> NDArray[np.float64]:
        """Return (x, y) of each label for drawing: leaves a unit apart, parents centred above children, y the depth.

        The root belongs at y = 0, centred above ``tops``.
        """
        xy = np.empty((self.n_labels, 2))
        xy[:, 1] = self.depths
        is_leaf = np.isin(self.preorder, self.leaves)
        xy[self.preorder[is_leaf], 0] = np.arange(is_leaf.sum())
        for label in self.order[::-1]:
            below = self.children(int(label))
            if len(below):
                xy[label, 0] = (xy[below[0], 0] + xy[below[-1], 0]) / 2
        return xy

    def __len__(self) -> int:
        return self.n_labels

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelTree):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.parents, other.parents)

    __hash__ = None  # type: ignore[assignment]  # compared by value, and values are arrays

    def __repr__(self) -> str:
        shown = ", ".join(self.names[i] for i in self.tops[:4]) + (", ..." if len(self.tops) > 4 else "")
        labels, leaves = counted(self.n_labels, "label"), counted(len(self.leaves), "leaf", "leaves")
        return f"LabelTree({labels}, {leaves}, depth {self.depth}; {len(self.tops)} at the top: {shown})"

    def _repr_html_(self) -> str:
        facts = {"labels": self.n_labels, "leaves": len(self.leaves), "depth": self.depth, "at the top": len(self.tops)}
        return html_table("LabelTree", facts) + tree_forms.as_html(self.names, self.preorder, self.depths)

    def __archive__(self) -> dict[str, Any]:
        """Return arrays and plain values from which :meth:`__unarchive__` makes an equal tree."""
        return {"parents": self.parents, "names": list(self.names)}

    @classmethod
    def __unarchive__(cls, state: Mapping[str, Any]) -> Self:
        """Make the tree that :meth:`__archive__` described."""
        return cls(state["parents"], state["names"])

    # ---- helpers

    @cached_property
    def _number(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _by_parent(self) -> tuple[Codes, Codes]:
        by_parent = np.argsort(self.parents, kind="stable").astype(np.intp)
        starts = np.searchsorted(self.parents[by_parent], np.arange(-1, self.n_labels + 1)).astype(np.intp)
        return read_only(by_parent), starts

    @cached_property
    def _implies(self) -> sp.csr_array:
        """1 at (label, itself and each of its ancestors)."""
        implied = [np.append(self.ancestors(i), i) for i in range(self.n_labels)]
        starts = np.cumsum([0, *map(len, implied)])
        shape = (self.n_labels, self.n_labels)
        return sp.csr_array((np.ones(starts[-1]), np.concatenate(implied), starts), shape=shape)

    def _checked_labels(self, Y: Any) -> Any:
        Y = sp.csr_array(Y, copy=True) if sp.issparse(Y) else np.asarray(Y)
        if sp.issparse(Y):
            Y.sum_duplicates()
            Y.eliminate_zeros()
        if Y.ndim != 2 or Y.shape[1] != self.n_labels:
            raise InvalidData(
                f"LabelTree: a label matrix has one column for each of the {self.n_labels} labels, got shape {Y.shape}."
            )
        values = Y.data if sp.issparse(Y) else Y
        if values.dtype.kind not in "biuf" or not ((values == 0) | (values == 1)).all():
            raise InvalidData("LabelTree: a label matrix holds 0 and 1 (or False and True) only.")
        return Y


def find_cycle(parents: Codes) -> list[int]:
    """Return labels that are their own ancestors, each followed by its parent; empty when there are none."""
    state = np.zeros(len(parents), dtype=np.int8)  # 0 unseen, 1 on the way up, 2 known to reach the root
    for start in range(len(parents)):
        path, label = [], start
        while label >= 0 and state[label] == 0:
            state[label] = 1
            path.append(label)
            label = int(parents[label])
        if label >= 0 and state[label] == 1:
            return path[path.index(label) :]
        state[path] = 2
    return []


def _as_parents(parents: ArrayLike) -> Codes:
    try:
        array = np.asarray(parents)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise InvalidData(
            "LabelTree: parents must be a one-dimensional, non-empty array of ints: the number of each label's parent, "
            f"-1 under the root. Got {parents!r}."
        )
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.intp).max:
        raise InvalidData(f"LabelTree: parent {array.max()} is out of range: there are {len(array)} labels.")
    return array.astype(np.intp)


def _check_range(parents: Codes, names: tuple[str, ...]) -> None:
    outside = np.flatnonzero((parents < -1) | (parents >= len(parents)))
    if len(outside):
        label = int(outside[0])
        raise InvalidData(
            f"LabelTree: label {label} ({names[label]!r}) has the parent {parents[label]}, which is out of range: "
            f"parents are 0 to {len(parents) - 1}, or -1 for the root."
        )


def _checked_names(given: Any, n_labels: int) -> tuple[str, ...]:
    if isinstance(given, (str, Set)) or not isinstance(given, Iterable):
        raise InvalidData(f"LabelTree: names must be a sequence with one name per label, got {given!r}.")
    given = tuple(given)
    for i, name in enumerate(given):
        if is_missing(name):
            raise InvalidData(f"LabelTree: label {i} has no name: it is {name!r}. Give every label a name.")
    names = tuple(str(plain(name)) for name in given)
    if len(names) != n_labels:
        raise InvalidData(f"LabelTree: there are {n_labels} labels but {len(names)} names. Bring one name per label.")
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if not name or name != name.strip() or len(name.splitlines()) != 1:
            raise InvalidData(
                f"LabelTree: label {i} is named {name!r}; a name is one line of text without spaces around it."
            )
        if name in seen:
            raise InvalidData(f"LabelTree: labels {seen[name]} and {i} are both named {name!r}. Make names unique.")
        seen[name] = i
    return names
