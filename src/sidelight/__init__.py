"""Sidelight: learning from side information when nobody labelled the rows.

Names are loaded on first use, so that ``import sidelight`` stays quick; ``__init__.pyi`` tells editors about them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sidelight.progress import progress

__version__ = "0.1.0"

# Where each public name lives. A new public name is one line here, one in __init__.pyi and one in docs/reference.
_NAMES = {
    "data.bags": ("Bags",),
    "estimators.novelty": ("DMNL", "DMNLCV", "FastMIML", "NovelLabels"),
    "estimators.coverage.novelty_test": ("novelty_test",),
    "estimators.coverage": ("CoverageClustering", "NovelClassLogisticRegression", "OredLogisticRegression"),
    "estimators.instances": (
        "BagDiscriminativeClustering",
        "BagSpectralClustering",
        "ClusterReading",
        "RegularizedSpectralClustering",
        "SpectralLearning",
    ),
    "active.bayesian": ("BayesianActiveClustering",),
    "active.oracle": ("Oracle",),
    "active.questions": ("Question",),
    "active.session": ("ActiveSession",),
    "store.answer_file": ("AnswerFile",),
    "jobs.notebook": ("show",),
    "estimators.relations": (
        "COPKMeans",
        "ConstrainedGaussianMixture",
        "ConstraintPropagation",
        "DiagonalMMC",
        "DiscriminativeClustering",
        "DiscriminativeClusteringCV",
        "ITML",
        "LSML",
        "MPCKMeans",
        "MetricKMeans",
        "PCKMeans",
        "SCML",
        "SSSVaD",
        "SparseLPMetric",
    ),
    "estimators.bags": ("BagKMedoids", "BagWordClustering", "MaxMarginBagClustering", "MaxMarginBagClusteringCV"),
    "_affinity.bag_distances": ("bag_distances",),
    "data.channels": ("stack_channels",),
    "data.cooccurrence": ("CoOccurrence",),
    "data.readers": ("Dataset", "read"),
    "estimators.scaling": ("Standardized",),
    "data.hierarchy": ("LabelTree",),
    "data.label_matrix": ("LabelMatrix",),
    "estimators.hierarchy": ("BinaryRelevance", "ChowLiuTree", "FastTag", "LatentHierarchyClassifier"),
    "data.samples": ("load_digit_bags",),
    "data.synth.label_tree": ("make_label_tree",),
    "data.synth.rectangles": ("make_rectangles",),
    "data.synth.overlapping": ("make_overlapping_bags",),
    "data.synth.sources": ("make_sources",),
    "data.synth.words": ("make_words",),
    "data.relations": ("Labeller", "Pairs", "Triplets"),
    "data.splits": ("AnswerKFold", "BagKFold"),
    "estimators.sources.agglomerative": ("SeededAgglomerative",),
    "estimators.sources.annealed": ("AnnealedCoclustering",),
    "estimators.sources.codebook": ("Codebook",),
    "estimators.sources.concatenated": ("ConcatenatedKMeans",),
    "estimators.sources.shared_posterior": ("SharedPosteriorMixture",),
    "estimators.sources.information": ("InformationCoclustering",),
    "estimators.sources.interleaved": ("InterleavedCoclustering",),
    "estimators.sources.multisource": ("MultiSourceClustering",),
    "estimators.sources.spectral": ("SpectralContingency",),
    "estimators.sources.weighted": ("WeightCoclustering",),
    "errors": ("SidelightError", "SidelightWarning"),
}
_HOMES = {name: f"sidelight.{module}" for module, names in _NAMES.items() for name in names}
# Parts of models that appear in model files but not in the shop window.
_PARTS = {"FeatureMap": "sidelight._models.feature_map"}
_ROOMS = ("data", "errors", "metrics", "plot")

__all__ = ["__version__", "load", "progress", "save", *_HOMES, *_ROOMS]


def save(model: Any, path: Any) -> None:
    """Write a fitted estimator or a data object to ``path``: one zip of arrays and JSON, never code.

    Parameters
    ----------
    model : estimator or data object
        Anything public of Sidelight's.
    path : str or path
        The file to write. It appears whole or not at all.
    """
    from sidelight._core.archive import write

    write(model, path, resolve=_archivable, library_version=__version__)


def load(path: Any) -> Any:
    """Read what :func:`save` wrote. Nothing in the file is ever executed.

    Parameters
    ----------
    path : str or path
        A file written by :func:`save`.
    """
    from sidelight._core.archive import read

    return read(path, resolve=_archivable)


def _archivable(name: str) -> type | None:
    """Find the class called ``name``, public or part of a model, or None: only these may appear in a model file."""
    if name in _PARTS:
        found = getattr(import_module(_PARTS[name]), name)
    else:
        found = __getattr__(name) if name in _HOMES else None
    return found if isinstance(found, type) else None


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"sidelight.{name}")
    raise AttributeError(f"module 'sidelight' has no attribute {name!r}. " + _nearest(name))


def _nearest(name: str) -> str:
    from sidelight.errors import nearest

    return nearest(name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
