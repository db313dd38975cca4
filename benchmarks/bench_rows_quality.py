"""Rows of any kind without side information: `Standardized(RowClustering)`, what `sidelight cluster` runs.

Beside it what people have, k-means and scikit-learn's cut of the graph of ten nearest rows, on the same prepared rows;
and the discriminative fit alone. The number of classes is given. The sets of the second table were looked at once,
before a weight of the judge was settled.
"""

from __future__ import annotations

import gzip
import os
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

import datasets
import relation_sets
import sidelight as sl
import view_sets
from runner import Ledger, Sheet
from sidelight._models.prepared_rows import Preparation
from sidelight.errors import ignore_warnings
from sidelight.estimators._how_many import clearest_number
from sidelight.files.text.words import count_words
from sidelight.metrics import normalized_mutual_information

TITLE = "Rows of any kind: quality without answers"
SEEDS = int(os.environ.get("ROWS_SEEDS", 5))
MINUTES = float(os.environ.get("ROWS_MINUTES", "inf"))
FIRST_SEED = 500
SHORT = 0.02
NUMBERS = (
    "iris", "wine", "breast", "digits", "digits-389", "letters-IJLT", "pendigits", "balance", "ionosphere", "sonar",
    "uneven",
)  # fmt: skip
OTHERS = ("pima", "crabs", "msrcv2-6", "hja", "letters-IJ")
TEXTS = {5: 5, 7: 3, 10: 1, 20: 1}  # groups of posts, and how often they are drawn
COMPONENTS = 30  # in which the graph of the rows is sought, as ours


def fill(sheet: Sheet) -> None:
    """Fit every set with every seed, and compare means."""
    seeds = range(FIRST_SEED, FIRST_SEED + SEEDS)
    drawn = {**sets(), **others()}
    cells = [
        (f"{name} {seed}", lambda draw=draw, seed=seed: compare(*draw(seed), seed))
        for seed in seeds
        for name, draw in drawn.items()
    ]
    found = Ledger("rows_quality").run(cells, stage="rows", minutes=MINUTES)
    sheet.notes.append(
        f"Normalised mutual information, mean over seeds from {FIRST_SEED} on ({SEEDS} wanted, ROWS_SEEDS), and its "
        "standard error; the number of classes is given, answers are not."
    )
    header = [
        "set", "taken for", "draws", "k-means", "graph", "discriminative alone", "ours", "won", "met", "above both",
        "empty clusters, at most",
    ]  # fmt: skip
    for title, names in (("Sets", sets()), ("Sets looked at once", others())):
        lines = [line for name in names if (line := _line(name, found, seeds)) is not None]
        of = f" of {len(lines)}"
        suffix = "" if title == "Sets" else ", sets looked at once"
        met = sum(line[8] == "yes" for line in lines)
        above = sum(line[9] == "yes" for line in lines)
        sheet.row(f"not below the better of k-means and the graph by more than .02{suffix}", f"{met}{of}")
        sheet.row(f"above both{suffix}", f"{above}{of}")
        sheet.section(title, header, lines)
    _folders_of_texts(sheet)


def _folders_of_texts(sheet: Sheet) -> None:
    """Cluster posts as files: their number left open, and given, beside what people type into scikit-learn."""
    header = [
        "groups", "draws", "scikit-learn, NMI", "the same, sublinear, not too frequent words", "ours, NMI",
        "clusters without a number", "NMI of these",
    ]  # fmt: skip
    cells = [(f"{k} {s}", partial(_texts, k, s)) for k, n in TEXTS.items() for s in range(FIRST_SEED, FIRST_SEED + n)]
    found = Ledger("rows_quality").run(cells, stage="texts", minutes=MINUTES)
    lines = []
    for k in TEXTS:
        some = [one for name, one in found.items() if name.startswith(f"{k} ")]
        if some:
            means = [
                f"{np.mean([one[what] for one in some]):.3f}" for what in ("plain", "sublinear", "ours", "by itself")
            ]
            numbers = ", ".join(str(one["chosen"]) for one in some)
            lines.append((k, len(some), *means[:3], numbers, means[3]))
            better = np.mean([one["ours"] >= max(one["plain"], one["sublinear"]) for one in some])
            sheet.row(f"texts of {k} groups: draws on which ours is level or above", f"{better:.0%}")
    told = (
        "Posts as files, with all their words; every second group, which helped to choose nothing, but for 20 groups. "
        "scikit-learn: TfidfVectorizer without English stop words, 100 directions of unit length, k-means with the "
        "right number, mean of three seeds; then sublinear, without words of more than half of the texts."
    )
    sheet.section("Folders of texts", header, lines, told)


def _texts(n_groups: int, seed: int) -> dict[str, Any]:
    """Return NMI of scikit-learn's way and of ours on the posts of some groups."""
    texts, y = view_sets.bodies(n_groups, seed)
    X = count_words(texts, 2)[0]
    rows = np.asarray(Preparation.of(X)(X))
    chosen = clearest_number(rows, np.random.default_rng(seed)).chosen
    found = {}
    with ignore_warnings():
        for what, k in (("ours", n_groups), ("by itself", chosen)):
            model = sl.Standardized(sl.estimators.RowClustering(k, random_state=seed)).fit(X)
            found[what] = float(normalized_mutual_information(y, model.labels_))
    for what, how in (("plain", {}), ("sublinear", {"sublinear_tf": True, "max_df": 0.5, "min_df": 2})):
        found[what] = float(np.mean([_theirs(texts, y, n_groups, s, **how) for s in range(seed, seed + 3)]))
    return {**found, "chosen": chosen}


def _theirs(texts: list[str], y: np.ndarray, k: int, seed: int, **how: Any) -> float:
    weighed = TfidfVectorizer(stop_words="english", **how).fit_transform(texts)
    rows = normalize(TruncatedSVD(100, random_state=seed).fit_transform(weighed))
    return float(normalized_mutual_information(y, KMeans(k, n_init=5, random_state=seed).fit_predict(rows)))


def _line(name: str, found: dict[str, Any], seeds: range) -> tuple[Any, ...] | None:
    some = [found[f"{name} {seed}"] for seed in seeds if f"{name} {seed}" in found]
    if not some:
        return None
    kmeans, graph, alone, ours = (
        np.array([one[what] for one in some]) for what in ("kmeans", "graph", "discriminative", "ours")
    )
    better = max(kmeans.mean(), graph.mean())
    ways = [one["won"] for one in some]
    return (
        name, some[0]["kind"], len(some), f"{kmeans.mean():.3f}", f"{graph.mean():.3f}", f"{alone.mean():.3f}",
        f"{ours.mean():.3f} ± {ours.std() / np.sqrt(len(ours)):.3f}", ", ".join(dict.fromkeys(ways)),
        "yes" if ours.mean() >= better - SHORT else "**no**", "yes" if ours.mean() > better else "no",
        max(one["empty"] for one in some),
    )  # fmt: skip


def sets() -> dict[str, Callable[[int], Any]]:
    """Return how each set is drawn."""
    numbers: dict[str, Callable[[int], Any]] = {
        relation_sets.TITLES[name]: lambda seed, name=name: relation_sets.load(name)  # type: ignore[misc]
        for name in NUMBERS
    }
    words: dict[str, Callable[[int], Any]] = {
        "classic3": lambda seed: view_sets.classic3(),
        "newsgroups, 5, words of the body": lambda seed: _body(5, seed),
        "newsgroups, 20, words of the body": lambda seed: _body(20, seed),
        "newsgroups, 5, words there or not": lambda seed: _there(5, seed),
    }
    digits: dict[str, Callable[[int], Any]] = {
        f"mfeat {view}": lambda seed, view=view: _digits(view)  # type: ignore[misc]
        for view in ("fou", "pix")
    }
    return numbers | words | digits


def others() -> dict[str, Callable[[int], Any]]:
    """Return how the sets are drawn that were looked at only when everything was chosen."""
    numbers: dict[str, Callable[[int], Any]] = {
        relation_sets.TITLES[name]: lambda seed, name=name: relation_sets.load(name)  # type: ignore[misc]
        for name in OTHERS
    }
    digits: dict[str, Callable[[int], Any]] = {
        f"mfeat {view}": lambda seed, view=view: _digits(view)  # type: ignore[misc]
        for view in ("fac", "kar", "zer", "mor")
    }
    return numbers | digits | {"MNIST, 2000 rows": lambda seed: _mnist(), "letters, 3000 rows": lambda seed: _letters()}


def _digits(view: str) -> tuple[Any, np.ndarray]:
    cells = np.genfromtxt(datasets.folder() / "mfeat" / f"mfeat-{view}.csv", delimiter=",", skip_header=1)
    return cells[:, :-1], cells[:, -1].astype(int)


def _mnist() -> tuple[Any, np.ndarray]:
    pixels, y = (_bytes(f"t10k-{what}-ubyte.gz") for what in ("images-idx3", "labels-idx1"))
    X, y = pixels[16:].reshape(-1, 784).astype(float), y[8:]
    rows = np.random.default_rng(0).permutation(len(X))[:2000]
    return X[rows], y[rows]


def _bytes(name: str) -> np.ndarray:
    with gzip.open(datasets.folder() / "mnist" / name) as file:
        return np.frombuffer(file.read(), np.uint8)


def _letters() -> tuple[Any, np.ndarray]:
    data = sl.read(datasets.folder() / "uci" / "letter.dat", header=False)
    rows = np.random.default_rng(0).permutation(data.n_rows)[:3000]
    return data.X[rows], data.y[rows]


def _body(n_groups: int, seed: int) -> tuple[Any, np.ndarray]:
    views, y = view_sets.newsgroups(n_groups, seed)
    return views["body"], y


def _there(n_groups: int, seed: int) -> tuple[Any, np.ndarray]:
    X, y = _body(n_groups, seed)
    return sp.csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape), y


def compare(X: Any, y: np.ndarray, seed: int) -> dict[str, Any]:
    """Return NMI of the ways to cluster, the kind of rows, which of ours won, and how many clusters stayed empty."""
    y = np.unique(y, return_inverse=True)[1]
    k, preparation = len(np.unique(y)), Preparation.of(X)
    Z = np.asarray(preparation(X))
    with ignore_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a graph of several parts
        kmeans = KMeans(k, n_init=5, random_state=seed).fit_predict(Z)
        narrow = PCA(min(COMPONENTS, *Z.shape), random_state=seed).fit_transform(Z)
        graph = SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=10, random_state=seed, assign_labels="kmeans"
        ).fit_predict(narrow)
        alone = sl.Standardized(sl.DiscriminativeClustering(k, random_state=seed)).fit(X).labels_
        model = sl.Standardized(sl.estimators.RowClustering(k, random_state=seed)).fit(X)
    found = {"ours": model.labels_, "kmeans": kmeans, "graph": graph, "discriminative": alone}
    return {name: float(normalized_mutual_information(y, labels)) for name, labels in found.items()} | {
        "kind": preparation.kind,
        "won": model.estimator_.method_,
        "empty": k - len(np.unique(model.labels_)),
    }
