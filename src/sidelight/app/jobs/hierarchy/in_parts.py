"""Label sets of more rows than memory: the tree of all rows, a page of a sample, gaps filled part by part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.hierarchy import Hierarchy
from sidelight.app.jobs.hierarchy.result import HierarchyResult
from sidelight.app.jobs.hierarchy.work import RIGHT_ENTRY, filled, known_tree, labels_of, make_model, result_of
from sidelight.app.jobs.in_parts import SHOWN, InParts, in_parts, sample_of, write_all
from sidelight.app.jobs.parts import TableOfParts, engine_of, open_parts
from sidelight.app.jobs.placing import Placed
from sidelight.app.jobs.reading import collect_notes
from sidelight.data.dataset import Dataset
from sidelight.data.label_matrix import LabelMatrix
from sidelight.errors import InvalidParameter
from sidelight.words import Setting


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedHierarchyResult(InParts, HierarchyResult):
    """The tree of all rows, of which only a sample was ever in memory."""


def work(config: RunConfig) -> PartedHierarchyResult:
    """Learn the tree behind the labels of all rows, and fill their gaps."""
    options = config.options
    assert isinstance(options, Hierarchy)  # the catalogue says so
    _refuse(options, config)
    parts = open_parts(config.table, config.roles, needs=("label",), empty=options.empty)
    use_features = options.use == "features"
    model = make_model(
        options, parts.feature_names, known_tree(options.tree), has_features=use_features, seed=config.seed
    )
    with collect_notes() as heard:
        model.fit(*((parts,) if use_features else (None, parts)), engine=engine_of(options, parts))
    table = TableOfParts(config.table, parts.feature_names, parts.classes, config.roles, lists_are="rows")
    data = sample_of(parts, table, options, SHOWN)
    if not use_features:
        data = replace(data, X=np.empty((data.n_rows, 0)), feature_names=())
    labels, completed, proba = _completed(model, data)
    result = result_of(data, labels, model, completed, proba, options=options, heard=heard)
    folder, total = write_all(parts, table, model, options, count_labels, fill if use_features else fill_alone)
    check = {name: cells for name, cells in result.tables["check"].items() if name != RIGHT_ENTRY}
    figures = {
        "tables": {**result.tables, "check": check},
        "reading": replace(result.reading, n_rows=parts.n_rows),
        **{name: total[name] for name in ("n_seen", "n_unlabelled", "n_unknown", "n_added", "n_rows_changed")},
    }
    return in_parts(PartedHierarchyResult, result, figures, folder, n_shown=data.n_rows, learnt=False)


def fill(model: Any, data: Dataset) -> Placed:
    """Fill the gaps of rows by their features and labels."""
    return Placed(filled(*_completed(model, data)))


def fill_alone(model: Any, data: Dataset) -> Placed:
    """Fill the gaps of rows by their labels alone."""
    return fill(model, replace(data, X=np.empty((data.n_rows, 0)), feature_names=()))


def _completed(model: Any, data: Dataset) -> tuple[LabelMatrix, Any, Any]:
    labels = labels_of(data, "unlabelled")
    X = data.X if data.n_features else None
    return labels, np.array(model.complete(X, labels)), np.array(model.complete_proba(X, labels))


def count_labels(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count what was seen, what nobody looked at, and what was added."""
    assert data.Y is not None  # labels of rows were named
    added = np.array([text != "" for text in placed.rows["added"]], dtype=bool)
    return Counter(
        n_seen=int((data.Y == 1).sum()),
        n_unlabelled=int((data.Y < 0).all(axis=1).sum()),
        n_unknown=int((data.Y < 0).sum()),
        n_added=sum(text.count("|") + 1 for text in placed.rows["added"] if text),
        n_rows_changed=int(added.sum()),
    )


def _refuse(options: Hierarchy, config: RunConfig) -> None:
    """Refuse by name what a run by parts cannot be told."""
    usual = Hierarchy()
    for name in ("corrections", "learn_tree"):
        if getattr(options, name) != getattr(usual, name):
            raise InvalidParameter(
                f"Rows that are read part by part cannot be fitted with {name}.",
                do=["Leave ", Setting(name), " out, or run on one table that fits into memory."],
            )
    if isinstance(config.roles.bag, str):
        raise InvalidParameter(
            f"hierarchy learns from the labels of rows, and {config.roles.bag!r} names bags.",
            do=["Leave ", Setting("bag"), " out."],
        )
