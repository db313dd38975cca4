"""How well labels that nobody named were discovered ([Z17]), and whether bags with several labels were torn apart.

A label is novel when it is not among the known ones; what the novel labels are called on either side does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.contingency import contingency, encode
from sidelight._core.params import check_number
from sidelight._core.segments import group_rows, segment_max
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.metrics._checks import as_array, as_indicator, check_lengths
from sidelight.metrics.agreement import PairScores, n_pairs, pair_scores


def novel_instance_f1(labels_true: Any, labels_pred: Any, known: Any) -> float:
    """Compute F_INL of [Z17]: the harmonic mean of :func:`novel_instance_scores`.

    Parameters
    ----------
    labels_true, labels_pred : array-like of hashable, shape (n_rows,)
        True and predicted label of each row.
    known : iterable of hashable
        The known labels; everything else is novel, on both sides.

    Examples
    --------
    >>> from sidelight.metrics import novel_instance_f1
    >>> novel_instance_f1(["wren", "x", "x", "y", "y"], ["wren", "new-1", "new-1", "new-2", "wren"], known=["wren"])
    0.6666666666666666
    """
    return novel_instance_scores(labels_true, labels_pred, known).f


def novel_instance_scores(labels_true: Any, labels_pred: Any, known: Any) -> PairScores:
    """Judge the pairs of rows that share a novel label, after [Z17].

    both      = pairs with the same true novel label and the same predicted novel label
    precision = both / pairs with the same predicted novel label
    recall    = both / pairs with the same true novel label

    When there are no such pairs on either side, all three are 1.

    Parameters
    ----------
    labels_true, labels_pred : array-like of hashable, shape (n_rows,)
        True and predicted label of each row.
    known : iterable of hashable
        The known labels; everything else is novel, on both sides.

    Returns
    -------
    PairScores
        ``precision``, ``recall``, ``f``.
    """
    true, true_names = encode(labels_true, what="labels_true of novel_instance_scores")
    pred, pred_names = encode(labels_pred, what="labels_pred of novel_instance_scores")
    check_lengths("novel_instance_scores", labels_true=true, labels_pred=pred)
    known = _as_known(known)
    true_is_novel = np.array([name not in known for name in true_names])
    pred_is_novel = np.array([name not in known for name in pred_names])
    table = contingency(true, pred)
    in_both = true_is_novel[table.rows] & pred_is_novel[table.columns]
    return pair_scores(
        n_pairs(table.counts[in_both]),
        n_pairs(table.column_totals[pred_is_novel]),
        n_pairs(table.row_totals[true_is_novel]),
    )


def novel_bag_f1(Y_true: Any, Y_pred: Any, n_known: int = 0) -> float:
    """Compute F_BNL of [Z17]: how well each predicted novel label fits the true novel label it fits best.

    F_BNL = mean over predicted novel labels i of (max over true novel labels j of F1(Y_pred[:, i], Y_true[:, j]))

    A predicted label that no bag carries counts with 0; leave such columns out if they are not meant as labels. The
    maximum runs over the *true* novel labels, of which there may be more or fewer (the paper prints k for both).

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_bags, n_known + n_novel)
        Zeros and ones, known labels first; the numbers of novel labels may differ.
    n_known : int
        How many leading columns are known labels; they are ignored.

    Returns
    -------
    float
        1 when neither side has a novel label, 0 when only one has.

    Examples
    --------
    >>> from sidelight.metrics import novel_bag_f1
    >>> novel_bag_f1([[1, 0], [1, 1], [0, 1]], [[0, 1], [1, 1], [1, 0]])
    1.0
    """
    check_number("novel_bag_f1", "n_known", n_known, integer=True, low=0)
    true, pred = as_indicator("novel_bag_f1", "Y_true", Y_true), as_indicator("novel_bag_f1", "Y_pred", Y_pred)
    if true.shape[0] != pred.shape[0] or true.shape[0] == 0:
        raise InvalidData(
            f"novel_bag_f1 needs the same bags on both sides, at least one; Y_true has {true.shape[0]} rows and "
            f"Y_pred {pred.shape[0]}."
        )
    if n_known > min(true.shape[1], pred.shape[1]):
        raise InvalidData(
            f"novel_bag_f1 was told of {n_known} known labels, but Y_true has {true.shape[1]} columns and Y_pred "
            f"{pred.shape[1]}. Known labels come first, on both sides."
        )
    true, pred = true[:, n_known:].astype(np.float64), pred[:, n_known:].astype(np.float64)  # products are fast in BLAS
    if true.shape[1] == 0 or pred.shape[1] == 0:
        return float(true.shape[1] == pred.shape[1])
    both = pred.T @ true
    both = both.toarray() if hasattr(both, "toarray") else both
    either = np.asarray(pred.sum(axis=0)).reshape(-1, 1) + np.asarray(true.sum(axis=0)).reshape(1, -1)
    f = 2 * both / np.maximum(either, 1)  # two empty columns share nothing: 0
    return float(f.max(axis=1).mean())


def single_cluster_share(labels: Any, bags: Any, n_labels: Any = None) -> float:
    """Compute the share of bags with several labels whose rows all end in one cluster; the truth is 0.

    A clustering that follows bags instead of contents can have a fine NMI and still put whole bags into one cluster.
    Bags with one row are left out, since they cannot be torn apart.

    Parameters
    ----------
    labels : array-like of hashable, shape (n_rows,)
        The cluster of each row.
    bags : Bags, or array-like of hashable, shape (n_rows,)
        The bag of each row. A :class:`~sidelight.data.Bags` knows its labels.
    n_labels : mapping of bag to int, or array-like of shape (n_bags,), optional
        How many labels each bag carries; an array follows the order in which bags first appear. Needed unless ``bags``
        is a :class:`~sidelight.data.Bags`.

    Returns
    -------
    float
        NaN when no bag of two or more rows carries two or more labels.

    Examples
    --------
    >>> from sidelight.metrics import single_cluster_share
    >>> single_cluster_share([0, 0, 0, 1, 2], ["r1", "r1", "r2", "r2", "r3"], n_labels={"r1": 2, "r2": 2, "r3": 1})
    0.5
    """
    clusters = encode(labels, what="labels of single_cluster_share")[0]
    bag_codes, per_bag = _bags_and_labels(bags, n_labels)
    check_lengths("single_cluster_share", labels=clusters, bags=bag_codes)
    order, starts = group_rows(bag_codes, len(per_bag))
    highest = segment_max(clusters[order], starts)
    lowest = -segment_max(-clusters[order], starts)
    counted = (per_bag >= 2) & (np.diff(starts) >= 2)
    return float(np.mean((highest == lowest)[counted])) if counted.any() else float("nan")


def _bags_and_labels(bags: Any, n_labels: Any) -> tuple[NDArray[np.intp], NDArray[Any]]:
    if hasattr(bags, "label_matrix") and n_labels is None:
        return np.asarray(bags.codes, dtype=np.intp), np.diff(bags.label_matrix.indptr)
    if hasattr(bags, "label_matrix"):
        codes, names = np.asarray(bags.codes, dtype=np.intp), tuple(bags.names)
    else:
        codes, names = encode(bags, what="bags of single_cluster_share")
    if n_labels is None:
        raise InvalidParameter(
            "single_cluster_share needs n_labels, the number of labels of each bag, when bags are plain ids. "
            "Pass a mapping of bag to number, or a Bags object with labels."
        )
    if isinstance(n_labels, Mapping):
        unknown = [name for name in names if name not in n_labels]
        if unknown:
            raise InvalidData(f"single_cluster_share: n_labels does not say how many labels bag {unknown[0]!r} has.")
        n_labels = [n_labels[name] for name in names]
    per_bag = as_array("single_cluster_share", "n_labels", n_labels, np.float64)
    if per_bag.shape != (len(names),):
        raise InvalidData(
            f"single_cluster_share needs one number of labels per bag: {len(names)} bags, but n_labels has shape "
            f"{per_bag.shape}."
        )
    if np.isnan(per_bag).any():
        bag = names[int(np.flatnonzero(np.isnan(per_bag))[0])]
        raise InvalidData(f"single_cluster_share: the number of labels of bag {bag!r} is NaN.")
    return codes, per_bag


def _as_known(known: Any) -> frozenset[Any]:
    if isinstance(known, (str, bytes)):
        raise InvalidParameter(f"The 'known' parameter must be a collection of labels. Got {known!r}; try [{known!r}].")
    try:
        return frozenset(known.tolist() if isinstance(known, np.ndarray) else known)
    except TypeError as error:
        raise InvalidParameter(
            f"The 'known' parameter must be a collection of hashable labels. Got {known!r}."
        ) from error
