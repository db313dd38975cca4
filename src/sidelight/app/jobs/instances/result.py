"""What the methods of the instances job found, rows named by the lists of their bags, and the pages about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.app.jobs.page import MAP_OF_CLUSTERS, choice_section, gallery_sections, is_flat, map_section, table_of
from sidelight.app.jobs.reliability import about_pairs, about_taken, in_shares, reliability_section, sure_and_right
from sidelight.app.jobs.result import Map, Result, big, if_known
from sidelight.app.report.components import Markup, bars, folded, heat, histogram, number, percent, table
from sidelight.app.report.page import Page, Section
from sidelight.data.dataset import TORN, Note
from sidelight.words import Sentence, Setting, counted, present, some_of

SURE = 0.01  # p-value of "every row is of a listed kind" below which a novel cluster is suggested
_MOST_LABELS = 16  # columns of a shaded table that can be read; beyond it the strongest are listed
_HALF = 0.5  # novelty above which a row is rather novel than known
_TOO_MANY = 0.5  # share of multi-label bags in one cluster from which the page warns
_TERMS = ("bag", "cluster", "label", "stands out by", "standard deviation")
_GLOSSARY = {
    "novel": "Not named by any list: rows that no label of their bag explains.",
    "weight of the bags": "How strongly shared bags pull rows together, against their features (the parameter alpha).",
}
_OF_LISTS = ("log likelihood", "labels told rightly")
_SMALLEST = "The smallest number within one standard error (the band) of the best is taken."


@dataclass(frozen=True, eq=False)
class Contents:
    """Clusters with their surest rows, and the bags that hold most of their rows."""

    names: Sequence[str]
    sizes: Sequence[int]
    typical: Sequence[Sequence[Any]]
    bags: Sequence[Sequence[Any]]
    n_bags: Sequence[int]


@dataclass(frozen=True, eq=False)
class Moved:
    """The rows that the labels of their bags moved most, and how many changed their name at all."""

    rows: Sequence[Any]
    before: Sequence[Any]
    after: Sequence[Any]
    moved: Sequence[float]
    n_moved: int
    n_rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class CoverageResult(Result):
    """Rows named by the lists of their bags and, with some methods, by their structure where no list names them."""

    n_bags: int
    n_labelled: int
    n_labels: int
    n_labels_found: int
    n_clusters_used: int
    n_novel_allowed: int
    n_novel_used: int
    n_bags_novel: int
    share_sure: float  # of the rows whose list leaves a choice
    n_given: int  # rows whose list has one label, and no novel cluster was allowed
    choice: Mapping[str, Mapping[str, Any]]
    uncovered: Sequence[tuple[Any, Sequence[Any]]]
    contents: Contents
    moved: Moved
    label_shares: np.ndarray
    labels: Sequence[Any]
    own_labels: Sequence[int]  # the label of each cluster, -1 for novel ones
    nearest: Mapping[str, Sequence[tuple[Any, str, float]]]  # of each novel cluster: rows, their names, distances
    novelty: Mapping[str, np.ndarray] = big()  # by features alone, of the rows that end in known and in novel clusters
    map: Map = big()
    calibration: Mapping[str, Any] | None = if_known()  # how right rows are that are sure, by held-out lists
    together: Sequence[tuple[str, str]] = ()  # labels that are nearly always on the same lists
    unlisted: float | None = None  # the p-value of "every row is of a listed kind", where it was asked
    unlisted_of_lists: float | None = None  # the same by lists alone, whether or not rows are explained better
    novel_harms: bool = False  # whether rows would be explained worse with a novel cluster
    novel_takes: Sequence[tuple[str, float]] = ()  # shares of named kinds that a novel cluster takes, or would take
    noise: Sequence[str] | None = if_known()  # novel labels with too few rows; of methods that go by structure
    objective: Sequence[float] | None = if_known()  # of the same: before the first round and after the last

    def page(self) -> Page:
        """Say what the clusters hold, what the bags changed, and which bags are hard to explain."""
        by_structure = self.noise is not None
        chosen = {name: choice for name, choice in self.choice.items() if name != "boundary"}
        more = ["held out", "standard error"] if by_structure else ["held out"]
        return Page(
            "Known and novel labels of rows" if by_structure else "Rows explained by the labels of their bags",
            _findings(self),
            [
                _clusters(self),
                *gallery_sections(self),
                map_section(self.map, MAP_OF_CLUSTERS),
                *_novel_clusters(self),
                *reliability_section(self.calibration),
                _changed(self.moved),
                _bags(self),
                *_listed_together(self),
                *_curves(chosen, by_structure=by_structure),
            ],
            sure=[*_how_sure(self), *_about_choices(chosen, by_structure=by_structure)],
            next=_next(self),
            warnings=_warnings(self),
            glossary=_GLOSSARY,
            terms=present(
                *_TERMS,
                "probability",
                *(more if self.choice or self.calibration else []),
                "novel" if self.n_novel_allowed else None,
            ),
        )


def _findings(found: CoverageResult) -> list[Sentence]:
    """Say what was found, in three sentences; before them, that a kind is on no list."""
    n_rows, contents = found.moved.n_rows, found.contents
    novel = [
        f"{name} ({counted(size, 'row')})"
        for name, size, own in zip(contents.names, contents.sizes, found.own_labels)
        if own < 0 and size
    ]
    n_empty = found.n_novel_allowed - found.n_novel_used
    size, name = max(zip(contents.sizes, contents.names), key=lambda pair: pair[0])
    return present(
        [
            "Something here is on no list, and was given the names of other kinds: find it with ",
            Setting("n_novel", 1),
            ".",
        ]
        if found.unlisted is not None and found.unlisted < SURE
        else None,
        f"{counted(n_rows, 'row')} of {counted(found.n_bags, 'bag')} ({found.n_labelled} labelled) fell into "
        f"{counted(found.n_clusters_used, 'cluster')}: {found.n_labels_found} of {counted(found.n_labels, 'label')}"
        f"{f', {found.n_novel_used} novel' if found.n_novel_used else ''}.",
        f"{counted(found.n_bags_novel, 'bag holds', 'bags hold')} something that no list names: {some_of(novel, 4)}."
        if found.n_novel_used
        else None,
        f"{counted(n_empty, 'further novel cluster')} stayed empty: no row asks for more."
        if found.n_novel_used and n_empty
        else None,
        f"{counted(found.n_novel_allowed, 'novel cluster was', 'novel clusters were')} allowed, but no row lies in one."
        if found.n_novel_allowed and not found.n_novel_used
        else None,
        f"The largest cluster is {name}, with {percent(size / n_rows)} of the rows.",
    )


def _how_sure(found: CoverageResult) -> list[Sentence]:
    """Say how sure the rows are, how much the bags mattered, and whether a kind is missing from the lists."""
    moved, p_value = found.moved, found.unlisted
    unlisted = None
    if p_value is not None:
        p = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
        takes = f": {in_shares(found.novel_takes)}" if found.novel_takes else ""
        if p_value < SURE:
            harms = f" But a novel cluster would take rows of named kinds, too{takes}." if found.novel_harms else ""
            unlisted = f"Held-out lists are explained better with a kind that nobody listed ({p}).{harms}"
        elif found.unlisted_of_lists is not None and found.unlisted_of_lists < SURE:
            unlisted = f"Some rows fit no list, but a novel cluster would take rows of named kinds{takes}."
        else:
            unlisted = f"Nothing speaks for a kind that nobody listed ({p}): held-out lists are told no better with it."
    return present(
        _sure_rows(found),
        *sure_and_right(found.calibration),
        about_pairs(found.together) if found.calibration is not None else None,
        about_taken(found.novel_takes, found.calibration),
        f"The labels of the bags changed the name of {counted(moved.n_moved, 'row')} "
        f"({percent(moved.n_moved / moved.n_rows)}); the others are called the same by their features alone."
        if moved.n_moved
        else None,
        unlisted,
        None
        if moved.n_moved
        else "The labels of the bags changed no name: by its features alone every row is called the same.",
    )


def _sure_rows(found: CoverageResult) -> Sentence:
    """Say how many rows are sure, of those that could be called otherwise."""
    n_open = found.moved.n_rows - found.n_given
    if not n_open:
        return "Every list has one label, so that its rows bear this name whatever they look like: that is no finding."
    which = f"the {counted(n_open, 'row')} whose list leaves a choice" if found.n_given else "the rows"
    return f"{percent(found.share_sure)} of {which} are sure of their cluster (probability above 90%)."


def _next(found: CoverageResult) -> list[Sentence]:
    """Say what to do next."""
    return present(
        ["Look at the novel clusters, and give them names in a new run: ", Setting("names", {"novel-1": "NAME"}),
         "; the model keeps them, and no list need be edited."]
        if found.n_novel_used
        else None,
        "Check the rows that the bags changed, and the bags that are hard to explain: wrong labels hide there."
        if found.moved.n_moved
        else None,
        ["Is something missing from the lists? Allow clusters that no list names with ", Setting("n_novel"), "."]
        if found.unlisted is None and not found.n_novel_allowed
        else None,
    )  # fmt: skip


def _warnings(found: CoverageResult) -> list[Sentence]:
    """Say which novel labels may be noise, and what is odd about the lists."""
    told: list[Sentence] = []
    if found.noise:
        told.append(
            f"{counted(len(found.noise), 'novel label has', 'novel labels have')} too few rows to be believed and may "
            f"be noise: {', '.join(found.noise)}. Look at its rows before you name it."
        )
    if found.uncovered:
        (bag, labels), n_short = found.uncovered[0], len(found.uncovered)
        told.append(
            f"{counted(n_short, 'bag has', 'bags have')} more labels than rows that could carry them"
            f"{':' if n_short == 1 else ', for example'} {bag}; left without a row: "
            f"{', '.join(map(str, labels)) or 'none'}. Check the lists of these bags."
        )
    notes = found.reading.notes
    return [*told, *(f"In this table {note}." for note in notes if isinstance(note, Note) and note.code == TORN)]


def _about_choices(chosen: Mapping[str, Mapping[str, Any]], *, by_structure: bool) -> list[Sentence]:
    """Say which numbers were chosen."""
    if by_structure:
        return [
            f"{counted(choice['chosen'], 'novel label')} were allowed: with that number the known labels of held-out "
            "bags are told best."
            for choice in chosen.values()
        ]
    words = {
        "n_novel": "A number of novel clusters of",
        "penalty": "A penalty of",
        "n_subclusters": "A number of subclusters of",
    }
    return [
        f"{words.get(name, name.capitalize())} {choice['chosen']:g} was chosen: it explains held-out lists best."
        for name, choice in chosen.items()
    ]


def _clusters(found: CoverageResult) -> Section:
    contents = found.contents
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
        "The clusters", [told], [drawn, folded("In figures", table_of(found, "clusters", caption, percents=("share",)))]
    )


def _novel_clusters(found: CoverageResult) -> list[Section]:
    """Show the rows nearest to each novel cluster, and how well features alone tell its rows from known ones."""
    if not found.nearest:
        return []
    lines = [(name, *line) for name, nearest in found.nearest.items() for line in nearest]
    titles = ("novel cluster", "row", "is called", "distance")
    rows = {title: [line[place] for line in lines] for place, title in enumerate(titles)}
    caption = "The rows nearest to the centre of each novel cluster, in standard deviations of a feature."
    shown = [table(rows, caption, most=40, file="assignments.csv")]
    told = "Look at these rows to name a novel cluster; a neighbour that is called otherwise may belong to it."
    known, novel = found.novelty["known"], found.novelty["novel"]
    if len(known) and len(novel):
        apart = (
            f"By features alone, {percent(float((novel > _HALF).mean()))} of the rows in novel clusters and "
            f"{percent(float((known > _HALF).mean()))} of the others are rather novel than known."
        )
        groups = {"in known clusters": known.tolist(), "in novel clusters": novel.tolist()}
        shown.append(
            histogram(
                groups, "The novelty of rows by their features alone, coloured by where they ended.", alt=apart,
                x_title="novelty", y_title="rows", marked=_HALF, mark_name="as likely as not",
            )
        )  # fmt: skip
        told = f"{told} {apart}"
    return [Section("The novel clusters", [told], shown)]


def _listed_together(found: CoverageResult) -> list[Section]:
    """Show which other labels the bags of a cluster list; its own label is there by construction, and left out."""
    used = [k for k, size in enumerate(found.contents.sizes) if size]
    if len(found.labels) < 2 or not used:
        return []
    names, shares = [found.contents.names[k] for k in used], found.label_shares[used]
    own = [found.own_labels[k] for k in used]
    drawn: Markup
    if len(found.labels) <= _MOST_LABELS:
        caption = "Percent of a cluster's rows that are in bags which list a label (its own is left out)."
        skip = [(row, label) for row, label in enumerate(own) if label >= 0]
        drawn = heat(shares, names, found.labels, caption, row_title="cluster", skip=skip)
    else:
        strongest = [[j for j in np.argsort(-of, kind="stable").tolist() if j != k][:3] for of, k in zip(shares, own)]
        often = [
            ", ".join(f"{found.labels[j]} {percent(float(of[j]))}" for j in best) for of, best in zip(shares, strongest)
        ]
        rows = {"cluster": names, "often listed with": often}
        drawn = table(rows, "The three labels that bags of a cluster list most.")
    told = (
        "How often the bags of a cluster's rows list other labels: two that are always listed together are hard to "
        "tell apart."
    )
    return [Section("What is listed together", [told], [drawn])]


def _changed(moved: Moved) -> Section:
    told = (
        f"{moved.n_moved} of {moved.n_rows} rows would be called something else without their bag's labels: look here "
        "first for wrong labels and for labels that sound or look alike."
        if moved.n_moved
        else "No row would be called anything else without its bag's labels: features and lists agree."
    )
    changed = [i for i in range(len(moved.rows)) if str(moved.before[i]) != str(moved.after[i])]
    columns = {
        "row": [moved.rows[i] for i in changed],
        "by features alone": [str(moved.before[i]) for i in changed],
        "with the bag's labels": [str(moved.after[i]) for i in changed],
        "moved": [float(moved.moved[i]) for i in changed],
    }
    caption = "The rows that moved most, and how much of their probability moved."
    shown = [table(columns, caption, percents=("moved",), file="assignments.csv")] if changed else []
    return Section("What the bags changed", [told], shown)


def _bags(found: CoverageResult) -> Section:
    """Show the bags, the hardest first; a log likelihood becomes the probability that one label is told rightly."""
    known = ("bag", "rows", "labels", "by features alone", "missing", "too many", *_OF_LISTS)
    shown = {name: cells for name, cells in found.tables["bags"].items() if name in known}
    if "log likelihood" in shown:
        of_list = shown.pop("log likelihood")
        shown["labels explained"] = [math.exp(min(0.0, float(v)) / max(found.n_labels, 1)) for v in of_list]
    else:
        shown["labels explained"] = shown.pop("labels told rightly")
    for name in ("labels", "by features alone", "missing", "too many"):
        shown[name] = [cell.replace("|", ", ") for cell in shown[name]]
    caption = (
        "What each bag says, what its rows say by their features alone, which labels they lack and which they have too "
        "many of, and the average probability that a label is explained rightly."
    )
    n_apart = sum(bool(a or b) for a, b in zip(shown["missing"], shown["too many"]))
    told = "Bags at the top are the hardest to explain: a wrong or forgotten label often hides there."
    if n_apart:
        told += f" In {counted(n_apart, 'bag')} what was said and what is found differ."
    drawn = table(shown, caption, most=25, percents=("labels explained",), file="bags.csv")
    return Section("The bags", [told], [drawn])


def _curves(chosen: Mapping[str, Mapping[str, Any]], *, by_structure: bool) -> list[Section]:
    """Show how numbers were chosen."""
    shown: list[Section] = []
    for name, choice in chosen.items():
        told = "The penalty under which held-out lists are most likely is taken." if name == "penalty" else _SMALLEST
        if name == "penalty" and (note := choice.get("note")):
            told += f" Here {note}."
        title = f"How {name} was chosen"
        if by_structure:
            caption = "Share of the known labels of held-out bags that is told rightly."
            shown += choice_section(
                title, told, choice, caption, x_title="novel labels allowed", y_title="labels told rightly",
                is_share=True,
            )  # fmt: skip
        else:
            caption = "How well lists that were held out are explained; higher is better."
            y_title = "log likelihood of a held-out list"
            shown += choice_section(title, told, choice, caption, x_title=name, y_title=y_title)
    return shown


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectralResult(Result):
    """Clusters of the rows of labelled bags, read by the labels."""

    n_bags: int
    n_labelled: int
    classes: Sequence[Any]
    names: Sequence[str]
    sizes: Sequence[int]
    shares: np.ndarray
    clusters_of: Mapping[Any, Sequence[int]]
    n_mixed: int
    disagreeing: Sequence[tuple[Any, int]]
    share_in_one_cluster: float | None
    alpha: float
    alpha_search: Mapping[str, Any]
    notes: Sequence[str] = ()
    map: Map = big()

    def page(self) -> Page:
        """Say which classes have clusters, what the clusters are made of, and how the bags were weighed."""
        n_classes = len(self.classes)
        mixed: Sentence = [
            f"{counted(self.n_mixed, 'cluster is', 'clusters are')} mixed: no class makes up half. Ask for more "
            "clusters with ", Setting("n_clusters"), ".",
        ]  # fmt: skip
        return Page(
            "Clusters of rows in labelled bags",
            [
                f"{counted(self.reading.n_rows, 'row')} of {counted(self.n_bags, 'bag')} ({self.n_labelled} labelled, "
                f"{counted(n_classes, 'class', 'classes')}) fell into "
                f"{counted(int(np.count_nonzero(self.sizes)), 'cluster')}.",
                *_classes_found(self),
            ],
            _cluster_sections(self),
            sure=present(_in_one_cluster(self) if n_classes else None, _about_alpha(self)),
            next=present(
                f"In {len(self.disagreeing)} of {self.n_labelled} labelled bags some rows lie in a cluster of a class "
                f"not named there ({some_of([name for name, _ in self.disagreeing], 3)}): a label was forgotten, or a "
                "row misplaced. Look at these bags first."
                if self.disagreeing
                else None,
                ["More clusters than classes show the ways in which a class varies: ", Setting("n_clusters"), "."],
            ),
            warnings=[*([mixed] if n_classes and self.n_mixed else []), *self.notes],
            glossary=_GLOSSARY,
            terms=[*_TERMS, *(["F1", "weight of the bags"] if self.alpha_search else [])],
        )


def _classes_found(found: SpectralResult) -> list[Sentence]:
    """Say which classes have clusters, the largest first, and which have none."""
    clusters = {c: ks for c, ks in found.clusters_of.items() if ks}
    size = {c: sum(found.sizes[k] for k in ks) for c, ks in clusters.items()}
    missed = [str(c) for c in found.classes if c not in clusters]
    told = [
        f"{c} ({counted(size[c], 'row')}{f' in {len(clusters[c])} clusters' if len(clusters[c]) > 1 else ''})"
        for c in sorted(clusters, key=lambda c: -size[c])
    ]
    own = "has a cluster of its own" if len(told) == 1 else "have clusters of their own"
    return present(
        f"{len(told)} of {len(found.classes)} classes {own}: {some_of(told, 6)}." if told else None,
        f"None was found for {some_of(missed, 6)}." if missed else None,
    )


def _in_one_cluster(found: SpectralResult) -> Sentence | None:
    share, n_clusters, n_classes = found.share_in_one_cluster, len(found.names), len(found.classes)
    if share is None:
        return None
    told = f"{percent(share)} of the bags with several labels ended wholly in one cluster"
    if n_clusters < n_classes:
        return f"{told}; with {counted(n_clusters, 'cluster')} for {n_classes} classes some have to."
    if share <= _TOO_MANY:
        return f"{told} (in truth none does)."
    too_many = f"{told} (in truth none does). That is far too many: the bags outweigh the features. Try a smaller "
    return [too_many, Setting("alpha"), "."]


def _about_alpha(found: SpectralResult) -> Sentence | None:
    search = found.alpha_search
    if not search:
        shaped_nothing = found.alpha == 0 and found.classes
        return "Bags only name the clusters; they did not shape them." if shaped_nothing else None
    told = f"The clusters carry the bags' labels with an F1 of {percent(max(search['agreement']))}"
    n_tried = len(search["alpha"])
    if is_flat(search["agreement"]):
        return f"{told}, however strongly bags are weighed; the smallest of {n_tried} weights was kept."
    return f"{told}, the best of {n_tried} weights of the bags that were tried."


def _cluster_sections(found: SpectralResult) -> list[Section]:
    order = np.lexsort((np.arange(len(found.names)), np.asarray(found.names)))  # clusters of one class together
    made_of = heat(
        found.shares[order], [found.names[k] for k in order], found.classes, "Percent of each class in each cluster.",
        row_title="cluster",
    ) if found.classes else None  # fmt: skip
    nobody = "Nobody labelled a row. The shares are those that make the label sets of the bags most likely."
    clusters = dict(found.tables["clusters"])
    for name in ("cluster", "made of", "typical rows"):  # on the page a cluster goes by its name; the rest is above
        clusters.pop(name)
    by_name = {
        "cluster" if column == "name" else column: [values[k] for k in order] for column, values in clusters.items()
    }
    caption = (
        "A cluster is named after the class that makes up at least half of it. A bag disagrees when it has rows in the "
        "cluster but not that label."
    )
    sections = present(
        None if made_of is None else Section("What the clusters are made of", [nobody], [made_of]),
        *gallery_sections(found),
        Section("The clusters one by one", parts=[table(by_name, caption, percents=("share",), file="clusters.csv")]),
        map_section(found.map, "Rows close together are similar and come from like bags."),
    )
    search = found.alpha_search
    if search:
        sections += choice_section(
            "How the weight of the bags was chosen",
            "The weight under which the clusters carry the bags' labels best is taken.",
            {"tried": search["alpha"], "scores": search["agreement"], "chosen": search["chosen"]},
            "How well clusters carry the label sets, over the weight of the bags (alpha).",
            x_title="weight of the bags (alpha)",
            y_title="F1 of the bags' labels",
            is_share=True,
        )
    return sections
