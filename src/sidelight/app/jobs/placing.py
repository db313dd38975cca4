"""What a fitted model says about the rows of a table: one function for each kind of model.

Kinds are told apart by what a model can do, so that a new estimator with the methods of its family is placed without a
line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sidelight.app.jobs.bag_words import found_in_bags, kinds_of, numbers_of_bags, ranges_in_words
from sidelight.app.jobs.result import Columns
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.data.label_matrix import LabelMatrix
from sidelight.errors import InvalidData
from sidelight.estimators._labelled_bags.row_temperature import names_that_reach


@dataclass(frozen=True)
class Placed:
    """Columns for every row and, where bags are judged, for every bag; ``strange`` are unknown labels."""

    rows: Columns
    bags: Columns = field(default_factory=dict)
    strange: Sequence[str] = ()


Place = Callable[[Any, Dataset], Placed]


COVERAGE = 0.9  # of rows, and of the labels of bags, that sets of names hold


def place_of(model: Any, coverage: float = COVERAGE) -> Place:
    """Return the function that places rows with this kind of model; sets of names hold a share ``coverage``."""
    for ability, place in _KINDS.items():
        if hasattr(model, ability):
            return partial(_named, coverage=coverage) if place is _named else place
    raise InvalidData(
        f"{type(inner_of(model)).__name__} has no clusters for rows it was not fitted on: it describes one table. "
        "Run its job again with the new rows in the table."
    )


def inner_of(model: Any) -> Any:
    """Return the estimator inside a wrapper that scales rows."""
    return vars(model).get("estimator_", model)


def takes(model: Any, side: str) -> bool:
    """Say whether ``predict`` of this model looks at ``side``: bags or sequences."""
    method = getattr(inner_of(model), "predict", None)
    return method is not None and side in inspect.signature(method).parameters


def feature_names_of(model: Any) -> list[str] | None:
    """Return the columns a model was fitted on, where it remembers their names."""
    names = vars(model).get("column_names_", vars(model).get("feature_names_in_"))
    return None if names is None else [str(name) for name in names]


def one_of(model: Any, Q: np.ndarray, coverage: float = COVERAGE) -> Columns:
    """Return a column of the fewest names of each row that hold a share of the truth; none where nobody can tell."""
    if not getattr(model, "calibration_", {}).get("n_rows"):
        return {}
    names = np.array([str(name) for name in model.label_names_], dtype=object)
    chosen = names_that_reach(Q @ model.layout.to_labels(), coverage)
    return {"one of": ["|".join(names[row]) for row in chosen]}


def _named(model: Any, data: Dataset, coverage: float = COVERAGE) -> Placed:
    """Name rows, by their features and by the lists of their bags where there are lists."""
    X = data.X
    P = model.predict_proba(X)
    bags, strange = _known_lists(data.bags, model.classes_)
    with_lists = bags is not None and bool(bags.is_labelled.any())
    Q = model.predict_proba(X, bags=bags) if with_lists else P
    to_labels = model.layout.to_labels()
    names = np.array([str(name) for name in model.label_names_], dtype=object)
    clusters = np.array([str(name) for name in model.cluster_names_], dtype=object)
    own: dict[str, Any] = {} if bags is None else {"bag": [str(name) for name in bags]}
    own["cluster"] = clusters[np.argmax(Q, axis=1)].tolist()
    own["label"] = names[np.argmax(Q @ to_labels, axis=1)].tolist()
    own["probability"] = Q.max(axis=1).tolist()
    own |= one_of(model, Q, coverage)
    own |= kinds_of(model, X, bags if with_lists else None)
    if with_lists:
        own["by features alone"] = names[np.argmax(P @ to_labels, axis=1)].tolist()
    own["novelty"] = Q[:, np.asarray(model.class_of_) < 0].sum(axis=1).tolist()
    if bags is None:
        return Placed(own)
    carried = model.predict_bags(X, bags)
    of_bags: dict[str, list[Any]] = {
        "bag": [str(name) for name in bags.names],
        "labels": ["|".join(sorted(map(str, s))) for s in carried],
    }
    found = found_in_bags(model, X, bags, coverage)
    if found is not None:
        how = getattr(model, "counts_rows_", "")
        sizes = bags.sizes.tolist()
        of_bags["in its words"] = [ranges_in_words(some, size, how) for some, size in zip(found, sizes)]
        of_bags |= numbers_of_bags(model, X, bags, found)
    if len(getattr(model, "calibration_", {}).get("lists", {}).get("bag", ())):
        sets = model.predict_bag_sets(X, bags, coverage=coverage)
        of_bags["may hold"] = ["|".join(sorted(map(str, s))) for s in sets]
    return Placed(own, of_bags, strange)


def _known_lists(bags: Bags | None, classes: Sequence[Any]) -> tuple[Bags | None, list[str]]:
    """Leave out labels that the model has never heard of; a list that had one may be missing others, too."""
    if bags is None or not bags.is_labelled.any():
        return bags, []
    known = {str(name): name for name in classes}
    if all(name in known.values() for name in bags.classes):
        return bags.with_classes(classes), []  # with all that they say beyond lists
    strange = [str(name) for name in bags.classes if str(name) not in known]
    labels = {
        bag: {known[str(name)] for name in listed if str(name) in known}
        for bag, listed in bags.labels.items()
        if listed is not None
    }
    partial = [
        bag for bag, listed in bags.labels.items() if listed is not None and any(str(n) not in known for n in listed)
    ]
    labels = {bag: listed for bag, listed in labels.items() if listed or bag not in partial}
    partial = [bag for bag in partial if bag in labels]
    return bags.with_labels(labels, classes=classes, partial=partial), strange


def _whole_bags(model: Any, data: Dataset) -> Placed:
    """Place bags; the rows of a bag share its cluster."""
    X, bags = data.X, data.bags
    if bags is None:
        raise InvalidData(
            f"{data.path} names no bags, and this model places whole bags: no column says which rows belong together."
        )
    P = model.predict_bag_proba(X, bags)
    labels = np.argmax(P, axis=1)
    sure = P.max(axis=1)
    names = [str(name) for name in bags.names]
    rows = {
        "bag": [names[code] for code in bags.codes.tolist()],
        "cluster": labels[bags.codes].tolist(),
        "probability": sure[bags.codes].tolist(),
    }
    of_bags: dict[str, list[Any]] = {
        "bag": names,
        "cluster": labels.tolist(),
        "probability": sure.tolist(),
        "rows": bags.sizes.tolist(),
    }
    return Placed(rows, of_bags)


def _label_sets(model: Any, data: Dataset) -> Placed:
    """Fill gaps in the labels of rows, or say them where the table has none."""
    X = data.X if data.n_features else None
    names = [str(name) for name in model.tree_.names]
    labels = _labels_in_order(data, names)
    sets = model.complete(X, labels) if labels is not None else model.predict(X)
    P = model.complete_proba(X, labels) if labels is not None else model.predict_proba(X)
    on = np.asarray(sets) == 1
    sure = np.where(on, P, 1.0 - np.asarray(P)).min(axis=1)
    own: dict[str, Any] = {"labels": ["|".join(names[c] for c in np.flatnonzero(row)) for row in on]}
    own["probability"] = sure.tolist()
    for column, name in enumerate(names):
        own[name if name not in own else f"label {name}"] = np.asarray(sets)[:, column].tolist()
    return Placed(own)


def _labels_in_order(data: Dataset, names: Sequence[str]) -> LabelMatrix | None:
    if data.Y is None:
        return None
    values = np.full((data.n_rows, len(names)), -1, dtype=np.int8)
    where = {name: column for column, name in enumerate(data.label_names)}
    for column, name in enumerate(names):
        if name in where:
            values[:, column] = data.Y[:, where[name]]
    return LabelMatrix(values, names)


def _channels(model: Any, data: Dataset) -> Placed:
    """Place rows by their channels and their sequence, and say which are like nothing seen before."""
    X = data.X
    sequences = None if data.sequence is None else data.sequence.tolist()
    own: dict[str, Any] = {} if sequences is None else {"sequence": sequences}
    own["cluster"] = model.predict(X, sequences=sequences).tolist()
    own["probability"] = model.predict_proba(X, sequences=sequences).max(axis=1).tolist()
    own["new"] = np.asarray(model.is_new(X, sequences=sequences)).astype(int).tolist()
    return Placed(own)


def _probable(model: Any, data: Dataset) -> Placed:
    """Place rows one by one."""
    X = data.X
    side: Mapping[str, Any] = {"bags": data.bags} if takes(model, "bags") and data.bags is not None else {}
    P = model.predict_proba(X, **side)
    own: dict[str, Any] = {"bag": [str(name) for name in data.bags]} if side and data.bags is not None else {}
    return Placed({**own, "cluster": np.argmax(P, axis=1).tolist(), "probability": P.max(axis=1).tolist()})


def _nearest(model: Any, data: Dataset) -> Placed:
    """Place rows one by one with a method of answers that has no probabilities: by their features alone."""
    return Placed({"cluster": model.predict(data.X).tolist()})


# What a model can do -> how rows are placed with it; the first ability counts.
_KINDS: Mapping[str, Place] = {
    "predict_labels": _named,
    "predict_bag_proba": _whole_bags,
    "complete": _label_sets,
    "predict_channel": _channels,
    "predict_proba": _probable,
    "violated_": _nearest,
}
