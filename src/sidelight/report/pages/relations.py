"""The page about clusters of rows."""

from __future__ import annotations

from sidelight.plot import ClusterScatterDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.results.jobs import RelationsResult
from sidelight.words import counted, sizes_in_words


def page(result: RelationsResult) -> Page:
    """Say how large the clusters are, show them on a map, and what each stands out by."""
    n_used = sum(1 for size in result.sizes if size)
    return Page(
        "Clusters of rows",
        [
            f"{counted(result.reading.n_rows, 'row')} fell into {counted(n_used, 'cluster')}"
            f"{sizes_in_words(result.sizes)}.",
            f"{result.share_sure:.0%} of the rows have a probability above 0.9 for their cluster.",
        ],
        [
            Section(
                "The rows on a map",
                ["Each dot is a row; the map keeps the two directions in which rows differ most."],
                [
                    (
                        ClusterScatterDisplay(result.map.coordinates, result.map.labels, result.map.names),
                        "Rows by cluster, on the first two principal components.",
                    )
                ],
            ),
            Section(
                "The clusters",
                tables=[
                    Table(
                        result.tables["clusters"], "Sizes, and the features that differ most, in standard deviations."
                    )
                ],
            ),
        ],
    )
