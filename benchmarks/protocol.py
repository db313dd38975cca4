"""The experiments of [PF14] section 5.4, shared by everything that clusters the rows of labelled bags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import sidelight as sl

FRACTIONS = (0.2, 0.4, 0.6, 0.8, 1.0)  # scenario 1: the share of bags that are labelled
RUNS = 20
STEPS = 7  # scenario 2: K from C to 2C


def label_some(bags: sl.Bags, fraction: float, seed: int) -> sl.Bags:
    """Keep the labels of a random ``fraction`` of the bags; the same seed keeps nested sets for growing fractions."""
    order = np.random.default_rng(seed).permutation(bags.n_bags)
    forgotten = order[round(fraction * bags.n_bags) :]
    return bags.without_labels([bags.names[code] for code in forgotten])


def cluster_counts(n_classes: int, steps: int = STEPS) -> list[int]:
    """Return K from C to 2C in ``steps`` steps."""
    return [int(k) for k in np.linspace(n_classes, 2 * n_classes, steps).round()]


def without_single_label_bags(X: np.ndarray, bags: sl.Bags, y: np.ndarray) -> tuple[np.ndarray, sl.Bags, np.ndarray]:
    """Drop the bags with one label and all their rows."""
    several = np.diff(bags.label_matrix.indptr) > 1
    rows = np.flatnonzero(several[bags.codes])
    return X[rows], bags[rows], y[rows]


def scores(y: np.ndarray, labels: np.ndarray, bags: sl.Bags) -> dict[str, float]:
    """Judge clusters by NMI and purity against the true classes, and by how many bags they failed to take apart."""
    from sidelight.metrics import normalized_mutual_information, purity, single_cluster_share

    return {
        "nmi": float(normalized_mutual_information(y, labels)),
        "purity": float(purity(y, labels)),
        "one_cluster": float(single_cluster_share(labels, bags)),
    }


def mean_and_spread(values: Iterable[float]) -> str:
    """Write mean and standard deviation."""
    found = np.asarray(list(values), dtype=float)
    if not len(found):
        return ""
    return f"{found.mean():.3f} ± {found.std():.3f}"


def gather(found: dict[str, Any], keys: Iterable[str], measure: str) -> list[float]:
    """Pick one measure out of the ledger's cells that are there."""
    return [found[key][measure] for key in keys if key in found]
