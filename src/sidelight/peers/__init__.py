"""OTHERS: other people's methods that the documents compare with; the same laws as for ours, one import away."""

from sidelight.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "constrained.cop_kmeans": ("COPKMeans",),
        "constrained.gaussian_mixture": ("ConstrainedGaussianMixture",),
        "constrained.mpck_means": ("MPCKMeans",),
        "constrained.pck_means": ("PCKMeans",),
        "constrained.propagation": ("ConstraintPropagation",),
        "constrained.sssvad": ("SSSVaD",),
        "metric.from_pairs": ("DiagonalMMC", "ITML"),
        "metric.kmeans": ("MetricKMeans",),
        "metric.from_comparisons": ("LSML", "SCML", "SparseLPMetric"),
        "instances.regularized": ("RegularizedSpectralClustering",),
        "instances.spectral_learning": ("SpectralLearning",),
        "instances.fast_miml": ("FastMIML",),
        "instances.novel_labels": ("NovelClassLogisticRegression", "NovelLabels", "OredLogisticRegression"),
        "hierarchy.binary_relevance": ("BinaryRelevance",),
        "hierarchy.chow_liu": ("ChowLiuTree",),
        "hierarchy.clique_generation": ("CliqueGeneration",),
        "hierarchy.fasttag": ("FastTag",),
        "sources.concatenated": ("ConcatenatedKMeans",),
        "sources.shared_posterior": ("SharedPosteriorMixture",),
        "sources.agglomerative": ("SeededAgglomerative",),
    },
)
