"""The page about the tree behind labels with gaps."""

from __future__ import annotations

import math

from sidelight.app.jobs.hierarchy.result import HierarchyResult
from sidelight.app.jobs.pages.common import gallery_sections
from sidelight.app.report.components import Branch, Markup, bars, folded, percent, table, tree, tree_picture
from sidelight.app.report.page import Page, Section
from sidelight.data.hierarchy import LabelTree
from sidelight.estimators.hierarchy.evidence import NOT_RANDOM
from sidelight.metrics import robinson_foulds
from sidelight.words import Sentence, Setting, counted, some_of

_MANY_WEAK = 1 / 3  # share of weak edges that is worth a word
_FEW = 0.05  # share of edges with odd gaps that large true trees have
_SHOWN = 12  # additions shown of the surest, and of the least sure
_WEAK = 3.0  # nats: odds of 20 to 1
_GRAPH = Setting("structure", "graph")

TERMS = {
    "evidence": "How much better a link explains the rows than its absence, in nats; from 3 on the odds are 20 to 1.",
}


def page(result: HierarchyResult) -> Page:
    """Say what was found and filled, draw the tree with its evidence, and list what was added."""
    return Page(
        "The tree behind the labels",
        [
            _shape(result),
            f"{counted(result.n_added, 'label')} were added to {counted(result.n_rows_changed, 'row')}, beside "
            f"{result.n_seen} that were seen.",
        ],
        _sections(result),
        sure=_sure(result),
        next=_next(result),
        warnings=_warnings(result),
        terms=["evidence", "label", "probability"],
        thumbnail=tree_picture(result.tree.parents.tolist(), alt=f"A tree of {result.n_labels} labels."),
        glossary=TERMS,
    )


def _shape(result: HierarchyResult) -> str:
    """Say what the labels form, and who says so."""
    if result.source == "overlap":
        return f"{counted(result.n_labels, 'label')} form no tree: they occur together, and none implies another."
    whose = "the tree that the table declares" if result.follows_declared else "a tree"
    n = result.n_linked
    linked = "none of them implies" if not n else "1 of them implies" if n == 1 else f"{n} of them imply"
    return (
        f"{counted(result.n_labels, 'label')} form {whose} of {counted(result.depth, 'level')}: {linked} another one."
    )


def _sure(result: HierarchyResult) -> list[Sentence]:
    if result.source == "overlap":
        return ["Labels that were not seen are taken for absent: nothing tells a forgotten label from one."]
    told: list[Sentence] = [
        f"An estimated {percent(result.alpha)} of the labels that belong to a row were not seen there."
    ]
    if result.n_linked:
        strong = result.n_linked - result.n_weak
        told.append(f"{strong} of {result.n_linked} links have strong evidence (odds above 20 to 1).")
    if not result.used_features:
        told.append("Only the labels were used: rows with the same labels get the same additions.")
    return told


def _next(result: HierarchyResult) -> list[Sentence]:
    told: list[Sentence] = []
    if result.follows_declared:
        told.append(["To learn the tree from the labels instead, say ", Setting("learn_tree", True), "."])
    elif result.n_linked:
        told.append("Read the tree: a link that makes no sense means labels that merely occur together.")
    if result.n_added:
        told.append("Check some of the least sure additions; gaps.csv has all of them.")
    if result.extra_parents:
        told.append(_further(result))
    return told


def _further(result: HierarchyResult) -> Sentence:
    links = some_of([f"{child!r} under {parent!r}" for parent, child, _ in result.extra_parents], 3)
    if result.obeys_extra_parents:
        return f"Further parents, which the filled labels obey: {links}."
    return [f"The counts suggest further parents: {links}. The filled labels obey them with ", _GRAPH, "."]


def _warnings(result: HierarchyResult) -> list[Sentence]:
    told: list[Sentence] = []
    if result.n_unlabelled:
        taken = "was taken for one" if result.n_unlabelled == 1 else "were taken for rows"
        rows = f"{counted(result.n_unlabelled, 'row')} without labels {taken} that nobody looked at"
        told.append([f"{rows}; where that is wrong, say ", Setting("empty", "none"), "."])
    return [*told, *_doubt(result)]


def _doubt(result: HierarchyResult) -> list[Sentence]:
    """Say when the gaps do not look like forgetting: overlap then reads as loss."""
    if result.n_not_random > _FEW * result.n_tested:
        return [
            f"The gaps do not look like forgetting on {result.n_not_random} of {result.n_tested} edges that could be "
            "tested (marked in the tree): whether the parent was seen depends on other labels. Either these "
            "labels only "
            "overlap and none implies the other, or forgetting is not random; the estimate of what was not seen is too "
            "high, and so are the additions."
        ]
    if result.n_linked and result.n_weak > _MANY_WEAK * result.n_linked:
        return [f"{result.n_weak} of {result.n_linked} edges have weak evidence (dashed): more rows would help."]
    return []


def _sections(result: HierarchyResult) -> list[Section]:
    sections = [
        Section(
            "The tree",
            [
                "A label implies the one it hangs from. Behind each label: the rows where both were seen, of "
                "the rows where it was."
            ],
            [
                _tree(result, result.tree),
                folded(
                    "The same as a table",
                    table(
                        result.tables["tree"],
                        "Evidence is measured against hanging one level higher.",
                        percents=("forgotten",),
                        file="tree.csv",
                    ),
                ),
            ],
        ),
        *gallery_sections(
            result, "Rows that got a label", "The surest additions of each label, and those that are worth a check."
        ),
    ]
    if result.declared is not None and not result.follows_declared:
        distance = robinson_foulds(result.declared, result.tree)
        told = (
            f"{distance // 2} of {result.n_labels} labels hang elsewhere in the file's own tree, which was not "
            "used; the "
            "parent that the file gives stands behind them."
        )
        sections.append(
            Section("Beside the tree that the file declares", [told], [_tree(result, result.tree, result.declared)])
        )
    sections.append(Section("What was added", parts=[*_most_added(result), *_additions(result)]))
    return sections


def _additions(result: HierarchyResult) -> list[Markup]:
    """Show the surest additions, and the least sure: those are the ones to check."""
    gaps, n = result.tables["gaps"], result.n_added
    if n <= 2 * _SHOWN:
        return [table(gaps, "Labels that were added, the surest first.", percents=("probability",), file="gaps.csv")]
    last = {name: list(reversed(column[-_SHOWN:])) for name, column in gaps.items()}
    return [
        table(last, "The least sure additions: check some of these.", percents=("probability",), file="gaps.csv"),
        table(gaps, "The surest additions.", most=_SHOWN, percents=("probability",), file="gaps.csv"),
    ]


def _most_added(result: HierarchyResult) -> list[Markup]:
    """Draw which labels were added most."""
    counts: dict[str, int] = {}
    for name in result.tables["gaps"]["label added"]:
        counts[str(name)] = counts.get(str(name), 0) + 1
    names = sorted(counts, key=lambda name: -counts[name])
    if len(names) < 2:
        return []
    caption = "How many rows each label was added to."
    return [bars(names, [counts[n] for n in names], caption, name_title="label", value_title="rows", most=15)]


def _tree(result: HierarchyResult, learned: LabelTree, declared: LabelTree | None = None) -> Markup:
    """Draw the learned tree; with another one, mark where that differs."""
    order = learned.preorder.tolist()
    place = {label: number for number, label in enumerate(order)}
    branches = []
    for label in order:
        parent = int(learned.parents[label])
        nats, p_value = float(result.evidence[label]), float(result.gap_p_values[label])
        note, style = "", ""
        if parent >= 0:
            both, seen = (int(value) for value in result.counts[label])
            note = f"{both} of {seen}"
            style = "odd" if p_value < NOT_RANDOM else "weak" if nats < _WEAK else ""
        further = [above for above, child, _ in result.extra_parents if child == learned.names[label]]
        note += f" also under {', '.join(further)}" if further else ""
        if declared is not None:
            above = int(declared.parents[declared.index(learned.names[label])])
            theirs = "" if above < 0 else declared.names[above]
            differs = theirs != ("" if parent < 0 else learned.names[parent])
            note, style = (f"in the file: {theirs or 'at the top'}" if differs else ""), ("differs" if differs else "")
        tip = (
            ""
            if parent < 0 or math.isnan(nats)
            else f"{learned.names[label]} under {learned.names[parent]}: evidence {nats:.1f}"
        )
        branches.append(Branch(learned.names[label], -1 if parent < 0 else place[parent], note, style, tip))
    legend = {
        "weak": "dashed: could be chance",
        "odd": "the gaps do not look like forgetting",
        "differs": "hangs elsewhere in the file's tree",
    }
    return tree(branches, "The labels, each below the one that it implies.", legend=legend)
