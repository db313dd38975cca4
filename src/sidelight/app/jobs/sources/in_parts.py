"""Channels of more rows than memory: clusters of a sample of sequences, every row placed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.in_parts import InParts, count_rows, work_on_sample
from sidelight.app.jobs.sources import Sources
from sidelight.app.jobs.sources.result import SourcesResult
from sidelight.app.jobs.sources.work import cluster
from sidelight.errors import InvalidInput, InvalidParameter
from sidelight.estimators.sources._graph_fit import JOINED, WHOLE
from sidelight.words import Setting


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedSourcesResult(InParts, SourcesResult):
    """Clusters of several channels, of which only a sample was ever in memory."""


def work(config: RunConfig) -> PartedSourcesResult:
    """Learn from a sample, ten rows of a sequence or more, and place all rows."""
    options = config.options
    assert isinstance(options, Sources)  # the catalogue says so
    if options.judge is not None:
        raise InvalidParameter(
            "Rows that are read part by part cannot be run with judge.",
            do=["Leave ", Setting("judge"), " out, and place the other table with sidelight predict."],
        )
    if len(config.roles.channels) < 2:
        raise InvalidInput(
            f"{config.table!r} is read part by part, and nothing about its columns is guessed: several channels need "
            "at least two channels with columns of their own.",
            do=["Name them, and their columns, with ", Setting("channels"), "."],
        )
    return work_on_sample(
        config, cluster, PartedSourcesResult, n_rows=JOINED, needs=(), figures=_figures, count=count_rows,
        lists_are="sequences", whole=WHOLE,
    )  # fmt: skip


def _figures(result: SourcesResult, total: Counter[Any]) -> dict[str, Any]:
    return {"sizes": [total["rows", k] for k in range(len(result.sizes))]}
