"""Clustering with answers about pairs and triplets of rows."""

from sidelight.estimators.relations.cross_validation import DiscriminativeClusteringCV
from sidelight.estimators.relations.discriminative import DiscriminativeClustering

__all__ = ["DiscriminativeClustering", "DiscriminativeClusteringCV"]
