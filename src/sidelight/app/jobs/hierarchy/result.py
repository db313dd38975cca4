"""What the hierarchy job found, the tree behind the labels and the gaps filled, and the page about it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.app.jobs.page import gallery_sections, table_of
from sidelight.app.jobs.result import Result, big
from sidelight.app.report.components import Branch, Markup, bars, folded, percent, table, tree, tree_picture
from sidelight.app.report.page import Page, Section
from sidelight.data.hierarchy import LabelTree
from sidelight.estimators.hierarchy.evidence import NOT_RANDOM
from sidelight.metrics import robinson_foulds
from sidelight.words import Sentence, Setting, counted, present, some_of

WEAK = 3.0  # nats: odds of 20 to 1
_MANY_WEAK = 1 / 3  # share of weak edges that is worth a word
_FEW = 0.05  # share of edges with odd gaps that large true trees have
_SHOWN = 12  # additions shown of the surest, and of the least sure
_TERMS = {
    "evidence": "How much better a link explains the rows than its absence, in nats; from 3 on the odds are 20 to 1.",
}
_LEGEND = {
    "weak": "dashed: could be chance",
    "odd": "the gaps do not look like forgetting",
    "differs": "hangs elsewhere in the file's tree",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class HierarchyResult(Result):
    """The tree behind labels with gaps, and the gaps filled."""

    n_labels: int
    n_seen: int
    n_unlabelled: int
    n_unknown: int
    n_added: int
    n_rows_changed: int
    used_features: bool
    alpha: float
    alpha_range: Sequence[float]  # by features, and alpha; the same where nothing speaks against alpha
    label_alphas: Sequence[float]
    source: str
    depth: int
    n_linked: int
    n_weak: int
    n_tested: int
    n_not_random: int
    extra_parents: Sequence[tuple[str, str, float]]
    obeys_extra_parents: bool
    tree: LabelTree = big()
    declared: LabelTree | None = big(default=None)
    follows_declared: bool = False
    evidence: np.ndarray = big()
    counts: np.ndarray = big()
    gap_p_values: np.ndarray = big()
    completed: np.ndarray = big()

    def page(self) -> Page:
        """Say what was found and filled, draw the tree with its evidence, and list what was added."""
        return Page(
            "The tree behind the labels",
            [
                _shape(self),
                f"{counted(self.n_added, 'label')} were added to {counted(self.n_rows_changed, 'row')}, beside "
                f"{self.n_seen} that were seen.",
            ],
            _sections(self),
            sure=_sure(self),
            next=present(
                ["To learn the tree from the labels instead, say ", Setting("learn_tree", True), "."]
                if self.follows_declared
                else None,
                "Read the tree: a link that makes no sense means labels that merely occur together."
                if self.n_linked and not self.follows_declared
                else None,
                "Check some of the least sure additions; gaps.csv has all of them." if self.n_added else None,
                _further_parents(self) if self.extra_parents else None,
            ),
            warnings=_warnings(self),
            terms=["evidence", "label", "probability"],
            thumbnail=tree_picture(self.tree.parents.tolist(), alt=f"A tree of {self.n_labels} labels."),
            glossary=_TERMS,
        )


def _shape(found: HierarchyResult) -> str:
    """Say what the labels form, and who says so."""
    labels, n = counted(found.n_labels, "label"), found.n_linked
    if found.source == "overlap":
        return f"{labels} form no tree: they occur together, and none implies another."
    whose = "the tree that the table declares" if found.follows_declared else "a tree"
    linked = "none of them implies" if not n else "1 of them implies" if n == 1 else f"{n} of them imply"
    return f"{labels} form {whose} of {counted(found.depth, 'level')}: {linked} another one."


def _sure(found: HierarchyResult) -> list[Sentence]:
    if found.source == "overlap":
        return ["Labels that were not seen are taken for absent: nothing tells a forgotten label from one."]
    n_strong = found.n_linked - found.n_weak
    low, high = found.alpha_range
    share = (
        f"Between {percent(low)} (by features) and {percent(high)} (if all gaps of parents are forgotten labels)"
        if percent(low) != percent(high)
        else f"An estimated {percent(found.alpha)}"
    )
    return present(
        f"{share} of the labels that belong to a row were not seen there.",
        f"{n_strong} of {found.n_linked} links have strong evidence (odds above 20 to 1)." if found.n_linked else None,
        None if found.used_features else "Only the labels were used: rows with the same labels get the same additions.",
    )


def _further_parents(found: HierarchyResult) -> Sentence:
    links = some_of([f"{child!r} under {parent!r}" for parent, child, _ in found.extra_parents], 3)
    if found.obeys_extra_parents:
        return f"Further parents, which the filled labels obey: {links}."
    suggested = f"The counts suggest further parents: {links}. The filled labels obey them with "
    return [suggested, Setting("structure", "graph"), "."]


def _warnings(found: HierarchyResult) -> list[Sentence]:
    """Say what was taken for granted, and when the gaps do not look like forgetting: overlap then reads as loss."""
    n, linked = found.n_unlabelled, found.n_linked
    taken = "was taken for one" if n == 1 else "were taken for rows"
    is_odd = found.n_not_random > _FEW * found.n_tested
    return present(
        [f"{counted(n, 'row')} without labels {taken} that nobody looked at; where that is wrong, say ",
         Setting("empty", "none"), "."]
        if n
        else None,
        f"The gaps do not look like forgetting on {found.n_not_random} of {found.n_tested} edges that could be tested "
        "(marked in the tree): whether the parent was seen depends on other labels. Either these labels only overlap "
        "and none implies the other, or forgetting is not random; the estimate of what was not seen is too high, and "
        "so are the additions."
        if is_odd
        else None,
        f"{found.n_weak} of {linked} edges have weak evidence (dashed): more rows would help."
        if not is_odd and linked and found.n_weak > _MANY_WEAK * linked
        else None,
    )  # fmt: skip


def _sections(found: HierarchyResult) -> list[Section]:
    about = (
        "A label implies the one it hangs from. Behind each label: the rows where both were seen, of the rows where it "
        "was."
    )
    caption = "Evidence is measured against hanging one level higher."
    as_table = folded("The same as a table", table_of(found, "tree", caption, percents=("forgotten",)))
    beside = None
    if found.declared is not None and not found.follows_declared:
        told = (
            f"{robinson_foulds(found.declared, found.tree) // 2} of {found.n_labels} labels hang elsewhere in the "
            "file's own tree, which was not used; the parent that the file gives stands behind them."
        )
        beside = Section("Beside the tree that the file declares", [told], [_tree(found, found.declared)])
    return present(
        Section("The tree", [about], [_tree(found), as_table]),
        *gallery_sections(
            found, "Rows that got a label", "The surest additions of each label, and those that are worth a check."
        ),
        beside,
        Section("What was added", parts=[*_most_added(found), *_additions(found)]),
    )


def _additions(found: HierarchyResult) -> list[Markup]:
    """Show the surest additions, and the least sure: those are the ones to check."""
    sure = ("probability",)
    if found.n_added <= 2 * _SHOWN:
        return [table_of(found, "gaps", "Labels that were added, the surest first.", percents=sure)]
    last = {name: list(reversed(column[-_SHOWN:])) for name, column in found.tables["gaps"].items()}
    return [
        table(last, "The least sure additions: check some of these.", percents=sure, file="gaps.csv"),
        table_of(found, "gaps", "The surest additions.", most=_SHOWN, percents=sure),
    ]


def _most_added(found: HierarchyResult) -> list[Markup]:
    """Draw which labels were added most."""
    counts = Counter(str(name) for name in found.tables["gaps"]["label added"]).most_common()
    if len(counts) < 2:
        return []
    names, numbers = [name for name, _ in counts], [n for _, n in counts]
    caption = "How many rows each label was added to."
    return [bars(names, numbers, caption, name_title="label", value_title="rows", most=15)]


def _tree(found: HierarchyResult, declared: LabelTree | None = None) -> Markup:
    """Draw the learned tree; with another one, mark where that differs."""
    learned = found.tree
    order = learned.preorder.tolist()
    place = {label: number for number, label in enumerate(order)}
    branches = []
    for label in order:
        name, parent = learned.names[label], int(learned.parents[label])
        above = "" if parent < 0 else learned.names[parent]
        nats, p_value = float(found.evidence[label]), float(found.gap_p_values[label])
        note, style = "", ""
        if above:
            both, seen = (int(value) for value in found.counts[label])
            note = f"{both} of {seen}"
            style = "odd" if p_value < NOT_RANDOM else "weak" if nats < WEAK else ""
        further = [other for other, child, _ in found.extra_parents if child == name]
        note += f" also under {', '.join(further)}" if further else ""
        if declared is not None:
            at = int(declared.parents[declared.index(name)])
            theirs = "" if at < 0 else declared.names[at]
            note, style = (f"in the file: {theirs or 'at the top'}", "differs") if theirs != above else ("", "")
        tip = "" if not above or math.isnan(nats) else f"{name} under {above}: evidence {nats:.1f}"
        branches.append(Branch(name, place.get(parent, -1), note, style, tip))
    return tree(branches, "The labels, each below the one that it implies.", legend=_LEGEND)
