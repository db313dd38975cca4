"""Discriminative clustering without answers: speed against k-means, quality on digits, and how cost grows."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from runner import Sheet, seconds

TITLE = "Relations: discriminative clustering"


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = sl.DiscriminativeClustering(10, random_state=0)
    theirs = KMeans(10, n_init=50, random_state=0)
    sheet.notes.append("Data: scikit-learn's digits, standardised; seed 0. Generated rows: ten Gaussian groups.")
    sheet.time("digits, 4 starts, against k-means with 50 starts", lambda: ours.fit(X), yardstick=lambda: theirs.fit(X))
    sheet.row("digits, adjusted Rand index", f"{adjusted_rand_score(y, ours.labels_):.3f}")
    sheet.row("digits, adjusted Rand index of k-means", f"{adjusted_rand_score(y, theirs.labels_):.3f}")
    one_start = sl.DiscriminativeClustering(10, n_init=1, max_iter=20, tol=0, random_state=0)
    sheet.growth(
        "20 iterations of one start", [2_000, 8_000, 32_000, 128_000],
        lambda n: seconds(lambda: one_start.fit(groups(n)), repeats=3),
    )  # fmt: skip


def groups(n: int) -> np.ndarray:
    """Ten Gaussian groups in 20 dimensions."""
    generator = np.random.default_rng(0)
    return 3 * generator.normal(size=(10, 20))[np.arange(n) % 10] + generator.normal(size=(n, 20))
