"""The page about clusters of bags around one bag each."""

from __future__ import annotations

from sidelight.plot import ClusterScatterDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.report.pages.margin import bags_fell
from sidelight.results.jobs import MedoidsResult


def page(result: MedoidsResult) -> Page:
    """Say how the bags fell, and show them on a map."""
    shown = ClusterScatterDisplay(result.map.coordinates, result.map.labels, result.map.names)
    caption = "Medoids, sizes, and what the mean rows of bags stand out by."
    return Page(
        "Clusters of bags",
        [
            bags_fell(result.n_bags, result.reading.n_rows, result.sizes),
            f"Each cluster gathers around one bag, by the {result.distance} Hausdorff distance; on average a bag is "
            f"{result.mean_distance:.3g} away from it.",
        ],
        [
            Section(
                "The bags on a map",
                ["Each dot is a bag, at the mean of its rows; the distances themselves look at single rows."],
                [(shown, "Bags by cluster, on the first two principal components of their means.")],
            ),
            Section("The clusters", tables=[Table(result.tables["clusters"], caption)]),
        ],
    )
