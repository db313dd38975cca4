"""From bags and known rows to the kernel's plan, with everything that cannot be true said by name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from sidelight._core.params import as_sequence
from sidelight.data.bags import Bags
from sidelight.data.inseparable import inseparable_labels
from sidelight.errors import (
    InseparableLabels,
    InvalidData,
    LabelsWithoutRows,
    SidelightWarning,
    WrongKind,
    nearest,
    warn,
)
from sidelight.estimators._labelled_bags.coverage import BagPlan
from sidelight.estimators._weights import weights_of_bags
from sidelight.words import counted


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
    possible = np.minimum(counts, _most_labels(bags, row_class))
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
    """Refuse to learn where no bag has a label list and no row a label: every row would fall into one cluster."""
    if bags.is_labelled.any() or (row_class is not None and (row_class >= 0).any()):
        return
    raise InvalidData(
        f"{type(owner).__name__} learns from the label lists of bags, and none of the {counted(bags.n_bags, 'bag')} "
        "given has one. Pass bags=Bags(ids, labels={bag: {...}}); with scikit-learn's model selection, pass the Bags "
        "as y. A clusterer that needs no labels is DiscriminativeClustering."
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
