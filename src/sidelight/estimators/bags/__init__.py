"""Clusters of whole bags, when only some unknown row of each bag matters."""

from sidelight.estimators.bags.k_medoids import BagKMedoids
from sidelight.estimators.bags.max_margin import MaxMarginBagClustering
from sidelight.estimators.bags.search import MaxMarginBagClusteringCV

__all__ = ["BagKMedoids", "MaxMarginBagClustering", "MaxMarginBagClusteringCV"]
