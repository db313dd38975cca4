"""Coverage: rows in bags whose labels are known become clusters of rows that explain those labels."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._core.params import is_sparse
from sidelight._models.prepared_rows import kind_of
from sidelight.app.jobs.bag_words import (
    found_in_bags,
    joined,
    kinds_of,
    numbers_of_bags,
    ranges_in_words,
    said_against_found,
    words_of_bag,
)
from sidelight.app.jobs.checking import RIGHT, checked, leaves_no_choice, row_corrections
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import bag_of_rows, cluster_table, gallery_of
from sidelight.app.jobs.instances import Coverage
from sidelight.app.jobs.instances.naming import about_labels_of_their_own, name_by_rows, name_clusters, without_cluster
from sidelight.app.jobs.instances.result import Contents, CoverageResult, Moved
from sidelight.app.jobs.job import wants_parts
from sidelight.app.jobs.output import heading
from sidelight.app.jobs.placing import COVERAGE, Placed, one_of
from sidelight.app.jobs.reading import (
    DESCRIBE,
    SHOWN,
    WholeTable,
    check_bags,
    check_rows,
    collect_notes,
    read_data,
    refuse_in_parts,
    rows_of,
    standard,
    standardized,
)
from sidelight.app.jobs.reliability import most_taken, nearly_together
from sidelight.app.jobs.result import Columns, Map, Reading, columns_of
from sidelight.app.jobs.roles import ENGINE, Roles
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, InvalidInput, close_names
from sidelight.estimators._labelled_bags.supervision import read_candidates
from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.estimators.coverage.novelty_test import novelty_test
from sidelight.estimators.scaling import Standardized
from sidelight.files.limits import memory_limit, need
from sidelight.plot import ClusterContentsDisplay, ClusterLabelDisplay, MovedRowsDisplay
from sidelight.plot.layout import cluster_map
from sidelight.plot.novelty import nearest_rows
from sidelight.words import Setting, counted, some_of

if TYPE_CHECKING:
    from sidelight.app.jobs.in_parts import SampledRows

_NOVEL = re.compile(r"novel-\d+")  # what fits call the clusters of kinds that no list names
_DIRECTIONS = 200  # of words: digests of posts are told better by 200 than by 50, docs/benchmarks/material.md
_COPIES = 8  # matrices of rows x labels that a fit and its page hold at once
USES = ("id", "bag", "label", "bag label", "candidates", "feature", "show", "truth")


def work(config: RunConfig) -> CoverageResult:
    """Read rows in bags, or rows with candidates, and cluster them."""
    options = config.options
    assert isinstance(options, Coverage)  # the catalogue says so
    if wants_parts(config):
        refuse_in_parts(options, "lists", "rows", "corrections")
    with rows_of(config, _table, n_rows=SHOWN, needs=("bag", "label"), empty=options.empty) as rows:
        if isinstance(rows, WholeTable):
            return cluster(rows.data, config)
        return _cluster_in_parts(rows, config, options)


def _table(config: RunConfig) -> Dataset:
    data = read_data(config.source, config.roles)
    if data.candidates is None:
        check_bags(data, config.table)
    check_rows(data, config.table)
    return data


def _cluster_in_parts(rows: SampledRows, config: RunConfig, options: Coverage) -> CoverageResult:
    """Explain all rows by the labels of their bags; lists and pictures are of a sample."""
    model: Any = CoverageClustering(random_state=config.seed, **_settings(options))
    if options.scale == "standard":
        model = Standardized(model, feature_names=rows.table.feature_names, kind="numbers")
    with collect_notes() as heard:
        model.fit(rows.parts, engine=rows.engine)
        notes = name_clusters(model, options.names)
        data, bags = rows.data, rows.data.bags
        assert bags is not None  # they were named
        seen = copy.copy(model)  # as if it had seen the sample alone
        inner = seen
        if "estimator_" in vars(seen):
            inner = seen.estimator_ = copy.copy(model.estimator_)
        inner.labels_ = model.predict(data.X, bags=bags)
        inner.bag_log_likelihood_ = np.full(bags.n_bags, 0.0)
        inner.bag_log_likelihood_[bags.is_labelled] = model.bag_scores(data.X, bags)
        result = replace(result_of(data, bags, seen), model=model, n_bags=rows.parts.n_bags)
    judged = replace(checked(result, data, judged="label"), heard=(*notes, *heard))
    return rows.with_all(judged, count_named, _figures, learnt=False)


def count_named(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count rows by cluster, rows that their bags renamed, and bags with something novel."""
    from sidelight.app.jobs.in_parts import count_rows

    assert data.bags is not None  # they were named
    rows, total = placed.rows, count_rows(data, placed)
    total["given"] = int(leaves_no_choice(data.bags).sum())
    total["moved"] = sum(a != b for a, b in zip(rows["label"], rows.get("by features alone", rows["label"])))
    total["novel bags"] = len(np.unique(data.bags.codes[np.asarray(rows["novelty"]) > 0.5]))
    return total


def _figures(result: CoverageResult, total: Counter[Any]) -> dict[str, Any]:
    """Return what all rows change of the result of a sample."""
    sizes = [total["in", str(name)] for name in result.contents.names]
    own = dict(zip(map(str, result.model.cluster_names_), result.own_labels))
    used = [label for name, label in own.items() if total["in", name]]
    n_rows, n_given = total["rows"], total["given"] if min(result.own_labels) >= 0 else 0
    return {
        "n_labelled": total["labelled"],
        "n_labels_found": len({label for label in used if label >= 0}),
        "n_clusters_used": len(used),
        "n_novel_used": sum(label < 0 for label in used),
        "n_bags_novel": total["novel bags"],
        "share_sure": (total["sure"] - n_given) / max(n_rows - n_given, 1),
        "n_given": n_given,
        "contents": replace(result.contents, sizes=sizes),
        "moved": replace(result.moved, n_moved=total["moved"], n_rows=n_rows),
    }


def _settings(options: Coverage) -> dict[str, Any]:
    return options.without("method", "scale", "lists", "empty", "rows", "corrections", "names", *ENGINE)


def cluster(data: Dataset, config: RunConfig) -> CoverageResult:
    """Explain the rows by the labels of their bags."""
    options = config.options
    assert isinstance(options, Coverage)  # the catalogue says so
    one_of = candidates_of(data)
    side: dict[str, Any] = {} if one_of is None else {"candidates": one_of}
    bags = (
        lists_of(data, config, options.lists, options.empty) if one_of is None else read_candidates(one_of, data.n_rows)
    )
    row_labels: Any = data.y if options.rows == "known" else None
    notes: list[str] = []
    new: dict[int, str] = {}
    if options.corrections is not None:
        right = row_corrections(options.corrections, data)
        right, unnamed = _with_names(right, bags)
        right, new = _parted(right, bags)
        notes = (
            unnamed
            if (unnamed or new) and not right
            else [*unnamed, *_about_corrections(options.corrections, right, bags)]
        )
        bags, row_labels = _corrected(bags, row_labels, right)
    settings = _settings(options)
    asked = settings["n_novel"]
    if new and asked == 0:
        settings["n_novel"] = len(set(new.values()))
        own = "a kind of its own" if settings["n_novel"] == 1 else "kinds of their own"
        notes.append(f"No list names {some_of(map(repr, dict.fromkeys(new.values())))}: looked for as {own}.")

    def estimator() -> Any:
        inner = CoverageClustering(random_state=config.seed, **settings)
        return prepared(inner, data) if options.scale == "standard" else inner

    with collect_notes() as heard:
        model = estimator().fit(data.X, row_labels=row_labels, **(side or {"bags": bags}))
        alone = without_cluster(model, new)
        if alone:  # a cluster without any of these rows is not their kind, and would only take rows from others
            bags, row_labels = _corrected(bags, row_labels, alone)
            new = {row: kind for row, kind in new.items() if row not in alone}
            settings["n_novel"] = asked or len(set(new.values()))
            notes += about_labels_of_their_own(alone)
            heard.clear()
            model = estimator().fit(data.X, row_labels=row_labels, **(side or {"bags": bags}))
        notes += name_by_rows(model, new, data)
        notes += name_clusters(model, options.names)
        result = result_of(data, bags, model, row_labels, candidates=one_of)
        asks = one_of is None and settings["n_novel"] == 0
        unlisted = about_unlisted(data, bags, seed=config.seed) if asks else {}
    judged = replace(result, heard=(*notes, *heard), **unlisted)
    return checked(judged, data, judged="label", right=RIGHT, uses_y=options.rows == "known")


def prepared(inner: Any, data: Dataset) -> Standardized:
    """Put what the rows need in front of an estimator that learns from lists: words are condensed, numbers scaled."""
    kind = kind_of(data.X)[0] if is_sparse(data.X) else "numbers"
    return standardized(inner, data, kind=kind, n_directions=_DIRECTIONS)


def _with_names(right: dict[int, str], bags: Bags) -> tuple[dict[int, str], list[str]]:
    """Leave out corrections to a novel cluster: its number belongs to one run, and names no kind for the next."""
    known = {str(name) for name in bags.classes}
    novel = {row: name for row, name in right.items() if _NOVEL.fullmatch(name) and name not in known}
    if not novel:
        return right, []
    names = some_of(map(repr, dict.fromkeys(novel.values())))
    told = (
        f"{counted(len(novel), 'correction says', 'corrections say')} {names}, a cluster of the run before and no "
        "label: not used. Give the kind a name of its own, and it becomes a label."
    )
    return {row: name for row, name in right.items() if row not in novel}, [told]


def _parted(right: dict[int, str], bags: Bags) -> tuple[dict[int, str], dict[int, str]]:
    """Part corrections to known labels from those to kinds that no list has: these name a novel cluster."""
    known = {str(name) for name in bags.classes}
    new = {row: name for row, name in right.items() if name not in known and not close_names(name, known)}
    return {row: name for row, name in right.items() if row not in new}, new


def _about_corrections(path: str, right: dict[int, str], bags: Bags) -> list[str]:
    """Say when nothing was filled in, and which labels are new: they may be slips of the pen."""
    if not right:
        return [f"{path!r} has nothing in its column {heading(RIGHT)!r}: no row was corrected."]
    known = [str(name) for name in bags.classes]
    new = Counter(name for name in right.values() if name not in known)
    if not new:
        return []
    told = [f"{name!r} ({counted(times, 'row')})" for name, times in new.items()]
    meant = [f" Was {close[0]!r} meant by {name!r}?" for name in new if (close := close_names(name, known))]
    what = counted(len(new), "label that no list has, a label", "labels that no list has, labels")
    own = "its own" if len(new) == 1 else "their own"
    return [f"The corrections bring {what} of {own} now: {some_of(told)}.{''.join(meant)}"]


def _corrected(bags: Bags, row_labels: Any, right: dict[int, str]) -> tuple[Bags, list[Any]]:
    """Believe corrections of rows; where a row's list lacks its right label, the list was wrong."""
    labels: list[Any] = [None] * bags.n_rows if row_labels is None else [name or None for name in row_labels]
    lists = {name: set(listed) for name, listed in bags.labels.items() if listed is not None}
    whole = dict(zip(bags.names, bags.whole.tolist()))
    known = {str(name): name for name in bags.classes}
    allowed, changed = bags.bag_label_mask(), set()
    for row, name in right.items():
        label = known.setdefault(name, name)
        labels[row] = label
        code = int(bags.codes[row])
        bag = bags.names[code]
        if bag in lists:
            lists[bag].add(label)
            if label not in bags.classes or not allowed[code, bags.classes.index(label)]:
                changed.add(bag)
    open_ = {bag for bag, is_open in zip(bags.names, bags.is_partial.tolist()) if is_open}
    partial = [bag for bag in lists if not whole[bag] or bag in open_]
    corrected = bags.with_labels(lists, classes=list(known.values()), partial=partial)
    return corrected.keeping_said(bags, changed), labels


def lists_of(data: Dataset, config: RunConfig, lists: str, empty: str) -> Bags:
    """Return the labelled bags, read as the user means them; refuse a table without any, or without room for it."""
    if data.bags is None or not data.bags.is_labelled.any():
        raise _no_labels(data, config.table, config.roles)
    bags = as_meant(data.bags, lists, empty)
    with memory_limit(config.roles.max_memory):
        what = f"{data.n_rows} rows with a probability for each of {bags.n_classes} labels"
        need(config.table, _COPIES * 8 * data.n_rows * bags.n_classes, what)
    return bags


def as_meant(bags: Bags, lists: str, empty: str) -> Bags:
    """Read the lists as the user means them: complete or partial, and an empty one as silence or as "none"."""
    if lists == "complete" and empty == "unlabelled":
        return bags
    labels: dict[Any, Any] = {
        name: set() if listed is None and empty == "none" else listed for name, listed in bags.labels.items()
    }
    labels = {name: listed for name, listed in labels.items() if listed is not None}
    partial = [name for name, listed in labels.items() if listed] if lists == "partial" else ()  # "none" is complete
    meant = bags.with_labels(labels, classes=bags.classes, partial=partial)
    return meant if lists == "partial" else meant.keeping_said(bags)


def candidates_of(data: Dataset) -> list[frozenset[str] | None] | None:
    """Return for each row the labels one of which is right, None where nothing is known; None without candidates."""
    if data.candidates is None:
        return None
    names = data.label_names
    sets = [frozenset(names[k] for k in np.flatnonzero(row > 0).tolist()) for row in data.candidates]
    return [members or None for members in sets]


def result_of(
    data: Dataset, bags: Bags, model: Any, row_labels: Any = None, *, candidates: Any = None
) -> CoverageResult:
    """Take the posteriors of the rows once, alone and with their bags, and everything else from them."""
    P = model.predict_proba(data.X)
    side = {"bags": bags} if candidates is None else {"candidates": candidates}
    Q = model.predict_proba(data.X, row_labels=row_labels, **side)
    hardest = bag_table(data.X, bags, model, "log likelihood", np.asarray(model.bag_log_likelihood_))
    uncovered = [(name, list(labels)) for name, labels in model.uncovered_] if candidates is None else []
    return named_rows(data, bags, model, P, Q, hardest, choice=model.choice_, uncovered=uncovered)


def named_rows(
    data: Dataset,
    bags: Bags,
    model: Any,
    P: np.ndarray,
    Q: np.ndarray,
    hardest: Columns,
    *,
    choice: Mapping[str, Any],
    uncovered: Sequence[tuple[Any, Sequence[Any]]] = (),
    noise: Sequence[str] | None = None,
    objective: Sequence[float] | None = None,
) -> CoverageResult:
    """Say what a method that names rows found, from the posteriors alone (P) and with the bags (Q)."""
    to_labels, label_names = model.layout.to_labels(), _objects(model.label_names_)
    alone, with_bags = (label_names[np.argmax(part @ to_labels, axis=1)] for part in (P, Q))
    names, labels = _objects(model.cluster_names_), np.asarray(model.labels_)
    texts = [str(name) for name in names]
    class_of = np.asarray(model.class_of_)
    used = class_of[np.unique(labels)]  # the class of each cluster that holds rows
    novelty, sure = Q[:, class_of < 0].sum(axis=1), Q.max(axis=1)
    given = leaves_no_choice(bags) & (class_of >= 0).all()
    alone_novel, is_novel = P[:, class_of < 0].sum(axis=1), class_of[labels] < 0
    held = ClusterContentsDisplay.from_posteriors(model, Q, bags, row_ids=data.row_names)
    moved = MovedRowsDisplay.from_posteriors(P, Q, alone, with_bags, row_ids=data.row_names)
    own = {
        "bag": [str(name) for name in bags],
        "cluster": names[labels].tolist(),
        "label": [str(name) for name in with_bags],
        "probability": sure.tolist(),
        **one_of(model, Q),
        **kinds_of(model, data.X, bags),
        "by features alone": [str(name) for name in alone],
        "novelty": novelty.tolist(),
    }
    return CoverageResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, own),
        tables={"clusters": cluster_table(data.telling[0], labels, data.telling[1], texts), "bags": hardest},
        n_bags=bags.n_bags,
        n_labelled=int(bags.is_labelled.sum()),
        n_labels=len(model.classes_),
        n_labels_found=len(np.unique(used[used >= 0])),
        n_clusters_used=len(used),
        n_novel_allowed=int(np.count_nonzero(class_of < 0)),
        n_novel_used=int(np.count_nonzero(used < 0)),
        n_bags_novel=int(np.unique(bags.codes[is_novel]).size),
        share_sure=float(np.mean(sure[~given] > 0.9)) if not given.all() else 0.0,
        n_given=int(given.sum()),
        calibration=getattr(model, "calibration_", None),
        novel_takes=_taken(model),
        together=nearly_together(bags),
        choice=choice,
        uncovered=uncovered,
        contents=Contents(held.names, held.sizes, held.typical, held.bags, held.n_bags),
        moved=Moved(moved.rows, moved.before, moved.after, moved.moved, moved.n_moved, moved.n_rows),
        label_shares=ClusterLabelDisplay.from_estimator(model, bags).share,
        labels=[str(name) for name in bags.classes],
        own_labels=class_of.tolist(),
        nearest=nearest_rows(data.X, model.labels_, model.cluster_names_, class_of, data.row_names),
        novelty={"known": alone_novel[~is_novel], "novel": alone_novel[is_novel]},
        map=Map(cluster_map(standard(data.X, data), labels), labels, texts, data.row_names, bag_of_rows(bags), sure),
        noise=noise,
        objective=objective,
        gallery=gallery_of(data, labels, sure, texts, novelty=novelty, one_of=own.get("one of")),
    )


def _taken(model: Any) -> list[tuple[str, float]]:
    """Return the named kinds of which novel clusters take most, where a model compared itself with one without."""
    novel = getattr(model, "calibration_", {}).get("novel")
    return [] if novel is None else most_taken(model.classes_, novel["taken"].tolist())


def bag_table(X: Any, bags: Bags, model: Any, what: str, values: np.ndarray) -> Columns:
    """What each bag says, what its rows say by features alone, and how well both agree; the hardest first.

    Beside it stand the labels that its rows lack, those that they have too many of, and the numbers that were found.
    """
    carried, how = model.predict_bags(X, bags), getattr(model, "counts_rows_", "")
    found = found_in_bags(model, X, bags, COVERAGE)
    order = np.argsort(values, kind="stable").tolist()
    apart = [said_against_found(bags, b, carried[b], found, how) for b in order]
    sizes = bags.sizes.tolist()
    numbers = numbers_of_bags(model, X, bags, found)
    return {
        "bag": [str(bags.names[b]) for b in order],
        "rows": [sizes[b] for b in order],
        "labels": [words_of_bag(bags, b, how) for b in order],
        "by features alone": [
            joined(carried[b]) if found is None else ranges_in_words(found[b], sizes[b], how) for b in order
        ],
        "missing": [missing for missing, _ in apart],
        "too many": [many for _, many in apart],
        what: [float(values[b]) for b in order],
        **{name: [cells[b] for b in order] for name, cells in numbers.items()},
    }


def _no_labels(data: Dataset, path: str, roles: Roles) -> InvalidData:
    """Say why there is no labelled bag, and what to do about it."""
    named = [column for role in (roles.label, roles.bag_label) if role for column in _several(role)]
    label, file = Setting("label"), Setting("label_file")
    if named:
        columns = ", ".join(repr(name) for name in named)
        are = "is" if len(named) == 1 else "are"
        return InvalidData(
            f"{path!r} has bags, but {columns} {are} empty in every row: no bag says what it holds.",
            do=["Fill the cells, or name another column with ", label, " (or a table of labels with ", file, ")."],
        )
    if roles.label_file:
        return InvalidData(f"{path!r} has bags, but {roles.label_file!r} has no label for any of them.")
    return InvalidData(
        f"{path!r} has bags, but no labels for them.",
        do=["Name the column of labels with ", label, ", or a table of them with ", file, ". ", DESCRIBE],
    )


def _several(columns: Any) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _objects(names: Any) -> np.ndarray:
    array = np.empty(len(names), dtype=object)
    array[:] = list(names)
    return array


_FEWEST = 10  # labelled bags that a test can stand on
_MOST_CELLS = 3_000_000  # rows x features x labels / 10: some ten seconds


def about_unlisted(data: Dataset, bags: Bags, *, seed: int) -> dict[str, Any]:
    """Return what a test of "every row is of a listed kind" found; nothing for tables, few bags, and what takes long.

    Where lists are complete a novel cluster costs a few points, and where a third of the sounds are knocks and wind it
    gains many: so neither is the default, and held-out lists say which it is.

    Parameters
    ----------
    data : Dataset
        The rows; only those cut from a folder are tested.
    bags : Bags
        Their lists.
    seed : int
        Of the folds and starts.
    """
    n_labelled = int(bags.is_labelled.sum())
    cost = data.n_rows * min(data.n_features, 200) * bags.n_classes / 10
    if not data.material or n_labelled < _FEWEST or bags.n_classes < 2 or cost > _MOST_CELLS:
        return {}
    try:
        found = novelty_test(standard(data.X, data), bags, random_state=seed)
    except InvalidInput:  # folds that cannot be made: lists that all say the same
        return {}
    told: dict[str, Any] = {"unlisted": found.p_value, "unlisted_of_lists": found.p_of_lists}
    told["novel_harms"] = bool(found.tempered_gains.sum() < 0)
    return told | {"novel_takes": most_taken(list(found.taken), list(found.taken.values()))}
