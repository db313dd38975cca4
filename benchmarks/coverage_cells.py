"""The cells of the quality page of coverage: each fits one model on one set with one seed and judges it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from bench_instances_paper import similarities
from datasets import folder, load
from protocol import label_some, scores
from sidelight.metrics import (
    average_precision,
    hamming_loss,
    normalized_mutual_information,
    novel_bag_f1,
    novel_instance_f1,
    ranking_loss,
)

UNSEEN = {"Letter recognition": "uci/letter.dat", "Pen digits": "uci/penbased.dat"}
straight = partial(sl.CoverageClustering, boundary="straight")  # what bends is on the page coverage_boundary
CLASSES = [f"class-{c}" for c in range(4)]


def rows_cell(name: str, fraction: float, run: int, options: dict[str, Any]) -> dict[str, float]:
    """K = C: rows judged with their bags' labels, and by features alone."""
    X, bags, y = load(name)
    told = label_some(bags, fraction, run)
    model = straight(random_state=run, **options).fit(X, bags=told)
    alone = normalized_mutual_information(y, model.predict(X))
    changed = float(np.mean(model.predict(X) != model.labels_))
    return {
        **scores(y, model.labels_, bags), "nmi_alone": float(alone), "changed": changed, "penalty": model.penalty_
    }  # fmt: skip


def kernel_cell(name: str, run: int) -> dict[str, float]:
    """The same with a kernel map in front: 200 landmarks beside the features themselves."""
    X, bags, y = load(name)
    nearness = Nystroem(gamma=0.3 / X.shape[1], n_components=200, random_state=run).fit_transform(X)
    rich = np.hstack([X, 0.3 * StandardScaler().fit_transform(nearness)])
    model = straight(random_state=run).fit(rich, bags=bags)
    return {
        **scores(y, model.labels_, bags),
        "nmi_alone": float(normalized_mutual_information(y, model.predict(rich))),
    }


def merged(name: str) -> tuple[np.ndarray, sl.Bags, np.ndarray, dict[str, int]]:
    """Classes 0+1, 2+3, ... under one name; also how many real classes each name holds."""
    X, bags, y = load(name)
    pair_of = {c: f"pair-{j // 2}" for j, c in enumerate(in_order(bags))}
    labels = {bag: {pair_of[c] for c in said} for bag, said in bags.labels.items()}
    pairs = list(pair_of.values())
    return X, sl.Bags(list(bags), labels=labels), y, {pair: pairs.count(pair) for pair in pairs}


def in_order(bags: sl.Bags) -> list[str]:
    """The labels in the order of their numbers, as the papers count them; "10" comes after "9"."""
    return sorted(bags.classes, key=lambda c: (int("".join(d for d in str(c) if d.isdigit()) or 0), str(c)))


def sub_cell(name: str, run: int) -> dict[str, float]:
    """Sub-classes: only the merged names are on the bags, as many clusters as real classes."""
    X, bags, y, counts = merged(name)
    model = straight(n_subclusters=counts, random_state=run).fit(X, bags=bags)
    return {
        **scores(y, model.labels_, bags),
        "nmi_alone": float(normalized_mutual_information(y, model.predict(X))),
    }


def sub_spectral(name: str, run: int) -> dict[str, float]:
    """The same by bag-constrained spectral clustering with K > C."""
    _, bags, y, counts = merged(name)
    model = sl.BagSpectralClustering(sum(counts.values()), affinity="precomputed", random_state=run)
    return scores(y, model.fit(similarities(name), bags=bags).labels_, bags)


def novel_cell(name: str, k: int, method: str, run: int) -> dict[str, float]:
    """[Z17]: labels 1 to k are never named. Training rows with all bags; held-out ones with 80 % of the bags."""
    X, bags, y = load(name)
    new = in_order(bags)[:k]
    known = [c for c in bags.classes if c not in new]
    names = np.asarray(bags.classes, dtype=object)[y]
    told = bags.without_classes(new)
    call, _ = novel_namer(method, k, X, told, run)
    test_bag = np.zeros(bags.n_bags, dtype=bool)
    test_bag[np.random.default_rng(run).permutation(bags.n_bags)[: bags.n_bags // 5]] = True
    train, test = np.flatnonzero(~test_bag[bags.codes]), np.flatnonzero(test_bag[bags.codes])
    call_out, model = novel_namer(method, k, X[train], told[train], run)
    there = call_out(X[test])
    return {
        "f": float(novel_instance_f1(names, call(X), known)),
        "f_bags": float(novel_instance_f1(names, call(X, bags=told), known)),
        "f_out": float(novel_instance_f1(names[test], there, known)),
        "f_bag_out": bag_f1(bags[test], names[test], there, known, k),
        "auc": float(roc_auc_score(np.isin(names[test], new), model.novelty_score(X[test]))),
    }


def novel_namer(method: str, k: int, X: np.ndarray, bags: sl.Bags, run: int) -> tuple[Callable[..., np.ndarray], Any]:
    """Fit a method and return how it names rows, and its model."""
    if method != "one class":
        options = {"information": 0} if method == "likelihood" else {}
        model = straight(n_novel=k, random_state=run, **options)
        return model.fit(X, bags=bags).predict_labels, model
    # MIML-NC's idea, then k-means as [Z17] does for its baselines
    model = straight(n_novel=1, random_state=run).fit(X, bags=bags)
    split = KMeans(k, n_init=5, random_state=run).fit(X[model.predict_labels(X) == "novel-1"])

    def name_rows(rows: np.ndarray, **side: Any) -> np.ndarray:
        found = model.predict_labels(rows, **side)
        is_new = found == "novel-1"
        found[is_new] = [f"novel-{c}" for c in split.predict(rows[is_new])] if is_new.any() else []
        return found

    return name_rows, model


def bag_f1(bags: sl.Bags, true: np.ndarray, found: np.ndarray, known: list[str], k: int) -> float:
    """F_BNL: a bag carries what its rows carry."""
    columns = [*known, *[f"novel-{j}" for j in range(k + 1)]]
    truth = [*known, *[c for c in bags.classes if c not in known]]
    Y, G = np.zeros((bags.n_bags, len(truth))), np.zeros((bags.n_bags, len(columns)))
    Y[bags.codes, [truth.index(c) for c in true]] = 1
    G[bags.codes, [columns.index(c) for c in found]] = 1
    used = np.r_[np.ones(len(known), bool), G[:, len(known) :].any(axis=0)]
    return float(novel_bag_f1(Y, G[:, used], len(known)))


def bags_cell(name: str, method: str, run: int) -> dict[str, float]:
    """Labels of held-out bags: 80 % of the bags to learn from."""
    X, bags, _ = load(name)
    test_bag = np.zeros(bags.n_bags, dtype=bool)
    test_bag[np.random.default_rng(run).permutation(bags.n_bags)[: bags.n_bags // 5]] = True
    train, test = np.flatnonzero(~test_bag[bags.codes]), np.flatnonzero(test_bag[bags.codes])
    Y = bags[test].label_matrix.toarray()
    if method == "shares":  # the same answer for every bag: how often each label occurs
        P = np.tile(bags[train].label_matrix.toarray().mean(axis=0), (len(Y), 1))
    else:
        model = {
            "default": straight(),
            "ORLR": sl.peers.OredLogisticRegression(),
            "ORLR, penalty 1.5": sl.peers.OredLogisticRegression(penalty=1.5),
        }[method]
        P = model.fit(X[train], bags=bags[train]).predict_bags_proba(X[test], bags[test])
    told = Y.sum(axis=1) < Y.shape[1]
    return {
        "hamming": float(hamming_loss(Y, P > 0.5)),
        "ranking": float(ranking_loss(Y[told], P[told])),
        "precision": float(average_precision(Y, P)),
    }


def uneven_cell(setting: str, fraction: float, run: int) -> dict[str, float]:
    """Generated bags of four classes, nine rows in ten of one of them: does a wish for even clusters outvote lists?"""
    generator = np.random.default_rng(run)
    centres = generator.standard_normal((4, 10))
    y = generator.choice(4, size=900, p=[0.9, 0.06, 0.03, 0.01])
    X = StandardScaler().fit_transform(centres[y] + generator.standard_normal((900, 10)))
    ids = np.repeat(np.arange(150), 6)
    bags = sl.Bags(ids, labels={b: {f"class-{c}" for c in y[ids == b]} for b in range(150)}, classes=CLASSES)
    information = {"default": 0.3, "`information=0`": 0.0, "weight for all rows": 0.3 / fraction}[setting]
    model = straight(information=information).fit(X, bags=label_some(bags, fraction, run))
    return {"right": float(np.mean(model.predict(X) == y))}


def unseen_cell(name: str, evenly: bool, setting: str, run: int) -> dict[str, float]:
    """Bags of five rows from sets that no default was chosen on: their rows, and the rows that were left out."""
    data = sl.read(folder() / UNSEEN[name])
    X, (classes, y) = StandardScaler().fit_transform(data.X), np.unique(data.y.astype(str), return_inverse=True)
    generator = np.random.default_rng(run)
    wanted = np.ones(len(classes)) if evenly else 1.0 / (1 + generator.permutation(len(classes)))
    chance = (wanted / np.bincount(y))[y]
    rows = generator.choice(len(y), size=3000, replace=False, p=chance / chance.sum())
    ids = np.repeat(np.arange(600), 5)
    bags = sl.Bags(ids, labels={b: set(classes[y[rows[5 * b : 5 * b + 5]]]) for b in range(600)}, classes=list(classes))
    if setting == "CSP":
        model = sl.BagSpectralClustering(len(classes), random_state=run).fit(X[rows], bags=bags)
    else:
        options = {} if setting == "default" else {"information": 0.0}
        model = straight(random_state=run, **options).fit(X[rows], bags=bags)
    rest = np.setdiff1d(np.arange(len(y)), rows)[:5000]
    return {
        "nmi": float(normalized_mutual_information(y[rows], model.labels_)),
        "nmi_new": float(normalized_mutual_information(y[rest], model.predict(X[rest]))),
    }


def count_cell(what: str, run: int) -> dict[str, float]:
    """A generated set whose count is known: 1 to 3 sub-clusters a class, or 1 to 4 novel kinds."""
    X, bags, truth = counted_set(what, run)
    model = straight(**{what: "auto"}, random_state=run).fit(X, bags=bags)
    return {"truth": float(truth), "chosen": float(model.choice_[what]["chosen"])}


def counted_set(what: str, seed: int) -> tuple[np.ndarray, sl.Bags, int]:
    """Kinds of rows around a circle, so that no two kinds of one name share a convex region.

    A count can only be found when the labels depend on it: kinds of one class (or unnamed ones) are never neighbours.
    """
    generator = np.random.default_rng(1000 + seed)
    n_classes = 4
    truth = 1 + seed % (3 if what == "n_subclusters" else 4)
    if what == "n_subclusters":
        name_of = np.arange(n_classes * truth) % n_classes
    else:  # an unnamed kind behind each of the first named ones
        name_of = np.array([c for j in range(n_classes) for c in ([j, -1] if j < truth else [j])])
    n_kinds = len(name_of)
    angles = 2 * np.pi * (np.arange(n_kinds) + 0.2 * generator.uniform(-1, 1, n_kinds)) / n_kinds
    centres = 2.2 / np.sin(np.pi / n_kinds) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    kinds = [generator.choice(n_kinds, size=1 + generator.integers(3), replace=False) for _ in range(200)]
    y = np.concatenate([generator.choice(kind, size=5) for kind in kinds])
    ids = np.repeat(np.arange(200), 5)
    X = np.hstack([centres[y] + generator.standard_normal((len(y), 2)), generator.standard_normal((len(y), 2))])
    labels = {b: {f"class-{c}" for c in name_of[y[ids == b]] if c >= 0} for b in range(200)}
    return StandardScaler().fit_transform(X), sl.Bags(ids, labels=labels), truth
