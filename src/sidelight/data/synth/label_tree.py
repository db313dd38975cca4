"""Features and label sets with gaps, from a hidden hierarchy: the model of [P17] table 5.1, drawn forwards.

y_child is off where its parent is off, else on with probability sigma(w_child x + b_child). Then each label that is on
is lost with probability ``missing``, parents as well as children, so that what is left need not be consistent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sidelight._core.params import as_generator, check_number
from sidelight.data.hierarchy import LabelTree
from sidelight.errors import InvalidParameter

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


@dataclass(frozen=True, slots=True, repr=False)
class LabelTreeSample:
    """What :func:`make_label_tree` drew.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels)
        The truth, consistent with ``tree``.
    Y_incomplete : ndarray of shape (n_samples, n_labels)
        ``Y`` with labels missing.
    tree : LabelTree
        The hidden hierarchy.
    """

    X: Floats
    Y: Labels
    Y_incomplete: Labels
    tree: LabelTree

    def __repr__(self) -> str:
        lost = 1 - self.Y_incomplete.sum() / max(1, self.Y.sum())
        return (
            f"LabelTreeSample({len(self.X)} rows, {self.X.shape[1]} features, {self.tree.n_labels} labels "
            f"on {self.tree.depth} levels; {lost:.0%} of the labels missing)"
        )


def make_label_tree(
    n_samples: int = 500,
    *,
    n_features: int = 20,
    n_labels: int = 12,
    tree: LabelTree | None = None,
    missing: float = 0.3,
    sharpness: float = 4.0,
    random_state: Any = None,
) -> LabelTreeSample:
    """Draw features and label sets that obey a hidden hierarchy, and the same label sets with gaps.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of X, which is standard normal.
    n_labels : int
        Labels of a random tree; not used when ``tree`` is given.
    tree : LabelTree, optional
        The hierarchy; by default each label hangs from the root or from an earlier label, at random.
    missing : float
        The probability that a label that is on is observed as off, 0 up to (not including) 1.
    sharpness : float
        The length of the weights: how surely the features decide.
    random_state : int, RandomState, Generator or None
        The seed.

    Returns
    -------
    LabelTreeSample
        With ``X``, ``Y``, ``Y_incomplete`` and ``tree``.

    Examples
    --------
    >>> import sidelight as sl
    >>> sample = sl.data.make_label_tree(200, random_state=0)
    >>> sample.tree.is_consistent(sample.Y)
    True
    >>> bool((sample.Y_incomplete <= sample.Y).all())
    True
    """
    check_number("make_label_tree", "n_samples", n_samples, integer=True, low=1)
    check_number("make_label_tree", "n_features", n_features, integer=True, low=1)
    check_number("make_label_tree", "n_labels", n_labels, integer=True, low=1)
    check_number("make_label_tree", "missing", missing, low=0, high=1, open_high=True)
    check_number("make_label_tree", "sharpness", sharpness, low=0)
    if tree is not None and not isinstance(tree, LabelTree):
        raise InvalidParameter(f"The 'tree' parameter of make_label_tree must be a LabelTree or None. Got {tree!r}.")
    rng = as_generator(random_state)

    hidden = tree if tree is not None else _random_tree(n_labels, rng)
    X = rng.normal(size=(n_samples, n_features))
    Y = _draw_labels(X, hidden, sharpness, rng)
    kept = rng.random(Y.shape) >= missing
    return LabelTreeSample(X=X, Y=Y, Y_incomplete=Y * kept, tree=hidden)


def _random_tree(n_labels: int, rng: np.random.Generator) -> LabelTree:
    n_tops = max(1, round(np.sqrt(n_labels) / 2))
    parents = [-1 if i < n_tops else int(rng.integers(i)) for i in range(n_labels)]
    return LabelTree(parents, [f"label-{i}" for i in range(n_labels)])


def _draw_labels(X: Floats, tree: LabelTree, sharpness: float, rng: np.random.Generator) -> Labels:
    Y = np.zeros((len(X), tree.n_labels), dtype=np.intp)
    for label in tree.order:
        parent = tree.parents[label]
        possible = np.ones(len(X), dtype=bool) if parent < 0 else Y[:, parent] == 1
        w = rng.normal(size=X.shape[1])
        score = sharpness * (X @ (w / np.linalg.norm(w)))
        share = rng.uniform(0.4, 0.7)  # of the rows with the parent on, so that deep labels still occur
        if possible.any():
            score -= np.quantile(score[possible], 1 - share)
        Y[:, label] = possible & (rng.random(len(X)) < expit(score))
    return Y
