"""Section 3.3 of [P17] and figure 3.8 on seven of its nine sets: every method of the thesis, the peers, and ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relation_cells import (
    EQUAL_PAIRS,
    PAIRS,
    THESIS_SETS,
    TRIPLETS,
    every_draw,
    refusals,
    run,
    values,
    written,
)
from relation_sets import TITLES
from runner import Sheet

TITLE = "Relations: section 3.3 of [P17], and figure 3.8"
WITH_PAIRS = ("k-means", "Xing", "ITML", "constrained EM", "DC", "DC hard", "ours")
WITH_TRIPLETS = ("k-means", "LSML", "SSSVaD", "sparse LP", "DC", "DC without none", "DC hard", "ours")
PEERS = ("COP-KMeans", "PCK-Means", "MPCK-Means", "SCML", "propagation")
PEERS_AT = (("pairs", (0.2, 0.6)), ("triplets", (0.1, 0.3)))
SEVERAL = ("balance", "digits-389", "letters-IJLT", "msrcv2-6", "hja")  # the thesis shows soft against hard on these
COLOURS = ("#999999", "#ee7733", "#0077bb", "#33bbee", "#009988", "#cc3311", "#ee3377", "#000000")


def fill(sheet: Sheet) -> None:
    """Run what is missing and write tables, figures and verdicts."""
    kinds = (("pairs", PAIRS), ("triplets", TRIPLETS))
    run(every_draw(THESIS_SETS, kinds[:1], WITH_PAIRS), "figure 3.2: pairs")
    run(every_draw(THESIS_SETS, kinds[1:], WITH_TRIPLETS), "figure 3.3: triplets")
    run(every_draw(THESIS_SETS, (("pairs", EQUAL_PAIRS),), ("DC", "ours")), "figure 3.8: equal instances")
    found = run(every_draw(THESIS_SETS, PEERS_AT, PEERS), "peers")
    draws = {
        f"{method}, {kind}": [len(values(found, name, kind, share, method, "f")) for name in THESIS_SETS]
        for kind, share in (("pairs", 0.2), ("triplets", 0.1))
        for method in ("DC", "ours")
    }
    sheet.notes += [
        "Protocol of 3.3: random pairs or triplets answered by the truth, standardised rows, pairwise F against the "
        "true classes, mean and standard error over draws. Draws on the seven sets, in the order of the tables: "
        f"{_listed(draws)} (the thesis has 20; set RELATIONS_DRAWS). "
        "Flower and Birdsong v2 are not public in this form and are missing.",
        "DC is `DiscriminativeClustering(objective='variational')`, the thesis' method, **untuned** (tau = 1, lambda = "
        "2^-6, the middle of its grid; the thesis chooses both by cross-validation over answers); DC hard has eps = 0, "
        "DC without none leaves out triplets answered none (DC-R-C). Metrics are followed by k-means with 10 starts "
        "(the thesis: 50). ours is `DiscriminativeClustering()` with its defaults. k-means sees no answers.",
    ]
    _tables(sheet, found)
    _verdicts(sheet, found)
    sheet.figure(_curves(found, "pairs", PAIRS, WITH_PAIRS), "Figure 3.2: pairwise F over the number of pairs")
    sheet.figure(
        _curves(found, "triplets", TRIPLETS, WITH_TRIPLETS), "Figure 3.3: pairwise F over the number of triplets"
    )
    sheet.figure(_equal(found), "Figure 3.8: pairs (1.5 a triplet) against triplets, as many rows in answers")


def _listed(draws: dict[str, list[int]]) -> str:
    return "; ".join(f"{what}: {', '.join(map(str, counts))}" for what, counts in draws.items())


def _tables(sheet: Sheet, found: dict[str, Any]) -> None:
    for kind, shares, methods in (("pairs", PAIRS, WITH_PAIRS), ("triplets", TRIPLETS, WITH_TRIPLETS)):
        for name in THESIS_SETS:
            rows = [
                (method, *(_cell(found, name, kind, share, method) for share in shares))
                for method in (*methods, *PEERS)
                if any(len(values(found, name, kind, share, method)) for share in shares)
            ]
            header = ("method", *(f"{share:g}N" for share in shares))
            sheet.section(f"Pairwise F, {kind}: {TITLES[name]}", header, rows)
    rows = [
        (TITLES[name], *(_cell(found, name, kind, share, "DC") for kind, share in _equal_columns()))
        for name in THESIS_SETS
    ]
    header = ("set", *(f"{share:g}N {kind}" for kind, share in _equal_columns()))
    sheet.section("Equal instances (figure 3.8): pairwise F of DC", header, rows)


def _equal_columns() -> list[tuple[str, float]]:
    return [
        column
        for t, p in zip(TRIPLETS, EQUAL_PAIRS)
        if t in (0.1, 0.2, 0.3)
        for column in (("pairs", p), ("triplets", t))
    ]


def _cell(found: dict[str, Any], name: str, kind: str, share: float, method: str) -> str:
    refused = refusals(found, name, kind, share, method)
    return written(values(found, name, kind, share, method, "f")) + (f" ({refused} refused)" if refused else "")


def _verdicts(sheet: Sheet, found: dict[str, Any]) -> None:
    """Say of every claim whether it holds, by means over all numbers of answers, the same draws for both sides."""

    def against(
        claim: str,
        kind: str,
        shares: Sequence[float],
        better: str,
        worse: Sequence[str],
        sets: Sequence[str] = THESIS_SETS,
        slack: float = 0.0,
    ) -> None:
        gaps = {name: _least_gap(found, name, kind, shares, better, worse) for name in sets}
        known = [name for name, gap in gaps.items() if gap is not None]
        fails = [f"{TITLES[name]} ({gaps[name]:+.3f})" for name in known if (gaps[name] or 0.0) < -slack]
        sheet.row(
            claim,
            f"on {len(known) - len(fails)} of {len(known)} sets" + (f"; not on {', '.join(fails)}" if fails else ""),
            "all sets",
            not fails,
        )

    rivals_p, rivals_t = ("Xing", "ITML", "constrained EM"), ("LSML", "SSSVaD", "sparse LP")
    against(
        "3.3.3: DC-P comparable to or above Xing, ITML, constrained EM (within .02)",
        "pairs",
        PAIRS,
        "DC",
        rivals_p,
        slack=0.02,
    )
    against("3.3.3: DC-R above LSML, SSSVaD, sparse LP", "triplets", TRIPLETS, "DC", rivals_t)
    against("3.3.3: DC-R-C above LSML, SSSVaD, sparse LP", "triplets", TRIPLETS, "DC without none", rivals_t)
    against("3.3.3: answers none help: DC-R at least DC-R-C", "triplets", TRIPLETS, "DC", ("DC without none",))
    against(
        "3.3.4: soft at least hard, pairs, sets with more than two classes", "pairs", PAIRS, "DC", ("DC hard",), SEVERAL
    )
    against("3.3.4: soft at least hard, triplets, the same sets", "triplets", TRIPLETS, "DC", ("DC hard",), SEVERAL)
    against("ours above every method of the thesis, pairs", "pairs", PAIRS, "ours", (*rivals_p, "DC"))
    against("ours above every method of the thesis, triplets", "triplets", TRIPLETS, "ours", (*rivals_t, "DC"))
    for method in ("DC", "ours"):
        gaps = {name: _equal_gap(found, name, method) for name in THESIS_SETS}
        known = [name for name, gap in gaps.items() if gap is not None]
        fails = [f"{TITLES[name]} ({gaps[name]:+.3f})" for name in known if (gaps[name] or 0.0) < 0]
        sheet.row(
            f"figure 3.8: triplets above pairs with as many rows in answers, {method} (the thesis: most sets, not HJA)",
            f"on {len(known) - len(fails)} of {len(known)} sets" + (f"; not on {', '.join(fails)}" if fails else ""),
            "most sets",
            2 * len(fails) < len(known),
        )


def _least_gap(
    found: dict[str, Any], name: str, kind: str, shares: Sequence[float], better: str, worse: Sequence[str]
) -> float | None:
    """Return how far a method is ahead of the best of others, over the draws that both have."""
    least = []
    for rival in worse:
        gaps = []
        for share in shares:
            a, b = (values(found, name, kind, share, method, "f") for method in (better, rival))
            n = min(len(a), len(b))
            if n:
                gaps.append(float(a[:n].mean() - b[:n].mean()))
        if gaps:
            least.append(float(np.mean(gaps)))
    return min(least) if least else None


def _equal_gap(found: dict[str, Any], name: str, method: str) -> float | None:
    """Return how far triplets are ahead of pairs, over the numbers of answers that have both."""
    gaps = []
    for t, p in zip(TRIPLETS, EQUAL_PAIRS):
        triplets, pairs = values(found, name, "triplets", t, method, "f"), values(found, name, "pairs", p, method, "f")
        n = min(len(triplets), len(pairs))  # the same draws of both
        if n:
            gaps.append(float(triplets[:n].mean() - pairs[:n].mean()))
    return float(np.mean(gaps)) if gaps else None


def _curves(found: dict[str, Any], kind: str, shares: Sequence[float], methods: Sequence[str]) -> Any:
    def draw(ax: Any, name: str) -> None:
        for method, colour in zip(methods, COLOURS):
            _curve(ax, [values(found, name, kind, share, method, "f") for share in shares], shares, method, colour)

    return _panels(draw, f"{kind} / N")


def _equal(found: dict[str, Any]) -> Any:
    def draw(ax: Any, name: str) -> None:
        for method, colour in (("DC", "#ee3377"), ("ours", "#000000")):
            for kind, shares, style in (("pairs", EQUAL_PAIRS, "--"), ("triplets", TRIPLETS, "-")):
                numbers = [values(found, name, kind, share, method, "f") for share in shares]
                _curve(ax, numbers, TRIPLETS, f"{method}, {kind}", colour, style)

    return _panels(draw, "triplets / N, or pairs / 1.5N")


def _panels(draw: Any, axis: str) -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(13, 6), layout="constrained")
    axes = drawn.subplots(2, 4).ravel()
    for ax, name in zip(axes, THESIS_SETS):
        draw(ax, name)
        ax.set(title=TITLES[name], xlabel=axis, ylabel="pairwise F")
        ax.grid(alpha=0.3)
    axes[7].axis("off")
    axes[7].legend(*axes[0].get_legend_handles_labels(), loc="center", frameon=False)
    return drawn


def _curve(
    ax: Any, numbers: Sequence[np.ndarray], at: Sequence[float], label: str, colour: str, style: str = "-"
) -> None:
    """Draw means with bands of 95 % where there are several draws."""
    kept = [(x, v) for x, v in zip(at, numbers) if len(v)]
    if not kept:
        return
    x, mean = [k for k, _ in kept], np.array([v.mean() for _, v in kept])
    half = np.array([1.96 * v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for _, v in kept])
    ax.plot(x, mean, style, marker="o", ms=3, color=colour, label=label)
    ax.fill_between(x, mean - half, mean + half, color=colour, alpha=0.12, linewidth=0)
