"""PICTURES: Display objects, the only room that imports matplotlib."""

from sidelight.plot.bags import BagMarginDisplay, BagWitnessDisplay, BalanceSizesDisplay
from sidelight.plot.clusters import ClusterScatterDisplay, TypicalImagesDisplay

__all__ = [
    "BagMarginDisplay",
    "BagWitnessDisplay",
    "BalanceSizesDisplay",
    "ClusterScatterDisplay",
    "TypicalImagesDisplay",
]
