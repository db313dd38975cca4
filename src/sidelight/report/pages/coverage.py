"""The page about rows that are named by the lists of their bags."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sidelight.data.dataset import TORN, Note
from sidelight.plot import ClusterContentsDisplay, ClusterLabelDisplay, CountChoiceDisplay, MovedRowsDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.results.jobs import CoverageResult, Moved
from sidelight.words import Sentence, counted


def page(result: CoverageResult) -> Page:
    """Say what the clusters hold, what the bags changed, and which bags are hard to explain."""
    return Page("Rows explained by the labels of their bags", sentences(result), sections(result))


def sentences(result: CoverageResult) -> list[Sentence]:
    """Say what was found."""
    novel = f", {result.n_novel_used} novel." if result.n_novel_used else "."
    moved = result.moved
    told: list[Sentence] = [
        f"{counted(moved.n_rows, 'row')} of {counted(result.n_bags, 'bag')} ({result.n_labelled} labelled) fell into "
        f"{counted(result.n_clusters_used, 'cluster')}: {result.n_labels_found} of "
        f"{counted(result.n_labels, 'label')}{novel}",
        f"{result.share_sure:.0%} of the rows are sure of their cluster (probability above 0.9); the labels "
        f"of the bags changed the name of {counted(moved.n_moved, 'row')} ({moved.n_moved / moved.n_rows:.1%}).",
    ]
    if result.n_novel_allowed and not result.n_novel_used:
        allowed = counted(result.n_novel_allowed, "novel cluster was", "novel clusters were")
        told.append(f"{allowed} allowed, but the lists explain every row.")
    told += [
        f"{name} = {choice['chosen']:g} was chosen by the likelihood of held-out bags."
        for name, choice in _numbers(result).items()
    ]
    told += _about_the_boundary(result.choice.get("boundary"))
    if result.uncovered:
        bag, labels = result.uncovered[0]
        n_short = len(result.uncovered)
        told.append(
            f"{counted(n_short, 'bag has', 'bags have')} more labels than rows that could carry them"
            + (f": {bag}" if n_short == 1 else f", for example {bag}")
            + f"; left without a row: {', '.join(map(str, labels)) or 'none'}."
        )
    notes = result.reading.notes
    return [*told, *(f"In this table {note}." for note in notes if isinstance(note, Note) and note.code == TORN)]


def _numbers(result: CoverageResult) -> dict[str, Any]:
    """The numbers that were chosen; the boundary is no number."""
    return {name: choice for name, choice in result.choice.items() if name != "boundary"}


def _about_the_boundary(choice: Any) -> list[Sentence]:
    """Say whether boundaries between clusters bend, and what held-out lists gained by it."""
    if not choice:
        return []
    if not choice["scores"]:
        return [f"Boundaries between clusters are straight: {choice['note']}."]
    straight, curved = choice["scores"]
    verb = "bend" if choice["chosen"] == "curved" else "are straight"
    return [
        f"Boundaries between clusters {verb}: the mean log likelihood of a held-out list is {curved:.2f} with curved "
        f"boundaries and {straight:.2f} with straight ones."
    ]


def sections(result: CoverageResult) -> list[Section]:
    """Show the clusters, what the bags changed, the bags themselves, and how numbers were chosen."""
    contents = result.contents
    shown_parts = [
        Section(
            "The clusters",
            ["A cluster bears the name of its label; novel ones hold rows that no label of their bag explains."],
            [
                (
                    ClusterContentsDisplay(**asdict(contents)),
                    "Clusters by number of rows, with the bags that hold most of them and the surest rows.",
                ),
                (
                    ClusterLabelDisplay(result.label_shares, contents.names, result.labels),
                    "The share of a cluster's rows that are in bags which list a label.",
                ),
            ],
            [Table(result.tables["clusters"], "Sizes, and the features that differ most, in standard deviations.")],
        ),
        Section(
            "What the bags changed",
            [_what_changed(result.moved)],
            [
                (
                    MovedRowsDisplay(**asdict(result.moved)),
                    "The rows that moved most: by features alone → with the labels of the bag.",
                )
            ],
        ),
        Section(
            "The bags",
            ["Bags at the top are the hardest to explain: a wrong or forgotten label often hides there."],
            tables=[
                Table(
                    result.tables["bags"],
                    "What each bag says, and what its rows say by their features alone.",
                    most=25,
                )
            ],
        ),
    ]
    for name, choice in _numbers(result).items():
        text = "The smallest number within one standard error (dashed) of the best is taken."
        if name == "penalty":
            text = "The penalty under which held-out lists are most likely is taken."
        shown = CountChoiceDisplay(name, **choice)
        shown_parts.append(
            Section(f"How {name} was chosen", [text], [(shown, "Likelihood of bags that were held out.")])
        )
    return shown_parts


def _what_changed(moved: Moved) -> str:
    if not moved.n_moved:
        return "No row would be called anything else without its bag's labels: features and lists agree."
    return (
        f"{moved.n_moved} of {moved.n_rows} rows would be called something else without their bag's labels: look here "
        "first for wrong labels and for labels that sound or look alike."
    )
