"""Clustering with answers about pairs and triplets of rows."""

from sidelight.estimators.relations.constrained.cop_kmeans import COPKMeans
from sidelight.estimators.relations.constrained.gaussian_mixture import ConstrainedGaussianMixture
from sidelight.estimators.relations.constrained.mpck_means import MPCKMeans
from sidelight.estimators.relations.constrained.pck_means import PCKMeans
from sidelight.estimators.relations.constrained.propagation import ConstraintPropagation
from sidelight.estimators.relations.constrained.sssvad import SSSVaD
from sidelight.estimators.relations.cross_validation import DiscriminativeClusteringCV
from sidelight.estimators.relations.discriminative import DiscriminativeClustering
from sidelight.estimators.relations.metric.itml import ITML
from sidelight.estimators.relations.metric.kmeans import MetricKMeans
from sidelight.estimators.relations.metric.lsml import LSML
from sidelight.estimators.relations.metric.mmc import DiagonalMMC
from sidelight.estimators.relations.metric.scml import SCML
from sidelight.estimators.relations.metric.sparse_lp import SparseLPMetric

__all__ = [
    "ITML",
    "LSML",
    "SCML",
    "COPKMeans",
    "ConstrainedGaussianMixture",
    "ConstraintPropagation",
    "DiagonalMMC",
    "DiscriminativeClustering",
    "DiscriminativeClusteringCV",
    "MPCKMeans",
    "MetricKMeans",
    "PCKMeans",
    "SSSVaD",
    "SparseLPMetric",
]
