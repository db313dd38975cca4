"""Label sets of bags as arrays, and the sets that are made of other sets.

The sets are two arrays, those of a CSR matrix of bags x classes, with a flag for each bag that was given a set at all:
an empty set is an answer ("none of the known labels"), a missing one is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import is_sparse
from sidelight.data.names import (
    Names,
    as_array,
    as_frame,
    as_series,
    check_distinct,
    flags_of,
    is_missing,
    look_up,
    plain,
    sorted_names,
    table_columns,
)
from sidelight.errors import InvalidData, UnknownName, nearest

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw


Places = NDArray[np.intp]


Flags = NDArray[np.bool_]


class LabelSets(NamedTuple):
    """What was said about the labels of each bag."""

    classes: Names
    starts: Places  # the labels of bag b are columns[starts[b]:starts[b + 1]]
    columns: Places  # positions in classes, ascending within a bag, each once
    is_labelled: Flags

    @property
    def bags(self) -> Places:
        """The bag that each of ``columns`` belongs to."""
        return np.repeat(np.arange(len(self.is_labelled)), np.diff(self.starts))


def gathered(bags: Any, columns: Any, classes: Names, is_labelled: Flags) -> LabelSets:
    """Return label sets of these (bag, position in classes) pairs, in any order; one that comes twice counts once."""
    n_classes = max(len(classes), 1)
    keys = np.unique(np.asarray(bags, dtype=np.intp) * n_classes + np.asarray(columns, dtype=np.intp))
    sizes = np.bincount(keys // n_classes, minlength=len(is_labelled))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return LabelSets(classes, starts, (keys % n_classes).astype(np.intp), is_labelled)


def taken(sets: LabelSets, bags: Places) -> LabelSets:
    """Return the label sets of these bags, in this order."""
    sizes = np.diff(sets.starts)[bags]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    places = np.arange(starts[-1]) + np.repeat(sets.starts[bags] - starts[:-1], sizes)
    return LabelSets(sets.classes, starts, sets.columns[places], sets.is_labelled[bags])


def in_classes(sets: LabelSets, classes: Names) -> LabelSets:
    """Return the same label sets with other columns; a label that is used must be among them."""
    column_of = {name: column for column, name in enumerate(classes)}
    for column in np.unique(sets.columns).tolist():
        if sets.classes[column] not in column_of:
            lost = sets.classes[column]
            raise UnknownName(f"Bags: some bag has the label {lost!r}, which is not a class. {nearest(lost, classes)}")
    moved = np.array([column_of.get(name, -1) for name in sets.classes], dtype=np.intp)
    return gathered(sets.bags, moved[sets.columns], classes, sets.is_labelled)


def without_bags(sets: LabelSets, forget: Flags) -> LabelSets:
    """Return the label sets with these bags unlabelled; the classes stay known."""
    kept = ~forget[sets.bags]
    return gathered(sets.bags[kept], sets.columns[kept], sets.classes, sets.is_labelled & ~forget)


def without_classes(sets: LabelSets, drop: Flags) -> LabelSets:
    """Return the label sets without these classes; a set that becomes empty stays a set."""
    classes = tuple(name for name, dropped in zip(sets.classes, drop) if not dropped)
    stays = ~drop[sets.columns]
    columns = (np.cumsum(~drop) - 1)[sets.columns[stays]]
    return gathered(sets.bags[stays], columns, classes, sets.is_labelled)


def are_sets(starts: Places, columns: Places, n_bags: int, n_classes: int) -> bool:
    """Say whether these are the starts and columns of a CSR matrix of bags x classes."""
    return (
        len(starts) == n_bags + 1
        and starts[0] == 0
        and starts[-1] == len(columns)
        and bool(np.all(np.diff(starts) >= 0))
        and bool(np.all((columns >= 0) & (columns < n_classes)))
    )


def read(labels: Any, code_of: Mapping[Hashable, int], classes: Any) -> LabelSets:
    """Read the label sets from a mapping, a data frame or a matrix; None says nothing about any bag."""
    if labels is None:
        labels = {}
    if isinstance(labels, Mapping):
        return from_mapping(labels, code_of, classes)
    series, frame = as_series(labels), as_frame(labels)
    if series is not None:
        return from_mapping(_by_bag(series, code_of), code_of, classes)
    if frame is not None:
        table = _one_hot(frame, code_of)
        return (
            from_frame(labels, code_of, classes, (None, None))
            if table is None
            else from_indicator(table[1], code_of, classes, table[0])
        )
    if is_sparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim == 2):
        return from_indicator(labels, code_of, classes, None)
    raise InvalidData(
        "Bags: labels must be a mapping or a series from bag to a set of names, a data frame of (bag, label) rows or "
        f"of zeros and ones, or a matrix of them. Got {type(labels).__name__}. For a list of (bag, label) tuples use "
        "Bags.from_table."
    )


def _by_bag(series: nw.Series[Any], code_of: Mapping[Hashable, int]) -> dict[Any, Any]:
    """Read a series of label sets by its index; one without an index must have one set for each bag, in their order."""
    import narwhals.stable.v1 as nw  # only where there is a series

    index = nw.maybe_get_index(series)
    if index is None and len(series) != len(code_of):
        raise InvalidData(
            f"Bags labels: a series without an index needs one label set for each of the {len(code_of)} bags, in order "
            f"of first appearance. Got {len(series)}. Give a mapping from bag to label set."
        )
    bags = list(code_of) if index is None else [plain(name) for name in index.tolist()]
    if len(set(bags)) < len(bags):
        twice = next(name for place, name in enumerate(bags) if name in bags[:place])
        raise InvalidData(f"Bags labels: the index of the series names bag {twice!r} twice. Give one label set a bag.")
    return {bag: None if _is_gap(members) else members for bag, members in zip(bags, series.to_list())}


def _one_hot(frame: nw.DataFrame[Any], code_of: Mapping[Hashable, int]) -> tuple[list[Any], Any] | None:
    """Return bags and indicators of a frame of zeros and ones, with the bags as its index or in its first column.

    None for every other frame: one of (bag, label) rows, which may be numbers, too.
    """
    import narwhals.stable.v1 as nw  # only where there is a frame

    index = nw.maybe_get_index(frame)
    bags = [] if index is None else [plain(name) for name in index.tolist()]
    is_made_up = bags == list(range(len(bags)))  # by pandas
    if _names_bags(bags, code_of) and _all_flags(frame) and not (is_made_up and _could_be_rows(frame)):
        return bags, frame
    if len(frame.columns) < 2:
        return None
    first, *others = frame.columns
    bags, flags = [plain(name) for name in frame[first].to_list()], frame.select(others)
    if _names_bags(bags, code_of) and _all_flags(flags) and not _could_be_rows(frame):
        return bags, flags
    return None


def _names_bags(names: list[Any], code_of: Mapping[Hashable, int]) -> bool:
    return bool(names) and all(isinstance(name, Hashable) and name in code_of for name in names)


def _could_be_rows(frame: nw.DataFrame[Any]) -> bool:
    """Say whether a frame could hold (bag, label) rows: two columns, and the labels are not yes and no."""
    return len(frame.columns) == 2 and not _is_yes_or_no(frame[frame.columns[1]])


def _all_flags(frame: nw.DataFrame[Any]) -> bool:
    return bool(frame.columns) and all(
        _is_yes_or_no(frame[name]) or (frame[name].dtype.is_numeric() and frame[name].is_in([0, 1]).all())
        for name in frame.columns
    )


def _is_yes_or_no(series: nw.Series[Any]) -> bool:
    import narwhals.stable.v1 as nw  # only where there is a series

    return series.dtype == nw.Boolean


def _is_gap(members: Any) -> bool:
    return members is None or (
        not isinstance(members, (str, bytes)) and not hasattr(members, "__len__") and is_missing(members)
    )


def read_partial(partial: Any, code_of: Mapping[Hashable, int], is_labelled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which label sets are partial."""
    if isinstance(partial, (bool, np.bool_)):
        return is_labelled & partial
    flags = flags_of(partial, code_of, "Bags partial")
    if (flags & ~is_labelled).any():
        name = list(code_of)[int(np.flatnonzero(flags & ~is_labelled)[0])]
        raise InvalidData(f"Bags partial: bag {name!r} has no label set, so it cannot be a partial one.")
    return flags


def read_whole(whole: Any, n_bags: int) -> NDArray[np.bool_]:
    """Return which bags are whole; None means all."""
    if whole is None:
        return np.ones(n_bags, dtype=bool)
    flags = as_array(whole, "Bags whole")
    if flags.shape != (n_bags,) or (n_bags and flags.dtype != bool):
        raise InvalidData(
            f"Bags whole: expected one bool for each of the {n_bags} bags. Got shape {flags.shape} of {flags.dtype}."
        )
    return flags.astype(bool)


def from_mapping(labels: Mapping[Any, Any], code_of: Mapping[Hashable, int], classes: Any) -> LabelSets:
    """Read ``{bag: {label, ...}}``; None leaves a bag unlabelled."""
    is_labelled = np.zeros(len(code_of), dtype=bool)
    bags: list[int] = []
    listed: list[Hashable] = []
    for bag, members in labels.items():
        code = look_up(bag, code_of, "Bags labels", "bag")
        if members is None:
            continue
        names = _members(members, bag)
        is_labelled[code] = True
        listed.extend(names)
        bags.extend([code] * len(names))
    return _assemble(bags, listed, is_labelled, classes, tuple(code_of))


def from_columns(
    bag_column: list[Any], label_column: list[Any], code_of: Mapping[Hashable, int], classes: Any
) -> LabelSets:
    """Read a table of (bag, label) rows; a row without a label says that the bag carries none."""
    is_labelled = np.zeros(len(code_of), dtype=bool)
    bags: list[int] = []
    listed: list[Hashable] = []
    for bag, label in zip(bag_column, label_column, strict=True):
        code = look_up(bag, code_of, "Bags.from_table", "bag")
        is_labelled[code] = True
        if not is_missing(label):
            bags.append(code)
            listed.append(plain(label))
    return _assemble(bags, listed, is_labelled, classes, tuple(code_of))


def from_frame(table: Any, code_of: Mapping[Hashable, int], classes: Any, columns: tuple[Any, Any]) -> LabelSets:
    """Read a data frame or a list of (bag, label) tuples."""
    bag_column, label_column = table_columns(table, columns, "Bags.from_table")
    return from_columns(bag_column, label_column, code_of, classes)


def from_indicator(Y: Any, code_of: Mapping[Hashable, int], classes: Any, names: Any) -> LabelSets:
    """Read a (bags x classes) matrix of zeros and ones, dense or sparse; ``names`` says which bag each row is."""
    frame = as_frame(Y)
    if frame is not None:
        classes = frame.columns if classes is None else classes
        Y = frame.to_numpy()
    Y = _zeros_and_ones(Y).tocoo()
    classes = tuple(range(Y.shape[1])) if classes is None else check_distinct(classes, "class")
    if len(classes) != Y.shape[1]:
        raise InvalidData(f"Bags.from_indicator: {Y.shape[1]} columns but {len(classes)} class names.")
    given = tuple(code_of) if names is None else check_distinct(names, "bag name")
    if len(given) != Y.shape[0]:
        raise InvalidData(
            f"Bags.from_indicator: {Y.shape[0]} rows of labels but {len(given)} bag names. Without names=, there must "
            f"be one row for each of the {len(code_of)} bags, in order of first appearance."
        )
    codes = np.array([look_up(name, code_of, "Bags.from_indicator", "bag") for name in given], dtype=np.intp)
    is_labelled = np.zeros(len(code_of), dtype=bool)
    is_labelled[codes] = True
    return gathered(codes[Y.row], Y.col, classes, is_labelled)


def _members(members: Any, bag: Hashable) -> list[Hashable]:
    """Return the names in one label set."""
    if type(members) is frozenset and all(type(name) is str for name in members):
        return list(members)
    if isinstance(members, (str, bytes)):
        raise InvalidData(
            f"Bags labels: the label set of bag {bag!r} is the bare string {members!r}. Write {{{members!r}}}."
        )
    if isinstance(members, Mapping) or not isinstance(members, Iterable) or getattr(members, "ndim", 1) != 1:
        raise InvalidData(
            f"Bags labels: the label set of bag {bag!r} must be a set of names, or None for an unlabelled bag. "
            f"Got {members!r}."
        )
    names = [plain(name) for name in members]
    for name in names:
        if is_missing(name):
            raise InvalidData(f"Bags labels: bag {bag!r} has the label {name!r}, which names nothing.")
    return names


def _assemble(
    bags: list[int], said: list[Hashable], is_labelled: NDArray[np.bool_], classes: Any, names: Names
) -> LabelSets:
    try:
        known = sorted_names(set(said)) if classes is None else check_distinct(classes, "class")
        column_of = {name: column for column, name in enumerate(known)}
        columns = [column_of[name] for name in said]
    except TypeError as error:
        place = next(place for place, name in enumerate(said) if not _is_hashable(name))
        raise InvalidData(
            f"Bags labels: bag {names[bags[place]]!r} has the label {said[place]!r}, which is no name: a label must be "
            "hashable."
        ) from error
    except KeyError:
        place = next(place for place, name in enumerate(said) if name not in column_of)
        raise UnknownName(
            f"Bags labels: bag {names[bags[place]]!r} has the label {said[place]!r}, which is not among the "
            f"classes. {nearest(said[place], known)}"
        ) from None
    return gathered(bags, columns, known, is_labelled)


def _is_hashable(name: Any) -> bool:
    try:
        hash(name)
    except TypeError:
        return False
    return True


def _zeros_and_ones(Y: Any) -> Any:
    from scipy.sparse import csr_array  # half a second that label sets by name need not wait for

    if not is_sparse(Y):
        Y = as_array(Y, "Bags.from_indicator")
        if Y.ndim != 2 or Y.dtype.kind not in "biuf":
            raise InvalidData(
                "Bags.from_indicator: expected a (bags x classes) matrix of zeros and ones. "
                f"Got an array of shape {Y.shape} and dtype {Y.dtype}."
            )
    Y = csr_array(Y, dtype=np.float64, copy=True)
    Y.sum_duplicates()
    wrong = np.flatnonzero((Y.data != 0) & (Y.data != 1))
    if wrong.size:
        row, column = (int(axis[wrong[0]]) for axis in (Y.tocoo().row, Y.tocoo().col))
        raise InvalidData(
            f"Bags.from_indicator: the matrix holds zeros and ones, but row {row}, column {column} is "
            f"{Y.data[wrong[0]]:g}. Leave a bag out of names= when its labels are not known."
        )
    Y.eliminate_zeros()
    return Y
