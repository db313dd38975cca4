"""The cells of the page on novel labels: each fits one method on one set with one seed and judges it."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score

import dmnl_admm
import sidelight as sl
from coverage_cells import bag_f1, in_order
from datasets import made
from novel_sets import sample
from sidelight._core.prototypes import mean_and_scale, scaled
from sidelight.estimators._labelled_bags.supervision import Layout
from sidelight.estimators.novelty.problem import Problem, draw_labels
from sidelight.metrics import hamming_loss, novel_instance_f1

FIRST_SEED = 200  # away from the seeds of the tests, of the coverage page and of the choice of defaults (100 to 104)
METHODS: dict[str, Callable[[int, int], Any]] = {
    "DMNL": lambda k, seed: sl.DMNL(n_novel=k, random_state=seed),
    "ORLR": lambda k, seed: sl.peers.NovelLabels(sl.peers.OredLogisticRegression(), k, random_state=seed),
    "MIMLfast": lambda k, seed: sl.peers.NovelLabels(sl.peers.FastMIML(random_state=seed), k, random_state=seed),
    "MIML-NC": lambda k, seed: sl.peers.NovelLabels(sl.peers.NovelClassLogisticRegression(), k, random_state=seed),
    "DMNL, manifold": lambda k, seed: sl.DMNL(n_novel=k, structure="manifold", random_state=seed),
    "coverage": lambda k, seed: sl.CoverageClustering(n_novel=k, random_state=seed),
}
# What each departure from the paper does: the defaults, and the defaults but for one thing
DEPARTURES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "k-means that knows no lists, as in the paper": {"start": "k-means"},
    "no ridge, as in the paper": {"ridge": 0.0},
    "one start, as in the paper": {"n_init": 1},
    "no structure (lam = 0)": {"lam": 0.0},
    "no constraint (rho = 0)": {"rho": 0.0},
}


def novel_cell(name: str, k: int, method: str, run: int) -> dict[str, float]:
    """Labels 1 to k are never named. Training rows with all bags; held-out ones with 80 % of the bags."""
    X, bags, names, known, told = never_named(name, k)
    wall, processor = time.perf_counter(), time.process_time()
    model = METHODS[method](k, FIRST_SEED + run).fit(X, bags=told)
    spent = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    is_test = np.zeros(bags.n_bags, dtype=bool)
    is_test[np.random.default_rng(FIRST_SEED + run).permutation(bags.n_bags)[: bags.n_bags // 5]] = True
    train, test = np.flatnonzero(~is_test[bags.codes]), np.flatnonzero(is_test[bags.codes])
    judged = judge(model, X, bags, names, known, k)
    model = METHODS[method](k, FIRST_SEED + run).fit(X[train], bags=told[train])
    held_out = judge(model, X[test], bags[test], names[test], known, k)
    return {**spent, **judged, **{f"{measure}_out": value for measure, value in held_out.items()}}


def never_named(name: str, k: int) -> tuple[np.ndarray, sl.Bags, np.ndarray, list[str], sl.Bags]:
    """Return rows, true bags, true names, the known labels, and the bags without labels 1 to k."""
    X, bags, y = sample(name)
    new = in_order(bags)[:k]
    known = [c for c in bags.classes if c not in new]
    return X, bags, np.asarray(bags.classes, dtype=object)[y], known, bags.without_classes(new)


def judge(model: Any, X: np.ndarray, bags: sl.Bags, names: np.ndarray, known: list[str], k: int) -> dict[str, float]:
    """Judge rows and bags by features alone: A1 to A3, B1 and B2 of [Z17]."""
    found = model.predict_labels(X)
    is_known = np.isin(names, known)
    truth, predicted = (carried(bags, labels, known) for labels in (names, found))
    return {
        "f": float(novel_instance_f1(names, found, known)),
        "auc": float(roc_auc_score(~is_known, model.novelty_score(X))),
        "accuracy": float(np.mean(found[is_known] == names[is_known])),
        "f_bag": bag_f1(bags, names, found, known, k),
        "hamming": float(hamming_loss(truth, predicted)),
    }


def carried(bags: sl.Bags, labels: np.ndarray, known: list[str]) -> np.ndarray:
    """Return which known labels the rows of each bag carry."""
    place = {name: j for j, name in enumerate(known)}
    rows = np.array([place.get(name, -1) for name in labels])
    Y = np.zeros((bags.n_bags, len(known)))
    Y[bags.codes[rows >= 0], rows[rows >= 0]] = 1.0
    return Y


def start_cell(name: str, k: int, run: int) -> dict[str, float]:
    """One start of DMNL: its time, and eq. (2) and the residual of the constraint first and last."""
    X, _, _, _, told = never_named(name, k)
    wall, processor = time.perf_counter(), time.process_time()
    model = sl.DMNL(n_novel=k, n_init=1, random_state=FIRST_SEED + run).fit(X, bags=told)
    return {
        "wall": time.perf_counter() - wall, "processor": time.process_time() - processor,
        "value_first": float(model.trace_[0]), "value_last": float(model.trace_[-1]),
        "residual_first": float(model.constraint_residual_[0]), "residual_last": float(model.constraint_residual_[-1]),
    }  # fmt: skip


def departure_cell(name: str, k: int, departure: str, run: int) -> dict[str, float]:
    """F_INL of training rows when DMNL does one thing as the paper has it."""
    options: dict[str, Any] = {"start": "lists", "n_init": 5, "ridge": 0.2, "lam": 0.1, "rho": 10.0}
    options |= DEPARTURES[departure]
    X, _, names, known, told = never_named(name, k)
    rows = scaled(X, *mean_and_scale(X))
    generator = np.random.default_rng(FIRST_SEED + run)
    layout = Layout.of(told.classes, 1, k)
    chosen = sl.DMNL(lam=options["lam"], rho=options["rho"], ridge=options["ridge"])
    problem = Problem.of(rows, told, layout, chosen, generator)
    starts = [
        draw_labels(rows, told, layout, generator)
        if options["start"] == "lists"
        else KMeans(layout.n_clusters, n_init=1, random_state=int(generator.integers(2**31))).fit(rows).labels_
        for _ in range(options["n_init"])
    ]
    best = min((problem.solve(z, 30, 1e-4, "") for z in starts), key=lambda state: state.value)
    z = np.argmax(problem.model.log_posterior(best.theta, rows), axis=1)
    return {"f": _f1_of(names, z, layout, known), "labels": float(len(np.unique(z)))}


def admm_cell(name: str, k: int, variant: str, run: int) -> dict[str, Any]:
    """One run of Algorithm 1."""
    X, _, names, known, told = never_named(name, k)
    end = dmnl_admm.run(X, told, k, seed=FIRST_SEED + run, **dmnl_admm.VARIANTS[variant])
    f1 = _f1_of(names, end.labels, Layout.of(told.classes, 1, k), known)
    return {
        "f": f1, "labels": len(np.unique(end.labels)), "finite": end.finite, "rounds": end.rounds,
        "orthogonality": end.orthogonality, "gap": end.gap, "dual": end.dual, "residual": end.residual,
        "objective": end.objective,
    }  # fmt: skip


def _f1_of(names: np.ndarray, z: np.ndarray, layout: Layout, known: list[str]) -> float:
    labels = np.empty(layout.n_clusters, dtype=object)
    labels[:] = layout.label_names
    return float(novel_instance_f1(names, labels[z], known))


def growth_cell(n_rows: int) -> dict[str, float]:
    """One start on generated rows: 48 features, 30 labels of which 4 are never named. Memory is the process's peak."""
    X, bags, _ = made(n_rows, n_classes=30)
    told = bags.without_classes(bags.classes[:4])
    wall, processor = time.perf_counter(), time.process_time()
    sl.DMNL(n_novel=4, n_init=1, random_state=0).fit(X, bags=told)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor, "gigabytes": peak}


def alarm_cell(share: float, seed: int) -> dict[str, float]:
    """Test a generated set: three named kinds, and a share of the rows of a fourth that nobody named."""
    generator = np.random.default_rng(1000 + seed)
    centres = generator.normal(scale=3.0, size=(4, 5))
    ids = np.repeat(np.arange(60), 5)
    y = np.concatenate([generator.choice(generator.choice(3, 2, replace=False), 5) for _ in range(60)])
    y[generator.random(300) < share] = 3
    labels = {b: {"abc"[k] for k in y[ids == b] if k < 3} for b in range(60)}
    X = centres[y] + generator.normal(size=(300, 5))
    found = sl.novelty_test(X, sl.Bags(ids, labels=labels, classes=list("abc")), random_state=seed)
    return {"p": found.p_value, "bayes": found.log_bayes_factor}
