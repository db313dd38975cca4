"""FastMIML: labels ranked for bags and rows, with novel ones for rows that no known label wants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sidelight.app.jobs.checking import checked
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.instances.coverage import lists_of, prepared
from sidelight.app.jobs.instances.dmnl import result_of
from sidelight.app.jobs.instances.naming import name_clusters
from sidelight.app.jobs.instances.options import FastMiml
from sidelight.app.jobs.instances.result import CoverageResult
from sidelight.app.jobs.reading import collect_notes, read_bags
from sidelight.data.dataset import Dataset
from sidelight.peers.instances.fast_miml import FastMIML
from sidelight.peers.instances.novel_labels import NovelLabels


def work(config: RunConfig) -> CoverageResult:
    """Read rows in bags, and cluster them."""
    return cluster(read_bags(config), config)


def cluster(data: Dataset, config: RunConfig) -> CoverageResult:
    """Name the rows by the best label of their bag, or as novel."""
    options = config.options
    assert isinstance(options, FastMiml)  # the catalogue says so
    bags = lists_of(data, config, "complete", "unlabelled")
    inner: Any = FastMIML(random_state=config.seed, **options.without("method", "n_novel", "names"))
    if options.n_novel:
        inner = NovelLabels(inner, options.n_novel, random_state=config.seed)
    model: Any = prepared(inner, data)
    with collect_notes() as heard:
        model.fit(data.X, bags=bags)
        notes = name_clusters(model, options.names)
        result = result_of(data, bags, model)
    return checked(replace(result, heard=(*notes, *heard)), data, judged="label")
