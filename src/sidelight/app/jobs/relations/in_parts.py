"""Relations of more rows than memory: the rows that answers are about and a sample of the others, every row placed.

The objective of discriminative clustering looks at no more than these rows, however many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.in_parts import InParts, count_rows, work_on_sample
from sidelight.app.jobs.relations import Relations
from sidelight.app.jobs.relations.result import RelationsResult
from sidelight.app.jobs.relations.work import cluster_with_answers
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators.relations.discriminative import MOST_ROWS
from sidelight.files.answers import names_in


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedRelationsResult(InParts, RelationsResult):
    """Clusters of rows, of which only a sample was ever in memory."""


def work(config: RunConfig) -> PartedRelationsResult:
    """Learn from the rows with answers and a sample, and place all rows by their features."""
    return work_on_sample(
        config, cluster_with_answers, PartedRelationsResult, n_rows=MOST_ROWS, needs=(),
        figures=_figures, count=count_rows, named=frozenset(_answered(config)),
    )  # fmt: skip


def _answered(config: RunConfig) -> Iterator[str]:
    """Name the rows that answers are about."""
    options = config.options
    assert isinstance(options, Relations)  # the catalogue says so
    for path, kind in ((options.pairs, Pairs), (options.corrections, Pairs), (options.triplets, Triplets)):
        if path is not None:
            yield from names_in(Path(path), kind)


def _figures(result: RelationsResult, total: Counter[Any]) -> dict[str, Any]:
    sizes = [total["rows", k] for k in range(len(result.sizes))]
    return {"sizes": sizes, "share_sure": total["sure"] / sum(sizes)}
