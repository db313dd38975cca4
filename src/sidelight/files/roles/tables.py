"""From a table and the roles of its columns to a :class:`Dataset`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bags import Bags
from sidelight.data.dataset import OF_ROWS, TORN, Dataset, Note
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.files.problems import header_only, listing, notice
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.choosing import plan_roles
from sidelight.files.roles.columns import Coded, Loaded, MemorySource, TableSource
from sidelight.files.roles.deciding import why_lines
from sidelight.files.roles.events import event_table
from sidelight.files.roles.gaps import without_gap_words
from sidelight.files.roles.labels import (
    RowLabels,
    are_ticks,
    from_cells,
    from_combination,
    from_ticks,
    match_keys,
    without_prefix,
)
from sidelight.files.roles.looks import inspect_column
from sidelight.files.roles.names import is_label_name
from sidelight.files.roles.plan import Plan, RoleRequest
from sidelight.files.roles.said import (
    Saying,
    amounts_of,
    amounts_of_bags,
    kind_of_amounts,
    said_by,
    said_of_amounts,
    said_of_cells,
    sets_of_amounts,
)
from sidelight.files.roles.spelling import tidied
from sidelight.words import Setting, counted

_EXACT = 2.0**53  # from here on float64 cannot hold every whole number
_FEWEST_SUMMED, _MOST_SUMMED = 4, 100_000  # rows: of fewer one may be a sum by chance, more come from no spreadsheet
_TOTALS = {
    "average",
    "durchschnitt",
    "gesamt",
    "insgesamt",
    "mean",
    "mittelwert",
    "sum",
    "suma",
    "summe",
    "total",
    "totals",
}
_MOST_WORDS = 200  # more different words than this make a name or a text, not a feature


def read_table(
    source: TableSource, wanted: RoleRequest, label_table: TableSource | None = None, *, is_part: bool = False
) -> Dataset:
    """Read the columns that have a role, and nothing else; labels may speak of more than the part of a table."""
    if label_table is not None and wanted.label is None:
        wanted = replace(wanted, label=False)  # the labels are in the other table: no column here is taken for them
    if replace(wanted, same=None) == RoleRequest():
        wanted = wanted.over(**getattr(source, "hints", {}))
    source = without_gap_words(source, wanted.missing_words)
    if label_table is not None and wanted.bag is None and wanted.id is None:
        wanted = _with_key(source, label_table, wanted)
    plan = plan_roles(source, wanted)
    plan.doubts[:0] = getattr(source, "doubts", ())
    if plan.events:
        return replace(event_table(source, plan), kind=plan.kind, evidence=evidence(plan))
    if plan.kind:
        return _no_rows(source, plan)
    single = (plan.id, plan.bag, plan.sequence, plan.bag_label, plan.truth, plan.candidates)
    texts = [j for j in single if j is not None]
    words = [j for j in plan.features if plan.kinds.get(j) == "text"]
    numbers = [j for j in plan.features if j not in words]
    kept_texts = [*plan.texts, *(j for j in plan.keep if j not in numbers)]
    loaded = source.load(numbers, list(dict.fromkeys([*texts, *plan.labels, *plan.show, *words, *kept_texts])))
    if not plan.features and not loaded.texts:
        raise _nothing(source, plan)
    again = _without_weak(source, plan, wanted, loaded)
    if again is not None:
        return read_table(source, again, label_table, is_part=is_part)
    if (shorter := _without_total(source, plan, loaded, numbers)) is not None:
        return read_table(shorter, wanted, label_table, is_part=is_part)
    if numbers and not len(loaded.X):
        raise header_only(source.path, source.names)
    made = Builder(source.path, source.title)
    made.notes += source.notes
    row_ids = _row_ids(source, plan, loaded.texts)
    bag_ids = _bag_ids(source, plan, loaded.texts)
    guesses = wanted.label_separator is None
    numbered = _said_of_bags(source, plan, loaded.texts, bag_ids, wanted)
    if label_table is not None:
        _labels_from_table(made, label_table, plan, source.names, row_ids, bag_ids, wanted, is_part=is_part)
    elif numbered is not None:
        _take_saying(made, numbered, bag_ids)
    else:
        said = _tidy(made, _row_labels(source, plan, loaded.texts, guesses=guesses), wanted, is_part=is_part)
        _place_labels(made, said, bag_ids, wanted)
    exact = _exact_labels(plan, loaded.texts, bag_ids)
    if exact is not None:
        _take_saying(made, exact, bag_ids)
    elif plan.bag_label is not None and bag_ids is not None:
        mark = plan.label_separator or _mark(source, plan)
        listed = from_cells(loaded.texts[plan.bag_label], mark, guesses=guesses)
        _place_bag_labels(made, _tidy(made, listed, wanted, is_part=is_part), bag_ids, wanted)
    candidates = None
    if plan.candidates is not None:
        mark = plan.label_separator or inspect_column("", [row[plan.candidates] for row in source.sample()]).separator
        one_of = from_cells(loaded.texts[plan.candidates], mark)
        candidates, made.label_names = np.maximum(one_of.indicator(), 0).astype(np.int8), one_of.names
    X = loaded.X
    if not plan.features and not plan.texts:
        made.notes.append("no column of numbers was found, so there are no features")
    if not plan.features:
        X = np.empty((len(next(iter(loaded.texts.values())).codes), 0))
    X, feature_names, widths = _with_words(source, plan, X, loaded.texts, words)
    if plan.texts:
        X, feature_names = _with_texts(source, plan, X, feature_names, loaded.texts)
    made.features(X, feature_names)
    made.notes += _totals(loaded.X, [source.names[j] for j in numbers], row_ids)
    return made.build(
        source.location,
        row_ids=row_ids,
        sequence=None if plan.sequence is None else loaded.texts[plan.sequence].names(),
        channels=_channels(plan, widths),
        candidates=candidates,
        truth=None if plan.truth is None else _kinds(loaded.texts[plan.truth]),
        show={source.names[j]: loaded.texts[j].objects() for j in plan.show},
        kept=_kept(source, plan, loaded, numbers),
        roles=plan.roles(),
        doubts=tuple(plan.doubts),
        evidence=evidence(plan),
    )


def _with_key(source: TableSource, labels: TableSource, wanted: RoleRequest) -> RoleRequest:
    """Take the key of a table of labels for the bag where the rows have a column of that name that comes back."""
    key, spoken = labels.names[0], (wanted.ignore, wanted.features, wanted.sequence)
    has_role = any(key == part or (isinstance(part, (list, tuple)) and key in part) for part in spoken)
    if key not in source.names or has_role:
        return wanted
    cells = [row[source.names.index(key)] for row in source.sample()]
    comes_back = len(set(cells)) < len(cells) and any(row[0] in set(cells) for row in labels.sample()[:100])
    return wanted.over(bag=(key, f"the table of labels begins with {key!r}")) if comes_back else wanted


def _no_rows(source: TableSource, plan: Plan) -> Dataset:
    """Return a table that holds no rows with features: what its columns are, and nothing to cluster."""
    n_rows = len(source.load([], [0]).texts[0].codes)
    return Dataset(
        np.empty((n_rows, 0)), (), str(source.path), f"{source.title}: {plan.kind_why}", kind=plan.kind,
        roles=plan.roles(), doubts=tuple(plan.doubts), notes=(*source.notes,), evidence=evidence(plan),
        location=source.location,
    )  # fmt: skip


def _without_weak(source: TableSource, plan: Plan, wanted: RoleRequest, loaded: Loaded) -> RoleRequest | None:
    """Return the request without an id or a bag that was guessed and does not hold: a guess never refuses a file."""
    for role, j in (("id", plan.id), ("bag", plan.bag)):
        if j is None or j in plan.said:
            continue
        column = loaded.texts[j]
        n_gaps = int(column.gaps().sum())
        repeats = role == "id" and len(column.values) < len(column.codes)
        if n_gaps or repeats:
            why = f"{counted(n_gaps, 'cell is', 'cells are')} empty" if n_gaps else "some of its values come back"
            notice(f"{source.names[j]!r} looked like the {role} of the rows, but {why}: read without it")
            others = [wanted.ignore] if isinstance(wanted.ignore, str) else list(wanted.ignore or ())
            kept_out = replace(wanted, ignore=[*others, source.names[j]])
            return replace(kept_out, id=False) if role == "id" else replace(kept_out, bag=False)
    return None


def _without_total(source: TableSource, plan: Plan, loaded: Loaded, numbers: list[int]) -> MemorySource | None:
    """Return a table from a workbook or from records without a last row that is a total."""
    inner = getattr(source, "inner", source)
    if not isinstance(inner, MemorySource) or plan.said or not inner.can_be_cut:
        return None
    first = next((column.objects()[-1:] for column in inner.columns if isinstance(column, Coded)), None)
    if not _totals(loaded.X, [source.names[j] for j in numbers], first):
        return None
    notice("the last row is a total and was left out")
    return inner.without_last()


def evidence(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return what the rules said about each column."""
    return {name: tuple(why_lines(plan, j)) for j, name in enumerate(plan.names)}


def _totals(X: NDArray[np.float64], names: list[str], row_ids: NDArray[Any] | None) -> list[str]:
    """Say so where the last row is a total, by its name or its sums: a spreadsheet's last line is no row of its own."""
    if not _FEWEST_SUMMED <= len(X) <= _MOST_SUMMED or not names:
        return []
    name = "" if row_ids is None else str(row_ids[-1]).strip().rstrip(":")
    if name.lower() in _TOTALS:
        return [f"the last row is called {name!r}: take it out of the file if it is no row of its own"]
    above, last = X[:-1], X[-1]
    varies = (above[:1] != above).any(axis=0)  # sums of nothing but zeros are no sign of a total
    with np.errstate(invalid="ignore", over="ignore"):  # infinite cells are told elsewhere
        is_sum = varies & np.isclose(last, np.nansum(above, axis=0), rtol=1e-9, atol=0.0)
    if is_sum.sum() < min(2, len(names)) or (~is_sum & ~np.isnan(last)).any():
        return []
    return [f"the last row holds the sums of all others in {listing(names)}: take it out of the file if it is a total"]


def _with_texts(
    source: TableSource, plan: Plan, X: Any, names: tuple[str, ...], texts: dict[int, Coded]
) -> tuple[Any, tuple[str, ...]]:
    """Count the words of the columns of texts, beside the features that were named."""
    import scipy.sparse as sp

    from sidelight.files.text.words import count_words, knows_its_words

    blocks: list[Any] = [sp.csr_array(X)] if X.shape[1] else []
    for j in plan.texts:
        column = texts[j]
        before = "" if len(plan.texts) == 1 else f"{source.names[j]}: "
        different, words = count_words(list(column.values), least=1, before=before)
        counted = different[column.codes]
        often = np.asarray((counted > 0).sum(axis=0)).ravel()
        kept = np.flatnonzero(often >= (0 if knows_its_words() else 2 if len(column.codes) > 3 else 1))
        blocks.append(sp.csr_array(counted)[:, kept])
        names = (*names, *(f"{before}{words[k]}" for k in kept.tolist()))
        plan.take(j, "feature", f"{len(kept)} words that occur in several rows, counted")
    if not names:
        raise InvalidData(
            f"{source.path}, column {source.names[plan.texts[0]]!r}: expected texts that share words, found no word in "
            "two rows.",
            do=["Name another column with ", Setting("text"), "."],
        )
    return sp.csr_array(sp.hstack(blocks)), names


def _kept(source: TableSource, plan: Plan, loaded: Loaded, numbers: list[int]) -> dict[str, NDArray[Any]]:
    """Return the columns to carry along, unchanged: numbers that a float64 cannot hold exactly are read as text."""
    features = {j: loaded.X[:, numbers.index(j)] for j in plan.keep if j in numbers}
    inexact = [j for j, cells in features.items() if _is_whole(cells) and (np.abs(cells) >= _EXACT).any()]
    texts = {**loaded.texts, **(source.load([], inexact).texts if inexact else {})}
    return {source.names[j]: texts[j].names() if j in texts else as_written(features[j]) for j in plan.keep}


def as_written(cells: NDArray[np.float64]) -> NDArray[Any]:
    """Return whole numbers as integers again, so that 3 is not carried along as 3.0."""
    return cells.astype(np.int64) if _is_whole(cells) and (np.abs(cells) < _EXACT).all() else cells


def _is_whole(cells: NDArray[np.float64]) -> bool:
    return bool(np.isfinite(cells).all() and (cells == np.round(cells)).all())


def _with_words(
    source: TableSource, plan: Plan, X: NDArray[np.float64], texts: dict[int, Coded], words: list[int]
) -> tuple[NDArray[np.float64], tuple[str, ...], list[int]]:
    """Give every word of a nominal feature a column of its own, in the place of the feature; gaps are zeros.

    Also returned is how many columns each feature has now.
    """
    if not words:
        return X, tuple(source.names[j] for j in plan.features), [1] * len(plan.features)
    blocks: list[NDArray[np.float64]] = []
    names: list[str] = []
    k = 0
    for j in plan.features:
        if j not in words:
            blocks.append(X[:, k : k + 1])
            names.append(source.names[j])
            k += 1
            continue
        values = sorted(value for value in texts[j].values if not texts[j].is_gap(value))
        if not source.declares_words and not 2 <= len(values) <= max(2, len(texts[j].codes) // 2):
            raise InvalidData(
                f"{source.path}, column {source.names[j]!r}: expected numbers, or a few words that come back, to be a "
                f"feature; found {len(values)} different texts in {len(texts[j].codes)} rows, such as "
                f"{listing(values, 2)}.",
                do=["Leave the column out with ", Setting("ignore", source.names[j]), ", or turn it into numbers."],
            )
        if len(values) > _MOST_WORDS:
            raise InvalidData(
                f"{source.path}, column {source.names[j]!r}: expected numbers, or at most {_MOST_WORDS} words, "
                f"found {len(values)} words such as {listing(values, 2)}.",
                do=["Leave it out with ", Setting("ignore", source.names[j]), "."],
            )
        place = {value: i for i, value in enumerate(values)}
        table = np.zeros((len(texts[j].values), len(values)))
        for code, value in enumerate(texts[j].values):
            if value in place:
                table[code, place[value]] = 1.0
        blocks.append(table[texts[j].codes])
        names.extend(f"{source.names[j]}={value}" for value in values)
        plan.take(j, "feature", f"{len(values)} words, a column of 0 and 1 each")
    return np.hstack(blocks), tuple(names), [block.shape[1] for block in blocks]


def _kinds(column: Coded) -> NDArray[np.object_]:
    """Return one name a row, ``""`` where there is none."""
    kinds = column.objects()
    kinds[column.gaps()] = ""
    return kinds


def _row_ids(source: TableSource, plan: Plan, texts: dict[int, Coded]) -> NDArray[Any] | None:
    if plan.id is None:
        return None
    column = texts[plan.id]
    name = source.names[plan.id]
    gaps = column.gaps()
    if gaps.any():
        place = source.location(int(gaps.argmax()))
        raise InvalidData(
            f"{source.path}, {place}, column {name!r}: expected the id of the row, found nothing.",
            do=["Fill it in, or read without ids: ", Setting("id", False), "."],
        )
    if len(column.values) < len(column.codes):
        counts = np.bincount(column.codes)
        double = int(counts.argmax())
        rows = np.flatnonzero(column.codes == double)[:2].tolist()
        raise InvalidData(
            f"{source.path}, column {name!r}: expected a different id in every row, found {column.values[double]!r} in "
            f"{source.location(rows[0])} and {source.location(rows[1])} ({int((counts > 1).sum())} ids come back).",
            do=[
                "Remove the copies; if the column names groups of rows, pass it as ",
                Setting("bag", name),
                "; or pass ",
                Setting("id", False),
                ".",
            ],
        )
    return column.names()


def _bag_ids(source: TableSource, plan: Plan, texts: dict[int, Coded]) -> Coded | None:
    if plan.bag is None:
        return None
    column = texts[plan.bag]
    gaps = column.gaps()
    if gaps.any():
        name = source.names[plan.bag]
        raise InvalidData(
            f"{source.path}, {source.location(int(gaps.argmax()))}, column {name!r}: expected the bag of the row, "
            f"found "
            f"nothing ({int(gaps.sum())} such rows).",
            do=["Fill the gaps, or drop the rows, or read without bags: ", Setting("bag", False), "."],
        )
    return column


def _tidy(made: Builder, said: RowLabels | None, wanted: RoleRequest, *, is_part: bool) -> Any:
    """Bring spellings of one label together, and tell which were and which may be."""
    if said is None:
        return None
    said, told = tidied(said, wanted.same or {}, guesses=not is_part)
    made.notes += told
    return said


def _row_labels(source: TableSource, plan: Plan, texts: dict[int, Coded], *, guesses: bool) -> RowLabels | None:
    if not plan.labels:
        return None
    columns = [texts[j].with_levels() for j in plan.labels]
    names = [source.names[j] for j in plan.labels]
    if len(columns) == 1:
        return from_cells(columns[0], plan.label_separator, guesses=guesses)
    if are_ticks(columns) or any(plan.kinds.get(j) == "0/1" for j in plan.labels):
        return from_ticks(columns, names, source.path, source.location)
    return from_combination(columns)


def _said_of_bags(
    source: TableSource, plan: Plan, texts: dict[int, Coded], bag_ids: Coded | None, wanted: RoleRequest
) -> Saying | None:
    """Return what columns of numbers, a label each, or exact cells say of bags; None where labels are plain."""
    if bag_ids is None or not plan.labels or wanted.label_level == "row":
        return None
    columns, n_bags = [texts[j] for j in plan.labels], len(bag_ids.values)
    if len(columns) == 1 and wanted.label_numbers is None:
        return said_of_cells(columns[0], bag_ids.codes, n_bags)
    found = amounts_of_bags(columns, bag_ids.codes, n_bags)
    if found is None:
        return None
    names = without_prefix([source.names[j] for j in plan.labels])
    sizes = np.bincount(bag_ids.codes, minlength=n_bags).tolist()
    return said_of_amounts(*found, names, _bag_names(bag_ids), sizes, source.path, wanted.label_numbers)


def _exact_labels(plan: Plan, texts: dict[int, Coded], bag_ids: Coded | None) -> Saying | None:
    if plan.bag_label is None or bag_ids is None:
        return None
    return said_of_cells(texts[plan.bag_label], bag_ids.codes, len(bag_ids.values))


def _take_saying(made: Builder, said: Saying, bag_ids: Coded | None) -> None:
    """Make bags that say more than lists."""
    assert bag_ids is not None  # nothing is said of bags without any
    made.bags = said.bags(bag_ids.names(), _bag_names(bag_ids))
    made.label_names = made.label_names or tuple(map(str, made.bags.classes))
    made.notes += said.told
    silent = made.bags.n_bags - int(made.bags.is_labelled.sum())
    if silent:
        made.notes.append(_about_silent(silent, made.bags.n_bags))


def _about_silent(silent: int, n_bags: int) -> str:
    have = "has" if silent == 1 else "have"
    return f"{silent} of {n_bags} bags {have} no label: taken for bags that nobody looked at"


def _place_labels(made: Builder, said: RowLabels | None, bag_ids: Coded | None, wanted: RoleRequest) -> None:
    """Decide whether labels speak of rows or of bags, and put them there."""
    level = wanted.label_level
    if bag_ids is None:
        made.label_rows(said)
        return
    ids, names, n_bags = bag_ids.names(), _bag_names(bag_ids), len(bag_ids.values)
    if said is None:
        made.bags = Bags(ids)
        return
    unions = said.of_bags(bag_ids.codes, n_bags)
    of_bags = level == "bag" or (
        level is None and (not said.is_single or (n_bags < len(ids) and said.is_constant(bag_ids.codes, n_bags)))
    )
    on_first = level is None and n_bags < len(ids) and said.is_on_first_rows(bag_ids.codes, n_bags)
    of_bags = of_bags or on_first
    _make_bags(made, bag_ids, dict(zip(names, unions)), said.names, wanted, counts=of_bags)
    unlabelled = sum(members is None for members in unions)
    if of_bags:
        n_torn = said.n_torn(bag_ids.codes)
        how = "they stand in its first row" if on_first else "every row of a bag repeats them"
        made.notes.append(Note(f"the labels speak of bags: {how}"))
        if n_torn:
            made.notes[-1] = Note(
                f"the labels speak of bags; the rows of {n_torn} of {n_bags} bags disagree about them, and such a bag "
                "has every label that one of its rows names",
                TORN,
            )
    elif said.is_single:
        made.y = said.single()
        made.notes.append(Note("the labels speak of rows; a bag has the labels of its rows", OF_ROWS))
    if unlabelled:
        made.notes.append(_about_silent(unlabelled, n_bags))


def _make_bags(
    made: Builder,
    bag_ids: Coded,
    sets: Mapping[Hashable, frozenset[str] | None],
    classes: tuple[str, ...],
    wanted: RoleRequest,
    *,
    counts: bool = True,
) -> None:
    """Make bags with these label sets, and with what their names say of numbers, doubts and kinds."""
    names = _bag_names(bag_ids)
    sizes = np.bincount(bag_ids.codes, minlength=len(names)).tolist()
    said = said_by([sets.get(name) for name in names], sizes, wanted.label_numbers) if counts else Saying([], [])
    if said.told:
        made.bags = said.bags(bag_ids.names(), names)
        made.label_names = tuple(map(str, made.bags.classes))
        made.notes += said.told
    else:
        made.bags = Bags(bag_ids.names(), labels=dict(sets), classes=classes)
        made.label_names = classes


def _place_bag_labels(made: Builder, said: RowLabels, bag_ids: Coded, wanted: RoleRequest) -> None:
    """Take the label sets of bags from a column of their own."""
    names = _bag_names(bag_ids)
    unions = said.of_bags(bag_ids.codes, len(names))
    if n_torn := said.n_torn(bag_ids.codes):
        made.notes.append(
            Note(
                f"the rows of {n_torn} of {len(names)} bags disagree about its labels, and such a bag has every label "
                "that one of its rows names",
                TORN,
            )
        )
    _make_bags(made, bag_ids, dict(zip(names, unions)), said.names, wanted)
    made.notes = [note for note in made.notes if not (isinstance(note, Note) and note.code == OF_ROWS)]


def _mark(source: TableSource, plan: Plan) -> str | None:
    assert plan.bag_label is not None  # the caller looked
    return inspect_column("", [row[plan.bag_label] for row in source.sample()]).separator


def _labels_from_table(
    made: Builder,
    table: TableSource,
    plan: Plan,
    names: tuple[str, ...],
    row_ids: NDArray[Any] | None,
    bag_ids: Coded | None,
    wanted: RoleRequest,
    *,
    is_part: bool,
) -> None:
    """Read a second table: (key, label) rows, (key, set) rows, or a key and a column for each label."""
    key_column = plan.bag if bag_ids is not None else plan.id
    if key_column is None:
        raise InvalidParameter(
            f"{table.path}: a table of labels needs something to match.",
            do=["Pass ", Setting("bag"), " or ", Setting("id"), " for the main file."],
        )
    wanted_key = names[key_column]
    key = table.names.index(wanted_key) if wanted_key in table.names else 0
    others = [j for j in range(len(table.names)) if j != key]
    if not others:
        raise InvalidData(f"{table.path}: expected a key and its labels, found one column ({table.names[0]!r}).")
    loaded = table.load([], [key, *others])
    columns = [loaded.texts[j] for j in others]
    if bag_ids is not None:
        lines = _numbers_from_table(table, loaded, key, others, bag_ids, wanted, is_part=is_part)
        if lines is not None:
            _take_saying(made, lines, bag_ids)
            return
    if len(columns) > 1 and are_ticks(columns):
        said = from_ticks(columns, [table.names[j] for j in others], table.path, table.location)
    else:
        label = _label_column(table, others)
        sample = [row[label] for row in table.sample()]
        mark = wanted.label_separator or inspect_column(table.names[label], sample).separator
        said = from_cells(loaded.texts[label], mark, guesses=wanted.label_separator is None)
    said = _tidy(made, said, wanted, is_part=is_part)
    keys = loaded.texts[key]
    unions = dict(zip(keys.values, said.of_bags(keys.codes, len(keys.values))))
    what = "bag" if bag_ids is not None else "row"
    every: list[Hashable] = _bag_names(bag_ids) if bag_ids is not None else row_ids.tolist()  # type: ignore[union-attr]  # id is set, so ids were read
    known = set(map(str, every))
    unions = {key: members for key, members in unions.items() if key in known or not is_part}
    matched = match_keys(table.path, unions, every, what)
    made.label_names = said.names
    silent = len(every) - len(matched)
    if silent:
        made.notes.append(f"{table.path.name} says nothing about {silent} of {len(every)} {what}s")
    if bag_ids is not None:
        _make_bags(made, bag_ids, matched, said.names, wanted)
        return
    sets = (None, *{s for s in matched.values() if s is not None})
    code = {s: k for k, s in enumerate(sets)}
    rows = RowLabels(sets, np.array([code[matched.get(name)] for name in every], dtype=np.intp), said.names)
    made.label_rows(rows)


def _numbers_from_table(
    table: TableSource, loaded: Loaded, key: int, others: list[int], bag_ids: Coded, wanted: RoleRequest,
    *, is_part: bool,
) -> Saying | None:  # fmt: skip
    """Read a line for each bag with a column of numbers for each label, beside dates, names and remarks."""
    if len(others) < 2 or any(is_label_name(table.names[j]) for j in others):
        return None
    looks = {j: inspect_column(table.names[j], list(loaded.texts[j].objects()[:1000])) for j in others}
    labels = [j for j in others if not looks[j].is_time and looks[j].kind != "empty" and looks[j].low >= 0]
    labels = [j for j in labels if amounts_of([loaded.texts[j]])]
    keys = loaded.texts[key]
    found = (
        amounts_of_bags([loaded.texts[j] for j in labels], keys.codes, len(keys.values)) if len(labels) > 1 else None
    )
    if found is None:
        return None
    names = _bag_names(bag_ids)
    if not is_part:
        match_keys(table.path, dict.fromkeys(keys.values), names, "bag")
    line_of = {value: line for line, value in enumerate(keys.values)}
    lines = [line_of.get(str(name), -1) for name in names]
    amounts = np.vstack([found[0], np.full(len(labels), np.nan)])[lines]
    sizes = np.bincount(bag_ids.codes, minlength=len(names)).tolist()
    if not kind_of_amounts(amounts, sizes) and wanted.label_numbers is None:
        return None
    called = without_prefix([table.names[j] for j in labels])
    torn = [b for b, line in enumerate(lines) if line in found[1]]
    said = said_of_amounts(amounts, torn, called, names, sizes, table.path, wanted.label_numbers)
    left = [table.names[j] for j in others if j not in labels]
    if said is None and not left:
        return None
    said = sets_of_amounts(amounts, called) if said is None else said
    return said._replace(told=[*said.told, f"{table.path.name}: {listing(left)} not used"]) if left else said


def _label_column(table: TableSource, others: list[int]) -> int:
    if len(others) == 1:
        return others[0]
    named = [j for j in others if is_label_name(table.names[j])]
    if len(named) != 1:
        raise InvalidData(
            f"{table.path}: expected a key and its labels, found the columns {listing(table.names)}. "
            "Keep the key and one column called 'label', or a column of 0 and 1 for each label."
        )
    return named[0]


def _bag_names(column: Coded) -> list[Hashable]:
    """Return the bags in order of first appearance, as ``column.names()`` spells them."""
    return list(Coded(column.values, np.arange(len(column.values))).names().tolist())


def _channels(plan: Plan, widths: list[int]) -> dict[str, slice] | None:
    """Say where each channel is in X; the features of a channel stand together, for channels share none."""
    if not plan.channels:
        return None
    ends = np.cumsum(widths).tolist()
    begin = {j: end - width for j, end, width in zip(plan.features, ends, widths)}
    end_of = dict(zip(plan.features, ends))
    out = {}
    for name, columns in plan.channels.items():
        if not columns:
            raise InvalidParameter(f"Channel {name!r} has no columns: those it names have another role. Name others.")
        out[name] = slice(begin[columns[0]], end_of[columns[-1]])
    return out


def _nothing(source: TableSource, plan: Plan) -> InvalidData:
    reasons = [f"{r.name!r} ({r.why})" for r in plan.roles()[:5]]
    advice: list[str | Setting] = ["Say what the columns are for: "]
    for name in ("features", "label", "bag", "events"):
        advice += [Setting(name), ", "]
    return InvalidData(
        f"{source.path}: expected at least one column of numbers, labels or names, found none: {', '.join(reasons)}.",
        do=[*advice[:-1], "."],
    )
