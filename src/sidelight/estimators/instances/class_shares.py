"""What the rows of each cluster are, judged by the label sets of their bags alone.

Each row carries one of its bag's labels, and which is unknown. With theta[k, c] the share of class c in cluster k, the
likelihood of what is known is the product over rows of sum over the bag's labels of theta[cluster, label]; its maximum
is found by EM on counts of (cluster, label set), so the cost does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from sidelight._core.params import as_sequence, check_number
from sidelight.data.bags import Bags
from sidelight.errors import InvalidData, WrongKind

_ROUNDS = 200
_SETTLED = 1e-6


def class_shares(labels: np.ndarray, bags: Bags, n_clusters: int) -> np.ndarray:
    """Return theta of shape (n_clusters, n_classes); rows sum to 1, or to 0 where no row of a cluster says anything.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    bags : Bags
        The bags; bags without labels, with an empty or with a partial label set say nothing here.
    n_clusters : int
        Number of clusters.
    """
    if not bags.n_classes:
        return np.zeros((n_clusters, 0))
    telling = bags.is_labelled & ~bags.is_partial & (np.diff(bags.label_matrix.indptr) > 0)
    masks, kind = _distinct_sets(bags, np.flatnonzero(telling))
    number = np.full(bags.n_bags, -1, dtype=np.intp)
    number[telling] = kind
    of_row = number[bags.codes]
    labelled = of_row >= 0
    counts = np.zeros((n_clusters, masks.shape[0]))
    np.add.at(counts, (labels[labelled], of_row[labelled]), 1.0)
    return _em(counts, masks)


def bag_agreement(labels: np.ndarray, bags: Bags, shares: np.ndarray) -> float:
    """Return the micro-F1 between the label sets given for bags and those that their rows' clusters carry.

    A cluster carries the class of its largest share. Rows in clusters of a class that their bag lacks cost precision;
    a label that no row of its bag carries costs recall, so that putting each bag into one cluster does not pay.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    bags : Bags
        The bags; only those with a complete, non-empty label set are judged.
    shares : ndarray of shape (n_clusters, n_classes)
        What :func:`class_shares` returned.
    """
    judged = bags.is_labelled & ~bags.is_partial & (np.diff(bags.label_matrix.indptr) > 0)
    if not judged.any():
        return 0.0
    width = bags.n_classes
    carried = np.unique(bags.codes * width + shares.argmax(axis=1)[labels])
    carried = carried[judged[carried // width]]
    listed = bags.label_matrix.tocoo()
    listed = (listed.coords[0].astype(np.intp) * width + listed.coords[1])[judged[listed.coords[0]]]
    return float(2 * np.isin(carried, listed).sum() / (len(carried) + len(listed)))


def _distinct_sets(bags: Bags, chosen: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Return the different label sets of the chosen bags (sets x classes, CSR), and the set of each bag."""
    listed = sp.csr_array(bags.label_matrix)[chosen]
    number: dict[bytes, int] = {}
    kind = np.empty(len(chosen), dtype=np.intp)
    first: list[int] = []
    for b in range(len(chosen)):
        key = np.sort(listed.indices[listed.indptr[b] : listed.indptr[b + 1]]).tobytes()
        if key not in number:
            number[key] = len(first)
            first.append(b)
        kind[b] = number[key]
    return sp.csr_array(listed[first] != 0).astype(np.float64), kind


def _em(counts: np.ndarray, masks: sp.csr_array) -> np.ndarray:
    total = counts.sum(axis=1, keepdims=True)
    theta = np.full((len(counts), masks.shape[1]), 1.0 / masks.shape[1])
    for _ in range(_ROUNDS):
        inside = (masks @ theta.T).T
        ratio = np.divide(counts, inside, out=np.zeros_like(counts), where=inside > 0)
        new = theta * np.asarray(ratio @ masks) / np.maximum(total, 1.0)
        settled = np.abs(new - theta).max(initial=0.0) < _SETTLED
        theta = new
        if settled:
            break
    return theta


# How to read clusters of rows in labelled bags: what each is made of and refines, who stands for it, who objects.


MAJORITY = 0.5  # a cluster refines the class that holds at least this share of it


@dataclass(frozen=True, slots=True, repr=False)
class ClusterReading:
    """Clusters of rows, explained by the label sets of bags alone.

    Parameters
    ----------
    names : list of str
        A name for each cluster: the class that it refines, numbered when several do ("wren/1"). "mixed": no class makes
        up half of it; "unlabelled": none of its rows lies in a bag that says anything; "empty": it has no rows.
    sizes : ndarray of shape (n_clusters,)
        Number of rows.
    classes : tuple
        The classes.
    shares : ndarray of shape (n_clusters, n_classes)
        Share of each class in each cluster, estimated from bag labels (maximum likelihood).
    refines : list
        The class with at least half of a cluster, or None.
    nearest : list of ndarray
        The rows nearest the centre of each cluster, nearest first; empty without an embedding.
    disagreeing : list of list
        For each cluster, the bags that have rows in it but not the class it refines, most rows first.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> bags = sl.Bags(["a", "a", "b", "c"], labels={"a": {"wren", "owl"}, "b": {"owl"}, "c": {"wren"}})
    >>> reading = sl.estimators.ClusterReading.from_labels(np.array([0, 1, 1, 0]), bags)
    >>> reading.names
    ['wren', 'owl']
    """

    names: list[str]
    sizes: np.ndarray
    classes: tuple[Any, ...]
    shares: np.ndarray
    refines: list[Any]
    nearest: list[np.ndarray]
    disagreeing: list[list[Any]]

    @classmethod
    def from_estimator(cls, estimator: Any, *, bags: Bags | None = None, n_nearest: int = 5) -> Self:
        """Read the clusters that a fitted estimator published for its training rows.

        Parameters
        ----------
        estimator : estimator
            With ``labels_``; ``bags_``, ``embedding_`` and ``centres_`` are used when they are there.
        bags : Bags, default=None
            The bags of the training rows, when the estimator does not keep them.
        n_nearest : int
            How many rows stand for a cluster.
        """
        if not hasattr(estimator, "labels_"):
            raise InvalidData(
                f"ClusterReading.from_estimator needs a fitted estimator with labels_. Got {estimator!r:.80}."
            )
        found = bags if bags is not None else getattr(estimator, "bags_", None)
        if found is None:
            raise InvalidData(f"{type(estimator).__name__} keeps no bags. Pass bags= to ClusterReading.from_estimator.")
        gaps = None
        if hasattr(estimator, "embedding_"):
            centres = np.asarray(estimator.centres_)[estimator.labels_]
            gaps = np.linalg.norm(np.asarray(estimator.embedding_) - centres, axis=1)
        return cls.from_labels(
            estimator.labels_,
            found,
            n_clusters=getattr(estimator, "n_clusters", None),
            distances=gaps,
            n_nearest=n_nearest,
        )

    @classmethod
    def from_labels(
        cls, labels: Any, bags: Bags, *, n_clusters: int | None = None, distances: Any = None, n_nearest: int = 5
    ) -> Self:
        """Read any clusters of the rows of ``bags``.

        Parameters
        ----------
        labels : array of shape (n_rows,)
            Cluster of each row.
        bags : Bags
            Bags with labels.
        n_clusters : int, default=None
            Number of clusters, when some may be empty.
        distances : array of shape (n_rows,), default=None
            Distance of each row to the centre of its cluster.
        n_nearest : int
            How many rows stand for a cluster.
        """
        if not isinstance(bags, Bags):
            raise WrongKind(f"ClusterReading needs Bags with labels. Got {bags!r:.80}.")
        labels = np.asarray(as_sequence("ClusterReading", "labels", labels, "the cluster of each row"))
        if labels.shape != (bags.n_rows,) or labels.dtype.kind not in "iu" or labels.min(initial=0) < 0:
            raise InvalidData(
                f"ClusterReading needs a cluster from 0 on for each of the {bags.n_rows} rows of bags. Got an array of "
                f"{labels.dtype} with shape {labels.shape}."
            )
        check_number("ClusterReading", "n_nearest", n_nearest, integer=True, low=0)
        K = int(labels.max(initial=-1)) + 1
        if n_clusters is not None:
            check_number("ClusterReading", "n_clusters", n_clusters, integer=True, low=K, high=max(K, bags.n_rows))
            K = int(n_clusters)
        if distances is not None:
            distances = np.asarray(as_sequence("ClusterReading", "distances", distances, "a distance for each row"))
            if distances.shape != labels.shape or distances.dtype.kind not in "iuf":
                raise InvalidData(f"ClusterReading got distances of shape {distances.shape} for {len(labels)} rows.")
        shares = class_shares(labels, bags, K)
        top = shares.argmax(axis=1) if shares.size else np.zeros(K, dtype=np.intp)
        clear = shares.max(axis=1, initial=0.0) >= MAJORITY
        refines = [bags.classes[c] if ok else None for c, ok in zip(top, clear)]
        sizes = np.bincount(labels, minlength=K)
        return cls(
            _names(refines, sizes, shares), sizes, bags.classes, shares, refines,
            [_nearest(labels, distances, k, n_nearest) for k in range(K)],
            [_objecting(labels, bags, k, top[k]) if clear[k] else [] for k in range(K)],
        )  # fmt: skip

    def to_columns(self, row_ids: Sequence[Any] | None = None, *, most: int = 5) -> dict[str, list[Any]]:
        """Return the reading as columns of a table, one row per cluster.

        Parameters
        ----------
        row_ids : sequence, default=None
            Names of the rows; by default their numbers.
        most : int
            How many classes, rows and bags to list.
        """
        K = len(self.names)
        return {
            "cluster": list(range(K)),
            "name": self.names,
            "rows": self.sizes.tolist(),
            "made of": [self._made_of(k, most) for k in range(K)],
            "typical rows": [
                ", ".join(str(r if row_ids is None else row_ids[r]) for r in self.nearest[k][:most].tolist())
                for k in range(K)
            ],
            "bags that disagree": [len(bags) for bags in self.disagreeing],
            "for example": [", ".join(str(b) for b in bags[:most]) for bags in self.disagreeing],
        }

    def __repr__(self) -> str:
        """Name the clusters and their sizes."""
        told = ", ".join(f"{name} ({size})" for name, size in zip(self.names, self.sizes))
        return f"ClusterReading({told})"

    def refinements(self) -> dict[Any, list[int]]:
        """Return, for each class, the clusters that refine it; a class without any was not found."""
        return {c: [k for k, refined in enumerate(self.refines) if refined == c] for c in self.classes}

    def _made_of(self, k: int, most: int) -> str:
        order = np.argsort(-self.shares[k], kind="stable")[:most]
        return ", ".join(f"{self.classes[c]} {self.shares[k, c]:.0%}" for c in order if self.shares[k, c] >= 0.05)


def _names(refines: list[Any], sizes: np.ndarray, shares: np.ndarray) -> list[str]:
    says = shares.sum(axis=1) > 0
    nameless = np.where(sizes == 0, "empty", np.where(says, "mixed", "unlabelled"))
    class_names = [str(nameless[k] if refined is None else refined) for k, refined in enumerate(refines)]
    counts = {name: class_names.count(name) for name in class_names}
    seen: dict[str, int] = {}
    names = []
    for name in class_names:
        seen[name] = seen.get(name, 0) + 1
        names.append(name if counts[name] == 1 else f"{name}/{seen[name]}")
    return names


def _nearest(labels: np.ndarray, distances: Any, k: int, most: int) -> np.ndarray:
    rows = np.flatnonzero(labels == k)
    if distances is None:
        return rows[:0]
    return rows[np.argsort(np.asarray(distances)[rows], kind="stable")[:most]]


def _objecting(labels: np.ndarray, bags: Bags, k: int, top: int) -> list[Any]:
    counts = np.bincount(bags.codes[labels == k], minlength=bags.n_bags)
    lacks = ~bags.bag_label_mask()[:, top] & (counts > 0)
    order = np.flatnonzero(lacks)[np.argsort(-counts[lacks], kind="stable")]
    return [bags.names[code] for code in order.tolist()]
