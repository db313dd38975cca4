"""The coverage job: rows in bags whose labels are known become clusters of rows that explain those labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._core.params import check_choice
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.data.readers.tabular import TORN
from sidelight.errors import InvalidData, InvalidParameter, LabelsWithoutRows
from sidelight.estimators.coverage import CoverageClustering
from sidelight.estimators.scaling import Standardized
from sidelight.jobs.config import RunConfig
from sidelight.jobs.profiles import cluster_table
from sidelight.jobs.run import Findings, Outcome, publish
from sidelight.jobs.tables import read_data
from sidelight.plot import (
    ClusterContentsDisplay,
    ClusterLabelDisplay,
    CountChoiceDisplay,
    MovedRowsDisplay,
    TypicalImagesDisplay,
)
from sidelight.report import Section, Table
from sidelight.words import counted


def work(config: RunConfig) -> Findings:
    """Read the table, explain its rows by the labels of their bags, and say what was found."""
    data = read_data(config.table, config.roles)
    if data.bags is None or not data.bags.is_labelled.any():
        raise InvalidData(f"{config.table!r} has {_what_is_missing(data, config.roles)}")
    if not data.n_features:
        raise InvalidData(f"{config.table!r} has no numeric column to learn from. Name some with --features.")
    return cluster(data, config)


def _what_is_missing(data: Dataset, roles: Mapping[str, Any]) -> str:
    """Say why there is no labelled bag, and what to do about it."""
    named = [str(column) for role in ("label", "bag_label") for column in _several(roles.get(role))]
    if data.bags is not None and named:
        columns = ", ".join(repr(name) for name in named)
        return (
            f"bags, but {columns} {'is' if len(named) == 1 else 'are'} empty in every row: no bag says what it holds. "
            "Fill the cells, or name another column with --label (or a table of labels with --label-file)."
        )
    if data.bags is not None and roles.get("label_file"):
        return f"bags, but {roles['label_file']!r} has no label for any of them."
    return (
        ("no bags" if data.bags is None else "bags, but no labels for them")
        + ". Name the column of bags with --bag, and the labels with --label (or --label-file). `sidelight describe` "
        "says what its columns were taken for."
    )


def _several(given: Any) -> tuple[Any, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def cluster(data: Dataset, config: RunConfig) -> Findings:
    """Cluster rows that were read already."""
    options = dict(config.options)
    scale, lists = options.pop("scale", "standard"), options.pop("lists", "complete")
    known, empty = options.pop("rows", "no"), options.pop("empty", "unlabelled")
    options["n_subclusters"] = read_counts(options.get("n_subclusters", 1))
    options["n_novel"] = _int_or_auto(options.get("n_novel", 0), "n_novel")
    options["penalty"] = _number_or_auto(options.get("penalty", 1.5))
    bags = _said(data.bags or Bags(range(data.n_rows)), lists, empty)
    row_labels = data.y if known == "known" else None
    inner = CoverageClustering(random_state=config.seed, **options)
    model: Any = Standardized(inner) if scale == "standard" else inner
    ids = data.row_names
    with warnings.catch_warnings():
        # the summary says it, once
        warnings.simplefilter("ignore", LabelsWithoutRows)
        model.fit(data.X, bags=bags, row_labels=row_labels)
        return _findings(data, bags, ids, model, row_labels)


def read_counts(said: Any) -> Any:
    """Turn ``"auto"``, ``2`` or ``"wren=2,owl=3"`` into what the estimator takes."""
    if isinstance(said, Mapping) or not isinstance(said, str) or "=" not in said:
        return _int_or_auto(said, "n_subclusters") if not isinstance(said, Mapping) else dict(said)
    counts = {}
    for part in said.split(","):
        name, _, number = part.rpartition("=")
        counts[name.strip()] = _int_or_auto(number.strip(), f"n_subclusters of {name.strip()!r}")
    return counts


def _int_or_auto(said: Any, name: str) -> Any:
    if said == "auto" or isinstance(said, int):
        return said
    try:
        return int(said)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"{name} must be a whole number or 'auto'"
            + (", or a list such as wren=2,owl=3" if name == "n_subclusters" else "")
            + f". Got {said!r}."
        ) from None


def _number_or_auto(said: Any) -> Any:
    try:
        return said if said == "auto" else float(said)
    except (TypeError, ValueError):
        raise InvalidParameter(f"penalty must be a number or 'auto'. Got {said!r}.") from None


def _said(bags: Bags, lists: str, empty: str) -> Bags:
    """Read the lists as the user means them: complete or partial, and an empty one as silence or as "none"."""
    check_choice("coverage", "lists", lists, ("complete", "partial"))
    check_choice("coverage", "empty", empty, ("unlabelled", "none"))
    if lists == "complete" and empty == "unlabelled":
        return bags
    labels: dict[Any, Any] = {
        name: set() if said is None and empty == "none" else said for name, said in bags.labels.items()
    }
    labels = {name: said for name, said in labels.items() if said is not None}
    partial = (
        [name for name, said in labels.items() if said] if lists == "partial" else ()
    )  # "none" leaves nothing open
    return bags.with_labels(labels, classes=bags.classes, partial=partial)


def _findings(data: Dataset, bags: Bags, ids: np.ndarray, model: Any, row_labels: Any) -> Findings:
    X = data.X
    Q = model.predict_proba(X, bags=bags, row_labels=row_labels)
    names = np.asarray(model.cluster_names_, dtype=object)
    alone, with_bags = model.predict_labels(X), model.predict_labels(X, bags=bags, row_labels=row_labels)
    clusters = cluster_table(X, model.labels_, data.feature_names, list(names))
    assignments = {
        data.row_title: ids.tolist(),
        "bag": [str(name) for name in bags],
        "cluster": names[model.labels_].tolist(),
        "label": [str(name) for name in with_bags],
        "probability": Q.max(axis=1).tolist(),
        "by features alone": [str(name) for name in alone],
        "novelty": Q[:, model.class_of_ < 0].sum(axis=1).tolist(),
    }
    tables = {"clusters": clusters, "bags": _bag_table(X, bags, model)}
    sentences = _sentences(bags, model, Q, alone != with_bags)
    sentences += [f"In this table {note}." for note in data.notes if getattr(note, "code", "") == TORN]
    sections = _sections(X, bags, ids, model, clusters, tables["bags"])
    facts = {"rows": data.n_rows, "features": data.n_features, "bags": bags.n_bags, "labels": len(model.classes_)}
    return Findings(
        "Rows explained by the labels of their bags", sentences, model, assignments, tables, sections, facts
    )


def _sentences(bags: Bags, model: Any, Q: np.ndarray, changed: np.ndarray) -> list[str]:
    used = np.asarray(model.class_of_)[np.unique(model.labels_)]  # the class of each cluster that holds rows
    n_found, n_novel = len(np.unique(used[used >= 0])), np.count_nonzero(used < 0)
    found = [
        f"{counted(len(Q), 'row')} of {counted(bags.n_bags, 'bag')} ({int(bags.is_labelled.sum())} labelled) fell into "
        f"{counted(len(used), 'cluster')}: {n_found} of {counted(len(model.classes_), 'label')}"
        + (f", {n_novel} novel." if n_novel else "."),
        f"{np.mean(Q.max(axis=1) > 0.9):.0%} of the rows are sure of their cluster (probability above 0.9); the labels "
        f"of the bags changed the name of {counted(int(changed.sum()), 'row')} ({np.mean(changed):.1%}).",
    ]
    n_allowed = int(np.count_nonzero(np.asarray(model.class_of_) < 0))
    if n_allowed and not n_novel:
        allowed = counted(n_allowed, "novel cluster was", "novel clusters were")
        found.append(f"{allowed} allowed, but the lists explain every row.")
    for name, choice in model.choice_.items():
        found.append(f"{name} = {choice['chosen']:g} was chosen by the likelihood of held-out bags.")
    if model.uncovered_:
        bag, labels = model.uncovered_[0]
        missing = ", ".join(str(label) for label in labels) or "none"
        n_short = len(model.uncovered_)
        found.append(
            f"{counted(n_short, 'bag has', 'bags have')} more labels than rows that could carry them"
            + (f": {bag}" if n_short == 1 else f", for example {bag}")
            + f"; left without a row: {missing}."
        )
    return found


def _bag_table(X: Any, bags: Bags, model: Any) -> dict[str, list[Any]]:
    """What each bag says, what its rows say by features alone, and how well both agree."""
    found = model.predict_bags(X, bags)
    said = [bags.labels[name] for name in bags.names]
    values = np.asarray(model.bag_log_likelihood_)
    order = np.argsort(values, kind="stable")
    return {
        "bag": [str(bags.names[b]) for b in order],
        "rows": [int(bags.sizes[b]) for b in order],
        "labels": ["" if said[b] is None else _listed(said[b]) for b in order],
        "by features alone": [_listed(found[bags.names[b]]) for b in order],
        "log likelihood": [float(values[b]) for b in order],
    }


def _listed(names: Any) -> str:
    return "|".join(sorted(str(name) for name in names))


def _sections(X: Any, bags: Bags, ids: np.ndarray, model: Any, clusters: Any, bag_table: Any) -> list[Section]:
    moved = MovedRowsDisplay.from_estimator(model, X, bags, row_ids=ids)
    sections = [
        Section(
            "The clusters",
            ["A cluster bears the name of its label; novel ones hold rows that no label of their bag explains."],
            [
                (
                    ClusterContentsDisplay.from_estimator(model, X, bags, row_ids=ids),
                    "Clusters by number of rows, with the bags that hold most of them and the surest rows.",
                ),
                (
                    ClusterLabelDisplay.from_estimator(model, bags),
                    "The share of a cluster's rows that are in bags which list a label.",
                ),
            ],
            [Table(clusters, "Sizes, and the features that differ most, in standard deviations.")],
        ),
        Section(
            "What the bags changed",
            [_what_changed(moved.n_moved, moved.n_rows)],
            [(moved, "The rows that moved most: by features alone → with the labels of the bag.")],
        ),
        Section(
            "The bags",
            ["Bags at the top are the hardest to explain: a wrong or forgotten label often hides there."],
            tables=[Table(bag_table, "What each bag says, and what its rows say by their features alone.", most=25)],
        ),
    ]
    for name in model.choice_:
        shown = CountChoiceDisplay.from_estimator(model, name)
        text = "The smallest number within one standard error (dashed) of the best is taken."
        if name == "penalty":
            text = "The penalty under which held-out lists are most likely is taken."
        sections.append(Section(f"How {name} was chosen", [text], [(shown, "Likelihood of bags that were held out.")]))
    return sections


def _what_changed(n_moved: int, n_rows: int) -> str:
    if not n_moved:
        return "No row would be called anything else without its bag's labels: features and lists agree."
    return (
        f"{n_moved} of {n_rows} rows would be called something else without their bag's labels: look here first for "
        "wrong labels and for labels that sound or look alike."
    )


def demo(folder: Path, seed: int) -> Outcome:
    """Handwritten digits in bags that say which digits they hold, except for two that nobody ever named."""
    from sidelight.data.samples import load_digit_bags
    from sidelight.metrics import normalized_mutual_information

    sample = load_digit_bags(novel=(3, 7), random_state=seed)
    names = tuple(f"pixel-{j}" for j in range(sample.X.shape[1]))
    data = Dataset(sample.X, names, bags=sample.bags, path="scikit-learn's digits in bags")
    options = {"n_novel": 2}
    config = RunConfig("coverage", "scikit-learn's digits in bags", options=options, seed=seed)
    found = cluster(data, config)
    agreement = normalized_mutual_information(sample.y, found.model.labels_)
    typical = TypicalImagesDisplay.from_estimator(
        found.model, sample.X, sample.images, names=found.model.cluster_names_
    )
    first = Section(
        "What the clusters look like",
        [
            "Each bag holds some handwritten digits and says which ones, not which is which; the digits 3 and 7 were "
            "struck off every list. Two novel clusters were allowed.",
            f"Against the true digits, used only here, the normalised mutual information is {agreement:.2f} "
            "(1 is perfect, 0 is chance).",
        ],
        [(typical, "The surest rows of each cluster, by their pixels alone.")],
    )
    shown = Findings(
        "Handwritten digits, explained by the lists of their bags",
        found.sentences,
        found.model,
        found.assignments,
        found.tables,
        [first, *found.sections],
        found.facts,
    )
    return publish(config, shown, folder)
