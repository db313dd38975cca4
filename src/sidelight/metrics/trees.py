"""How far a learned tree of labels is from the true one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import InvalidData
from sidelight.metrics._checks import as_array

Ints = NDArray[np.intp]


def robinson_foulds(tree_true: Any, tree_pred: Any, *, directed: bool = True) -> int:
    """Count the edges that only one of two label trees has: the Robinson-Foulds distance of [P17] 5.5.1.

    Directed edges run from parent to child and include those from the root to its children, so that every label has
    exactly one. Undirected edges forget which end is the parent and leave the root out: the fair comparison when one
    tree was learned without directions (Chow-Liu).

    Parameters
    ----------
    tree_true, tree_pred : LabelTree, or array-like of int, shape (n_labels,)
        The index of each label's parent, -1 under the root. Two :class:`~sidelight.data.LabelTree` are compared by the
        names of their labels.
    directed : bool
        Whether the direction of edges and the edges of the root count.

    Returns
    -------
    int
        0 for equal trees, at most the number of edges of both.

    Examples
    --------
    >>> from sidelight.metrics import robinson_foulds
    >>> robinson_foulds([-1, 0, 1], [1, -1, 1])  # the chain 0 -> 1 -> 2, hung from its middle
    4
    >>> robinson_foulds([-1, 0, 1], [1, -1, 1], directed=False)
    0
    """
    true, pred = _as_parents("tree_true", tree_true), _as_parents("tree_pred", tree_pred)
    if len(true) != len(pred):
        raise InvalidData(f"robinson_foulds compares trees of the same labels; got {len(true)} and {len(pred)} labels.")
    names_true, names_pred = getattr(tree_true, "names", None), getattr(tree_pred, "names", None)
    if names_true is not None and names_pred is not None:
        pred = _renamed(pred, tuple(names_true), tuple(names_pred))
    if directed:
        return 2 * int((true != pred).sum())  # one edge per label on each side
    return len(_undirected(true) ^ _undirected(pred))


def _as_parents(name: str, tree: Any) -> Ints:
    from sidelight._core.forest import levels

    given = as_array("robinson_foulds", name, getattr(tree, "parents", tree))
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu":
        raise InvalidData(
            f"robinson_foulds needs {name} as one integer per label, the index of its parent or -1; "
            f"got shape {given.shape} of {given.dtype}."
        )
    parents = given.astype(np.intp)
    levels(parents)  # refuses cycles and strangers
    return parents


def _renamed(parents: Ints, names: tuple[Any, ...], old_names: tuple[Any, ...]) -> Ints:
    """Number the labels of a tree as in ``names``."""
    position = {name: i for i, name in enumerate(names)}
    unknown = [name for name in old_names if name not in position]
    if unknown:
        raise InvalidData(
            f"robinson_foulds compares trees of the same labels, but {unknown[0]!r} is in tree_pred only."
        )
    new = np.array([position[name] for name in old_names], dtype=np.intp)
    renamed = np.empty_like(parents)
    renamed[new] = np.where(parents >= 0, new[parents], -1)
    return renamed


def _undirected(parents: Ints) -> set[frozenset[int]]:
    return {frozenset((child, parent)) for child, parent in enumerate(parents.tolist()) if parent >= 0}
