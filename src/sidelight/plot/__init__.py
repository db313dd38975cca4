"""PICTURES: Display objects, the only room that imports matplotlib."""

from sidelight.plot.clusters import ClusterScatterDisplay, TypicalImagesDisplay
from sidelight.plot.sources import (
    ClusterWeightsDisplay,
    CoclusterDisplay,
    PreservedInformationDisplay,
    StartErrorsDisplay,
)

__all__ = [
    "ClusterScatterDisplay",
    "ClusterWeightsDisplay",
    "CoclusterDisplay",
    "PreservedInformationDisplay",
    "StartErrorsDisplay",
    "TypicalImagesDisplay",
]
