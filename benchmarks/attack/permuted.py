"""The same rows in another order, columns, bags and labels too, and by other names: the same partition.

Rows overlap, because well separated ones are found from any start; no two are equal, because which of two equal rows
comes first is nothing that content says. Methods of other people are excused by name.
"""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED, judged

COUNT = 400
# excused: starts by column (Coverage with sub-clusters), tables whose columns are codes, searches that take minutes
_EXCUSED = {
    "AnnealedCoclustering", "WeightCoclustering", "Codebook", "MultiSourceClustering", "Standardized",
    "MaxMarginBagClusteringCV", "DMNLCV", "InterleavedCoclustering", "BagDistances",
}  # fmt: skip


def attack(number: int, folder: Path) -> str:
    """Fit one estimator of ours on some rows, and on the same rows moved."""
    import sidelight as sl
    from sidelight.metrics import adjusted_rand_index

    rng = np.random.default_rng([11, number])
    kinds = estimators()
    kind = kinds[number % len(kinds)]
    n_kinds, size, n_bags = int(rng.integers(2, 5)), int(rng.integers(2, 6)), int(rng.integers(12, 40))
    n, d = size * n_bags, int(rng.integers(2, 7))
    y = rng.integers(0, n_kinds, n)
    X = np.abs(rng.normal(size=(n_kinds, d))[y] * rng.uniform(0.5, 2) + rng.normal(size=(n, d)) + 3)
    codes = rng.permutation(np.repeat(np.arange(n_bags), size))
    lists = {bag: {f"k{kind}" for kind in y[codes == bag]} for bag in range(n_bags) if rng.random() < 0.8 or not bag}
    rows, columns, names = rng.permutation(n), rng.permutation(d), rng.permutation(n_bags)
    what = ("rows", "columns", "names of bags", "names of labels")[int(rng.integers(4))]
    label = {f"k{i}": f"{'zebra'[i]}{int(j)}" for i, j in enumerate(rng.permutation(n_kinds))}

    def found(moved: bool) -> np.ndarray:
        at = rows if moved and what == "rows" else np.arange(n)
        XX = X[at][:, columns] if moved and what == "columns" else X[at]
        call = names if moved and what == "names of bags" else np.arange(n_bags)
        spell = label if moved and what == "names of labels" else {name: name for name in label}
        takes = inspect.signature(kind.fit).parameters
        side: dict[str, Any] = {}
        if "bags" in takes:
            told = {int(call[bag]): {spell[name] for name in labels} for bag, labels in lists.items()}
            side["bags"] = sl.Bags(call[codes][at], labels=told)
        elif "pairs" in takes:
            back = np.argsort(at)
            left, right = np.arange(0, n - 1, 3), np.arange(1, n, 3)[: len(np.arange(0, n - 1, 3))]
            side["pairs"] = sl.Pairs(back[left], back[right], (y[left] == y[right]).tolist(), n_rows=n)
        settings = {"n_clusters": n_kinds, "random_state": 0}
        settings = {name: value for name, value in settings.items() if name in inspect.signature(kind).parameters}
        model = kind(**settings).fit(XX, **side)
        labels = model.row_labels_ if hasattr(model, "row_labels_") else model.labels_
        return np.asarray(labels)[np.argsort(at)]

    alike = [1.0]
    verdict = judged(lambda: alike.append(adjusted_rand_index(found(False), found(True))))
    if verdict != ACCEPTED:
        return verdict if verdict == "refused" else f"{kind.__name__}: {verdict}"
    return ACCEPTED if alike[-1] > 1 - 1e-12 else f"{kind.__name__}: {what} moved, adjusted Rand {alike[-1]:.2f}"


@cache
def estimators() -> list[Any]:
    """Return the estimators of ours that label rows by themselves, by bags or by pairs."""
    import sidelight as sl

    found = {name: getattr(room, name) for room in (sl, sl.estimators) for name in room.__all__}
    ours = [
        thing
        for name, thing in found.items()
        if inspect.isclass(thing) and hasattr(thing, "fit") and hasattr(thing, "get_params") and name not in _EXCUSED
    ]
    return sorted((one for one in ours if "y" not in _required(one)), key=lambda one: one.__name__)


def _required(kind: Any) -> set[str]:
    parameters = inspect.signature(kind.fit).parameters.values()
    needed = {parameter.name for parameter in parameters if parameter.default is parameter.empty}
    return needed | ({"y"} if kind.__name__.startswith("LatentHierarchy") else set())
