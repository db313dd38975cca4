"""Clusters of whole bags, when only some unknown row of each bag matters."""

from sidelight.estimators.bags.k_medoids import BagKMedoids
from sidelight.estimators.bags.max_margin import MaxMarginBagClustering
from sidelight.estimators.bags.search import MaxMarginBagClusteringCV
from sidelight.estimators.bags.words import BagWordClustering

__all__ = ["BagKMedoids", "BagWordClustering", "MaxMarginBagClustering", "MaxMarginBagClusteringCV"]
