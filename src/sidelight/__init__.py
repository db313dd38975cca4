"""Sidelight: learning from side information when nobody labelled the rows.

Names are loaded on first use, so that ``import sidelight`` stays quick; ``__init__.pyi`` tells editors about them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sidelight.progress import progress

__version__ = "0.3.0.dev4"

# Where each public name lives. A new public name is one line here, one in __init__.pyi and one in docs/reference.
_NAMES = {
    "data.bags": ("Bags",),
    "data.relations": ("Pairs", "Triplets"),
    "data.label_matrix": ("LabelMatrix",),
    "data.hierarchy": ("LabelTree",),
    "data.cooccurrence": ("CoOccurrence",),
    "data.channels": ("stack_channels",),
    "data.dataset": ("Dataset",),
    "data.splits": ("AnswerKFold", "BagKFold"),
    "_models.on_dask": ("OnDask",),
    "files": ("Parts", "from_folder", "read", "write"),
    "estimators.coverage.clustering": ("CoverageClustering",),
    "estimators.coverage.novelty_test": ("novelty_test",),
    "estimators.instances.bag_spectral": ("BagSpectralClustering",),
    "estimators.novelty.dmnl": ("DMNL",),
    "estimators.bags.words": ("BagWordClustering",),
    "estimators.bags.max_margin": ("MaxMarginBagClustering",),
    "estimators.relations.discriminative": ("DiscriminativeClustering",),
    "estimators.relations.cross_validation": ("DiscriminativeClusteringCV",),
    "estimators.hierarchy.classifier": ("LatentHierarchyClassifier",),
    "estimators.sources.multisource": ("MultiSourceClustering",),
    "estimators.sources.information": ("InformationCoclustering",),
    "estimators.scaling": ("Standardized",),
    "active.session": ("ActiveSession",),
    "active.bayesian": ("BayesianActiveClustering",),
    "active.oracle": ("Oracle",),
    "app.store.answer_file": ("AnswerFile",),
    "app.jobs.notebook": ("show",),
    "errors": ("SidelightError", "SidelightWarning"),
}
_HOMES = {name: f"sidelight.{module}" for module, names in _NAMES.items() for name in names}
_ROOMS = ("active", "data", "errors", "estimators", "metrics", "peers", "plot")  # one import away
# Parts of models that appear in model files and have no public name.
_PARTS = {
    "ByPart": "sidelight.data.parts",
    "FeatureMap": "sidelight._models.feature_map",
    "JoinedChannels": "sidelight.estimators.sources._joined",
    "Preparation": "sidelight._models.prepared_rows",
    "WrittenByPart": "sidelight.files.parts",
}

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
        return getattr(import_module(_PARTS[name]), name)  # type: ignore[no-any-return] # a class, by its name
    room = _room_of(name)
    thing = __getattr__(name) if name in _HOMES else None if room is None else getattr(room, name)
    return thing if isinstance(thing, type) else None


def _room_of(name: str) -> Any:
    """Find the room that has ``name`` among its public names."""
    rooms = (import_module(f"sidelight.{room}") for room in ("estimators", "peers", "data", "active"))
    return next((room for room in rooms if name in room.__all__), None)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)  # asked for once
        return found
    if name in _ROOMS:
        return import_module(f"sidelight.{name}")
    room = None if name.startswith("_") else _room_of(name)
    if room is not None:
        raise AttributeError(f"{name} is in {room.__name__}: from {room.__name__} import {name}")
    raise AttributeError(f"module 'sidelight' has no attribute {name!r}. " + _nearest(name))


def _nearest(name: str) -> str:
    from sidelight.errors import nearest

    return nearest(name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
