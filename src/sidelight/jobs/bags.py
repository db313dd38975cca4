"""The bags job: clusters of bags whose labels nobody knows, and the row that decided each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.bags import Bags
from sidelight.data.readers import Dataset
from sidelight.errors import InvalidData
from sidelight.estimators.bags import BagKMedoids, MaxMarginBagClustering, MaxMarginBagClusteringCV
from sidelight.estimators.scaling import Standardized
from sidelight.jobs.config import RunConfig
from sidelight.jobs.profiles import cluster_table
from sidelight.jobs.run import Findings, Outcome, publish
from sidelight.jobs.tables import read_data
from sidelight.plot import BagMarginDisplay, BagWitnessDisplay, BalanceSizesDisplay, TypicalImagesDisplay
from sidelight.report import Section, Table

_BALANCE_ROWS = 20_000  # the picture of sizes over balance fits five times; beyond this it would dominate the run
_STATUS = {
    "no margin": "No margin was found: all bags are alike under this balance. Try a larger --balance, or check that "
    "the rows differ.",
    "empty clusters": "Some clusters stayed empty although the balance is met. Try a smaller --balance, a larger "
    "--price, or fewer clusters.",
    "iteration limit": "The search stopped at its limit of steps; the clusters are those of the last step.",
}


def work(config: RunConfig) -> Findings:
    """Read the table, cluster its bags, and say what was found."""
    data = read_data(config.table, config.roles)
    if data.bags is None:
        raise InvalidData(
            f"{config.table!r} names no bags: no column says which rows belong together. Name one with --bag COLUMN."
        )
    if not data.n_features or not data.n_rows:
        raise InvalidData(
            f"{config.table!r} has {data.n_rows} rows and {data.n_features} features: nothing to cluster."
        )
    return cluster(data, data.bags, config)


def cluster(data: Dataset, bags: Bags, config: RunConfig) -> Findings:
    """Cluster bags that were read already."""
    options = dict(config.options)
    method = options.pop("method", "margin")
    if method == "medoids":
        return _by_medoids(data, bags, options, config.seed)
    return _by_margin(data, bags, options, config.seed)


def _by_margin(data: Dataset, bags: Bags, options: dict[str, Any], seed: int) -> Findings:
    search = options.pop("search", False)
    options.pop("distance", None)
    if search:
        chosen = {key: value for key, value in options.items() if key not in ("C", "balance")}
        model: Any = MaxMarginBagClusteringCV(random_state=seed, **chosen).fit(data.X, bags=bags)
        inner = model.best_estimator_
    else:
        model = inner = MaxMarginBagClustering(random_state=seed, **options).fit(data.X, bags=bags)
    belongs = inner.memberships(data.X, bags=bags)
    several = int(np.count_nonzero(belongs.sum(axis=1) > 1))
    sure = float(np.mean(inner.bag_margins_ >= 1 - inner.inner_tol))
    sentences = [
        _sizes_sentence(bags, inner.bag_labels_, inner.n_clusters),
        f"{sure:.0%} of the bags have a row that reaches the margin of 1; in {several} of {bags.n_bags} bags a "
        f"further row speaks for another cluster (a margin above {inner.membership_threshold_:.2f}).",
    ]
    if search:
        sentences.append(
            f"C = {inner.C:g} and balance = {inner.balance:g} were chosen without labels, by stability, evenness and "
            f"margin (score {model.best_score_:.2f} of 1)."
        )
    if inner.status_ in _STATUS:
        sentences.append(_STATUS[inner.status_])
    sections = _margin_sections(data, bags, inner)
    if search:
        sections.append(_search_section(model))
    witness_ids = _row_ids(data)[inner.witnesses_]
    also = [
        " ".join(str(k) for k in np.flatnonzero(row) if k != own)
        for row, own in zip(belongs, inner.bag_labels_.tolist())
    ]
    table = {
        "bag": [str(name) for name in bags.names],
        "cluster": inner.bag_labels_.tolist(),
        "margin": inner.bag_margins_.round(4).tolist(),
        "witness row": witness_ids.tolist(),
        "also in": also,
        "rows": bags.sizes.tolist(),
    }
    is_witness = np.zeros(bags.n_rows, dtype=bool)
    is_witness[inner.witnesses_] = True
    assignments = {**_assignments(data, bags, inner.labels_), "witness": is_witness.tolist()}
    clusters = _cluster_table(data.X[inner.witnesses_], inner.bag_labels_, data.feature_names, inner.n_clusters)
    return Findings(
        "Clusters of bags",
        sentences,
        model,
        assignments,
        {"bags": table, "clusters": clusters},
        sections,
        _facts(bags, data),
    )


def _by_medoids(data: Dataset, bags: Bags, options: dict[str, Any], seed: int) -> Findings:
    keep = {key: options[key] for key in ("n_clusters", "distance", "n_init") if key in options}
    inner = BagKMedoids(random_state=seed, **keep)
    model: Any = inner if options.get("scale") == "none" else Standardized(inner)
    model.fit(data.X, bags=bags)
    names = [str(name) for name in bags.names]
    medoid_names = [names[b] for b in model.medoids_]
    sentences = [
        _sizes_sentence(bags, model.bag_labels_, inner.n_clusters),
        f"Each cluster gathers around one bag, by the {inner.distance} Hausdorff distance; on average a bag is "
        f"{model.bag_distances_.mean():.3g} away from it.",
    ]
    means = _bag_means(data.X, bags)
    clusters = _cluster_table(means, model.bag_labels_, data.feature_names, inner.n_clusters)
    clusters = {"cluster": clusters["cluster"], "medoid": medoid_names, **clusters}
    table = {
        "bag": names,
        "cluster": model.bag_labels_.tolist(),
        "distance": model.bag_distances_.round(4).tolist(),
        "rows": bags.sizes.tolist(),
    }
    from sidelight.plot import ClusterScatterDisplay
    from sidelight.plot.clusters import main_directions

    shown = ClusterScatterDisplay(main_directions(_standard(means)), model.bag_labels_)
    sections = [
        Section(
            "The bags on a map",
            ["Each dot is a bag, at the mean of its rows; the distances themselves look at single rows."],
            [(shown, "Bags by cluster, on the first two principal components of their means.")],
        ),
        Section(
            "The clusters", tables=[Table(clusters, "Medoids, sizes, and what the mean rows of bags stand out by.")]
        ),
    ]
    return Findings(
        "Clusters of bags",
        sentences,
        model,
        _assignments(data, bags, model.labels_),
        {"bags": table, "clusters": clusters},
        sections,
        _facts(bags, data),
    )


def _margin_sections(data: Dataset, bags: Bags, inner: MaxMarginBagClustering) -> list[Section]:
    clusters = _cluster_table(data.X[inner.witnesses_], inner.bag_labels_, data.feature_names, inner.n_clusters)
    shown = BagWitnessDisplay.from_estimator(inner, _standard(data.X), bags=bags)
    margins = BagMarginDisplay.from_estimator(inner)
    pictures: list[tuple[Any, str]] = [
        (margins, "Margins of the bags. Left of the dashed line no row was clear enough.")
    ]
    if bags.n_rows <= _BALANCE_ROWS and inner.n_clusters > 1:
        sizes = BalanceSizesDisplay.from_estimator(inner, data.X, bags=bags)
        words = "Cluster sizes when the balance is tightened or loosened."
        if (sizes.sizes == sizes.sizes[0]).all():
            words += " Here it changes nothing: the mean rows of the bags add up to nothing that it could hold on to."
        pictures.append((sizes, words))
    surest = np.argsort(-inner.bag_margins_, kind="stable")
    ids = _row_ids(data)
    examples: dict[str, list[Any]] = {"cluster": [], "bag": [], "witness row": [], "margin": []}
    for k in range(inner.n_clusters):
        for b in surest[inner.bag_labels_[surest] == k][:3].tolist():
            examples["cluster"].append(k)
            examples["bag"].append(str(bags.names[b]))
            examples["witness row"].append(ids[inner.witnesses_[b]])
            examples["margin"].append(float(inner.bag_margins_[b]))
    return [
        Section(
            "The rows that decided",
            ["A bag is judged by one row, its witness: the one that leans most to one cluster. Lines lead to its bag."],
            [(shown, "Witnesses by cluster among all rows, on the two main directions.")],
            [Table(examples, "The surest bags of each cluster, and the row that decided them.")],
        ),
        Section("How sure the bags are", displays=pictures),
        Section(
            "The clusters",
            tables=[Table(clusters, "Sizes, and what the witnesses of a cluster stand out by among all witnesses.")],
        ),
    ]


def _search_section(model: MaxMarginBagClusteringCV) -> Section:
    results = {key: np.asarray(values).tolist() for key, values in model.cv_results_.items()}
    return Section(
        "How C and balance were chosen",
        [
            "Stability: agreement with the clusters of part of the bags. Evenness: entropy of the sizes. Margin: what "
            "bags reach of the margin of 1. The product decides; it is a guide, not the truth."
        ],
        tables=[Table(results, "Everything that was tried.")],
    )


def _sizes_sentence(bags: Bags, bag_labels: np.ndarray, n_clusters: int) -> str:
    sizes = np.bincount(bag_labels, minlength=n_clusters)
    filled = np.count_nonzero(sizes)
    return (
        f"{bags.n_bags} bags ({bags.n_rows} rows) fell into {filled} cluster{'' if filled == 1 else 's'} of "
        f"{sizes[sizes > 0].min()} to {sizes.max()} bags."
    )


def _cluster_table(X: Any, labels: np.ndarray, features: Any, n_clusters: int) -> dict[str, list[Any]]:
    table = cluster_table(X, labels, features, [str(k) for k in range(n_clusters)])
    return {("bags" if key == "rows" else key): values for key, values in table.items()}


def _assignments(data: Dataset, bags: Bags, labels: np.ndarray) -> dict[str, list[Any]]:
    names = [str(name) for name in bags.names]
    return {
        data.row_title: _row_ids(data).tolist(),
        "bag": [names[code] for code in bags.codes.tolist()],
        "cluster": labels.tolist(),
    }


def _row_ids(data: Dataset) -> np.ndarray:
    return data.row_names


def _bag_means(X: Any, bags: Bags) -> np.ndarray:
    import scipy.sparse as sp

    weights = 1.0 / bags.sizes[bags.codes]
    mean = sp.csr_array((weights, (bags.codes, np.arange(bags.n_rows))), shape=(bags.n_bags, bags.n_rows)) @ X
    return mean.toarray() if sp.issparse(mean) else np.asarray(mean)


def _standard(X: Any) -> Any:
    if not isinstance(X, np.ndarray):
        return X
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def _facts(bags: Bags, data: Dataset) -> dict[str, Any]:
    return {"rows": bags.n_rows, "bags": bags.n_bags, "features": data.n_features}


def demo(folder: Path, seed: int) -> Outcome:
    """Films of handwritten digits with one sharp picture each: find the films that show the same digit."""
    from sidelight.metrics import clustering_accuracy

    X, bags, truth = _films(seed)
    data = Dataset(X, tuple(f"pixel {j // 8},{j % 8}" for j in range(64)), path="films of digits")
    config = RunConfig(
        "bags",
        "films made of scikit-learn's digits",
        options={"n_clusters": 3, "scale": "none", "n_init": 10},
        seed=seed,
    )
    found = cluster(data, bags, config)
    model = found.model
    surest = np.argsort(-model.bag_margins_, kind="stable")
    groups = [X[model.witnesses_[surest[model.bag_labels_[surest] == k][:12]]].reshape(-1, 8, 8) for k in range(3)]
    accuracy = clustering_accuracy(truth, model.bag_labels_)
    sections = [
        Section(
            "What decided",
            [
                "Each film holds five pictures: one sharp digit (a 0, 4 or 5) and four blurs of many digits. "
                "Nobody told the method which picture is the sharp one, nor that there are digits at all.",
                f"{accuracy:.0%} of the films are in the cluster of their digit. (These three digits were "
                "picked because they come out well; others are harder.)",
            ],
            [(TypicalImagesDisplay(groups), "The witnesses of the surest films of each cluster.")],
        ),
        *found.sections,
    ]
    shown = Findings("Films of digits", found.sentences, model, found.assignments, found.tables, sections, found.facts)
    return publish(config, shown, folder)


def _films(seed: int, n_films: int = 120, size: int = 5) -> tuple[np.ndarray, Bags, np.ndarray]:
    """Draw films: one sharp digit each, at a random place, among means of sixteen random digits; pixels centred."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    generator = np.random.default_rng(seed)
    kinds = np.array([0, 4, 5])
    truth = kinds[np.arange(n_films) % 3]
    blurred = digits.data[generator.integers(0, len(digits.data), (n_films * size, 16))].mean(axis=1)
    sharp = np.array([generator.choice(np.flatnonzero(digits.target == digit)) for digit in truth])
    X = blurred
    X[np.arange(n_films) * size + generator.integers(0, size, n_films)] = digits.data[sharp]
    return (X - X.mean(axis=0)) / 16.0, Bags([f"film {b}" for b in np.repeat(np.arange(n_films), size)]), truth
