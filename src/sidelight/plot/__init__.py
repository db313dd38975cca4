"""PICTURES: Display objects, the only room that imports matplotlib."""

from sidelight.plot.clusters import ClusterScatterDisplay, TypicalImagesDisplay
from sidelight.plot.instances import AlphaCurveDisplay, ClusterClassDisplay, EmbeddingDisplay

__all__ = [
    "AlphaCurveDisplay",
    "ClusterClassDisplay",
    "EmbeddingDisplay",
    "ClusterScatterDisplay",
    "TypicalImagesDisplay",
]
