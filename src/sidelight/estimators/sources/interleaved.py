"""Interleaved co-clustering of the two-way margins of a table: [B04] Algorithm 1."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sidelight._core.params import as_generator, as_seed, as_sequence, check_number
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.errors import InvalidParameter, UnknownName, nearest
from sidelight.estimators._base import Estimator, all_or_nothing
from sidelight.estimators.sources._coclusterer import check_coclusterer, table_to_fit
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.progress import report

Ints = NDArray[np.intp]
Margin = tuple[str, str]


class InterleavedCoclustering(Estimator):
    """Cluster two-way margins of a table in turn, each starting from the labels the others found.

    Storage grows with the pairs of axes, not with their product. What no pair shows is not seen.

    Parameters
    ----------
    base : co-clusterer or list of them, default=None
        What clusters a margin: one estimator for all, or one per margin. None means
        :class:`InformationCoclustering` with its defaults.
    n_clusters : int or dict of axis to int, default=None
        Clusters of each axis. None takes the base's own numbers for every margin.
    margins : list of (str, str) or str, default=None
        Which pairs of axes, in which order. None means all, the name of an axis all pairs with that axis; then the
        pair with the least information comes first: what is clustered last has the last word, so the strongest
        comes last ([B04] 4.4).
    max_rounds : int, default=15
        Most passes over the margins.
    random_state : int, RandomState, Generator or None, default=None
        Seed for the bases that have no ``random_state`` of their own.

    Attributes
    ----------
    axis_labels_ : dict of str to ndarray
        Cluster of each code of each axis that some margin mentions; -1 where the table has no mass.
    row_labels_, column_labels_ : ndarray
        The same for tables with two axes.
    margins_ : tuple of (str, str)
        The margins in the order they were clustered.
    information_ : dict of (str, str) to float
        Information that the final labels keep of each margin, in nats.
    information_loss_ : float
        What they lose, summed over the margins.
    n_rounds_ : int
        Passes until the labels stood still.
    axes_, n_features_in_, data_fingerprint_ : tuple, int, str
        Names of the axes, codes of the second axis, a short name of the table.

    Examples
    --------
    >>> import sidelight as sl
    >>> table = sl.CoOccurrence.from_codes({"a": [0, 1, 2, 3], "b": [0, 0, 1, 1], "c": [1, 1, 0, 0]})
    >>> found = sl.estimators.InterleavedCoclustering(sl.InformationCoclustering(2), random_state=0).fit(table)
    >>> bool(found.axis_labels_["a"][0] == found.axis_labels_["a"][1] != found.axis_labels_["a"][2])
    True
    """

    def __init__(
        self,
        base: Any = None,
        *,
        n_clusters: Any = None,
        margins: Any = None,
        max_rounds: int = 15,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.n_clusters = n_clusters
        self.margins = margins
        self.max_rounds = max_rounds
        self.random_state = random_state

    @all_or_nothing
    def fit(self, P: Any, y: Any = None) -> InterleavedCoclustering:
        """Cluster the axes of a table through its margins.

        Parameters
        ----------
        P : CoOccurrence, array, CSR matrix or data frame
            Counts over any number of axes; a matrix has the axes ``rows`` and ``columns`` and one margin.
        y : ignored
            Present for scikit-learn.
        """
        check_number(self, "max_rounds", self.max_rounds, integer=True, low=1)
        joint = table_to_fit(self, P)
        table = P if isinstance(P, CoOccurrence) else CoOccurrence.from_matrix(joint.csr)
        margins = self._ordered_margins(table)
        self._check_clusters(table, margins)
        tables = {margin: table.margin(*margin) for margin in margins}
        bases = self._bases(margins)

        labels: dict[str, Ints] = {}
        for number in range(1, self.max_rounds + 1):
            report("interleaving", number - 1, self.max_rounds)
            before = dict(labels)
            for margin in margins:
                fitted = bases[margin].fit(tables[margin], init={a: labels[a] for a in margin if a in labels})
                labels.update(fitted.axis_labels_)
            if before and all(_same_partition(before[axis], labels[axis]) for axis in labels):
                break
        self.axes_, self.margins_, self.n_rounds_ = table.axes, margins, number
        self.axis_labels_ = labels
        if len(table.axes) == 2:
            self.row_labels_, self.column_labels_ = (labels[axis] for axis in table.axes)
        self.information_, self.information_loss_ = _kept(tables, labels)
        return self

    def _ordered_margins(self, table: CoOccurrence) -> tuple[Margin, ...]:
        if self.margins is None or isinstance(self.margins, str):
            centre = self.margins
            if centre is not None and centre not in table.axes:
                raise UnknownName(
                    f"InterleavedCoclustering: the table has no axis {centre!r}. {nearest(centre, table.axes)}"
                )
            others = [axis for axis in table.axes if axis != centre]
            pairs = list(combinations(table.axes, 2)) if centre is None else [(centre, axis) for axis in others]
            strength = {pair: table.mutual_information(*pair) for pair in pairs}
            return tuple(sorted(pairs, key=lambda pair: strength[pair]))
        margins = []
        for pair in as_sequence(self, "margins", self.margins, '"all", the name of an axis, or pairs of names'):
            for axis in as_sequence(self, "margins", pair, "pairs of names"):
                if not isinstance(axis, str) or axis not in table.axes:
                    raise UnknownName(
                        f"InterleavedCoclustering: margins name the axis {axis!r}, which the table does not have. "
                        + nearest(axis, table.axes)
                    )
            if len(pair) != 2 or pair[0] == pair[1]:
                raise InvalidParameter(f"InterleavedCoclustering: a margin is a pair of two axes, got {pair!r}.")
            margins.append((str(pair[0]), str(pair[1])))
        if not margins:
            raise InvalidParameter("InterleavedCoclustering: margins is empty. Name at least one pair of axes.")
        return tuple(margins)

    def _check_clusters(self, table: CoOccurrence, margins: tuple[Margin, ...]) -> None:
        if not isinstance(self.n_clusters, Mapping):
            return
        for axis in self.n_clusters:
            if axis not in table.axes:
                raise UnknownName(
                    f"InterleavedCoclustering: n_clusters names the axis {axis!r}, which the table does not have. "
                    + nearest(axis, table.axes)
                )
        missing = [axis for margin in margins for axis in margin if axis not in self.n_clusters]
        if missing:
            raise InvalidParameter(
                f"InterleavedCoclustering: n_clusters says nothing about the axis {missing[0]!r}. Bring a number for "
                "every axis of the margins, or one number for all."
            )

    def _bases(self, margins: tuple[Margin, ...]) -> dict[Margin, Any]:
        """Clone one base per margin, with its axes' numbers of clusters and a seed where it has none."""
        base = InformationCoclustering() if self.base is None else self.base
        templates = list(base) if isinstance(base, (list, tuple)) else [base] * len(margins)
        if len(templates) != len(margins):
            raise InvalidParameter(
                f"InterleavedCoclustering got {len(templates)} bases for {len(margins)} margins "
                f"({', '.join('/'.join(margin) for margin in margins)}). Bring one, or one per margin."
            )
        for template in templates:
            check_coclusterer(self, template, "base")
        rng, bases = as_generator(self.random_state), {}
        for margin, template in zip(margins, templates):
            fresh = clone(template)
            if fresh.get_params().get("random_state") is None:
                fresh.set_params(random_state=as_seed(rng))
            if self.n_clusters is not None:
                of_axis = self.n_clusters
                k = tuple(of_axis[a] for a in margin) if isinstance(of_axis, Mapping) else (of_axis, of_axis)
                fresh.set_params(n_clusters=k)
            bases[margin] = fresh
        return bases

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that tables may be sparse and must not be negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _same_partition(one: Ints, other: Ints) -> bool:
    """Tell whether two labellings group the codes in the same way, whatever the numbers are."""
    pairs = np.unique(np.stack([one, other]), axis=1)
    return pairs.shape[1] == np.unique(one).size == np.unique(other).size


def _kept(tables: dict[Margin, CoOccurrence], labels: dict[str, Ints]) -> tuple[dict[Margin, float], float]:
    kept, lost = {}, 0.0
    for margin, table in tables.items():
        small = table.aggregate({axis: np.maximum(labels[axis], 0) for axis in margin})
        kept[margin] = small.mutual_information()
        lost += max(0.0, table.mutual_information() - kept[margin])
    return kept, lost
