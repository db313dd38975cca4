"""PICTURES: Display objects, the only room that imports matplotlib."""

from sidelight.plot.clusters import ClusterScatterDisplay, TypicalImagesDisplay
from sidelight.plot.coverage import ClusterContentsDisplay, ClusterLabelDisplay, CountChoiceDisplay, MovedRowsDisplay

__all__ = [
    "ClusterContentsDisplay",
    "ClusterLabelDisplay",
    "ClusterScatterDisplay",
    "CountChoiceDisplay",
    "MovedRowsDisplay",
    "TypicalImagesDisplay",
]
