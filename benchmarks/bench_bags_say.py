"""What a bag may say: counts, ranges, shares, absences, maybes and kinds above a label, beside lists and full labels.

Rows are shuffled into bags; a quarter of the rows is held out and named by features alone. BAGS_SAY_SEEDS changes how
many splits there are; seeds 0 to 2 were looked at while the fit was built, so that pages begin with 3.
"""

from __future__ import annotations

import os
import time
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import hierarchy_sets
import sidelight as sl
from datasets import folder, load
from runner import Ledger, Sheet
from sidelight.errors import ignore_warnings

TITLE = "What a bag may say"
SEEDS = range(3, 3 + int(os.environ.get("BAGS_SAY_SEEDS", 3)))
MINUTES = float(os.environ.get("BAGS_SAY_MINUTES", "inf"))
SIZES = (8, 32, 128, 512)
TITLES = {"digits": "digits", "penbased": "penbased, 4,000", "letter": "letters, 6,000"}
WAYS = ("counts", "ranges", "shares", "lists", "means")
PENALTY = 1.5  # of the logistic regressions, as ours


def fill(sheet: Sheet) -> None:
    """Measure everything, one cell for each set, bag size, way and split."""
    sheet.say_if_busy()
    numbers(sheet)
    levels(sheet)
    words(sheet)
    speed(sheet)
    sheet.notes.append(
        f"Rows of a held-out quarter named right by features alone; means over splits of seeds {SEEDS[0]} to "
        f"{SEEDS[-1]}. Ranges are the true number - 1 to + 1; shares are those of the bag. Bag means: a logistic "
        "regression on the means of bags, each label weighed by its share. Seeds 0 to 2 were looked at (with counts in "
        "bags of 128) while this was built."
    )


@cache
def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and names."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        data = sl.read(folder() / "uci" / f"{name}.dat")
        most = 4000 if name == "penbased" else 6000
        X, y = np.asarray(data.X, dtype=float)[:most], np.asarray(data.y, dtype=object)[:most]
    return np.asarray(X, dtype=float), np.array([f"k{label}" for label in y])


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and names to learn from, shuffled and standardised, and held-out ones."""
    X, y = rows_of(name)
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = np.split(order, [len(y) // 4])
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    Z = (X - mean) / np.where(spread > 0, spread, 1.0)
    return Z[train], y[train], Z[test], y[test]


def said(y: np.ndarray, ids: np.ndarray, way: str) -> dict[str, Any]:
    """Return what bags of these rows say."""
    told: dict[int, dict[str, int]] = {}
    for b, name in zip(ids.tolist(), y.tolist()):
        told.setdefault(b, {})
        told[b][name] = told[b].get(name, 0) + 1
    if way == "counts":
        return {"labels": told}
    if way == "ranges":
        return {"labels": {b: {k: (max(n - 1, 1), n + 1) for k, n in some.items()} for b, some in told.items()}}
    if way == "shares":
        return {"shares": {b: {k: n / sum(some.values()) for k, n in some.items()} for b, some in told.items()}}
    return {"labels": {b: set(some) for b, some in told.items()}}


def right(name: str, size: int, way: str, seed: int) -> float:
    """Return the share of held-out rows that are named right."""
    X, y, new, truth = split(name, seed)
    if way == "all":
        return float(np.mean(LogisticRegression(C=1 / PENALTY, max_iter=500).fit(X, y).predict(new) == truth))
    ids = np.arange(len(y)) // size
    if way == "means":
        return _by_means(X, y, ids, new, truth)
    with ignore_warnings():
        model = sl.CoverageClustering(random_state=seed).fit(X, bags=sl.Bags(ids, **said(y, ids, way)))
    return float(np.mean(model.predict_labels(new) == truth))


def _by_means(X: np.ndarray, y: np.ndarray, ids: np.ndarray, new: np.ndarray, truth: np.ndarray) -> float:
    names, codes = np.unique(y, return_inverse=True)
    counts = np.zeros((ids[-1] + 1, len(names)))
    np.add.at(counts, (ids, codes), 1.0)
    means = np.stack([X[ids == b].mean(axis=0) for b in range(len(counts))])
    b, k = np.nonzero(counts)
    model = LogisticRegression(C=1 / PENALTY, max_iter=500).fit(means[b], names[k], sample_weight=counts[b, k])
    return float(np.mean(model.predict(new) == truth))


def numbers(sheet: Sheet) -> None:
    """Counts, ranges and shares in bags of growing size."""
    cells = [
        (f"{name} 1 all {seed}", lambda n=name, s=seed: right(n, 1, "all", s)) for name in TITLES for seed in SEEDS
    ]
    cells += [
        (f"{name} {size} {way} {seed}", lambda n=name, z=size, w=way, s=seed: right(n, z, w, s))
        for seed in SEEDS for size in SIZES for name in TITLES for way in WAYS
        if not (way in ("lists", "ranges") and size > 128)
    ]  # fmt: skip
    found = Ledger("bags_say").run(cells, stage="counts", minutes=MINUTES)

    def mean(name: str, size: int, way: str) -> float:
        some = [found[key] for seed in SEEDS if (key := f"{name} {size} {way} {seed}") in found]
        return float(np.mean(some)) if some else float("nan")

    table = [
        (TITLES[name], size, _number(mean(name, 1, "all")), *(_number(mean(name, size, way)) for way in WAYS))
        for name in TITLES for size in SIZES
    ]  # fmt: skip
    at = {size: [mean(name, size, "counts") / mean(name, 1, "all") for name in TITLES] for size in SIZES}
    sheet.row("counts in bags of 8, of full supervision, worst set", f"{min(at[8]):.2f}", ">= 0.99", min(at[8]) >= 0.99)
    sheet.row("counts in bags of 128, the same", f"{min(at[128]):.2f}", ">= 0.88", min(at[128]) >= 0.88)
    header = [
        "set",
        "rows a bag",
        "told every row (logistic regression)",
        "counts",
        "ranges",
        "shares",
        "lists",
        "bag means",
    ]
    sheet.section("Counts, ranges, shares", header, table)


def level(name: str, share: float, seed: int) -> float:
    """Return rows named right where a share of the names on lists is lifted to the kind above."""
    generator = np.random.default_rng(seed)
    if name == "posts":
        posts = hierarchy_sets.newsgroups()
        leaves = [k for k, label in enumerate(posts.names) if label not in hierarchy_sets.INNER]
        y = np.array(posts.names)[leaves][posts.Y[:, leaves].argmax(axis=1)]
        X, ids = posts.X, np.empty(len(y), dtype=int)
        ids[generator.permutation(len(y))] = np.arange(len(y)) // 4
        above = {leaf: leaf.split(".")[0] + ".*" for leaf in set(y.tolist())}
    else:
        X, bags, codes = load(name)
        y, ids = np.array([f"k{c:02d}" for c in codes]), np.array(bags.codes)
        above = {f"k{c:02d}": f"family {c // 3}" for c in set(np.asarray(codes).tolist())}
    held = generator.random(ids.max() + 1) < 0.25
    out = held[ids]
    lists: dict[int, set[str]] = {}
    for b, label in zip(ids[~out].tolist(), y[~out].tolist()):
        lists.setdefault(b, set()).add(label)
    lifted = {b: {above[k] if generator.random() < share else k for k in sorted(names)} for b, names in lists.items()}
    lifted = {b: {k for k in names if above.get(k) not in names} for b, names in lifted.items()}  # one level a label
    tree = [f"{parent}/{leaf}" for leaf, parent in sorted(above.items())]
    mean, spread = X[~out].mean(axis=0), X[~out].std(axis=0)
    Z = (X - mean) / np.where(spread > 0, spread, 1.0)
    with ignore_warnings():
        model = sl.CoverageClustering(random_state=seed).fit(Z[~out], bags=sl.Bags(ids[~out], labels=lifted, tree=tree))
    return float(np.mean(model.predict_labels(Z[out]) == y[out]))


def levels(sheet: Sheet) -> None:
    """Names at inner nodes of a tree."""
    sets = {"posts": "newsgroups in digests of 4", "hja": "HJA birdsong, made-up families of three"}
    cells = [
        (f"level {name} {share} {seed}", lambda n=name, p=share, s=seed: level(n, p, s))
        for name in sets for share in (0.0, 1 / 3) for seed in SEEDS
    ]  # fmt: skip
    found = Ledger("bags_say").run(cells, stage="levels", minutes=MINUTES)
    table, losses = [], []
    for name, title in sets.items():
        exact, rough = (
            np.array([found.get(f"level {name} {share} {seed}", np.nan) for seed in SEEDS]) for share in (0.0, 1 / 3)
        )
        losses.append(float((exact - rough).mean()))
        table.append((title, _number(exact.mean()), _number(rough.mean())))
    sheet.row(
        "a third of the names at inner kinds costs, worst set", f"{max(losses):.3f}", "<= 0.02", max(losses) <= 0.02
    )
    sheet.section("Kinds above a label", ["set", "lists of labels", "a third of the names is of the kind above"], table)


def word(name: str, way: str, seed: int) -> float:
    """Return rows named right where bags of 4 say only what is absent, or maybes that are right seven times of ten."""
    X, y, new, truth = split(name, seed)
    generator, ids = np.random.default_rng(seed), np.arange(len(y)) // 4
    names = sorted(set(y.tolist()))
    told: dict[int, dict[str, str]] = {}
    for b in range(ids[-1] + 1):
        there = set(y[ids == b].tolist())
        if way == "half of what is absent":
            told[b] = {k: "absent" for k in names if k not in there and generator.random() < 0.5}
        elif way == "maybes":
            wrong = [k for k in names if k not in there]
            told[b] = dict.fromkeys(sorted(there), "maybe")
            told[b] |= {str(k): "maybe" for k in generator.permutation(wrong)[: round(len(there) * 3 / 7)]}
        else:
            told[b] = dict.fromkeys(sorted(there), "present")
    told = {b: some for b, some in told.items() if some}  # of the others nobody said anything
    with ignore_warnings():
        model = sl.CoverageClustering(random_state=seed).fit(X, bags=sl.Bags(ids, labels=told))
    return float(np.mean(model.predict_labels(new) == truth))


def words(sheet: Sheet) -> None:
    """Absences and maybes."""
    ways = ("lists", "half of what is absent", "maybes")
    names = ("digits", "penbased")
    cells = [
        (f"word {name} {way} {seed}", lambda n=name, w=way, s=seed: word(n, w, s))
        for name in names for way in ways for seed in SEEDS
    ]  # fmt: skip
    found = Ledger("bags_say").run(cells, stage="words", minutes=MINUTES)
    table = [
        (TITLES[name], *(_number(np.mean([found.get(f"word {name} {w} {s}", np.nan) for s in SEEDS])) for w in ways))
        for name in names
    ]
    sheet.section(
        "Absences and maybes, bags of 4",
        ["set", "lists", "half of what is absent, nothing else", "maybes, 7 of 10 right"],
        table,
    )


def million(evenly: bool) -> dict[str, float]:
    """Return the processor time of a fit of a million rows in bags of a thousand with counts, and rows named right.

    Bags that draw their rows ``evenly`` from ten kinds all say nearly the same; the others draw their shares first.
    """
    generator = np.random.default_rng(0)
    shares = np.full((1000, 10), 0.1) if evenly else generator.dirichlet(np.full(10, 0.5), size=1000)
    y = np.concatenate([generator.choice(10, size=1000, p=share) for share in shares])
    X = generator.normal(size=(1_000_000, 40)) + 2.0 * np.eye(40)[y]
    counts = {b: {f"k{c}": int(n) for c, n in enumerate(np.bincount(some, minlength=10)) if n}
              for b, some in enumerate(y.reshape(1000, 1000))}  # fmt: skip
    bags = sl.Bags(np.arange(1_000_000) // 1000, labels=counts)
    begin = time.process_time()
    model = sl.CoverageClustering(random_state=0).fit(X, bags=bags)
    took = time.process_time() - begin
    found = model.predict_labels(X[::20])
    return {"seconds": took, "right": float(np.mean(found == np.array([f"k{c}" for c in y[::20]])))}


def speed(sheet: Sheet) -> None:
    """A million rows."""
    cells = [("uneven million", lambda: million(evenly=False)), ("even million", lambda: million(evenly=True))]
    found = Ledger("bags_say").run(cells, stage="a million rows", minutes=MINUTES)
    for key, one in found.items():
        what = f"1,000,000 x 40 rows in {key.split()[0]} bags of 1,000, 10 kinds counted: processor time"
        told = f"{one['seconds']:.1f} s, {one['right']:.3f} of rows named right"
        sheet.row(what, told, "< 30 s", one["seconds"] < 30)


def _number(value: float) -> str:
    return "" if not np.isfinite(value) else f"{value:.3f}"
