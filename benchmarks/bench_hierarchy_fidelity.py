"""Section 5.5 of [P17]: trees, rates of loss and label sets from labels with gaps, the thesis' EM beside ours."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import sidelight as sl
from hierarchy_sets import LabelSet, church, drop, newsgroups, without_tree
from runner import Ledger, Sheet
from sidelight.errors import SidelightWarning
from sidelight.metrics import macro_f1, micro_f1, robinson_foulds
from sidelight.plot import LabelTreeDisplay, LossRateDisplay

TITLE = "Hierarchy: section 5.5 of [P17], claim by claim"
NOISES = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = range(5)
SETS: dict[str, Callable[[], LabelSet]] = {
    "newsgroups": newsgroups,
    "Church-FUN, subtree 10": lambda: church("10", 20),
    "Church-FUN, 114 labels": lambda: church(rows=60),
}
CHURCH = ("Church-FUN, subtree 10", "Church-FUN, 114 labels")
GENERATED = {"2000 x 30 labels": (2000, 30), "10,000 x 60 labels": (10_000, 60)}
TRIAL = {  # the figures of the trial that settled the design, newsgroups: RF, complete micro/macro, test micro/macro
    0.1: (0.0, 0.976, 0.963, 0.790, 0.739),
    0.2: (0.4, 0.952, 0.928, 0.784, 0.727),
    0.3: (0.8, 0.924, 0.889, 0.777, 0.713),
    0.4: (0.8, 0.893, 0.846, 0.765, 0.693),
    0.5: (1.2, 0.855, 0.794, 0.752, 0.674),
}


def fill(sheet: Sheet) -> None:
    """Measure and add the tables."""
    warnings.simplefilter("ignore", SidelightWarning)
    sheet.notes.append(
        "Each run draws a split (70 % of the rows to learn from, every label set in proportion) and drops every label "
        "that is on with the given probability; five runs a cell, mean ± standard deviation. Nothing is chosen by the "
        "truth, except where it is said. Newsgroups: tf-idf of body and Subject, 100 components of all posts, "
        "as [P17] (the Newsgroups header would give the label away). Pascal 2007 with OverFeat features is not to be "
        "had, nor is Sosh."
    )
    ledger = Ledger("hierarchy_fidelity")
    trees(sheet, ledger)
    all_rows(sheet, ledger)
    generated(sheet, ledger)
    rates(sheet, ledger)
    label_sets(sheet, ledger)
    rates_per_label(sheet, ledger)
    unknown(sheet, ledger)
    further_parents(sheet, ledger)
    no_hierarchy(sheet)


# ---- cells


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
    """Tree from counts, weights by EM; judged on its own rows (complete) and on the others (test)."""
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    model = sl.LatentHierarchyClassifier(threshold="f1").fit(data.X[learn], Z)
    return {"rf": _rf(data, model), "rf_undirected": _rf(data, model, False), "alpha": model.alpha_} | _judge(
        data, model, learn, test, Z
    )


def run_given(name: str, noise: float, seed: int) -> dict[str, float]:
    """Ours with the true tree: GT of the thesis with our rate of loss."""
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    model = sl.LatentHierarchyClassifier(threshold="f1", tree=data.tree.parents).fit(data.X[learn], Z)
    return {"alpha": model.alpha_} | _judge(data, model, learn, test, Z)


def run_thesis(name: str, noise: float, seed: int, start: str) -> dict[str, float]:
    """The thesis' EM from a star, from the Chow-Liu tree, or with the true tree given."""
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    tree, init = (data.tree.parents, "star") if start == "true tree" else (None, start)
    model = sl.LatentHierarchyClassifier(structure="joint", init=init, tree=tree, max_iter=60).fit(data.X[learn], Z)
    return {
        "rf": _rf(data, model),
        "alpha": model.alpha_,
        "bound": float(model.trace_[-1]),
    } | _judge(data, model, learn, test, Z)


def run_chow_liu(name: str, noise: float, seed: int, positive: bool) -> dict[str, float]:
    """The Chow-Liu tree of the labels with gaps."""
    data = SETS[name]()
    _, _, Z = split(data, noise, seed)
    model = sl.peers.ChowLiuTree(positive=positive).fit(None, Z)
    return {"rf": _rf(data, model), "rf_undirected": _rf(data, model, False)}


def run_flat(name: str, noise: float, seed: int) -> dict[str, float]:
    """Binary relevance, plain and divided by what is kept, and FastTag."""
    data = SETS[name]()
    learn, test, Z = split(data, noise, seed)
    X, Y = data.X[learn], data.Y[test]
    plain = sl.peers.BinaryRelevance().fit(X, Z)
    divided = sl.peers.BinaryRelevance(alpha=noise, threshold="f1").fit(X, Z)  # told the true rate
    fast = sl.peers.FastTag().fit(X, Z)
    scores = fast.decision_function(data.X[test])
    tried = [micro_f1(Y, (scores > t).astype(int)) for t in np.arange(0.02, 0.8, 0.02)]
    best = (scores > np.arange(0.02, 0.8, 0.02)[int(np.argmax(tried))]).astype(int)
    found = {"BR": plain.predict(data.X[test]), "BR / (1 - alpha), f1": divided.predict(data.X[test])}
    found |= {"FastTag": fast.predict(data.X[test]), "FastTag, best threshold by truth": best}
    return {f"{key} {kind}": judge(Y, P) for key, P in found.items() for kind, judge in _JUDGES.items()}


_JUDGES = {"micro": micro_f1, "macro": macro_f1}


def _judge(data: LabelSet, model: Any, learn: Any, test: Any, Z: Any) -> dict[str, float]:
    complete, predicted = model.complete(data.X[learn], Z), model.predict(data.X[test])
    out = {f"complete {kind}": judge(data.Y[learn], complete) for kind, judge in _JUDGES.items()}
    out |= {f"test {kind}": judge(data.Y[test], predicted) for kind, judge in _JUDGES.items()}
    if not np.isnan(model.threshold_):  # the same model, rounded to the most probable label set
        model.threshold_ = np.nan
        out |= {
            f"test {kind}, map": judge(data.Y[test], model.predict(data.X[test])) for kind, judge in _JUDGES.items()
        }
    return out


def _rf(data: LabelSet, model: Any, directed: bool = True) -> int:
    return robinson_foulds(data.tree.parents, model.tree_.parents, directed=directed)


# ---- sections


def _cells(ledger: Ledger, title: str, work: Callable[..., Any], names: Any, *extra: Any) -> dict[str, Any]:
    keys = [
        (f"{title}/{name}/{noise}/{seed}", name, noise, seed) for name in names for noise in NOISES for seed in SEEDS
    ]
    return ledger.run(
        [(key, lambda n=n, a=a, s=s: work(n, a, s, *extra)) for key, n, a, s in keys],
        stage=f"{title}: {len(keys)} cells",
    )


def _values(found: dict[str, Any], title: str, name: str, noise: float, measure: str) -> np.ndarray:
    return np.array([found[f"{title}/{name}/{noise}/{seed}"][measure] for seed in SEEDS])


def _text(values: np.ndarray, digits: int = 3) -> str:
    return f"{values.mean():.{digits}f} ± {values.std():.{digits}f}"


def trees(sheet: Sheet, ledger: Ledger) -> None:
    """Claim 1 (figure 5.3): a better tree than Chow-Liu."""
    ours = _cells(ledger, "ours", run_ours, SETS)
    plain = _cells(ledger, "chow-liu", run_chow_liu, SETS, False)
    positive = _cells(ledger, "chow-liu positive", run_chow_liu, SETS, True)
    star = _cells(ledger, "thesis star", run_thesis, ["newsgroups"], "star")
    chained = _cells(ledger, "thesis chow-liu", run_thesis, ["newsgroups"], "chow-liu")
    for name in SETS:
        rows, better = [], True
        for noise in NOISES:
            own = _values(ours, "ours", name, noise, "rf_undirected")
            others = [
                _values(plain, "chow-liu", name, noise, "rf_undirected"),
                _values(positive, "chow-liu positive", name, noise, "rf_undirected"),
            ]
            better &= all(own.mean() < other.mean() or own.mean() == other.mean() == 0 for other in others)
            row = [noise, _text(_values(ours, "ours", name, noise, "rf"), 1), _text(own, 1)]
            row += [_text(other, 1) for other in others]
            if name == "newsgroups":
                row.append(_text(_values(star, "thesis star", name, noise, "rf"), 1))
                row.append(_text(_values(chained, "thesis chow-liu", name, noise, "rf"), 1))
            rows.append(row)
        header = ["noise", "ours, directed", "ours, undirected", "Chow-Liu, undirected", "Chow-Liu, positive links"]
        header += ["thesis' EM from a star, directed", "from Chow-Liu, directed"] if name == "newsgroups" else []
        sheet.section(f"Trees of {name}: Robinson-Foulds distance", header, rows)
        sheet.row(
            f"{name}: closer to the true tree than both kinds of Chow-Liu, or both exact, at every noise",
            str(better),
            "yes",
            better,
        )
    for noise in NOISES:
        own = _values(ours, "ours", "newsgroups", noise, "rf")
        limit = TRIAL[noise][0] + own.std() / np.sqrt(len(own))
        sheet.row(
            f"newsgroups, noise {noise}: Robinson-Foulds, directed",
            _text(own, 1),
            f"<= {TRIAL[noise][0]} + one standard error",
            bool(own.mean() <= limit + 1e-9),
        )


def all_rows(sheet: Sheet, ledger: Ledger) -> None:
    """Church-FUN again, with every row to learn from: labels alone, so that no row is needed for a test."""
    found = _cells(ledger, "all rows", run_all_rows, CHURCH)
    for name in CHURCH:
        rows = []
        for noise in NOISES:
            columns = ("rf", "rf_undirected", "plain", "positive")
            row = [_text(_values(found, "all rows", name, noise, column), 1) for column in columns]
            error = np.abs(_values(found, "all rows", name, noise, "alpha") - noise)
            rows.append([noise, *row, _text(error)])
        header = [
            "noise",
            "ours, directed",
            "ours, undirected",
            "Chow-Liu, undirected",
            "positive links",
            "error of alpha",
        ]
        sheet.section(f"Trees of {name}, all rows: Robinson-Foulds distance and rate of loss", header, rows)
        worst = max(abs(_values(found, "all rows", name, noise, "alpha") - noise).mean() for noise in NOISES)
        text = f"{worst:.3f}"
        sheet.row(f"{name}, all rows: largest mean error of alpha", text, "<= 0.02", bool(worst <= 0.02))


def run_all_rows(name: str, noise: float, seed: int) -> dict[str, float]:
    """Trees from the labels of all rows."""
    data = SETS[name]()
    Z = drop(data.Y, noise, np.random.default_rng(seed))
    model = sl.LatentHierarchyClassifier().fit(None, Z)
    both = [_rf(data, sl.peers.ChowLiuTree(positive=positive).fit(None, Z), False) for positive in (False, True)]
    return {
        "rf": _rf(data, model),
        "rf_undirected": _rf(data, model, False),
        "alpha": model.alpha_,
        "plain": both[0],
        "positive": both[1],
    }


def generated(sheet: Sheet, ledger: Ledger) -> None:
    """Trees drawn by make_label_tree."""
    rows = []
    for title, (n, k) in GENERATED.items():
        for noise in (0.1, 0.3, 0.5):
            cells = [
                (f"generated/{title}/{noise}/{s}", lambda n=n, k=k, a=noise, s=s: _drawn(n, k, a, s)) for s in range(8)
            ]
            found = list(ledger.run(cells, stage=f"generated, {title}, {noise}").values())
            columns = ("ours", "ours, undirected", "Chow-Liu", "Chow-Liu, positive", "alpha error")
            rows.append(
                [title, noise, *(_text(np.array([f[c] for f in found]), 3 if "a e" in c else 1) for c in columns)]
            )
    header = ["set", "noise", "ours, directed", "ours, undirected", "Chow-Liu", "positive links", "error of alpha"]
    sheet.section("Generated trees: Robinson-Foulds distance, eight seeds", header, rows)


def _drawn(n: int, k: int, noise: float, seed: int) -> dict[str, float]:
    sample = sl.data.make_label_tree(n, n_labels=k, missing=noise, random_state=seed)
    true, Y = sample.tree.parents, sample.Y_incomplete
    ours = sl.LatentHierarchyClassifier().fit(None, Y)
    both = [sl.peers.ChowLiuTree(positive=positive).fit(None, Y).tree_.parents for positive in (False, True)]
    return {
        "ours": robinson_foulds(true, ours.tree_.parents),
        "ours, undirected": robinson_foulds(true, ours.tree_.parents, directed=False),
        "Chow-Liu": robinson_foulds(true, both[0], directed=False),
        "Chow-Liu, positive": robinson_foulds(true, both[1], directed=False),
        "alpha error": abs(ours.alpha_ - noise),
    }


def rates(sheet: Sheet, ledger: Ledger) -> None:
    """Claim 4 (figure 5.5): the rate of loss, which the thesis underestimates."""
    ours = _cells(ledger, "ours", run_ours, SETS)
    gt = _cells(ledger, "thesis true tree", run_thesis, ["newsgroups"], "true tree")
    chained = _cells(ledger, "thesis chow-liu", run_thesis, ["newsgroups"], "chow-liu")
    name = "newsgroups"
    lines = {
        "ours": [_values(ours, "ours", name, noise, "alpha") for noise in NOISES],
        "thesis' EM, true tree given": [_values(gt, "thesis true tree", name, noise, "alpha") for noise in NOISES],
        "thesis' EM from Chow-Liu": [_values(chained, "thesis chow-liu", name, noise, "alpha") for noise in NOISES],
    }
    sheet.figure(LossRateDisplay(NOISES, lines).plot().figure_, "newsgroups: estimated rate of loss over the true one")
    rows = [[noise, *(_text(np.abs(line[i] - noise)) for line in lines.values())] for i, noise in enumerate(NOISES)]
    sheet.section("Rate of loss on newsgroups: absolute error", ["noise", *lines], rows)
    for name in SETS:
        worst = max(abs(_values(ours, "ours", name, noise, "alpha") - noise).mean() for noise in NOISES)
        sheet.row(
            f"{name}: largest mean error of alpha over all noises", f"{worst:.3f}", "<= 0.02", bool(worst <= 0.02)
        )


def label_sets(sheet: Sheet, ledger: Ledger) -> None:
    """Claims 2 and 3 (figure 5.4): label sets of new rows."""
    ours = _cells(ledger, "ours", run_ours, SETS)
    given = _cells(ledger, "given", run_given, SETS)
    flat = _cells(ledger, "flat", run_flat, SETS)
    thesis = _cells(ledger, "thesis chow-liu", run_thesis, ["newsgroups"], "chow-liu")
    truth = _cells(ledger, "thesis true tree", run_thesis, ["newsgroups"], "true tree")
    for name in SETS:
        for kind in ("micro", "macro"):
            rows = []
            for noise in NOISES:
                row = [noise, _text(_values(ours, "ours", name, noise, f"test {kind}"))]
                row.append(_text(_values(ours, "ours", name, noise, f"test {kind}, map")))
                row.append(_text(_values(given, "given", name, noise, f"test {kind}")))
                row += [_text(_values(flat, "flat", name, noise, f"{m} {kind}")) for m in _FLAT]
                if name == "newsgroups":
                    row.append(_text(_values(thesis, "thesis chow-liu", name, noise, f"test {kind}")))
                    row.append(_text(_values(truth, "thesis true tree", name, noise, f"test {kind}")))
                rows.append(row)
            header = ["noise", "ours, f1 threshold", "ours, most probable set", "true tree given", *_FLAT]
            header += ["thesis' EM from Chow-Liu", "thesis' GT"] if name == "newsgroups" else []
            sheet.section(f"Test F1-{kind} on {name}", header, rows)
    rows = [
        [n, *(_text(_values(ours, "ours", name, n, f"complete {k}")) for name in SETS for k in ("micro", "macro"))]
        for n in NOISES
    ]
    header = ["noise", *(f"{name}, {kind}" for name in SETS for kind in ("micro", "macro"))]
    sheet.section("Completed label sets of the rows that were learned from: F1", header, rows)
    for noise in NOISES:
        for place, measure in enumerate(("complete micro", "complete macro", "test micro", "test macro"), start=1):
            values = _values(ours, "ours", "newsgroups", noise, measure)
            target = TRIAL[noise][place]
            error = values.std(ddof=1) / np.sqrt(len(values))
            sheet.row(
                f"newsgroups, noise {noise}: {measure} F1",
                _text(values),
                f">= {target} less one standard error",
                bool(values.mean() >= target - error),
            )
        fast = _values(flat, "flat", "newsgroups", noise, "FastTag, best threshold by truth micro")
        own = _values(ours, "ours", "newsgroups", noise, "test micro")
        sheet.row(
            f"newsgroups, noise {noise}: test micro F1 beside FastTag at its best threshold",
            f"{own.mean():.3f} against {fast.mean():.3f}",
            "at least level",
            bool(own.mean() >= fast.mean()),
        )


_FLAT = ("BR", "BR / (1 - alpha), f1", "FastTag", "FastTag, best threshold by truth")


def rates_per_label(sheet: Sheet, ledger: Ledger) -> None:
    """Labels that are forgotten at different rates, 10,000 rows."""
    rows = []
    for spread in (0.0, 0.1, 0.2):
        cells = [(f"per label/{spread}/{s}", lambda w=spread, s=s: _differing(w, s)) for s in range(8)]
        found = list(ledger.run(cells, stage=f"rates per label, spread {spread}").values())
        cells_of = [np.array([f[m] for f in found], dtype=float) for m in ("rf", "error", "largest")]
        own = sum(f["source"].startswith("per label") for f in found)
        rows.append([f"0.3 ± {spread}", _text(cells_of[0], 1), _text(cells_of[1]), _text(cells_of[2]), f"{own} of 8"])
        mean = cells_of[1].mean()
        sheet.row(f"rates 0.3 ± {spread}: mean error over inner labels", f"{mean:.3f}", "<= 0.03", bool(mean <= 0.03))
    header = [
        "rates drawn evenly from",
        "Robinson-Foulds",
        "mean error, inner labels",
        "largest error",
        "own rates taken",
    ]
    sheet.section("Rates that differ by label: 10,000 rows x 30 labels, eight seeds", header, rows)


def _differing(spread: float, seed: int) -> dict[str, Any]:
    sample = sl.data.make_label_tree(10_000, n_labels=30, missing=0.0, random_state=seed)
    rng = np.random.default_rng(seed + 1000)
    rate = rng.uniform(0.3 - spread, 0.3 + spread, 30)
    model = sl.LatentHierarchyClassifier().fit(None, sample.Y * (rng.random(sample.Y.shape) >= rate))
    error = np.abs(model.label_alphas_ - rate)[np.unique(sample.tree.parents[sample.tree.parents >= 0])]
    rf = robinson_foulds(sample.tree.parents, model.tree_.parents)
    return {"rf": rf, "error": float(error.mean()), "largest": float(error.max()), "source": model.source_}


def unknown(sheet: Sheet, ledger: Ledger) -> None:
    """Entries that nobody looked at: marked as such, and counted as 0."""

    def work(seed: int) -> dict[str, float]:
        data = newsgroups()
        learn, test, Z = split(data, 0.3, seed)
        hidden = np.random.default_rng(seed + 77).random(Z.shape) < 0.3
        out = {}
        for title, Y in (("as unknown", np.where(hidden, -1, Z)), ("as 0", np.where(hidden, 0, Z))):
            model = sl.LatentHierarchyClassifier(threshold="f1").fit(data.X[learn], Y)
            out |= {f"alpha, {title}": model.alpha_, f"rf, {title}": _rf(data, model)}
            out[f"test micro, {title}"] = micro_f1(data.Y[test], model.predict(data.X[test]))
        return out

    found = list(ledger.run([(f"unknown/{s}", lambda s=s: work(s)) for s in SEEDS], stage="unknown entries").values())
    rows = [
        [t, *(_text(np.array([f[f"{m}, {t}"] for f in found])) for m in ("alpha", "rf", "test micro"))]
        for t in ("as unknown", "as 0")
    ]
    sheet.section(
        "Newsgroups, noise 0.3, and 30 % of all entries that nobody looked at",
        ["these entries are given", "alpha (0.3 is right)", "Robinson-Foulds", "test micro F1"],
        rows,
    )


def further_parents(sheet: Sheet, ledger: Ledger) -> None:
    """Planted second parents, and trees without any: 2000 rows x 12 labels, twenty seeds that nothing was chosen on."""
    rows = []
    for n_rows in (50, 100, 200):
        for noise in NOISES:
            cells = [
                (f"links/{n_rows}/{noise}/{s}", lambda r=n_rows, a=noise, s=s: _planted(r, a, s)) for s in range(20)
            ]
            found = list(ledger.run(cells, stage=f"second parents, {n_rows} rows, noise {noise}").values())
            hits, false = sum(f["found"] for f in found), sum(f["false"] for f in found)
            rows.append([n_rows, noise, f"{hits} of 20", sum(f["others"] for f in found), false])
            if n_rows == 100 and noise <= 0.3:
                sheet.row(f"second parents with 100 rows, noise {noise}: found", f"{hits} of 20", ">= 16", hits >= 16)
                sheet.row(f"second parents in 20 pure trees, noise {noise}", str(false), "<= 1", false <= 1)
    header = ["rows of the label", "noise", "planted links found", "other links beside them", "links in 20 pure trees"]
    sheet.section("Further parents: where they are found, and where that stops", header, rows)


def _planted(n_rows: int, noise: float, seed: int) -> dict[str, int]:
    sample = sl.data.make_label_tree(2000, n_labels=12, missing=0.0, random_state=1000 + seed)
    rng = np.random.default_rng(2000 + seed)
    pure = sl.LatentHierarchyClassifier().fit(None, drop(sample.Y, noise, rng))
    Y, child, second = _plant(sample, n_rows, rng)
    model = sl.LatentHierarchyClassifier().fit(None, drop(Y, noise, rng))
    names, tree = model.tree_.names, model.tree_
    parents = [int(tree.parents[child])] + [
        names.index(p) for p, c, _ in model.extra_parents_ if names.index(c) == child
    ]
    above = {a for p in parents if p >= 0 for a in (p, *tree.ancestors(p).tolist())}
    others = sum(names.index(c) != child for _, c, _ in model.extra_parents_)
    wanted = {int(sample.tree.parents[child]), second}
    return {"found": int(wanted <= above), "others": others, "false": len(pure.extra_parents_)}


def _plant(sample: Any, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, int, int]:
    """Let a leaf occur on ``n_rows`` rows where its parent and a label of another branch are both on."""
    Y, tree = sample.Y.copy(), sample.tree
    options = []
    for c in tree.leaves.tolist():
        for p in range(tree.n_labels):
            if tree.parents[c] < 0 or p == c or p in tree.ancestors(c) or Y[:, p].mean() > 0.7:
                continue
            both = np.flatnonzero((Y[:, tree.parents[c]] == 1) & (Y[:, p] == 1))
            if len(both) >= n_rows:
                options.append((c, p, both))
    c, p, both = options[rng.integers(len(options))]
    Y[:, c] = 0
    Y[rng.choice(both, n_rows, replace=False), c] = 1
    return Y, c, p


def no_hierarchy(sheet: Sheet) -> None:
    """Sets without a tree, in place of the thesis' Sosh."""
    rows = []
    for name in ("yeast", "emotions"):
        data = without_tree(name)
        model = sl.LatentHierarchyClassifier().fit(data.X, sl.LabelMatrix(data.Y, data.names))
        drawn = LabelTreeDisplay.from_estimator(model).plot()
        sheet.figure(
            drawn.figure_, f"{name}: the tree that was learned; counts are rows with both labels of rows with one"
        )
        linked = model.tree_.parents >= 0
        rows.append([name, f"{model.alpha_:.2f}", int(linked.sum()), *_gaps(model), model.source_])
    for name, load in SETS.items():
        data = load()
        model = sl.LatentHierarchyClassifier().fit(None, drop(data.Y, 0.3, np.random.default_rng(0)))
        linked = model.tree_.parents >= 0
        rows.append([f"{name}, noise 0.3", f"{model.alpha_:.2f}", int(linked.sum()), *_gaps(model), model.source_])
    header = ["set", "alpha", "labels under another", "edges tested", "gaps not random", "candidate taken"]
    text = (
        "Nobody dropped labels of yeast and emotions, and they are no hierarchy: alpha reads overlap as loss. What "
        "tells them from true trees is `gap_p_values_`: where a label implies its parent, whether the parent was seen "
        "depends on no other label. Edges are tested where there are enough rows; below 0.001 the gaps are "
        "called not random."
    )
    sheet.section("Labels that are no hierarchy, beside three that are", header, rows, text)


def _gaps(model: Any) -> tuple[int, int]:
    return int(np.isfinite(model.gap_p_values_).sum()), int((model.gap_p_values_ < 1e-3).sum())
