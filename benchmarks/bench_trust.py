"""Right as often as it is sure: probabilities, sets with a coverage, alarms, lost labels, wrong answers.

Nobody's truth is seen by a fit; names of rows only judge. TRUST_SPLITS and TRUST_DRAWS change how much is done.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sidelight as sl
import trust_families
from runner import Ledger, Sheet
from sidelight.errors import ignore_warnings
from sidelight.estimators._labelled_bags.row_temperature import Calibration, temper
from sidelight.metrics import expected_calibration_error
from trust_sets import TITLES, UNSEEN, bags_of, split

TITLE = "Right as often as it is sure"
SPLITS = int(os.environ.get("TRUST_SPLITS", 5))  # of the tables of probabilities; sets with a coverage take 20
DRAWS = int(os.environ.get("TRUST_DRAWS", 30))  # of complete lists for the alarm
MINUTES = float(os.environ.get("TRUST_MINUTES", "inf"))
COVERED = ("carroll", "msrcv2", "hja", "digits", "sounds", "photos", "posts", *UNSEEN)
ALARMS = {"carroll": 4, "digits": 2, "msrcv2": 4, "posts": 4}  # kinds that are taken off all lists
FAMILIES: dict[str, Callable[..., Any]] = {
    "coverage": lambda seed, n: sl.CoverageClustering(n_novel=n, random_state=seed),
    "DMNL": lambda seed, n: sl.DMNL(n_novel=n, random_state=seed),
}


def fill(sheet: Sheet) -> None:
    """Measure everything, one cell for each set, family and split."""
    sheet.say_if_busy()
    rows_of_probabilities(sheet)
    sets_with_a_coverage(sheet)
    alarms(sheet)
    other_families(sheet)
    lost_labels(sheet)
    sheet.notes.append(
        f"A quarter of the bags is held out, {SPLITS} splits (sets with a coverage 20), rows of all splits judged "
        "together. Before: probabilities as they are fitted. Names are the same before and after. Sounds and "
        "photographs by plain features; sounds are few: 15 bags of 4 are held out. Nothing was chosen by "
        "pen digits, UCI letters, yeast and emotions."
    )


def probabilities(family: str, name: str, hidden: int, seed: int) -> dict[str, Any]:
    """Return how sure and how right rows are before and after: new ones, and those of the fit with their lists."""
    X, bag, y, lists, out = split(name, seed)
    X, bag, y, lists, new = _hide(X, bag, y, lists, hidden)
    train, test = np.flatnonzero(~out), np.flatnonzero(out & (y != ""))
    bags = bags_of(bag, lists, train)
    with ignore_warnings():
        begin = time.perf_counter()
        model = FAMILIES[family](seed, hidden).fit(X[train], bags=bags)
        took = time.perf_counter() - begin
    known, to_labels = model.calibration_, model.layout.to_labels()
    names = np.array([str(name) for name in model.label_names_])
    cells: dict[str, Any] = {
        "seconds": took,
        **{what: known[what] for what in ("temperature", "temperature_in_fit", "forgotten", "right")},
    }
    parts = {
        "new": (test, model.predict_proba(X[test]) @ to_labels, "temperature"),
        "fit": (train, model.predict_proba(X[train], bags=bags) @ to_labels, "temperature_in_fit"),
    }
    for what, (rows, P, which) in parts.items():
        is_named = (y[rows] != "") & ~np.isin(y[rows], list(new))
        truth = y[rows][is_named]
        for when, Q in (("after", P), ("before", temper(P, 1.0 / known[which]))):
            Q, top = Q[is_named], Q[is_named].argmax(axis=1)
            place = np.array([np.flatnonzero(names == one)[0] if one in names else -1 for one in truth])
            right = np.where(place >= 0, Q[np.arange(len(Q)), place], 0.0)
            cells[f"{what} {when}"] = Q[np.arange(len(Q)), top].round(4).tolist()
            cells[f"{what} {when} loss"] = float(-np.log(np.maximum(right, 1e-6)).mean())
        cells[f"{what} right"] = (names[top] == truth).astype(int).tolist()
    return cells


def _hide(X: Any, bag: Any, y: Any, lists: Any, hidden: int) -> tuple[Any, Any, Any, Any, set[str]]:
    new = set(sorted(set(y.tolist()) - {""})[:hidden])
    return X, bag, y, {b: names - new for b, names in lists.items()}, new


def rows_of_probabilities(sheet: Sheet) -> None:
    """Tabulate what is said and what is right."""
    cases = [("coverage", name, 0) for name in TITLES] + [("DMNL", name, 0) for name in TITLES]
    cases += [("coverage", name, hidden) for name, hidden in ALARMS.items()]
    cells = [
        (f"{family} {name} {hidden} {seed}", lambda f=family, n=name, h=hidden, s=seed: probabilities(f, n, h, s))
        for seed in range(SPLITS)
        for family, name, hidden in cases
    ]
    found = Ledger("trust_rows", source="bench_trust.py").run(cells, stage="rows", minutes=MINUTES)
    table, means, in_fit, sure, below = [], [], [], [], []
    for family, name, hidden in cases:
        some = [found[key] for seed in range(SPLITS) if (key := f"{family} {name} {hidden} {seed}") in found]
        if not some:
            continue
        line: list[Any] = [family, TITLES[name] + (f", {hidden} kinds on no list" if hidden else "")]
        right = np.concatenate([one["new right"] for one in some])
        line.append(f"{right.mean():.3f}")
        about = np.array([one["right"] for one in some], dtype=float)
        line.append("" if np.isnan(about).all() else f"{np.nanmean(about):.3f}")
        errors = {}
        for what in ("new", "fit"):
            own = np.concatenate([one[f"{what} right"] for one in some])
            for when in ("before", "after"):
                said = np.concatenate([one[f"{what} {when}"] for one in some])
                errors[what, when] = expected_calibration_error(np.minimum(said, 1.0), own)
                if what == "new":
                    high = said >= 0.9
                    share = f"{high.mean():.2f}: {own[high].mean():.2f}" if high.any() else "none"
                    line.append(
                        f"{errors[what, when]:.3f}, {np.mean([one[f'new {when} loss'] for one in some]):.2f}, {share}"
                    )
                    if when == "after" and family == "coverage" and not hidden and high.sum() >= 20:
                        sure.append(own[high].mean())
        line.append(f"{errors['fit', 'before']:.3f} -> {errors['fit', 'after']:.3f}")
        line.append(
            f"{np.mean([one['temperature'] for one in some]):.2f}, {np.mean([one['forgotten'] for one in some]):.2f}"
        )
        table.append(line)
        if family == "coverage" and not hidden:
            means.append((errors["new", "before"], errors["new", "after"]))
            in_fit.append((errors["fit", "before"], errors["fit", "after"]))
            below.append(errors["new", "after"])
    if means:
        before, after = np.mean(means, axis=0)
        sheet.row("coverage, new rows: mean ECE over sets, before", f"{before:.3f}")
        sheet.row("coverage, new rows: mean ECE over sets", f"{after:.3f}", "<= 0.065", bool(after <= 0.065))
        sheet.row("coverage, new rows: the worst set", f"{max(below):.3f}", "<= 0.10", bool(max(below) <= 0.10))
        before, after = np.mean(in_fit, axis=0)
        sheet.row("coverage, rows of the fit, lists known: mean ECE", f"{before:.3f} -> {after:.3f}")
        worst = f"{min(sure):.2f}" if sure else "none"
        sheet.row("rows said >= .9: right on the worst set", worst, ">= 0.88", bool(sure and min(sure) >= 0.88))
    header = [
        "family", "set", "new rows right", "about so many, by lists", "before: ECE, log loss, said >= .9: right",
        "after", "rows of the fit, lists known: ECE", "temperature, share forgotten",
    ]  # fmt: skip
    sheet.section("Rows: sure and right", header, table)
    price(sheet)


def price(sheet: Sheet) -> None:
    """Take the time of the temperatures beside a fit: what is held out was held out before."""
    X, bag, _, lists, out = split("hja", 0)
    train = np.flatnonzero(~out)
    bags = bags_of(bag, lists, train)
    fit = sl.CoverageClustering(random_state=0)
    from sidelight.estimators.coverage import settle

    spent: list[float] = []
    inner = settle.calibrate_rows

    def timed(*arguments: Any) -> Calibration:
        begin = time.perf_counter()
        found = inner(*arguments)
        spent.append(time.perf_counter() - begin)
        return found

    settle.calibrate_rows = timed
    try:
        begin = time.perf_counter()
        fit.fit(X[train], bags=bags)
        took = time.perf_counter() - begin
    finally:
        settle.calibrate_rows = inner
    share = sum(spent) / took
    sheet.row("HJA: share of the fit's time that temperatures take", f"{share:.1%}", "<= 10 %", bool(share <= 0.1))


def covered(name: str, seed: int) -> dict[str, float]:
    """Return what sets of nine tenths hold, and how large they are."""
    X, bag, y, lists, out = split(name, seed)
    train, test = np.flatnonzero(~out), np.flatnonzero(out)
    new = bags_of(bag, lists, test)
    with ignore_warnings():
        model = sl.CoverageClustering(random_state=seed).fit(X[train], bags=bags_of(bag, lists, train))
    truth, found = [new.labels[b] for b in new.names], {}
    for of in ("all", "share"):
        sets = model.predict_bag_sets(X[test], new, of=of)
        held = [len(s & t) / len(t) for s, t in zip(sets, truth)]
        found[of] = float(np.mean([h == 1 for h in held]) if of == "all" else np.mean(held))
        found[f"{of} size"] = float(np.mean([len(s) for s in sets]))
    named = test[y[test] != ""]
    sets = model.predict_sets(X[named])
    found["rows"] = float(np.mean([name in s for name, s in zip(y[named].tolist(), sets)]))
    found["rows size"] = float(np.mean([len(s) for s in sets]))
    best = model.predict_bags(X[test], new)
    found["half"] = float(np.mean([t <= s for s, t in zip(best, truth)]))
    return found


def sets_with_a_coverage(sheet: Sheet) -> None:
    """Tabulate coverage asked for and reached."""
    cells = [(f"{name} {seed}", lambda n=name, s=seed: covered(n, s)) for seed in range(20) for name in COVERED]
    found = Ledger("trust_sets", source="bench_trust.py").run(cells, stage="sets", minutes=MINUTES)
    table, reached = [], []
    for name in COVERED:
        some = [found[f"{name} {seed}"] for seed in range(20) if f"{name} {seed}" in found]
        if not some:
            continue
        line: list[Any] = [TITLES[name], len(some)]
        for of in ("share", "all", "rows"):
            values = np.array([one[of] for one in some])
            line.append(f"{values.mean():.3f} ± {values.std():.3f}, {np.mean([one[f'{of} size'] for one in some]):.1f}")
        line.append(f"{np.mean([one['half'] for one in some]):.2f}")
        table.append(line)
        reached.append([np.mean([one[of] for one in some]) for of in ("share", "all")])
    if reached:
        off = np.abs(np.array(reached) - 0.9)
        n_near = int((off <= 0.02).sum())
        sheet.row("coverage .9 of bags: within .02 of it, sets x (share, all)", f"{n_near} of {off.size}")
        sheet.row(
            "coverage .9 of bags: mean over sets", ", ".join(f"{value:.3f}" for value in np.mean(reached, axis=0))
        )
    header = [
        "set",
        "splits",
        "share of labels held, size",
        "bags with all held, size",
        "rows named, size",
        "above .5: all held",
    ]
    sheet.section("Sets with a coverage of .9", header, table)


def alarm(name: str, hidden: int, seed: int) -> dict[str, float]:
    """Return the p-values of a test of novelty on three quarters of the bags."""
    X, bag, y, lists, out = split(name, seed)
    X, bag, y, lists, _ = _hide(X, bag, y, lists, hidden)
    train = np.flatnonzero(~out)
    found = sl.novelty_test(X[train], bags_of(bag, lists, train), random_state=seed)
    return {
        "p": found.p_value, "lists": found.p_of_lists, "gain": float(found.tempered_gains.sum()),
        "empty": sum(not names for names in bags_of(bag, lists, train).labels.values()),
    }  # fmt: skip


def alarms(sheet: Sheet) -> None:
    """Count alarms on complete lists, and where kinds are on no list."""
    complete = ("carroll", "msrcv2", "digits", "photos", "posts", "sounds", *UNSEEN)
    each = -(-DRAWS // 6)
    cases = [(name, 0, seed) for seed in range(each) for name in complete]
    cases += [(name, hidden, seed) for seed in range(3) for name, hidden in ALARMS.items()]
    cells = [
        (f"{name} {hidden} {seed}", lambda n=name, h=hidden, s=seed: alarm(n, h, s)) for name, hidden, seed in cases
    ]
    found = Ledger("trust_alarms", source="bench_trust.py").run(cells, stage="alarms", minutes=MINUTES)
    table = []
    totals = {0: [0, 0, 0], 1: [0, 0, 0]}
    for name, hidden in [(name, 0) for name in complete] + list(ALARMS.items()):
        some = [value for key, value in found.items() if key.startswith(f"{name} {hidden} ")]
        if not some:
            continue
        n_before, n_after = (sum(one[what] < 0.01 for one in some) for what in ("lists", "p"))
        gains = [one["gain"] for one in some]
        table.append(
            (
                TITLES[name], hidden, len(some), n_before, n_after, f"{min(gains):.0f} to {max(gains):.0f}",
                sum(one["empty"] > 0 for one in some),
            )
        )  # fmt: skip
        for place, n in enumerate((len(some), n_before, n_after)):
            totals[int(hidden > 0)][place] += n
    (n, before, after), (m, found_before, found_after) = totals[0], totals[1]
    sheet.row("alarms (p < .01) on complete lists", f"{before} -> {after} of {n}", "0", after == 0)
    sheet.row("alarms where kinds are on no list", f"{found_before} -> {found_after} of {m}", f"{m}", found_after == m)
    header = [
        "set",
        "kinds on no list",
        "draws",
        "alarms by lists",
        "alarms",
        "gains of rows in nats",
        "draws with an empty list",
    ]
    sheet.section("Is anything novel?", header, table)


def other_families(sheet: Sheet) -> None:
    """Tabulate how sure and how right clusters by answers, filled labels and clusters of bags are."""
    cases = [
        (family, job, name, wrong)
        for family, (job, names, rates) in trust_families.FAMILIES.items()
        for name in names
        for wrong in rates
    ]
    cells = [
        (f"{family} {name} {wrong} {seed}", lambda j=job, n=name, w=wrong, s=seed: j(n, w, s))
        for seed in range(3)
        for family, job, name, wrong in cases
    ]
    found = Ledger("trust_families", source="trust_families.py").run(cells, stage="families", minutes=MINUTES)
    table, errors = [], dict[str, list[float]]()
    for family, _, name, wrong in cases:
        some = [found[key] for seed in range(3) if (key := f"{family} {name} {wrong} {seed}") in found]
        if some and any(one["right"] for one in some):
            columns, error = trust_families.line(family, name, wrong, some)
            table.append(columns)
            errors.setdefault(family, []).append(error)
    for family, of_sets in errors.items():
        sheet.row(f"{family}: mean ECE over sets, the worst", f"{np.mean(of_sets):.3f}, {max(of_sets):.3f}")
    header = ["family", "set", "right", "before: ECE, said >= .9: right", "after"]
    sheet.section("Other families", header, table)


def lost_labels(sheet: Sheet) -> None:
    """Tabulate the share of lost labels, where it is known."""
    lines = []
    for name in (*trust_families.HIERARCHIES, "yeast", "emotions"):
        for dropped in (0.0, 0.3):
            said = [trust_families.lost(name, dropped, seed) for seed in range(2 if dropped else 1)]
            alpha, low, filled, wrong = np.mean(said, axis=0)
            lines.append((name, f"{dropped:.1f}", f"{low:.2f} to {alpha:.2f}", f"{filled:.0f}", f"{wrong:.0f}"))
    header = ["set", "dropped", "said to be lost (alpha_range_)", "filled in", "of them wrong"]
    sheet.section("Lost labels", header, lines)
