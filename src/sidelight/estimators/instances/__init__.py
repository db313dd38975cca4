"""Clustering the rows of labelled bags: spectral methods, and one on the posterior matrix."""

from sidelight.estimators.instances.bag_discriminative import BagDiscriminativeClustering
from sidelight.estimators.instances.bag_spectral import BagSpectralClustering
from sidelight.estimators.instances.reading import ClusterReading
from sidelight.estimators.instances.regularized import RegularizedSpectralClustering
from sidelight.estimators.instances.spectral_learning import SpectralLearning

__all__ = [
    "BagDiscriminativeClustering",
    "BagSpectralClustering",
    "ClusterReading",
    "RegularizedSpectralClustering",
    "SpectralLearning",
]
