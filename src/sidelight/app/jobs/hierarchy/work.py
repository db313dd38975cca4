"""The hierarchy job: rows with several labels become a tree of the labels, and label sets without gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from sidelight.app.jobs.checking import MOST, row_numbers
from sidelight.app.jobs.columns import Columns as Table
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import gallery_of
from sidelight.app.jobs.hierarchy import Hierarchy
from sidelight.app.jobs.hierarchy.result import WEAK, HierarchyResult
from sidelight.app.jobs.job import wants_parts
from sidelight.app.jobs.placing import Placed
from sidelight.app.jobs.reading import (
    DESCRIBE,
    SHOWN,
    WholeTable,
    collect_notes,
    read_data,
    refuse_in_parts,
    rows_of,
)
from sidelight.app.jobs.result import Columns, Reading, columns_of
from sidelight.app.report.gallery import Gallery
from sidelight.data.dataset import Dataset
from sidelight.data.hierarchy import LabelTree
from sidelight.data.label_matrix import LabelMatrix
from sidelight.errors import InvalidData, InvalidParameter, UnknownName, UnreadableFile, nearest
from sidelight.estimators.hierarchy.classifier import LatentHierarchyClassifier
from sidelight.estimators.hierarchy.evidence import NOT_RANDOM
from sidelight.estimators.scaling import Standardized
from sidelight.words import Setting

if TYPE_CHECKING:
    from sidelight.app.jobs.in_parts import SampledRows

USES = ("id", "feature", "label", "show")
RIGHT_ENTRY = "right"  # the empty column for corrections of entries: 0 or 1


def work(config: RunConfig) -> HierarchyResult:
    """Read the table, or rows part by part, and learn the tree behind its labels."""
    options = config.options
    assert isinstance(options, Hierarchy)  # the catalogue says so
    if wants_parts(config):
        refuse_in_parts(options, "corrections", "learn_tree")
        if isinstance(config.roles.bag, str):
            raise InvalidParameter(
                f"hierarchy learns from the labels of rows, and {config.roles.bag!r} names bags.",
                do=["Leave ", Setting("bag"), " out."],
            )
    with rows_of(config, _table, n_rows=SHOWN, needs=("label",), lists_are="rows", empty=options.empty) as rows:
        if isinstance(rows, WholeTable):
            return learn(rows.data, config)
        return _learn_in_parts(rows, config, options)


def _table(config: RunConfig) -> Dataset:
    roles = config.roles
    if roles.bag is None:  # labels are wanted of rows: a column that looks like a bag must not take them
        roles = msgspec.structs.replace(roles, bag=False)
    if Path(config.table).is_dir():  # tags are of a photograph or recording, and not of each of its pieces
        roles = msgspec.structs.replace(roles, whole=True)
    return read_data(config.source, roles)


def _learn_in_parts(rows: SampledRows, config: RunConfig, options: Hierarchy) -> HierarchyResult:
    """Learn from all rows and fill their gaps; lists and pictures are of a sample."""
    use_features = options.use == "features"
    model = make_model(
        options, rows.table.feature_names, known_tree(options.tree), has_features=use_features, seed=config.seed
    )
    with collect_notes() as heard:
        model.fit(*((rows.parts,) if use_features else (None, rows.parts)), engine=rows.engine)
    data = rows.data if use_features else _without_features(rows.data)
    labels, completed, proba = _completed(model, data)
    result = result_of(data, labels, model, completed, proba, options=options, heard=heard)
    check = {name: cells for name, cells in result.tables["check"].items() if name != RIGHT_ENTRY}
    result = replace(result, tables={**result.tables, "check": check})
    place = _fill if use_features else _fill_alone
    return rows.with_all(result, _count_labels, _counted, place=place, learnt=False)


def _without_features(data: Dataset) -> Dataset:
    return replace(data, X=np.empty((data.n_rows, 0)), feature_names=())


def _fill(model: Any, data: Dataset) -> Placed:
    """Fill the gaps of rows by their features and labels."""
    return Placed(filled(*_completed(model, data)))


def _fill_alone(model: Any, data: Dataset) -> Placed:
    """Fill the gaps of rows by their labels alone."""
    return _fill(model, _without_features(data))


def _completed(model: Any, data: Dataset) -> tuple[LabelMatrix, Any, Any]:
    labels = labels_of(data, "unlabelled")
    X = data.X if data.n_features else None
    return labels, np.array(model.complete(X, labels)), np.array(model.complete_proba(X, labels))


def _count_labels(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count what was seen, what nobody looked at, and what was added."""
    assert data.Y is not None  # labels of rows were named
    added = [text for text in placed.rows["added"] if text]
    return Counter(
        n_seen=int((data.Y == 1).sum()),
        n_unlabelled=int((data.Y < 0).all(axis=1).sum()),
        n_unknown=int((data.Y < 0).sum()),
        n_added=sum(text.count("|") + 1 for text in added),
        n_rows_changed=len(added),
    )


def _counted(result: HierarchyResult, total: Counter[Any]) -> dict[str, int]:
    return {name: total[name] for name in ("n_seen", "n_unlabelled", "n_unknown", "n_added", "n_rows_changed")}


def learn(data: Dataset, config: RunConfig) -> HierarchyResult:
    """Learn from a table that was read already."""
    options = config.options
    assert isinstance(options, Hierarchy)  # the catalogue says so
    labels = labels_of(data, options.empty)
    right = {} if options.corrections is None else _corrections(options.corrections, data, labels)
    labels = _corrected(labels, right)
    X = data.X if data.n_features and options.use == "features" else None
    known = known_tree(options.tree)
    if known is None and not options.learn_tree:
        known = _declared(data, labels)
    how: Any = {"has_features": X is not None, "seed": config.seed, "components": data.components}
    model = make_model(options, data.feature_names, known, **how)
    with collect_notes() as heard:
        model.fit(X, labels)
    completed, proba = np.array(model.complete(X, labels)), np.array(model.complete_proba(X, labels))
    for entry, value in right.items():  # a person looked: nothing is more certain
        completed[entry], proba[entry] = value, value
    return result_of(data, labels, model, completed, proba, options=options, heard=heard)


def make_model(
    options: Hierarchy,
    feature_names: Sequence[str],
    known: LabelTree | None,
    *,
    has_features: bool,
    seed: int | None,
    components: Sequence[str] | str = "auto",
) -> Any:
    """Return the estimator that the options ask for, not fitted."""
    inner = LatentHierarchyClassifier(
        structure=options.structure,
        tree=known,
        alpha=options.alpha,
        threshold=None if options.threshold == "set" else options.threshold,
        penalty=options.penalty,
        random_state=seed,
    )
    is_scaled = options.scale == "standard" and has_features
    if not is_scaled:
        return inner
    return Standardized(inner, feature_names=tuple(feature_names), kind="numbers", components=components)


def result_of(
    data: Dataset,
    labels: LabelMatrix,
    model: Any,
    completed: np.ndarray,
    proba: np.ndarray,
    *,
    options: Hierarchy,
    heard: Sequence[str],
) -> HierarchyResult:
    """Say which tree a fitted model found, and which entries it filled in."""
    fitted: LatentHierarchyClassifier = model.estimator_ if isinstance(model, Standardized) else model
    linked = fitted.tree_.parents >= 0
    added = (completed == 1) & ~labels.is_seen
    return HierarchyResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, filled(labels, completed, proba)),
        tables={
            "tree": _tree_table(fitted, labels),
            "gaps": _gap_table(data, labels, completed, proba),
            "check": _check_table(data, labels, completed, proba),
        },
        heard=tuple(heard),
        n_labels=labels.n_labels,
        n_seen=int(labels.is_seen.sum()),
        n_unlabelled=int((~labels.is_known.any(axis=1)).sum()),
        n_unknown=int((~labels.is_known).sum()),
        n_added=int(added.sum()),
        n_rows_changed=int(added.any(axis=1).sum()),
        used_features=bool(data.n_features) and options.use == "features",
        alpha=float(fitted.alpha_),
        alpha_range=fitted.alpha_range_.tolist(),
        label_alphas=fitted.label_alphas_.tolist(),
        source=fitted.source_,
        depth=fitted.tree_.depth,
        n_linked=int(linked.sum()),
        n_weak=int((fitted.edge_evidence_[linked] < WEAK).sum()),
        n_tested=int(np.isfinite(fitted.gap_p_values_).sum()),
        n_not_random=int((fitted.gap_p_values_ < NOT_RANDOM).sum()),
        extra_parents=list(fitted.extra_parents_),
        obeys_extra_parents=options.structure == "graph",
        tree=fitted.tree_,
        declared=_declared(data, labels),
        follows_declared=options.tree is None and not options.learn_tree and _declared(data, labels) is not None,
        evidence=fitted.edge_evidence_,
        counts=fitted.edge_counts_,
        gap_p_values=fitted.gap_p_values_,
        completed=completed,
        gallery=_gallery(data, labels, completed, proba),
    )


def _gallery(data: Dataset, labels: LabelMatrix, completed: np.ndarray, proba: np.ndarray) -> Gallery | None:
    """Show rows that a label was added to, where the table has something to show."""
    rows, columns = np.nonzero((completed == 1) & ~labels.is_seen)
    if not data.show or not len(rows):
        return None
    return gallery_of(data, columns, proba[rows, columns], labels.names, rows=rows, what="addition")


def _corrections(path: str, data: Dataset, labels: LabelMatrix) -> dict[tuple[int, int], int]:
    """Read which entries were corrected; lines that were left empty say nothing."""
    table = Table(path)
    for name in ("label", RIGHT_ENTRY):
        if name not in table.names:
            raise InvalidData(f"{path!r} has no column {name!r}: fill in the check.csv of a run of this job.")
    rows = row_numbers(path, table.cells(table.names[0]), data)
    column_of = {str(name): column for column, name in enumerate(labels.names)}
    right: dict[tuple[int, int], int] = {}
    for row, name, value in zip(rows, table.cells("label"), table.cells(RIGHT_ENTRY)):
        if not value.strip():
            continue
        if name not in column_of:
            raise UnknownName(f"{path!r} speaks of a label {name!r}. {nearest(name, column_of)}")
        if value.strip() not in ("0", "1"):
            raise InvalidData(f"{path!r}: the right entry of {name!r} is 0 or 1. Got {value!r:.80}.")
        right[row, column_of[name]] = int(value)
    return right


def _corrected(labels: LabelMatrix, right: dict[tuple[int, int], int]) -> LabelMatrix:
    """Write corrections into the labels; a label that is said to be there was ticked."""
    if not right:
        return labels
    values = np.array(labels.values)
    for entry, value in right.items():
        values[entry] = value
    return LabelMatrix(values, labels.names)


def _check_table(data: Dataset, labels: LabelMatrix, completed: np.ndarray, proba: np.ndarray) -> Columns:
    """List the entries that were not ticked and are least sure, each with room for what is right."""
    doubt = np.where(labels.is_seen, np.inf, np.abs(proba - 0.5))
    order = np.argsort(doubt, axis=None, kind="stable")[:MOST]
    rows, columns = np.unravel_index(order[np.isfinite(doubt.ravel()[order])], doubt.shape)
    return {
        data.row_title: data.row_names[rows].tolist(),
        "label": [labels.names[c] for c in columns],
        "found": completed[rows, columns].tolist(),
        "probability": np.round(proba[rows, columns], 4).tolist(),
        RIGHT_ENTRY: [""] * len(rows),
    }


def labels_of(data: Dataset, empty: str) -> LabelMatrix:
    """Take the label sets of the rows; ``empty`` says what a row is whose labels are missing altogether."""
    if data.Y is not None:
        values = np.array(data.Y)
    elif data.y is not None:
        values = np.array([[name == label for label in data.label_names] for name in data.y], dtype=np.int8)
    else:
        raise InvalidData(
            f"{data.path!r} has no labels of rows: no column was taken for them.",
            do=["Name the columns of 0 and 1, or the column of label sets, with ", Setting("label"), ". ", DESCRIBE],
        )
    if empty == "none":
        values[(values == -1).all(axis=1)] = 0
    return LabelMatrix(values, data.label_names)


def known_tree(path: str | None) -> LabelTree | None:
    if path is None:
        return None
    try:
        return LabelTree.from_text(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"Cannot read the tree {path!r}: {error}. It is a text file, one label a line.") from error


def _declared(data: Dataset, labels: LabelMatrix) -> LabelTree | None:
    """Return the tree that the file itself declares for these labels, to compare with."""
    return data.tree if data.tree is not None and set(data.tree.names) == set(labels.names) else None


def filled(labels: LabelMatrix, completed: np.ndarray, proba: np.ndarray) -> Columns:
    """One column a label, and the same as lists of names; what was added has a column of its own.

    The probability of a row is that of its least sure label.
    """
    added = (completed == 1) & ~labels.is_seen
    own: dict[str, list[Any]] = {"labels": _named(labels, completed == 1), "added": _named(labels, added)}
    own["probability"] = np.where(completed == 1, proba, 1.0 - proba).min(axis=1, initial=1.0).round(4).tolist()
    for column, name in enumerate(labels.names):
        own[name if name not in ("labels", "added", "probability") else f"label {name}"] = completed[:, column].tolist()
    return own


def _named(labels: LabelMatrix, on: np.ndarray) -> list[str]:
    return ["|".join(labels.names[c] for c in np.flatnonzero(row)) for row in on]


def _tree_table(model: LatentHierarchyClassifier, labels: LabelMatrix) -> Columns:
    tree = model.tree_
    order = tree.preorder.tolist()
    parents = [int(tree.parents[c]) for c in order]
    further = [[parent for parent, child, _ in model.extra_parents_ if child == tree.names[c]] for c in order]
    return {
        "label": [tree.names[c] for c in order],
        "parent": ["" if p < 0 else tree.names[p] for p in parents],
        "depth": [int(tree.depths[c]) for c in order],
        "rows": labels.is_seen.sum(axis=0)[order].tolist(),
        "rows with the parent seen": [int(model.edge_counts_[c, 0]) if p >= 0 else "" for c, p in zip(order, parents)],
        "evidence (nats)": [round(float(model.edge_evidence_[c]), 1) if p >= 0 else "" for c, p in zip(order, parents)],
        "gaps look like forgetting": [_verdict(float(model.gap_p_values_[c])) for c in order],
        "forgotten": [round(float(model.label_alphas_[c]), 3) for c in order],
        "further parents": ["|".join(names) for names in further],
    }


def _verdict(p_value: float) -> str:
    return "" if np.isnan(p_value) else "no" if p_value < NOT_RANDOM else "yes"


def _gap_table(data: Dataset, labels: LabelMatrix, completed: np.ndarray, proba: np.ndarray) -> Columns:
    """Everything that was added, the surest first."""
    rows, columns = np.nonzero((completed == 1) & ~labels.is_seen)
    order = np.argsort(-proba[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    was = np.where(labels.is_known[rows, columns], "not ticked", "nobody looked")
    return {
        data.row_title: data.row_names[rows].tolist(),
        "label added": [labels.names[c] for c in columns],
        "it was": was.tolist(),
        "probability": np.round(proba[rows, columns], 4).tolist(),
    }
