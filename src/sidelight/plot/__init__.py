"""PICTURES: Display objects, the only room that imports matplotlib."""

from sidelight.plot.clusters import ClusterScatterDisplay, TypicalImagesDisplay

__all__ = ["ClusterScatterDisplay", "TypicalImagesDisplay"]
