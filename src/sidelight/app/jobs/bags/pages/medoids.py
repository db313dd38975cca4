"""The page about clusters of bags around one bag each."""

from __future__ import annotations

from sidelight.app.jobs.bags.pages import TERMS
from sidelight.app.jobs.bags.pages.margin import bags_fell
from sidelight.app.jobs.bags.result import MedoidsResult
from sidelight.app.jobs.pages.common import clusters_section, gallery_sections, map_section
from sidelight.app.report.page import Page
from sidelight.words import Setting


def page(result: MedoidsResult) -> Page:
    """Say how the bags fell, and show them on a map."""
    about = "A bag lies at the mean of its rows; the distances themselves look at single rows."
    return Page(
        "Clusters of bags",
        [
            bags_fell(result.n_bags, result.reading.n_rows, result.sizes),
            "Each cluster gathers around one of its bags, the medoid: look at it to know the cluster.",
        ],
        [
            *gallery_sections(result),
            clusters_section(result, "Medoids, sizes, and what the mean rows of bags stand out by."),
            map_section(result.map, about, what="bag"),
        ],
        sure=[
            f"On average a bag is {result.mean_distance:.3g} away from its medoid, by the {result.distance} Hausdorff "
            "distance."
        ],
        next=[
            "Compare the medoids with each other: each stands for its cluster.",
            ["Compare with another number of clusters: ", Setting("n_clusters"), "."],
        ],
        terms=["bag", "cluster", "Hausdorff distance", "medoid", "stands out by", "standard deviation"],
        glossary=TERMS,
    )
