"""DMNL and FastMIML: known labels from the lists of bags, novel labels from the structure of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.app.jobs.checking import checked
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.instances import Dmnl, FastMiml
from sidelight.app.jobs.instances.coverage import bag_table, lists_of, named_rows, prepared
from sidelight.app.jobs.instances.naming import name_clusters
from sidelight.app.jobs.instances.result import CoverageResult
from sidelight.app.jobs.reading import collect_notes, read_bags
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.estimators.novelty.dmnl import DMNL
from sidelight.peers import FastMIML, NovelLabels


def work(config: RunConfig) -> CoverageResult:
    """Read rows in bags, and name them."""
    return cluster(read_bags(config), config)


def cluster(data: Dataset, config: RunConfig) -> CoverageResult:
    """Name the rows, with labels that no list names among the names."""
    options = config.options
    assert isinstance(options, Dmnl | FastMiml)  # the catalogue says so
    inner: Any
    if isinstance(options, Dmnl):
        bags = lists_of(data, config, options.lists, options.empty)
        inner = DMNL(random_state=config.seed, **options.without("method", "lists", "empty", "names"))
    else:
        bags = lists_of(data, config, "complete", "unlabelled")
        inner = FastMIML(random_state=config.seed)
        if options.n_novel:  # clusters of the rows that no known label wants
            inner = NovelLabels(inner, options.n_novel, random_state=config.seed)
    model: Any = prepared(inner, data)
    with collect_notes() as heard:
        model.fit(data.X, bags=bags)
        notes = name_clusters(model, options.names)
        result = result_of(data, bags, model)
    return checked(replace(result, heard=(*notes, *heard)), data, judged="label")


def result_of(data: Dataset, bags: Bags, model: Any) -> CoverageResult:
    """Say what a fitted model found: DMNL, FastMIML, or a wrapper that names rows like them."""
    P, Q = model.predict_proba(data.X), model.predict_proba(data.X, bags=bags)
    told_rightly = np.ones(bags.n_bags)
    told_rightly[bags.is_labelled] = model.bag_scores(data.X, bags)
    hardest = bag_table(data.X, bags, model, "labels told rightly", told_rightly)
    noise = list(getattr(model, "noise_labels_", ()))
    choice, objective = getattr(model, "choice_", {}), _first_and_last(model)
    return named_rows(data, bags, model, P, Q, hardest, choice=choice, noise=noise, objective=objective)


def _first_and_last(model: Any) -> list[float]:
    """Return the objective before and after the fit; the wrapper has none of its own, its classifier may have one."""
    while not hasattr(model, "trace_") and hasattr(model, "estimator_"):
        model = model.estimator_
    trace = np.asarray(getattr(model, "trace_", ()), dtype=float)
    return trace[[0, -1]].tolist() if len(trace) else []
