"""The demo of the sources job: people seen through four channels."""

from __future__ import annotations

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.demonstration import Demo, Story
from sidelight.app.jobs.sources.work import cluster
from sidelight.data.channels import stack_channels
from sidelight.data.dataset import Dataset
from sidelight.data.synth.sources import make_sources
from sidelight.metrics import clustering_accuracy

_SOURCES = (
    "People seen through four channels",
    "Five people walk past a camera on several days. Faces change with light and pose, people own several "
    "jackets, and some share a height; nobody labelled anything.",
    "Clustered through what occurs together, {share} of the rows are with the right person.",
)


def people(seed: int) -> Demo:
    """Tell five people apart by their faces, with the help of what they wear."""
    seen = make_sources(5, n_sequences=20, n_points=2000, random_state=seed)
    X, channels = stack_channels(seen.channels)
    names = tuple(f"{name}_{j}" for name, place in channels.items() for j in range(place.stop - place.start))
    data = Dataset(X, names, path="sidelight.data.make_sources", sequence=seen.sequences, channels=channels)
    config = RunConfig("sources", data.path, options={"n_clusters": 5, "primary": "face"}, seed=seed)
    result = cluster(data, config)
    return Demo(config, result, Story(*_SOURCES, clustering_accuracy(seen.subjects, result.model.labels_)))
