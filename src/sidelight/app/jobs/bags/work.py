"""The bags job: clusters of bags by what they hold, by one deciding row of each, or by the distances between them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.app.jobs.bags import Margin, Medoids, Words
from sidelight.app.jobs.bags.result import BalanceSizes, MarginResult, MedoidsResult, WordsResult
from sidelight.app.jobs.checking import checked_bags
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import cluster_table, gallery_of
from sidelight.app.jobs.how_many import choose_number, with_choice, with_number
from sidelight.app.jobs.placing import Placed
from sidelight.app.jobs.reading import collect_notes, read_bags, rows_of, standard, standardized
from sidelight.app.jobs.result import Columns, Map, Reading, Result, columns_of
from sidelight.app.jobs.roles import ENGINE
from sidelight.app.report.gallery import Gallery
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.estimators._how_many import NumberOfClusters
from sidelight.estimators.bags.k_medoids import BagKMedoids
from sidelight.estimators.bags.max_margin import MaxMarginBagClustering
from sidelight.estimators.bags.search import MaxMarginBagClusteringCV
from sidelight.estimators.bags.words import MOST_ROWS, BagWordClustering
from sidelight.plot import BalanceSizesDisplay
from sidelight.plot.layout import cluster_map, main_directions

USES = ("id", "bag", "feature", "show", "truth")
SURE = 0.8  # probability from which a bag counts as sure
_CLEAR = 0.8  # agreement of two halves of the evidence from which clusters come back well
_BALANCE_ROWS = 20_000  # sizes over the balance take five fits; beyond this they would dominate the run


def work(config: RunConfig) -> Result:
    """Read rows in bags, and cluster the bags."""
    if not isinstance(config.options, Words):
        by = by_margin if isinstance(config.options, Margin) else by_medoids
        return by(read_bags(config), config)
    with rows_of(config, read_bags, n_rows=MOST_ROWS, needs=("bag",)) as rows:
        return rows.with_all(by_words(rows.data, config), count_bags)


def count_bags(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count bags by cluster, and those that are sure."""
    total: Counter[Any] = Counter({("in", name): n for name, n in Counter(placed.bags["cluster"]).items()})
    total["bags"] = len(placed.bags["cluster"])
    total["sure"] = int((np.asarray(placed.bags["probability"]) >= SURE).sum())
    return total


def by_words(data: Dataset, config: RunConfig) -> WordsResult:
    """Cluster bags that were read already."""
    options, bags = config.options, data.bags
    assert isinstance(options, Words)  # the catalogue says so
    assert bags is not None  # the job looked
    with collect_notes() as heard:
        model = _fitted(options, data, bags, config.seed)
    result = words_found(data, bags, model, heard)
    again = with_number(options, model.n_clusters_)

    def refit(seed: int) -> np.ndarray:
        return _fitted(again, data, bags, seed).bag_labels_

    size = math.prod(data.X.shape)
    chosen = with_choice(result, result.n_clusters_choice, refit, model.bag_labels_, config.seed, size)
    return checked_bags(chosen, data)


def _fitted(options: Words, data: Dataset, bags: Bags, seed: int) -> BagWordClustering:
    n_clusters = None if options.n_clusters == "auto" else options.n_clusters
    settings = options.without("method", "n_clusters", *ENGINE)
    return BagWordClustering(n_clusters, random_state=seed, **settings).fit(data.X, bags=bags)


def words_found(data: Dataset, bags: Bags, model: Any, heard: Sequence[str] = ()) -> WordsResult:
    """Say what a fitted model found."""
    is_witness = np.zeros(bags.n_rows, dtype=bool)
    is_witness[model.witnesses_] = True
    tables = {"bags": _words_table(data, bags, model), "clusters": _cluster_columns(data, model)}
    points, sure = model.bag_points(data.X, bags), model.bag_proba_.max(axis=1)
    names = [str(k) for k in range(model.n_clusters_)]
    result = WordsResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, {**row_columns(bags, model.labels_, sure), "witness": is_witness.tolist()}),
        tables=tables,
        heard=tuple(heard),
        n_bags=bags.n_bags,
        sizes=np.bincount(model.bag_labels_, minlength=model.n_clusters_).tolist(),
        share_sure=float(np.mean(model.bag_proba_.max(axis=1) >= SURE)),
        bag_proba=model.bag_proba_,
        bag_labels=model.bag_labels_,
        witnesses=model.witnesses_,
        map=Map(cluster_map(points, model.bag_labels_), model.bag_labels_, names, [str(n) for n in bags.names]),
        gallery=gallery_of(
            data,
            model.bag_labels_,
            sure,
            [f"cluster {name}" for name in names],
            rows=model.witnesses_,
            item_names=bags.names,
            is_measured=False,
            what="bag",
        ),
    )
    if not model.choice_:
        return result
    return with_choice(result, [NumberOfClusters.of_choice(model.choice_, "words", lambda score, _: score >= _CLEAR)])


def _words_table(data: Dataset, bags: Bags, model: BagWordClustering) -> Columns:
    order = np.argsort(-model.bag_proba_, axis=1, kind="stable")
    second: list[Any] = order[:, 1].tolist() if model.n_clusters_ > 1 else [""] * bags.n_bags
    return {
        "bag": [str(name) for name in bags.names],
        "cluster": model.bag_labels_.tolist(),
        "probability": model.bag_proba_.max(axis=1).round(4).tolist(),
        "next cluster": second,
        "witness row": data.row_names[model.witnesses_].tolist(),
        "rows": bags.sizes.tolist(),
    }


def _cluster_columns(data: Dataset, model: BagWordClustering) -> Columns:
    """Return sizes, and what the witnesses and all rows of each cluster stand out by."""
    names = [str(k) for k in range(model.n_clusters_)]
    columns = bag_clusters(data.X[model.witnesses_], model.bag_labels_, data.feature_names, model.n_clusters_)
    columns["witnesses stand out by"] = columns.pop("stands out by")
    columns["rows stand out by"] = cluster_table(data.telling[0], model.labels_, data.telling[1], names)[
        "stands out by"
    ]
    return columns


def by_margin(data: Dataset, config: RunConfig) -> MarginResult:
    """Cluster bags that were read already."""
    asked, bags = config.options, data.bags
    assert isinstance(asked, Margin)  # the catalogue says so
    assert bags is not None  # the job looked
    options, choices = choose_number(asked, lambda: standard(bag_means(data.X, bags), data), config.seed)
    searched = ("C", "balance") if options.search else ()
    settings = {k: value for k, value in options.without("method", "search").items() if k not in searched}
    estimator: Any = MaxMarginBagClusteringCV if options.search else MaxMarginBagClustering
    with collect_notes() as heard:
        model: Any = estimator(random_state=config.seed, **settings).fit(data.X, bags=bags)
    inner = model.best_estimator_ if options.search else model
    found = {name: getattr(inner, name) for name in settings}  # a search is not repeated with other seeds

    def refit(seed: int) -> np.ndarray:
        return MaxMarginBagClustering(random_state=seed, **found).fit(data.X, bags=bags).bag_labels_

    result = _margin_found(data, bags, model, inner, heard)
    chosen = with_choice(result, choices, refit, inner.bag_labels_, config.seed, math.prod(data.X.shape))
    return checked_bags(chosen, data)


def _margin_found(
    data: Dataset, bags: Bags, model: Any, inner: MaxMarginBagClustering, heard: Sequence[str]
) -> MarginResult:
    """Say what was found by ``inner``: the model itself, or the best one of a search."""
    belongs = inner.memberships(data.X, bags=bags)
    P = inner.predict_bag_proba(data.X, bags)
    sure = P[np.arange(len(P)), inner.bag_labels_]
    is_witness = np.zeros(bags.n_rows, dtype=bool)
    is_witness[inner.witnesses_] = True
    return MarginResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, {**row_columns(bags, inner.labels_, sure), "witness": is_witness.tolist()}),
        tables={
            "bags": _margin_table(data, bags, inner, belongs, sure),
            "clusters": bag_clusters(data.X[inner.witnesses_], inner.bag_labels_, data.feature_names, inner.n_clusters),
        },
        heard=tuple(heard),
        n_bags=bags.n_bags,
        sizes=np.bincount(inner.bag_labels_, minlength=inner.n_clusters).tolist(),
        share_at_margin=float(np.mean(inner.bag_margins_ >= 1 - inner.inner_tol)),
        n_with_second_cluster=int(np.count_nonzero(belongs.sum(axis=1) > 1)),
        membership_threshold=float(inner.membership_threshold_),
        status=inner.status_,
        C=float(inner.C),
        balance=float(inner.balance),
        search_score=None if model is inner else float(model.best_score_),
        search={} if model is inner else {k: np.asarray(values).tolist() for k, values in model.cv_results_.items()},
        balance_sizes=_balance_sizes(inner, data.X, bags),
        margins=inner.bag_margins_,
        bag_labels=inner.bag_labels_,
        witnesses=inner.witnesses_,
        bag_of_row=bags.codes,
        coordinates=main_directions(standard(data.X, data)),
        row_names=data.row_names,
        bag_names=[str(name) for name in bags.names],
        gallery=_gallery(data, bags, inner),
    )


def _gallery(data: Dataset, bags: Bags, inner: MaxMarginBagClustering) -> Gallery:
    """Show the bags of each cluster by their witnesses, the widest margins first."""
    return gallery_of(
        data,
        inner.bag_labels_,
        inner.bag_margins_,
        [f"cluster {k}" for k in range(inner.n_clusters)],
        rows=inner.witnesses_,
        item_names=bags.names,
        is_probability=False,
        what="bag",
    )


def _margin_table(
    data: Dataset, bags: Bags, inner: MaxMarginBagClustering, belongs: np.ndarray, sure: np.ndarray
) -> Columns:
    also = [
        " ".join(str(k) for k in np.flatnonzero(row) if k != own)
        for row, own in zip(belongs, inner.bag_labels_.tolist())
    ]
    return {
        "bag": [str(name) for name in bags.names],
        "cluster": inner.bag_labels_.tolist(),
        "probability": sure.round(4).tolist(),
        "margin": inner.bag_margins_.round(4).tolist(),
        "witness row": data.row_names[inner.witnesses_].tolist(),
        "also in": also,
        "rows": bags.sizes.tolist(),
    }


def _balance_sizes(inner: MaxMarginBagClustering, X: Any, bags: Bags) -> BalanceSizes | None:
    if inner.margin != "paper" or bags.n_rows > _BALANCE_ROWS or inner.n_clusters < 2:
        return None
    shown = BalanceSizesDisplay.from_estimator(inner, X, bags=bags)
    return BalanceSizes(shown.balances, shown.sizes, float(inner.balance))


def by_medoids(data: Dataset, config: RunConfig) -> MedoidsResult:
    """Cluster bags that were read already."""
    asked, bags = config.options, data.bags
    assert isinstance(asked, Medoids)  # the catalogue says so
    assert bags is not None  # the job looked
    means = bag_means(data.X, bags)
    options, choices = choose_number(asked, lambda: standard(means, data), config.seed)

    def fitted(seed: int) -> Any:
        inner = BagKMedoids(random_state=seed, **options.without("method", "scale"))
        model = inner if options.scale == "none" else standardized(inner, data)
        return model.fit(data.X, bags=bags)

    with collect_notes() as heard:
        model = fitted(config.seed)
    result, size = _medoids_found(data, bags, model, options, means, heard), math.prod(data.X.shape)
    chosen = with_choice(result, choices, lambda seed: fitted(seed).bag_labels_, model.bag_labels_, config.seed, size)
    return checked_bags(chosen, data)


def _medoids_found(
    data: Dataset, bags: Bags, model: Any, options: Medoids, means: np.ndarray, heard: Sequence[str]
) -> MedoidsResult:
    """Say what a fitted model found; ``means`` are the mean rows of the bags."""
    n_clusters = int(options.n_clusters)  # settled before the fit
    names, numbers = [str(name) for name in bags.names], [str(k) for k in range(n_clusters)]
    P = model.predict_bag_proba(data.X, bags)
    sure = P[np.arange(len(P)), model.bag_labels_]
    clusters = bag_clusters(means, model.bag_labels_, data.feature_names, n_clusters)
    medoids = [names[b] for b in model.medoids_]
    return MedoidsResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, row_columns(bags, model.labels_, sure)),
        tables={
            "bags": _medoids_table(bags, model, sure),
            "clusters": {"cluster": clusters["cluster"], "medoid": medoids, **clusters},
        },
        heard=tuple(heard),
        n_bags=bags.n_bags,
        sizes=np.bincount(model.bag_labels_, minlength=n_clusters).tolist(),
        distance=options.distance,
        mean_distance=float(model.bag_distances_.mean()),
        map=Map(cluster_map(standard(means, data), model.bag_labels_), model.bag_labels_, numbers, names),
        gallery=gallery_of(
            data,
            model.bag_labels_,
            -model.bag_distances_,
            [f"cluster {k}" for k in numbers],
            rows=bags.order[bags.starts[:-1]],
            item_names=names,
            is_probability=False,
            what="bag",
        ),
    )


def _medoids_table(bags: Bags, model: Any, sure: np.ndarray) -> Columns:
    return {
        "bag": [str(name) for name in bags.names],
        "cluster": model.bag_labels_.tolist(),
        "probability": sure.round(4).tolist(),
        "distance": model.bag_distances_.round(4).tolist(),
        "rows": bags.sizes.tolist(),
    }


def bag_clusters(X: Any, labels: np.ndarray, features: Sequence[str], n_clusters: int) -> dict[str, list[Any]]:
    """Return sizes of the clusters in bags, and what ``X``, one row for each bag, stands out by."""
    table = cluster_table(X, labels, features, [str(k) for k in range(n_clusters)])
    return {("bags" if key == "rows" else key): values for key, values in table.items()}


def row_columns(bags: Bags, labels: np.ndarray, sure: np.ndarray) -> dict[str, list[Any]]:
    """Return the bag and the cluster of each row, and how sure the bag is of it."""
    names = [str(name) for name in bags.names]
    return {
        "bag": [names[code] for code in bags.codes.tolist()],
        "cluster": labels.tolist(),
        "probability": sure[bags.codes].round(4).tolist(),
    }


def bag_means(X: Any, bags: Bags) -> np.ndarray:
    """Return the mean row of each bag."""
    weights = 1.0 / bags.sizes[bags.codes]
    mean = sp.csr_array((weights, (bags.codes, np.arange(bags.n_rows))), shape=(bags.n_bags, bags.n_rows)) @ X
    return mean.toarray() if sp.issparse(mean) else np.asarray(mean)
