"""The page about the tree behind labels with gaps."""

from __future__ import annotations

from sidelight.metrics import robinson_foulds
from sidelight.plot import LabelTreeDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.results.jobs import HierarchyResult
from sidelight.words import Sentence, Setting, counted, some_of

_MANY_WEAK = 1 / 3  # share of weak edges that is worth a word
_FEW = 0.05  # share of edges with odd gaps that large true trees have


def page(result: HierarchyResult) -> Page:
    """Say what was found and filled, draw the tree with its evidence, and list what was added."""
    return Page("The tree behind the labels", _sentences(result), _sections(result))


def _sentences(result: HierarchyResult) -> list[Sentence]:
    told: list[Sentence] = [
        f"{counted(result.n_labels, 'label')} form a tree of {counted(result.depth, 'level')}: {result.n_linked} of "
        "them imply another one.",
        f"An estimated {result.alpha:.0%} of the labels that belong to a row were not seen there. "
        f"{counted(result.n_added, 'label')} were added to {counted(result.n_rows_changed, 'row')}, beside "
        f"{result.n_seen} that were seen.",
    ]
    if result.n_unlabelled:
        told.append(
            [
                f"{counted(result.n_unlabelled, 'row')} without labels were taken for rows that nobody looked at; "
                "where that is wrong, say ",
                Setting("empty", "none"),
                ".",
            ]
        )
    doubt = _doubt(result)
    if doubt:
        told.append(doubt)
    if result.extra_parents:
        told.append(_further(result))
    if not result.used_features:
        told.append("Only the labels were used: rows with the same labels get the same additions.")
    return told


def _doubt(result: HierarchyResult) -> str:
    """Say when the gaps do not look like forgetting: overlap then reads as loss."""
    if result.n_not_random > _FEW * result.n_tested:
        return (
            f"The gaps do not look like forgetting on {result.n_not_random} of {result.n_tested} edges that could be "
            "tested (orange): whether the parent was seen depends on other labels. Either these labels only overlap "
            "and none implies the other, or forgetting is not random; the estimate above is too high, and so are the "
            "additions."
        )
    if result.n_linked and result.n_weak > _MANY_WEAK * result.n_linked:
        return f"{result.n_weak} of {result.n_linked} edges have weak evidence (dashed): more rows would help."
    return ""


def _further(result: HierarchyResult) -> Sentence:
    links = some_of([f"{child!r} under {parent!r}" for parent, child, _ in result.extra_parents], 3)
    if result.obeys_extra_parents:
        return f"Further parents, which the filled labels obey: {links}."
    return [f"The counts suggest further parents: {links}. The filled labels obey them with ", _GRAPH, "."]


_GRAPH = Setting("structure", "graph")


def _sections(result: HierarchyResult) -> list[Section]:
    tree = LabelTreeDisplay(
        result.tree,
        evidence=result.evidence,
        counts=result.counts,
        gap_p_values=result.gap_p_values,
        extra_parents=result.extra_parents,
    )
    sections = [
        Section(
            "The tree",
            [
                "A label implies the one it hangs from. Behind each label: the rows where both were seen, of the rows "
                "where it was. The stronger the line, the better the evidence; dashed lines could be chance."
            ],
            [(tree, "The labels, each below the one that it implies.")],
            [Table(result.tables["tree"], "The same as a table; evidence in nats against its parent's parent.")],
        )
    ]
    if result.declared is not None:
        distance = robinson_foulds(result.declared, result.tree)
        compared = LabelTreeDisplay(result.tree, counts=result.counts, compared_with=result.declared)
        sections.append(
            Section(
                "Beside the tree that the file declares",
                [
                    f"{distance // 2} of {result.n_labels} labels hang elsewhere in the file's own tree (red, with the "
                    "parent that the file gives). The file's tree was not used."
                ],
                [(compared, "The learned tree; red where the file's tree differs.")],
            )
        )
    sections.append(
        Section(
            "What was added",
            ["The surest additions first; gaps.csv has all of them."],
            tables=[Table(result.tables["gaps"], "Labels that were added, and how probable they are.")],
        )
    )
    return sections
