"""From bags, candidates and known rows to the kernel's plan, with everything that cannot be true said by name.

A layout says which clusters there are: so many for each class, then the novel ones. The list of a bag says "all of
these are there"; candidates of a row say "one of these is it". As bags of one row they differ in what is demanded: a
list of three labels asks for three rows, three candidates ask for one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._core.params import as_sequence, check_number
from sidelight.data.bags import Bags
from sidelight.data.inseparable import inseparable_labels
from sidelight.errors import (
    InseparableLabels,
    InvalidData,
    InvalidParameter,
    LabelsWithoutRows,
    SidelightWarning,
    UnknownName,
    WrongKind,
    nearest,
    warn,
)
from sidelight.estimators._labelled_bags.coverage import BagPlan
from sidelight.estimators._labelled_bags.demands import DemandPlan
from sidelight.estimators._weights import weights_of_bags
from sidelight.words import counted

MOST_CELLS = 1 << 26  # of a table: half a GB, of which a fit holds several
AT_ONCE = 40_000  # rows of one table; more of them are settled on a sample, or visited in blocks


@dataclass(frozen=True, slots=True)
class Layout:
    """``class_of[k]`` is the class of cluster k, -1 for a novel one; ``names[k]`` is what users call it."""

    classes: tuple[Hashable, ...]
    class_of: np.ndarray
    names: tuple[str, ...]

    @classmethod
    def of(cls, classes: tuple[Hashable, ...], n_subclusters: int | Mapping[Any, int], n_novel: int) -> Layout:
        """Lay out clusters class by class; a lone cluster bears the name of its class."""
        counts = _counts(classes, n_subclusters)
        n_novel = n_novel if classes or n_novel else 1  # without any label there is one nameless kind
        taken = {str(c) for c in classes}
        names = [str(c) if n == 1 else _free(f"{c}/{j + 1}", taken) for c, n in zip(classes, counts) for j in range(n)]
        names += [_free(f"novel-{j + 1}", taken) for j in range(n_novel)]
        class_of = np.concatenate([np.repeat(np.arange(len(classes)), counts), np.full(n_novel, -1)]).astype(np.intp)
        return cls(classes, class_of, tuple(names))

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.class_of)

    @property
    def n_novel(self) -> int:
        """How many of them are novel."""
        return int((self.class_of < 0).sum())

    @property
    def label_names(self) -> tuple[Hashable, ...]:
        """What a row can be called: the classes, then each novel cluster."""
        return (*self.classes, *self.names[self.n_clusters - self.n_novel :])

    @property
    def has_subclusters(self) -> bool:
        """Whether a class has several clusters."""
        return len(set(self.class_of.tolist())) < self.n_clusters - max(self.n_novel - 1, 0)

    @property
    def is_symmetric(self) -> bool:
        """Whether two clusters could change places, so that a start must tell them apart."""
        return self.n_novel > 1 or self.has_subclusters

    def to_labels(self) -> np.ndarray:
        """Return the matrix (clusters x label names) that adds up the clusters of each name."""
        target = self.class_of.copy()
        target[self.class_of < 0] = len(self.classes) + np.arange(self.n_novel)
        return np.eye(len(self.label_names))[target]


def count_clusters(classes: tuple[Hashable, ...], n_subclusters: int | Mapping[Any, int], n_novel: int) -> int:
    """Return how many clusters :meth:`Layout.of` would lay out, before anything of that size is made."""
    return sum(_counts(classes, n_subclusters)) + int(n_novel)


def _counts(classes: tuple[Hashable, ...], n_subclusters: int | Mapping[Any, int]) -> list[int]:
    return [int(n_subclusters.get(c, 1) if isinstance(n_subclusters, Mapping) else n_subclusters) for c in classes]


def _free(name: str, taken: set[str]) -> str:
    """Mark a name that is already the label of a bag: "novel-1" must not be mistaken for one of the user's."""
    while name in taken:
        name += "'"
    return name


def check_counts(owner: object, n_subclusters: Any, n_novel: Any) -> None:
    """Refuse counts that are neither whole numbers nor "auto"."""
    wanted = '"auto", an int >= 1, or a mapping from labels to such numbers'
    if isinstance(n_subclusters, Mapping):
        for name, count in n_subclusters.items():
            check_number(owner, f"n_subclusters[{name!r}]", count, integer=True, low=1)
    elif isinstance(n_subclusters, str):
        if n_subclusters != "auto":
            raise InvalidParameter(
                f"The 'n_subclusters' parameter of {type(owner).__name__} must be {wanted}. Got {n_subclusters!r}."
            )
    else:
        check_number(owner, "n_subclusters", n_subclusters, integer=True, low=1)
    if not (isinstance(n_novel, str) and n_novel == "auto"):
        check_number(owner, "n_novel", n_novel, integer=True, low=0, advice='It may also be "auto".')


def check_names(n_subclusters: Any, classes: tuple[Hashable, ...]) -> None:
    """Refuse sub-clusters of a label that no bag lists."""
    for name in n_subclusters if isinstance(n_subclusters, Mapping) else ():
        if name not in classes:
            raise UnknownName(f"n_subclusters names the label {name!r}, which no bag lists. {nearest(name, classes)}")


def read_candidates(candidates: Any, n_rows: int, *, classes: Any = None) -> Bags:
    """Return a bag of one row for every row, whose list holds the row's candidates; rows without any are unlabelled.

    Parameters
    ----------
    candidates : sequence or mapping
        One set of labels or None for each row, or a mapping from row numbers to sets.
    n_rows : int
        How many rows there are.
    classes : sequence, default=None
        Put the labels into these classes, in this order.
    """
    sets = _by_row(candidates, n_rows)
    for row, labels in sets.items():
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            raise InvalidData(
                f"candidates must hold one set of labels for each row. Row {row} has {labels!r}; write {{{labels!r}}} "
                "for a single label, or pass row_labels= where the label of a row is known."
            )
    labels = {row: set(labels) for row, labels in sets.items()}
    empty = [row for row, some in labels.items() if not some]
    if empty:
        raise InvalidData(
            f"Row {empty[0]} has no candidates, but exactly one of a row's candidates is true. Give None for a row "
            "about which nothing is known."
        )
    return Bags(np.arange(n_rows), labels=labels, classes=classes)


def _by_row(candidates: Any, n_rows: int) -> dict[int, Any]:
    if isinstance(candidates, Mapping):
        for row in candidates:
            if not isinstance(row, (int, np.integer)) or not 0 <= row < n_rows:
                raise InvalidData(f"candidates names row {row!r}, but the rows are 0 to {n_rows - 1}.")
        return {int(row): labels for row, labels in candidates.items() if labels is not None}
    if isinstance(candidates, (str, bytes)) or not hasattr(candidates, "__len__"):
        raise InvalidData(f"candidates must be one set of labels for each row, or a mapping. Got {candidates!r:.60}.")
    if len(candidates) != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but candidates has {len(candidates)}. Give one set of labels or None for each row."
        )
    return {row: labels for row, labels in enumerate(candidates) if labels is not None}


def candidates_of(bags: Bags) -> list[Any]:
    """Return the sets of rows that :func:`read_candidates` read, row by row."""
    return [bags.labels[name] for name in bags]


def warn_if_inseparable(owner: object, bags: Bags, row_class: np.ndarray) -> None:
    """Say which labels the lists cannot tell apart, unless rows with known labels can."""
    found = inseparable_labels(bags)
    if found and not (row_class >= 0).any():
        warn(InseparableLabels("; ".join(found.sentences()) + ".", who=type(owner).__name__), stacklevel=5)


def plan_bags(
    bags: Bags,
    row_class: np.ndarray,
    *,
    anything_novel: bool,
    wrong: float,
    forgotten: float,
    one_of: bool = False,
    warn: bool = True,
) -> BagPlan:
    """Write down what every bag demands and allows; refuse what no assignment of rows could satisfy.

    A bag that was cut keeps "no other label" and demands nothing. A bag with fewer free rows than labels is asked to
    carry as many labels as it can, with a warning that names it. With ``one_of`` every bag is a row and its list holds
    candidates: one of them is carried, and nothing else.
    """
    matrix = bags.label_matrix
    counts = np.diff(matrix.indptr)
    is_open = ~bags.is_labelled | bags.is_partial
    if not anything_novel and forgotten == 0:
        refuse_empty_sets(bags)
    if forgotten == 0:
        _refuse_known_rows_outside(bags, row_class, is_open)
    demands = DemandPlan.of(bags)
    possible = np.minimum(counts, _most_labels(bags, row_class))
    if demands is not None:
        possible[demands.is_special] = counts[demands.is_special]  # what rows can fill is checked there
        _refuse_unfilled(bags, demands, row_class, everything_named=not anything_novel and forgotten == 0)
    required = np.where(bags.whole, possible, 0)
    short = np.flatnonzero(bags.whole & (possible < counts))
    if one_of:  # without novel clusters a row can carry nothing but a candidate anyway
        required = np.minimum(required, int(anything_novel))
    elif warn and len(short) and wrong == 0:
        _warn_short(bags, short, possible)
    return BagPlan(  # copies, because kernels refuse the read-only arrays of frozen bags
        order=np.array(bags.order, dtype=np.intp),
        starts=np.array(bags.starts, dtype=np.intp),
        label_starts=np.array(matrix.indptr, dtype=np.intp),
        labels=np.array(matrix.indices, dtype=np.intp),
        required=np.ascontiguousarray(required, dtype=np.intp),
        others=is_open.astype(np.float64),
        row_class=np.ascontiguousarray(row_class, dtype=np.intp),
        demands=demands,
    )


def read_row_labels(row_labels: Any, n_rows: int) -> list[Hashable]:
    """Return one label name or None for each row, from a sequence with gaps or a mapping from rows to names."""
    if row_labels is None:
        return [None] * n_rows
    if isinstance(row_labels, Mapping):
        labels: list[Hashable] = [None] * n_rows
        for row, name in row_labels.items():
            if not isinstance(row, (int, np.integer)) or not 0 <= row < n_rows:
                raise InvalidData(f"row_labels names row {row!r}, but the rows are 0 to {n_rows - 1}.")
            labels[int(row)] = name
    else:
        labels = as_sequence(
            "fit", "row_labels", row_labels, "one label or None for each row, or a mapping from rows to labels"
        )
    if len(labels) != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but row_labels has {len(labels)}. Give one label or None for each row, "
            "or a mapping from row numbers to labels."
        )
    names = [None if _is_gap(name) else name.item() if isinstance(name, np.generic) else name for name in labels]
    for row, name in enumerate(names):
        if not isinstance(name, Hashable):
            raise WrongKind(f"row_labels must hold one label or None for each row. Got {name!r:.80} for row {row}.")
    return names


def code_rows(names: list[Hashable], classes: tuple[Hashable, ...]) -> np.ndarray:
    """Return the class of each row, -1 where it is unknown."""
    code_of = {name: code for code, name in enumerate(classes)}
    for row, name in enumerate(names):
        if name is not None and name not in code_of:
            raise InvalidData(f"Row {row} is said to be {name!r}, which is not a known label. {nearest(name, classes)}")
    return np.array([-1 if name is None else code_of[name] for name in names], dtype=np.intp)


def with_classes_of_rows(bags: Bags, names: list[Hashable]) -> Bags:
    """Let labels that only rows were given count as classes too."""
    new = sorted({name for name in names if name is not None} - set(bags.classes), key=str)
    return bags.with_classes((*bags.classes, *new)) if new else bags


def mean_over_lists(owner: object, values: np.ndarray, bags: Bags, sample_weight: Any) -> float:
    """Return the mean of one value for each labelled bag, weighed; NaN with a warning where no bag has a list.

    NaN is what scikit-learn's searches know: they rank it last and say so.
    """
    if len(values) == 0:
        warn(
            f"{type(owner).__name__}.score judges label lists, but none of the {counted(bags.n_bags, 'bag')} given has "
            "one: the score is NaN. Give bags=Bags(ids, labels={bag: {...}}). In cross_val_score and GridSearchCV pass "
            "the Bags as y, or call sklearn.set_config(enable_metadata_routing=True): without it bags= reaches fit, "
            "but not score.",
            SidelightWarning,
            stacklevel=5,
        )
        return float("nan")
    weights = weights_of_bags(sample_weight, bags)[bags.is_labelled]
    if not weights.any():
        raise InvalidData("Every labelled bag has sample_weight 0. Give some of their rows a weight above 0.")
    return float(np.average(values, weights=weights))


def require_lists(owner: object, bags: Bags, row_class: np.ndarray | None = None) -> None:
    """Refuse lists that nothing can be learnt from: none, where all rows would be one cluster, or too many names."""
    if not bags.is_labelled.any() and (row_class is None or not (row_class >= 0).any()):
        raise InvalidData(
            f"{type(owner).__name__} learns from the label lists of bags, and none of the "
            f"{counted(bags.n_bags, 'bag')} given has one. Pass bags=Bags(ids, labels={{bag: {{...}}}}); with "
            "scikit-learn's model selection, pass the Bags as y. A clusterer that needs no labels is "
            "DiscriminativeClustering."
        )
    check_cells(owner, bags.n_classes, bags.n_rows)


def check_cells(owner: object | str, n_clusters: int, n_rows: int) -> None:
    """Refuse tables of rows and clusters, and of clusters and clusters, before they cost memory and hours."""
    n_cells = n_clusters * max(n_clusters, min(n_rows, AT_ONCE))
    if n_cells > MOST_CELLS:
        who = owner if isinstance(owner, str) else type(owner).__name__
        raise InvalidData(
            f"{who} would hold tables of {n_cells:,} numbers, more than {MOST_CELLS:,}, for {n_clusters:,} labels "
            f"and novel clusters of {n_rows:,} rows. Leave rare labels out (bags.without_classes), join those that "
            "mean the same, or ask for fewer clusters; names of files or rows are no labels."
        )


def _is_gap(name: Any) -> bool:
    if name is None or (isinstance(name, str) and not name):
        return True
    try:
        return bool(name != name)  # NaN and NaT
    except TypeError:  # pandas.NA answers neither yes nor no
        return True
    except ValueError:  # an array is no name
        raise WrongKind(f"row_labels must hold one label or None for each row. Got {name!r:.80} as a label.") from None


def _most_labels(bags: Bags, row_class: np.ndarray) -> np.ndarray:
    """How many different labels of its list each bag can carry: those of known rows, and one for every other row."""
    is_known = row_class >= 0
    free = np.bincount(bags.codes[~is_known], minlength=bags.n_bags)
    if not is_known.any():
        return free
    carried = np.unique(np.stack([bags.codes[is_known], row_class[is_known]]), axis=1)
    listed = _is_listed(bags, carried[0], carried[1])
    return free + np.bincount(carried[0][listed], minlength=bags.n_bags)


def refuse_empty_sets(bags: Bags) -> None:
    """Refuse a complete list without labels, for use where nothing novel is allowed."""
    counts = np.diff(bags.label_matrix.indptr)
    empty = np.flatnonzero((counts == 0) & bags.is_labelled & ~bags.is_partial)
    if len(empty):
        raise InvalidData(
            f"Bag {bags.names[empty[0]]!r} says that none of the known labels is there"
            + (f" (as do {len(empty) - 1} more)" if len(empty) > 1 else "")
            + ", but nothing novel is allowed. Set n_novel to 1 or more, or leave the bag "
            "out of the labels if nobody looked at it."
        )


def _refuse_known_rows_outside(bags: Bags, row_class: np.ndarray, is_open: np.ndarray) -> None:
    rows = np.flatnonzero((row_class >= 0) & ~is_open[bags.codes])
    listed = _is_listed(bags, bags.codes[rows], row_class[rows])
    if not listed.all():
        row = rows[~listed][0]
        bag = bags.names[bags.codes[row]]
        raise InvalidData(
            f"Row {row} is said to be {bags.classes[row_class[row]]!r}, but its bag {bag!r} lists only "
            f"{_listing(bags, bags.codes[row])}. Correct one of them, call the bag partial, or fit with forgotten > 0."
        )


def _refuse_unfilled(bags: Bags, demands: DemandPlan, row_class: np.ndarray, *, everything_named: bool) -> None:
    """Refuse bags whose rows are more than all that they may be, and rows whose known labels are too many."""
    names = (*bags.classes, *(bags.demands.nodes if bags.demands is not None else ()))
    for b in np.flatnonzero(demands.is_special).tolist():
        part = slice(int(demands.starts[b]), int(demands.starts[b + 1]))
        members, most = demands.member[demands.elements[part]], demands.most[part]
        known = row_class[bags.order[bags.starts[b] : bags.starts[b + 1]]]
        carried = members[:, known[known >= 0]].sum(axis=1)
        if (carried > most + 0.5).any():
            e = int(np.flatnonzero(carried > most + 0.5)[0])
            raise InvalidData(
                f"{carried[e]} rows of bag {bags.names[b]!r} are said to be {names[demands.elements[part][e]]!r}, but "
                f"the bag says at most {most[e]:g}. Correct one of them."
            )
        inside = np.asarray((members[:, None] & ~members[None]).any(axis=2))  # [a, b]: a has a class that b has not
        is_outer = np.array([all(inside[a, e] or a == e for e in range(len(members))) for a in range(len(members))])
        room = most[is_outer].sum() if len(members) else 0.0
        if everything_named and demands.others[b] == 0 and bags.whole[b] and room < bags.sizes[b] - 0.5:
            raise InvalidData(
                f"Bag {bags.names[b]!r} says what {room:g} of its {bags.sizes[b]} rows are, and that nothing else is "
                "there. Allow novel clusters for the others (n_novel), call the bag partial, or say a range."
            )


def _warn_short(bags: Bags, short: np.ndarray, possible: np.ndarray) -> None:
    b = short[0]
    if bags.sizes[b] == 1:
        warn(
            f"{counted(len(short), 'bag lists', 'bags list')} more labels than rows that could carry them, for example "
            f"{bags.names[b]!r}: one row and {_listing(bags, b)}. A list is read as 'all of these are there'. If it "
            "means 'one of these is it', pass candidates= instead of bags=; if labels may be wrong, set wrong > 0.",
            LabelsWithoutRows,
            stacklevel=4,
        )
        return
    warn(
        f"{len(short)} of {counted(bags.n_bags, 'bag')} {'has' if len(short) == 1 else 'have'} more labels than rows "
        f"that could carry them, for example bag {bags.names[b]!r}: its rows can carry {possible[b]} of "
        f"{_listing(bags, b)}. They are asked to carry as many as they can; see uncovered_, or fit with wrong > 0.",
        LabelsWithoutRows,
        stacklevel=4,
    )


def _is_listed(bags: Bags, codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Whether each bag lists each class, pair by pair."""
    listed = bags.label_matrix.tocoo()
    width = max(bags.n_classes, 1)
    return np.isin(codes * width + classes, listed.coords[0] * width + listed.coords[1])


def _listing(bags: Bags, b: int) -> str:
    ends = bags.label_matrix.indptr
    return ", ".join(repr(bags.classes[c]) for c in bags.label_matrix.indices[ends[b] : ends[b + 1]]) or "nothing"
