"""One cell of [P17] 5.5: a set, a share of dropped labels and a seed give a split that a method is judged on.

``cells_of`` runs them all through a ledger, ``values_of`` reads one measure of one method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import sidelight as sl
from hierarchy_sets import SETS, LabelSet, drop
from runner import Ledger
from sidelight._models.label_logits import one_scale
from sidelight.metrics import macro_f1, micro_f1, robinson_foulds

NOISES = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = range(5)
LAMBDAS = (0.01, 1.0, 100.0)  # of the thesis; divided by the number of features
JUDGES = {"micro": micro_f1, "macro": macro_f1}


def split(data: LabelSet, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from, rows to test on, and the labels with gaps of the first; every label set in proportion."""
    rng = np.random.default_rng(seed)
    _, kind, size = np.unique(data.Y, axis=0, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(kind))
    by_kind = shuffled[np.argsort(kind.ravel()[shuffled], kind="stable")]
    place = np.concatenate([(np.arange(n) + rng.random()) / n for n in size])  # of a row within its kind, 0 to 1
    learn = np.sort(by_kind[np.argsort(place, kind="stable")[: round(0.7 * len(kind))]])
    return learn, np.setdiff1d(by_kind, learn), drop(data.Y[learn], noise, rng)


def run_ours(name: str, noise: float, seed: int) -> dict[str, float]:
    """Tree from counts, then weights; judged on its own rows (complete) and on the others (test, and map)."""
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    model = sl.LatentHierarchyClassifier().fit(data.X[learn], Z)
    trees = {"rf": distance(data, model), "rf_undirected": distance(data, model, False), "alpha": model.alpha_}
    return trees | _judge(data, model, learn, test, Z)


def run_given(name: str, noise: float, seed: int) -> dict[str, float]:
    """Ours with the true tree: GT of the thesis with our rate of loss."""
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    model = sl.LatentHierarchyClassifier(tree=data.tree.parents).fit(data.X[learn], Z)
    return {"alpha": model.alpha_} | _judge(data, model, learn, test, Z)


def run_thesis(name: str, noise: float, seed: int, start: str, lam: float) -> dict[str, float]:
    """The thesis' EM: from W = 0, from weights that fit a star or the Chow-Liu tree, or with the true tree given.

    Its penalty, lambda / d on features as they come, is ours on features of mean square 1 times that scale squared.
    """
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    X = data.X[learn]
    tree, init = (data.tree.parents, "zero") if start == "true tree" else (None, start)
    penalty = lam / X.shape[1] * float(one_scale(X)[1][0]) ** 2
    model = sl.LatentHierarchyClassifier(
        structure="joint", init=init, tree=tree, penalty=penalty, threshold=None, max_iter=60
    ).fit(X, Z)
    out = {"rf": distance(data, model), "rf_undirected": distance(data, model, False), "alpha": model.alpha_}
    return out | {f"test {kind}": judge(data.Y[test], model.predict(data.X[test])) for kind, judge in JUDGES.items()}


def run_chow_liu(name: str, noise: float, seed: int, positive: bool) -> dict[str, float]:
    """The Chow-Liu tree of the labels with gaps."""
    data = SETS[name]()
    _, _, Z = split(data, noise, seed)
    model = sl.peers.ChowLiuTree(positive=positive).fit(None, Z)
    return {"rf": distance(data, model), "rf_undirected": distance(data, model, False)}


def run_flat(name: str, noise: float, seed: int) -> dict[str, float]:
    """Methods without a tree: binary relevance, plain and divided by what is kept, FastTag, and tanCVPR."""
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    X, Y, new = data.X[learn], data.Y[test], data.X[test]
    fast, tan = sl.peers.FastTag().fit(X, Z), sl.peers.CliqueGeneration().fit(X, Z)
    scores, steps = fast.decision_function(new), np.arange(0.02, 0.8, 0.02)
    best = steps[int(np.argmax([micro_f1(Y, (scores > t).astype(int)) for t in steps]))]
    found = {
        "BR": sl.peers.BinaryRelevance().fit(X, Z).predict(new),
        "BR / (1 - alpha), f1": sl.peers.BinaryRelevance(alpha=noise, threshold="f1").fit(X, Z).predict(new),
        "FastTag": fast.predict(new),
        "FastTag, best threshold by truth": (scores > best).astype(int),
        "tanCVPR": tan.predict(new),
    }
    linked = np.count_nonzero((tan.links_ != 0).any(axis=1))
    out = {f"{key} {kind}": judge(Y, P) for key, P in found.items() for kind, judge in JUDGES.items()}
    return out | {"isolated": 1 - linked / len(tan.links_)}


def _judge(data: LabelSet, model: Any, learn: Any, test: Any, Z: Any) -> dict[str, float]:
    complete, predicted = model.complete(data.X[learn], Z), model.predict(data.X[test])
    model.threshold_ = np.nan  # the same model, rounded to the most probable label set
    probable = model.predict(data.X[test])
    out = {f"complete {kind}": judge(data.Y[learn], complete) for kind, judge in JUDGES.items()}
    out |= {f"test {kind}": judge(data.Y[test], predicted) for kind, judge in JUDGES.items()}
    return out | {f"map {kind}": judge(data.Y[test], probable) for kind, judge in JUDGES.items()}


def distance(data: LabelSet, model: Any, directed: bool = True) -> int:
    """Robinson-Foulds distance to the true tree."""
    return robinson_foulds(data.tree.parents, model.tree_.parents, directed=directed)


def cells_of(ledger: Ledger, title: str, work: Callable[..., Any], names: Iterable[str], *extra: Any) -> dict[str, Any]:
    """Run a method on all sets, noises and seeds; seeds outermost, so that a run stopped early has whole draws."""
    keys = [
        (f"{title}/{name}/{noise}/{seed}", name, noise, seed) for seed in SEEDS for name in names for noise in NOISES
    ]
    return ledger.run(
        [(key, lambda n=n, a=a, s=s: work(n, a, s, *extra)) for key, n, a, s in keys],
        stage=f"{title}: {len(keys)} cells",
    )


def values_of(found: dict[str, Any], title: str, name: str, noise: float, measure: str) -> np.ndarray:
    """Return one measure of a method over the seeds."""
    return np.array([found[f"{title}/{name}/{noise}/{seed}"][measure] for seed in SEEDS])


def text_of(values: np.ndarray, digits: int = 3) -> str:
    """Write mean and standard deviation."""
    return f"{values.mean():.{digits}f} ± {values.std():.{digits}f}"
