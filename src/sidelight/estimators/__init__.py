"""FAMILIES: our methods and those of the five documents; strangers to each other."""

from sidelight.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "coverage.clustering": ("CoverageClustering",),
        "coverage.novelty_test": ("novelty_test",),
        "instances.bag_discriminative": ("BagDiscriminativeClustering",),
        "instances.bag_spectral": ("BagSpectralClustering",),
        "instances.class_shares": ("ClusterReading",),
        "novelty.dmnl": ("DMNL",),
        "novelty.search": ("DMNLCV",),
        "bags.bag_distances": ("bag_distances",),
        "bags.k_medoids": ("BagKMedoids",),
        "bags.max_margin": ("MaxMarginBagClustering",),
        "bags.search": ("MaxMarginBagClusteringCV",),
        "bags.words": ("BagWordClustering",),
        "relations.cross_validation": ("DiscriminativeClusteringCV",),
        "relations.discriminative": ("DiscriminativeClustering",),
        "relations.rows": ("RowClustering",),
        "hierarchy.classifier": ("LatentHierarchyClassifier",),
        "sources.annealed": ("AnnealedCoclustering",),
        "sources.codebook": ("Codebook",),
        "sources.information": ("InformationCoclustering",),
        "sources.interleaved": ("InterleavedCoclustering",),
        "sources.multisource": ("MultiSourceClustering",),
        "sources.spectral": ("SpectralContingency",),
        "sources.weighted": ("WeightCoclustering",),
        "scaling": ("Standardized",),
    },
)
