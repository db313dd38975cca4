"""Margin: clusters of bags that one row of each decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.app.jobs.bags.options import Margin
from sidelight.app.jobs.bags.result import BalanceSizes, MarginResult
from sidelight.app.jobs.bags.tables import USES, bag_clusters, bag_means, row_columns
from sidelight.app.jobs.checking import checked_bags
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import gallery_of
from sidelight.app.jobs.how_many import choose_number, with_choice
from sidelight.app.jobs.reading import collect_notes, read_bags, standard
from sidelight.app.jobs.result import Columns, Reading, columns_of
from sidelight.app.report.gallery import Gallery
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.estimators.bags.max_margin import MaxMarginBagClustering
from sidelight.estimators.bags.search import MaxMarginBagClusteringCV
from sidelight.plot import BalanceSizesDisplay
from sidelight.plot.layout import main_directions

_BALANCE_ROWS = 20_000  # sizes over the balance take five fits; beyond this they would dominate the run


def work(config: RunConfig) -> MarginResult:
    """Read rows in bags, and cluster them."""
    return cluster(read_bags(config), config)


def cluster(data: Dataset, config: RunConfig) -> MarginResult:
    """Cluster bags that were read already."""
    asked, bags = config.options, data.bags
    assert isinstance(asked, Margin)  # the catalogue says so
    assert bags is not None  # the job looked
    options, choices = choose_number(asked, lambda: standard(bag_means(data.X, bags)), config.seed)
    searched = ("C", "balance") if options.search else ()
    settings = {k: value for k, value in options.without("method", "search").items() if k not in searched}
    estimator: Any = MaxMarginBagClusteringCV if options.search else MaxMarginBagClustering
    with collect_notes() as heard:
        model: Any = estimator(random_state=config.seed, **settings).fit(data.X, bags=bags)
    inner = model.best_estimator_ if options.search else model
    found = {name: getattr(inner, name) for name in settings}  # a search is not repeated with other seeds
    chosen = with_choice(
        _result_of(data, bags, model, inner, heard),
        choices,
        lambda seed: MaxMarginBagClustering(random_state=seed, **found).fit(data.X, bags=bags).bag_labels_,
        inner.bag_labels_,
        seed=config.seed,
        n_cells=math.prod(data.X.shape),
    )
    return checked_bags(chosen, data)


def _result_of(
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
            "bags": _bag_table(data, bags, inner, belongs, sure),
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
        coordinates=main_directions(standard(data.X)),
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


def _bag_table(
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
