"""The demo of the co-clusters job: who was seen where."""

from __future__ import annotations

from sidelight.app.jobs.coclusters.work import cluster
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.demonstration import Demo, Story
from sidelight.app.jobs.samples import draw_visits
from sidelight.metrics import clustering_accuracy

_COCLUSTERS = (
    "Who was seen where",
    "Sixty visitors were seen at thirty places, and nobody said that there are groups of either. Both numbers of "
    "clusters were left open.",
    "Four groups of visitors and three kinds of places were drawn; {share} of the visitors are in the cluster of "
    "their group.",
)


def visits(seed: int) -> Demo:
    """Tell groups of visitors by the places where they were seen, and kinds of places by who came."""
    data, groups = draw_visits(seed)
    config = RunConfig("coclusters", data.path, seed=seed)
    result = cluster(data, config)
    labels = result.model.axis_labels_["visitor"]
    return Demo(config, result, Story(*_COCLUSTERS, clustering_accuracy(groups, labels)))
