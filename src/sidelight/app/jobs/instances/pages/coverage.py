"""The page about rows that are named by the lists of their bags."""

from __future__ import annotations

import math
from typing import Any

from sidelight.app.jobs.instances.pages import TERMS as GLOSSARY
from sidelight.app.jobs.instances.pages.novel_groups import novel_sections
from sidelight.app.jobs.instances.result import CoverageResult, Moved
from sidelight.app.jobs.instances.unlisted import SURE
from sidelight.app.jobs.pages.common import MAP_OF_CLUSTERS, choice_section, gallery_sections, map_section
from sidelight.app.report.components import bars, heat, number, percent, table
from sidelight.app.report.page import Page, Section
from sidelight.data.dataset import TORN, Note
from sidelight.words import Sentence, Setting, counted, some_of

_MOST_LABELS = 16  # columns of a shaded table that can be read; beyond it the strongest are listed
TERMS = ("bag", "cluster", "label", "probability", "stands out by", "standard deviation")


def page(result: CoverageResult) -> Page:
    """Say what the clusters hold, what the bags changed, and which bags are hard to explain."""
    return Page(
        "Rows explained by the labels of their bags",
        findings(result),
        [*sections(result), *choice_sections(result)],
        sure=[*how_sure(result), *_choices(result), *_about_the_boundary(result.choice.get("boundary"))],
        next=what_next(result),
        warnings=warnings(result),
        glossary=GLOSSARY,
        terms=terms(result, "held out" if result.choice else "bag"),
    )


def terms(result: CoverageResult, *more: str) -> list[str]:
    """Name the words that the page uses."""
    return [*TERMS, *more, *(["novel"] if result.n_novel_allowed else [])]


def findings(result: CoverageResult) -> list[Sentence]:
    """Say what was found, in three sentences."""
    novel = f", {result.n_novel_used} novel" if result.n_novel_used else ""
    told: list[Sentence] = [
        f"{counted(result.moved.n_rows, 'row')} of {counted(result.n_bags, 'bag')} ({result.n_labelled} labelled) fell "
        f"into {counted(result.n_clusters_used, 'cluster')}: {result.n_labels_found} of "
        f"{counted(result.n_labels, 'label')}{novel}."
    ]
    if result.n_novel_used:
        held = [
            f"{name} ({counted(size, 'row')})"
            for name, size, own in zip(result.contents.names, result.contents.sizes, result.own_labels)
            if own < 0 and size
        ]
        told.append(
            f"{counted(result.n_bags_novel, 'bag holds', 'bags hold')} something that no list names: "
            f"{some_of(held, 4)}."
        )
        if n_empty := result.n_novel_allowed - result.n_novel_used:
            told.append(f"{counted(n_empty, 'further novel cluster')} stayed empty: no row asks for more.")
    elif result.n_novel_allowed:
        allowed = counted(result.n_novel_allowed, "novel cluster was", "novel clusters were")
        told.append(f"{allowed} allowed, but the lists explain every row.")
    sizes = sorted(zip(result.contents.sizes, result.contents.names), key=lambda pair: -pair[0])
    size, name = sizes[0]
    told.append(f"The largest cluster is {name}, with {percent(size / result.moved.n_rows)} of the rows.")
    return told


def how_sure(result: CoverageResult) -> list[Sentence]:
    """Say how sure the rows are, and how much the bags mattered."""
    moved = result.moved
    sure = f"{percent(result.share_sure)} of the rows are sure of their cluster (probability above 90%)."
    if not moved.n_moved:
        return [
            sure,
            *_about_unlisted(result.unlisted),
            "The labels of the bags changed no name: by its features alone every row is called the same.",
        ]
    return [
        sure,
        f"The labels of the bags changed the name of {counted(moved.n_moved, 'row')} "
        f"({percent(moved.n_moved / moved.n_rows)}); the others are called the same by their features alone.",
        *_about_unlisted(result.unlisted),
    ]


def _about_unlisted(p_value: float | None) -> list[Sentence]:
    """Say whether held-out lists ask for a kind that nobody listed, where they were asked."""
    if p_value is None:
        return []
    if p_value < SURE:
        return [f"Held-out lists are explained better with a kind that nobody listed ({_p(p_value)})."]
    return [f"Nothing speaks for a kind that nobody listed ({_p(p_value)}): a novel cluster would only cost accuracy."]


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def what_next(result: CoverageResult) -> list[Sentence]:
    """Say what to do next."""
    told: list[Sentence] = []
    if result.n_novel_used:
        told.append(
            [
                "Look at the novel clusters, and give them names in a new run: ",
                Setting("names", {"novel-1": "NAME"}),
                "; the model keeps them, and no list need be edited.",
            ]
        )
    if result.moved.n_moved:
        told.append(
            "Check the rows that the bags changed, and the bags that are hard to explain: wrong labels hide there."
        )
    if result.unlisted is not None and result.unlisted < SURE:
        told.append(
            ["Some rows are of no listed kind, held-out lists say: allow a cluster for them with ",
             Setting("n_novel", 1), ", and compare."]
        )  # fmt: skip
    elif not result.n_novel_allowed and result.unlisted is None:
        told.append(
            ["Is something missing from the lists? Allow clusters that no list names with ", Setting("n_novel"), "."]
        )
    return told


def warnings(result: CoverageResult) -> list[Sentence]:
    """Say what is odd about the lists."""
    told: list[Sentence] = []
    if result.uncovered:
        bag, labels = result.uncovered[0]
        n_short = len(result.uncovered)
        told.append(
            f"{counted(n_short, 'bag has', 'bags have')} more labels than rows that could carry them"
            + (f": {bag}" if n_short == 1 else f", for example {bag}")
            + f"; left without a row: {', '.join(map(str, labels)) or 'none'}. Check the lists of these bags."
        )
    notes = result.reading.notes
    return [*told, *(f"In this table {note}." for note in notes if isinstance(note, Note) and note.code == TORN)]


def _choices(result: CoverageResult) -> list[Sentence]:
    return [
        f"{_WORDS.get(name, name).capitalize()} {choice['chosen']:g} was chosen: it explains held-out lists best."
        for name, choice in numbers(result).items()
    ]


_WORDS = {
    "n_novel": "a number of novel clusters of",
    "penalty": "a penalty of",
    "n_subclusters": "a number of subclusters of",
}


def numbers(result: CoverageResult) -> dict[str, Any]:
    """Return the numbers that were chosen; the boundary is no number."""
    return {name: choice for name, choice in result.choice.items() if name != "boundary"}


def _about_the_boundary(choice: Any) -> list[Sentence]:
    """Say whether boundaries between clusters bend, and what held-out lists gained by it."""
    if not choice:
        return []
    if not choice["scores"]:
        return [f"Boundaries between clusters are straight: {choice['note']}."]
    straight, curved = choice["scores"]
    verb = "bend" if choice["chosen"] == "curved" else "are straight"
    better = math.exp(abs(curved - straight))
    winner = "curved" if curved > straight else "straight"
    return [
        f"Boundaries between clusters {verb}: a held-out list is {better:.2g} times as likely with {winner} ones."
        if better >= 1.05  # less than a twentieth is no difference that a reader should act on
        else f"Boundaries between clusters {verb}: straight and curved ones explain held-out lists equally well."
    ]


def sections(result: CoverageResult) -> list[Section]:
    """Show the clusters, what the bags changed, and the bags themselves."""
    return [
        _clusters(result),
        *gallery_sections(result),
        map_section(result.map, MAP_OF_CLUSTERS),
        *novel_sections(result),
        *_together(result),
        *_changed(result),
        _bags(result),
    ]


def _clusters(result: CoverageResult) -> Section:
    contents = result.contents
    order = sorted((k for k, size in enumerate(contents.sizes) if size), key=lambda k: -contents.sizes[k])
    drawn = bars(
        [contents.names[k] for k in order],
        [contents.sizes[k] for k in order],
        "Clusters by number of rows.",
        name_title="cluster",
        value_title="rows",
        colours=order,
        tips=[
            f"{contents.names[k]}: {number(contents.sizes[k])} rows in {counted(contents.n_bags[k], 'bag')}, most in "
            f"{some_of(contents.bags[k], 3)}"
            for k in order
        ],
    )
    told = "A cluster bears the name of its label; novel ones hold rows that no label of their bag explains."
    caption = "The same in figures, with the features that each cluster stands out by, in standard deviations."
    return Section(
        "The clusters",
        [told],
        [drawn, table(result.tables["clusters"], caption, percents=("share",), file="clusters.csv")],
    )


def _together(result: CoverageResult) -> list[Section]:
    """Show which other labels the bags of a cluster list; its own label is there by construction, and left out."""
    used = [k for k, size in enumerate(result.contents.sizes) if size]
    names = [result.contents.names[k] for k in used]
    shares = result.label_shares[used]
    if len(result.labels) < 2 or not len(used):
        return []
    told = (
        "How often the bags of a cluster's rows list other labels: two that are always listed together are hard to "
        "tell apart."
    )
    if len(result.labels) <= _MOST_LABELS:
        own = [(row, result.own_labels[k]) for row, k in enumerate(used) if result.own_labels[k] >= 0]
        caption = "Percent of a cluster's rows that are in bags which list a label (its own is left out)."
        return [
            Section(
                "What is listed together",
                [told],
                [heat(shares, names, result.labels, caption, row_title="cluster", skip=own)],
            )
        ]
    rows: dict[str, list[Any]] = {"cluster": names, "often listed with": []}
    for row, k in enumerate(used):
        order = [j for j in (-shares[row]).argsort(kind="stable").tolist() if j != result.own_labels[k]][:3]
        rows["often listed with"].append(
            ", ".join(f"{result.labels[j]} {percent(float(shares[row, j]))}" for j in order)
        )
    return [
        Section("What is listed together", [told], [table(rows, "The three labels that bags of a cluster list most.")])
    ]


def _changed(result: CoverageResult) -> list[Section]:
    moved = result.moved
    told = _what_changed(moved)
    changed = [i for i in range(len(moved.rows)) if str(moved.before[i]) != str(moved.after[i])]
    if not changed:
        return [Section("What the bags changed", [told])]
    columns = {
        "row": [moved.rows[i] for i in changed],
        "by features alone": [str(moved.before[i]) for i in changed],
        "with the bag's labels": [str(moved.after[i]) for i in changed],
        "moved": [float(moved.moved[i]) for i in changed],
    }
    caption = "The rows that moved most, and how much of their probability moved."
    return [
        Section("What the bags changed", [told], [table(columns, caption, percents=("moved",), file="assignments.csv")])
    ]


def _what_changed(moved: Moved) -> str:
    if not moved.n_moved:
        return "No row would be called anything else without its bag's labels: features and lists agree."
    return (
        f"{moved.n_moved} of {moved.n_rows} rows would be called something else without their bag's labels: look here "
        "first for wrong labels and for labels that sound or look alike."
    )


def _bags(result: CoverageResult) -> Section:
    """Show the bags, the hardest first; a log likelihood becomes the probability that one label is told rightly."""
    shown = dict(result.tables["bags"])
    fit = shown.pop("log likelihood", None)
    if fit is not None:
        shown["labels explained"] = [math.exp(min(0.0, float(v)) / max(result.n_labels, 1)) for v in fit]
    else:
        shown["labels explained"] = shown.pop("labels told rightly")
    caption = (
        "What each bag lists, what its rows say by their features alone, and the average probability that a label is "
        "explained rightly."
    )
    told = "Bags at the top are the hardest to explain: a wrong or forgotten label often hides there."
    return Section(
        "The bags", [told], [table(shown, caption, most=25, percents=("labels explained",), file="bags.csv")]
    )


def choice_sections(result: CoverageResult) -> list[Section]:
    """Show how numbers were chosen."""
    shown: list[Section] = []
    for name, choice in numbers(result).items():
        told = "The smallest number within one standard error (the band) of the best is taken."
        if name == "penalty":
            told = "The penalty under which held-out lists are most likely is taken."
        shown += choice_section(
            f"How {name} was "
            "chosen", told, choice, "How well lists that were held out are explained; higher is better.",
            x_title=name, y_title="log likelihood of a held-out list",
        )  # fmt: skip
    return shown
